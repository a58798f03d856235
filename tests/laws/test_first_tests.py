"""What first tests say of all plans: no plan costs less, however few of them are looked at."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.plan_by_definition import Case, best_cost
from tolerances import ENGINE
from unswayed import Classifier, ThresholdRule
from unswayed.decisions.binding import bind_purchase
from unswayed.decisions.problem import make_problem
from unswayed.decisions.purchase import Purchase
from unswayed.model.zoo import random_naive_bayes
from unswayed.plans.first_tests import bound_first_tests
from unswayed.plans.goals import Goal, PlanObjective, SameDecisionLevel
from unswayed.plans.greedy import Greed, GreedyPolicy
from unswayed.plans.ground import lay_ground
from unswayed.plans.growth import grow_tree
from unswayed.plans.programme import run_programme
from unswayed.plans.tree import expected_cost, leaves


def random_case(seed):
    """Naive Bayes with tests of two to four outcomes, prices, perhaps a test that nobody buys."""
    rng = np.random.default_rng(seed)
    network = random_naive_bayes(int(rng.integers(1, 6)), rng, max_states=4)
    features = [name for name in network.names if name != "C"]
    problem = make_problem(Classifier(network, "C", None, ThresholdRule("s0", float(rng.uniform(0.1, 0.9)))))
    costs = {name: float(rng.choice([1.0, 1.0, 0.5, 2.5])) for name in features}
    return problem, Purchase(costs), float(rng.choice([0.7, 0.9, 0.95, 1.0]))


@pytest.mark.parametrize("seed", range(25))
def test_no_plan_costs_less_than_its_first_tests_say(seed):
    problem, purchase, level = random_case(seed)
    ground = lay_ground(problem, bind_purchase(purchase, problem))
    goal = Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(level))
    best = best_cost(Case(problem, purchase, level))
    before = 0.0
    for first in bound_first_tests(ground, goal, GreedyPolicy(ground, goal, Greed.DONE)):
        assert before - ENGINE <= first.lower <= best + ENGINE
        before = first.lower
        tree = grow_tree(ground, goal, first)
        assert expected_cost(tree) >= best - ENGINE
        assert all(leaf.sdp >= level - ENGINE for leaf in leaves(tree))
    # Steps of the grid are rounded, so that what is nearly safe may count as safe.
    assert before >= 0.8 * best - ENGINE


@pytest.mark.parametrize("seed", range(3))
def test_many_tests_are_bounded_from_below_as_dynamic_programming_says(seed):
    network = random_naive_bayes(10, np.random.default_rng(seed))
    problem = make_problem(Classifier(network, "C", None, ThresholdRule("s0", 0.5)))
    ground = lay_ground(problem, bind_purchase(Purchase(), problem))
    goal = Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(0.95))
    best = float(run_programme(ground, goal).values.first[-1])
    bounds = list(bound_first_tests(ground, goal, GreedyPolicy(ground, goal, Greed.DONE)))
    lowers = [first.lower for first in bounds]
    assert lowers == sorted(lowers)
    assert 0.8 * best <= lowers[-1] <= best + ENGINE
    assert best - ENGINE <= expected_cost(grow_tree(ground, goal, bounds[-1])) <= 1.2 * best


def test_a_forbidden_test_stays_in_the_sum_and_other_goals_have_no_such_bound():
    problem, _, _ = random_case(7)
    network = problem.network
    some = [name for name in network.names if name != "C"][:1]
    for purchase in (Purchase(forbidden=tuple(some)), Purchase(mandatory=tuple(some))):
        ground = lay_ground(problem, bind_purchase(purchase, problem))
        goal = Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(0.9))
        assert not list(bound_first_tests(ground, goal, GreedyPolicy(ground, goal, Greed.DONE)))
    ground = lay_ground(problem, bind_purchase(Purchase(), problem))
    worst = Goal(PlanObjective.WORST_COST, SameDecisionLevel(0.9))
    assert not list(bound_first_tests(ground, worst, GreedyPolicy(ground, worst, Greed.DONE)))
