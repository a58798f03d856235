"""The boxes engine: intervals for decisions of people's own models, narrower the longer it is given."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from unswayed.core.anytime import UNITS_PER_SECOND
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.core.memo import Topic
from unswayed.decisions.problem import Problem
from unswayed.engines.boxes.oracle import MOST_UNITS, SINGLES_UNITS, ModelOracle
from unswayed.engines.protocol import Cost, Needs, Question, Refusal
from unswayed.engines.singles import price_one_by_one
from unswayed.inference.expected import ModelCase, find_case
from unswayed.inference.input_law import MICROSECONDS
from unswayed.inference.predictors import MOST_COMPLETIONS, AdditivePredictor, TreesPredictor, find_predictor

MODEL_CASE: Topic[ModelCase | Refusal] = Topic("the model of the target")
MOST_ROWS = 2**12
"""Instantiations of the kept inputs beyond which their rows are not listed."""
DEGREES_PER_WIDTH = 8.0
"""Frequencies times width: about what a bell curve over the cut needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxesEngine:
    """Certified intervals for models that stand as leaves below their inputs."""

    name: str = "boxes"
    certainty: Certainty = Certainty.BOUND
    least_seconds: float = 0.002

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """That of the model's kind."""
        if question.tolerance <= 0:
            return Refusal("gives intervals, and an exact value was asked for; pass a tolerance")
        if question.needs is Needs.ROWS:
            return Refusal("gives intervals for agreements, not rows")
        if question.needs is Needs.SINGLES:
            price = price_one_by_one(self, problem, question)
            most = SINGLES_UNITS / UNITS_PER_SECOND
            return price if isinstance(price, Refusal) else replace(price, seconds=min(price.seconds, most))
        try:
            case = find_problem_case(problem)
        except LimitError as error:
            return Refusal(str(error))
        if isinstance(case, Refusal):
            return case
        n_rows = math.prod(map(float, problem.sizes(question.kept)))
        if n_rows > MOST_ROWS:
            return Refusal(f"the kept inputs have {n_rows:.3g} instantiations, over {MOST_ROWS:,}")
        return _price(case, question, n_rows)

    def prepare(self, problem: Problem) -> ModelOracle:
        """Find the law of the inputs."""
        case = find_problem_case(problem)
        if isinstance(case, Refusal):
            raise LimitError(case.reason)
        return ModelOracle(problem, case)


def find_problem_case(problem: Problem) -> ModelCase | Refusal:
    """The target's model at the problem's evidence, remembered; or why it cannot be decided by boxes."""
    return problem.memo.get(MODEL_CASE, None, lambda: _find_case(problem))


def _find_case(problem: Problem) -> ModelCase | Refusal:
    if find_predictor(problem.network, problem.target) is None:
        return Refusal("is for a model that stands below its inputs")
    inputs = problem.network.parents[problem.target]
    hidden = [v for v in inputs if v not in problem.free and v not in problem.evidence]
    if hidden:
        name = problem.network.variables[hidden[0]].name
        return Refusal(f"the input {name!r} is no feature: what the model decides is never known")
    case = find_case(problem.network, problem.target, problem.evidence, problem.free)
    assert case is not None
    return case


def _price(case: ModelCase, question: Question, n_rows: float) -> Cost | Refusal:
    plan = case.law.plan()
    each = MICROSECONDS * plan.operations * n_rows / UNITS_PER_SECOND
    n_bytes = 16.0 * plan.peak_bytes + 1e6
    if case.n_completions <= MOST_COMPLETIONS:
        return Cost(2e-3 + 1e-6 * case.n_completions, 200.0 * case.n_completions)
    if isinstance(case.predictor, AdditivePredictor) and len(case.predictor.bias) == 1:
        return Cost(5e-3 + each * max(DEGREES_PER_WIDTH / question.tolerance, 256.0), n_bytes)
    if isinstance(case.predictor, AdditivePredictor | TreesPredictor):
        return Cost(MOST_UNITS / UNITS_PER_SECOND, 1e8 + n_bytes)
    return Refusal("the model can only be evaluated, and has too many completions to list")
