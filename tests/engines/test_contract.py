"""One contract for every engine: where it answers, it answers as enumeration does, or between true bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from oracles.enumerate_profile import enumerate_profile
from strategies import classifiers
from tolerances import ENGINE
from unswayed.core.errors import ImpossibleEvidence
from unswayed.core.measurement import Certainty
from unswayed.decisions.measures import expected_agreement, maximum_potential_agreement
from unswayed.decisions.oracle import AgreementOracle
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.choice import BASELINES, ENGINES
from unswayed.engines.protocol import Needs, Question, Refusal

EXACT_ENGINES = [engine for engine in (*ENGINES, *BASELINES) if engine.certainty is Certainty.EXACT]


@st.composite
def problems(draw):
    """A problem with some evidence, and a kept set."""
    classifier = draw(classifiers())
    network = classifier.network
    observable = [name for name in network.names if name != "C"]
    observed = draw(st.sets(st.sampled_from(observable), max_size=2))
    evidence = {name: draw(st.sampled_from(network.variable(name).states)) for name in sorted(observed)}
    try:
        problem = make_problem(classifier, evidence)
    except ImpossibleEvidence:
        assume(False)
    kept = draw(st.sets(st.sampled_from(problem.free))) if problem.free else set()
    return problem, frozenset(kept)


@pytest.mark.parametrize("engine", EXACT_ENGINES, ids=lambda engine: engine.name)
@given(problems(), st.data())
def test_exact_agreements_match_enumeration(engine, asked, data):
    problem, kept = asked
    if isinstance(engine.cost(problem, Question(kept)), Refusal):
        return
    expected = enumerate_profile(problem, kept)
    decider = other_threshold(problem, data)
    oracle = engine.prepare(problem)
    value = (
        oracle.agreement(kept, decider, 0.0).low
        if isinstance(oracle, AgreementOracle)
        else expected_agreement(oracle.profile(kept), decider)
    )
    assert value == pytest.approx(expected_agreement(expected, decider), abs=ENGINE)


def other_threshold(problem, data):
    """The classifier's own decider, or for threshold rules one with another threshold."""
    rule = problem.classifier.rule
    if not isinstance(rule, ThresholdRule) or data.draw(st.booleans()):
        return problem.decider
    other = ThresholdRule(rule.positive, data.draw(st.floats(0.05, 0.95)))
    return other.bind(problem.network.variables[problem.target])


@pytest.mark.parametrize("engine", EXACT_ENGINES, ids=lambda engine: engine.name)
@given(problems())
def test_exact_potential_matches_enumeration(engine, asked):
    problem, kept = asked
    if isinstance(engine.cost(problem, Question(kept)), Refusal):
        return
    expected = maximum_potential_agreement(enumerate_profile(problem, kept))
    oracle = engine.prepare(problem)
    value = (
        oracle.potential(kept, 0.0).low
        if isinstance(oracle, AgreementOracle)
        else maximum_potential_agreement(oracle.profile(kept))
    )
    assert value == pytest.approx(expected, abs=ENGINE)


@pytest.mark.parametrize("engine", EXACT_ENGINES, ids=lambda engine: engine.name)
@given(problems())
def test_profiles_have_the_rows_of_enumeration(engine, asked):
    """Rows of equal posterior and shares may be merged; otherwise the profiles are the same."""
    problem, kept = asked
    if isinstance(engine.cost(problem, Question(kept, Needs.ROWS)), Refusal):
        return
    oracle = engine.prepare(problem)
    if not hasattr(oracle, "profile"):
        return
    found, expected = oracle.profile(kept), enumerate_profile(problem, kept)
    for wave in range(5):
        assert _fingerprint(found, wave) == pytest.approx(_fingerprint(expected, wave), abs=1e-8)


def _fingerprint(profile, wave):
    """A sum over rows that merging rows of equal posterior and shares leaves as it is, and little else."""
    mass = profile.class_mass.sum(axis=1)
    place = np.hstack([profile.class_mass, profile.decision_mass]) / mass[:, np.newaxis]
    direction = np.random.default_rng(wave).normal(size=place.shape[1])
    return float(mass @ np.sin(3 * place @ direction))
