"""A decision profile known between bounds, and what measures say about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.decisions.measures import AchievableAgreement, best_threshold
from unswayed.decisions.rules import Decider
from unswayed.engines.sums.decisions import decide_rows

Span = tuple[float, float]


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


def bound_agreement(profile: ProfileBounds, decider: Decider) -> Span:
    """Bounds on the probability that deciding on the kept features repeats the full decision."""
    decisions = decide_rows(decider, profile.class_mass)[:, np.newaxis]
    low = float(np.take_along_axis(profile.low, decisions, axis=1).sum())
    high = float(np.take_along_axis(profile.high, decisions, axis=1).sum())
    return _span(low, high, profile.stray)


def bound_potential(profile: ProfileBounds) -> Span:
    """Bounds on the agreement of the best decision for each row."""
    return _span(float(profile.low.max(axis=1).sum()), float(profile.high.max(axis=1).sum()), profile.stray)


def bound_achievable(profile: ProfileBounds, positive: int) -> tuple[Span, AchievableAgreement]:
    """Bounds on the agreement of the best threshold, and thresholds that achieve the lower one.

    `low` and `high` must have the columns (positive, not positive).
    """
    rows = profile.class_mass.sum(axis=1) > 0
    surely = best_threshold(profile.class_mass[rows], profile.low[rows], positive)
    # A value above 1 is cut off, and so is what the bounds of both columns promise twice.
    possibly = best_threshold(profile.class_mass[rows], profile.high[rows], positive)
    return _span(surely.value, possibly.value, profile.stray), surely


def _span(low: float, high: float, stray: float) -> Span:
    low = min(max(low - stray, 0.0), 1.0)
    return low, max(low, min(high + stray, 1.0))
