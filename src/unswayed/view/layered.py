"""Places for the nodes of an acyclic graph: rows from top to bottom, arcs downward, few crossings.

The usual three steps. *Rows*: a node is one row below its lowest parent; rows that would be too wide are
wrapped. *Order*: nodes are sorted along each row by the middle of their neighbours, sweeping down and up, and
the order with the fewest crossings is kept (`ordering.py`). *Columns*: nodes move towards their neighbours as
far as those beside them allow, by least squares (`spacing.py`). An arc that spans several rows passes each
between two nodes, in a lane that all arcs from the same place share, so that a fan of arcs looks like one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from unswayed.view.ordering import Link, fewest_crossings
from unswayed.view.spacing import centred

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Arc:
    """A line from one node down to another, which has a higher number."""

    source: int
    target: int
    offset: float = 0.0
    """Where on the lower edge of the source it begins, from the middle."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much space things take."""

    height: float
    """Height of a node."""
    row_gap: float
    """Between two rows."""
    column_gap: float
    """Between two nodes of a row."""
    widest_row: float
    """Rows wider than this are wrapped."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is; y grows downward from 0."""

    centres: tuple[Point, ...]
    """The middle of each node."""
    routes: tuple[tuple[Point, ...], ...]
    """For each arc the points it passes, from the edge of its source to the edge of its target."""
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Items:
    """Nodes, and after them the lanes of long arcs, row by row."""

    row: list[int]
    widths: list[float]
    links: list[Link]
    """Pairs of items in adjacent rows."""
    passes: list[list[int]]
    """For each arc the items it passes, source and target included."""


def layered(widths: Sequence[float], arcs: Sequence[Arc], room: Room) -> Layout:
    """Places for nodes of these widths; nodes are numbered parents first.

    >>> room = Room(height=20, row_gap=30, column_gap=10, widest_row=500)
    >>> layout = layered([40, 40, 40], [Arc(0, 1), Arc(0, 2)], room)
    >>> layout.centres
    ((45.0, 10.0), (20.0, 60.0), (70.0, 60.0))
    """
    items = _with_lanes(_rows(widths, arcs, room), widths, arcs)
    rows = _by_row(items.row, len(widths))
    ordered = fewest_crossings(rows, items.links)
    columns = centred(ordered, items.links, items.widths, room.column_gap)
    step = room.height + room.row_gap
    centres = [(columns[i], items.row[i] * step + room.height / 2) for i in range(len(items.row))]
    routes = tuple(
        _route([centres[i] for i in passed], arc.offset, room.height)
        for arc, passed in zip(arcs, items.passes, strict=True)
    )
    n_nodes = len(widths)
    width = max(centres[i][0] + widths[i] / 2 for i in range(n_nodes))
    return Layout(tuple(centres[:n_nodes]), routes, width, len(rows) * step - room.row_gap)


def _rows(widths: Sequence[float], arcs: Sequence[Arc], room: Room) -> list[int]:
    """The row of each node, wide rows wrapped."""
    rank = _ranks(len(widths), arcs)
    row: list[int] = [0] * len(widths)
    first = 0
    for level in range(max(rank, default=0) + 1):
        members = [node for node in range(len(widths)) if rank[node] == level]
        total = sum(widths[node] + room.column_gap for node in members)
        n_rows = max(1, min(len(members), round(total / room.widest_row + 0.4999)))
        for place, node in enumerate(members):
            row[node] = first + place * n_rows // max(len(members), 1)
        first += n_rows
    return row


def _ranks(n_nodes: int, arcs: Sequence[Arc]) -> list[int]:
    """One more than the deepest parent; nodes without parents stand right above their first child."""
    parents: list[list[int]] = [[] for _ in range(n_nodes)]
    children: list[list[int]] = [[] for _ in range(n_nodes)]
    for arc in arcs:
        parents[arc.target].append(arc.source)
        children[arc.source].append(arc.target)
    rank = [0] * n_nodes
    for node in range(n_nodes):
        rank[node] = max((rank[parent] + 1 for parent in parents[node]), default=0)
    for node in range(n_nodes):
        if not parents[node] and children[node]:
            rank[node] = min(rank[child] for child in children[node]) - 1
    return rank


def _with_lanes(row: list[int], widths: Sequence[float], arcs: Sequence[Arc]) -> _Items:
    """The nodes and, in every row that an arc only passes, a lane without width for it."""
    items = _Items(list(row), list(widths), [], [])
    lanes: dict[tuple[int, float, int], int] = {}
    seen: set[Link] = set()
    for arc in arcs:
        passed = [arc.source]
        for level in range(row[arc.source] + 1, row[arc.target]):
            key = (arc.source, arc.offset, level)
            if key not in lanes:
                lanes[key] = len(items.row)
                items.row.append(level)
                items.widths.append(0.0)
            passed.append(lanes[key])
        passed.append(arc.target)
        items.passes.append(passed)
        # Where along the source an arc begins matters for what it crosses, as a part of the source's width.
        port = arc.offset / widths[arc.source]
        for upper, lower in itertools.pairwise(passed):
            link = Link(upper, lower, port if upper == arc.source else 0.0)
            if link not in seen:
                seen.add(link)
                items.links.append(link)
    return items


def _by_row(row: Sequence[int], n_nodes: int) -> list[list[int]]:
    """The items of each row in an order to begin with: lanes in the middle, so that fans stay level."""
    rows: list[list[int]] = [[] for _ in range(max(row, default=0) + 1)]
    for node in range(n_nodes):
        rows[row[node]].append(node)
    middles = [len(members) // 2 for members in rows]
    for lane in range(n_nodes, len(row)):
        rows[row[lane]].insert(middles[row[lane]], lane)
    return rows


def _route(passed: Sequence[Point], offset: float, height: float) -> tuple[Point, ...]:
    """From the lower edge of the first, straight through the rows between, to the upper edge of the last."""
    (x, y), *between, (last_x, last_y) = passed
    route = [(x + offset, y + height / 2)]
    for lane_x, lane_y in between:
        route += [(lane_x, lane_y - height / 2), (lane_x, lane_y + height / 2)]
    return (*route, (last_x, last_y - height / 2))
