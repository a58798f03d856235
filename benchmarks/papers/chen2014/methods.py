"""The methods side by side: enumeration, the Chebyshev bound, depth-first search, and unswayed's choice."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.papers.chen2014.chebyshev import chebyshev_bound
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import expected_agreement
from unswayed.decisions.oracle import AgreementOracle
from unswayed.decisions.problem import Problem, make_problem
from unswayed.engines.choice import ENGINES, choose
from unswayed.engines.protocol import Question
from unswayed.papers.chen2014.brute_force import BruteForceEngine
from unswayed.papers.chen2014.depth_first import DepthFirstEngine

NOTHING: frozenset[int] = frozenset()
OURS = tuple(e for e in ENGINES if e.certainty is Certainty.EXACT)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method found."""

    value: float
    """The same-decision probability, or a lower bound on it."""
    n_explored: int | None = None
    """Instantiations looked at; None where the notion does not apply."""
    engine: str = ""
    """Which engine answered."""


@dataclass(frozen=True, slots=True)
class Run:
    """One computation: what was found and how long it took, or why not."""

    seconds: float
    answer: Answer | None
    failure: str = ""


Method = Callable[[Problem], Answer]


def by_brute_force(problem: Problem) -> Answer:
    return _counted(BruteForceEngine(), problem)


def by_depth_first(problem: Problem) -> Answer:
    return _counted(DepthFirstEngine(), problem)


def by_chebyshev(problem: Problem) -> Answer:
    return Answer(chebyshev_bound(problem).low)


def by_cheapest(problem: Problem) -> Answer:
    """What unswayed chooses for an exact answer, the methods of the paper left out."""
    chosen = choose(problem, Question(NOTHING), engines=OURS).engine
    oracle = chosen.prepare(problem)
    if isinstance(oracle, AgreementOracle):
        return Answer(oracle.agreement(NOTHING, problem.decider, 0.0).low, engine=chosen.name)
    return Answer(expected_agreement(oracle.profile(NOTHING), problem.decider), engine=chosen.name)


METHODS: Mapping[str, Method] = {
    "brute force": by_brute_force,
    "Chebyshev": by_chebyshev,
    "depth-first": by_depth_first,
    "unswayed": by_cheapest,
}


def run(method: Method, classifier: Classifier, evidence: Mapping[str, str], limits: Limits) -> Run:
    """Time one computation from the network on, nothing remembered from the one before."""
    started = time.perf_counter()
    try:
        with within(limits):
            answer = method(make_problem(classifier, evidence))
    except LimitError as error:
        return Run(time.perf_counter() - started, None, f"limit: {error}")
    except QueryError as error:
        return Run(time.perf_counter() - started, None, f"refused: {error}")
    return Run(time.perf_counter() - started, answer)


def _counted(engine: BruteForceEngine | DepthFirstEngine, problem: Problem) -> Answer:
    oracle = engine.prepare(problem)
    value = oracle.agreement(NOTHING, problem.decider, 0.0).low
    return Answer(value, oracle.n_explored, engine.name)
