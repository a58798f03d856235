"""All engines by name, each imported when it is first asked for a price.

What decides whether an engine is asked at all (its name, its certainty and the least it ever costs) stands
here, so that a small question does not import circuits, grids and samplers to find out that it needs none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty
from unswayed.core.names import unknown_name
from unswayed.decisions.oracle import AgreementOracle, Oracle
from unswayed.decisions.problem import Problem
from unswayed.engines.protocol import Cost, Engine, Question, Refusal


@dataclass(frozen=True, slots=True)
class ListedEngine:
    """An engine and where it lives; itself an engine that imports the other on first use."""

    name: str
    certainty: Certainty
    least_seconds: float
    module: str
    """Below `unswayed.engines`."""
    class_name: str

    def load(self) -> Engine:
        """The engine itself."""
        return _load(self.module, self.class_name)

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """The engine's price."""
        return self.load().cost(problem, question)

    def prepare(self, problem: Problem, limits: Limits) -> Oracle | AgreementOracle:
        """The engine's oracle."""
        return self.load().prepare(problem, limits)


@cache
def _load(module: str, class_name: str) -> Engine:
    engine: Engine = getattr(import_module(f"unswayed.engines.{module}"), class_name)()
    return engine


ENGINES: tuple[ListedEngine, ...] = (
    ListedEngine("dense", Certainty.EXACT, 0.0002, "dense", "DenseEngine"),
    ListedEngine("log_odds", Certainty.EXACT, 0.0002, "log_odds", "LogOddsEngine"),
    ListedEngine("bounds", Certainty.BOUND, 0.005, "bounds", "BoundsEngine"),
    ListedEngine("sums", Certainty.BOUND, 0.002, "sums.engine", "SumsEngine"),
    ListedEngine("circuit", Certainty.EXACT, 0.005, "circuit", "CircuitEngine"),
    ListedEngine("contexts", Certainty.EXACT, 0.005, "contexts", "ContextsEngine"),
    ListedEngine("sampling", Certainty.ESTIMATE, 0.01, "sampling", "SamplingEngine"),
)
"""What the choice is among."""
BASELINES: tuple[ListedEngine, ...] = (
    ListedEngine("depth_first", Certainty.EXACT, 0.001, "chen2014.depth_first", "DepthFirstEngine"),
    ListedEngine("brute_force", Certainty.EXACT, 0.001, "chen2014.brute_force", "BruteForceEngine"),
)
"""The methods of [chen2014], to compare with: used when named, never chosen."""


def engine_called(name: str) -> Engine:
    """The engine of this name; `QueryError` suggests the nearest."""
    engines = (*ENGINES, *BASELINES)
    for engine in engines:
        if engine.name == name:
            return engine
    raise QueryError(unknown_name("engine", name, [engine.name for engine in engines]))
