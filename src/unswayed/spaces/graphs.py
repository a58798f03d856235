"""Graphs as the spaces see them: nodes by name, edges as pairs of positions, one-way or both ways.

Where a graph is asked for, give a `Graph`, a networkx graph or an iterable of pairs (`as_graph`).
The nodes of a path name its edges, so parallel edges and loops are refused.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from unswayed.core.arrays import Ints, read_only
from unswayed.core.errors import LimitError, ModelError, QueryError, expect_list
from unswayed.core.names import unknown_name
from unswayed.core.numerics import is_whole

Node: TypeAlias = Hashable
"""A node's name: a string, a number, a pair of coordinates."""
MOST_NODES = 10_000_000
"""Most nodes of a grid that is made."""


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A graph without loops and parallel edges.

    In a directed graph an edge leads from its first end to its second; a street of two ways is two edges.
    """

    nodes: tuple[Node, ...]
    """The nodes' names."""
    edges: Ints = field(repr=False)  # (edges, 2)
    """The two ends of each edge, as positions in `nodes`."""
    is_directed: bool = False
    """Whether edges are one-way."""
    position: Mapping[Node, int] = field(init=False, repr=False)
    """Where each node is in `nodes`."""

    def __post_init__(self) -> None:
        edges = np.array(self.edges, dtype=np.int64).reshape(-1, 2)
        object.__setattr__(self, "edges", read_only(edges))
        object.__setattr__(self, "position", {node: i for i, node in enumerate(self.nodes)})
        if len(self.position) < len(self.nodes):
            raise ModelError("a graph names a node twice")
        _check_edges(self)

    def edge_names(self) -> tuple[str, ...]:
        """A name for each edge, `a-b`, or `a>b` one-way; with its number where that would name two edges."""
        mark = ">" if self.is_directed else "-"
        plain = [f"{self.nodes[a]}{mark}{self.nodes[b]}" for a, b in self.edges.tolist()]
        if len(set(plain)) == len(plain):
            return tuple(plain)
        return tuple(f"{name} (edge {i})" for i, name in enumerate(plain))

    def index(self, node: Node) -> int:
        """Where a node is in `nodes`; `QueryError` names similar ones when it is unknown."""
        found = self.position.get(node) if isinstance(node, Hashable) else None
        if found is None:
            raise QueryError(unknown_name("node", str(node), [str(each) for each in self.nodes]))
        return found


def _check_edges(graph: Graph) -> None:
    edges = graph.edges
    if not len(edges):
        raise ModelError("a graph without edges has no paths, matchings or trees; add edges")
    if edges.min() < 0 or edges.max() >= len(graph.nodes):
        raise ModelError(f"an edge leads outside the {len(graph.nodes)} nodes of the graph")
    loops = edges[edges[:, 0] == edges[:, 1], 0]
    if len(loops):
        raise ModelError(f"an edge joins {graph.nodes[loops[0]]!r} to itself; remove loops")
    ends = edges if graph.is_directed else np.sort(edges, axis=1)
    keys, counts = np.unique(ends, axis=0, return_counts=True)
    for a, b in keys[counts > 1][:1].tolist():
        raise ModelError(f"two edges join {graph.nodes[a]!r} and {graph.nodes[b]!r}; merge parallel edges")


def as_graph(source: Any) -> Graph:
    """The graph in a `Graph`, a networkx graph (one-way where it is directed), or an iterable of pairs.

    >>> as_graph([("a", "b"), ("b", "c")]).nodes
    ('a', 'b', 'c')
    """
    if isinstance(source, Graph):
        return source
    if hasattr(source, "is_directed") and hasattr(source, "edges"):
        pairs = ((edge[0], edge[1]) for edge in source.edges())
        return graph_from_edges(pairs, nodes=source.nodes(), is_directed=bool(source.is_directed()))
    return graph_from_edges(source)


def as_undirected(source: Any) -> Graph:
    """The graph in a `Graph`, a networkx graph or an iterable of pairs; `QueryError` when it is directed."""
    graph = as_graph(source)
    if graph.is_directed:
        raise QueryError("this graph is directed, and an undirected one is needed; use to_undirected()")
    return graph


def graph_from_edges(
    pairs: Iterable[Sequence[Node]], *, nodes: Iterable[Node] = (), is_directed: bool = False
) -> Graph:
    """The graph of these edges; nodes in the order given, then as the edges name them."""
    position = {node: i for i, node in enumerate(nodes)}
    edges: list[tuple[int, int]] = []
    for pair in expect_list(pairs, "the edges of a graph"):
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise QueryError(f"{pair!r} is no edge; an edge is a pair of nodes")
        a, b = (position.setdefault(node, len(position)) for node in pair)
        edges.append((a, b))
    return Graph(tuple(position), np.array(edges, dtype=np.int64), is_directed)


def grid(n_rows: int, n_columns: int) -> Graph:
    """The grid of n_rows x n_columns nodes (row, column), row by row.

    >>> len(grid(8, 8).edges)
    112
    """
    if not is_whole(n_rows) or not is_whole(n_columns):
        raise QueryError(f"a grid has whole numbers of rows and columns, not {n_rows!r} and {n_columns!r}")
    if n_rows < 1 or n_columns < 1 or n_rows * n_columns < 2:
        raise QueryError(f"a grid of {n_rows} x {n_columns} nodes has no edges")
    if n_rows * n_columns > MOST_NODES:
        raise LimitError(f"a grid of {n_rows} x {n_columns} nodes; at most {MOST_NODES:,} are made")
    number = np.arange(n_rows * n_columns).reshape(n_rows, n_columns)
    across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    edges = np.concatenate([across, down])
    nodes = tuple((row, column) for row in range(n_rows) for column in range(n_columns))
    return Graph(nodes, edges[np.lexsort((edges[:, 1], edges[:, 0]))])


def neighbours(graph: Graph) -> list[list[int]]:
    """The neighbours of each node, either way, in ascending order."""
    found: list[set[int]] = [set() for _ in graph.nodes]
    for a, b in graph.edges.tolist():
        found[a].add(b)
        found[b].add(a)
    return [sorted(each) for each in found]


def breadth_first(graph: Graph, start: int) -> list[int]:
    """The nodes reachable from one, nearest first."""
    beside = neighbours(graph)
    order = [start]
    seen = {start}
    for node in order:
        fresh = [each for each in beside[node] if each not in seen]
        order += fresh
        seen.update(fresh)
    return order


def is_connected(graph: Graph) -> bool:
    """Whether every node can be reached from every other."""
    return len(breadth_first(graph, 0)) == len(graph.nodes)
