"""Maps in halves of halves: the regions of a graph, given by hand or found by cutting few and quiet streets.

A tree of regions has the whole map at its root; a region is split into two halves, or is a leaf whose nodes
stay together. A path is *hierarchical* when it enters no region twice: then the streets that it takes between
two halves are at most one, and what it does inside a half depends only on where it comes in and where it
leaves. `hierarchical_paths.py` makes the space of such paths.

Real trips seldom come back to a region that they have left, if regions end where few trips pass. So cuts are
balanced and of small weight, a street weighing 1 and the trips on it (Fiedler's vector, then the moves of
Fiduccia and Mattheyses while they help).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints, read_only
from unswayed.core.errors import ModelError, QueryError
from unswayed.spaces.edge_sets import narrow_order, order_price
from unswayed.spaces.graphs import Graph

MOST_STATES = 3e4
"""Largest price of a leaf: its paths between any of its doors are searched together."""
_MOST_NODES = 150
"""Most nodes of a leaf."""
_SMALLEST_HALF = 0.4
"""Share of a region's nodes in its smaller half, at least."""
_FRUITLESS = 100
"""Moves without a better cut after which a round ends."""
_MOST_ROUNDS = 10


@dataclass(frozen=True, slots=True, eq=False)
class RegionTree:
    """A map in halves of halves; leaves are numbered first, then other regions, the whole map last."""

    leaf_of: Ints = field(repr=False)  # (nodes,)
    """The leaf of each node of the graph."""
    halves: Ints = field(repr=False)  # (regions that are split, 2)
    """The two halves of each region after the leaves; halves have smaller numbers than the whole."""

    def __post_init__(self) -> None:
        leaf_of = np.asarray(self.leaf_of, dtype=np.int64)
        halves = np.asarray(self.halves, dtype=np.int64).reshape(-1, 2)
        object.__setattr__(self, "leaf_of", read_only(leaf_of))
        object.__setattr__(self, "halves", read_only(halves))
        n_leaves = len(halves) + 1
        own = n_leaves + np.arange(len(halves))
        if not np.array_equal(np.unique(leaf_of), np.arange(n_leaves)):
            raise ModelError(f"{len(halves)} splits make {n_leaves} regions, and each needs a node")
        if (halves >= own[:, None]).any() or not np.array_equal(np.sort(halves.ravel()), np.arange(own.size * 2)):
            raise ModelError("every region but the whole map is a half of one larger region, numbered later")

    @property
    def n_leaves(self) -> int:
        """Regions that are not split."""
        return len(self.halves) + 1

    def members(self) -> list[frozenset[int]]:
        """The nodes of each region."""
        found = [frozenset(np.flatnonzero(self.leaf_of == leaf).tolist()) for leaf in range(self.n_leaves)]
        for one, other in self.halves.tolist():
            found.append(found[one] | found[other])
        return found

    def by_depth(self) -> Ints:  # (depths, nodes)
        """The region of each node, from the whole map (first row) down to the leaves (last row)."""
        n_regions = 2 * self.n_leaves - 1
        depth = np.zeros(n_regions, dtype=np.int64)
        for region in range(n_regions - 1, self.n_leaves - 1, -1):
            depth[self.halves[region - self.n_leaves]] = depth[region] + 1
        above = np.full((int(depth.max()) + 1, n_regions), n_regions - 1, dtype=np.int64)
        for region in range(n_regions - 1, self.n_leaves - 1, -1):
            for half in self.halves[region - self.n_leaves].tolist():
                above[:, half] = above[:, region]
                above[depth[half] :, half] = half
        return above[:, self.leaf_of]


def region_tree(graph: Graph, regions: Any) -> RegionTree:
    """The tree in a `RegionTree`, or in nested pairs (tuples) of sets or lists of nodes.

    >>> from unswayed.spaces.graphs import as_graph
    >>> square = as_graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    >>> region_tree(square, ({"a", "b"}, {"c", "d"})).leaf_of.tolist()
    [0, 0, 1, 1]
    """
    if isinstance(regions, RegionTree):
        if len(regions.leaf_of) != len(graph.nodes):
            raise QueryError(f"the regions are of {len(regions.leaf_of)} nodes, the graph has {len(graph.nodes)}")
        return regions
    tree = _number(graph, _indexed(graph, regions))
    if (tree.leaf_of < 0).any():
        raise QueryError(f"node {graph.nodes[int(np.argmin(tree.leaf_of))]} is in no region; every node needs one")
    return tree


def _indexed(graph: Graph, regions: Any) -> Any:
    if isinstance(regions, tuple) and len(regions) == 2:
        halves = _indexed(graph, regions[0]), _indexed(graph, regions[1])
        # Two nodes alone have the same paths as one region of both.
        is_alone = all(isinstance(half, np.ndarray) and len(half) == 1 for half in halves)
        return _by_components(graph, np.concatenate(halves)) if is_alone else halves
    if not isinstance(regions, set | frozenset | list) or not regions:
        raise QueryError(f"{regions!r} is no region; a region is a set of nodes, or a pair of regions")
    return _by_components(graph, np.array(sorted({graph.index(node) for node in regions})))


def _by_components(graph: Graph, nodes: Ints) -> Any:
    """Nodes that no street inside joins as pairs of regions; no path inside leads from one to the other."""
    labels = _components(graph, nodes)
    parts = [nodes[labels == each] for each in range(labels.max() + 1)]

    def halve(some: Sequence[Ints]) -> Any:
        middle = len(some) // 2
        return some[0] if len(some) == 1 else (halve(some[:middle]), halve(some[middle:]))

    return halve(parts)


def _components(graph: Graph, nodes: Ints) -> Ints:
    from scipy.sparse.csgraph import connected_components

    found: Ints = connected_components(_weights_among(graph, np.ones(len(graph.edges)), nodes), directed=False)[1]
    return found


def _number(graph: Graph, nested: Any) -> RegionTree:
    """Leaves in the order in which they stand, then pairs, inner ones first."""
    leaf_of = np.full(len(graph.nodes), -1, dtype=np.int64)
    leaves: list[Ints] = []
    pairs: list[tuple[Any, Any]] = []

    def visit(part: Any) -> tuple[bool, int]:
        """Whether it is a pair, and its place among those or among the leaves."""
        if isinstance(part, tuple):
            pairs.append((visit(part[0]), visit(part[1])))
            return True, len(pairs) - 1
        if (leaf_of[part] >= 0).any():
            raise QueryError(f"node {graph.nodes[part[np.argmax(leaf_of[part] >= 0)]]} is in two regions")
        leaf_of[part] = len(leaves)
        leaves.append(part)
        return False, len(leaves) - 1

    visit(nested)
    number = [[place + len(leaves) * is_pair for is_pair, place in pair] for pair in pairs]
    return RegionTree(leaf_of, np.array(number, dtype=np.int64))


def split_graph(graph: Graph, trips: Sequence[Sequence[Any]] = (), *, most_states: float = MOST_STATES) -> RegionTree:
    """Halves of halves along streets that few trips take, until the paths inside a region are quickly found.

    Cost: about a second for 1,000 nodes.

    >>> from unswayed.spaces.graphs import grid
    >>> split_graph(grid(12, 12)).n_leaves
    4
    """
    weights = 1.0 + _uses(graph, trips)

    def split(nodes: Ints) -> Any:
        if len(nodes) <= _MOST_NODES:
            inside = subgraph(graph, nodes)[0]
            if not len(inside) or order_price(*_ordered(graph, nodes, inside)) <= most_states:
                return _by_components(graph, nodes)
        is_second = _bisect(graph, weights, nodes)
        return split(nodes[~is_second]), split(nodes[is_second])

    return _number(graph, split(np.arange(len(graph.nodes))))


def _ordered(graph: Graph, nodes: Ints, inside: Ints) -> tuple[Graph, Ints]:
    part = local_graph(graph, nodes, inside)
    return part, narrow_order(part)


def subgraph(graph: Graph, nodes: Ints) -> tuple[Ints, Ints]:
    """The edges with both ends among some nodes, and where each node is among them (-1 for others)."""
    place = np.full(len(graph.nodes), -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    return np.flatnonzero((place[graph.edges] >= 0).all(axis=1)), place


def local_graph(graph: Graph, nodes: Ints, edges: Ints) -> Graph:
    """The graph of some nodes, by their positions, and some edges among them."""
    place = np.full(len(graph.nodes), -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    return Graph(tuple(nodes.tolist()), place[graph.edges[edges]], graph.is_directed)


def _uses(graph: Graph, trips: Sequence[Sequence[Any]]) -> Floats:  # (edges,)
    """How many trips take each edge, either way."""
    number: dict[frozenset[int], list[int]] = {}
    for edge, (a, b) in enumerate(graph.edges.tolist()):
        number.setdefault(frozenset((a, b)), []).append(edge)
    uses = np.zeros(len(graph.edges))
    for trip in trips:
        for pair in pairwise(graph.position.get(node, -1) for node in trip):
            uses[number.get(frozenset(pair), [])] += 1
    return uses


def _weights_among(graph: Graph, weights: Floats, nodes: Ints) -> Any:
    """Weights between some nodes, as a sparse symmetric matrix."""
    from scipy.sparse import coo_array

    edges, place = subgraph(graph, nodes)
    a, b = place[graph.edges[edges]].T
    values = np.tile(weights[edges], 2)
    shape = (len(nodes), len(nodes))
    return coo_array((values, (np.concatenate([a, b]), np.concatenate([b, a]))), shape=shape).tocsr()


def _bisect(graph: Graph, weights: Floats, nodes: Ints) -> Bools:  # (nodes,)
    """Which nodes are in the second half."""
    matrix = _weights_among(graph, weights, nodes)
    rank = np.empty(len(nodes), dtype=np.int64)
    rank[np.argsort(_positions(graph, matrix, nodes), kind="stable")] = np.arange(len(nodes))
    entries = matrix.tocoo()
    a, b = rank[entries.row], rank[entries.col]
    change = np.zeros(len(nodes) + 1)
    np.add.at(change, a[a < b] + 1, entries.data[a < b])
    np.add.at(change, b[a < b] + 1, -entries.data[a < b])
    least = max(1, int(_SMALLEST_HALF * len(nodes)))
    cuts = np.cumsum(change)[least : len(nodes) - least + 1]  # weight between the first so many and the rest
    return _improve(matrix, rank >= least + int(np.argmin(cuts)), least)


def _positions(graph: Graph, matrix: Any, nodes: Ints) -> Floats:
    """Nodes on a line, close where streets join them: Fiedler's vector, or component by component."""
    from scipy.sparse.csgraph import laplacian
    from scipy.sparse.linalg import eigsh

    labels = _components(graph, nodes)
    if labels.max():
        return labels.astype(np.float64)
    energy = laplacian(matrix)
    if len(nodes) <= _MOST_NODES:
        fiedler: Floats = np.linalg.eigh(energy.toarray())[1][:, 1]
        return fiedler
    start = 1.0 + np.arange(len(nodes)) / len(nodes)
    values, vectors = eigsh(energy.tocsc(), k=2, sigma=-1e-3, v0=start)
    second: Floats = vectors[:, np.argsort(values)[1]]
    return second


def _improve(matrix: Any, side: Bools, least: int) -> Bools:
    """The cut after rounds of moves: the best node changes sides, even at a loss, and the best moment counts."""
    for _ in range(_MOST_ROUNDS):
        moved, gained = _best_moves(matrix, side.copy(), least)
        if gained <= 0:
            break
        side[moved] = ~side[moved]
    return side


def _best_moves(matrix: Any, side: Bools, least: int) -> tuple[list[int], float]:
    """Nodes that change sides once each, in order, up to the best moment, and what they gain."""
    starts, others, weights = matrix.indptr, matrix.indices, matrix.data
    crossing = side[np.repeat(np.arange(len(side)), np.diff(starts))] != side[others]
    gains = np.bincount(
        np.repeat(np.arange(len(side)), np.diff(starts)), np.where(crossing, weights, -weights), len(side)
    )
    sizes = [int((~side).sum()), int(side.sum())]
    waiting = [(-gain, node) for node, gain in enumerate(gains.tolist())]
    heapq.heapify(waiting)
    is_moved = np.zeros(len(side), dtype=np.bool_)
    moves: list[int] = []
    total = best = 0.0
    n_best = 0
    while waiting and len(moves) - n_best < _FRUITLESS:
        loss, node = heapq.heappop(waiting)
        if is_moved[node] or -loss != gains[node] or sizes[int(side[node])] <= least:
            continue
        is_moved[node] = True
        sizes[int(side[node])] -= 1
        side[node] = ~side[node]
        sizes[int(side[node])] += 1
        moves.append(node)
        total -= loss
        for entry in range(starts[node], starts[node + 1]):
            other = int(others[entry])
            gains[other] += weights[entry] * (-2.0 if side[other] == side[node] else 2.0)
            heapq.heappush(waiting, (-gains[other], other))
        if total > best:
            best, n_best = total, len(moves)
    return moves[:n_best], best
