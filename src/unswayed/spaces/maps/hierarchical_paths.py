"""Spaces of hierarchical simple paths: those that enter no region of a map twice.

All simple paths of a map have a circuit that grows exponentially with the map's width. Of the paths that
enter no region twice the circuit is small however large the map [Choi, Shen, Darwiche 2017; shen2018]: a path
takes at most one street between the two halves of a region, so that

    paths(C, s, t) = sum over streets a-b between halves A and B of  street(a-b) paths(A, s, a) paths(B, b, t)

and, where s and t are in the same half, the paths that stay in it. What a half does depends only on where a
path comes in and leaves, so it is one node of the circuit for each such pair of *ends*, shared by everything
above. Inside a leaf all simple paths are found, for all its pairs of ends together, by frontier search;
situations with the same ways to go on are one node there, whatever the door, as they are in flat spaces.

The variables of a region are the streets between its halves, then those of each half; its vtree has the
streets on the left, and on the right the two halves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from unswayed.circuits.psdd.structure import StructureWriter
from unswayed.circuits.vtree import Nested, Vtree, join_right, vtree_from_nested
from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Ints
from unswayed.core.errors import QueryError
from unswayed.kernels import frontier
from unswayed.spaces.edge_sets import EdgeSets, narrow_order, shared_diagram
from unswayed.spaces.graphs import Graph, Node, as_graph
from unswayed.spaces.maps.regions import RegionTree, local_graph, region_tree
from unswayed.spaces.paths import DirectedEnds, EndPairs, Path, PathCoding
from unswayed.spaces.space import Space
from unswayed.spaces.zdd import count_below, write_diagram

ANYWHERE = -1
"""In place of a node where a path may begin, or end, at any node of the region."""
Ends: TypeAlias = tuple[int, int]
"""Where a path comes into a region and where it leaves; in either order where streets go both ways."""
NOWHERE: Ends = (-2, -2)
"""The path takes no street inside the region."""
Way: TypeAlias = tuple[int, Ends, Ends]
"""The street between the halves that a path takes (-1 for none), and its ends in each half."""
_BYTES_PER_CHOICE = 200.0
"""Measured while the structures of a town of 3,061 nodes are written: 160 to 200, ways included."""
_BYTES_PER_WAY = 200.0
"""A tuple of three, two of them pairs."""


def hierarchical_path_space(
    graph: Any, regions: Any, source: Node | None = None, target: Node | None = None
) -> Space[Path]:
    """All simple paths that enter no region twice, between any two nodes or from `source` to `target`.

    `regions` are nested pairs of sets of nodes, or what `split_map` found. A path and its reverse are one
    object where streets go both ways and the ends are free.

    Cost: for each region, the pairs of nodes at its border times the streets between its halves; and the
    frontier search inside leaves. A town of 3,000 nodes takes seconds.

    >>> square = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    >>> space = hierarchical_path_space(square, ({"a", "b"}, {"c", "d"}))
    >>> space.size, space.explain(["d", "a", "b", "c"])
    (10, 'the path comes back to the region of c after it left it; hierarchical paths enter no region twice')
    """
    known = as_graph(graph)
    if (source is None) != (target is None):
        raise QueryError("give both ends of the paths, source and target, or none")
    fixed = None if source is None or target is None else (known.index(source), known.index(target))
    if fixed is not None and fixed[0] == fixed[1]:
        raise QueryError(f"the path begins and ends at {source!r}; give two different nodes")
    return space_of_regions(known, region_tree(known, regions), fixed)


def space_of_regions(graph: Graph, tree: RegionTree, fixed: Ends | None) -> Space[Path]:
    """The space of a graph with its tree of regions, and its fixed ends if it has any."""
    circuit = _HierarchyBuilder(graph, tree)
    size = circuit.build((ANYWHERE, ANYWHERE) if fixed is None else fixed)
    coding = PathCoding(graph, circuit.layout.order, _allowed(graph, fixed), tree)
    if not size:
        raise QueryError(f"there are no {coding.description()}: the ends are not connected")
    structure = circuit.writer.finish()
    return Space(coding.description(), size, circuit.layout.vtree, coding, None, lambda: structure)


def _allowed(graph: Graph, fixed: Ends | None) -> EndPairs | DirectedEnds:
    n_nodes = len(graph.nodes)
    if graph.is_directed:
        nodes = np.arange(n_nodes)
        starts, stops = (
            np.ones(n_nodes, dtype=np.bool_) if fixed is None else nodes == fixed[side] for side in (0, 1)
        )
        return DirectedEnds(starts, stops, fixed)
    return EndPairs(np.zeros(n_nodes, dtype=np.int64), np.ones((1, 1), dtype=np.int64), fixed)


@dataclass(frozen=True, slots=True, eq=False)
class _RegionLayout:
    """Which streets are inside of, or between the halves of, each region, and their variables."""

    order: Ints  # (edges,) the edge of each variable
    begin: Ints  # (regions,) the first variable
    end: Ints  # (regions,) one after the last
    own: list[Ints]  # for each region its edges: between the halves, or inside a leaf, in order
    vtree: Vtree = field(repr=False)


def _lay_out(graph: Graph, tree: RegionTree) -> _RegionLayout:
    sides = tree.by_depth[:, graph.edges]  # (depths, edges, 2)
    together = (sides[:, :, 0] == sides[:, :, 1]).sum(axis=0)  # the ends are in one region down to this depth
    region = sides[together - 1, np.arange(len(graph.edges)), 0]
    n_regions = 2 * tree.n_leaves - 1
    own = [np.flatnonzero(region == each) for each in range(n_regions)]
    for leaf in range(tree.n_leaves):
        if len(own[leaf]):
            own[leaf] = own[leaf][
                narrow_order(local_graph(graph, np.flatnonzero(tree.leaf_of == leaf), own[leaf]))
            ]
    count = np.array([len(each) for each in own])
    for i, halves in enumerate(tree.halves):
        count[tree.n_leaves + i] += count[halves].sum()
    begin = np.zeros(n_regions, dtype=np.int64)
    for each in range(n_regions - 1, tree.n_leaves - 1, -1):
        one, other = tree.halves[each - tree.n_leaves]
        begin[one] = begin[each] + len(own[each])
        begin[other] = begin[one] + count[one]
    order = np.concatenate([own[each] for each in np.lexsort((-count, begin)) if len(own[each])])
    return _RegionLayout(order, begin, begin + count, own, _vtree(graph, tree, own, order))


def _vtree(graph: Graph, tree: RegionTree, own: list[Ints], order: Ints) -> Vtree:
    names = graph.edge_names()
    nested: list[Nested | None] = []
    for region, edges in enumerate(own):
        parts: list[Nested] = [join_right([names[edge] for edge in edges])] if len(edges) else []
        if region >= tree.n_leaves:
            halves = (nested[half] for half in tree.halves[region - tree.n_leaves])
            parts += [half for half in halves if half is not None]
        nested.append(join_right(parts) if parts else None)
    whole = nested[-1]
    assert whole is not None  # a graph has edges
    return vtree_from_nested(whole, [names[edge] for edge in order])


class _HierarchyBuilder:
    """The circuit while it is made: ends are asked for downwards, nodes written from the leaves up."""

    def __init__(self, graph: Graph, tree: RegionTree) -> None:
        self.graph, self.tree = graph, tree
        self.layout = _lay_out(graph, tree)
        self.writer = StructureWriter(self.layout.vtree)
        self.nodes = tree.members()
        self.made: list[dict[Ends, tuple[int, int]]] = []
        """For each region and its possible ends, the node and how many paths it has."""

    def build(self, ends: Ends) -> int:
        """Write everything; the number of paths."""
        n_leaves, n_ways = self.tree.n_leaves, 0
        ends = self._between(*ends)
        ways: list[dict[Ends, list[Way]]] = [{} for _ in self.nodes]
        ways[-1][ends] = []
        for region in range(len(ways) - 1, n_leaves - 1, -1):
            streets = self._streets(region)
            halves = self.tree.halves[region - n_leaves].tolist()
            for each in ways[region]:
                ways[region][each] = self._ways(halves, streets, each)
                n_ways += len(ways[region][each])
                for _, *inside in ways[region][each]:
                    for half, asked in zip(halves, inside, strict=True):
                        ways[half].setdefault(asked, [])
            self._check(_BYTES_PER_WAY * n_ways, f"{n_ways:,} ways between regions")
        for region, asked_ways in enumerate(ways):
            if region < n_leaves:
                self.made.append(self._write_leaf(region, sorted(asked_ways)))
            else:
                self.made.append(self._write_pair(region, asked_ways))
            n_choices = self.writer.n_choices
            self._check(_BYTES_PER_CHOICE * n_choices, f"the circuit, of more than {n_choices:,} choices,")
        return self.made[-1].get(ends, (0, 0))[1]

    def _check(self, n_bytes: float, what: str) -> None:
        """`LimitError` when memory or time does not suffice."""
        check_bytes(n_bytes, what)
        tick(what="the circuit of hierarchical paths")

    def _between(self, first: int, last: int) -> Ends:
        if first == last and first >= 0:
            return NOWHERE
        return (first, last) if self.graph.is_directed or first <= last else (last, first)

    def _streets(self, region: int) -> list[tuple[int, int, int, int]]:
        """The streets between the halves, each way: number, half where it begins, and its two ends."""
        first_half = self.nodes[int(self.tree.halves[region - self.tree.n_leaves, 0])]
        found = []
        for number, (a, b) in enumerate(self.graph.edges[self.layout.own[region]].tolist()):
            side = int(a not in first_half)
            found.append((number, side, a, b))
            if not self.graph.is_directed:
                found.append((number, 1 - side, b, a))
        return found

    def _ways(self, halves: list[int], streets: Iterable[tuple[int, int, int, int]], ends: Ends) -> list[Way]:
        """How a path with these ends can go: it stays in a half, or takes one street to the other."""
        if ends == NOWHERE:
            return [(-1, NOWHERE, NOWHERE)]
        may = [[end < 0 or end in self.nodes[half] for half in halves] for end in ends]
        ways: list[Way] = []
        if may[0][0] and may[1][0]:
            ways.append((-1, ends, NOWHERE))
        if may[0][1] and may[1][1]:
            ways.append((-1, NOWHERE, ends))
        # Without ends, a path and its reverse are the same.
        is_reversible = ends == (ANYWHERE, ANYWHERE) and not self.graph.is_directed
        for number, side, tail, head in streets:
            if may[0][side] and may[1][1 - side] and not (is_reversible and side):
                inside = self._between(ends[0], tail), self._between(head, ends[1])
                ways.append((number, inside[side], inside[1 - side]))
        return ways

    def _write_leaf(self, region: int, asked: list[Ends]) -> dict[Ends, tuple[int, int]]:
        edges = self.layout.own[region]
        if not len(edges):  # one node: a path that comes in may only end, or leave, there
            return {ends: (0, 1) for ends in asked if ends != (ANYWHERE, ANYWHERE)}
        nodes = np.array(sorted(self.nodes[region]), dtype=np.int64)
        part = local_graph(self.graph, nodes, edges)
        paths = [ends for ends in asked if ends != NOWHERE]
        doors = np.array(sorted({end for ends in paths for end in ends if end >= 0}), dtype=np.int64)
        begun = np.searchsorted(doors, np.array(paths, dtype=np.int64).reshape(-1, 2))
        begun[np.array(paths).reshape(-1, 2) < 0] = ANYWHERE
        kind = frontier.DIRECTED_PATHS if self.graph.is_directed else frontier.PATHS
        may = np.full(len(nodes), 3 if self.graph.is_directed else 0)
        free = np.zeros(len(nodes), dtype=np.int64)
        wanted = EdgeSets(part, np.arange(len(edges)), kind, may, np.ones((1, 1), dtype=np.int64), free)
        diagram, roots = shared_diagram(wanted, np.searchsorted(nodes, doors), begun)
        root_by_ends = {ends: root for ends, root in zip(paths, roots.tolist(), strict=True) if root}
        if NOWHERE in asked:
            root_by_ends[NOWHERE] = 1  # the empty set
        if not root_by_ends:
            return {}
        some = np.array(list(root_by_ends.values()))
        numbers = write_diagram(self.writer, diagram, some, int(self.layout.begin[region])).tolist()
        counts = count_below(diagram)
        found = zip(root_by_ends.items(), numbers, strict=True)
        return {ends: (number, counts[root]) for (ends, root), number in found}

    def _write_pair(self, region: int, asked: dict[Ends, list[Way]]) -> dict[Ends, tuple[int, int]]:
        first, second = self.tree.halves[region - self.tree.n_leaves].tolist()
        patterns = self._patterns(region)
        made = {}
        for ends, ways in asked.items():
            size, subs = 0, dict[int, list[tuple[int, int]]]()
            for street, *inside in ways:
                one, other = self.made[first].get(inside[0]), self.made[second].get(inside[1])
                if one is not None and other is not None:
                    size += one[1] * other[1]
                    subs.setdefault(street, []).append((one[0], other[0]))
            if subs:
                below = {street: self._join(first, second, pairs) for street, pairs in subs.items()}
                made[ends] = (self._decide(region, patterns, below), size)
        return made

    def _join(self, first: int, second: int, pairs: list[tuple[int, int]]) -> int:
        """The node of both halves; a half without streets has none of its own."""
        has_streets = self.layout.begin < self.layout.end
        if has_streets[first] and has_streets[second]:
            return self.writer.add_node(2 * int(self.layout.end[first]) - 1, pairs)
        return max(pairs[0])

    def _decide(self, region: int, patterns: dict[int, int], below: dict[int, int]) -> int:
        """The node that decides on the streets between the halves."""
        n_streets = len(self.layout.own[region])
        if not n_streets:
            return below[-1]
        place = 2 * (int(self.layout.begin[region]) + n_streets) - 1
        return self.writer.add_node(place, [(patterns[street], node) for street, node in below.items()])

    def _patterns(self, region: int) -> dict[int, int]:
        """The nodes of: no street between the halves (-1), and each of them alone."""
        begin, n_streets = int(self.layout.begin[region]), len(self.layout.own[region])
        if n_streets and begin + n_streets == self.layout.end[region]:
            some, others = (
                self.graph.nodes[min(self.nodes[half])]
                for half in self.tree.halves[region - self.tree.n_leaves]
            )
            raise QueryError(f"the regions of {some} and {others} have no streets inside; join them")
        nodes: dict[int, int] = {}
        for position in range(n_streets - 1, -1, -1):
            taken, left_out = (self.writer.literal(begin + position, sign) for sign in (1, 0))
            if position == n_streets - 1:
                nodes = {-1: left_out, position: taken}
                continue
            place, rest = 2 * (begin + position) + 1, nodes[-1]
            nodes = {
                street: self.writer.add_node(place, [(left_out, node)]) for street, node in nodes.items()
            }
            nodes[position] = self.writer.add_node(place, [(taken, rest)])
        return nodes
