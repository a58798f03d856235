"""Certified intervals hold the exact value, and are as narrow as asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import unswayed
from engines.test_contract import other_threshold, problems
from naive_cases import naive_problems
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
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines import naive_bayes
from unswayed.engines.log_odds import LogOddsEngine
from unswayed.engines.protocol import Needs, Question, Refusal
from unswayed.engines.sums.grid_bounds import GridWay
from unswayed.model.zoo import binary_network, random_naive_bayes

ROUNDING = 1e-12


@given(problems(), st.sampled_from([1e-6, 1e-3, 0.1]), st.data())
def test_interval_holds_the_enumerated_agreement(asked, tolerance, data):
    problem, kept = asked
    if isinstance(GridWay().cost(problem, Question(kept, tolerance=tolerance)), Refusal):
        return
    decider = other_threshold(problem, data)
    exact = expected_agreement(enumerate_profile(problem, kept), decider)
    found = GridWay().prepare(problem).agreement(kept, decider, tolerance)
    assert found.certainty is Certainty.BOUND
    assert found.low - ROUNDING <= exact <= found.high + ROUNDING


@given(problems(), st.sampled_from([1e-6, 1e-3, 0.1]))
def test_interval_holds_the_enumerated_potential(asked, tolerance):
    problem, kept = asked
    question = Question(kept, Needs.POTENTIAL, tolerance)
    if isinstance(GridWay().cost(problem, question), Refusal):
        return
    exact = maximum_potential_agreement(enumerate_profile(problem, kept))
    found = GridWay().prepare(problem).potential(kept, tolerance)
    assert found.low - ROUNDING <= exact <= found.high + ROUNDING


def naive(n, seed, threshold=0.5):
    network = random_naive_bayes(n, np.random.default_rng(seed))
    return make_problem(Classifier(network, "C", None, ThresholdRule("s0", threshold)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [12, 24, 30])
def test_interval_holds_what_meeting_in_the_middle_finds(n, seed):
    problem = naive(n, seed, 0.3 + 0.1 * seed)
    exact, bounded = (e.prepare(problem) for e in (LogOddsEngine(), GridWay()))
    rng = np.random.default_rng(seed)
    for size in (0, n // 3, n - 4):
        kept = frozenset(int(v) for v in rng.choice(problem.free, size, replace=False))
        truth = exact.agreement(kept, problem.decider, 0.0).low
        found = bounded.agreement(kept, problem.decider, 1e-4)
        assert found.low - ROUNDING <= truth <= found.high + ROUNDING
        assert found.high - found.low <= 1e-4
        truth = exact.potential(kept, 0.0).low
        found = bounded.potential(kept, 1e-4)
        assert found.low - ROUNDING <= truth <= found.high + ROUNDING
        assert found.high - found.low <= 1e-4


@pytest.mark.parametrize("strength", [0.02, 0.1, 0.5, 2.0])
def test_a_thousand_features_to_a_thousandth(strength):
    """Weak features are the hard case: the sum's bell curve then stands right over the threshold."""
    rng = np.random.default_rng(5)
    tables = {"C": ((), [0.5])}
    for i in range(1000):
        centre, lean = rng.normal(), strength * rng.normal()
        tables[f"F{i}"] = (("C",), [float(_sigmoid(centre + lean)), float(_sigmoid(centre - lean))])
    problem = make_problem(Classifier(binary_network(tables), "C", None, ThresholdRule("+", 0.5)))
    oracle = GridWay().prepare(problem)
    found = oracle.agreement(frozenset(), problem.decider, 1e-3)
    assert found.high - found.low <= 1e-3
    estimate = _simulated_share(problem, rng)
    assert found.low - 0.02 <= estimate <= found.high + 0.02


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _simulated_share(problem, rng, count=4000):
    """Share of simulated instantiations whose posterior repeats the decision without any: error below .02."""
    network = problem.network
    classes = (rng.random(count) >= problem.prior[0]).astype(int)
    odds = np.full(count, np.log(problem.prior[0] / problem.prior[1]))
    for feature in problem.free:
        table = network.cpts[feature].table
        states = (rng.random(count) >= table[classes, 0]).astype(int)
        odds += np.log(table[0, states] / table[1, states])
    now = problem.decider.decide(problem.prior[np.newaxis])[0]
    return float(np.mean(problem.decider.decide_log_odds(odds) == now))


def test_identical_features_are_counted_exactly():
    """Twenty equal coins: the sum is binomial, so the SDP is a binomial tail."""
    from scipy.stats import binom

    tables = {"C": ((), [0.5])} | {f"F{i}": (("C",), [0.6, 0.4]) for i in range(21)}
    problem = make_problem(Classifier(binary_network(tables), "C", None, ThresholdRule("+", 0.5)))
    truth = 0.5 * (binom.sf(10, 21, 0.6) + binom.sf(10, 21, 0.4))
    exact = LogOddsEngine().prepare(problem).agreement(frozenset(), problem.decider, 0.0)
    found = GridWay().prepare(problem).agreement(frozenset(), problem.decider, 1e-9)
    assert exact.low == pytest.approx(truth, abs=1e-12)
    assert found.low - ROUNDING <= truth <= found.high + ROUNDING
    assert found.high - found.low <= 1e-4


def test_time_limit_gives_the_best_interval_so_far():
    problem = naive(300, 1)
    with within(Limits(max_seconds=1e-6)):
        found = GridWay().prepare(problem).agreement(frozenset(problem.free[:150]), problem.decider, 1e-12)
    assert 0.0 <= found.low <= found.high <= 1.0


def test_exact_questions_are_refused():
    answer = GridWay().cost(naive(50, 0), Question(frozenset()))
    assert isinstance(answer, Refusal)
    assert "pass a tolerance" in answer.reason


@given(naive_problems(max_features=5), st.data())
@settings(max_examples=20, deadline=None)
def test_achievable_agreement_is_between_its_bounds(problem, data):
    """Without lists: the best threshold is within the interval, and the one given achieves its lower end."""
    kept = frozenset(f for f in problem.free if data.draw(st.booleans()))
    decider = problem.decider
    oracle = GridWay().prepare(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(naive_bayes, "LISTED_BITS", -1.0)
        interval, best = oracle.achievable(kept, decider.upper, 1e-3)
    profile = enumerate_profile(problem, kept)
    exact = maximum_achievable_agreement(profile, decider.upper).value
    assert interval.low - ROUNDING <= exact <= interval.high + ROUNDING
    target = problem.network.variables[problem.target]
    rule = ThresholdRule(target.states[decider.upper], best.threshold).bind(target)
    assert interval.low <= expected_agreement(profile, rule) + ROUNDING


def test_achievable_agreement_of_a_hundred_features():
    """A third of a hundred features: the interval holds what samples show, as narrow as one asks for."""
    rng = np.random.default_rng(3)
    classifier = Classifier(random_naive_bayes(100, rng), "C", None, ThresholdRule("s0", 0.5))
    kept = classifier.features[:33]
    found = unswayed.maa(classifier, kept=kept)
    assert found.engine == "sums"
    assert found.high - found.low < 1e-3
    own = unswayed.esdp(classifier, kept=kept, tolerance=1e-4)
    assert own.low <= found.high
