"""Whole test plans: first this, if high stop, else that; of least expected cost, proven."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import replace

from unswayed.api.results.plan import TestPlan
from unswayed.api.results.plan_origin import PlanOrigin
from unswayed.core.anytime import (
    bounded,
    bytes_allowed,
    portion,
    seconds_left,
    units_left,
)
from unswayed.core.errors import LimitError, QueryError, expect, expect_list
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.parallel import Team
from unswayed.decisions.binding import bind_purchase, leave_out_skipped
from unswayed.decisions.catalogue import Catalogue
from unswayed.decisions.checkpoint import open_checkpoint
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.purchase import Costs, check_budget, purchase_for
from unswayed.engines.dense import DenseEngine
from unswayed.engines.protocol import Cost, Question
from unswayed.model.evidence import Evidence, read_evidence
from unswayed.plans.engine_states import EngineTerrain
from unswayed.plans.goals import Goal, PlanObjective, SameDecisionLevel, StopRule, utilities_of
from unswayed.plans.ground import Ground, lay_ground
from unswayed.plans.solution import Report, solve
from unswayed.plans.tree import steps

UNITS_PER_CELL, TABLE_SHARE = 0.3, 0.5
"""Measured for the table and a first look at it, and the share of a limit on time that they may take."""
LARGEST_TABLE = 2.0**24
"""Instantiations of all features beyond which a table is too slow to plan on."""


@bounded
def plan_tests(
    classifier: Classifier,
    *,
    costs: Costs | None = None,
    at_least: float = 0.95,
    evidence: Evidence | None = None,
    objective: PlanObjective = PlanObjective.EXPECTED_COST,
    stop: StopRule | None = None,
    budget: float | None = None,
    max_depth: int | None = None,
    max_leaves: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    report: Report | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> TestPlan:
    """The plan of tests that costs least until the decision is safe, proven.

    The plan stops when the same-decision probability is at least `at_least`, or when another `stop` rule is
    met, such as `PosteriorLimits`. `budget` bounds what a path may cost, `max_depth` how many tests it may
    have, `max_leaves` how many ends the plan; a plan that then cannot always be safe is safe as often as
    possible, and the cheapest of those.
    `objective` seeks something else: least worst cost, highest same-decision probability or utility within
    budget and depth, or utility less cost.

    `costs` is a mapping from features to costs or a whole `Purchase`; without it the network's own costs and
    mandatory observations are taken, and 1 for every other feature.

    Cost: one value for each partial observation, 3^n for n features of two states; where that is too much, a
    search with a certified gap. Where no table holds the features either, engines are asked state by state,
    for some 30 seconds' work or within `limits`, and the plan comes with its gap. Ctrl-C gives the best plan
    so far. Several processes (`jobs`) or the workers of an `executor` may fill the table of values, and ask
    for a search what it will want to know next; a plan that is proven is the same. `checkpoint` names a file
    for what the plan has come to: stopped, it goes on from there.

    One reviewer decides most papers; the other is asked when the first accepts:

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> plan = plan_tests(papers, at_least=0.95)
    >>> print(plan)
    R2?  (cost 1)
      + (20%): R1?  (cost 1)
          + (50%): decide +  (SDP 1.0000)
          - (50%): decide not +  (SDP 1.0000)
      - (80%): decide not +  (SDP 1.0000)
    >>> round(plan.expected_cost, 6), plan.optimal
    (1.2, True)
    """
    started = time.perf_counter()
    team = Team(executor, jobs)
    rule = SameDecisionLevel(at_least) if stop is None else stop
    if not isinstance(rule, StopRule):
        raise QueryError(f"a stop is SameDecisionLevel(), PosteriorLimits() or the like, not {stop!r}")
    expect(objective, PlanObjective, "the objective")
    if budget is not None:
        check_budget(budget)
    goal = Goal(objective, rule, math.inf if budget is None else float(budget), max_depth, max_leaves)
    classifier, purchase = leave_out_skipped(classifier, purchase_for(classifier, costs))
    problem = make_problem(classifier, evidence)
    if objective in (PlanObjective.UTILITY, PlanObjective.NET_UTILITY):
        utilities_of(problem)  # raises where the rule has none
    catalogue = bind_purchase(purchase, problem)
    kept = None if checkpoint is None else open_checkpoint(checkpoint, problem, ("plan", goal, catalogue))
    terrain = _terrain(problem, catalogue, goal)
    solution = solve(terrain, goal, report, team=team, checkpoint=kept)
    asked = {feature for step in steps(solution.tree) for feature in step.features}
    return TestPlan(
        tree=solution.tree,
        target=classifier.target,
        variables=tuple(v for v in problem.network.variables if v.name in asked),
        until=_until(goal),
        objective=objective,
        method=solution.method,
        gap=solution.gap,
        evidence=read_evidence(classifier.network, evidence),
        comparisons=solution.comparisons,
        seconds=time.perf_counter() - started,
        network=problem.network.name,
        origin=PlanOrigin(classifier, purchase, objective, goal.stop, budget, max_depth, max_leaves),
    )


def replan_tests(
    plan: TestPlan,
    evidence: Evidence,
    skipped: Iterable[str] = (),
    *,
    limits: Limits = DEFAULT_LIMITS,
    report: Report | None = None,
) -> TestPlan:
    """The plan anew, from what is known by now and without the tests that cannot be done.

    `QueryError` when the plan does not keep what it was made from.
    """
    expect(plan, TestPlan, "the plan")
    expect(evidence, Mapping, "what is known by now")
    skipped = expect_list(skipped, "the tests that cannot be done")
    origin = plan.origin
    if origin is None:
        raise QueryError("this plan does not keep the network that it was made from; plan with the network")
    return plan_tests(
        origin.classifier,
        costs=replace(origin.purchase, skipped=(*origin.purchase.skipped, *skipped)),
        evidence={**plan.evidence, **evidence},
        objective=origin.objective,
        stop=origin.stop,
        budget=origin.budget,
        max_depth=origin.max_depth,
        max_leaves=origin.max_leaves,
        limits=limits,
        report=report,
    )


def _until(goal: Goal) -> str:
    """When a plan stops, in words."""
    parts = [goal.stop.describe()] if goal.seeks_cost else ["nothing is gained"]
    if math.isfinite(goal.budget):
        parts.append(f"the budget of {goal.budget:g} is spent")
    if goal.max_depth is not None:
        parts.append(f"{goal.max_depth} tests are done")
    if goal.max_leaves is not None:
        parts.append(f"there are {goal.max_leaves} leaves")
    return " or ".join(parts)


def _terrain(problem: Problem, catalogue: Catalogue, goal: Goal) -> Ground | EngineTerrain:
    """A table over all features where one fits, else engines that are asked state by state."""
    cells = math.prod(map(float, problem.sizes(problem.free)))
    price = DenseEngine().cost(problem, Question(frozenset()))
    assert isinstance(price, Cost)
    is_quick = UNITS_PER_CELL * cells <= TABLE_SHARE * units_left()
    if cells <= LARGEST_TABLE and price.n_bytes <= bytes_allowed() and is_quick:
        try:
            with portion(TABLE_SHARE):
                return lay_ground(problem, catalogue)
        except LimitError:
            if math.isinf(seconds_left()):
                raise
    level = goal.stop.level if goal.seeks_cost and isinstance(goal.stop, SameDecisionLevel) else None
    return EngineTerrain(problem, catalogue, level)
