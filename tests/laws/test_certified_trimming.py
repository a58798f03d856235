"""Beyond tables, what a trimming promises holds: forced on classifiers small enough to enumerate."""

from __future__ import annotations

import numpy as np
import pytest

import unswayed
from clocks import time_running_out
from dependent_cases import random_problem, random_tree
from oracles.enumerate_profile import enumerate_profile
from unswayed.api.selection import frontier, trim
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import (
    expected_agreement,
    maximum_achievable_agreement,
)
from unswayed.decisions.problem import make_problem
from unswayed.decisions.purchase import Purchase, SetUp
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.engines.sums import engine as sums_engine
from unswayed.search import plan, sampled_choice

ROUNDING = 1e-12
SHORT = Limits(max_seconds=2.0)


@pytest.fixture(autouse=True)
def beyond_tables(monkeypatch):
    """No table fits, few samples are drawn, and the time passes alike on every machine."""
    monkeypatch.setattr(plan, "LARGEST_TABLE", 1.0)  # a single row is one
    monkeypatch.setattr(sampled_choice, "N_SAMPLES", 400)
    with time_running_out(stride=2e-3):
        yield


def check_trimming(problem, found):
    """The interval, and the thresholds, beside enumeration."""
    kept = problem.kept(found.kept)
    profile = enumerate_profile(problem, kept)
    low, high = found.selection.interval or (found.selection.value,) * 2
    decider = problem.decider
    if found.threshold_interval is not None:
        positive = problem.network.variables[problem.target].index(problem.classifier.rule.positive)
        best = maximum_achievable_agreement(profile, positive).value
        assert low - ROUNDING <= best <= high + ROUNDING
        first, last = found.threshold_interval
        # The end itself is the edge of a tie: enumeration may round to its other side.
        for threshold in (found.threshold, first + 0.9 * (last - first), last - 1e-9 * (last - first)):
            if 0.0 < threshold < 1.0:
                decider = ThresholdRule(problem.classifier.rule.positive, threshold).bind(
                    problem.network.variables[problem.target]
                )
                assert expected_agreement(profile, decider) >= low - ROUNDING
    else:
        assert low - ROUNDING <= expected_agreement(profile, decider) <= high + ROUNDING
    assert low <= found.selection.value <= high


def run_case(rng):
    problem = random_problem(rng, 6)
    classifier = problem.classifier
    names = problem.network.variables
    evidence = {names[v].name: names[v].states[state] for v, state in problem.evidence.items()}
    budget = float(rng.integers(0, len(problem.free) + 1))
    try:
        found = trim(classifier, budget=budget, evidence=evidence, limits=SHORT)
    except LimitError:
        pytest.fail("a choice among few features can always be certified")
    assert found.cost <= budget
    if found.selection.engine == "sums":
        check_trimming(problem, found)
        if found.optimal:
            assert found.selection.value == 1.0


@pytest.mark.parametrize("most_rows", [0, 2**14], ids=["unlisted", "listed"])
@pytest.mark.parametrize("seed", range(12))
def test_the_promise_of_a_trimming_holds(seed, most_rows, monkeypatch):
    """Two to five classes, many-valued, with zeros, ties, hidden variables and evidence."""
    monkeypatch.setattr(sums_engine, "MOST_ROWS", most_rows)
    run_case(np.random.default_rng([6, seed]))


@pytest.mark.slow
@pytest.mark.parametrize("most_rows", [0, 2**14], ids=["unlisted", "listed"])
@pytest.mark.parametrize("block", range(10))
def test_the_promise_holds_in_many_cases(block, most_rows, monkeypatch):
    monkeypatch.setattr(sums_engine, "MOST_ROWS", most_rows)
    for seed in range(40):
        run_case(np.random.default_rng([7, block, seed]))


def tree(seed: int, n: int = 8, classes: int = 2) -> Classifier:
    network = random_tree(np.random.default_rng(seed), n, classes=classes)
    rule = ThresholdRule("c0", 0.45) if classes == 2 else MostProbable()
    return Classifier(network, "C", network.names[1:], rule)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_choice_is_nearly_the_best(classes, monkeypatch):
    """What samples choose agrees within a few hundredths as often as the proven best."""
    full = tree(1, classes=classes)
    found = trim(full, budget=3, limits=SHORT)
    assert (found.selection.engine, found.selection.certainty) == ("sums", Certainty.BOUND)
    monkeypatch.setattr(plan, "LARGEST_TABLE", 2.0**24)
    best = trim(full, budget=3)
    assert best.optimal
    assert found.selection.interval[0] <= best.selection.value + ROUNDING
    assert found.selection.interval[1] >= best.selection.value - 0.03


def test_a_selection_is_certified():
    full = tree(2, classes=3)
    chosen = unswayed.select(full, budget=3, costs={"F0": 2.5}, limits=SHORT)
    profile = enumerate_profile(make_problem(full), make_problem(full).kept(chosen.kept))
    low, high = chosen.interval
    assert low - ROUNDING <= expected_agreement(profile, full.decider) <= high + ROUNDING
    assert chosen.cost <= 3
    assert not chosen.optimal
    assert chosen.gap == pytest.approx(1.0 - low)


def test_a_table_of_decisions_is_certified():
    full = tree(3)
    found = trim(full, budget=3, potential=True, limits=SHORT)
    assert isinstance(found.classifier, TableClassifier)
    problem = make_problem(full)
    profile = enumerate_profile(problem, problem.kept(found.kept))
    # The oracle's rows are in the order of the table's features: both ascending, the last fastest.
    decisions = found.classifier.decision_mass.argmax(axis=1)
    exact = profile.decision_mass[np.arange(len(decisions)), decisions].sum()
    low, high = found.selection.interval
    assert low - ROUNDING <= exact <= high + ROUNDING


def test_everything_kept_agrees_always():
    found = trim(tree(4), budget=8, limits=SHORT)
    assert (found.selection.value, found.optimal, found.selection.interval) == (1.0, True, None)


@pytest.mark.parametrize("classes", [2, 3])
def test_points_of_a_frontier_are_certified(classes):
    full = tree(5, classes=classes)
    points = frontier(full, limits=Limits(max_seconds=6.0)).points
    costs = [point.cost for point in points]
    values = [point.selection.value for point in points]
    assert costs == sorted(set(costs))
    assert values == sorted(values)
    assert points[-1].selection.value == 1.0
    for point in points:
        check_trimming(make_problem(full), point)


def test_a_frontier_in_little_time_begins_with_few_features():
    """300 looks at the clock are too few for all budgets of eight features; few features are worth most."""
    costs = [point.cost for point in frontier(tree(9), limits=Limits(max_seconds=1.5)).points]
    assert costs[:2] == [0.0, 1.0]
    assert costs[-1] == 8.0


def test_groups_and_set_up_costs_are_respected():
    full = tree(6)
    purchase = Purchase(
        {"panel": 2.0},
        groups={"panel": ("F0", "F1")},
        set_ups={"blood": SetUp(1.0, ("panel", "F2"))},
        needs={"F3": ("F4",)},
        mandatory=("F5",),
    )
    found = trim(full, budget=4, costs=purchase, limits=SHORT)
    kept = set(found.kept)
    assert "F5" in kept
    assert {"F0", "F1"} <= kept or not {"F0", "F1"} & kept
    assert "F3" not in kept or "F4" in kept
    assert found.cost <= 4
    check_trimming(make_problem(full), found)


def test_what_no_sums_bound_needs_leave_to_estimate(monkeypatch):
    full = tree(7)

    def refuse(problem):
        raise LimitError("hidden variables tie features together")

    monkeypatch.setattr(plan, "prepare_sums", refuse)
    with pytest.raises(LimitError, match="allow_estimates=True"):
        trim(full, budget=3, limits=SHORT)
    found = trim(full, budget=3, limits=SHORT, allow_estimates=True)
    assert found.selection.certainty is Certainty.ESTIMATE
