"""Distributions of sums of whole numbers, and how often a guess from one part of a sum misses the rest.

A feature adds a whole number to a sum, the least of them 0, with a probability under each of two classes. The
sum of *kept* features is known, that of *dropped* ones is not, and what is to be guessed is whether both
together reach a cut. Kept features are spread over masses; dropped ones over tails, the probability of making
up for what is missing, a number from minus their largest sum up to 0. So the masses and the tails that belong
together stand in the same order. Adding a feature to either is one pass for each of its values.

The true weight behind a whole number k is known only up to a radius: it lies within `radius` of
`centre + step * k`. It tells how a sum's mass is shared by the classes, which matters where the guess turns.

The functions are Python and numpy over arrays; kernels take them as their parts, and the loops of `LOOPS` in
place of those that go over all cells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NOTHING = 1e-14
"""Masses below this are left out at the ends of a spread: errors are then counted too low, never too high."""
SETTLED = 1e-14
"""Tails closer than this to their last value are taken to have reached it."""


class Grid(NamedTuple):
    """Features whose weights are whole numbers of steps."""

    starts: Ints
    """Where the values of each feature begin in the arrays; one more at the end."""
    number: Ints
    """Steps that each value adds, ascending from 0 for each feature."""
    upper: Floats
    """Probability of each value under the upper class."""
    lower: Floats
    """Probability under the other class."""
    endless: Floats
    """Probability, for each feature under the upper class, of a value that settles everything."""
    centre: Floats
    """What the true weight has beyond its steps, for each feature,"""
    radius: Floats
    """up to this."""
    step: float
    """Distance of grid points."""
    cut: int
    """Steps that all features together must reach."""
    base: float
    """Log-odds of the upper class before any feature is known."""
    share: float
    """Probability of the upper class before any feature is known."""
    own: float
    """Weight that the kept features alone must reach when they decide by the classifier's own rule."""
    windowed: bool
    """Whether sums far from the cut leave nothing to guess: no value settles everything."""
    unsure: float = 0.0
    """How far from `own` the tolerance of ties decides, not the kept sum: there it counts either way."""


class Spread(NamedTuple):
    """What is known of a sum: cell 0 is for number `at[0]`, the cells that count for `at[1]` to `at[2]`."""

    cells: Floats  # (2, cells)
    """Masses or tails, under the upper class and under the other."""
    at: Ints  # (3,)
    """Where the cells lie."""


def copy_spread(source: Spread, target: Spread) -> None:
    """Make the target equal to the source."""
    first, length = source.at[1] - source.at[0], source.at[2] - source.at[1] + 1
    for row in range(2):
        _set(target.cells[row], 0, source.cells[row], (first, length), 1.0)
    target.at[0] = target.at[1] = source.at[1]
    target.at[2] = source.at[2]


def add_kept(grid: Grid, feature: int, source: Spread, target: Spread, wanted: tuple[int, int]) -> None:
    """The masses with one feature more; only sums from the first to the second number `wanted` matter."""
    first_value, past_value = grid.starts[feature], grid.starts[feature + 1]
    origin, low, high = source.at[0], source.at[1], source.at[2]
    end = min(high + grid.number[past_value - 1], wanted[1])
    # Where there is not room for all, the least sums are left out, with the errors at them.
    start = max(low, wanted[0], end - target.cells.shape[1] + 1)
    target.at[0] = target.at[1] = start
    target.at[2] = max(end, start - 1)
    for row in range(2):
        share = grid.upper if row == 0 else grid.lower
        new, old = target.cells[row], source.cells[row]
        # The first value adds no steps: what it leaves is set, so that only the rest needs to be cleared.
        past = min(end, high) + 1
        _set(new, 0, old, (start - origin, past - start), share[first_value])
        _fill(new, max(past - start, 0), end + 1 - start, 0.0)
        for value in range(first_value + 1, past_value):
            steps = grid.number[value]
            begin, past = max(start, low + steps), min(end, high + steps) + 1
            _add(new, begin - start, old, (begin - steps - origin, past - begin), share[value])
    _trim(target)


def _set(new: Floats, to: int, old: Floats, run: tuple[int, int], share: float) -> None:
    """Set cells from `to` on to a share of a run (first, length) of old ones."""
    if run[1] > 0:
        np.multiply(old[run[0] : run[0] + run[1]], share, out=new[to : to + run[1]])


def _set_loops(new: Floats, to: int, old: Floats, run: tuple[int, int], share: float) -> None:
    # Unsigned positions need no test for negative ones: the compiled loop then takes several cells at once.
    here, there = np.uint64(max(run[0], 0)), np.uint64(max(to, 0))
    for i in range(np.uint64(max(run[1], 0))):
        new[there + i] = share * old[here + i]


def _add(new: Floats, to: int, old: Floats, run: tuple[int, int], share: float) -> None:
    """Add a share of a run (first, length) of old cells to the cells from `to` on."""
    if run[1] > 0:
        new[to : to + run[1]] += share * old[run[0] : run[0] + run[1]]


def _add_loops(new: Floats, to: int, old: Floats, run: tuple[int, int], share: float) -> None:
    here, there = np.uint64(max(run[0], 0)), np.uint64(max(to, 0))
    for i in range(np.uint64(max(run[1], 0))):
        new[there + i] += share * old[here + i]


def _fill(new: Floats, begin: int, past: int, value: float) -> None:
    """Set cells from `begin` to before `past`."""
    new[begin : max(past, begin)] = value


def _fill_loops(new: Floats, begin: int, past: int, value: float) -> None:
    for i in range(np.uint64(max(begin, 0)), np.uint64(max(past, 0))):
        new[i] = value


def _trim(spread: Spread) -> None:
    """Leave out what has no mass at both ends."""
    at = spread.at
    cells = spread.cells[:, at[1] - at[0] : max(at[2] + 1, at[1]) - at[0]]
    found = np.flatnonzero(cells.max(axis=0, initial=0.0) >= NOTHING)
    at[1], at[2] = (at[1] + found[0], at[1] + found[-1]) if len(found) else (at[2] + 1, at[2])


def _trim_loops(spread: Spread) -> None:
    cells, at = spread.cells, spread.at
    while at[1] <= at[2] and max(cells[0, at[1] - at[0]], cells[1, at[1] - at[0]]) < NOTHING:
        at[1] += 1
    while at[1] <= at[2] and max(cells[0, at[2] - at[0]], cells[1, at[2] - at[0]]) < NOTHING:
        at[2] -= 1


def add_dropped(grid: Grid, feature: int, source: Spread, target: Spread) -> None:
    """The tails with one feature more: what may be missing grows by what it can add."""
    first_value, past_value = grid.starts[feature], grid.starts[feature + 1]
    first, length = source.at[1] - source.at[0], source.at[2] - source.at[1] + 1
    most = grid.number[past_value - 1]
    target.at[0] = target.at[1] = source.at[1] - most
    target.at[2] = source.at[2]
    for row in range(2):
        share = grid.upper if row == 0 else grid.lower
        new, old = target.cells[row], source.cells[row]
        always = grid.endless[feature] if row == 0 else 0.0
        # The last value adds most, so its tail comes first; before and after a tail, it is as at its ends.
        after = old[first + length - 1]
        _set(new, 0, old, (first, length), share[past_value - 1])
        _fill(new, length, length + most, share[past_value - 1] * after + always)
        if always > 0.0:
            _raise(new, 0, length, always)
        for value in range(first_value, past_value - 1):
            before = most - grid.number[value]
            if old[first] > 0.0:
                _raise(new, 0, before, share[value] * old[first])
            _add(new, before, old, (first, length), share[value])
            _raise(new, before + length, length + most, share[value] * after)
    _settle(target)


def _raise(new: Floats, begin: int, past: int, value: float) -> None:
    """Add a value to the cells from `begin` to before `past`."""
    new[begin:past] += value


def _raise_loops(new: Floats, begin: int, past: int, value: float) -> None:
    for i in range(np.uint64(begin), np.uint64(past)):
        new[i] += value


def _settle(spread: Spread) -> None:
    """Leave out the ends of the tails, where they have reached their last values."""
    at = spread.at
    cells = spread.cells[:, : at[2] - at[0] + 1]
    last, ends = cells.shape[1] - 1, cells[:, [0, -1]]
    is_apart = np.abs(cells[:, 1:-1, np.newaxis] - ends[:, np.newaxis]).max(axis=0, initial=0.0) >= SETTLED
    begin = _count_before(is_apart[:, 0])
    end = last - min(_count_before(is_apart[::-1, 1]), max(last - begin - 1, 0))
    cells[:, begin], cells[:, end] = ends[:, 0], ends[:, 1]
    at[1], at[2] = at[0] + begin, at[0] + end


def _count_before(flags: npt.NDArray[np.bool_]) -> int:
    """How many come before the first that is true."""
    return int(flags.argmax()) if flags.any() else len(flags)


def _settle_loops(spread: Spread) -> None:
    upper, lower, at = spread.cells[0], spread.cells[1], spread.at
    last = at[2] - at[0]
    first_ends, last_ends = (upper[0], lower[0]), (upper[last], lower[last])
    begin, end = 0, last
    while end - begin > 1 and _apart(upper[begin + 1], lower[begin + 1], first_ends) < SETTLED:
        begin += 1
    while end - begin > 1 and _apart(upper[end - 1], lower[end - 1], last_ends) < SETTLED:
        end -= 1
    upper[begin], lower[begin] = first_ends
    upper[end], lower[end] = last_ends
    at[1], at[2] = at[0] + begin, at[0] + end


def _apart(upper: float, lower: float, ends: tuple[float, float]) -> float:
    return max(abs(upper - ends[0]), abs(lower - ends[1]))


def tail(tails: Spread, row: int, missing: int) -> float:
    """Probability under a class that the dropped sum makes up for what is missing (a negative number)."""
    return float(tails.cells[row, min(max(missing, tails.at[1]), tails.at[2]) - tails.at[0]])


LOOPS: dict[Callable[..., Any], Callable[..., Any]] = {
    _set: _set_loops,
    _add: _add_loops,
    _fill: _fill_loops,
    _raise: _raise_loops,
    _trim: _trim_loops,
    _settle: _settle_loops,
}
"""What a kernel runs in place of the functions written with numpy."""
PARTS = (copy_spread, add_kept, add_dropped, _apart, tail)
"""What else a kernel that adds to spreads calls."""
