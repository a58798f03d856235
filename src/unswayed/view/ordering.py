"""The order of items along each row that makes few links cross."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from typing import NamedTuple

SWEEPS = 12
"""Passes down and up; the best order of all is kept, so more can only help."""

Rows = list[list[int]]


class Link(NamedTuple):
    """A line between two items of adjacent rows."""

    upper: int
    lower: int
    port: float = 0.0
    """Where it leaves the upper item: from -0.5, its left end, to 0.5."""


Links = Sequence[Link]
Neighbours = dict[int, list[tuple[int, float]]]
"""Items beside each item, with what to add to their places."""


def fewest_crossings(rows: Rows, links: Links) -> Rows:
    """The rows reordered: each item by the middle of its neighbours in the row swept before.

    >>> fewest_crossings([[0, 1], [2, 3]], [Link(0, 3), Link(1, 2)])
    [[0, 1], [3, 2]]
    """
    above: Neighbours = {}
    below: Neighbours = {}
    for upper, lower, port in links:
        above.setdefault(lower, []).append((upper, port))
        below.setdefault(upper, []).append((lower, 0.0))
    current = [list(row) for row in rows]
    best, fewest = current, crossings(current, links)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        current = _swept(current, above if sweep % 2 == 0 else below, downward=sweep % 2 == 0)
        count = crossings(current, links)
        if count < fewest:
            best, fewest = current, count
    return best


def _swept(rows: Rows, neighbours: Neighbours, *, downward: bool) -> Rows:
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


def crossings(rows: Rows, links: Links) -> int:
    """How many pairs of links cross.

    >>> crossings([[0, 1], [2, 3]], [Link(0, 3), Link(1, 2)])
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
