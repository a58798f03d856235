"""Where two classifiers differ, against one row after another predicted by each."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

import unswayed
from strategies import classifiers
from tolerances import EXACT
from unswayed.api import comparison as differences, probability, trim
from unswayed.api.decisions import decide
from unswayed.core.errors import QueryError
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.model import zoo

PAPERS = Classifier(zoo.review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))


def by_enumeration(full: Classifier, other: Classifier, evidence: dict[str, str]):
    """Pairs of decisions and their mass, instance by instance."""
    free = [name for name in full.features if name not in evidence]
    mass: dict[tuple[str, str], float] = {}
    for states in itertools.product(*(full.network.variable(name).states for name in free)):
        row = {**evidence, **dict(zip(free, states, strict=True))}
        share = probability(full.network, row) / probability(full.network, evidence)
        if share > 0:
            seen = {name: state for name, state in row.items() if name in other.features or name in evidence}
            pair = (decide(full, row).action, decide(other, seen).action)
            mass[pair] = mass.get(pair, 0.0) + share
    return mass


@given(classifiers(max_features=4), st.integers(0, 4))
def test_masses_are_those_of_all_instances(classifier, count):
    other = Classifier(classifier.network, classifier.target, classifier.features[:count], classifier.rule)
    found = unswayed.compare(classifier, other)
    expected = by_enumeration(classifier, other, {})
    assert found.certainty is Certainty.EXACT
    assert found.mass == pytest.approx({k: v for k, v in expected.items() if v > 0}, abs=EXACT)
    assert found.agreement == pytest.approx(sum(v for (a, b), v in expected.items() if a == b), abs=EXACT)


def test_evidence_is_seen_by_both():
    chair = Classifier(zoo.review(), "D", ["AC"], ThresholdRule("+", 0.37))
    found = unswayed.compare(PAPERS, chair, {"R1": "+"})
    assert found.mass == pytest.approx(by_enumeration(PAPERS, chair, {"R1": "+"}), abs=EXACT)


def test_the_most_probable_differences_come_first():
    trimming = trim(PAPERS, budget=1)
    found = unswayed.compare(PAPERS, trimming.classifier, at_most=2)
    assert found.agreement == pytest.approx(trimming.selection.value, abs=EXACT)
    shares = [each.probability for each in found.differences]
    assert shares == sorted(shares, reverse=True)
    for each in found.differences:
        assert each.full != each.other
        assert probability(PAPERS.network, each.states) == pytest.approx(each.probability, abs=EXACT)
        assert each.full == decide(PAPERS, each.states).action


def test_too_many_instances_are_drawn(monkeypatch):
    monkeypatch.setattr(differences, "LARGEST_TABLE", 4)
    chair = Classifier(zoo.review(), "D", ["AC"], ThresholdRule("+", 0.37))
    with pytest.raises(QueryError, match="give an rng"):
        unswayed.compare(PAPERS, chair)
    found = unswayed.compare(PAPERS, chair, rng=np.random.default_rng(1))
    assert found.certainty is Certainty.ESTIMATE
    # Six standard deviations of a share among 20,000.
    assert found.agreement == pytest.approx(0.92, abs=6 * (0.92 * 0.08 / 20_000) ** 0.5)


def test_tables_of_decisions_are_looked_up():
    trimming = trim(PAPERS, budget=1, potential=True)
    found = unswayed.compare(PAPERS, trimming.classifier)
    assert found.agreement == pytest.approx(trimming.selection.value, abs=EXACT)
