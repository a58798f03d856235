"""Searches under groups, set-up costs, order, mandatory and forbidden tests find what enumeration finds."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

import unswayed
from oracles.enumerate_profile import enumerate_profile
from oracles.plan_by_definition import Case
from plan_cases import plan_problems
from tolerances import ENGINE
from unswayed import Method, ThresholdRule
from unswayed.core.errors import QueryError
from unswayed.decisions.measures import expected_agreement, maximum_achievable_agreement
from unswayed.decisions.purchase import PriceAfter, Purchase
from unswayed.model.zoo import review

BUDGETS = st.sampled_from([0.0, 1.0, 2.5, 4.0, 100.0])


def cost_by_definition(case, tests):
    """Prices of tests in the cheapest order that is allowed, what they tell being left aside."""
    costs = []
    for order in itertools.permutations(tests):
        seen, cost = {}, 0.0
        for test in order:
            price = case.price(test, seen)
            cost = math.inf if price is None else cost + price
            seen |= dict.fromkeys(case.tests[test], 0)
        costs.append(cost)
    return min(costs)


def choices(case, budget):
    """Every set of tests that may be chosen, with its features by position and its cost."""
    index = case.problem.network.index
    for size in range(len(case.tests) + 1):
        for tests in itertools.combinations(case.tests, size):
            closed = all(case.owner(o) in tests for t in tests for o in case.purchase.needs.get(t, ()))
            cost = cost_by_definition(case, tests)
            if closed and case.required() <= set(tests) and cost <= budget + 1e-9:
                yield frozenset(index(name) for test in tests for name in case.tests[test]), cost


@settings(max_examples=40)
@given(plan_problems(max_features=5), BUDGETS, st.booleans())
def test_branch_and_bound_equals_enumeration_under_a_purchase(drawn, budget, forbids):
    problem, purchase, _ = drawn
    purchase = replace(purchase, after=tuple(replace(each, state=None) for each in purchase.after))
    if forbids and problem.free and not purchase.needs and not purchase.mandatory:
        purchase = replace(purchase, forbidden=(problem.network.variables[problem.free[-1]].name,))
    found = list(choices(Case(problem, purchase, 1.0), budget))
    if not found:
        with pytest.raises(QueryError, match="the mandatory tests alone exceed the budget"):
            unswayed.select_features(problem.classifier, budget, costs=purchase)
        return
    best = max(expected_agreement(enumerate_profile(problem, kept), problem.decider) for kept, _ in found)
    selection = unswayed.select_features(problem.classifier, budget, costs=purchase)
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
        trimming = unswayed.trim(problem.classifier, budget, costs=purchase)
        assert trimming.selection.value == pytest.approx(achievable, abs=ENGINE)


@settings(max_examples=15)
@given(plan_problems(max_features=4, conditional=False))
def test_a_frontier_under_a_purchase_is_the_best_for_every_budget(drawn):
    problem, purchase, _ = drawn
    points = unswayed.frontier(problem.classifier, costs=purchase).points
    for budget in (0.0, 1.0, 2.0, 3.5, 100.0):
        within = [point.selection.value for point in points if point.selection.cost <= budget + 1e-9]
        try:
            best = unswayed.trim(problem.classifier, budget, costs=purchase).selection.value
        except QueryError:
            assert not within
            continue
        assert max(within) == pytest.approx(best, abs=ENGINE)


def test_a_second_test_may_make_the_first_affordable():
    papers = unswayed.Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    dear = Purchase({"R1": 9.0, "R2": 1.0, "AC": 9.0})
    cheaper = replace(dear, after=(PriceAfter("R1", "R2", 0.5),))
    assert unswayed.select_features(papers, 1.5, costs=dear).cost <= 1.0
    found = unswayed.select_features(papers, 1.5, costs=cheaper)
    assert (found.kept, found.cost, found.optimal) == (("R1", "R2"), 1.5, True)


def test_what_a_search_cannot_take_into_account_is_refused():
    network = review()
    papers = unswayed.Classifier(network, "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    conditional = Purchase(after=(PriceAfter("R1", "R2", 0.5, "+"),))
    with pytest.raises(QueryError, match="'R1' depends on what another test tells, which nobody knows when"):
        unswayed.select_features(papers, 1, costs=conditional)
    groups = Purchase(groups={"votes": ("R1", "R2")})
    with pytest.raises(QueryError, match="'greedy' knows one cost for each feature"):
        unswayed.select_features(papers, 1, costs=groups, method=Method.GREEDY)


def test_skipped_features_are_no_longer_compared_with():
    network = review()
    papers = unswayed.Classifier(network, "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    selection = unswayed.select_features(papers, 1, costs=Purchase(skipped=("R1", "R2")))
    assert (selection.kept, selection.value) == (("AC",), 1.0), "without the reviewers the chair decides"
