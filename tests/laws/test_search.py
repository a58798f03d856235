"""Searches find what enumeration finds, keep to the budget, and bound what they have not seen."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from engines.test_contract import problems
from holdfast import Limits, Method, ThresholdRule
from holdfast.decisions.measures import expected_agreement, maximum_achievable_agreement
from holdfast.model.zoo import random_naive_bayes
from holdfast.search.lenses import PotentialLens
from laws.test_decisions import named_evidence
from oracles.enumerate_profile import enumerate_profile
from tolerances import ENGINE

COSTS = st.sampled_from([0.5, 1.0, 1.0, 2.0, 3.5])


@st.composite
def purchases(draw):
    """A problem with costs and a budget."""
    problem, _ = draw(problems())
    names = [problem.network.variables[f].name for f in problem.free]
    costs = {name: draw(COSTS) for name in names if draw(st.booleans())}
    total = sum(costs.get(name, 1.0) for name in names)
    budget = draw(st.sampled_from([0.0, 1.0, 1.5, total / 3, total / 2, total, total + 1]))
    return problem, costs, budget


def subsets(problem, costs, budget):
    for size in range(len(problem.free) + 1):
        for kept in itertools.combinations(problem.free, size):
            names = [problem.network.variables[f].name for f in kept]
            if sum(costs.get(name, 1.0) for name in names) <= budget + 1e-9:
                yield frozenset(kept)


def best_by_enumeration(problem, costs, budget):
    """The best E-SDP, or for threshold rules MAA, over all subsets, each from its enumerated profile."""
    rule = problem.classifier.rule
    target = problem.network.variables[problem.target]
    same, achievable = -1.0, -1.0
    for kept in subsets(problem, costs, budget):
        profile = enumerate_profile(problem, kept)
        same = max(same, expected_agreement(profile, problem.decider))
        if isinstance(rule, ThresholdRule):
            best = maximum_achievable_agreement(profile, target.index(rule.positive)).value
            achievable = max(achievable, best)
    return same, achievable


@settings(max_examples=40)
@given(purchases(), st.sampled_from(list(Method)))
def test_searches_equal_enumeration(purchase, method):
    problem, costs, budget = purchase
    evidence = named_evidence(problem)
    same, achievable = best_by_enumeration(problem, costs, budget)
    chosen = holdfast.select_features(problem.classifier, costs, budget, None, evidence, method=method)
    trimmed = holdfast.trim(problem.classifier, costs, budget, evidence, method=method)
    goal = achievable if isinstance(problem.classifier.rule, ThresholdRule) else same
    for selection, best in ((chosen, same), (trimmed.selection, goal)):
        assert selection.cost <= budget + 1e-9
        assert selection.value <= best + ENGINE
        assert selection.upper_bound >= best - ENGINE
        if method is not Method.GREEDY:
            assert selection.value == pytest.approx(best, abs=ENGINE)
            assert selection.optimal


@settings(max_examples=30)
@given(purchases())
def test_a_trimmed_classifier_achieves_its_agreement(purchase):
    problem, costs, budget = purchase
    evidence = named_evidence(problem)
    trimmed = holdfast.trim(problem.classifier, costs, budget, evidence)
    rule = trimmed.classifier.rule
    if not isinstance(rule, ThresholdRule):
        return
    found = holdfast.expected_classification_agreement(
        problem.classifier, trimmed.selection.kept, rule.threshold, evidence
    )
    assert found.value == pytest.approx(trimmed.selection.value, abs=ENGINE)


@settings(max_examples=25)
@given(purchases())
def test_the_frontier_is_monotone_and_equals_separate_runs(purchase):
    problem, costs, _ = purchase
    evidence = named_evidence(problem)
    points = holdfast.frontier(problem.classifier, costs, evidence).points
    spent = [point.selection.cost for point in points]
    values = [point.selection.value for point in points]
    assert spent == sorted(spent)
    assert spent[0] == 0.0
    assert all(later > earlier for earlier, later in itertools.pairwise(values))
    for i, point in enumerate(points):
        until = spent[i + 1] - 1e-6 if i + 1 < len(points) else spent[i] + 1
        for budget in (point.selection.cost, until):
            alone = holdfast.trim(problem.classifier, costs, budget, evidence)
            assert alone.selection.value == pytest.approx(point.selection.value, abs=ENGINE)


@settings(max_examples=25)
@given(purchases())
def test_time_running_out_leaves_a_valid_gap(purchase):
    problem, costs, budget = purchase
    evidence = named_evidence(problem)
    whole = holdfast.select_features(problem.classifier, costs, budget, None, evidence)
    for method in Method:
        cut = holdfast.select_features(
            problem.classifier, costs, budget, None, evidence, method=method, limits=Limits(max_seconds=1e-9)
        )
        assert cut.value <= whole.value + ENGINE <= cut.upper_bound + 2 * ENGINE
        assert cut.cost <= budget + 1e-9


@settings(max_examples=25)
@given(purchases())
def test_information_is_selected_as_enumeration_does(purchase):
    problem, costs, budget = purchase
    evidence = named_evidence(problem)
    reward = holdfast.NegativeEntropy()
    best = max(
        holdfast.value_of_information(
            problem.classifier, [problem.network.variables[f].name for f in kept], reward, evidence
        ).value
        for kept in subsets(problem, costs, budget)
    )
    chosen = holdfast.select_features(problem.classifier, costs, budget, reward, evidence)
    assert chosen.value == pytest.approx(best, abs=ENGINE)


def test_interruption_ends_a_frontier_with_what_was_found(monkeypatch):
    """Ctrl-C in the second search: the first point is there, the second is what was best by then."""
    network = random_naive_bayes(8, np.random.default_rng(0))
    classifier = holdfast.Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    calls = []
    original = PotentialLens.ceiling

    def ceiling(self, table):
        calls.append(1)
        if len(calls) == 40:
            raise KeyboardInterrupt
        return original(self, table)

    whole = holdfast.frontier(classifier)
    monkeypatch.setattr(PotentialLens, "ceiling", ceiling)
    cut = holdfast.frontier(classifier)
    assert 0 < len(cut.points) < len(whole.points)
    assert cut.points[0].selection.interrupted
    assert cut.points[0].selection.upper_bound >= cut.points[0].selection.value
