"""In which order to decide edges: the frontier, and with it the diagram, should stay narrow.

A vertex is in the frontier from its first edge to its last, and the number of states grows about
exponentially with the width of the frontier. `narrow_order` tries vertex orders (as given, breadth-first
from several vertices, and greedy ones that close vertices early) and takes the one with the smallest sum
of exponentials. The sum is a rough guide, so the order that was given stays unless another is much better:
row by row, the 8 x 8 grid has a larger sum than diagonal by diagonal, and half as many nodes.
"""

from __future__ import annotations

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.spaces.graphs import Graph, breadth_first, neighbours

_GROWTH = 3.0
"""How the number of states grows with each vertex in the frontier: Motzkin numbers, for paths in grids."""
_MUCH_BETTER = 4.0
"""How much the sum of an order must be below that of the order given."""
_MOST_STARTS = 24
"""Vertices to start from; more take longer than they save."""
_MOST_NODES = 1000
"""Vertices of a graph up to which greedy orders are tried; they take quadratic time."""


def narrow_order(graph: Graph) -> Ints:
    """The edges in an order that keeps the frontier narrow.

    >>> from unswayed.spaces.graphs import grid
    >>> print(frontier_widths(grid(4, 9), narrow_order(grid(4, 9))).max())
    5
    """
    n_nodes = len(graph.nodes)
    starts = range(n_nodes) if n_nodes <= _MOST_STARTS else _far_apart(graph)
    vertex_orders = [list(range(n_nodes))]
    for start in starts:
        vertex_orders.append(_completed(graph, breadth_first(graph, start)))
        if n_nodes <= _MOST_NODES:
            vertex_orders.append(_closing_early(graph, start))
    orders = [edges_by_vertex(graph, order) for order in vertex_orders]
    costs = [float(np.sum(_GROWTH ** frontier_widths(graph, order))) for order in orders]
    best = int(np.argmin(costs))
    return orders[best if _MUCH_BETTER * costs[best] < costs[0] else 0]


def breadth_first_order(graph: Graph, start: int) -> Ints:
    """The edges in the order in which a breadth-first search from a vertex meets them."""
    return edges_by_vertex(graph, _completed(graph, breadth_first(graph, start)))


def edges_by_vertex(graph: Graph, vertices: list[int]) -> Ints:
    """The edges of the first vertex, then the others of the second, and so on."""
    rank = np.empty(len(vertices), dtype=np.int64)
    rank[vertices] = np.arange(len(vertices))
    ranks = np.sort(rank[graph.edges], axis=1)
    return np.lexsort((ranks[:, 1], ranks[:, 0]))


def frontier_widths(graph: Graph, order: Ints) -> Ints:
    """How many vertices each edge has in the frontier, its own ends included."""
    ends = graph.edges[order]
    first, last = first_and_last(ends, len(graph.nodes))
    change = np.zeros(len(ends) + 1, dtype=np.int64)
    used = last >= 0
    np.add.at(change, first[used], 1)
    np.add.at(change, last[used] + 1, -1)
    return np.cumsum(change[:-1])


def first_and_last(ends: Ints, n_nodes: int) -> tuple[Ints, Ints]:
    """The first and the last edge of each vertex; the last is -1 for a vertex without edges."""
    index = np.repeat(np.arange(len(ends)), 2)
    first = np.full(n_nodes, len(ends), dtype=np.int64)
    last = np.full(n_nodes, -1, dtype=np.int64)
    np.minimum.at(first, ends.ravel(), index)
    np.maximum.at(last, ends.ravel(), index)
    return first, last


def _far_apart(graph: Graph) -> list[int]:
    """Vertices at the rim: the ends of breadth-first searches, and evenly spread others."""
    last = breadth_first(graph, 0)[-1]
    opposite = breadth_first(graph, last)[-1]
    spread = np.linspace(0, len(graph.nodes) - 1, _MOST_STARTS - 2).astype(int).tolist()
    return sorted({last, opposite, *spread})


def _completed(graph: Graph, order: list[int]) -> list[int]:
    """The order with the vertices of other components after it."""
    seen = set(order)
    return order + [node for node in range(len(graph.nodes)) if node not in seen]


def _closing_early(graph: Graph, start: int) -> list[int]:
    """From a start, always the vertex that brings the fewest new neighbours, oldest first."""
    beside = neighbours(graph)
    age = {start: 0}
    done: list[int] = []
    is_done = [False] * len(beside)
    while age:
        fresh = {each: sum(v not in age and not is_done[v] for v in beside[each]) for each in age}
        vertex = min(age, key=lambda each: (fresh[each], age[each]))
        del age[vertex]
        is_done[vertex] = True
        done.append(vertex)
        for other in beside[vertex]:
            if not is_done[other]:
                age.setdefault(other, len(done))
    return _completed(graph, done)
