"""Whole test plans: first this, if high stop, else that; of least expected cost, proven."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import replace

from unswayed.api.models import takes_cases
from unswayed.api.results.plan import PlanOrigin, TestPlan
from unswayed.core.anytime import (
    bounded,
    bytes_allowed,
    has_deadline,
    portion,
    settle,
    units_left,
)
from unswayed.core.errors import LimitError, QueryError, expect, expect_list
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.parallel import Team
from unswayed.decisions.binding import bind_purchase, leave_out_skipped
from unswayed.decisions.catalogue import Catalogue
from unswayed.decisions.checkpoint import Checkpoint, open_checkpoint
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.purchase import Costs, check_budget, purchase_for
from unswayed.engines.dense import DenseEngine
from unswayed.engines.groups import independent_groups
from unswayed.engines.protocol import Cost, Question
from unswayed.model.evidence import Evidence, read_evidence
from unswayed.plans.comparisons import UNTIL_SAFE, comparison_of
from unswayed.plans.engine_states import EngineTerrain
from unswayed.plans.goals import Goal, PlanObjective, SameDecisionLevel, StopRule, utilities_of
from unswayed.plans.ground import Ground, lay_ground
from unswayed.plans.solution import Report, Solution, solve
from unswayed.plans.tree import PlanStep, expected_tests, steps

UNITS_PER_CELL, TABLE_SHARE = 0.3, 0.5
"""Measured for the table and a first look at it, and the share of a limit on time that they may take."""
MOST_TESTS = 8
"""Tests on average beyond which a plan that nobody bounds gives way to the closest of at most so many."""
WHOLE_PART = 0.8
"""Share of a limit on time for the plan without a bound; the rest is for a short one, where it is wanted."""
LARGEST_TABLE, LARGEST_INDEPENDENT = 2.0**24, 2.0**20
"""Instantiations of all features beyond which a table is too slow to plan on; where tests are independent
given the class, engines answer in a moment what a large table does not."""


@bounded
@takes_cases
def plan(
    classifier: Classifier,
    evidence: Evidence | None = None,
    *,
    costs: Costs | None = None,
    at_least: float = 0.95,
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
    possible, and the cheapest of those. Where nobody bounds the plan and it would take more than 8 tests on
    average until it is safe, the plan of at most 8 tests comes instead that ends closest to the full decision
    (`PlanObjective.CLOSEST`); `comparisons` tells what the other takes, a `max_depth` of all tests gets it.
    `objective` seeks something else: least worst cost, highest same-decision probability or utility within
    budget and depth, or utility less cost.

    `costs` is a mapping from features to costs or a whole `Purchase`; without it the network's own costs and
    mandatory observations are taken, and 1 for every other feature.

    Cost: one value for each partial observation, 3^n for n features of two states; where that is too much, a
    search with a certified gap. Where no table holds the features either, engines are asked state by state,
    for some 4 seconds' work or within `limits`, and the plan comes with its gap. Ctrl-C gives the best plan
    so far. Several processes (`jobs`) or the workers of an `executor` may fill the table of values, and ask
    for a search what it will want to know next; a plan that is proven is the same. `checkpoint` names a file
    for what the plan has come to: stopped, it goes on from there.

    One reviewer decides most papers; the other is asked when the first accepts:

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> found = plan(papers, at_least=0.95)
    >>> print(found.to_text())
    R2?  (cost 1)
      + (20%): R1?  (cost 1)
          + (50%): decide +  (SDP 1.0000)
          - (50%): decide not +  (SDP 1.0000)
      - (80%): decide not +  (SDP 1.0000)
    >>> round(found.expected_cost, 6), found.optimal
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
    goal, solution = settle(_plans(terrain, goal, report, team, kept)).last
    asked = {feature for step in steps(solution.tree) for feature in step.features}
    return TestPlan(
        tree=solution.tree,
        target=classifier.target,
        variables=tuple(v for v in problem.network.variables if v.name in asked),
        until=_until(goal),
        objective=goal.objective,
        method=solution.method,
        gap=solution.gap,
        evidence=read_evidence(classifier.network, evidence),
        comparisons=solution.comparisons,
        seconds=time.perf_counter() - started,
        network=problem.network.name,
        origin=PlanOrigin(classifier, purchase, objective, goal.stop, budget, max_depth, max_leaves),
    )


def _plans(
    terrain: Ground | EngineTerrain,
    goal: Goal,
    report: Report | None,
    team: Team,
    checkpoint: Checkpoint | None,
) -> Iterator[tuple[Goal, Solution]]:
    """The plan that was asked for; where it has no bound and takes too many tests, the closest of a few."""
    may_be_long = _may_be_long(terrain, goal)
    with portion(WHOLE_PART if may_be_long else 1.0):
        whole = solve(terrain, goal, report, team=team, checkpoint=checkpoint)
    yield goal, whole
    if not may_be_long or whole.interrupted or expected_tests(whole.tree) <= MOST_TESTS:
        return
    few = replace(goal, objective=PlanObjective.CLOSEST, max_depth=MOST_TESTS)
    short = solve(terrain, few, report, team=team)
    if isinstance(short.tree, PlanStep):
        given_up = comparison_of(UNTIL_SAFE, whole.tree)
        yield few, replace(short, comparisons=(given_up, *short.comparisons))


def _may_be_long(terrain: Ground | EngineTerrain, goal: Goal) -> bool:
    """Whether a plan goes on until it is safe, through more tests than a person may want to do."""
    is_open = goal.objective is PlanObjective.EXPECTED_COST and not goal.is_bounded
    has_many = terrain.catalogue.mandatory.bit_count() <= MOST_TESTS < len(terrain.catalogue.offers)
    return is_open and has_many and isinstance(goal.stop, SameDecisionLevel)


def replan(
    made: TestPlan,
    evidence: Evidence,
    skipped: Iterable[str] = (),
    *,
    limits: Limits = DEFAULT_LIMITS,
    report: Report | None = None,
) -> TestPlan:
    """The plan anew, from what is known by now and without the tests that cannot be done.

    `QueryError` when the plan does not keep what it was made from.
    """
    expect(made, TestPlan, "the plan")
    expect(evidence, Mapping, "what is known by now")
    skipped = expect_list(skipped, "the tests that cannot be done")
    origin = made.origin
    if origin is None:
        raise QueryError("this plan does not keep the network that it was made from; plan with the network")
    return plan(
        origin.classifier,
        costs=replace(origin.purchase, skipped=(*origin.purchase.skipped, *skipped)),
        evidence={**made.evidence, **evidence},
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
    parts = [goal.stop.describe()] if goal.stops_by_rule else ["nothing is gained"]
    if math.isfinite(goal.budget):
        parts.append(f"the budget of {goal.budget:g} is spent")
    if goal.max_depth is not None:
        parts.append("1 test is done" if goal.max_depth == 1 else f"{goal.max_depth} tests are done")
    if goal.max_leaves is not None:
        parts.append(f"there are {goal.max_leaves} leaves")
    return " or ".join(parts)


def _terrain(problem: Problem, catalogue: Catalogue, goal: Goal) -> Ground | EngineTerrain:
    """A table over all features where one fits, else engines that are asked state by state."""
    cells = math.prod(map(float, problem.sizes(problem.free)))
    price = DenseEngine().cost(problem, Question(frozenset()))
    assert isinstance(price, Cost)
    is_quick = UNITS_PER_CELL * cells <= TABLE_SHARE * units_left()
    is_independent = all(len(group) == 1 for group in independent_groups(problem)) and len(problem.prior) == 2
    largest = LARGEST_INDEPENDENT if is_independent else LARGEST_TABLE
    if cells <= largest and price.n_bytes <= bytes_allowed() and is_quick:
        try:
            with portion(TABLE_SHARE):
                return lay_ground(problem, catalogue)
        except LimitError:
            if not has_deadline():
                raise
    level = goal.stop.level if goal.stops_by_rule and isinstance(goal.stop, SameDecisionLevel) else None
    return EngineTerrain(problem, catalogue, level)
