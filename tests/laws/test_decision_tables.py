"""Trimming to a table of decisions reaches the maximum potential agreement, row by row and on disk."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import unswayed
from laws.test_decisions import named_evidence
from laws.test_search import purchases, subsets
from oracles.enumerate_profile import enumerate_profile
from strategies import classifiers
from tolerances import ENGINE
from unswayed.decisions import TableClassifier
from unswayed.decisions.measures import maximum_potential_agreement
from unswayed.model.zoo import printer


@settings(max_examples=40)
@given(purchases())
def test_the_potential_trimming_is_the_best_by_enumeration(purchase):
    problem, costs, budget = purchase
    trimmed = unswayed.trim(
        problem.classifier, budget=budget, costs=costs, evidence=named_evidence(problem), potential=True
    )
    best = max(
        maximum_potential_agreement(enumerate_profile(problem, kept))
        for kept in subsets(problem, costs, budget)
    )
    assert trimmed.selection.value == pytest.approx(best, abs=ENGINE)
    assert trimmed.selection.optimal
    assert trimmed.selection.cost <= budget + 1e-9


@settings(max_examples=30)
@given(classifiers(max_features=4), st.integers(1, 4))
def test_a_table_agrees_as_often_as_it_says_on_all_instantiations(full, budget):
    """Every full instantiation decided by both classifiers, weighed by its probability."""
    trimmed = unswayed.trim(full, budget=budget, potential=True)
    if not trimmed.selection.kept:
        return  # a table of no columns has no rows
    masses, rows = [], []
    for row in itertools.product(*(full.network.variable(name).states for name in full.features)):
        mass = unswayed.probability(full.network, dict(zip(full.features, row, strict=True)))
        if mass > 0:
            masses.append(mass)
            rows.append(row)
    columns = {name: [row[i] for row in rows] for i, name in enumerate(full.features)}
    decided = trimmed.classifier.predict({name: columns[name] for name in trimmed.selection.kept})
    same = [one == other for one, other in zip(full.predict(columns), decided, strict=True)]
    assert float(np.dot(masses, same)) == pytest.approx(trimmed.selection.value, abs=ENGINE)


@settings(max_examples=20)
@given(purchases())
def test_the_potential_frontier_lies_on_or_above_the_other(purchase):
    problem, costs, _ = purchase
    evidence = named_evidence(problem)
    points = unswayed.frontier(problem.classifier, costs=costs, evidence=evidence, potential=True).points
    for point in points:
        budget = point.selection.cost
        plain = unswayed.trim(
            problem.classifier, budget=budget, costs=costs, evidence=evidence
        ).selection.value
        assert point.selection.value >= plain - ENGINE


def test_a_table_is_saved_and_loaded(tmp_path):
    network = printer()
    full = unswayed.Classifier(network, "Fault", None, unswayed.MostProbable())
    trimmed = unswayed.trim(full, budget=2, potential=True).classifier
    assert isinstance(trimmed, TableClassifier)
    unswayed.save_classifier(trimmed, tmp_path / "table.json")
    loaded = unswayed.load_classifier(tmp_path / "table.json")
    assert isinstance(loaded, TableClassifier)
    states = [network.variable(name).states for name in trimmed.features]
    rows = list(itertools.product(*(((*s, None)) for s in states)))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(trimmed.features)}
    assert loaded.predict(columns) == trimmed.predict(columns)
    assert loaded.decisions == trimmed.decisions
