"""A prepared problem: what engines give and searches ask, about one feature subset after another.

Every oracle gives decision profiles, or tells how often the kept and the full decision agree without listing
rows, exactly or between bounds; such an oracle is an `AgreementOracle`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from unswayed.core.measurement import Certainty
from unswayed.decisions.profile import DecisionProfile
from unswayed.decisions.rules import Decider


@dataclass(frozen=True, slots=True)
class Interval:
    """A value known to lie between `low` and `high`, with what that promises."""

    low: float
    high: float
    certainty: Certainty = Certainty.EXACT
    confidence: float = 1.0
    middle: float | None = None
    """The best single value; without one, the middle of the interval."""

    @staticmethod
    def point(value: float) -> Interval:
        """An exact value, kept within [0, 1] against rounding."""
        value = min(max(value, 0.0), 1.0)
        return Interval(value, value)


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
