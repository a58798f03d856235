"""Columns for items whose order along each row is given: near their neighbours, and never overlapping."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from unswayed.view.ordering import Link

SWEEPS = 8
"""Passes down and up; the picture hardly changes after the first few."""


def centred(
    rows: Sequence[Sequence[int]], links: Sequence[Link], widths: Sequence[float], gap: float
) -> list[float]:
    """The middle of each item, from 0 on.

    >>> centred([[0], [1, 2]], [Link(0, 1), Link(0, 2)], [10, 10, 10], gap=10)
    [15.0, 5.0, 25.0]
    """
    neighbours: list[tuple[list[int], list[int]]] = [([], []) for _ in widths]
    for upper, lower, _ in links:
        neighbours[lower][0].append(upper)
        neighbours[upper][1].append(lower)
    columns = [0.0] * len(widths)
    for row in rows:
        _place(row, [0.0] * len(row), columns, widths, gap=gap)
    for sweep in range(2 * SWEEPS):
        downward = sweep % 2 == 0
        for row in rows if downward else reversed(rows):
            wanted = [_wanted(item, neighbours[item], columns, downward=downward) for item in row]
            _place(row, wanted, columns, widths, gap=gap)
    left = min(columns[i] - widths[i] / 2 for i in range(len(widths)))
    return [column - left for column in columns]


def _wanted(
    item: int, neighbours: tuple[list[int], list[int]], columns: Sequence[float], *, downward: bool
) -> float:
    """The mean of the neighbours on the side swept from, else on the other, else where the item is."""
    beside = neighbours[0 if downward else 1] or neighbours[1 if downward else 0]
    return sum(columns[each] for each in beside) / len(beside) if beside else columns[item]


def _place(
    row: Sequence[int], wanted: Sequence[float], columns: list[float], widths: Sequence[float], *, gap: float
) -> None:
    """Move the items of a row to where they are wanted, as nearly as their order and widths allow.

    With d_i the least distance of item i from the first, x_i - d_i must not decrease, so that least squares
    is the regression to a non-decreasing sequence: means of neighbours pooled while they are out of order.
    """
    if not row:
        return
    distance = [0.0]
    for before, item in itertools.pairwise(row):
        distance.append(distance[-1] + (widths[before] + widths[item]) / 2 + gap)
    pools: list[tuple[float, int]] = []  # (mean, how many items)
    for want, away in zip(wanted, distance, strict=True):
        mean, count = want - away, 1
        while pools and pools[-1][0] > mean:
            other, n_other = pools.pop()
            mean, count = (mean * count + other * n_other) / (count + n_other), count + n_other
        pools.append((mean, count))
    placed = [mean for mean, count in pools for _ in range(count)]
    for item, place, away in zip(row, placed, distance, strict=True):
        columns[item] = place + away
