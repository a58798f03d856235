"""Sets of edges of a graph as diagrams: the driver of frontier search, within limits, and the order of edges.

A vertex is in the frontier from its first edge to its last, and the number of states grows about
exponentially with the width of the frontier. `narrow_order` tries vertex orders (as given, breadth-first
from several vertices, and greedy ones that close vertices early) and takes the one with the smallest sum
of exponentials. A path passes through vertices of the frontier only where two of their edges were decided:
so paths are searched row by row in a grid, though the frontier is narrower diagonal by diagonal, and trees
and matchings by diagonals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.kernels import frontier
from unswayed.spaces.graphs import Graph, breadth_first, neighbours
from unswayed.spaces.zdd import Diagram, reduce_shared

_SLICE: Final = 1 << 13
"""States expanded between looks at the clock: 4 ms, or .2 s where the search is plain."""
_BYTES_PER_STATE: Final = 64
"""Measured while diagrams of grids are reduced: 60 for each state that was found."""
_GROWTH, _DIRECTED_GROWTH = 3.0, 3.83
"""How the number of states grows with each vertex in the frontier: Motzkin numbers, for paths in grids.

Directed fragments have two directions: Motzkin paths with two kinds of arcs grow by 1 + 2 sqrt(2).
"""
_KIND_GROWTH = {
    frontier.PATHS: _GROWTH,
    frontier.DIRECTED_PATHS: _DIRECTED_GROWTH,
    frontier.MATCHINGS: 2.0,
    frontier.TREES: 4.0,
}
"""The same for each kind of edge set: a vertex is matched or not, trees part the frontier uncrossed."""
_CAUTION, _DIRECTED_CAUTION = 0.65, 0.1
"""Share of the states foreseen that are counted: on 405 parts of a town's map at most 1.41 times as many were
foreseen as came, on grids never more. With one-way streets it was 2.8 times as many, and up to 7 times on
grids of them between two places that few ways join."""
_BETTER = 1.5
"""How much the price of an order must be below that of the order given: how far prices are to be trusted."""
_MOST_STARTS = 24
"""Vertices to start from; more take longer than they save."""
_MOST_NODES = 1000
"""Vertices of a graph up to which greedy orders are tried; they take quadratic time."""


@dataclass(frozen=True, slots=True, eq=False)
class EdgeSets:
    """What is searched for: a kind of edge set in a graph, edges in a given order."""

    graph: Graph
    """Where the edges are."""
    order: Ints = field(repr=False)  # (edges,)
    """The edges, in the order in which they are decided."""
    kind: int
    """`frontier.PATHS`, `DIRECTED_PATHS`, `MATCHINGS` or `TREES`."""
    group: Ints = field(repr=False)  # (nodes,)
    """Which kind of end of a path a node may be, -1 for none; directed: 1 for the first, 2 for the last."""
    joins: Ints = field(repr=False)  # (groups, groups)
    """1 where a path may have ends of these groups."""
    required: Ints = field(repr=False)  # (nodes,)
    """1 where a node must be an end of the path, or be matched."""


def diagram_of(wanted: EdgeSets) -> Diagram:
    """All edge sets of the kind, elements in the order of the edges.

    Time and memory grow with the number of states, about exponential in the width of the frontier;
    `LimitError` when they reach the limits.
    """
    nothing = np.full((1, 2), -1, dtype=np.int64)
    return shared_diagram(wanted, nothing[0, :0], nothing)[0]


def shared_diagram(wanted: EdgeSets, doors: Ints, begun: Ints) -> tuple[Diagram, Ints]:
    """One diagram with a root for each of several kinds of paths, and the roots.

    The paths of a root come from outside to the first node of its row of `begun` and leave at the second;
    nodes are positions among the `doors`, -1 where a path may begin, or end, anywhere in the graph.
    """
    widths = frontier_widths(wanted.graph, wanted.order, doors)
    n_places = int(widths.max())
    width = 2 * n_places if wanted.kind == frontier.DIRECTED_PATHS else n_places
    states = frontier.begun_states(wanted.kind, width, begun)
    log_states = _log_states(wanted.graph, wanted.order, wanted.kind, doors)
    bytes_foreseen = _BYTES_PER_STATE * (_DIRECTED_CAUTION if wanted.graph.is_directed else _CAUTION)
    levels: list[Ints] = []
    n_states = 0
    for step in _steps(wanted, n_places, doors):
        n_states += len(states)
        # What reducing takes for every state so far; two possible successors with their hash for these.
        n_bytes = _BYTES_PER_STATE * n_states + len(states) * (6 * width + 64)
        check_bytes(n_bytes, f"the diagram at edge {len(levels) + 1}")
        foreseen = n_states + len(states) * _levels_ahead(log_states[len(levels) :])
        check_bytes(bytes_foreseen * foreseen, f"the diagram, seen from edge {len(levels) + 1},")
        level = frontier.new_level(len(states), width)
        for begin in range(0, len(states), _SLICE):
            tick(what=f"the diagram at edge {len(levels)} of {len(wanted.order)}")
            level.span[:] = begin, min(begin + _SLICE, len(states))
            frontier.compiled_search(states, step, (wanted.kind, wanted.joins), level)
        levels.append(level.children)
        states = level.found[: int(level.n_found[0])].copy()
        if not len(states):
            break
    return _finished(wanted, levels)


def _levels_ahead(log_states: Floats) -> float:
    """How many levels as large as the first one follow: smaller ones count less, larger ones as one.

    Levels grow while the frontier does, and hardly shrink while it stays as it is.
    """
    return float(np.sum(np.exp(np.minimum(log_states[1:] - log_states[0], 0.0))))


def _finished(wanted: EdgeSets, levels: list[Ints]) -> tuple[Diagram, Ints]:
    """The reduced diagram; what is open after the last edge has no edges that matter, and is a matching."""
    n_edges = len(wanted.order)
    last = levels[n_edges - 1] if len(levels) == n_edges else None
    if last is not None:
        is_set = wanted.kind == frontier.MATCHINGS
        levels[-1] = np.where(last == frontier.OPEN, int(is_set), last)
    nothing = np.zeros((2, 0), dtype=np.int64)
    return reduce_shared(levels + [nothing] * (n_edges - len(levels)))


def _steps(wanted: EdgeSets, width: int, doors: Ints) -> Iterator[frontier.FrontierStep]:
    """The edges in order, each with the places of its ends; a place is free again after the last edge.

    Doors have the first places from the start.
    """
    ends = wanted.graph.edges[wanted.order]
    last = first_and_last(ends, len(wanted.graph.nodes))[1]
    place = np.full(len(wanted.graph.nodes), -1, dtype=np.int64)
    place[doors] = np.arange(len(doors))
    free = list(range(len(doors), width))[::-1]
    for i, pair in enumerate(ends):
        for vertex in pair:
            if place[vertex] < 0:
                place[vertex] = free.pop()
        leaves = (last[pair] == i).astype(np.int64)
        yield frontier.FrontierStep(place[pair], leaves, wanted.group[pair], wanted.required[pair])
        free += place[pair[leaves == 1]].tolist()


def narrow_order(graph: Graph, kind: int | None = None) -> Ints:
    """The edges in an order in which a search for edge sets of a kind, paths by default, has few states.

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
    paths = frontier.DIRECTED_PATHS if graph.is_directed else frontier.PATHS
    costs = [_search_price(graph, order, paths if kind is None else kind) for order in orders]
    best = int(np.argmin(costs))
    return orders[best if _BETTER * costs[best] < costs[0] else 0]


def _search_price(graph: Graph, order: Ints, kind: int) -> float:
    """About a multiple of the states of a search."""
    return float(np.sum(np.exp(_log_states(graph, order, kind))))


def _log_states(graph: Graph, order: Ints, kind: int, doors: Ints | None = None) -> Floats:  # (edges,)
    """The logarithm of the states before each edge is decided, up to a constant.

    What counts is the vertices between their first edge and their last, and those that paths may have passed.
    """
    growth = _KIND_GROWTH[kind]
    ends = graph.edges[order]
    first, last = first_and_last(ends, len(graph.nodes))
    if doors is not None:
        first[doors] = -1
    log_states: Floats = _overlaps(first + 1, last, first < last, len(ends)) * np.log(growth)
    if kind in (frontier.PATHS, frontier.DIRECTED_PATHS):
        log_states += _widths_passed(graph, order) * np.log((growth + 1) / growth)
    return log_states


def _widths_passed(graph: Graph, order: Ints) -> Ints:
    """How many vertices in the frontier of each edge a path may have passed: two neighbours were decided."""
    ends = graph.edges[order]
    vertex, other = ends.ravel(), ends[:, ::-1].ravel()
    first_neighbour = np.empty(len(graph.nodes), dtype=np.int64)
    first_neighbour[vertex[::-1]] = other[::-1]
    is_new = other != first_neighbour[vertex]
    second = np.full(len(graph.nodes), len(ends), dtype=np.int64)
    np.minimum.at(second, vertex[is_new], np.repeat(np.arange(len(ends)), 2)[is_new])
    last = first_and_last(ends, len(graph.nodes))[1]
    return _overlaps(second + 1, last, second < last, len(ends))


def order_price(graph: Graph, order: Ints) -> float:
    """About how many states a search has that decides the edges in this order."""
    growth = _DIRECTED_GROWTH if graph.is_directed else _GROWTH
    return float(np.sum(growth ** frontier_widths(graph, order)))


def breadth_first_order(graph: Graph, start: int) -> Ints:
    """The edges in the order in which a breadth-first search from a vertex meets them."""
    return edges_by_vertex(graph, _completed(graph, breadth_first(graph, start)))


def edges_by_vertex(graph: Graph, vertices: list[int]) -> Ints:
    """The edges of the first vertex, then the others of the second, and so on."""
    rank = np.empty(len(vertices), dtype=np.int64)
    rank[vertices] = np.arange(len(vertices))
    ranks = np.sort(rank[graph.edges], axis=1)
    return np.lexsort((ranks[:, 1], ranks[:, 0]))


def frontier_widths(graph: Graph, order: Ints, doors: Ints | None = None) -> Ints:
    """How many vertices each edge has in the frontier, its own ends included; doors always are."""
    ends = graph.edges[order]
    first, last = first_and_last(ends, len(graph.nodes))
    if doors is not None:
        first[doors] = 0
    return _overlaps(first, last, last >= 0, len(ends))


def _overlaps(first: Ints, last: Ints, used: Bools, n_edges: int) -> Ints:
    """In how many of the used intervals, both ends included, each edge is."""
    change = np.zeros(n_edges + 1, dtype=np.int64)
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
