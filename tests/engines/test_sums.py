"""Certified intervals of sums over a network hold what enumeration gives, and are as narrow as asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dependent_cases import random_problem, random_tree
from engines.test_contract import other_threshold, problems
from oracles.enumerate_profile import enumerate_profile
from unswayed.core.anytime import within
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import (
    expected_agreement,
    maximum_achievable_agreement,
    maximum_potential_agreement,
)
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import MostProbable, ThresholdRule, UtilityRule
from unswayed.engines.dense import DenseEngine
from unswayed.engines.log_odds import LogOddsEngine
from unswayed.engines.protocol import Question, Refusal
from unswayed.engines.sums.engine import SumsEngine
from unswayed.engines.weights.separator import SeparatorWay
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import random_naive_bayes

ROUNDING = 1e-12


def assert_holds(interval, value):
    assert interval.certainty is Certainty.BOUND
    assert interval.low - ROUNDING <= value <= interval.high + ROUNDING


def check_all_questions(problem, kept, tolerance):
    """Every answer of the oracle beside enumeration."""
    oracle, decider = SumsEngine().prepare(problem), problem.decider
    profile = enumerate_profile(problem, kept)
    assert_holds(oracle.agreement(kept, decider, tolerance), expected_agreement(profile, decider))
    assert_holds(oracle.potential(kept, tolerance), maximum_potential_agreement(profile))
    rule = problem.classifier.rule
    if isinstance(rule, ThresholdRule):
        positive = problem.network.variables[problem.target].index(rule.positive)
        found, _ = oracle.achievable(kept, positive, tolerance)
        assert_holds(found, maximum_achievable_agreement(profile, positive).value)
    for feature, told in oracle.singles(decider, tolerance).items():
        single = enumerate_profile(problem, frozenset({feature}))
        assert_holds(told.agreement, expected_agreement(single, decider))


def check_lists(problem, kept):
    """Exact answers of two lists, where they answer, beside enumeration."""
    if isinstance(SeparatorWay().cost(problem, Question(kept)), Refusal):
        return
    found, exact = SeparatorWay().prepare(problem).profile(kept), enumerate_profile(problem, kept)
    for measure in (maximum_potential_agreement, lambda p: expected_agreement(p, problem.decider)):
        assert measure(found) == pytest.approx(measure(exact), abs=1e-9)


@given(problems(), st.sampled_from([1e-3, 0.1]), st.data())
def test_interval_holds_the_enumerated_agreement(asked, tolerance, data):
    problem, kept = asked
    decider = other_threshold(problem, data)
    exact = expected_agreement(enumerate_profile(problem, kept), decider)
    assert_holds(SumsEngine().prepare(problem).agreement(kept, decider, tolerance), exact)


@pytest.mark.parametrize("seed", range(40))
def test_every_answer_holds_what_enumeration_gives(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 5)
    kept = frozenset(f for f in problem.free if rng.random() < 0.3)
    check_all_questions(problem, kept, 3e-2)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100))
def test_ten_thousand_cases_hold_what_enumeration_gives(block):
    for seed in range(100 * block, 100 * block + 100):
        rng = np.random.default_rng([1, seed])
        problem = random_problem(rng, 11 if seed % 20 == 0 else 6)
        kept = frozenset(f for f in problem.free if rng.random() < 0.3)
        check_all_questions(problem, kept, float(rng.choice([0.1, 1e-2, 1e-3])))
        check_lists(problem, kept)


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in range(1, 40))])
def test_sixteen_features_as_by_the_full_table(seed):
    """Trees of up to five classes, beyond what enumeration has time for."""
    rng = np.random.default_rng([2, seed])
    classes = 2 + seed % 4
    network = random_tree(rng, 16, sizes=(2, 3), classes=classes)
    rule = MostProbable() if seed % 3 else ThresholdRule("c0", 0.4)
    names = rng.choice(network.names[1:], int(rng.integers(0, 5)), replace=False)
    evidence = {name: str(rng.choice(network.variable(name).states)) for name in names}
    problem = make_problem(Classifier(network, "C", network.names[1:], rule), evidence)
    with within(Limits(max_seconds=1.0)):
        dense, sums = (engine.prepare(problem) for engine in (DenseEngine(), SumsEngine()))
    for kept in (frozenset(), frozenset(problem.free[:2])):
        exact = expected_agreement(dense.profile(kept), problem.decider)
        assert_holds(sums.agreement(kept, problem.decider, 1e-3), exact)
    for feature, told in sums.singles(problem.decider, 1e-2).items():
        assert_holds(told.agreement, expected_agreement(dense.profile(frozenset({feature})), problem.decider))


@pytest.mark.parametrize("seed", range(2))
def test_trees_to_a_hundredth_of_a_percent(seed):
    """Where the sums are not lumpy, the interval is as narrow as asked, and holds what a full table gives."""
    rng = np.random.default_rng(seed)
    network = random_tree(rng, 12)
    problem = make_problem(Classifier(network, "C", network.names[1:], ThresholdRule("c0", 0.3 + 0.1 * seed)))
    dense, sums = (engine.prepare(problem) for engine in (DenseEngine(), SumsEngine()))
    for size in (0, 1, 3):
        kept = frozenset(int(v) for v in rng.choice(problem.free, size, replace=False))
        profile = dense.profile(kept)
        found = sums.agreement(kept, problem.decider, 1e-4)
        assert_holds(found, expected_agreement(profile, problem.decider))
        assert found.high - found.low <= 1e-4
        found, best = sums.achievable(kept, 0, 1e-3)
        assert_holds(found, maximum_achievable_agreement(profile, 0).value)
        achieved = ThresholdRule("c0", best.threshold).bind(network.variable("C"))
        assert expected_agreement(profile, achieved) >= found.low - ROUNDING


@pytest.mark.parametrize("n", [30, 40])
def test_naive_bayes_as_by_meeting_in_the_middle(n):
    network = random_naive_bayes(n, np.random.default_rng(n))
    problem = make_problem(Classifier(network, "C", None, ThresholdRule("s0", 0.6)))
    exact, sums = (engine.prepare(problem) for engine in (LogOddsEngine(), SumsEngine()))
    kept = frozenset(problem.free[:4])
    for chosen in (frozenset(), kept):
        truth = exact.agreement(chosen, problem.decider, 0.0).low
        found = sums.agreement(chosen, problem.decider, 1e-5)
        assert_holds(found, truth)
        assert found.high - found.low <= 1e-5
    assert_holds(sums.potential(kept, 1e-4), exact.potential(kept, 0.0).low)


@pytest.mark.parametrize(("classes", "n", "tolerance"), [(2, 15, 1e-3), (3, 5, 3e-2), (5, 4, 0.2)])
def test_single_features_as_one_by_one(classes, n, tolerance):
    network = random_tree(np.random.default_rng(3), n, classes=classes)
    rule = ThresholdRule("c1", 0.5) if classes == 2 else MostProbable()
    problem = make_problem(Classifier(network, "C", network.names[1:], rule))
    oracle = SumsEngine().prepare(problem)
    for feature, told in oracle.singles(problem.decider, tolerance).items():
        together = told.agreement
        alone = oracle.agreement(frozenset({feature}), problem.decider, tolerance)
        assert together.high - together.low <= tolerance
        assert max(together.low, alone.low) <= min(together.high, alone.high) + ROUNDING


@pytest.mark.parametrize(
    "rule",
    [
        MostProbable(),
        ThresholdRule("c1", 0.4),
        UtilityRule({f"a{i}": {f"c{k}": float(i == k) * (1 + i) for k in range(3)} for i in range(3)}),
        UtilityRule({"go": {"c0": 3.0, "c1": 1.0, "c2": -2.0}, "stay": {"c0": 0.0, "c1": 0.0, "c2": 0.0}}),
    ],
    ids=["most probable", "threshold", "weighted classes", "several classes weigh"],
)
def test_several_classes(rule):
    rng = np.random.default_rng(8)
    network = random_tree(rng, 8, classes=3)
    problem = make_problem(Classifier(network, "C", network.names[1:], rule))
    check_all_questions(problem, frozenset(problem.free[:2]), 1e-2)


@pytest.mark.parametrize("seed", range(3))
def test_three_classes_close_where_two_are_ahead(seed):
    """Two sums together tell how often two rivals are ahead at once, which pairs of classes cannot."""
    network = random_tree(np.random.default_rng(seed), 9, classes=3)
    problem = make_problem(Classifier(network, "C", network.names[1:], MostProbable()))
    exact = expected_agreement(DenseEngine().prepare(problem).profile(frozenset()), problem.decider)
    found = SumsEngine().prepare(problem).agreement(frozenset(), problem.decider, 5e-3)
    assert_holds(found, exact)
    assert found.high - found.low <= 5e-3


def test_a_strong_classifier_of_ten_classes_is_narrow():
    """Where one class stands out in nearly every outcome, nothing is lost by looking at pairs."""
    rng = np.random.default_rng(1)
    target = Variable("C", [f"c{i}" for i in range(10)])
    cpts = [Cpt(target, [], [[0.1] * 10])]
    for i in range(60):
        feature = Variable(f"F{i}", ["a", "b", "c"])
        cpts.append(Cpt(feature, [target], rng.dirichlet(np.full(3, 0.5), 10)))
    classifier = Classifier(BayesianNetwork(cpts), "C", [f"F{i}" for i in range(60)], MostProbable())
    problem = make_problem(classifier)
    found = SumsEngine().prepare(problem).agreement(frozenset(), problem.decider, 1e-3)
    assert found.high - found.low <= 2e-3


def test_hidden_variables_that_tie_many_features_are_refused_by_name():
    hidden, target = Variable("H", ["x", "y"]), Variable("C", ["c0", "c1"])
    features = [Variable(f"F{i}", ["a", "b"]) for i in range(30)]
    cpts = [
        Cpt(target, [], [[0.5, 0.5]]),
        Cpt(hidden, [target], [[0.2, 0.8], [0.6, 0.4]]),
        *(Cpt(f, [hidden], [[0.3, 0.7], [0.8, 0.2]]) for f in features),
    ]
    names = [f.name for f in features]
    problem = make_problem(Classifier(BayesianNetwork(cpts), "C", names, ThresholdRule("c0", 0.5)))
    price = SumsEngine().cost(problem, Question(frozenset(), tolerance=1e-3))
    assert isinstance(price, Refusal)
    assert "hidden variables tie 30 features together" in price.reason


def test_time_ends_the_refinement_with_what_is_certain_so_far():
    network = random_tree(np.random.default_rng(0), 200)
    problem = make_problem(Classifier(network, "C", network.names[1:], ThresholdRule("c0", 0.5)))
    with within(Limits(max_seconds=0.3)):
        oracle = SumsEngine().prepare(problem)
    found = oracle.agreement(frozenset(), problem.decider, 1e-9)
    assert 0.0 <= found.low < found.high <= 1.0
