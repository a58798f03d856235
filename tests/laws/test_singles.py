"""Every single feature in one pass tells what each of them tells by itself, for every engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from dependent_cases import random_problem
from naive_cases import naive_problems
from oracles.enumerate_profile import enumerate_profile
from strategies import classifiers
from tolerances import ENGINE
from unswayed import Classifier, ThresholdRule, voi
from unswayed.core.errors import ImpossibleEvidence
from unswayed.core.measurement import Certainty
from unswayed.decisions.measures import chance_settled, expected_agreement
from unswayed.decisions.oracle import find_singles
from unswayed.decisions.problem import make_problem
from unswayed.engines.choice import ENGINES
from unswayed.engines.protocol import Needs, Question, Refusal
from unswayed.engines.weights.separator import SeparatorWay
from unswayed.model.zoo import random_naive_bayes

CERTAIN = [*(engine for engine in ENGINES if engine.certainty is not Certainty.ESTIMATE), SeparatorWay()]
LEVELS = 0.5, 0.7, 0.9, 0.95, 1.0


def check_singles(engine, problem, tolerance):
    """Agreements and chances of every feature beside enumeration; None is no chance, and never wrong."""
    question = Question(frozenset(), Needs.SINGLES, tolerance)
    if isinstance(engine.cost(problem, question), Refusal):
        return
    found = find_singles(engine.prepare(problem), problem.free, problem.decider, tolerance)
    assert tuple(found) == problem.free
    for feature, told in found.items():
        profile = enumerate_profile(problem, frozenset({feature}))
        truth = expected_agreement(profile, problem.decider)
        assert told.agreement.low - ENGINE <= truth <= told.agreement.high + ENGINE
        for level in LEVELS:
            chance = told.chance_settled(level)
            if chance is None:
                assert engine.certainty is Certainty.BOUND
                continue
            least, most = (
                chance_settled(profile, problem.decider, each) for each in (level + ENGINE, level - ENGINE)
            )
            assert least - ENGINE <= chance <= most + ENGINE


@st.composite
def problems(draw):
    """A classifier of any kind with some evidence."""
    classifier = draw(classifiers())
    network = classifier.network
    observed = draw(st.sets(st.sampled_from([name for name in network.names if name != "C"]), max_size=2))
    evidence = {name: draw(st.sampled_from(network.variable(name).states)) for name in sorted(observed)}
    try:
        return make_problem(classifier, evidence)
    except ImpossibleEvidence:
        assume(False)


@pytest.mark.parametrize("engine", CERTAIN, ids=lambda engine: type(engine).__name__ + engine.name)
@settings(max_examples=40)
@given(problem=problems(), tolerance=st.sampled_from([1e-2, 1e-3]))
def test_all_single_features_are_as_enumerated(engine, problem, tolerance):
    check_singles(engine, problem, tolerance)


@pytest.mark.parametrize("engine", CERTAIN, ids=lambda engine: type(engine).__name__ + engine.name)
@settings(max_examples=25)
@given(problem=naive_problems(), tolerance=st.sampled_from([1e-2, 1e-3]))
def test_all_single_features_of_naive_bayes_are_as_enumerated(engine, problem, tolerance):
    check_singles(engine, problem, tolerance)


@pytest.mark.slow
def test_all_single_features_in_many_random_cases():
    """Ten thousand problems of dependent features, several classes, zeros and ties; circuits take longest."""
    rng = np.random.default_rng(29)
    for number in range(10_000):
        problem = random_problem(rng, 5)
        for engine in CERTAIN:
            if engine.name != "circuit" or number % 10 == 0:
                check_singles(engine, problem, 1e-2)


def test_a_ranking_knows_every_chance_to_be_done():
    network = random_naive_bayes(27, np.random.default_rng(1))
    ranking = voi(Classifier(network, "C", None, ThresholdRule("s0", 0.5)))
    assert len(ranking.done) == 27
    assert None not in ranking.done
