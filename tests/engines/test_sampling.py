"""Estimates within a limit on time: fewer samples, a wider interval, never a refusal."""

from __future__ import annotations

import numpy as np
import pytest

import unswayed
from oracles.enumerate_profile import enumerate_profile
from unswayed import Limits, ThresholdRule
from unswayed.core.anytime import within
from unswayed.core.limits import DEFAULT_LIMITS
from unswayed.core.measurement import Certainty
from unswayed.decisions.measures import expected_agreement, maximum_achievable_agreement
from unswayed.decisions.problem import make_problem
from unswayed.engines.protocol import Question
from unswayed.engines.sampling import FIRST_PORTION, SamplingEngine, clopper_pearson, uniform_error
from unswayed.model.zoo import random_naive_bayes

AT_ONCE = Limits(max_seconds=1e-9)


def classifier_of(n_features, seed):
    network = random_naive_bayes(n_features, np.random.default_rng(seed))
    return unswayed.Classifier(network, "C", None, ThresholdRule("s0", 0.5))


@pytest.mark.parametrize("seed", range(4))
def test_time_running_out_leaves_the_samples_decided_by_then(seed):
    problem = make_problem(classifier_of(6, seed))
    kept = frozenset(problem.free[:2])
    truth = expected_agreement(enumerate_profile(problem, kept), problem.decider)
    with within(AT_ONCE):
        cut = SamplingEngine().prepare(problem).agreement(kept, problem.decider, 0.0)
    whole = SamplingEngine().prepare(problem).agreement(kept, problem.decider, 0.0)
    agreeing = cut.middle * FIRST_PORTION
    assert agreeing == pytest.approx(round(agreeing))
    assert (cut.low, cut.high) == clopper_pearson(round(agreeing), FIRST_PORTION, 0.99)
    assert cut.high - cut.low > whole.high - whole.low
    assert cut.low <= truth <= cut.high
    assert whole.low <= truth <= whole.high


def test_portions_give_what_all_samples_at_once_do():
    problem = make_problem(classifier_of(6, 9))
    kept = frozenset(problem.free[:3])
    with within(Limits(max_seconds=600)):
        timed = SamplingEngine().prepare(problem).agreement(kept, problem.decider, 0.0)
    assert timed == SamplingEngine().prepare(problem).agreement(kept, problem.decider, 0.0)


def test_a_question_in_a_hurry_gets_an_estimate_and_no_refusal():
    classifier = classifier_of(8, 1)
    engine = SamplingEngine(n_samples=10**5)
    found = unswayed.sdp(classifier, engine=engine, allow_estimates=True, limits=Limits(max_seconds=0.5))
    assert found.certainty is Certainty.ESTIMATE
    assert found.low <= unswayed.sdp(classifier).value <= found.high


def test_a_tolerance_draws_as_many_samples_as_it_needs():
    classifier = classifier_of(8, 2)
    truth = unswayed.sdp(classifier).value
    found = unswayed.sdp(classifier, engine="sampling", allow_estimates=True, tolerance=0.006)
    assert found.high - found.low <= 0.0061
    assert found.low <= truth <= found.high


@pytest.mark.parametrize("seed", range(6))
def test_the_best_threshold_is_estimated_without_flattering_it(seed):
    """The interval holds the achievable agreement, its lower end what the threshold named achieves."""
    problem = make_problem(classifier_of(7, seed))
    kept = frozenset(problem.free[:3])
    profile = enumerate_profile(problem, kept)
    truth = maximum_achievable_agreement(profile, 0).value
    oracle = SamplingEngine(n_samples=2000).prepare(problem)
    found, best = oracle.achievable(kept, 0, 0.0)
    assert found.certainty is Certainty.ESTIMATE
    assert found.low <= truth <= found.high
    named = ThresholdRule("s0", best.threshold).bind(problem.network.variables[problem.target])
    assert best.value == found.low <= expected_agreement(profile, named)


def test_a_uniform_error_holds_for_all_thresholds_at_once():
    """Massart's bound is for the worst threshold: in 400 trials it fails less often than promised."""
    rng = np.random.default_rng(5)
    n_samples, worst = 50, []
    for _ in range(400):
        posterior = rng.random(n_samples)
        positive = rng.random(n_samples) < posterior
        cuts = np.concatenate([[0.0], np.sort(posterior), [1.0]])
        shares = ((posterior >= cuts[:, np.newaxis]) == positive).mean(axis=1)
        truths = 0.5 + cuts - cuts**2
        worst.append((truths - shares).max())
    assert (np.array(worst) > uniform_error(n_samples, 0.8)).mean() <= 0.1


@pytest.mark.parametrize("limits", [DEFAULT_LIMITS, AT_ONCE])
def test_single_features_share_the_samples(limits):
    problem = make_problem(classifier_of(5, 3))
    with within(limits):
        singles = SamplingEngine().prepare(problem).singles(problem.decider, 0.0)
    found = {feature: told.agreement for feature, told in singles.items()}
    assert set(found) == set(problem.free)
    assert len({round(interval.high - interval.low, 1) for interval in found.values()}) <= 2
    for feature, interval in found.items():
        truth = expected_agreement(enumerate_profile(problem, frozenset({feature})), problem.decider)
        assert interval.low <= truth <= interval.high
        with within(limits):
            alone = SamplingEngine().prepare(problem).agreement(frozenset({feature}), problem.decider, 0.0)
        assert interval == alone


def test_achievable_agreement_is_estimated_where_nothing_exact_is_in_time():
    classifier = classifier_of(8, 4)
    kept = classifier.features[:3]
    truth = unswayed.maa(classifier, kept=kept)
    found = unswayed.maa(classifier, kept=kept, engine="sampling", allow_estimates=True)
    assert found.certainty is Certainty.ESTIMATE
    assert found.low <= truth.value <= found.high
    assert found.thresholds is not None


def test_no_more_samples_are_drawn_than_the_memory_holds():
    classifier = classifier_of(8, 5)
    truth = unswayed.sdp(classifier).value
    widths = []
    for max_bytes in (10**9, 10**6):
        problem = make_problem(classifier)
        with within(Limits(max_bytes=max_bytes)):
            price = SamplingEngine().cost(problem, Question(frozenset()))
            oracle = SamplingEngine().prepare(problem)
        assert price.n_bytes <= max_bytes
        assert oracle.samples.size <= max_bytes / 100
        found = oracle.agreement(frozenset(), problem.decider, 0.0)
        assert found.low <= truth <= found.high
        widths.append(found.high - found.low)
    assert widths[0] < widths[1]
