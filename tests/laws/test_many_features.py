"""Searches on a grid find what enumeration finds, prove it, and bound what they have not seen."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import unswayed
from naive_cases import naive_problems
from oracles.enumerate_profile import enumerate_profile
from tolerances import ENGINE
from unswayed import Classifier, Limits, Method, ThresholdRule
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.decisions.measures import expected_agreement, maximum_potential_agreement
from unswayed.decisions.problem import make_problem
from unswayed.engines import naive_bayes as engine
from unswayed.model.zoo import binary_network, random_naive_bayes
from unswayed.search import plan as searching
from unswayed.search.naive_bayes import grid_search as dropping

COSTS = st.sampled_from([0.5, 1.0, 1.0, 2.0, 3.5])


@pytest.fixture(autouse=True)
def no_tables(monkeypatch):
    """Every naive Bayes problem goes to the grid, however small."""
    allow_tables(monkeypatch, 0.0)


def allow_tables(monkeypatch, cells):
    """Search tables up to this size."""
    monkeypatch.setattr(searching, "QUICK_TABLE", cells)


@st.composite
def purchases(draw, max_features=6):
    """A problem with costs and a budget."""
    problem = draw(naive_problems(max_features))
    names = [problem.network.variables[f].name for f in problem.free]
    costs = {name: draw(COSTS) for name in names if draw(st.booleans())}
    total = math.fsum(costs.get(name, 1.0) for name in names)
    budget = draw(st.sampled_from([0.0, 1.0, 1.5, total / 3, total / 2, total, total + 1]))
    return problem, costs, budget


def agreements(problem, names):
    """The own and the potential agreement of named features, by enumeration."""
    profile = enumerate_profile(problem, frozenset(map(problem.network.index, names)))
    return expected_agreement(profile, problem.decider), maximum_potential_agreement(profile)


def best_by_enumeration(problem, costs, budget):
    """The best own agreement and the best potential one over all subsets within the budget."""
    own = best = -1.0
    for size in range(len(problem.free) + 1):
        for kept in itertools.combinations(problem.free, size):
            names = [problem.network.variables[f].name for f in kept]
            if math.fsum(costs.get(name, 1.0) for name in names) <= budget + 1e-9:
                found = agreements(problem, names)
                own, best = max(own, found[0]), max(best, found[1])
    return own, best


def check(selection, best, budget, *, proven):
    assert selection.cost <= budget + 1e-9
    assert selection.value <= best + ENGINE
    assert selection.upper_bound >= best - ENGINE
    if proven:
        assert selection.value == pytest.approx(best, abs=ENGINE)
        # What is left of the gap below some 1e-10 is not searched for.
        assert selection.gap <= 1e-9


@settings(max_examples=30)
@given(purchases(), st.sampled_from([Method.BRANCH_AND_BOUND, Method.BRANCH_AND_BOUND, Method.GREEDY]))
def test_searches_equal_enumeration(purchase, method):
    problem, costs, budget = purchase
    own, best = best_by_enumeration(problem, costs, budget)
    proven = method is Method.BRANCH_AND_BOUND
    chosen = unswayed.select(problem.classifier, budget=budget, costs=costs, method=method)
    assert chosen.engine == "weights"
    check(chosen, own, budget, proven=proven)
    trimmed = unswayed.trim(problem.classifier, budget=budget, costs=costs, method=method)
    goal = best if isinstance(problem.classifier.rule, ThresholdRule) else own
    check(trimmed.selection, goal, budget, proven=proven)


@settings(max_examples=30)
@given(purchases(max_features=5))
def test_without_exact_values_the_interval_holds_the_optimum(purchase):
    """Where nothing exact is in reach, the certain value and the bound enclose the best there is."""
    problem, costs, budget = purchase
    own, best = best_by_enumeration(problem, costs, budget)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "LISTED_BITS", -1.0)
        patch.setattr(engine, "FINEST", engine.Fineness(1, 2048))
        chosen = unswayed.select(problem.classifier, budget=budget, costs=costs)
        trimmed = unswayed.trim(problem.classifier, budget=budget, costs=costs)
    assert chosen.engine == trimmed.selection.engine == "sums"
    check(chosen, own, budget, proven=False)
    has_threshold = isinstance(problem.classifier.rule, ThresholdRule)
    check(trimmed.selection, best if has_threshold else own, budget, proven=False)
    holds_its_value(chosen, agreements(problem, chosen.kept)[0])
    holds_its_value(trimmed.selection, agreements(problem, trimmed.selection.kept)[int(has_threshold)])
    if chosen.optimal:
        assert agreements(problem, chosen.kept)[0] == pytest.approx(own, abs=ENGINE)
    if has_threshold and trimmed.selection.optimal:
        assert agreements(problem, trimmed.selection.kept)[1] == pytest.approx(best, abs=ENGINE)


def holds_its_value(selection, truth):
    """What is called exact is; what is not lies between its bounds."""
    found = selection.measurement
    assert found.low - ENGINE <= truth <= found.high + ENGINE


@pytest.mark.parametrize("seed", range(5))
def test_a_value_that_is_a_bound_is_not_called_exact(monkeypatch, seed):
    monkeypatch.setattr(engine, "LISTED_BITS", -1.0)
    monkeypatch.setattr(engine, "FINE", engine.Fineness(1, 64))
    monkeypatch.setattr(engine, "FINEST", engine.Fineness(1, 64))
    network = random_naive_bayes(8, np.random.default_rng(seed))
    problem = make_problem(Classifier(network, "C", None, ThresholdRule("s0", 0.5)))
    chosen = unswayed.select(problem.classifier, budget=3)
    trimmed = unswayed.trim(problem.classifier, budget=3).selection
    for found, truth in (
        (chosen, agreements(problem, chosen.kept)[0]),
        (trimmed, agreements(problem, trimmed.kept)[1]),
    ):
        assert found.value < truth - ENGINE
        assert found.certainty is Certainty.BOUND
        holds_its_value(found, truth)


@settings(max_examples=30)
@given(purchases())
def test_a_trimmed_classifier_achieves_its_agreement(purchase):
    problem, costs, budget = purchase
    trimmed = unswayed.trim(problem.classifier, budget=budget, costs=costs)
    rule = trimmed.classifier.rule
    if isinstance(rule, ThresholdRule):
        found = unswayed.eca(problem.classifier, kept=trimmed.selection.kept, new_threshold=rule.threshold)
        assert found.value == pytest.approx(trimmed.selection.value, abs=ENGINE)


@settings(max_examples=25)
@given(purchases())
def test_time_running_out_leaves_a_valid_gap(purchase):
    problem, costs, budget = purchase
    own, _ = best_by_enumeration(problem, costs, budget)
    cut = unswayed.select(problem.classifier, budget=budget, costs=costs, limits=Limits(max_seconds=1e-9))
    check(cut, own, budget, proven=False)


@settings(max_examples=15)
@given(purchases(max_features=6), st.integers(1, 12))
def test_interrupted_searches_leave_valid_gaps(purchase, n_calls):
    """Ctrl-C at any look at a subset: the best so far, and a bound that the optimum does not exceed."""
    problem, costs, budget = purchase
    own, _ = best_by_enumeration(problem, costs, budget)
    calls = []
    look = engine.Agreement.between

    def between(self, kept):
        calls.append(kept)
        if len(calls) == n_calls + 1:
            raise KeyboardInterrupt
        return look(self, kept)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine.Agreement, "between", between)
        found = unswayed.select(problem.classifier, budget=budget, costs=costs)
    assert found.interrupted == (len(calls) > n_calls)
    check(found, own, budget, proven=not found.interrupted)


@pytest.mark.parametrize("seed", range(4))
def test_lesser_proofs_bound_the_optimum(monkeypatch, seed):
    """Searches stopped after a lesser proof: the bound is that of the proof, and holds."""
    network = random_naive_bayes(12, np.random.default_rng(seed))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.4))
    whole = unswayed.trim(classifier, budget=4).selection
    monkeypatch.setattr(dropping, "QUICK", 1)
    monkeypatch.setattr(dropping, "SLICE", 1)
    real = dropping._go
    calls = []

    def go(*args, **kwargs):
        calls.append(kwargs["target"])
        # The last call would go on with the whole search.
        return len(calls) <= len(dropping.RUNGS) + 1 and (yield from real(*args, **kwargs))

    monkeypatch.setattr(dropping, "_go", go)
    cut = unswayed.trim(classifier, budget=4).selection
    assert whole.optimal
    assert len(calls) == len(dropping.RUNGS) + 2
    assert cut.value == pytest.approx(whole.value, abs=ENGINE)
    assert whole.value <= cut.upper_bound <= 1 - dropping.RUNGS[-1] * (1 - cut.value) + 1e-12


@pytest.mark.parametrize("n", [10, 12, 14, 16])
def test_grids_and_tables_find_the_same(monkeypatch, n):
    """Costs, ties broken by name, and subsets too, where the optimum is one."""
    network = random_naive_bayes(n, np.random.default_rng(n), max_states=3)
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.3))
    costs = {f"F{i}": 1.0 + (i % 3) for i in range(1, n + 1)}
    on_grid = unswayed.trim(classifier, budget=n // 2, costs=costs)
    chosen_on_grid = unswayed.select(classifier, budget=n // 2, costs=costs)
    allow_tables(monkeypatch, 2.0**30)
    in_table = unswayed.trim(classifier, budget=n // 2, costs=costs)
    chosen_in_table = unswayed.select(classifier, budget=n // 2, costs=costs)
    for selection in (on_grid.selection, chosen_on_grid, in_table.selection, chosen_in_table):
        assert selection.optimal
    assert on_grid.selection.kept == in_table.selection.kept
    assert on_grid.selection.value == pytest.approx(in_table.selection.value, abs=ENGINE)
    assert on_grid.threshold_interval == pytest.approx(in_table.threshold_interval, abs=1e-6)
    assert chosen_on_grid.kept == chosen_in_table.kept
    assert chosen_on_grid.value == pytest.approx(chosen_in_table.value, abs=ENGINE)


def test_frontiers_on_grids_equal_those_in_tables(monkeypatch):
    network = random_naive_bayes(9, np.random.default_rng(5))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    on_grid = unswayed.frontier(classifier)
    allow_tables(monkeypatch, 2.0**30)
    in_table = unswayed.frontier(classifier)
    assert [p.selection.cost for p in on_grid.points] == [p.selection.cost for p in in_table.points]
    for one, other in zip(on_grid.points, in_table.points, strict=True):
        assert one.selection.value == pytest.approx(other.selection.value, abs=ENGINE)


def test_progress_is_reported():
    network = random_naive_bayes(30, np.random.default_rng(1))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.4))
    told = []
    found = unswayed.trim(classifier, budget=10, report=lambda *news: told.append(news))
    assert told
    for value, bound, evaluations in told:
        assert value <= found.selection.value + ENGINE
        assert bound >= found.selection.value - ENGINE
        assert evaluations > 0


@pytest.mark.parametrize(("n", "seed"), [(26, 1), (30, 2)])
def test_thirty_features_are_trimmed_with_proof(n, seed):
    network = random_naive_bayes(n, np.random.default_rng(seed))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.4))
    found = unswayed.trim(classifier, budget=n // 3)
    assert found.selection.engine == "weights"
    assert found.selection.optimal
    exact = unswayed.mpa(classifier, kept=found.selection.kept)
    assert found.selection.value == pytest.approx(exact.value, abs=ENGINE)
    at_threshold = unswayed.eca(
        classifier, kept=found.selection.kept, new_threshold=found.classifier.rule.threshold
    )
    assert at_threshold.value == pytest.approx(exact.value, abs=ENGINE)


@pytest.mark.slow
def test_hundreds_of_features_are_trimmed_with_a_certified_gap():
    network = random_naive_bayes(120, np.random.default_rng(3))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    found = unswayed.trim(classifier, budget=12, limits=Limits(max_seconds=3))
    assert found.selection.engine == "sums"
    assert len(found.selection.kept) == 12
    checked = unswayed.eca(
        classifier, kept=found.selection.kept, new_threshold=found.classifier.rule.threshold, tolerance=1e-4
    )
    assert found.selection.value <= checked.high
    assert checked.low <= found.selection.upper_bound <= 1.0
    chosen = unswayed.select(classifier, budget=12, limits=Limits(max_seconds=3))
    own = unswayed.esdp(classifier, kept=chosen.kept, tolerance=1e-4)
    assert own.low - 1e-3 <= chosen.value <= own.high


def test_a_budget_for_everything_keeps_everything():
    network = random_naive_bayes(40, np.random.default_rng(3))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    found = unswayed.trim(classifier, budget=40).selection
    assert (len(found.kept), found.value, found.optimal) == (40, 1.0, True)


def test_features_alike_are_no_obstacle():
    """Forty features of two kinds: all choices of as many of each kind are one."""
    kinds = {f"A{i}": (("C",), [0.8, 0.3]) for i in range(20)} | {
        f"B{i}": (("C",), [0.6, 0.3]) for i in range(20)
    }
    network = binary_network({"C": ((), [0.4]), **kinds})
    classifier = Classifier(network, "C", None, ThresholdRule("+", 0.5))
    found = unswayed.trim(classifier, budget=9).selection
    assert found.optimal
    best = max(
        unswayed.mpa(classifier, kept=[f"A{i}" for i in range(k)] + [f"B{i}" for i in range(9 - k)]).value
        for k in range(10)
    )
    assert found.value == pytest.approx(best, abs=ENGINE)


def test_rewards_and_listings_need_a_table():
    network = random_naive_bayes(30, np.random.default_rng(1))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    with pytest.raises(LimitError, match="needs a table over all of them"):
        unswayed.select(classifier, budget=3, objective=unswayed.NegativeEntropy())
    with pytest.raises(LimitError, match="looking at all subsets of 30 features"):
        unswayed.trim(classifier, budget=3, method=Method.EXHAUSTIVE)


def test_impossible_classes_leave_nothing_to_decide():
    """A class without prior probability: no feature is needed, and the answer is certain."""
    network = binary_network({"C": ((), [0.0]), "A": (("C",), [0.3, 0.6]), "B": (("C",), [0.2, 0.6])})
    classifier = Classifier(network, "C", None, ThresholdRule("+", 0.5))
    assert make_problem(classifier).prior.min() == 0.0
    found = unswayed.trim(classifier, budget=1).selection
    assert (found.kept, found.value, found.optimal) == ((), 1.0, True)
