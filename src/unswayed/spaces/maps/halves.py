"""Halves of a region of a map, with a border that few trips cross and come back over.

A cut first separates two parts along streets of little weight, a street weighing 1 and the trips on it:
Fiedler's vector, then the moves of Fiduccia and Mattheyses while they help. Then pieces of trips that cross
it and come back change sides, while that makes such returns fewer. On trips recorded in a town of 3,061
crossings the second step halves the share of trips that enter some region twice.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.spaces.graphs import Graph
from unswayed.spaces.maps.regions import components, edges_among

Piece: TypeAlias = list[int]
"""What a trip does inside a region: its nodes in a row."""
_LEAST_SHARE = 0.25
"""Share of a region's nodes in its smaller half: less makes the tree deep, more cuts through busy streets."""
_FRUITLESS = 100
"""Moves without a better cut after which a round ends."""
_MOST_ROUNDS = 8
"""Rounds of moves, and of changes for the sake of trips."""
_SMALL = 150
"""Nodes up to which all eigenvectors are found at once."""


def halve(graph: Graph, nodes: Ints, pieces: list[Piece]) -> Bools:  # (nodes,)
    """Which of the nodes of a region, in ascending order, are in its second half."""
    return _straighten(_bisect(graph, nodes, pieces), nodes, pieces)


def pieces_inside(pieces: list[Piece], nodes: Ints) -> list[Piece]:
    """What is left of pieces inside some nodes: three nodes in a row and more."""
    inside = set(nodes.tolist())
    found: list[Piece] = []
    for piece in pieces:
        run: Piece = []
        for node in [*piece, -1]:
            if node in inside:
                run.append(node)
                continue
            if len(run) > 2:
                found.append(run)
            run = []
    return found


def _bisect(graph: Graph, nodes: Ints, pieces: list[Piece]) -> Bools:  # (nodes,)
    """Which nodes are in the second half."""
    weights = _weigh(graph, nodes, pieces)
    rank = np.empty(len(nodes), dtype=np.int64)
    rank[np.argsort(_positions(graph, nodes, weights), kind="stable")] = np.arange(len(nodes))
    entries = weights.tocoo()
    a, b = rank[entries.row], rank[entries.col]
    change = np.zeros(len(nodes) + 1)
    np.add.at(change, a[a < b] + 1, entries.data[a < b])
    np.add.at(change, b[a < b] + 1, -entries.data[a < b])
    least = _least(len(nodes))
    cuts = np.cumsum(change)[least : len(nodes) - least + 1]  # weight between the first so many and the rest
    side = rank >= least + int(np.argmin(cuts))
    for _ in range(_MOST_ROUNDS):
        moved = _best_moves(weights, side.copy())
        if not moved:
            break
        side[moved] = ~side[moved]
    return side


def _least(n_nodes: int) -> int:
    return max(1, int(_LEAST_SHARE * n_nodes))


def _weigh(graph: Graph, nodes: Ints, pieces: list[Piece]) -> Any:
    """The weight of the streets between some nodes, as a sparse symmetric matrix."""
    from scipy.sparse import coo_array

    steps = [pair for piece in pieces for pair in pairwise(piece)]
    pairs = np.concatenate([graph.edges[edges_among(graph, nodes)], np.array(steps, np.int64).reshape(-1, 2)])
    a, b = np.searchsorted(nodes, pairs).T
    shape = (len(nodes), len(nodes))
    return coo_array((np.ones(2 * len(a)), (np.append(a, b), np.append(b, a))), shape=shape).tocsr()


def _positions(graph: Graph, nodes: Ints, weights: Any) -> Floats:  # (nodes,)
    """Nodes on a line, close where streets join them: Fiedler's vector, or component by component."""
    from scipy.sparse.csgraph import laplacian
    from scipy.sparse.linalg import eigsh

    part = components(graph, nodes)
    if part.max():
        return part.astype(np.float64)
    energy = laplacian(weights)
    if len(nodes) <= _SMALL:
        fiedler: Floats = np.linalg.eigh(energy.toarray())[1][:, 1]
        return fiedler
    start = 1.0 + np.arange(len(nodes)) / len(nodes)
    values, vectors = eigsh(energy.tocsc(), k=2, sigma=-1e-3, v0=start)
    second: Floats = vectors[:, np.argsort(values)[1]]
    return second


def _best_moves(weights: Any, side: Bools) -> list[int]:
    """Nodes that change sides one by one, the best first though it may lose, up to the best cut."""
    starts, others, amounts = weights.indptr, weights.indices, weights.data
    owner = np.repeat(np.arange(len(side)), np.diff(starts))
    gains = np.bincount(owner, np.where(side[owner] != side[others], amounts, -amounts), len(side))
    sizes, least = [int((~side).sum()), int(side.sum())], _least(len(side))
    waiting = [(-gain, node) for node, gain in enumerate(gains.tolist())]
    heapq.heapify(waiting)
    moves: dict[int, None] = {}
    total, best, n_best = 0.0, 0.0, 0
    while waiting and len(moves) - n_best < _FRUITLESS:
        loss, node = heapq.heappop(waiting)
        if node in moves or -loss != gains[node] or sizes[int(side[node])] <= least:
            continue
        sizes[int(side[node])] -= 1
        side[node] = ~side[node]
        sizes[int(side[node])] += 1
        moves[node] = None
        total -= loss
        for entry in range(starts[node], starts[node + 1]):
            other = int(others[entry])
            gains[other] += amounts[entry] * (-2.0 if side[other] == side[node] else 2.0)
            heapq.heappush(waiting, (-gains[other], other))
        if total > best:
            best, n_best = total, len(moves)
    return list(moves)[:n_best]


def _straighten(side: Bools, nodes: Ints, pieces: list[Piece]) -> Bools:
    """The cut after pieces of trips that come back changed sides, each while returns become fewer."""
    second = dict(zip(nodes.tolist(), side.tolist(), strict=True))
    sizes, least = [int((~side).sum()), int(side.sum())], _least(len(nodes)) // 2 + 1
    users: dict[int, set[int]] = {}
    for number, piece in enumerate(pieces):
        for node in piece:
            users.setdefault(node, set()).add(number)

    def count_returns(numbers: Iterable[int]) -> int:
        crossings = (sum(second[a] != second[b] for a, b in pairwise(pieces[each])) for each in numbers)
        return sum(max(each - 1, 0) for each in crossings)

    def move(run: Piece) -> bool:
        """Whether the nodes changed sides, as they do if returns become fewer and no half too small."""
        touched, here = set().union(*(users[node] for node in run)), second[run[0]]
        if sizes[here] - len(run) < least:
            return False
        before = count_returns(touched)
        second.update(dict.fromkeys(run, not here))
        if count_returns(touched) >= before:
            second.update(dict.fromkeys(run, here))
            return False
        sizes[here] -= len(run)
        sizes[not here] += len(run)
        return True

    for _ in range(_MOST_ROUNDS):
        returning = [piece for number, piece in enumerate(pieces) if count_returns([number])]
        moved = [any(move(run) for run in sorted(_runs(each, second), key=len)[:3]) for each in returning]
        if not any(moved):
            break
    return np.array([second[node] for node in nodes.tolist()])


def _runs(piece: Piece, second: dict[int, bool]) -> list[Piece]:
    """A piece cut where it changes sides."""
    runs = [[piece[0]]]
    for a, b in pairwise(piece):
        if second[a] != second[b]:
            runs.append([])
        runs[-1].append(b)
    return runs
