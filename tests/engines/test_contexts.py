"""Decisions about a node with contexts: small ones against the definitions, large ones against counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom

import unswayed
from focs_strategies import bit
from mixed_strategies import distributions, step_functions
from oracles.enumerate_profile import enumerate_profile
from tolerances import ENGINE
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import expected_agreement
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.engines.circuit import ContextsWay
from unswayed.engines.protocol import Question, Refusal
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork, to_tables
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.steps import StepContexts, StepNetwork


@st.composite
def context_problems(draw):
    """A target with contexts of up to five parents in a chain, some of them observed."""
    count = draw(st.integers(1, 5))
    features = [bit(f"U{i}") for i in range(count)]
    cpts = [
        Cpt(u, features[i - 1 : i], draw(distributions(2 ** bool(i), 2, zeros=False)))
        for i, u in enumerate(features)
    ]
    contexts = draw(step_functions([2] * count))
    columns = draw(distributions(contexts.n_contexts, 2))
    network = BayesianNetwork([*cpts, FocsCpt(bit("X"), features, contexts, columns)])
    names = [u.name for u in features]
    evidence = {name: draw(st.sampled_from("01")) for name in sorted(draw(st.sets(st.sampled_from(names))))}
    kept = draw(st.sets(st.sampled_from(names))) - set(evidence)
    return Classifier(network, "X", names, MostProbable()), evidence, frozenset(map(network.index, kept))


@given(context_problems())
def test_profiles_are_those_of_the_definitions(case):
    classifier, evidence, kept = case
    problem = make_problem(classifier, evidence)
    written = Classifier(to_tables(classifier.network), "X", classifier.features, classifier.rule)
    expected = enumerate_profile(make_problem(written, evidence), kept)
    found = ContextsWay().prepare(problem).profile(kept)
    assert expected_agreement(found, problem.decider) == pytest.approx(
        expected_agreement(expected, problem.decider), abs=ENGINE
    )
    np.testing.assert_allclose(found.class_mass.sum(axis=0), expected.class_mass.sum(axis=0), atol=ENGINE)


def majority(count):
    """A target that is mostly on when more than half of the sensors are."""
    sensors = [bit(f"S{i}") for i in range(count)]
    contexts = StepContexts(StepNetwork(np.ones((1, count)), [-(count // 2 + 1)], [1]), [0])
    node = FocsCpt(bit("X"), sensors, contexts, [[0.9, 0.1], [0.2, 0.8]])
    network = BayesianNetwork([*(Cpt(s, [], [0.6, 0.4]) for s in sensors), node])
    return Classifier(network, "X", [s.name for s in sensors], ThresholdRule("1", 0.5))


def test_forty_one_sensors_are_counted_exactly():
    """The decision is positive exactly when more than half of the sensors are on: a binomial tail."""
    classifier = majority(41)
    off = binom.cdf(20, 41, 0.4)
    found = unswayed.sdp(classifier)
    assert found.engine == "circuit"
    assert found.value == pytest.approx(off, abs=ENGINE)
    on = binom.sf(20 - 3, 38, 0.4)
    assert unswayed.sdp(classifier, {"S0": "1", "S1": "1", "S2": "1"}).value == pytest.approx(
        max(on, 1 - on), abs=ENGINE
    )


def test_sensors_to_be_observed_are_weighed_by_what_they_may_show():
    classifier = majority(25)
    kept = ["S3", "S11"]
    expected = 0.0
    for ones, weight in enumerate(binom.pmf(range(3), 2, 0.4)):
        on = binom.sf(12 - ones, 23, 0.4)
        posterior = 0.1 * (1 - on) + 0.8 * on
        expected += weight * (on if posterior >= 0.5 else 1 - on)
    found = unswayed.esdp(classifier, kept=kept)
    assert found.value == pytest.approx(expected, abs=ENGINE)


def test_problems_of_another_shape_are_refused():
    classifier = majority(5)
    fewer = Classifier(classifier.network, "X", ["S0", "S1"], MostProbable())
    other = Classifier(classifier.network, "S0", ["X", "S1"], MostProbable())
    for each, reason in ((fewer, "no feature"), (other, "no contexts")):
        price = ContextsWay().cost(make_problem(each), Question(frozenset()))
        assert isinstance(price, Refusal)
        assert reason in price.reason
