"""Maps in halves of halves: the regions of a graph, given by hand or found by `split_map`.

A tree of regions has the whole map at its root; a region is split into two halves, or is a leaf whose nodes
stay together. A path is *hierarchical* when it enters no region twice: then the streets that it takes between
two halves are at most one, and what it does inside a half depends only on where it comes in and where it
leaves. `hierarchical_paths.py` makes the space of such paths, `maps.py` finds regions that suit the trips.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.core.arrays import Ints, read_only
from unswayed.core.errors import ModelError, QueryError
from unswayed.spaces.graphs import Graph

MOST_DEPTHS = 200
"""How deep regions may be nested; halves of about the same size are some twenty deep in a city."""


@dataclass(frozen=True, slots=True, eq=False)
class RegionTree:
    """A map in halves of halves; leaves are numbered first, then other regions, the whole map last."""

    leaf_of: Ints = field(repr=False)  # (nodes,)
    """The leaf of each node of the graph."""
    halves: Ints = field(repr=False)  # (regions that are split, 2)
    """The two halves of each region after the leaves; halves have smaller numbers than the whole."""
    by_depth: Ints = field(init=False, repr=False)  # (depths, nodes)
    """The region of each node, from the whole map (first row) down to the leaves (last row)."""

    def __post_init__(self) -> None:
        leaf_of = np.asarray(self.leaf_of, dtype=np.int64)
        halves = np.asarray(self.halves, dtype=np.int64).reshape(-1, 2)
        object.__setattr__(self, "leaf_of", read_only(leaf_of))
        object.__setattr__(self, "halves", read_only(halves))
        n_leaves = len(halves) + 1
        own = n_leaves + np.arange(len(halves))
        if not np.array_equal(np.unique(leaf_of), np.arange(n_leaves)):
            raise ModelError(f"{len(halves)} splits make {n_leaves} regions, and each needs a node")
        if (halves >= own[:, None]).any() or not np.array_equal(
            np.sort(halves.ravel()), np.arange(own.size * 2)
        ):
            raise ModelError("every region but the whole map is a half of one larger region, numbered later")

        object.__setattr__(self, "by_depth", read_only(self._regions_by_depth()))

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

    def _regions_by_depth(self) -> Ints:  # (depths, nodes)
        n_regions = 2 * self.n_leaves - 1
        depth = np.zeros(n_regions, dtype=np.int64)
        for region in range(n_regions - 1, self.n_leaves - 1, -1):
            depth[self.halves[region - self.n_leaves]] = depth[region] + 1
        if depth.max() > MOST_DEPTHS:
            raise ModelError(f"regions are nested {depth.max()} deep; {MOST_DEPTHS} is the most")
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
            raise QueryError(
                f"the regions are of {len(regions.leaf_of)} nodes, the graph has {len(graph.nodes)}"
            )
        return regions
    return number_regions(graph, _indexed(graph, regions))


def _indexed(graph: Graph, regions: Any) -> Any:
    if isinstance(regions, tuple) and len(regions) == 2:
        halves = _indexed(graph, regions[0]), _indexed(graph, regions[1])
        # Two nodes alone have the same paths as one region of both.
        is_alone = all(isinstance(half, np.ndarray) and len(half) == 1 for half in halves)
        return join_components(graph, np.concatenate(halves)) if is_alone else halves
    if not isinstance(regions, set | frozenset | list) or not regions:
        raise QueryError(f"{regions!r} is no region; a region is a set of nodes, or a pair of regions")
    return join_components(graph, np.array(sorted({graph.index(node) for node in regions})))


def join_components(graph: Graph, nodes: Ints) -> Any:
    """Nodes that no street inside joins as pairs of regions; no path inside leads from one to the other."""
    labels = components(graph, nodes)
    parts = [nodes[labels == each] for each in range(labels.max() + 1)]

    def halve(some: Sequence[Ints]) -> Any:
        middle = len(some) // 2
        return some[0] if len(some) == 1 else (halve(some[:middle]), halve(some[middle:]))

    return halve(parts)


def components(graph: Graph, nodes: Ints) -> Ints:  # (nodes,)
    """Which of the parts that hang together each of some nodes is in."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    a, b = np.searchsorted(nodes, graph.edges[edges_among(graph, nodes)]).T
    joined = coo_array((np.ones(len(a)), (a, b)), shape=(len(nodes), len(nodes)))
    found: Ints = connected_components(joined, directed=False)[1]
    return found


def number_regions(graph: Graph, nested: Any) -> RegionTree:
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
    if (leaf_of < 0).any():
        raise QueryError(f"node {graph.nodes[int(np.argmin(leaf_of))]} is in no region; every node needs one")
    number = [[place + len(leaves) * is_pair for is_pair, place in pair] for pair in pairs]
    return RegionTree(leaf_of, np.array(number, dtype=np.int64))


def local_graph(graph: Graph, nodes: Ints, edges: Ints) -> Graph:
    """The graph of some nodes, by their positions, and some edges among them."""
    place = np.full(len(graph.nodes), -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    return Graph(tuple(nodes.tolist()), place[graph.edges[edges]], graph.is_directed)


def edges_among(graph: Graph, nodes: Ints) -> Ints:
    """The edges with both ends among some nodes."""
    is_inside = np.zeros(len(graph.nodes), dtype=np.bool_)
    is_inside[nodes] = True
    return np.flatnonzero(is_inside[graph.edges].all(axis=1))
