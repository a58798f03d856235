"""Spaces of simple paths in an undirected graph: from one node to another, or between many pairs.

A path is written as its nodes in order; variable `a-b` says that the edge between a and b is used. With two
fixed ends, paths and sets of edges are the same thing [choi2016, Representing Paths]. Where any of several
ends will do, a set of edges does not tell a path from its reverse: both are the same object, and decoding
gives the one whose first node comes first in the graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.kernels import frontier
from unswayed.spaces.edge_orders import narrow_order
from unswayed.spaces.edge_sets import EdgeSets, diagram_of
from unswayed.spaces.graphs import Graph, Node, as_graph
from unswayed.spaces.path_coding import EndPairs, Path, PathCoding
from unswayed.spaces.space import Space
from unswayed.spaces.zdd import count_sets
from unswayed.spaces.zdd_circuits import circuit_of


def path_space(
    graph: Any, source: Node, target: Node, *, order: Ints | None = None, limits: Limits = DEFAULT_LIMITS
) -> Space[Path]:
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
    return _space(known, EndPairs(*_groups(len(known.nodes), [pair]), fixed=pair), order, limits)


def path_space_between(
    graph: Any,
    pairs: Iterable[tuple[Node, Node]] | None = None,
    *,
    order: Ints | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Space[Path]:
    """All simple paths between the ends of any of the pairs; without pairs, between any two nodes.

    A path and its reverse are one object.

    >>> triangle = [("a", "b"), ("b", "c"), ("a", "c")]
    >>> path_space_between(triangle).size
    6
    """
    known = as_graph(graph)
    if pairs is None:
        ends = EndPairs(np.zeros(len(known.nodes), dtype=np.int64), np.ones((1, 1), dtype=np.int64))
        return _space(known, ends, order, limits)
    indexed = [(known.index(a), known.index(b)) for a, b in pairs]
    if not indexed or any(a == b for a, b in indexed):
        raise QueryError("give pairs of different nodes, the ends of the paths")
    return _space(known, EndPairs(*_groups(len(known.nodes), indexed)), order, limits)


def _space(graph: Graph, ends: EndPairs, order: Ints | None, limits: Limits) -> Space[Path]:
    decided = narrow_order(graph) if order is None else _checked_order(order, graph)
    required = np.zeros(len(graph.nodes), dtype=np.int64)
    if ends.fixed is not None:
        required[list(ends.fixed)] = 1
    diagram = diagram_of(
        EdgeSets(graph, decided, frontier.PATHS, ends.group, ends.joins, required), limits=limits
    )
    coding = PathCoding(graph, decided, ends, diagram)
    if diagram.root == 0:
        raise QueryError(f"there are no {coding.description()}: the ends are not connected")
    names = graph.edge_names()
    return Space(
        coding.description(),
        circuit_of(diagram, [names[edge] for edge in decided.tolist()]),
        count_sets(diagram),
        coding,
    )


def _checked_order(order: Ints, graph: Graph) -> Ints:
    given = np.asarray(order)
    if given.dtype.kind not in "iu" or sorted(given.tolist()) != list(range(len(graph.edges))):
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
