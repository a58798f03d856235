"""Networks made of scikit-learn's naive Bayes classifiers give scikit-learn's own posteriors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tolerances import EXACT
from unswayed.api import posterior
from unswayed.core.errors import ModelError
from unswayed.inference.forests import class_posteriors
from unswayed.learning.estimator import BayesNetClassifier
from unswayed.learning.foreign import from_sklearn

PEER = 1e-12


def rows_of(n_features: int, n_categories: int, n_classes: int, seed: int):
    rng = np.random.default_rng(seed)
    X = rng.integers(n_categories, size=(40, n_features))
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=40 - n_classes)])
    return X, y


@given(
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(0, 10_000),
    st.sampled_from([0.01, 1.0, 3.0]),
)
def test_posteriors_of_categories_are_those_of_scikit_learn(n_features, n_categories, n_classes, seed, alpha):
    X, y = rows_of(n_features, n_categories, n_classes, seed)
    estimator = CategoricalNB(alpha=alpha).fit(X, y)
    found = class_posteriors(from_sklearn(estimator), "class", X)
    assert found == pytest.approx(estimator.predict_proba(X), abs=PEER)


@given(
    st.integers(1, 8),
    st.integers(2, 3),
    st.integers(0, 10_000),
    st.sampled_from([None, 0.0, 0.25, 1.0]),
    st.booleans(),
)
def test_posteriors_of_truths_are_those_of_scikit_learn(n_features, n_classes, seed, cut, fit_prior):
    X, y = rows_of(n_features, 2 if cut is None else 4, n_classes, seed)
    estimator = BernoulliNB(alpha=0.5, binarize=cut, fit_prior=fit_prior).fit(X, y)
    found = class_posteriors(from_sklearn(estimator), "class", X)
    assert found == pytest.approx(estimator.predict_proba(X), abs=PEER)


def test_names_come_from_the_dataframe_or_from_the_caller():
    frame = pd.DataFrame({"fever": [0, 1, 1, 0], "cough, dry": [2, 0, 1, 1]})
    estimator = CategoricalNB().fit(frame, ["well", "flu", "flu", "well"])
    network = from_sklearn(estimator, class_name="illness")
    assert network.names == ("illness", "fever", "cough, dry")
    assert network.variables[0].states == ("flu", "well")
    assert network.variables[2].states == ("0", "1", "2")
    renamed = from_sklearn(estimator, ["a", "b"])
    assert renamed.names == ("class", "a", "b")
    row = pd.DataFrame({"fever": [1], "cough, dry": [0]})
    asked = posterior(network, {"fever": "1", "cough, dry": "0"}, of="illness")
    assert list(asked.values()) == pytest.approx(estimator.predict_proba(row)[0], abs=EXACT)


def test_a_prior_of_ones_own_and_categories_that_did_not_occur_are_kept():
    X, y = rows_of(3, 2, 2, seed=3)
    estimator = CategoricalNB(min_categories=4, class_prior=[0.3, 0.7]).fit(X, y)
    network = from_sklearn(estimator)
    assert network.cpts[0].table[0].tolist() == pytest.approx([0.3, 0.7])
    unseen = np.full((1, 3), 3)
    assert class_posteriors(network, "class", unseen) == pytest.approx(
        estimator.predict_proba(unseen), abs=PEER
    )


def test_zero_probabilities_stay_zero():
    X, y = np.array([[0], [0], [1]]), np.array([0, 0, 1])
    with np.errstate(divide="ignore"):
        estimator = CategoricalNB(alpha=0.0, force_alpha=True).fit(X, y)
    assert from_sklearn(estimator).cpts[1].table.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (GaussianNB(), "KBinsDiscretizer"),
        (MultinomialNB(), "BernoulliNB"),
        (ComplementNB(), "no probabilities of features"),
        (make_pipeline(StandardScaler(), CategoricalNB()), r"pipeline\[-1\]"),
        (StandardScaler(), "CategoricalNB and BernoulliNB can be taken over"),
        (BernoulliNB(), "not fitted yet; call its fit first"),
        (BayesNetClassifier().fit([["a"], ["b"]], [0, 1]), "take its network_"),
        (GridSearchCV(BernoulliNB(), {}, cv=2).fit([[0], [1], [1], [0]], [0, 1, 0, 1]), "best_estimator_"),
        ("a text", "a str cannot"),
    ],
    ids=lambda each: type(each).__name__ if not isinstance(each, str) else None,
)
def test_what_is_no_network_is_refused_with_what_to_do(estimator, message):
    with pytest.raises(ModelError, match=message):
        from_sklearn(estimator)


def test_names_that_do_not_fit_are_refused():
    estimator = BernoulliNB().fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(ModelError, match="1 feature names are given for 2 features"):
        from_sklearn(estimator, ["a"])
    with pytest.raises(ModelError, match="give another class_name"):
        from_sklearn(estimator, ["a", "class"])
    with pytest.raises(ModelError, match="two tables"):
        from_sklearn(estimator, ["a", "a"])
