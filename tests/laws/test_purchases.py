"""Searches under groups, set-up costs, order, mandatory and forbidden tests find what enumeration finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import unswayed
from laws.test_decisions import named_evidence
from oracles.best_set import Sets, achievable, certainty, potential, same_decision
from oracles.enumerate_profile import enumerate_profile
from plan_cases import plan_problems, random_purchased
from tolerances import ENGINE
from unswayed import Method, ThresholdRule
from unswayed.core.errors import QueryError
from unswayed.decisions.measures import expected_agreement, maximum_achievable_agreement
from unswayed.decisions.problem import make_problem
from unswayed.decisions.purchase import PriceAfter, Purchase
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import random_naive_bayes, review

BUDGETS = st.sampled_from([0.0, 1.0, 2.5, 4.0, 100.0])


@settings(max_examples=40)
@given(plan_problems(max_features=5), BUDGETS, st.booleans())
def test_branch_and_bound_equals_enumeration_under_a_purchase(drawn, budget, forbids):
    problem, purchase, _ = drawn
    purchase = replace(purchase, after=tuple(replace(each, state=None) for each in purchase.after))
    if forbids and problem.free and not purchase.needs and not purchase.mandatory:
        purchase = replace(purchase, forbidden=(problem.network.variables[problem.free[-1]].name,))
    found = [(kept, cost) for kept, cost in Sets(problem, purchase).costs.items() if cost <= budget + 1e-9]
    if not found:
        with pytest.raises(QueryError, match="the mandatory tests alone exceed the budget"):
            unswayed.select(problem.classifier, budget=budget, costs=purchase)
        return
    best = max(expected_agreement(enumerate_profile(problem, kept), problem.decider) for kept, _ in found)
    selection = unswayed.select(problem.classifier, budget=budget, costs=purchase)
    assert selection.value == pytest.approx(best, abs=ENGINE)
    assert selection.optimal
    costs = dict(found)
    kept = frozenset(map(problem.network.index, selection.kept))
    assert selection.cost == pytest.approx(costs[kept]), "the kept features are a choice that is allowed"
    rule = problem.classifier.rule
    if isinstance(rule, ThresholdRule):
        positive = problem.network.variables[problem.target].index(rule.positive)
        profiles = (enumerate_profile(problem, kept) for kept, _ in found)
        achievable = max(maximum_achievable_agreement(profile, positive).value for profile in profiles)
        trimming = unswayed.trim(problem.classifier, budget=budget, costs=purchase)
        assert trimming.selection.value == pytest.approx(achievable, abs=ENGINE)


@settings(max_examples=15)
@given(plan_problems(max_features=4, conditional=False))
def test_a_frontier_under_a_purchase_is_the_best_for_every_budget(drawn):
    problem, purchase, _ = drawn
    points = unswayed.frontier(problem.classifier, costs=purchase).points
    for budget in (0.0, 1.0, 2.0, 3.5, 100.0):
        within = [point.selection.value for point in points if point.selection.cost <= budget + 1e-9]
        try:
            best = unswayed.trim(problem.classifier, budget=budget, costs=purchase).selection.value
        except QueryError:
            assert not within
            continue
        assert max(within) == pytest.approx(best, abs=ENGINE)


def test_a_second_test_may_make_the_first_affordable():
    papers = unswayed.Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    dear = Purchase({"R1": 9.0, "R2": 1.0, "AC": 9.0})
    cheaper = replace(dear, after=(PriceAfter("R1", "R2", 0.5),))
    assert unswayed.select(papers, budget=1.5, costs=dear).cost <= 1.0
    found = unswayed.select(papers, budget=1.5, costs=cheaper)
    assert (found.kept, found.cost, found.optimal) == (("R1", "R2"), 1.5, True)


def test_what_a_search_cannot_take_into_account_is_refused():
    network = review()
    papers = unswayed.Classifier(network, "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    conditional = Purchase(after=(PriceAfter("R1", "R2", 0.5, "+"),))
    with pytest.raises(QueryError, match="'R1' depends on what another test tells, which nobody knows when"):
        unswayed.select(papers, budget=1, costs=conditional)
    groups = Purchase(groups={"votes": ("R1", "R2")})
    with pytest.raises(QueryError, match="'greedy' knows one cost for each feature"):
        unswayed.select(papers, budget=1, costs=groups, method=Method.GREEDY)


def test_skipped_features_are_no_longer_compared_with():
    network = review()
    papers = unswayed.Classifier(network, "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    selection = unswayed.select(papers, budget=1, costs=Purchase(skipped=("R1", "R2")))
    assert (selection.kept, selection.value) == (("AC",), 1.0), "without the reviewers the chair decides"


def searches(problem):
    """Every objective: what a set is worth by the definition, and how it is asked for."""
    classifier, evidence = problem.classifier, named_evidence(problem)
    trimming = achievable if isinstance(classifier.rule, ThresholdRule) else same_decision

    def select(budget, purchase, objective=None):
        return unswayed.select(
            classifier, budget=budget, costs=purchase, evidence=evidence, objective=objective
        )

    def trim(budget, purchase, potential=False):
        return unswayed.trim(
            classifier, budget=budget, costs=purchase, evidence=evidence, potential=potential
        ).selection

    return [
        (same_decision, select),
        (certainty, lambda *asked: select(*asked, unswayed.NegativeEntropy())),
        (trimming, trim),
        (potential, lambda *asked: trim(*asked, potential=True)),
    ]


def check_choice(problem, purchase, sets, budget, objective):
    """A search finds what enumeration finds: the best, of equal ones a cheapest, or that nothing fits."""
    worth, search = objective
    fitting = {k: v for k, v in sets.values(worth).items() if sets.costs[k] <= budget * (1 + 1e-13)}
    if not fitting:
        with pytest.raises(QueryError, match="the mandatory tests alone exceed the budget"):
            search(budget, purchase)
        return
    found, best = search(budget, purchase), max(fitting.values())
    kept = frozenset(map(problem.network.index, found.kept))
    assert found.optimal
    assert found.value == pytest.approx(best, abs=ENGINE)
    assert kept in fitting
    assert found.cost == pytest.approx(sets.costs[kept])
    cheapest = min(sets.costs[each] for each, value in fitting.items() if value >= best - 1e-11)
    assert found.cost == pytest.approx(cheapest)


def check_frontier(problem, purchase, sets, *, is_potential):
    """Every point where a larger budget buys more, mandatory tests paid in each."""
    values = sets.values(potential if is_potential else searches(problem)[2][0])
    expected = []
    for cost in sorted(sets.costs.values()):
        best = max(value for kept, value in values.items() if sets.costs[kept] <= cost * (1 + 1e-13))
        if not expected or best > expected[-1][1] + 1e-10:
            expected.append((cost, best))
    points = unswayed.frontier(
        problem.classifier, costs=purchase, evidence=named_evidence(problem), potential=is_potential
    ).points
    found = [(point.cost, point.selection.value) for point in points]
    assert len(found) == len(expected)
    assert np.array(found) == pytest.approx(np.array(expected), abs=ENGINE)


def random_budget(rng, sets):
    """From none to ample, the cost of some set often."""
    costs = sorted(sets.costs.values())
    return float(rng.choice([0.0, *costs, rng.uniform(0.0, costs[-1] + 1.0), 1e6]))


def check_purchases(seeds):
    """A random purchase for each seed, and one objective or frontier in turn."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem, purchase = random_purchased(rng, 5, conditional=False)
        sets = Sets(problem, purchase)
        number = seed % 6
        if number < 4:
            check_choice(problem, purchase, sets, random_budget(rng, sets), searches(problem)[number])
        else:
            check_frontier(problem, purchase, sets, is_potential=number == 5)


def test_each_objective_equals_enumeration_under_each_kind_of_purchase():
    check_purchases(range(1000))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 11000, 1000))
def test_each_objective_equals_enumeration_under_ten_thousand_purchases(first):
    check_purchases(range(first, first + 1000))


@pytest.mark.parametrize("budget", [0.36, 0.5, 0.8])
def test_a_test_that_another_makes_cheap_is_bought_with_it(budget):
    """F0 and F1 cost .35 together, though F1 alone is beyond every budget."""
    network = random_naive_bayes(3, np.random.default_rng(22))
    classifier = unswayed.Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    purchase = Purchase({"F1": 0.2, "F2": 3.0, "F3": 0.5}, after=(PriceAfter("F2", "F1", 0.15),))
    sets = Sets(make_problem(classifier), purchase)
    for objective in searches(sets.problem):
        check_choice(sets.problem, purchase, sets, budget, objective)
    assert unswayed.trim(classifier, budget=budget, costs=purchase).agreement.value == pytest.approx(1.0)


def with_a_constant_feature():
    """A classifier whose second feature has one state, so that it tells nothing."""
    target, telling, constant = Variable("C", "ab"), Variable("F0", "xy"), Variable("F1", "z")
    rows = [[0.9, 0.1], [0.2, 0.8]]
    tables = [Cpt(target, [], [[0.4, 0.6]]), Cpt(telling, [target], rows), Cpt(constant, [], [[1.0]])]
    return unswayed.Classifier(BayesianNetwork(tables), "C", ["F0", "F1"], ThresholdRule("a", 0.5))


def test_a_mandatory_test_is_done_and_paid_though_it_tells_nothing():
    classifier = with_a_constant_feature()
    purchase = Purchase({"F1": 0.5}, mandatory=("F1",))
    points = unswayed.frontier(classifier, costs=purchase).points
    assert [(point.kept, point.cost) for point in points] == [(("F1",), 0.5), (("F0", "F1"), 1.5)]
    assert unswayed.plan(classifier, costs=purchase).worst_cost == 1.5


def test_what_tells_nothing_may_make_another_test_cheap():
    purchase = Purchase({"F0": 3.0, "F1": 0.5}, after=(PriceAfter("F0", "F1", 0.1),))
    found = unswayed.select(with_a_constant_feature(), budget=1.0, costs=purchase)
    assert (found.kept, found.cost, found.value) == (("F0", "F1"), 0.6, 1.0)


@pytest.mark.parametrize("method", [method for method in Method if method is not Method.BRANCH_AND_BOUND])
def test_methods_of_one_cost_for_each_feature_take_no_purchase(method):
    papers = unswayed.Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    with pytest.raises(QueryError, match="knows one cost for each feature"):
        unswayed.select(papers, budget=1, costs=Purchase(mandatory=("R1",)), method=method)
