"""Default calls on ordinary tables end in an answer, and certified agreements hold what samples count."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn import datasets

import unswayed
from unswayed.api import Method, frontier, trim
from unswayed.api.estimators import TrimmedClassifier
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rewards import NegativeEntropy
from unswayed.inference.sampling import sample_states
from unswayed.learning.estimator import BayesNetClassifier

TABLES = list(itertools.product(["breast_cancer", "wine", "digits"], ["naive", "tan"]))


def load(name):
    data = getattr(datasets, f"load_{name}")(as_frame=True)
    return data.data, data.target.map(lambda value: f"class {value}")


def learn(name, structure):
    X, y = load(name)
    fitted = BayesNetClassifier(structure).fit(X, y)
    return Classifier(fitted.network_, fitted.target_name_, [str(column) for column in X.columns])


def sampled_agreement(full, kept, n=4000):
    """How often the kept features decide as all do on drawn instances, one prediction after another."""
    drawn = sample_states(full.network, n, {}, np.random.default_rng(1))
    names = [full.network.variable(f) for f in full.features]
    columns = {
        v.name: [v.states[s] for s in drawn[:, full.network.variables.index(v)].tolist()] for v in names
    }
    seen = {f: columns[f] for f in kept.features}
    return float(np.mean([a == b for a, b in zip(full.predict(columns), kept.predict(seen), strict=True)]))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "structure"), TABLES)
def test_trim_certifies_a_third_of_the_columns(name, structure):
    full = learn(name, structure)
    found = trim(full, budget=len(full.features) // 3)
    low, high = found.agreement.low, found.agreement.high
    counted = sampled_agreement(full, found.classifier)
    assert found.agreement.certainty is not Certainty.ESTIMATE
    assert low - 0.03 <= counted <= high + 0.03
    assert low <= found.selection.upper_bound <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "structure"), TABLES)
def test_a_frontier_rises_with_cost(name, structure):
    points = frontier(learn(name, structure), limits=Limits(max_seconds=20.0)).points
    assert len(points) > 1
    assert all(p.agreement.certainty is not Certainty.ESTIMATE for p in points)
    assert all(p.agreement.low <= p.selection.value <= p.agreement.high for p in points)
    for cheaper, dearer in itertools.pairwise(points):
        assert cheaper.cost < dearer.cost
        assert cheaper.selection.value < dearer.selection.value


@pytest.mark.slow
@pytest.mark.parametrize(("name", "structure"), TABLES)
def test_a_report_leaves_nothing_out(name, structure):
    found = unswayed.report(learn(name, structure), limits=Limits(max_seconds=120.0))
    assert found.notes == ()
    assert found.ranking is not None
    assert found.frontier is not None


@pytest.mark.slow
@pytest.mark.parametrize(("name", "structure"), TABLES)
def test_a_trimmed_estimator_learns(name, structure):
    X, y = load(name)
    fitted = TrimmedClassifier(BayesNetClassifier(structure)).fit(X, y)
    assert np.mean(fitted.predict(X) == y) > 0.8


@pytest.mark.parametrize("structure", ["naive", "tan"])
def test_what_needs_a_table_is_refused_with_another_way(structure):
    """The way that the refusal names works."""
    full = learn("breast_cancer", structure)
    with pytest.raises(LimitError, match="name fewer candidate features, or select for decisions"):
        unswayed.select(full, budget=5, objective=NegativeEntropy())
    with pytest.raises(LimitError, match="branch and bound"):
        unswayed.select(full, budget=5, method=Method.EXHAUSTIVE)
    few = Classifier(full.network, full.target, full.features[:8])
    assert math.isfinite(unswayed.select(few, budget=3, objective=NegativeEntropy()).value)
    assert len(unswayed.select(full, budget=5, limits=Limits(max_seconds=2.0)).kept) == 5
