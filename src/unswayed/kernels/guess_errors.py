"""How often a guess from the sum of the kept features is wrong: the best guess, and the classifier's own.

Masses and tails as in `sum_distributions.py`. At every kept sum the tails tell how probable it is that all
features together reach the cut, under either class, and the masses how probable the sum is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from unswayed.kernels import sum_distributions
from unswayed.kernels.sum_distributions import Floats, Grid, Spread, tail

TOLERANCE = 3e-11
"""In steps: more than floating point can misplace a sum of 65,536 steps by, less than a tie is wide."""


def least_error(grid: Grid, kept: Spread, tails: Spread, centre: float, radius: float) -> float:
    """The least probability that a guess from the kept sum is wrong.

    Where the guess turns, a sum's true weight, and so its share of the classes, is known only up to the
    radius. Whatever it is, the mean of the shares is that of the masses, and the error is a concave function
    of the share: it is least with the shares at their ends.

    The tails grow with the kept sum, and are never less under the upper class, so the share of sums that
    reach the cut grows with the kept sum and with the weight: sums that are in doubt stand together.
    """
    total = best_error(grid, kept, tails)
    turn = turn_of(grid, kept, tails, centre)
    growth = math.exp(grid.step)
    for side in range(2):
        k = turn if side else turn - 1
        weight = grid.base + centre + grid.step * k
        low, high = _odds(weight - radius), _odds(weight + radius)
        while kept.at[1] <= k <= kept.at[2]:
            lost = _slack(grid, kept, tails, (low, high), k)
            if lost < 0.0:
                break
            total -= lost
            low, high = (low * growth, high * growth) if side else (low / growth, high / growth)
            k += 1 if side else -1
    return total


def turn_of(grid: Grid, kept: Spread, tails: Spread, centre: float) -> int:
    """A kept sum from which on the cut is mostly reached, and before which not, but for sums in doubt."""
    low, high = kept.at[1], kept.at[2] + 1
    while low < high:
        k = (low + high) // 2
        one, other = tail(tails, 0, k - grid.cut), tail(tails, 1, k - grid.cut)
        upper, lower = kept.cells[0, k - kept.at[0]], kept.cells[1, k - kept.at[0]]
        if upper + lower <= 0.0:
            upper, lower = _odds(grid.base + centre + grid.step * k), 1.0
        if 2.0 * (upper * one + lower * other) >= upper + lower:
            high = k
        else:
            low = k + 1
    return int(low)


def _odds(weight: float) -> float:
    return math.exp(min(max(weight, -600.0), 600.0))


def _slack(grid: Grid, kept: Spread, tails: Spread, odds: tuple[float, float], k: int) -> float:
    """How much less the error at a kept sum may be than its masses say; negative when it is not in doubt."""
    one, other = tail(tails, 0, k - grid.cut), tail(tails, 1, k - grid.cut)
    low, high = odds[0] / (1.0 + odds[0]), odds[1] / (1.0 + odds[1])
    at_low, at_high = low * one + (1.0 - low) * other, high * one + (1.0 - high) * other
    if (at_low < 0.5) == (at_high < 0.5):
        return -1.0
    upper, lower = kept.cells[0, k - kept.at[0]], kept.cells[1, k - kept.at[0]]
    mass = upper + lower
    if mass <= 0.0 or high <= low:
        return 0.0
    share = upper / mass
    mean = min(max(share, low), high)
    counted = _smaller(share * one + (1.0 - share) * other)
    ends = (_smaller(at_low) * (high - mean) + _smaller(at_high) * (mean - low)) / (high - low)
    return float(mass * max(counted - ends, 0.0))


def _smaller(share: float) -> float:
    return min(share, 1.0 - share)


def own_errors(grid: Grid, kept: Spread, tails: Spread, centre: float, radius: float) -> tuple[float, float]:
    """The least and the most probable it is that the kept sum, deciding by its own rule, is wrong.

    The rule decides for the upper class from the weight `grid.own` on. Sums whose weight may lie on either
    side of it are counted as best and as worst.
    """
    turn, reach = (grid.own - centre) / grid.step, (radius + grid.unsure) / grid.step + TOLERANCE
    first = min(max(math.ceil(turn - reach), kept.at[1]), kept.at[2] + 1)
    past = min(max(math.ceil(turn + reach), kept.at[1]), kept.at[2] + 1)
    least = _turned_error(grid, kept, tails, first)
    most = least
    for k in range(first, past):
        mass = kept.cells[0, k - kept.at[0]] + kept.cells[1, k - kept.at[0]]
        above = kept.cells[0, k - kept.at[0]] * tail(tails, 0, k - grid.cut)
        above += kept.cells[1, k - kept.at[0]] * tail(tails, 1, k - grid.cut)
        weight = grid.base + centre + grid.step * k
        lost = max(_slack(grid, kept, tails, (_odds(weight - radius), _odds(weight + radius)), k), 0.0)
        smaller = min(above, mass - above) - lost
        # Counted as decided for the upper class.
        least += smaller - (mass - above)
        most += mass - smaller - (mass - above)
    return least, most


def best_error(grid: Grid, kept: Spread, tails: Spread) -> float:
    """The error of the best guess by the kept sum in whole steps: what can be achieved."""
    first, past = _middle(grid, kept, tails)
    total = _flat_error(kept, tails, first, past)
    if past <= first:
        return total
    here, there = first - kept.at[0], first - grid.cut - tails.at[0]
    upper, lower = kept.cells[0, here : here + past - first], kept.cells[1, here : here + past - first]
    one, other = tails.cells[0, there : there + past - first], tails.cells[1, there : there + past - first]
    return total + _smaller_masses(upper, lower, one, other)


def _smaller_masses(upper: Floats, lower: Floats, one: Floats, other: Floats) -> float:
    """At each sum the mass on one side of the cut, that of the less probable side, all added up."""
    above = upper * one + lower * other
    return float(np.minimum(above, upper + lower - above).sum())


def _smaller_masses_loops(upper: Floats, lower: Floats, one: Floats, other: Floats) -> float:
    total = 0.0
    for i in range(len(upper)):
        above = upper[i] * one[i] + lower[i] * other[i]
        total += min(above, upper[i] + lower[i] - above)
    return total


def _turned_error(grid: Grid, kept: Spread, tails: Spread, turn: int) -> float:
    """The error of deciding for the upper class from the kept sum `turn` on."""
    sums = np.arange(kept.at[1], kept.at[2] + 1)
    places = np.clip(sums - grid.cut, tails.at[1], tails.at[2]) - tails.at[0]
    masses = kept.cells[:, kept.at[1] - kept.at[0] : kept.at[2] + 1 - kept.at[0]]
    above = (masses * tails.cells[:, places]).sum(axis=0)
    return float(np.where(sums < turn, above, masses.sum(axis=0) - above).sum())


def _turned_error_loops(grid: Grid, kept: Spread, tails: Spread, turn: int) -> float:
    total = 0.0
    for k in range(kept.at[1], kept.at[2] + 1):
        upper, lower = kept.cells[0, k - kept.at[0]], kept.cells[1, k - kept.at[0]]
        above = upper * tail(tails, 0, k - grid.cut) + lower * tail(tails, 1, k - grid.cut)
        total += above if k < turn else upper + lower - above
    return total


def _middle(grid: Grid, kept: Spread, tails: Spread) -> tuple[int, int]:
    """First and past-last kept sums at which the tails have not reached their ends."""
    return max(kept.at[1], grid.cut + tails.at[1] + 1), min(kept.at[2] + 1, grid.cut + tails.at[2])


def _flat_error(kept: Spread, tails: Spread, first: int, past: int) -> float:
    """The error on kept sums before `first` and from `past` on, where the tails have reached their ends.

    There is none unless a value can settle everything.
    """
    total = 0.0
    for side in range(2):
        end = tails.at[1 + side] - tails.at[0]
        one, other = tails.cells[0, end], tails.cells[1, end]
        if one == side and other == side:
            continue
        begin = kept.at[1] if side == 0 else max(kept.at[1], past)
        stop = min(kept.at[2] + 1, first) if side == 0 else kept.at[2] + 1
        for k in range(begin - kept.at[0], stop - kept.at[0]):
            above = kept.cells[0, k] * one + kept.cells[1, k] * other
            total += min(above, kept.cells[0, k] + kept.cells[1, k] - above)
    return total


SUMMING = (best_error, _flat_error)
"""Functions that add up many terms, which a kernel may do in any order."""
LOOPS: dict[Callable[..., Any], Callable[..., Any]] = {
    **sum_distributions.LOOPS,
    _smaller_masses: _smaller_masses_loops,
    _turned_error: _turned_error_loops,
}
"""What a kernel runs in place of the functions written with numpy."""
GUESSING = (*sum_distributions.PARTS, _middle, turn_of, _odds, _slack, _smaller, least_error, own_errors)
"""What else a kernel that guesses calls."""
