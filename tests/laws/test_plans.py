"""Plans cost what the definition says, and no plan costs less."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from oracles.plan_by_definition import Case, best_cost, best_policy, best_with_leaves, best_within
from plan_cases import plan_problems
from tolerances import ENGINE
from unswayed.core.anytime import settle
from unswayed.core.errors import QueryError
from unswayed.decisions.binding import bind_purchase
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.purchase import Purchase, SetUp
from unswayed.decisions.rules import MostProbable
from unswayed.model.zoo import random_naive_bayes
from unswayed.plans import bounded
from unswayed.plans.bounded import search_bounded
from unswayed.plans.engine_states import EngineTerrain
from unswayed.plans.goals import Goal, PlanObjective, SameDecisionLevel
from unswayed.plans.greedy import Greed, GreedyPolicy
from unswayed.plans.ground import lay_ground
from unswayed.plans.growth import grow, grow_tree, write_down
from unswayed.plans.leaf_limited import run_leaf_limited
from unswayed.plans.moves import is_forced
from unswayed.plans.programme import run_programme
from unswayed.plans.terrain import UNDONE
from unswayed.plans.tree import depth_of, expected_cost, leaves, worst_cost


def best_tree(problem, purchase, goal):
    """The ground and the tree that dynamic programming finds."""
    ground = lay_ground(problem, bind_purchase(purchase, problem))
    programme = run_programme(ground, goal)
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


@settings(max_examples=25)
@given(
    plan_problems(max_features=4, conditional=False), st.sampled_from([1.0, 2.5, np.inf]), st.integers(1, 3)
)
def test_closest_plans_stop_where_they_are_safe_and_agree_elsewhere_as_often_as_they_can(case, budget, depth):
    problem, purchase, level = case

    def loss(case, seen):
        return 0.0 if case.stops(seen) else 1.0 - case.standing(seen)[1]

    lost, cost = best_within(Case(problem, purchase, level), budget, depth, loss)
    if not math.isfinite(lost):
        return
    goal = Goal(PlanObjective.CLOSEST, SameDecisionLevel(level), budget, depth)
    ground, (_, tree) = (
        lay_ground(problem, bind_purchase(purchase, problem)),
        best_tree(problem, purchase, goal),
    )
    search = settle(search_bounded(ground, goal), units=20e6).last
    assert search.bounds[0][0] == pytest.approx(lost, abs=ENGINE)
    for found in (tree, grow_tree(ground, goal, search)):
        short = [leaf for leaf in leaves(found) if not leaf.reached]
        assert math.fsum(leaf.probability * (1 - leaf.sdp) for leaf in short) == pytest.approx(
            lost, abs=ENGINE
        )
        assert expected_cost(found) == pytest.approx(cost, abs=1e-8)
        assert depth_of(found) <= depth


@settings(max_examples=25)
@given(plan_problems(max_features=4), st.sampled_from(list(PlanObjective)[:3]), st.sampled_from([None, 2]))
def test_bounded_search_finds_what_dynamic_programming_finds(case, objective, depth):
    problem, purchase, level = case
    goal = Goal(objective, SameDecisionLevel(level), max_depth=depth)
    ground = lay_ground(problem, bind_purchase(purchase, problem))
    try:
        programme = run_programme(ground, goal)
    except QueryError:
        with pytest.raises(QueryError):
            next(search_bounded(ground, goal))
        return
    best = float(programme.values.first[-1])
    if not math.isfinite(best):
        return
    search = settle(search_bounded(ground, goal), units=20e6).last
    lower, upper = search.bounds
    assert lower[0] == pytest.approx(best, abs=ENGINE)
    assert upper[0] == pytest.approx(best, abs=ENGINE)
    found, tree = grow_tree(ground, goal, search), grow_tree(ground, goal, programme)
    if objective is PlanObjective.WORST_COST:
        assert worst_cost(found) == pytest.approx(worst_cost(tree), abs=ENGINE)
    else:
        assert expected_cost(found) == pytest.approx(expected_cost(tree), abs=ENGINE)


@settings(max_examples=20)
@given(plan_problems(max_features=5), st.integers(0, 12))
def test_bounds_hold_however_early_the_search_ends(case, walks):
    problem, purchase, level = case
    goal = Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(level))
    ground = lay_ground(problem, bind_purchase(purchase, problem))
    search = next(search_bounded(ground, goal))
    for _ in range(walks):
        bounded._walk(search)
    best = best_cost(Case(problem, purchase, level))
    lower, upper = search.bounds
    assert lower[0] <= best + ENGINE
    assert upper[0] >= best - ENGINE
    assert expected_cost(grow_tree(ground, goal, search)) <= upper[0] + ENGINE


@settings(max_examples=25)
@given(plan_problems(max_features=4), st.sampled_from([0.0, 1.0, 2.5, 4.0]), st.integers(0, 3))
def test_budgets_hold_on_every_path_also_where_prices_depend_on_the_order(case, budget, depth):
    problem, purchase, level = case
    goal = Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(level), budget, depth)

    def loss(case, seen):
        return 0.0 if case.stops(seen) else 1.0

    failing, cost = best_within(Case(problem, purchase, level), budget, depth, loss)
    ground = lay_ground(problem, bind_purchase(purchase, problem))
    try:
        search = settle(search_bounded(ground, goal), units=20e6).last
    except QueryError:
        assert not math.isfinite(failing)
        return
    lower, upper = search.bounds
    if not math.isfinite(failing):
        assert not math.isfinite(lower[0])
        return
    tree = grow_tree(ground, goal, search)
    assert lower[0] == pytest.approx(failing, abs=ENGINE)
    assert upper[0] == pytest.approx(failing, abs=ENGINE)
    assert expected_cost(tree) == pytest.approx(cost, abs=ENGINE)
    assert worst_cost(tree) <= budget + ENGINE


@settings(max_examples=25)
@given(plan_problems(max_features=4))
def test_states_asked_one_by_one_are_those_of_the_table(case):
    problem, purchase, _ = case
    catalogue = bind_purchase(purchase, problem)
    ground = lay_ground(problem, catalogue)
    wide = EngineTerrain(problem, catalogue, None)
    assert wide.sizes == ground.sizes
    state = tuple(0 if test % 2 else UNDONE for test in range(len(ground.sizes)))
    assume(ground.look(state).class_mass.sum() > 0)  # no plan comes to a state that is impossible
    left = [test for test, outcome in enumerate(state) if outcome == UNDONE]
    table, asked = ground.look(state), wide.look(state)
    ahead = (ground.look_ahead(state, left), wide.look_ahead(state, left, closely=True)) if left else ()
    for one, other in [(table, asked), *([ahead] if ahead else [])]:
        assert other.class_mass == pytest.approx(one.class_mass, abs=ENGINE)
        possible = one.class_mass.sum(axis=1) > 1e-12
        assert (one.action == other.action)[possible].all()
        assert (other.least[possible] <= one.least[possible] + 1e-9).all()
        assert (other.most[possible] >= one.least[possible] - 1e-9).all()
        assert (other.most - other.least)[possible] == pytest.approx(0.0, abs=1e-3)


@settings(max_examples=20)
@given(plan_problems(max_features=4), st.sampled_from([None, 2]), st.booleans())
def test_bounds_hold_where_engines_answer_and_where_none_does(case, depth, answering):
    problem, purchase, level = case
    catalogue = bind_purchase(purchase, problem)
    goal = Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(level), max_depth=depth)
    ground = lay_ground(problem, catalogue)
    wide = EngineTerrain(problem, catalogue, level)
    try:
        best = run_programme(ground, goal).values
    except QueryError:
        return
    with pytest.MonkeyPatch.context() as patch:
        if not answering:
            patch.setattr("unswayed.plans.engine_states.TOLERANCES", ())
        search = settle(search_bounded(wide, goal), units=20e6 if answering else 1e6).last
        tree = grow_tree(wide, goal, search)
    lower, upper = search.bounds
    assert lower <= (best.first[-1] + ENGINE, math.inf)
    assert upper[0] >= best.first[-1] - ENGINE
    assert all(leaf.reached or depth for leaf in leaves(tree))
    if answering:
        assert upper[0] == pytest.approx(best.first[-1], abs=ENGINE)
        assert lower[0] == pytest.approx(best.first[-1], abs=ENGINE)


@settings(max_examples=20)
@given(plan_problems(max_features=5), st.integers(1, 6))
def test_a_plan_cut_short_costs_what_its_states_say_and_no_less_than_the_best(case, n_leaves):
    problem, purchase, level = case
    goal = Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(level))
    ground = lay_ground(problem, bind_purchase(purchase, problem))
    policy = GreedyPolicy(ground, goal, Greed.ENTROPY)
    *_, cut = grow(ground, goal, policy, forced=is_forced(ground, goal), most_leaves=n_leaves)
    grown = write_down(cut)
    best = best_cost(Case(problem, purchase, level))
    assert expected_cost(grown.tree) >= best - ENGINE
    if grown.steps:
        (first, _), _ = grown.steps[(UNDONE,) * len(ground.sizes), 0.0]
        assert first == pytest.approx(expected_cost(grown.tree), abs=ENGINE)
    known = next(search_bounded(ground, goal, known=grown.steps))
    assert known.bounds[1][0] <= expected_cost(grown.tree) + ENGINE
    assert known.bounds[1][0] >= best - ENGINE


@settings(max_examples=20)
@given(plan_problems(max_features=4), st.sampled_from(list(Greed)))
def test_greedy_plans_reach_the_level_and_cost_no_less(case, greed):
    problem, purchase, level = case
    goal = Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(level))
    ground = lay_ground(problem, bind_purchase(purchase, problem))
    tree = grow_tree(ground, goal, GreedyPolicy(ground, goal, greed))
    assert all(leaf.sdp >= level - ENGINE for leaf in leaves(tree))
    assert expected_cost(tree) >= best_cost(Case(problem, purchase, level)) - ENGINE


@settings(max_examples=25)
@given(plan_problems(max_features=4), st.integers(1, 5), st.booleans())
def test_plans_of_few_leaves_are_the_best_of_their_size(case, n_leaves, by_level):
    problem, purchase, level = case
    objective = PlanObjective.EXPECTED_COST if by_level else PlanObjective.SAME_DECISION

    def loss(case, seen):
        if by_level:
            return 0.0 if case.stops(seen) else 1.0
        return 1.0 - case.standing(seen)[1]

    lost, cost = best_with_leaves(Case(problem, purchase, level), n_leaves, loss)
    if not math.isfinite(lost):
        return
    goal = Goal(objective, SameDecisionLevel(level), max_leaves=n_leaves)
    ground = lay_ground(problem, bind_purchase(purchase, problem))
    tree = grow_tree(ground, goal, run_leaf_limited(ground, goal, n_leaves))
    assert len(list(leaves(tree))) <= n_leaves
    assert math.fsum(leaf.probability * leaf.loss for leaf in leaves(tree)) == pytest.approx(lost, abs=ENGINE)
    assert expected_cost(tree) == pytest.approx(cost, abs=1e-8)


def random_case(rng):
    """A naive Bayes classifier with features of two and three states, and a purchase, drawn plainly."""
    n_features = int(rng.integers(2, 6))
    network = random_naive_bayes(n_features, rng, n_classes=int(rng.integers(2, 4)), max_states=3)
    problem = make_problem(Classifier(network, "C", network.names[1:], MostProbable()))
    names = list(network.names[1:])
    rng.shuffle(names)
    groups = {"panel": tuple(names[:2])} if n_features > 3 and rng.random() < 0.5 else {}
    tests = names[2:] + list(groups) if groups else names
    costs = {test: float(rng.integers(0, 5)) for test in tests}
    set_ups = {"draw": SetUp(float(rng.integers(1, 4)), tuple(tests[:2]))} if rng.random() < 0.5 else {}
    needs = {tests[-1]: (tests[0],)} if len(tests) > 1 and rng.random() < 0.5 else {}
    return problem, Purchase(costs, groups, set_ups, (), needs), float(rng.choice([0.8, 0.95, 0.99]))


@pytest.mark.slow
def test_a_thousand_random_plans_cost_what_the_recursion_says():
    rng = np.random.default_rng(17)
    for _ in range(1000):
        problem, purchase, level = random_case(rng)
        _, tree = best_tree(problem, purchase, Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(level)))
        assert expected_cost(tree) == pytest.approx(best_cost(Case(problem, purchase, level)), abs=1e-9)
