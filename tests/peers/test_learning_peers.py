"""The same learning put to scikit-learn, pyAgrum and WEKA."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import KBinsDiscretizer

from shared_data import SHARED, needs_shared_data
from tolerances import ENGINE
from unswayed.learning import learn_naive_bayes, learn_parameters
from unswayed.learning.estimator import BayesNetClassifier
from unswayed.model.data.discretize import EqualFrequency, EqualWidth, Observed, chosen_cuts


def categories(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 300)
    X = np.column_stack([(rng.integers(0, k, 300) + y) % k for k in (2, 3, 4, 5)])
    return X, y


@pytest.mark.parametrize("alpha", [0.1, 1.0, 2.5])
def test_naive_bayes_is_categorical_nb(alpha: float) -> None:
    """scikit-learn does not smooth the class; it is given the smoothed prior."""
    X, y = categories()
    ours = BayesNetClassifier(smoothing=alpha).fit(X, y)
    theirs = CategoricalNB(alpha=alpha, class_prior=ours.network_.cpts[0].table[0]).fit(X, y)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=ENGINE)
    for j, cpt in enumerate(ours.network_.cpts[1:]):
        assert cpt.table == pytest.approx(np.exp(theirs.feature_log_prob_[j]), abs=ENGINE)


def test_weighted_naive_bayes_is_categorical_nb() -> None:
    X, y = categories()
    weights = np.random.default_rng(1).exponential(size=len(y))
    ours = BayesNetClassifier().fit(X, y, sample_weight=weights)
    theirs = CategoricalNB(class_prior=ours.network_.cpts[0].table[0]).fit(X, y, sample_weight=weights)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=ENGINE)


def test_equal_width_cuts_are_those_of_kbins() -> None:
    values = np.random.default_rng(0).normal(size=200)
    theirs = KBinsDiscretizer(6, strategy="uniform", encode="ordinal").fit(values[:, np.newaxis])
    ours = chosen_cuts(EqualWidth(6), Observed(values, np.ones(200)))
    assert ours == pytest.approx(theirs.bin_edges_[0][1:-1])


@pytest.mark.parametrize("n_bins", [2, 3, 7])
def test_equal_frequency_cuts_are_the_inverted_distribution_of_kbins(n_bins: int) -> None:
    values = np.random.default_rng(0).normal(size=200)
    theirs = KBinsDiscretizer(
        n_bins, strategy="quantile", encode="ordinal", quantile_method="inverted_cdf"
    ).fit(values[:, np.newaxis])
    ours = chosen_cuts(EqualFrequency(n_bins), Observed(values, np.ones(200)))
    assert ours == pytest.approx(theirs.bin_edges_[0][1:-1])


@needs_shared_data
def test_pima_counts_as_weka_prints_them() -> None:
    """NaiveBayes after supervised Discretize: every printed cell is a count with 1 added."""
    network = learn_naive_bayes(SHARED / "tables" / "pima.csv", "diabetes")
    printed = {
        "pregnancies": ([427, 75], [174, 96]),
        "glucose": ([182, 211, 86, 25], [17, 79, 77, 99]),
        "insulin": ([237, 165, 101], [140, 28, 103]),
        "bmi": ([196, 306], [28, 242]),
        "pedigree": ([362, 140], [149, 121]),
        "age": ([297, 205], [72, 198]),
    }
    for name, cells in printed.items():
        table = network.cpts[network.index(name)].table
        for row, counts in zip(table, cells, strict=True):
            assert row == pytest.approx(np.array(counts) / sum(counts), abs=ENGINE)


def test_parameters_are_those_of_pyagrum() -> None:
    pytest.importorskip("pyagrum")
    import pandas as pd
    import pyagrum

    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 500), rng.integers(0, 3, 500)
    frame = pd.DataFrame({"a": a, "b": b, "c": (a + b + rng.integers(0, 2, 500)) % 3}).astype(str)
    learner = pyagrum.BNLearner(frame)
    learner.useSmoothingPrior(0.5)
    template = pyagrum.BayesNet()
    for name, n_states in (("a", 2), ("b", 3), ("c", 3)):
        template.add(pyagrum.LabelizedVariable(name, name, [str(i) for i in range(n_states)]))
    template.addArc("a", "c")
    template.addArc("b", "c")
    theirs = learner.learnParameters(template.dag())
    ours = learn_parameters({"c": ["a", "b"]}, frame, smoothing=0.5)
    for cpt in ours.cpts:
        tensor = theirs.cpt(cpt.child.name)
        order = [*(p.name for p in cpt.parents), cpt.child.name]
        found = np.empty([len(cpt.child) if n == cpt.child.name else len(ours.variable(n)) for n in order])
        for index in np.ndindex(*found.shape):
            found[index] = tensor[{name: int(i) for name, i in zip(order, index, strict=True)}]
        assert cpt.table.reshape(found.shape) == pytest.approx(found, abs=ENGINE)
