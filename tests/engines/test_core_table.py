"""A table over a core of features holds what the full table holds, exactly or between bounds."""

from __future__ import annotations

import numpy as np
import pytest

import holdfast
from holdfast import Classifier, ThresholdRule
from holdfast.core.limits import Limits
from holdfast.decisions.problem import make_problem
from holdfast.engines import core_table as module
from holdfast.engines.core_table import core_table
from holdfast.engines.groups import group_tables
from holdfast.model.zoo import binary_network, random_naive_bayes
from oracles.enumerate_profile import enumerate_profile


def naive(n, seed, threshold=0.5, **shape):
    network = random_naive_bayes(n, np.random.default_rng(seed), **shape)
    return make_problem(Classifier(network, "C", None, ThresholdRule("s0", threshold)))


@pytest.mark.parametrize("listed", [20.0, -1.0], ids=["listed", "bounded"])
@pytest.mark.parametrize("seed", range(4))
def test_masses_are_those_of_enumeration(monkeypatch, listed, seed):
    """Each instantiation of the core has its class masses, and its decisions lie between least and most."""
    monkeypatch.setattr(module, "LISTED_BITS", listed)
    problem = naive(7, seed, 0.3 + 0.1 * seed, max_states=3)
    core = problem.free[1:4]
    table = core_table(problem, group_tables(problem, Limits()), core)
    expected = enumerate_profile(problem, frozenset(core))
    assert table.is_exact == (listed > 0)
    np.testing.assert_allclose(table.class_mass.T, expected.class_mass, rtol=0, atol=1e-12)
    assert (expected.decision_mass + 1e-12 >= table.least.T).all()
    assert (expected.decision_mass - 1e-12 <= table.most.T).all()
    width = 1e-12 if listed > 0 else 1e-3
    assert (table.most - table.least).sum() <= width + 1e-12


def test_certainties_are_kept_apart():
    """Zeros make infinite weights; they must not blur the others."""
    network = binary_network(
        {
            "C": ((), [0.5]),
            "A": (("C",), [0.0, 0.3]),
            "B": (("C",), [0.7, 0.2]),
            "D": (("C",), [0.4, 0.0]),
            "E": (("C",), [0.6, 0.5]),
        }
    )
    problem = make_problem(Classifier(network, "C", None, ThresholdRule("+", 0.5)))
    table = core_table(problem, group_tables(problem, Limits()), problem.free[:2])
    expected = enumerate_profile(problem, frozenset(problem.free[:2]))
    positive = table.class_mass.sum(axis=0) > 0
    np.testing.assert_allclose(table.least.T[positive], expected.decision_mass, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("n", "seed"), [(26, 1), (30, 2)])
def test_trimming_beyond_a_table_is_worth_what_it_says(n, seed):
    """The agreement that the search reports is the exact one of its trimmed classifier."""
    network = random_naive_bayes(n, np.random.default_rng(seed))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.4))
    found = holdfast.trim(classifier, None, n // 3)
    assert found.selection.engine == "log_odds"
    exact = holdfast.maximum_potential_agreement(classifier, found.selection.kept)
    assert found.selection.value == pytest.approx(exact.value, abs=1e-9)
    at_threshold = holdfast.expected_classification_agreement(
        classifier, found.selection.kept, found.classifier.rule.threshold
    )
    assert at_threshold.value == pytest.approx(exact.value, abs=1e-9)
    assert found.selection.value <= found.selection.upper_bound <= 1.0


def test_hundreds_of_features_are_trimmed_with_a_certified_agreement():
    network = random_naive_bayes(120, np.random.default_rng(3))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    found = holdfast.trim(classifier, None, 12)
    assert found.selection.engine == "bounds"
    assert len(found.selection.kept) <= 12
    checked = holdfast.expected_classification_agreement(
        classifier, found.selection.kept, found.classifier.rule.threshold, tolerance=1e-4
    )
    assert found.selection.value <= checked.high
    chosen = holdfast.select_features(classifier, None, 12)
    own = holdfast.expected_same_decision_probability(classifier, chosen.kept, tolerance=1e-4)
    assert chosen.value <= own.high
    assert own.high - chosen.value <= 1e-2
