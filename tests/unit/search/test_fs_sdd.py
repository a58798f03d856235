"""FS-SDD: it gives what branch and bound gives, and no more than it needs once nothing can be better."""

from __future__ import annotations

import pytest

import unswayed
from unswayed import BayesianNetwork, Classifier, Cpt, Method, ThresholdRule, Variable

N_FEATURES = 8
DECIDES = 2
"""Position of the one feature that settles every decision."""


def settled_by_one():
    target = Variable("C", ["+", "-"])
    tables = [Cpt(target, [], [0.4, 0.6])]
    for i in range(N_FEATURES):
        strong = [[0.999, 0.001], [0.001, 0.999]]
        weak = [[0.5 + 0.01 * i, 0.5 - 0.01 * i], [0.45, 0.55]]
        tables.append(Cpt(Variable(f"F{i}", ["a", "b"]), [target], strong if i == DECIDES else weak))
    return Classifier(BayesianNetwork(tables), "C", None, ThresholdRule("+", 0.5))


def test_it_stops_once_the_agreement_is_certain():
    """After {F0, F1, F2} agrees always, only what costs less is still valued: seven subsets of 163."""
    classifier = settled_by_one()
    found = unswayed.select(classifier, budget=4, method=Method.FS_SDD)
    expected = unswayed.select(classifier, budget=4)
    assert found.kept == expected.kept == (f"F{DECIDES}",)
    assert found.value == pytest.approx(1.0, abs=1e-12)
    assert found.optimal
    assert found.evaluations <= N_FEATURES
