"""The weights engine: exact decisions from lists of sums, by groups or at a separator, as costs less."""

from __future__ import annotations

from dataclasses import dataclass

from unswayed.core.measurement import Certainty
from unswayed.decisions.problem import Problem
from unswayed.engines.log_odds import LogOddsEngine
from unswayed.engines.protocol import Cost, Engine, Question, Refusal, refuse_model
from unswayed.engines.ways import WaysOracle, prepare_ways, price_ways
from unswayed.engines.weights.separator import SeparatorWay

WAYS: tuple[Engine, ...] = (LogOddsEngine(), SeparatorWay())


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsEngine:
    """Exact profiles and agreements from two lists of sums of weights."""

    name: str = "weights"
    certainty: Certainty = Certainty.EXACT
    least_seconds: float = 0.0002

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """That of the cheaper way: about the square root of the number of instantiations."""
        return refuse_model(problem) or price_ways(WAYS, problem, question)

    def prepare(self, problem: Problem) -> WaysOracle:
        """Make the tables of the cheaper way."""
        return prepare_ways(WAYS, problem)
