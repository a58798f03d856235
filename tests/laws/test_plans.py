"""Plans cost what the definition says, and no plan costs less."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.plan_by_definition import Case, best_cost, best_policy, best_within
from plan_cases import plan_problems
from tolerances import ENGINE
from unswayed.core.limits import DEFAULT_LIMITS
from unswayed.decisions.binding import bind_purchase
from unswayed.plans.goals import Goal, PlanObjective, SameDecisionLevel
from unswayed.plans.ground import lay_ground
from unswayed.plans.programme import run_programme
from unswayed.plans.tree import depth_of, expected_cost, grow_tree, leaves, worst_cost


def best_tree(problem, purchase, goal):
    """The ground and the tree that dynamic programming finds."""
    ground = lay_ground(problem, bind_purchase(purchase, problem), DEFAULT_LIMITS)
    programme = run_programme(ground, goal, DEFAULT_LIMITS)
    return programme, grow_tree(ground, goal, programme)


@settings(max_examples=25)
@given(plan_problems(max_features=3))
def test_no_policy_costs_less(case):
    problem, purchase, level = case
    goal = Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(level))
    programme, tree = best_tree(problem, purchase, goal)
    best = best_policy(Case(problem, purchase, level))
    assert expected_cost(tree) == pytest.approx(best, abs=ENGINE)
    assert programme.values.first[-1] == pytest.approx(best, abs=ENGINE)
    assert all(leaf.sdp >= level - ENGINE for leaf in leaves(tree))
    assert math.fsum(leaf.probability for leaf in leaves(tree)) == pytest.approx(1.0, abs=ENGINE)


@settings(max_examples=25)
@given(plan_problems(max_features=5), st.booleans())
def test_plans_cost_what_the_recursion_says(case, worst):
    problem, purchase, level = case
    objective = PlanObjective.WORST_COST if worst else PlanObjective.EXPECTED_COST
    _, tree = best_tree(problem, purchase, Goal(objective, SameDecisionLevel(level)))
    found = worst_cost(tree) if worst else expected_cost(tree)
    assert found == pytest.approx(best_cost(Case(problem, purchase, level), worst), abs=ENGINE)


@settings(max_examples=25)
@given(
    plan_problems(max_features=4, conditional=False), st.sampled_from([0.0, 1.0, 2.5, 4.0]), st.integers(0, 3)
)
def test_bounded_plans_fail_as_rarely_as_they_can_then_cost_least(case, budget, depth):
    problem, purchase, level = case
    by_definition = Case(problem, purchase, level)
    needed = by_definition.required()
    goal = Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(level), budget, depth)

    def loss(case, seen):
        return 0.0 if case.stops(seen) else 1.0

    failing, cost = best_within(by_definition, budget, depth, loss)
    if not math.isfinite(failing):
        assert needed
        return
    _, tree = best_tree(problem, purchase, goal)
    assert math.fsum(leaf.probability for leaf in leaves(tree) if not leaf.reached) == pytest.approx(
        failing, abs=ENGINE
    )
    assert expected_cost(tree) == pytest.approx(cost, abs=ENGINE)
    assert worst_cost(tree) <= budget + ENGINE
    assert depth_of(tree) <= depth


@settings(max_examples=25)
@given(
    plan_problems(max_features=4, conditional=False), st.sampled_from([1.0, 2.5, np.inf]), st.integers(1, 3)
)
def test_bounded_plans_agree_as_often_as_they_can(case, budget, depth):
    problem, purchase, level = case

    def loss(case, seen):
        return 1.0 - case.standing(seen)[1]

    lost, cost = best_within(Case(problem, purchase, level), budget, depth, loss)
    if not math.isfinite(lost):
        return
    goal = Goal(PlanObjective.SAME_DECISION, SameDecisionLevel(level), budget, depth)
    _, tree = best_tree(problem, purchase, goal)
    assert math.fsum(leaf.probability * (1 - leaf.sdp) for leaf in leaves(tree)) == pytest.approx(
        lost, abs=ENGINE
    )
    assert expected_cost(tree) == pytest.approx(cost, abs=1e-8)
