"""Decisions known between bounds, the profile they make, and what measures say about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.decisions.measures import AchievableAgreement, best_threshold, find_inseparable
from unswayed.decisions.rules import Decider
from unswayed.engines.sums.decisions import decide_rows, doubtful_rows

Span = tuple[float, float]
MASS_ROUNDING = 1e-12
"""More than floating point can change in sums of masses."""


@dataclass(frozen=True, slots=True, eq=False)
class DecidedMass:
    """Bounds on how much of each class and row is decided for each action."""

    mass: Floats  # (classes, rows)
    """Pr(C = c, y_i | e)."""
    low: Floats  # (classes, rows, actions)
    """At least this much of a class and row is decided for the action, but for `stray` in all together."""
    high: Floats  # (classes, rows, actions)
    """At most this much is."""
    stray: float
    """Mass that may be decided otherwise than the bounds say, in all rows together."""

    def profile(self) -> ProfileBounds:
        """The same without telling classes apart."""
        return ProfileBounds(self.mass.T, self.low.sum(axis=0), self.high.sum(axis=0), self.stray)


@dataclass(frozen=True, slots=True, eq=False)
class ProfileBounds:
    """Rows of kept features with exact class masses and bounds on the mass of each decision."""

    class_mass: Floats  # (rows, classes)
    """Pr(C = c, y_i | e)."""
    low: Floats  # (rows, actions)
    """At least this much of a row is decided for the action, but for `stray` in all rows together."""
    high: Floats  # (rows, actions)
    """At most this much is."""
    stray: float
    """Mass that may be decided otherwise than the bounds say, in all rows together."""

    def take(self, start: int, end: int) -> ProfileBounds:
        """Some of the rows; they must be a profile by themselves."""
        return ProfileBounds(
            self.class_mass[start:end], self.low[start:end], self.high[start:end], self.stray
        )


def bound_agreement(profile: ProfileBounds, decider: Decider, rounding: float) -> Span:
    """Bounds on the probability that deciding on the kept features repeats the full decision."""
    low, high = bound_rows(profile, decider, rounding)
    return make_span(float(low.sum()), float(high.sum()), profile.stray)


def bound_rows(profile: ProfileBounds, decider: Decider, rounding: float) -> tuple[Floats, Floats]:
    """Bounds on the mass of each row on which deciding on it repeats the full decision, but for `stray`.

    Rows that only the tolerance of ties decides may be decided either way.
    """
    decisions = decide_rows(decider, profile.class_mass)[:, np.newaxis]
    low, high = (np.take_along_axis(mass, decisions, axis=1)[:, 0] for mass in (profile.low, profile.high))
    doubtful = doubtful_rows(decider, profile.class_mass, rounding)
    if len(doubtful):
        low[doubtful], high[doubtful] = profile.low[doubtful].min(axis=1), profile.high[doubtful].max(axis=1)
    return low, high


def bound_decisions(profile: ProfileBounds, decisions: Ints) -> Span:
    """Bounds on the probability that a decision for each row repeats the full one."""
    low, high = (
        float(np.take_along_axis(mass, decisions[:, np.newaxis], axis=1).sum())
        for mass in (profile.low, profile.high)
    )
    return make_span(low, high, profile.stray)


def bound_potential(profile: ProfileBounds) -> Span:
    """Bounds on the agreement of the best decision for each row."""
    return make_span(
        float(profile.low.max(axis=1).sum()), float(profile.high.max(axis=1).sum()), profile.stray
    )


def bound_achievable(
    profile: ProfileBounds, positive: int, rounding: float
) -> tuple[Span, AchievableAgreement]:
    """Bounds on the agreement of the best threshold, and thresholds that achieve the lower one.

    `low` and `high` must have the columns (positive, not positive). Rows that no threshold tells apart for
    the tolerance of ties alone may be told apart.
    """
    rows = profile.class_mass.sum(axis=1) > 0
    surely = best_threshold(profile.class_mass[rows], profile.low[rows], positive)
    # A value above 1 is cut off, and so is what the bounds of both columns promise twice.
    possibly = best_threshold(profile.class_mass[rows], profile.high[rows], positive)
    more = float(profile.high[rows][find_inseparable(profile.class_mass[rows], positive, rounding)].sum())
    return make_span(surely.value, possibly.value + more, profile.stray), surely


def make_span(low: float, high: float, stray: float) -> Span:
    """Bounds that allow for stray mass, within 0 and 1."""
    low = min(max(low - stray, 0.0), 1.0)
    return low, max(low, min(high + stray, 1.0))
