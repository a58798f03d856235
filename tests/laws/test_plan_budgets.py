"""Plans under budgets, depths and changing prices are the best by all that counts, whichever way is taken."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import unswayed
from laws.test_decisions import named_evidence
from oracles.plan_by_definition import Case, best_plan
from plan_cases import random_purchased
from tolerances import ENGINE
from unswayed import ThresholdRule
from unswayed.core.errors import LimitError, QueryError
from unswayed.decisions.binding import bind_purchase
from unswayed.decisions.purchase import PriceAfter, Purchase
from unswayed.decisions.rules import UtilityRule
from unswayed.model.zoo import review
from unswayed.plans import bounded
from unswayed.plans.bounded import search_bounded
from unswayed.plans.comparisons import greeds_for
from unswayed.plans.goals import Goal, PlanObjective, SameDecisionLevel
from unswayed.plans.greedy import GreedyPolicy
from unswayed.plans.ground import lay_ground
from unswayed.plans.growth import grow, grow_tree, write_down
from unswayed.plans.programme import run_programme
from unswayed.plans.solution import PROVEN, best_of, gap_of
from unswayed.plans.tree import expected_cost, expected_loss, leaves, worst_cost


def value_of(tree, goal):
    """What counts first of a plan and what counts second, read off its tree."""
    cost, lost = expected_cost(tree), expected_loss(tree)
    if goal.objective is PlanObjective.WORST_COST:
        return (math.inf if any(leaf.loss > 0 for leaf in leaves(tree)) else worst_cost(tree)), cost
    return (lost + cost, 0.0) if goal.objective is PlanObjective.NET_UTILITY else (lost, cost)


def random_goal(rng, problem):
    """Any objective that the rule allows, with a budget from none to ample and any depth."""
    objectives = list(PlanObjective)
    if not isinstance(problem.classifier.rule, UtilityRule):
        objectives = objectives[:3]
    budget = rng.choice([math.inf, math.inf, 0.0, 0.5, 1.0, 1.35, 2.0, 3.2, 100.0, rng.uniform(0.0, 5.0)])
    return Goal(
        objectives[rng.integers(len(objectives))],
        SameDecisionLevel(float(rng.choice([0.7, 0.9, 0.95, 1.0]))),
        float(budget),
        [None, None, None, 1, 2, 3][rng.integers(6)],
    )


def plan_for(problem, purchase, goal):
    return unswayed.plan(
        problem.classifier,
        costs=purchase,
        evidence=named_evidence(problem),
        objective=goal.objective,
        stop=goal.stop,
        budget=None if math.isinf(goal.budget) else goal.budget,
        max_depth=goal.max_depth,
    )


def check_plan(problem, purchase, goal):
    """A plan said to be optimal is, by all that counts; where there is none, that is said."""
    first, second = best_plan(Case(problem, purchase, goal.stop.level), goal)
    if math.isinf(first):
        with pytest.raises(QueryError):
            plan_for(problem, purchase, goal)
        return
    plan = plan_for(problem, purchase, goal)
    assert plan.optimal
    assert value_of(plan.tree, goal) == pytest.approx((first, second), abs=ENGINE)
    assert worst_cost(plan.tree) <= goal.budget * (1 + 1e-13)


def check_search(problem, purchase, goal):
    """Where the table of values fits, the search finds what it holds, and a budget that is idle is none."""
    ground = lay_ground(problem, bind_purchase(purchase, problem))
    if ground.catalogue.has_conditions:
        goal = replace(goal, budget=math.inf)
    idle = [replace(goal, budget=100.0)] if math.isinf(goal.budget) else []
    try:
        programme = run_programme(ground, goal)
    except QueryError:
        with pytest.raises(QueryError):
            next(search_bounded(ground, goal))
        return
    for same in (goal, *idle):
        *_, search = search_bounded(ground, same)
        if math.isinf(programme.values.first[-1]):
            assert math.isinf(search.bounds[0][0])
            continue
        expected = value_of(grow_tree(ground, goal, programme), goal)
        assert value_of(grow_tree(ground, same, search), same) == pytest.approx(expected, abs=ENGINE)


def check_gap(problem, purchase, goal, n_walks):
    """However early a search ends, no plan is better than its own by more than the gap."""
    ground = lay_ground(problem, bind_purchase(purchase, problem))
    first, second = best_plan(Case(problem, purchase, goal.stop.level), goal)
    try:
        search = next(search_bounded(ground, goal))
        for _ in range(n_walks):
            if not bounded._walk(search):
                break
        greedy = [GreedyPolicy(ground, goal, greed) for greed in greeds_for(goal)]
        trees = [list(grow(ground, goal, each, forced=search.forced))[-1] for each in [search, *greedy]]
        lower = search.bounds[0]
        found, _ = best_of(lower, [(write_down(tree), "") for tree in trees])
        gap = gap_of(lower, found.value)
    except QueryError:
        assert math.isinf(first)
        return
    except LimitError:  # no plan was found by then
        return
    lost, cost = value_of(found.tree, goal)
    assert lost >= first - ENGINE
    assert gap >= lost - first - 2 * ENGINE
    if lost - search.bounds[0][0] <= PROVEN * (1 + abs(lost)):
        assert gap >= cost - second - 2 * ENGINE


def check_case(seed):
    rng = np.random.default_rng(seed)
    problem, purchase = random_purchased(rng, 4, conditional=True)
    goal = random_goal(rng, problem)
    check_plan(problem, purchase, goal)
    check_search(problem, purchase, goal)
    check_gap(problem, purchase, goal, int(rng.integers(8)))


def test_plans_are_the_best_under_any_purchase_budget_and_depth():
    for seed in range(1000):
        check_case(seed)


@pytest.mark.slow
def test_ten_thousand_plans_are_the_best_under_any_purchase_budget_and_depth():
    for seed in range(1000, 11000):
        check_case(seed)


def papers():
    return unswayed.Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))


@pytest.mark.parametrize("budget", [None, 100.0, 3.0, 2.9])
def test_a_budget_that_does_not_bind_buys_nothing_dearer(budget):
    purchase = Purchase({"R2": 3, "AC": 0}, forbidden=("R1",), after=(PriceAfter("R2", "AC", 1, "+"),))
    plan = unswayed.plan(papers(), costs=purchase, objective=PlanObjective.SAME_DECISION, budget=budget)
    assert (plan.expected_cost, plan.optimal) == (pytest.approx(0.16), True)


@pytest.mark.parametrize("budget", [None, 100.0, 1.6, 1.2])
def test_no_plan_of_least_worst_cost_misses_the_level(budget):
    purchase = Purchase(forbidden=("R2",), after=(PriceAfter("AC", "R1", 0.5),))
    with pytest.raises(QueryError, match="no plan meets the stopping rule on every path"):
        unswayed.plan(papers(), costs=purchase, objective=PlanObjective.WORST_COST, budget=budget)


def test_an_idle_depth_is_none():
    assert unswayed.plan(papers(), max_depth=3).tree == unswayed.plan(papers()).tree


@pytest.mark.parametrize("unit", [1e-13, 1e-10, 1.0, 1e10])
def test_a_budget_buys_the_same_in_every_unit_of_costs(unit):
    """Twice the price of a test buys two of three, a thousandth less buys one, by either way to plan."""
    level = {"at_least": 1.0, "objective": PlanObjective.SAME_DECISION}
    prices = dict.fromkeys(("R1", "R2", "AC"), unit)
    for after in ((), (PriceAfter("AC", "R1", unit),)):
        purchase = Purchase(prices, after=after)
        for share, depth in ((2.0, 2), (1.999, 1), (0.999, 0)):
            plan = unswayed.plan(papers(), costs=purchase, budget=share * unit, **level)
            assert plan.worst_cost <= depth * unit * (1 + 1e-12)
            chosen = unswayed.trim(papers(), budget=share * unit, costs=prices)
            assert len(chosen.kept) <= depth
