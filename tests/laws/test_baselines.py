"""The papers' own methods: MAXDR finds what enumeration finds, information gain what single gains say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import unswayed
from tolerances import ENGINE
from unswayed import Classifier, Limits, Method, MostProbable, QueryError, ThresholdRule
from unswayed.decisions import Margin
from unswayed.model.zoo import printer, random_naive_bayes


@st.composite
def naive_purchases(draw):
    """A naive Bayes classifier with costs and a budget."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n_features = draw(st.integers(1, 7))
    network = random_naive_bayes(n_features, rng, max_states=3)
    threshold = draw(st.sampled_from([0.1, 0.5, 0.8]))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", threshold))
    costs = {name: float(rng.choice([0.5, 1.0, 2.0])) for name in classifier.features}
    return classifier, costs, draw(st.sampled_from([0.0, 1.0, 2.5, 100.0]))


@settings(max_examples=40)
@given(naive_purchases())
def test_maxdr_equals_exhaustive_search(purchase):
    classifier, costs, budget = purchase
    found = unswayed.select(classifier, budget=budget, costs=costs, method=Method.MAXDR)
    best = unswayed.select(classifier, budget=budget, costs=costs, method=Method.EXHAUSTIVE)
    assert found.value == pytest.approx(best.value, abs=ENGINE)
    assert found.optimal
    assert found.cost <= budget + 1e-9
    assert found.engine == "weights"


@settings(max_examples=30)
@given(naive_purchases())
def test_information_gain_takes_features_by_what_each_says_alone(purchase):
    """The gains are asked for one by one, by the verb for values of information."""
    classifier, costs, budget = purchase
    chosen = unswayed.select(classifier, budget=budget, costs=costs, method=Method.INFORMATION_GAIN)
    gains = {
        name: unswayed.voi(classifier, kept=[name], reward=unswayed.NegativeEntropy()).value
        for name in classifier.features
    }
    spent, kept = 0.0, []
    for name in sorted(gains, key=lambda f: (-gains[f] / costs[f], f)):
        if spent + costs[name] <= budget:
            spent += costs[name]
            kept.append(name)
    assert set(chosen.kept) == set(kept)
    exact = unswayed.esdp(classifier, kept=chosen.kept).value
    assert chosen.value == pytest.approx(exact, abs=ENGINE)
    best = unswayed.select(classifier, budget=budget, costs=costs).value
    assert chosen.value <= best + ENGINE <= chosen.upper_bound + 2 * ENGINE


def test_information_gain_trims_too():
    classifier = Classifier(
        random_naive_bayes(8, np.random.default_rng(3)), "C", None, ThresholdRule("s0", 0.3)
    )
    informed = unswayed.trim(classifier, budget=3, method=Method.INFORMATION_GAIN)
    best = unswayed.trim(classifier, budget=3)
    assert informed.selection.value <= best.selection.value + ENGINE
    assert len(informed.selection.kept) == 3


def test_maxdr_stops_when_time_is_over():
    classifier = Classifier(
        random_naive_bayes(16, np.random.default_rng(1)), "C", None, ThresholdRule("s0", 0.5)
    )
    found = unswayed.select(classifier, budget=5, method=Method.MAXDR, limits=Limits(max_seconds=0.05))
    best = unswayed.select(classifier, budget=5).value
    assert found.value <= best + ENGINE <= found.upper_bound + 2 * ENGINE


def test_maxdr_is_for_naive_bayes_and_decisions_alone():
    faults = Classifier(printer(), "Fault", None, MostProbable())
    with pytest.raises(QueryError, match="naive Bayes"):
        unswayed.select(faults, budget=1, method=Method.MAXDR)
    simple = Classifier(random_naive_bayes(3, np.random.default_rng(0)), "C", None, ThresholdRule("s0", 0.5))
    with pytest.raises(QueryError, match="rewards"):
        unswayed.select(simple, budget=1, objective=Margin(), method=Method.MAXDR)
    with pytest.raises(QueryError, match="to trim"):
        unswayed.trim(simple, budget=1, method=Method.MAXDR)
