"""A prepared problem: what engines give and searches ask, about one feature subset after another.

An oracle gives decision profiles, or it tells how often the kept and the full decision agree without listing
rows, exactly or between bounds: then it is an `AgreementOracle`. Some know the agreement of every single
feature at once: a `SinglesOracle`, or, where they know it exactly, a `ProfilesOracle`. The `find_` functions
ask any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.measurement import Certainty
from unswayed.core.memo import Topic
from unswayed.decisions.measures import (
    LEVEL_SLACK,
    AchievableAgreement,
    doubted_achievement,
    doubted_agreement,
    expected_agreement,
    maximum_achievable_agreement,
    maximum_potential_agreement,
)
from unswayed.decisions.profile import DecisionProfile
from unswayed.decisions.rules import Decider

ORACLES: Topic[Oracle | AgreementOracle] = Topic("prepared oracles of engines")
"""Kept with a problem, by what `repr` shows of the engine."""
NEGLIGIBLE = 1e-12
"""A doubt up to this much is floating-point accuracy: sums of masses are as far from exact."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value known to lie between `low` and `high`, with what that promises."""

    low: float
    high: float
    certainty: Certainty = Certainty.EXACT
    confidence: float = 1.0
    middle: float | None = None
    """The best single value; without one, the middle of the interval."""

    @property
    def value(self) -> float:
        """The best single value."""
        return 0.5 * (self.low + self.high) if self.middle is None else self.middle

    @staticmethod
    def point(value: float, doubt: float = 0.0) -> Interval:
        """An exact value, kept within [0, 1] against rounding; bounds where ties leave a doubt about it."""
        value = min(max(value, 0.0), 1.0)
        if doubt <= NEGLIGIBLE:
            return Interval(value, value)
        return Interval(max(value - doubt, 0.0), min(value + doubt, 1.0), Certainty.BOUND, middle=value)


class Oracle(Protocol):
    """A prepared problem: cheap to ask about one feature subset after another."""

    def profile(self, kept: frozenset[int]) -> DecisionProfile:
        """The decision profile of the kept features."""


@runtime_checkable
class AgreementOracle(Protocol):
    """A prepared problem that knows agreements without listing rows."""

    def agreement(self, kept: frozenset[int], decider: Decider, tolerance: float) -> Interval:
        """How often `decider` on the kept features repeats the full decision."""

    def potential(self, kept: frozenset[int], tolerance: float) -> Interval:
        """The maximum potential agreement of the kept features."""

    def achievable(
        self, kept: frozenset[int], positive: int, tolerance: float
    ) -> tuple[Interval, AchievableAgreement]:
        """The maximum achievable agreement, and thresholds that achieve its lower end."""


@dataclass(frozen=True, slots=True, eq=False)
class SingleFeature:
    """What one feature tells by itself about the full decision."""

    agreement: Interval
    """How often a decider on it alone repeats the full decision."""
    mass: Floats  # (rows,)
    """Probability of each of its states; no rows where only the agreement is known."""
    least: Floats  # (rows,)
    """Probability that the feature has the state and all features decide otherwise, at least,"""
    most: Floats  # (rows,)
    """and at most."""
    gain: Interval | None = None
    """How much more often than with nothing seen, where that is known better than as a difference of two."""

    def chance_settled(self, level: float) -> float | None:
        """Probability that the SDP after the feature is at least `level`; None where bounds do not tell."""
        wrong = (1.0 - level + LEVEL_SLACK) * self.mass
        surely, possibly = self.most <= wrong, self.least <= wrong
        if not len(self.mass) or (surely != possibly).any():
            return None
        return min(float(self.mass[surely].sum() / self.mass.sum()), 1.0)


def single_of_profile(profile: DecisionProfile, decider: Decider) -> SingleFeature:
    """What the profile of one feature says."""
    found = Interval.point(expected_agreement(profile, decider), doubted_agreement(profile, decider))
    # What decides otherwise is summed up by itself: beside the rest a little of it would not be seen.
    others = profile.decision_mass.copy()
    others[np.arange(len(others)), decider.decide(profile.class_mass)] = 0.0
    wrong = others.sum(axis=1)
    return SingleFeature(found, profile.class_mass.sum(axis=1), wrong, wrong)


@runtime_checkable
class SinglesOracle(Protocol):
    """A prepared problem that knows what every single feature tells at once."""

    def singles(self, decider: Decider, tolerance: float) -> Mapping[int, SingleFeature]:
        """For every free feature, how often `decider` on it alone repeats the full decision."""


@runtime_checkable
class ProfilesOracle(Protocol):
    """A prepared problem that knows the profile of every single feature at once."""

    def single_profiles(self) -> Mapping[int, DecisionProfile]:
        """The decision profile of every free feature alone."""


def find_agreement(
    oracle: Oracle | AgreementOracle, kept: frozenset[int], decider: Decider, tolerance: float
) -> Interval:
    """How often `decider` on the kept features repeats the full decision."""
    if isinstance(oracle, AgreementOracle):
        return oracle.agreement(kept, decider, tolerance)
    profile = oracle.profile(kept)
    return Interval.point(expected_agreement(profile, decider), doubted_agreement(profile, decider))


def find_potential(oracle: Oracle | AgreementOracle, kept: frozenset[int], tolerance: float) -> Interval:
    """The maximum potential agreement of the kept features."""
    if isinstance(oracle, AgreementOracle):
        return oracle.potential(kept, tolerance)
    profile = oracle.profile(kept)
    return Interval.point(maximum_potential_agreement(profile), profile.doubt)


def find_achievable(
    oracle: Oracle | AgreementOracle, kept: frozenset[int], positive: int, tolerance: float
) -> tuple[Interval, AchievableAgreement]:
    """The maximum achievable agreement of the kept features, and thresholds that achieve its lower end."""
    if isinstance(oracle, AgreementOracle):
        return oracle.achievable(kept, positive, tolerance)
    return achieve_with_rows(oracle.profile(kept), positive)


def achieve_with_rows(profile: DecisionProfile, positive: int) -> tuple[Interval, AchievableAgreement]:
    """The maximum achievable agreement of a profile, as oracles give it."""
    best = maximum_achievable_agreement(profile, positive)
    return Interval.point(best.value, doubted_achievement(profile, positive)), best


def find_singles(
    oracle: Oracle | AgreementOracle, features: Iterable[int], decider: Decider, tolerance: float
) -> Mapping[int, SingleFeature]:
    """For each feature, how often `decider` on it alone repeats the full decision."""
    if isinstance(oracle, SinglesOracle):
        return oracle.singles(decider, tolerance)
    if isinstance(oracle, ProfilesOracle):
        found = oracle.single_profiles()
        return {f: single_of_profile(found[f], decider) for f in features}
    if not isinstance(oracle, AgreementOracle):
        return {f: single_of_profile(oracle.profile(frozenset({f})), decider) for f in features}
    nothing = np.zeros(0)
    return {
        f: SingleFeature(oracle.agreement(frozenset({f}), decider, tolerance), nothing, nothing, nothing)
        for f in features
    }
