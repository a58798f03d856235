"""Sets of edges of a graph as diagrams: the driver of frontier search, within limits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.core.errors import LimitError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.kernels import frontier
from unswayed.spaces.edge_orders import first_and_last, frontier_widths
from unswayed.spaces.graphs import Graph
from unswayed.spaces.zdd import Diagram, reduced

_SLICE: Final = 1 << 17
"""States expanded between looks at the clock; some tens of milliseconds."""
_PLAIN: Final = 3000
"""States that plain Python expands before the compiled search is loaded, which takes a second."""


@dataclass(frozen=True, slots=True, eq=False)
class EdgeSets:
    """What is searched for: a kind of edge set in a graph, edges in a given order."""

    graph: Graph
    """Where the edges are."""
    order: Ints = field(repr=False)  # (edges,)
    """The edges, in the order in which they are decided."""
    kind: int
    """`frontier.PATHS`, `MATCHINGS` or `TREES`."""
    group: Ints = field(repr=False)  # (nodes,)
    """Which kind of end of a path each node may be; -1 for none."""
    joins: Ints = field(repr=False)  # (groups, groups)
    """1 where a path may have ends of these groups."""
    required: Ints = field(repr=False)  # (nodes,)
    """1 where a node must be an end of the path, or be matched."""


def diagram_of(wanted: EdgeSets, *, limits: Limits = DEFAULT_LIMITS) -> Diagram:
    """All edge sets of the kind, elements in the order of the edges.

    Time and memory grow with the number of states, about exponential in the width of the frontier;
    `LimitError` when they reach the limits.
    """
    deadline = limits.deadline()
    width = int(frontier_widths(wanted.graph, wanted.order).max())
    states = frontier.initial_state(wanted.kind, width)[None, :]
    levels: list[Ints] = []
    n_bytes = n_states = 0
    for step in _steps(wanted, width):
        # A state's children, its two possible successors, and their part of the hash table.
        n_bytes += 16 * len(states)
        limits.check_bytes(n_bytes + len(states) * (6 * width + 64), f"the diagram at edge {len(levels) + 1}")
        n_states += len(states)
        quick = n_states > _PLAIN or frontier.is_compiled()
        search = frontier.compiled_search() if quick else frontier.search
        level = frontier.new_level(len(states), width)
        for begin in range(0, len(states), _SLICE):
            _check_time(deadline, wanted, len(levels))
            level.span[:] = begin, min(begin + _SLICE, len(states))
            search(states, step, (wanted.kind, wanted.joins), level)
        levels.append(level.children)
        states = level.found[: int(level.n_found[0])].copy()
        if not len(states):
            break
    return _finished(wanted, levels)


def _finished(wanted: EdgeSets, levels: list[Ints]) -> Diagram:
    """The reduced diagram; what is open after the last edge has no edges that matter, and is a matching."""
    n_edges = len(wanted.order)
    last = levels[n_edges - 1] if len(levels) == n_edges else None
    if last is not None:
        is_set = wanted.kind == frontier.MATCHINGS
        levels[-1] = np.where(last == frontier.OPEN, int(is_set), last)
    nothing = np.zeros((2, 0), dtype=np.int64)
    return reduced(levels + [nothing] * (n_edges - len(levels)))


def _check_time(deadline: float, wanted: EdgeSets, done: int) -> None:
    if time.monotonic() > deadline:
        raise LimitError(
            f"the diagram is at edge {done} of {len(wanted.order)} and the time is over; raise "
            "Limits(max_seconds=...), or ask about a smaller graph"
        )


def _steps(wanted: EdgeSets, width: int) -> Iterator[frontier.Step]:
    """The edges in order, each with the places of its ends; a place is free again after the last edge."""
    ends = wanted.graph.edges[wanted.order]
    first, last = first_and_last(ends, len(wanted.graph.nodes))
    place = np.full(len(wanted.graph.nodes), -1, dtype=np.int64)
    free = list(range(width))[::-1]
    for i, pair in enumerate(ends):
        for vertex in pair:
            if first[vertex] == i:
                place[vertex] = free.pop()
        leaves = (last[pair] == i).astype(np.int64)
        yield frontier.Step(place[pair], leaves, wanted.group[pair], wanted.required[pair])
        free += place[pair[leaves == 1]].tolist()
