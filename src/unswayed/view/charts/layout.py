"""Places for the nodes of an acyclic graph: rows from top to bottom, arcs downward, few crossings.

The usual three steps. *Rows*: a node is one row below its lowest parent; rows that would be too wide are
wrapped. *Order*: nodes are sorted along each row by the middle of their neighbours, sweeping down and up, and
the order with the fewest crossings is kept. *Columns*: nodes move towards their neighbours as far as those
beside them allow, by least squares. An arc that links several rows passes each between two nodes, in a lane
that all arcs from the same place share, so that a fan of arcs looks like one.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from unswayed.view.charts.axes import pool
from unswayed.view.drawing import Point

ORDER_SWEEPS = 12
"""Passes down and up for the order; the best of all is kept, so more can only help."""
COLUMN_SWEEPS = 8
"""Passes down and up for the columns; the picture hardly changes after the first few."""


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
class Placement:
    """Where everything is; y grows downward from 0."""

    centres: tuple[Point, ...]
    """The middle of each node."""
    routes: tuple[tuple[Point, ...], ...]
    """For each arc the points it passes, from the edge of its source to the edge of its target."""
    width: float
    height: float


class RowLink(NamedTuple):
    """A line between two items of adjacent rows."""

    upper: int
    lower: int
    port: float = 0.0
    """Where it leaves the upper item: from -0.5, its left end, to 0.5."""


Rows = list[list[int]]
Neighbours = dict[int, list[tuple[int, float]]]
"""Items beside each item, with what to add to their places."""


@dataclass(frozen=True, slots=True)
class _Items:
    """Nodes, and after them the lanes of long arcs, row by row."""

    row: list[int]
    widths: list[float]
    links: list[RowLink]
    passes: list[list[int]]
    """For each arc the items it passes, source and target included."""


def place_nodes(widths: Sequence[float], arcs: Sequence[Arc], room: Room) -> Placement:
    """Places for nodes of these widths; nodes are numbered parents first.

    >>> room = Room(height=20, row_gap=30, column_gap=10, widest_row=500)
    >>> placed = place_nodes([40, 40, 40], [Arc(0, 1), Arc(0, 2)], room)
    >>> placed.centres
    ((45.0, 10.0), (20.0, 60.0), (70.0, 60.0))
    """
    items = _with_lanes(_rows(widths, arcs, room), widths, arcs)
    rows = reduce_crossings(_by_row(items.row, len(widths)), items.links)
    columns = centre_columns(rows, items.links, items.widths, room.column_gap)
    step = room.height + room.row_gap
    centres = [(columns[i], items.row[i] * step + room.height / 2) for i in range(len(items.row))]
    routes = tuple(
        _route([centres[i] for i in passed], arc.offset, room.height)
        for arc, passed in zip(arcs, items.passes, strict=True)
    )
    n_nodes = len(widths)
    width = max(centres[i][0] + widths[i] / 2 for i in range(n_nodes))
    return Placement(tuple(centres[:n_nodes]), routes, width, len(rows) * step - room.row_gap)


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
    seen: set[RowLink] = set()
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
            link = RowLink(upper, lower, port if upper == arc.source else 0.0)
            if link not in seen:
                seen.add(link)
                items.links.append(link)
    return items


def _by_row(row: Sequence[int], n_nodes: int) -> Rows:
    """The items of each row in an order to begin with: lanes in the middle, so that fans stay level."""
    rows: Rows = [[] for _ in range(max(row, default=0) + 1)]
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


def bend(route: Sequence[Point]) -> tuple[Point, ...]:
    """The route as cubic curves, vertical at every point: the start; two control points and an end each."""
    points = [route[0]]
    for (x, y), (next_x, next_y) in itertools.pairwise(route):
        half = (next_y - y) * 0.5
        points += [(x, y + half), (next_x, next_y - half), (next_x, next_y)]
    return tuple(points)


def reduce_crossings(rows: Rows, links: Sequence[RowLink]) -> Rows:
    """The rows reordered: each item by the middle of its neighbours in the row swept before.

    >>> reduce_crossings([[0, 1], [2, 3]], [RowLink(0, 3), RowLink(1, 2)])
    [[0, 1], [3, 2]]
    """
    above: Neighbours = {}
    below: Neighbours = {}
    for upper, lower, port in links:
        above.setdefault(lower, []).append((upper, port))
        below.setdefault(upper, []).append((lower, 0.0))
    current = [list(row) for row in rows]
    best, fewest = current, count_crossings(current, links)
    for sweep in range(ORDER_SWEEPS):
        if not fewest:
            break
        current = _sweep(current, above if sweep % 2 == 0 else below, downward=sweep % 2 == 0)
        count = count_crossings(current, links)
        if count < fewest:
            best, fewest = current, count
    return best


def _sweep(rows: Rows, neighbours: Neighbours, *, downward: bool) -> Rows:
    swept = [list(row) for row in rows]
    levels = range(1, len(rows)) if downward else range(len(rows) - 2, -1, -1)
    for level in levels:
        beside = swept[level - 1 if downward else level + 1]
        place = {item: i for i, item in enumerate(beside)}
        own = {item: i for i, item in enumerate(swept[level])}
        scale = len(beside) / max(len(own), 1)
        # An item without neighbours keeps about where it is.
        swept[level].sort(key=lambda item: _middle(neighbours.get(item, []), place, own[item] * scale))
    return swept


def _middle(items: Sequence[tuple[int, float]], place: dict[int, int], otherwise: float) -> float:
    return sum(place[item] + port for item, port in items) / len(items) if items else otherwise


def count_crossings(rows: Rows, links: Sequence[RowLink]) -> int:
    """How many pairs of links cross.

    >>> count_crossings([[0, 1], [2, 3]], [RowLink(0, 3), RowLink(1, 2)])
    1
    """
    level_of = {item: level for level, row in enumerate(rows) for item in row}
    place = {item: i for row in rows for i, item in enumerate(row)}
    count, level, seen = 0, -1, list[int]()
    # From left to right above, a link crosses those before it that end further right.
    for upper, lower, _ in sorted(
        links, key=lambda link: (level_of[link.upper], place[link.upper] + link.port, place[link.lower])
    ):
        if level_of[upper] != level:
            level, seen = level_of[upper], []
        count += len(seen) - bisect_right(seen, place[lower])
        insort(seen, place[lower])
    return count


def centre_columns(
    rows: Sequence[Sequence[int]], links: Sequence[RowLink], widths: Sequence[float], gap: float
) -> list[float]:
    """The middle of each item, from 0 on, near its neighbours; items of a row never overlap.

    >>> centre_columns([[0], [1, 2]], [RowLink(0, 1), RowLink(0, 2)], [10, 10, 10], gap=10)
    [15.0, 5.0, 25.0]
    """
    neighbours: list[tuple[list[int], list[int]]] = [([], []) for _ in widths]
    for upper, lower, _ in links:
        neighbours[lower][0].append(upper)
        neighbours[upper][1].append(lower)
    columns = [0.0] * len(widths)
    for row in rows:
        _place_row(row, [0.0] * len(row), columns, widths, gap=gap)
    for sweep in range(2 * COLUMN_SWEEPS):
        side = sweep % 2
        for row in reversed(rows) if side else rows:
            wanted = [_wanted(item, neighbours[item], columns, side) for item in row]
            _place_row(row, wanted, columns, widths, gap=gap)
    left = min(columns[i] - widths[i] / 2 for i in range(len(widths)))
    return [column - left for column in columns]


def _wanted(item: int, neighbours: tuple[list[int], list[int]], columns: Sequence[float], side: int) -> float:
    """The mean of the neighbours on the side swept from, else on the other, else where the item is."""
    beside = neighbours[side] or neighbours[1 - side]
    return sum(columns[each] for each in beside) / len(beside) if beside else columns[item]


def _place_row(
    row: Sequence[int], wanted: Sequence[float], columns: list[float], widths: Sequence[float], *, gap: float
) -> None:
    """Move the items of a row to where they are wanted, as nearly as their order and widths allow.

    With d_i the least distance of item i from the first, x_i - d_i must not decrease, so that least squares
    is the regression to a non-decreasing sequence.
    """
    distance = [0.0]
    for before, item in itertools.pairwise(row):
        distance.append(distance[-1] + (widths[before] + widths[item]) / 2 + gap)
    placed = pool([want - away for want, away in zip(wanted, distance, strict=False)])
    for item, place, away in zip(row, placed, distance, strict=False):
        columns[item] = place + away
