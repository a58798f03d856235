"""Paths as rows of truth values, one for each edge, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from unswayed.core.arrays import Bools, Ints
from unswayed.core.errors import QueryError
from unswayed.spaces.graphs import Graph, Node
from unswayed.spaces.space import listed, refusal
from unswayed.spaces.zdd import Diagram

Path: TypeAlias = tuple[Node, ...]
"""Nodes in the order in which a path visits them."""


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
class PathCoding:
    """Simple paths of a graph with given ends."""

    graph: Graph
    """The graph they are in."""
    order: Ints = field(repr=False)  # (edges,)
    """The edge of each variable."""
    ends: EndPairs = field(repr=False)
    """Where paths may begin and end."""
    diagram: Diagram = field(repr=False)
    """All paths as sets of edges, in this order."""

    def description(self) -> str:
        """What the objects are."""
        if self.ends.fixed is None:
            return f"simple paths between {int((self.ends.group >= 0).sum())} possible ends"
        first, last = (self.graph.nodes[end] for end in self.ends.fixed)
        return f"simple paths from {first} to {last}"

    def encode_many(self, objects: Any) -> Bools:
        """One row for each path, a sequence of nodes."""
        paths = [_nodes(path) for path in listed(objects, "paths")]
        lengths = np.array([len(path) for path in paths], dtype=np.int64)
        flat = self._positions(paths)
        row = np.repeat(np.arange(len(paths)), lengths)
        variable = self._variables(flat[:-1], flat[1:])
        between = row[1:] == row[:-1]  # a step within one path
        bad = (lengths < 2) | self._has_repeats(row, flat, len(paths))
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
        if not self.ends.allow(np.array([walked[0]]), np.array([walked[-1]]))[0]:
            raise QueryError(self._wrong_ends([self.graph.nodes[node] for node in walked]))
        return tuple(self.graph.nodes[node] for node in walked)

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
        ends = np.sort(self.graph.edges[self.order], axis=1)
        keys = ends[:, 0] * n_nodes + ends[:, 1]
        sorting = np.argsort(keys)
        wanted = np.minimum(tails, heads) * n_nodes + np.maximum(tails, heads)
        spot = np.minimum(np.searchsorted(keys[sorting], wanted), len(keys) - 1)
        variable: Ints = np.where(keys[sorting[spot]] == wanted, sorting[spot], -1)
        return variable

    def _has_repeats(self, row: Ints, flat: Ints, n_paths: int) -> Bools:
        """Whether each path visits a node twice."""
        keys = np.sort(row * len(self.graph.nodes) + flat)
        repeats = np.zeros(n_paths, dtype=np.bool_)
        repeats[keys[1:][keys[1:] == keys[:-1]] // len(self.graph.nodes)] = True
        return repeats

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
                return f"edge {a}-{b} is not in the graph"
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
