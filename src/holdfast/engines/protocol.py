"""What an engine is: it prices a question, prepares a problem, and answers for one subset after another.

Every oracle gives decision profiles. Where the kept and the full decision are both tests of a sum of
weights, an oracle can also tell how often the two agree without listing the rows of a profile, exactly or
between bounds; such an oracle is an `AgreementOracle` too, and questions of agreement go to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

from holdfast.core.limits import Limits
from holdfast.core.measurement import Certainty
from holdfast.decisions.problem import Problem
from holdfast.decisions.profile import DecisionProfile
from holdfast.decisions.rules import Decider


class Needs(Enum):
    """What of the profile a question looks at."""

    AGREEMENT = "agreement"
    """How often the kept features decide as all of them do: SDP, E-SDP, ECA."""
    POTENTIAL = "potential"
    """How often they could at best: MPA."""
    ROWS = "rows"
    """Every row: MAA and its thresholds, conditional rewards."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a problem."""

    kept: frozenset[int]
    """Positions of the features that will be observed."""
    needs: Needs = Needs.AGREEMENT
    """How much of the profile is looked at."""
    tolerance: float = 0.0
    """Width of the interval that is good enough; 0 asks for the exact value."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What answering is predicted to take."""

    seconds: float
    """Time, preparation included; right within a factor of a few."""
    n_bytes: float
    """Memory at the worst moment."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an engine cannot answer a question at all."""

    reason: str


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


class Engine(Protocol):
    """A way to answer."""

    @property
    def name(self) -> str:
        """How it is called in results and on the command line."""

    @property
    def certainty(self) -> Certainty:
        """What its answers promise."""

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """The price of the question, or why the engine has no answer."""

    def prepare(self, problem: Problem, limits: Limits) -> Oracle | AgreementOracle:
        """Do once what all subsets share."""
