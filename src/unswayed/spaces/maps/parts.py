"""Maps too large for the circuit of all paths: split into regions, or cut down to what most trips use.

The circuit of all simple paths grows with the width of a map, so that a town of 300 crossings has none.
`split_map` keeps the whole map and gives up some paths: it halves the map again and again, and the space has
the paths that enter no region twice (`hierarchical_paths.py`). `cut_map` keeps all paths and gives up some of
the map: the crossings that few trips use.

Either way some trips are not in the space, and are counted: on trips that had no part in the choice, with an
interval that holds for trips to come.

A region is halved along a border that few trips cross and come back over. A cut first separates two parts
along streets of little weight, a street weighing 1 and the trips on it: Fiedler's vector, then the moves of
Fiduccia and Mattheyses while they help. Then pieces of trips that cross it and come back change sides, while
that makes such returns fewer. On trips recorded in a town of 3,061 crossings the second step halves the share
of trips that enter some region twice.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.measurement import Certainty, Measurement
from unswayed.spaces.edge_sets import narrow_order, order_price
from unswayed.spaces.graphs import Graph, as_graph, graph_from_edges
from unswayed.spaces.maps.regions import (
    RegionTree,
    components,
    edges_among,
    join_components,
    local_graph,
    number_regions,
)

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


MOST_STATES = 5e7
"""Largest price of an order of the edges, about the states of a search: seconds and half a gigabyte."""
MOST_LEAF_STATES = 5e5
"""The same for a leaf, times the nodes at its border, for the paths between any two of them."""
_MOST_LEAF_NODES = 150
"""Most nodes of a leaf."""
_GROWTH = 1.3
"""How much more trips a crossing must be on in the next attempt."""


@dataclass(frozen=True, slots=True, eq=False)
class MapPart:
    """A part of a map, or its regions, and the trips that suit them."""

    graph: Graph
    """The crossings that stay, and the streets between them."""
    trips: tuple[tuple[Any, ...], ...] = field(repr=False)
    """The trips that never leave it, and enter no region twice."""
    rows: tuple[int, ...] = field(repr=False)
    """Which of the trips given each of them was."""
    least_use: int
    """Every crossing is on at least so many of the trips that chose it."""
    share_outside: Measurement
    """Share of the other trips; the interval holds for trips of the same kind."""
    regions: RegionTree | None = None
    """Regions that no trip enters twice, if the map was split."""


def split_map(
    graph: Any,
    trips: Iterable[Sequence[Any]],
    *,
    most_states: float = MOST_LEAF_STATES,
    confidence: float = 0.95,
) -> MapPart:
    """The whole map in regions that few trips enter twice.

    Every other trip chooses the regions, the rest measure how many do (Clopper and Pearson's interval). A
    region is split while it has many nodes, or its paths would take longer to find than `most_states`.

    Cost: a second for 1,000 crossings and as many trips.
    """
    known, listed = _checked(graph, trips, confidence)
    choosing = [[known.position[node] for node in trip] for trip in listed[::2] if _is_inside(known, trip)]

    def split(nodes: Ints, pieces: list[Piece]) -> Any:
        if _is_small(known, nodes, most_states):
            return join_components(known, nodes)
        is_second = halve(known, nodes, pieces)
        first, second = nodes[~is_second], nodes[is_second]
        return split(first, pieces_inside(pieces, first)), split(second, pieces_inside(pieces, second))

    tree = number_regions(known, split(np.arange(len(known.nodes)), choosing))

    def suits(trip: tuple[Any, ...]) -> bool:
        if not _is_inside(known, trip):
            return False
        return not _comes_back(tree.by_depth[:, [known.position[node] for node in trip]])

    kept, rows, outside = _measure(listed, suits, confidence)
    return MapPart(known, kept, rows, 0, outside, tree)


def _comes_back(regions: Ints) -> bool:  # (depths, nodes of a trip)
    """Whether a trip enters a region twice."""
    for row in regions.tolist():
        entered = [one for before, one in pairwise([-1, *row]) if one != before]
        if len(set(entered)) < len(entered):
            return True
    return False


def _is_small(graph: Graph, nodes: Ints, most_states: float) -> bool:
    edges = edges_among(graph, nodes)
    if not len(edges):
        return True
    if len(nodes) > _MOST_LEAF_NODES:
        return False
    part = local_graph(graph, nodes, edges)
    touching = graph.edges[np.isin(graph.edges, nodes).any(axis=1)]
    n_doors = len(np.intersect1d(touching[~np.isin(touching, nodes).all(axis=1)], nodes))
    return len(nodes) < 4 or (1 + n_doors) * order_price(part, narrow_order(part)) <= most_states


def cut_map(
    graph: Any, trips: Iterable[Sequence[Any]], *, most_states: float = MOST_STATES, confidence: float = 0.95
) -> MapPart:
    """The part of a map that can be compiled and holds the most used crossings.

    Every other trip chooses the part, the rest measure what it leaves out (Clopper and Pearson's interval).
    The whole map is returned where it is narrow enough.
    """
    known, listed = _checked(graph, trips, confidence)
    uses = Counter(node for trip in listed[::2] for node in set(trip))
    least = 0
    while least <= max(uses.values()):
        part = _used(known, uses, least)
        if part is not None and order_price(part, narrow_order(part)) <= most_states:
            kept, rows, outside = _measure(listed, partial(_is_inside, part), confidence)
            return MapPart(part, kept, rows, least, outside)
        least = max(least + 1, int(_GROWTH * least))
    raise LimitError("no part of this map is narrow enough; raise most_states")


def _checked(
    graph: Any, trips: Iterable[Sequence[Any]], confidence: float
) -> tuple[Graph, list[tuple[Any, ...]]]:
    listed = [tuple(trip) for trip in trips]
    if len(listed) < 2 or not 0 < confidence < 1:
        raise QueryError("give two trips or more, and a confidence between 0 and 1")
    return as_graph(graph), listed


def _used(graph: Graph, uses: Counter[Any], least: int) -> Graph | None:
    """The map of the crossings with enough uses; None without a street."""
    kept = [uses[node] >= least for node in graph.nodes]
    edges = [(graph.nodes[a], graph.nodes[b]) for a, b in graph.edges.tolist() if kept[a] and kept[b]]
    return graph_from_edges(edges, is_directed=graph.is_directed) if edges else None


def _is_inside(graph: Graph, trip: tuple[Any, ...]) -> bool:
    return graph.position.keys() >= set(trip)


def _measure(
    trips: list[tuple[Any, ...]], suits: Callable[[tuple[Any, ...]], bool], confidence: float
) -> tuple[tuple[tuple[Any, ...], ...], tuple[int, ...], Measurement]:
    """The trips that suit, their rows, and the share of others among those that had no part in the choice."""
    is_inside = [suits(trip) for trip in trips]
    rows = tuple(row for row, suitable in enumerate(is_inside) if suitable)
    others = is_inside[1::2]
    return tuple(trips[row] for row in rows), rows, _share(others.count(False), len(others), confidence)


def _share(count: int, total: int, confidence: float) -> Measurement:
    """A share with Clopper and Pearson's interval: no share outside it makes the count likely."""
    from scipy.stats import beta

    tail = (1.0 - confidence) / 2
    low = float(beta.ppf(tail, count, total - count + 1)) if count else 0.0
    high = float(beta.ppf(1.0 - tail, count + 1, total - count)) if count < total else 1.0
    return Measurement(count / total, low, high, Certainty.ESTIMATE, "counts", confidence=confidence)
