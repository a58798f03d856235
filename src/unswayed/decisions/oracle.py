"""A prepared problem: what engines give and searches ask, about one feature subset after another.

An oracle gives decision profiles, or it tells how often the kept and the full decision agree without listing
rows, exactly or between bounds: then it is an `AgreementOracle`. Some know the agreement of every single
feature at once: a `SinglesOracle`. The `find_` functions ask any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from unswayed.core.measurement import Certainty
from unswayed.decisions.measures import (
    AchievableAgreement,
    doubted_achievement,
    doubted_agreement,
    expected_agreement,
    maximum_achievable_agreement,
    maximum_potential_agreement,
)
from unswayed.decisions.profile import DecisionProfile
from unswayed.decisions.rules import Decider

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


@runtime_checkable
class SinglesOracle(Protocol):
    """A prepared problem that knows the agreement of every single feature at once."""

    def single_agreements(self, decider: Decider, tolerance: float) -> Mapping[int, Interval]:
        """For every free feature, how often `decider` on it alone repeats the full decision."""


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


def find_single_agreements(
    oracle: Oracle | AgreementOracle, features: Iterable[int], decider: Decider, tolerance: float
) -> Mapping[int, Interval]:
    """For each feature, how often `decider` on it alone repeats the full decision."""
    if isinstance(oracle, SinglesOracle):
        return oracle.single_agreements(decider, tolerance)
    return {f: find_agreement(oracle, frozenset({f}), decider, tolerance) for f in features}
