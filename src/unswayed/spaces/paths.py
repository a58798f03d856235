"""Spaces of simple paths in a graph, one-way streets respected: from one node to another, or between many.

A path is written as its nodes in order; variable `a-b` says that the edge between a and b is used. With two
fixed ends, paths and sets of edges are the same thing [choi2016, Representing Paths]. Where a path may have
one of several pairs of ends, a set of edges does not tell a path from its reverse: both are the same object,
and decoding gives the one whose first node comes first in the graph. In a directed graph variable `a>b` says
that the path goes from a to b, and a path is not its reverse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from unswayed.circuits.psdd.examples import UNKNOWN, Marks
from unswayed.core.arrays import Bools, Ints
from unswayed.core.errors import LimitError, QueryError, expect_list
from unswayed.core.numerics import is_whole
from unswayed.kernels import frontier
from unswayed.spaces.edge_sets import EdgeSets, diagram_of, narrow_order
from unswayed.spaces.graphs import Graph, Node, as_graph
from unswayed.spaces.maps.regions import RegionTree
from unswayed.spaces.space import Space, listed, refusal
from unswayed.spaces.zdd import diagram_space

Path: TypeAlias = tuple[Node, ...]
"""Nodes in the order in which a path visits them."""


def path_space(graph: Any, source: Node, target: Node, *, order: Ints | None = None) -> Space[Path]:
    """All simple paths from `source` to `target`: no node is visited twice.

    `graph` is a `Graph`, a networkx graph or an iterable of pairs. `order` are the edges, by position in the
    graph, in the order in which the circuit decides them; without it a good one is chosen.

    Cost: the number of nodes of the diagram, about exponential in the width of the graph: the grid of
    8 x 8 nodes takes a twentieth of a second, 11 x 11 two seconds. `LimitError` beyond the limits.

    >>> from unswayed.spaces.graphs import grid
    >>> space = path_space(grid(3, 3), (0, 0), (2, 2))
    >>> space.size
    12
    >>> space.explain([(0, 0), (0, 1), (1, 1)])
    'the path ends at (1, 1), not (2, 2)'
    """
    known = as_graph(graph)
    pair = (known.index(source), known.index(target))
    if pair[0] == pair[1]:
        raise QueryError(f"the path begins and ends at {source!r}; give two different nodes")
    if known.is_directed:
        starts, stops = np.arange(len(known.nodes)) == np.array(pair)[:, None]
        return space_of_paths(known, DirectedEnds(starts, stops, fixed=pair), order)
    return space_of_paths(known, EndPairs(*_groups(len(known.nodes), [pair]), fixed=pair), order)


def path_space_between(
    graph: Any, pairs: Iterable[tuple[Node, Node]] | None = None, *, order: Ints | None = None
) -> Space[Path]:
    """All simple paths between the ends of any of the pairs; without pairs, between any two nodes.

    A path and its reverse are one object, unless the graph is directed: then pairs are of a first and a last
    node, and every first must go with every last.

    >>> triangle = [("a", "b"), ("b", "c"), ("a", "c")]
    >>> path_space_between(triangle).size
    6
    """
    known = as_graph(graph)
    if known.is_directed:
        return space_of_paths(known, _directed_ends(known, pairs), order)
    if pairs is None:
        ends = EndPairs(np.zeros(len(known.nodes), dtype=np.int64), np.ones((1, 1), dtype=np.int64))
        return space_of_paths(known, ends, order)
    indexed = [(known.index(a), known.index(b)) for a, b in _checked_pairs(pairs)]
    if not indexed or any(a == b for a, b in indexed):
        raise QueryError("give pairs of different nodes, the ends of the paths")
    return space_of_paths(known, EndPairs(*_groups(len(known.nodes), indexed)), order)


def _checked_pairs(pairs: Iterable[tuple[Node, Node]]) -> tuple[tuple[Node, Node], ...]:
    found = expect_list(pairs, "the ends of the paths")
    for pair in found:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise QueryError(f"the ends of a path are a pair of nodes, not {pair!r}")
    return found


def _directed_ends(graph: Graph, pairs: Iterable[tuple[Node, Node]] | None) -> DirectedEnds:
    everywhere = np.ones(len(graph.nodes), dtype=np.bool_)
    if pairs is None:
        return DirectedEnds(everywhere, everywhere)
    indexed = {(graph.index(a), graph.index(b)) for a, b in _checked_pairs(pairs)}
    firsts, lasts = ({pair[side] for pair in indexed} for side in (0, 1))
    if not indexed or {(a, b) for a in firsts for b in lasts if a != b} != {
        p for p in indexed if p[0] != p[1]
    }:
        raise QueryError(
            "in a directed graph, every first node must go with every last one; make a space for each group"
        )
    nodes = np.arange(len(graph.nodes))
    return DirectedEnds(np.isin(nodes, list(firsts)), np.isin(nodes, list(lasts)))


def space_of_paths(graph: Graph, ends: EndPairs | DirectedEnds, order: Ints | None) -> Space[Path]:
    """All simple paths with these ends; without an order of the edges, a good one is chosen."""
    decided = narrow_order(graph) if order is None else _checked_order(order, graph)
    required = np.zeros(len(graph.nodes), dtype=np.int64)
    if ends.fixed is not None:
        required[list(ends.fixed)] = 1
    if isinstance(ends, DirectedEnds):
        may = ends.starts + 2 * ends.stops
        nothing = np.zeros((1, 1), dtype=np.int64)
        wanted = EdgeSets(graph, decided, frontier.DIRECTED_PATHS, may, nothing, required)
    else:
        wanted = EdgeSets(graph, decided, frontier.PATHS, ends.group, ends.joins, required)
    try:
        diagram = diagram_of(wanted)
    except LimitError as error:
        raise LimitError(
            f"{error}; of a large map, split_map (--split-map) keeps the paths that enter no region twice, "
            "cut_map (--cut-map) the part that most trips use"
        ) from None
    coding = PathCoding(graph, decided, ends)
    if diagram.root == 0:
        raise QueryError(f"there are no {coding.description()}: the ends are not connected")
    names = graph.edge_names()
    ordered = [names[edge] for edge in decided.tolist()]
    return diagram_space(coding.description(), diagram, ordered, coding)


def _checked_order(order: Ints, graph: Graph) -> Ints:
    given = np.array(expect_list(order, "the order of the edges"), dtype=object)
    if given.ndim != 1 or not all(map(is_whole, given)) or sorted(given) != list(range(len(graph.edges))):
        raise QueryError(f"an order of the edges has each number from 0 to {len(graph.edges) - 1} once")
    return given.astype(np.int64)


def _groups(n_nodes: int, ends: list[tuple[int, int]]) -> tuple[Ints, Ints]:
    """Nodes that may be joined to the same ends in one group each, and which groups go together.

    Search needs to know of an end only what may still become the other end: fewer groups, fewer states.
    """
    partners: dict[int, set[int]] = {}
    for a, b in ends:
        partners.setdefault(a, set()).add(b)
        partners.setdefault(b, set()).add(a)
    # Nodes alike have the same partners, each other left aside: two nodes that are each other's partners
    # are compared with themselves included.
    circles = Counter(frozenset(others | {node}) for node, others in partners.items())
    group = np.full(n_nodes, -1, dtype=np.int64)
    number: dict[tuple[bool, frozenset[int]], int] = {}
    for node, others in sorted(partners.items()):
        circle = frozenset(others | {node})
        key = (True, circle) if circles[circle] > 1 else (False, frozenset(others))
        group[node] = number.setdefault(key, len(number))
    joins = np.zeros((len(number), len(number)), dtype=np.int64)
    for a, b in ends:
        joins[group[a], group[b]] = joins[group[b], group[a]] = 1
    return group, joins


@dataclass(frozen=True, slots=True, eq=False)
class EndPairs:
    """Which nodes may be the two ends of a path."""

    group: Ints = field(repr=False)  # (nodes,)
    """Group of each node among possible ends; -1 for a node that is none."""
    joins: Ints = field(repr=False)  # (groups, groups)
    """1 where a path may have its ends in these groups."""
    fixed: tuple[int, int] | None = None
    """The first and the last node where there is only one choice."""

    def allow(self, first: Ints, last: Ints) -> Bools:
        """Whether a path may begin and end at these nodes, for many paths."""
        if self.fixed is not None:
            fits: Bools = (first == self.fixed[0]) & (last == self.fixed[1])
            return fits
        first_group, last_group = self.group[first], self.group[last]
        both = (first_group >= 0) & (last_group >= 0)
        allowed: Bools = both & (self.joins[first_group, last_group] > 0)
        return allowed


@dataclass(frozen=True, slots=True, eq=False)
class DirectedEnds:
    """Which nodes may be the first and the last of a directed path."""

    starts: Bools = field(repr=False)  # (nodes,)
    """Where a path may begin."""
    stops: Bools = field(repr=False)  # (nodes,)
    """Where it may end."""
    fixed: tuple[int, int] | None = None
    """The first and the last node where there is only one choice."""

    def allow(self, first: Ints, last: Ints) -> Bools:
        """Whether a path may begin and end at these nodes, for many paths."""
        allowed: Bools = self.starts[first] & self.stops[last]
        return allowed


@dataclass(frozen=True, slots=True, eq=False)
class PathCoding:
    """Simple paths of a graph with given ends."""

    graph: Graph
    """The graph they are in."""
    order: Ints = field(repr=False)  # (edges,)
    """The edge of each variable."""
    ends: EndPairs | DirectedEnds = field(repr=False)
    """Where paths may begin and end."""
    regions: RegionTree | None = field(repr=False, default=None)
    """Regions that no path enters twice, where there are any."""

    def description(self) -> str:
        """What the objects are."""
        kind = "simple paths" if self.regions is None else "hierarchical simple paths"
        if self.ends.fixed is not None:
            first, last = (self.graph.nodes[end] for end in self.ends.fixed)
            return f"{kind} from {first} to {last}"
        if isinstance(self.ends, DirectedEnds):
            firsts, lasts = int(self.ends.starts.sum()), int(self.ends.stops.sum())
            return f"directed {kind} from {firsts} possible nodes to {lasts}"
        return f"{kind} between {int((self.ends.group >= 0).sum())} possible ends"

    def encode_many(self, objects: Any) -> Bools:
        """One row for each path, a sequence of nodes."""
        paths = [_nodes(path) for path in listed(objects, "paths")]
        lengths = np.array([len(path) for path in paths], dtype=np.int64)
        flat = self._positions(paths)
        row = np.repeat(np.arange(len(paths)), lengths)
        variable = self._variables(flat[:-1], flat[1:])
        between = row[1:] == row[:-1]  # a step within one path
        bad = (
            (lengths < 2) | self._has_repeats(row, flat, len(paths)) | self._comes_back(row, flat, len(paths))
        )
        bad[row[:-1][between & (variable < 0)]] = True
        begins = np.cumsum(lengths) - lengths
        good = np.flatnonzero(~bad)
        bad[good] = ~self.ends.allow(flat[begins[good]], flat[begins[good] + lengths[good] - 1])
        if bad.any():
            worst = int(np.argmax(bad))
            raise refusal(worst, len(paths), self._reason(paths[worst]))
        rows = np.zeros((len(paths), len(self.order)), dtype=np.bool_)
        rows[row[:-1][between], variable[between]] = True
        return rows

    def decode(self, row: Bools) -> Path:
        """The path of a row; from the first node, or from the end that comes first in the graph."""
        if self.graph.is_directed:
            return self._decode_directed(row)
        beside: dict[int, list[int]] = {}
        for a, b in self.graph.edges[self.order[row]].tolist():
            beside.setdefault(a, []).append(b)
            beside.setdefault(b, []).append(a)
        tips = sorted(node for node, others in beside.items() if len(others) == 1)
        if len(tips) != 2:
            raise QueryError(f"the edges of this row are no simple path: {len(tips)} nodes have one edge")
        start = tips[0] if self.ends.fixed is None or tips[0] == self.ends.fixed[0] else tips[1]
        walked = [start]
        while len(walked) < 2 or len(beside[walked[-1]]) == 2:
            ahead = [node for node in beside[walked[-1]] if len(walked) < 2 or node != walked[-2]]
            walked.append(ahead[0])
            if len(walked) > len(beside):
                break
        if len(walked) != len(beside) or int(row.sum()) != len(walked) - 1:
            raise QueryError(
                "the edges of this row are no simple path: they do not hang together in one line"
            )
        return self._checked(walked)

    def _decode_directed(self, row: Bools) -> Path:
        arcs = self.graph.edges[self.order[row]].tolist()
        onward = dict(arcs)
        firsts = [a for a in onward if a not in set(onward.values())]
        if len(onward) < len(arcs) or len(set(onward.values())) < len(arcs) or len(firsts) != 1:
            raise QueryError("the edges of this row are no simple path: they do not follow one another")
        walked = [firsts[0]]
        while walked[-1] in onward:
            walked.append(onward[walked[-1]])
        if len(walked) != len(arcs) + 1:
            raise QueryError("the edges of this row are no simple path: some form a circle")
        return self._checked(walked)

    def _checked(self, walked: list[int]) -> Path:
        """A simple path by name; `QueryError` when its ends or regions do not fit the space."""
        path, flat = tuple(self.graph.nodes[node] for node in walked), np.array(walked)
        is_back = self._comes_back(np.zeros_like(flat), flat, 1)[0]
        if is_back or not self.ends.allow(flat[:1], flat[-1:])[0]:
            raise QueryError(self._reason(list(path)))
        return path

    def mark(self, known: Any) -> Marks:
        """What a piece of a path says: the edges between its nodes are used."""
        nodes = _nodes(known)
        row = np.full(len(self.order), UNKNOWN, dtype=np.int8)
        if nodes:
            flat = self._positions([nodes])
            variable = self._variables(flat[:-1], flat[1:])
            row_of = np.zeros_like(flat)
            repeats = self._has_repeats(row_of, flat, 1)[0] or self._comes_back(row_of, flat, 1)[0]
            if (variable < 0).any() or repeats:
                raise QueryError(self._reason(nodes))
            row[variable] = 1
        return row

    def _positions(self, paths: list[list[Any]]) -> Ints:
        """The nodes of all paths, one path after the other."""
        position = self.graph.position
        try:
            return np.array([position[node] for path in paths for node in path], dtype=np.int64)
        except (KeyError, TypeError):
            for row, path in enumerate(paths):
                for node in path:
                    try:
                        self.graph.index(node)
                    except QueryError as error:
                        raise refusal(row, len(paths), str(error)) from None
            raise

    def _variables(self, tails: Ints, heads: Ints) -> Ints:
        """The variable of the edge between each pair of nodes; -1 where there is none."""
        n_nodes = len(self.graph.nodes)
        ends = self.graph.edges[self.order]
        if not self.graph.is_directed:
            ends = np.sort(ends, axis=1)
            tails, heads = np.minimum(tails, heads), np.maximum(tails, heads)
        keys = ends[:, 0] * n_nodes + ends[:, 1]
        sorting = np.argsort(keys)
        wanted = tails * n_nodes + heads
        spot = np.minimum(np.searchsorted(keys[sorting], wanted), len(keys) - 1)
        variable: Ints = np.where(keys[sorting[spot]] == wanted, sorting[spot], -1)
        return variable

    def _has_repeats(self, row: Ints, flat: Ints, n_paths: int) -> Bools:
        """Whether each path visits a node twice."""
        keys = np.sort(row * len(self.graph.nodes) + flat)
        repeats = np.zeros(n_paths, dtype=np.bool_)
        repeats[keys[1:][keys[1:] == keys[:-1]] // len(self.graph.nodes)] = True
        return repeats

    def _comes_back(self, row: Ints, flat: Ints, n_paths: int) -> Bools:
        """Whether each path enters a region twice."""
        found = np.zeros(n_paths, dtype=np.bool_)
        for region in () if self.regions is None else self.regions.by_depth[1:]:
            enters = np.ones(len(flat), dtype=np.bool_)
            enters[1:] = (row[1:] != row[:-1]) | (region[flat[1:]] != region[flat[:-1]])
            found |= self._has_repeats(row[enters], region[flat[enters]], n_paths)
        return found

    def _reason(self, path: list[Any]) -> str:
        """Why a sequence of known nodes is no path of the space."""
        if len(path) < 2:
            return f"a path of {len(path)} nodes; a path has at least two"
        seen: set[Any] = set()
        for node in path:
            if node in seen:
                return f"the path visits {node} twice"
            seen.add(node)
        for a, b in pairwise(path):
            index = (np.array([self.graph.index(a)]), np.array([self.graph.index(b)]))
            if self._variables(*index)[0] < 0:
                way = f"from {a} to {b}" if self.graph.is_directed else f"{a}-{b}"
                return f"edge {way} is not in the graph"
        for length in range(3, len(path) + 1):
            flat = self._positions([path[:length]])
            if self._comes_back(np.zeros_like(flat), flat, 1)[0]:
                return (
                    f"the path comes back to the region of {path[length - 1]} after it left it; "
                    "hierarchical paths enter no region twice"
                )
        return self._wrong_ends(path)

    def _wrong_ends(self, path: Sequence[Any]) -> str:
        if self.ends.fixed is None:
            return f"no path between {path[0]} and {path[-1]} is in the space; they are not a pair of ends"
        first, last = (self.graph.nodes[end] for end in self.ends.fixed)
        if path[0] != first:
            return f"the path begins at {path[0]}, not {first}"
        return f"the path ends at {path[-1]}, not {last}"


def _nodes(path: Any) -> list[Any]:
    if isinstance(path, str | bytes) or not isinstance(path, Iterable):
        raise QueryError(f"{path!r} is no path; give its nodes in order")
    return list(path)
