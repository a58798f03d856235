"""Errors of one subset, and of all that differ from it in one feature.

The spreads of all features but one share their parts: the features are halved again and again, and each half
is added to what the other half will need. So n features take about n log n additions, not n squared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unswayed.kernels.guess_errors import GUESSING, LOOPS, SUMMING, least_error, own_errors, turn_of
from unswayed.kernels.jit import Kernel
from unswayed.kernels.sum_distributions import Floats, Grid, Ints, Spread, add_dropped, add_kept

UNITS_PER_ERROR, UNITS_PER_CELL = 8.0, 3e-3
"""Measured for the error with or without one feature, at 100 and 200 features, and for a cell of a spread."""
PLAIN_TIMES = 10.0
"""How many times as long the error of one subset takes with numpy."""
LEVELS = 20
"""Halvings: enough for half a million features."""
FARTHEST = 2**40
"""Beyond any sum."""
KEPT, TAILS, LEAF = LEVELS, LEVELS + 1, LEVELS + 2
"""Levels for what is kept and dropped in any case, and for the one feature."""


class Rooms(NamedTuple):
    """Room for spreads, two at each level."""

    cells: Floats  # (levels, 2, 2, cells)
    at: Ints  # (levels, 2, 3)


class FeatureSides(NamedTuple):
    """Where the features stand."""

    kept: Ints
    """Kept in any case."""
    dropped: Ints
    """Dropped in any case."""
    free: Ints
    """The ones in question."""


def rooms_for(grid: Grid) -> Rooms:
    """Rooms for any features of this grid."""
    n_cells = int(grid.number[grid.starts[1:] - 1].sum()) + 3
    return Rooms(np.zeros((LEVELS + 3, 2, 2, n_cells)), np.zeros((LEVELS + 3, 2, 3), dtype=np.int64))


def errors_but_one(grid: Grid, sides: FeatureSides, rooms: Rooms, is_kept: bool) -> Floats:
    """For each free feature, the least error with it dropped and the others kept, or the other way round."""
    errors = np.zeros(len(sides.free))
    kept, tails = _nothing_kept(grid, rooms), _nothing_dropped(rooms)
    # Sums that reach the cut already leave nothing to guess.
    ceiling = grid.cut - 1 if grid.windowed else FARTHEST
    kept = _added(grid, sides.kept, (kept, rooms, ceiling), KEPT, True)
    tails = _added(grid, sides.dropped, (tails, rooms, ceiling), TAILS, False)
    whole = np.zeros(LEVELS, np.int64)
    work = np.zeros((2 * LEVELS, 5), np.int64)
    work[0, 1] = len(sides.free)
    top = 0 if len(sides.free) else -1
    while top >= 0:
        first, past, level = work[top, 0], work[top, 1], work[top, 2]
        spread = kept if is_kept else tails
        if level > 0:
            if level > 1:
                spread = _room(rooms, level - 1, whole[level - 1])
            others = sides.free[work[top, 3] : work[top, 4]]
            _added(grid, others, (spread, rooms, ceiling), level, is_kept)
            whole[level] = (len(others) - 1) % 2
            spread = _room(rooms, level, whole[level])
        top -= 1
        if past - first == 1:
            errors[first] = _error(grid, sides, (kept, tails, spread, _room(rooms, LEAF, 0)), first, is_kept)
            continue
        middle = (first + past) // 2
        for half in range(2):
            top += 1
            work[top, 0], work[top, 1] = (first, middle) if half else (middle, past)
            work[top, 2] = level + 1
            work[top, 3], work[top, 4] = (middle, past) if half else (first, middle)
    return errors


def _room(rooms: Rooms, level: int, which: int) -> Spread:
    return Spread(rooms.cells[level, which], rooms.at[level, which])


def _nothing_kept(grid: Grid, rooms: Rooms) -> Spread:
    """The spread of no features, in the second room of its level."""
    spread = _room(rooms, KEPT, 1)
    spread.cells[0, 0], spread.cells[1, 0] = grid.share, 1.0 - grid.share
    spread.at[0], spread.at[1], spread.at[2] = 0, 0, 0
    return spread


def _nothing_dropped(rooms: Rooms) -> Spread:
    """The tails of no features, in the second room of their level."""
    spread = _room(rooms, TAILS, 1)
    for row in range(2):
        spread.cells[row, 0], spread.cells[row, 1] = 0.0, 1.0
    spread.at[0], spread.at[1], spread.at[2] = -1, -1, 0
    return spread


def _added(
    grid: Grid, features: Ints, source: tuple[Spread, Rooms, int], level: int, is_kept: bool
) -> Spread:
    """The spread with all these features more, in a room of the level: in the first for odd numbers."""
    spread = source[0]
    for i in range(len(features)):
        target = _room(source[1], level, i % 2)
        if is_kept:
            add_kept(grid, features[i], spread, target, (-FARTHEST, source[2]))
        else:
            add_dropped(grid, features[i], spread, target)
        spread = target
    return spread


def _error(
    grid: Grid, sides: FeatureSides, spreads: tuple[Spread, Spread, Spread, Spread], i: int, is_kept: bool
) -> float:
    """The error with free feature number i on one side and the others on the other."""
    kept, tails, others, room = spreads
    feature = sides.free[i]
    centre, radius = 0.0, 0.0
    for j in range(len(sides.kept)):
        centre, radius = centre + grid.centre[sides.kept[j]], radius + grid.radius[sides.kept[j]]
    for j in range(len(sides.free)):
        if (j != i) == is_kept:
            centre, radius = centre + grid.centre[sides.free[j]], radius + grid.radius[sides.free[j]]
    if is_kept:
        add_dropped(grid, feature, tails, room)
        return least_error(grid, others, room, centre, radius)
    add_kept(grid, feature, kept, room, (-FARTHEST, FARTHEST))
    return least_error(grid, room, others, centre, radius)


def errors_of(grid: Grid, sides: FeatureSides, rooms: Rooms) -> tuple[float, float, float, float]:
    """The least error of the kept features, the weight where their best guess turns, and their own errors.

    The last two are the least and the most error of deciding for the upper class from `grid.own` on.
    """
    kept = _added(grid, sides.kept, (_nothing_kept(grid, rooms), rooms, FARTHEST), KEPT, True)
    tails = _added(grid, sides.dropped, (_nothing_dropped(rooms), rooms, FARTHEST), TAILS, False)
    centre, radius, upper, lower = 0.0, 0.0, grid.share, 1.0 - grid.share
    for feature in sides.kept:
        centre, radius = centre + grid.centre[feature], radius + grid.radius[feature]
        upper *= grid.upper[grid.starts[feature] : grid.starts[feature + 1]].sum()
        lower *= grid.lower[grid.starts[feature] : grid.starts[feature + 1]].sum()
    # What was left out at the ends may all be wrong.
    first, past = kept.at[1] - kept.at[0], kept.at[2] - kept.at[0] + 1
    upper -= kept.cells[0, first:past].sum()
    lower -= kept.cells[1, first:past].sum()
    turn = centre + grid.step * (turn_of(grid, kept, tails, centre) - 0.5)
    least, most = own_errors(grid, kept, tails, centre, radius)
    error = least_error(grid, kept, tails, centre, radius)
    return float(error), float(turn), float(least), float(most + max(upper + lower, 0.0))


PARTS = (*GUESSING, _room, _nothing_kept, _nothing_dropped, _added, _error)


def _units_of_all(grid: Grid, sides: FeatureSides, rooms: Rooms, is_kept: bool) -> float:
    return UNITS_PER_ERROR * len(sides.free)


def _units_of_one(grid: Grid, sides: FeatureSides, rooms: Rooms) -> float:
    return UNITS_PER_CELL * len(grid.centre) * float(rooms.cells.shape[-1])


compiled_errors_but_one = Kernel(errors_but_one, PARTS, price=_units_of_all, sums=SUMMING, replaced=LOOPS)
compiled_errors_of = Kernel(
    errors_of, PARTS, price=_units_of_one, slower=PLAIN_TIMES, sums=SUMMING, replaced=LOOPS
)
