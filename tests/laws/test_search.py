"""Searches find what enumeration finds, keep to the budget, and bound what they have not seen."""

from __future__ import annotations

import itertools
import pickle
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import unswayed
from engines.test_contract import problems
from forms import compile_all, keep_plain
from laws.test_decisions import named_evidence
from oracles.enumerate_profile import enumerate_profile
from tolerances import ENGINE
from unswayed import Limits, Method, ThresholdRule
from unswayed.decisions.measures import expected_agreement, maximum_achievable_agreement
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import binary_network, random_naive_bayes
from unswayed.search import branch_and_bound, exhaustive
from unswayed.search.signed import slices as signed_search

METHODS = [Method.BRANCH_AND_BOUND, Method.EXHAUSTIVE, Method.GREEDY]
"""Those that select and trim, for any rule."""
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
@given(purchases(), st.sampled_from(METHODS))
def test_searches_equal_enumeration(purchase, method):
    problem, costs, budget = purchase
    evidence = named_evidence(problem)
    same, achievable = best_by_enumeration(problem, costs, budget)
    chosen = unswayed.select(problem.classifier, budget=budget, costs=costs, evidence=evidence, method=method)
    trimmed = unswayed.trim(problem.classifier, budget=budget, costs=costs, evidence=evidence, method=method)
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
    trimmed = unswayed.trim(problem.classifier, budget=budget, costs=costs, evidence=evidence)
    rule = trimmed.classifier.rule
    if not isinstance(rule, ThresholdRule):
        return
    found = unswayed.eca(
        problem.classifier, evidence, kept=trimmed.selection.kept, new_threshold=rule.threshold
    )
    assert found.value == pytest.approx(trimmed.selection.value, abs=ENGINE)


@settings(max_examples=25)
@given(purchases())
def test_the_frontier_is_monotone_and_equals_separate_runs(purchase):
    problem, costs, _ = purchase
    evidence = named_evidence(problem)
    points = unswayed.frontier(problem.classifier, costs=costs, evidence=evidence).points
    spent = [point.selection.cost for point in points]
    values = [point.selection.value for point in points]
    assert spent == sorted(spent)
    assert spent[0] == 0.0
    assert all(later > earlier for earlier, later in itertools.pairwise(values))
    for i, point in enumerate(points):
        until = spent[i + 1] - 1e-6 if i + 1 < len(points) else spent[i] + 1
        for budget in (point.selection.cost, until):
            alone = unswayed.trim(problem.classifier, budget=budget, costs=costs, evidence=evidence)
            assert alone.selection.value == pytest.approx(point.selection.value, abs=ENGINE)


@settings(max_examples=25)
@given(purchases())
def test_time_running_out_leaves_a_valid_gap(purchase):
    problem, costs, budget = purchase
    evidence = named_evidence(problem)
    whole = unswayed.select(problem.classifier, budget=budget, costs=costs, evidence=evidence)
    for method in METHODS:
        cut = unswayed.select(
            problem.classifier,
            budget=budget,
            costs=costs,
            evidence=evidence,
            method=method,
            limits=Limits(max_seconds=1e-9),
        )
        assert cut.value <= whole.value + ENGINE <= cut.upper_bound + 2 * ENGINE
        assert cut.cost <= budget + 1e-9


@settings(max_examples=25)
@given(purchases())
def test_information_is_selected_as_enumeration_does(purchase):
    problem, costs, budget = purchase
    evidence = named_evidence(problem)
    reward = unswayed.NegativeEntropy()
    best = max(
        unswayed.voi(
            problem.classifier,
            evidence,
            kept=[problem.network.variables[f].name for f in kept],
            reward=reward,
        ).value
        for kept in subsets(problem, costs, budget)
    )
    chosen = unswayed.select(
        problem.classifier, budget=budget, costs=costs, objective=reward, evidence=evidence
    )
    assert chosen.value == pytest.approx(best, abs=ENGINE)


@contextmanager
def compiled_at_once(*, work=2**26, alone=1e6):
    """Every search that can be compiled is, in slices of so much work, alone for so many units."""
    with pytest.MonkeyPatch.context() as patch:
        compile_all(patch)
        patch.setattr(exhaustive, "MOST_CELLS", 0)
        patch.setattr(signed_search, "ALONE_UNITS", alone)
        patch.setattr(signed_search, "FIRST_WORK", work)
        patch.setattr(signed_search, "WORK", work)
        yield


@contextmanager
def reporting_always():
    """Every state is reported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unswayed.core.anytime.TELL_SECONDS", -1.0)
        yield


def answers(problem, costs, budget, **options):
    """Selected and trimmed: what is kept, how good it is, and the threshold."""
    evidence = named_evidence(problem)
    chosen = unswayed.select(problem.classifier, budget=budget, costs=costs, evidence=evidence, **options)
    trimmed = unswayed.trim(problem.classifier, budget=budget, costs=costs, evidence=evidence, **options)
    return chosen, trimmed.selection, trimmed.classifier.rule


@settings(max_examples=40, deadline=None)
@given(purchases())
def test_every_search_keeps_the_same_features(purchase):
    """Of equal subsets the cheaper one, then the first by name, whichever search finds it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branch_and_bound, "signed_column", lambda _: None)
        node_by_node = answers(*purchase)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exhaustive, "MOST_CELLS", 0)
        keep_plain(patch)
        plain = answers(*purchase)
    together = answers(*purchase)
    with compiled_at_once():
        compiled = answers(*purchase)
    listed = answers(*purchase, method=Method.EXHAUSTIVE)
    for found in (node_by_node, plain, together, compiled):
        for selection, expected in zip(found[:2], listed[:2], strict=True):
            assert (selection.kept, selection.optimal) == (expected.kept, True)
            assert selection.value == pytest.approx(expected.value, abs=ENGINE)


@settings(max_examples=40, deadline=None)
@given(purchases(), st.sampled_from([1, 2000]))
def test_any_number_of_jobs_gives_the_same_answer(purchase, work):
    with compiled_at_once():
        alone = answers(*purchase)
    with compiled_at_once(work=work, alone=-1.0):
        together = answers(*purchase, jobs=2)
    for one, two in zip(alone[:2], together[:2], strict=True):
        assert (one.kept, one.value, one.cost, one.optimal) == (two.kept, two.value, two.cost, two.optimal)
    assert alone[2] == together[2]


@pytest.mark.parametrize("jobs", [0, -1, 1.5, None, True])
def test_jobs_are_a_positive_number(jobs):
    network = random_naive_bayes(3, np.random.default_rng(0))
    classifier = unswayed.Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    for search in (unswayed.trim, unswayed.select):
        with pytest.raises(unswayed.QueryError, match="jobs must be a whole number"):
            search(classifier, budget=1, jobs=jobs)
    with pytest.raises(unswayed.QueryError, match="jobs must be a whole number"):
        unswayed.frontier(classifier, jobs=jobs)


@pytest.mark.parametrize("turned", [False, True])
def test_equal_features_are_not_gone_through_one_by_one(monkeypatch, turned):
    """Sixteen equal features have 8,008 subsets of six, all alike, even with the states of half turned."""
    compile_all(monkeypatch)
    rows = [[0.7, 0.4], [0.3, 0.6]]
    tables = {f"F{i:02}": (("C",), rows[turned and i % 2]) for i in range(16)}
    network = binary_network({"C": ((), [0.5]), **tables}, states=("s0", "s1"))
    classifier = unswayed.Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    for find in (lambda: unswayed.trim(classifier, budget=6).selection, lambda: _selected(classifier, 6)):
        found = find()
        assert found.evaluations < 1000
        assert found.kept == tuple(f"F{i:02}" for i in range(6))


def _selected(classifier, budget):
    return unswayed.select(classifier, budget=budget)


@pytest.mark.parametrize("threshold", [1e-9, 1 - 1e-9])
def test_constant_classifiers_keep_nothing_at_once(threshold):
    """One decision whatever is observed: nothing is needed, and no subset is better."""
    network = random_naive_bayes(16, np.random.default_rng(1))
    classifier = unswayed.Classifier(network, "C", None, ThresholdRule("s0", threshold))
    found = unswayed.trim(classifier, budget=5).selection
    assert found.evaluations < 200
    if found.value > 1 - 1e-13:
        assert found.kept == ()


def test_interruption_ends_a_frontier_with_what_was_found():
    """Ctrl-C in the second search: the first point is there, the second is what was best by then."""
    network = random_naive_bayes(8, np.random.default_rng(0))
    classifier = unswayed.Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    whole = unswayed.frontier(classifier)
    for jobs in (1, 2):
        reports = []

        def report(value, bound, evaluations, seen=reports):
            seen.append(evaluations)
            if evaluations < max(seen):
                raise KeyboardInterrupt

        with compiled_at_once(work=1, alone=-1.0), reporting_always():
            cut = unswayed.frontier(classifier, report=report, jobs=jobs)
        assert 0 < len(cut.points) < len(whole.points)
        first = cut.points[0].selection
        assert first.interrupted
        assert first.upper_bound >= unswayed.trim(classifier, budget=7).selection.value - ENGINE


def test_interruption_ends_a_sweep_with_what_was_found():
    """Ctrl-C in the second search: both thresholds are there, and the others are named."""
    network = random_naive_bayes(8, np.random.default_rng(0))
    classifier = unswayed.Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    seen = []

    def report(value, bound, evaluations):
        seen.append(evaluations)
        if evaluations < max(seen):
            raise KeyboardInterrupt

    with compiled_at_once(work=1), reporting_always():
        cut = unswayed.thresholds(classifier, budget=3, report=report)
    assert [selection.interrupted for selection in cut.selections].count(True) == 1
    assert (len(cut.thresholds), len(cut.left_out)) == (2, 7)


@pytest.mark.parametrize("jobs", [1, 2])
def test_time_running_out_between_slices_leaves_a_valid_gap(jobs):
    network = random_naive_bayes(12, np.random.default_rng(2))
    classifier = unswayed.Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    best = unswayed.trim(classifier, budget=5).selection
    with compiled_at_once(work=1, alone=-1.0):
        for seconds in (1e-9, 2e-3, 1e-2):
            limits = Limits(max_seconds=seconds)
            cut = unswayed.trim(classifier, budget=5, limits=limits, jobs=jobs).selection
            assert cut.value <= best.value + ENGINE <= cut.upper_bound + 2 * ENGINE


@given(purchases(), st.data())
@settings(max_examples=25)
def test_what_a_network_remembers_changes_no_answer(asked, data):
    """Questions put to one network, in any order, are answered as by a copy that remembers nothing."""
    problem, costs, _ = asked
    classifier, evidence = problem.classifier, named_evidence(problem)
    verbs = (unswayed.select, unswayed.trim)
    for _ in range(6):
        verb, budget = data.draw(st.sampled_from(verbs)), data.draw(st.sampled_from([0.0, 1.0, 2.0, 3.5]))
        some_costs = data.draw(st.sampled_from([None, costs]))
        rule = classifier.rule
        if isinstance(rule, ThresholdRule):
            rule = ThresholdRule(rule.positive, data.draw(st.sampled_from([0.3, 0.5, rule.threshold])))
        answers = []
        for network in (classifier.network, pickle.loads(pickle.dumps(classifier.network))):
            asking = unswayed.Classifier(network, classifier.target, classifier.features, rule)
            answer = verb(asking, evidence, budget=budget, costs=some_costs)
            chosen = getattr(answer, "selection", answer)
            answers.append((chosen.kept, chosen.measurement, getattr(answer, "thresholds", None)))
        assert answers[0] == answers[1]


def test_a_table_that_is_remembered_gives_the_same_last_bit():
    """Summed from another marginal, the agreement of keeping nothing was .99, and else .9899999999999999."""
    target, features = Variable("C", ["c0", "c1"]), [Variable(f"F{i}", ["s0", "s1"]) for i in range(3)]
    rows = [[[0.1, 0.9], [0, 1]], [[0, 1], [0.1, 0.9]], [[0, 1], [0.1, 0.9]]]
    tables = [Cpt(feature, [target], row) for feature, row in zip(features, rows, strict=True)]
    asked, fresh = (
        unswayed.Classifier(
            BayesianNetwork([Cpt(target, [], [0.1, 0.9]), *tables]), "C", rule=ThresholdRule("c0", 0.5)
        )
        for _ in range(2)
    )
    unswayed.select(asked, budget=1.0)
    assert unswayed.trim(asked, budget=0.0).agreement == unswayed.trim(fresh, budget=0.0).agreement


@pytest.mark.parametrize("unit", [1e-13, 1e-10, 1e10])
@settings(max_examples=10)
@given(purchases())
def test_the_unit_of_costs_changes_no_choice(unit, purchase):
    problem, costs, budget = purchase
    names = [problem.network.variables[f].name for f in problem.free]
    costs = {name: costs.get(name, 1.0) for name in names}
    priced = {name: unit * cost for name, cost in costs.items()}
    with compiled_at_once():
        own, other = answers(problem, costs, budget), answers(problem, priced, unit * budget)
    assert [each.kept for each in own[:2]] == [each.kept for each in other[:2]]


@pytest.mark.parametrize("rule", [ThresholdRule("s0", 0.5), unswayed.MostProbable()])
def test_a_grid_leaves_out_what_changes_nothing_and_gives_way_to_a_table(rule, monkeypatch):
    monkeypatch.setattr("unswayed.search.plan.QUICK_TABLE", 0.0)  # the grid at once
    tables = list(random_naive_bayes(6, np.random.default_rng(3)).cpts)
    idle = Cpt(Variable("idle", ["x", "y"]), [tables[0].child], [[0.3, 0.7]] * 2)
    network = BayesianNetwork([*tables, idle])
    classifier = unswayed.Classifier(network, "C", None, rule)
    listed = unswayed.trim(classifier, budget=100, method=Method.EXHAUSTIVE)
    assert unswayed.trim(classifier, budget=100).kept == listed.kept != classifier.features
    found = unswayed.trim(classifier, budget=1, potential=True)
    assert found.selection.value == pytest.approx(unswayed.mpa(classifier, kept=found.kept).value, abs=ENGINE)
