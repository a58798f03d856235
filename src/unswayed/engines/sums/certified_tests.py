"""Tests on sums known up to a reach: what counts for certain, and what may count.

A sum on the grid stands for true sums within its reach. A test `sum >= cut` comes out certain away from the
cut, and either way in a band around it. Lower bounds count what is certain, upper bounds what is possible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.engines.parts import Region, Span
from unswayed.engines.sums.grid import Rounded

SLACK = 1e-9
"""In steps: more than floating point can misplace a grid point by."""


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Kept and hidden sums under one class, on grids of one step."""

    share: float
    """Probability of the class."""
    upper: bool
    """Whether it is the upper class, whose infinite weights are positive."""
    kept: Rounded
    """The kept features' weights."""
    hidden: Rounded
    """The hidden features' weights."""
    step: float
    """Distance of grid points."""

    @property
    def stray(self) -> float:
        """Probability that either sum is not where its grid point says."""
        return self.kept.stray + self.hidden.stray

    def kept_values(self) -> Floats:
        """The kept sum at each of its grid points."""
        numbers = self.kept.first + np.arange(len(self.kept.masses), dtype=np.float64)
        values: Floats = self.kept.shift + self.step * numbers
        return values


def full_within(sums: Sums, region: Region) -> tuple[Floats, Floats]:
    """For each kept grid point, the least and most probable it is that the full sum lies in `region`."""
    surely_above, maybe_above = _at_least(sums, region.surely[0], region.maybe[0])
    surely_beyond, maybe_beyond = _at_least(sums, region.maybe[1], region.surely[1])
    return np.maximum(surely_above - maybe_beyond, 0.0), np.maximum(maybe_above - surely_beyond, 0.0)


def _at_least(sums: Sums, sure: float, possible: float) -> tuple[Floats, Floats]:
    """For each kept grid point, how probable a full sum from `sure` on is at least, from `possible` at most.

    Both are the same infinity, or none is infinite.
    """
    n_points = len(sums.kept.masses)
    if np.isinf(sure):
        everything = np.full(n_points, 1.0 if sure < 0 else 0.0)
        return everything, everything
    tails = np.concatenate([np.cumsum(sums.hidden.masses[::-1])[::-1], [0.0]])
    known = sums.kept_values() + sums.hidden.shift
    reach = sums.kept.reach + sums.hidden.reach
    infinite = sums.hidden.certain if sums.upper else 0.0
    surely = tails[_positions(sums, sure - known + reach)] + infinite
    maybe = tails[_positions(sums, possible - known - reach)] + infinite
    return surely, maybe


def _positions(sums: Sums, values: Floats) -> Ints:
    with np.errstate(over="ignore"):
        numbers = np.ceil(values / sums.step) - sums.hidden.first
    positions: Ints = np.clip(numbers, 0, len(sums.hidden.masses)).astype(np.int64)
    return positions


def kept_within(sums: Sums, region: Region) -> tuple[Bools, Bools]:
    """For each kept grid point, whether the kept sum is for certain, and whether it may be, in `region`."""
    values, reach, (surely_in, maybe_in) = sums.kept_values(), sums.kept.reach, region
    surely = (values >= surely_in[0] + reach) & (values < surely_in[1] - reach)
    maybe = (values >= maybe_in[0] - reach) & (values < maybe_in[1] + reach)
    return surely, maybe


def agreement_bounds(sums: Sums, regions: Sequence[tuple[Region, Region]], *, infinite_agrees: bool) -> Span:
    """Bounds, under one class, on the probability that the full and the kept sum lie in regions that match.

    Each pair is a region of full sums and the region of kept sums in which the same is decided.
    `infinite_agrees` tells whether an infinite kept weight leads to the same decision twice.
    """
    masses = sums.kept.masses
    low = 0.0
    most = np.zeros(len(masses))
    for full, kept in regions:
        least, highest = full_within(sums, full)
        surely, maybe = kept_within(sums, kept)
        low += float(masses[surely] @ least[surely])
        most = np.maximum(most, np.where(maybe, highest, 0.0))
    certain = sums.kept.certain if infinite_agrees else 0.0
    return max(low + certain - sums.stray, 0.0), min(float(masses @ most) + certain + sums.stray, 1.0)


def potential_bounds(classes: Sequence[Sums], sides: Sequence[tuple[Region, Region]], base: float) -> Span:
    """Bounds on the agreement of the best threshold on the kept sum with a test of the full sum.

    `sides` has, for each class, the full sums that fail the test and those that pass it.

    Where kept and hidden features are independent given the class, that is the maximum potential
    agreement [choi2018, Prop. 3]. Every grid point is tried as a threshold; `base` are the log-odds that
    weights add to.
    """
    axis = _Axis(
        first=min(sums.kept.first for sums in classes),
        length=max(sums.kept.first + len(sums.kept.masses) for sums in classes)
        - min(sums.kept.first for sums in classes)
        + 2,
    )
    shares = [_shares(sums, each, axis) for sums, each in zip(classes, sides, strict=True)]
    low = _certain_agreement(classes, shares, axis)
    high = _possible_agreement(classes, shares, _best_either(classes, shares, axis, base), axis)
    constant = sum(sums.share * sums.kept.certain for sums in classes)
    stray = sum(sums.share * sums.stray for sums in classes)
    return max(float(low.max()) + constant - stray, 0.0), min(float(high.max()) + constant + stray, 1.0)


@dataclass(frozen=True, slots=True)
class _Axis:
    """Grid points that both classes share, by number."""

    first: int
    length: int

    def place(self, values: Floats, first: int) -> Floats:
        """Values that begin at grid point `first`, with zeros around them."""
        placed = np.zeros(self.length)
        placed[first - self.first : first - self.first + len(values)] = values
        return placed

    def shifted(self, by: int) -> Ints:
        """Every grid point moved, kept on the axis."""
        return np.clip(np.arange(self.length) + by, 0, self.length)


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """For each kept grid point under one class: its mass, and the least and most decided either way."""

    mass: Floats
    up: tuple[Floats, Floats]
    down: tuple[Floats, Floats]


def _shares(sums: Sums, sides: tuple[Region, Region], axis: _Axis) -> _Shares:
    (down_low, down_high), (up_low, up_high) = (full_within(sums, side) for side in sides)
    first = sums.kept.first
    return _Shares(
        mass=axis.place(sums.share * sums.kept.masses, first),
        up=(axis.place(up_low, first), axis.place(up_high, first)),
        down=(axis.place(down_low, first), axis.place(down_high, first)),
    )


def _certain_agreement(classes: Sequence[Sums], shares: Sequence[_Shares], axis: _Axis) -> Floats:
    """For the threshold at each grid point, what agrees for certain."""
    low = np.zeros(axis.length)
    for sums, share in zip(classes, shares, strict=True):
        up, down = _running(share.mass * share.up[0]), _running(share.mass * share.down[0])
        low += up[-1] - up[axis.shifted(_first_up(sums))] + down[axis.shifted(-_first_down(sums))]
    return low


def _possible_agreement(
    classes: Sequence[Sums], shares: Sequence[_Shares], either: Floats, axis: _Axis
) -> Floats:
    """For any threshold from each grid point up to the next, what may agree."""
    start = axis.shifted(-max(map(_first_down, classes)))
    end = axis.shifted(1 + max(map(_first_up, classes)))
    both = _running(either)
    high = both[end] - both[start]
    for share in shares:
        up, down = _running(share.mass * share.up[1]), _running(share.mass * share.down[1])
        high = high + up[-1] - up[end] + down[start]
    return high


def _best_either(classes: Sequence[Sums], shares: Sequence[_Shares], axis: _Axis, base: float) -> Floats:
    """The most that may agree at each grid point if its decision were free.

    One outcome is decided one way for both classes, and the classes share its mass as its log-odds say,
    which are known up to the reach. The mass decided either way is linear in the share, so the ends tell.
    """
    numbers = axis.first + np.arange(axis.length, dtype=np.float64)
    centre = base + classes[0].step * numbers
    low = centre + min(sums.kept.shift - sums.kept.reach for sums in classes)
    high = centre + max(sums.kept.shift + sums.kept.reach for sums in classes)
    upper, lower = (shares[0], shares[1]) if classes[0].upper else (shares[1], shares[0])
    best = np.zeros(axis.length)
    for odds in (low, high):
        share = _probabilities(odds)
        for one, other in ((upper.up[1], lower.up[1]), (upper.down[1], lower.down[1])):
            best = np.maximum(best, share * one + (1.0 - share) * other)
    mass: Floats = upper.mass + lower.mass
    return mass * best


def _first_up(sums: Sums) -> int:
    """How many grid points from a threshold on a kept sum is above it for certain."""
    return math.ceil((sums.kept.reach - sums.kept.shift) / sums.step + SLACK)


def _first_down(sums: Sums) -> int:
    """How many grid points below a threshold a kept sum is below it for certain."""
    return math.ceil((sums.kept.reach + sums.kept.shift) / sums.step + SLACK)


def _running(values: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values)])


def _probabilities(log_odds: Floats) -> Floats:
    with np.errstate(over="ignore"):
        probabilities: Floats = 1.0 / (1.0 + np.exp(-log_odds))
    return probabilities
