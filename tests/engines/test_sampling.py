"""Estimates within a limit on time: fewer samples, a wider interval, never a refusal."""

from __future__ import annotations

import numpy as np
import pytest

import unswayed
from oracles.enumerate_profile import enumerate_profile
from unswayed import Limits, ThresholdRule
from unswayed.core.limits import DEFAULT_LIMITS
from unswayed.core.measurement import Certainty
from unswayed.decisions.measures import expected_agreement
from unswayed.decisions.problem import make_problem
from unswayed.engines.sampling import FIRST_PORTION, SamplingEngine, clopper_pearson
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
    cut = SamplingEngine().prepare(problem, AT_ONCE).agreement(kept, problem.decider, 0.0)
    whole = SamplingEngine().prepare(problem, DEFAULT_LIMITS).agreement(kept, problem.decider, 0.0)
    agreeing = cut.middle * FIRST_PORTION
    assert agreeing == pytest.approx(round(agreeing))
    assert (cut.low, cut.high) == clopper_pearson(round(agreeing), FIRST_PORTION, 0.99)
    assert cut.high - cut.low > whole.high - whole.low
    assert cut.low <= truth <= cut.high
    assert whole.low <= truth <= whole.high


def test_portions_give_what_all_samples_at_once_do():
    problem = make_problem(classifier_of(6, 9))
    kept = frozenset(problem.free[:3])
    timed = SamplingEngine().prepare(problem, Limits(max_seconds=600)).agreement(kept, problem.decider, 0.0)
    assert timed == SamplingEngine().prepare(problem, DEFAULT_LIMITS).agreement(kept, problem.decider, 0.0)


def test_a_question_in_a_hurry_gets_an_estimate_and_no_refusal():
    classifier = classifier_of(8, 1)
    engine = SamplingEngine(n_samples=10**5)
    found = unswayed.same_decision_probability(
        classifier, engine=engine, allow_estimates=True, limits=Limits(max_seconds=0.5)
    )
    assert found.certainty is Certainty.ESTIMATE
    assert found.low <= unswayed.same_decision_probability(classifier).value <= found.high


def test_a_tolerance_draws_as_many_samples_as_it_needs():
    classifier = classifier_of(8, 2)
    truth = unswayed.same_decision_probability(classifier).value
    found = unswayed.same_decision_probability(
        classifier, engine="sampling", allow_estimates=True, tolerance=0.006
    )
    assert found.high - found.low <= 0.0061
    assert found.low <= truth <= found.high
