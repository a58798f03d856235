"""What an engine is: it prices a question, prepares a problem, and answers for one subset after another.

Every oracle gives decision profiles. Where the kept and the full decision are both tests of a sum of
weights, an oracle can also tell how often the two agree without listing the rows of a profile, exactly or
between bounds; such an oracle is an `AgreementOracle` too, and questions of agreement go to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from unswayed.core.measurement import Certainty
from unswayed.decisions.oracle import AgreementOracle, Oracle
from unswayed.decisions.problem import Problem
from unswayed.decisions.rounding import asks_for_the_lost
from unswayed.inference.predictors import is_unlisted_model


class Needs(Enum):
    """The part of the profile that a question needs."""

    AGREEMENT = "agreement"
    """How often the kept features decide as all of them do: SDP, E-SDP, ECA."""
    SINGLES = "singles"
    """The same for every feature kept alone; `kept` is empty."""
    POTENTIAL = "potential"
    """How often they could at best: MPA."""
    ACHIEVABLE = "achievable"
    """How often the best threshold does, and which it is: MAA."""
    ROWS = "rows"
    """Every row: conditional rewards."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a problem."""

    kept: frozenset[int]
    """Positions of the features that will be observed."""
    needs: Needs = Needs.AGREEMENT
    """The part of the profile that is needed."""
    tolerance: float = 0.0
    """Width of the interval that is good enough; 0 asks for the exact value."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What answering is predicted to take."""

    seconds: float
    """Time, preparation included; right within a factor of a few."""
    n_bytes: float
    """Memory at the worst moment."""
    width: float = 0.0
    """How narrow an interval can be made, about; 0 where the answer is exact or nothing is known."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an engine cannot answer a question at all."""

    reason: str


def refuse_lost(problem: Problem) -> Refusal | None:
    """A refusal where products of the tables may underflow and the rule asks for what is lost."""
    if problem.lost_share > 0.0 and asks_for_the_lost(problem.decider):
        return Refusal("the rule asks for probabilities so small that products of these tables underflow")
    return None


class Engine(Protocol):
    """A way to answer."""

    @property
    def name(self) -> str:
        """How it is called in results and on the command line."""

    @property
    def certainty(self) -> Certainty:
        """What its answers promise."""

    @property
    def least_seconds(self) -> float:
        """No question is priced below this."""

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """The price of the question, or why the engine has no answer."""

    def prepare(self, problem: Problem) -> Oracle | AgreementOracle:
        """Do once what all subsets share."""


def refuse_model(problem: Problem) -> Refusal | None:
    """Why an engine of tables, sums or circuits cannot answer about a person's own model of many inputs."""
    if not is_unlisted_model(problem.network, problem.target, problem.evidence):
        return None
    return Refusal("the model has more completions than can be listed, and no table")
