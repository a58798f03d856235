"""The estimator beyond what scikit-learn checks: missing values, text, dataframes, chunks."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from oracles.enumerate_joint import posterior_by_enumeration
from tolerances import EXACT
from unswayed.core.errors import ModelError, UnswayedWarning
from unswayed.learning import learn_naive_bayes, learn_tan
from unswayed.learning.estimator import BayesNetClassifier


def table(n_rows: int = 200, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 10, n_rows)
    smokes = np.where(rng.random(n_rows) < 0.3, "yes", "no").astype(object)
    ill = (age + 15 * (smokes == "yes") + rng.normal(0, 5, n_rows)) > 55
    frame = pd.DataFrame({"age": age, "smokes": smokes, "shoe": rng.integers(1, 4, n_rows)})
    frame.loc[rng.random(n_rows) < 0.2, "age"] = np.nan
    frame.loc[rng.random(n_rows) < 0.2, "smokes"] = None
    return frame, pd.Series(np.where(ill, "ill", "well"), name="health")


@pytest.mark.parametrize("structure", ["naive", "tan"])
def test_missing_values_are_summed_out(structure: str) -> None:
    X, y = table()
    classifier = BayesNetClassifier(structure).fit(X, y)
    network = classifier.network_
    assert network.names[0] == "health"
    assert network.variables[0].states == ("ill", "well")
    cut = classifier.discretization_["age"][0]
    rows = pd.DataFrame({"age": [np.nan, cut + 1], "smokes": ["yes", None], "shoe": [2, None]})
    above = network.variable("age").states[1]
    for found, evidence in zip(
        classifier.predict_proba(rows), [{"smokes": "yes", "shoe": "2"}, {"age": above}], strict=True
    ):
        assert found == pytest.approx(posterior_by_enumeration(network, "health", evidence), abs=EXACT)


@pytest.mark.parametrize(("structure", "learn"), [("naive", learn_naive_bayes), ("tan", learn_tan)])
def test_the_network_is_the_one_the_functions_learn(structure: str, learn: object) -> None:
    X, y = table()
    assert callable(learn)
    expected = learn(X.assign(health=y), "health")
    assert BayesNetClassifier(structure).fit(X, y).network_ == expected


def test_makes_of_dataframes_agree() -> None:
    X, y = table()
    by_pandas = BayesNetClassifier().fit(X, y).predict_proba(X)
    frame = pl.DataFrame({name: [None if cell != cell else cell for cell in X[name]] for name in X})
    assert BayesNetClassifier().fit(frame, y).predict_proba(frame) == pytest.approx(by_pandas)
    cells = X.to_numpy(dtype=object)
    assert BayesNetClassifier().fit(cells, y).predict_proba(cells) == pytest.approx(by_pandas)


def test_unseen_categories_are_not_observed() -> None:
    X, y = table()
    classifier = BayesNetClassifier().fit(X, y)
    rows = pd.DataFrame({"age": [40.0, 40.0], "smokes": ["pipe", None], "shoe": [1, 1]})
    with pytest.warns(UnswayedWarning, match="column 'smokes': 'pipe' in 1 row"):
        found = classifier.predict_proba(rows)
    assert found[0].tolist() == found[1].tolist()


@pytest.mark.parametrize("structure", ["naive", "tan"])
def test_chunks_are_the_whole(structure: str) -> None:
    X, y = table()
    settings = {"cut_points": {"age": [45, 55]}}
    whole = BayesNetClassifier(structure, **settings).fit(X, y)
    chunked = BayesNetClassifier(structure, **settings)
    for start in range(0, len(X), 60):
        part = slice(start, start + 60)
        chunked.partial_fit(X.iloc[part], y.iloc[part], classes=["ill", "well"])
    assert chunked.network_ == whole.network_
    with pytest.raises(ModelError, match="`classes` changed"):
        chunked.partial_fit(X, y, classes=["well"])
    with pytest.raises(ModelError, match="not in `classes`: 'dead'"):
        chunked.partial_fit(X.iloc[:1], ["dead"])
    with pytest.raises(ModelError, match="first call of partial_fit needs `classes`"):
        BayesNetClassifier().partial_fit(X, y)


def test_weights_are_repetition() -> None:
    X, y = table(80)
    times = np.random.default_rng(1).integers(0, 3, 80)
    weighted = BayesNetClassifier("tan").fit(X, y, sample_weight=times)
    repeated = BayesNetClassifier("tan").fit(X.loc[X.index.repeat(times)], y.loc[y.index.repeat(times)])
    assert weighted.predict_proba(X) == pytest.approx(repeated.predict_proba(X))


def test_it_is_a_scikit_learn_estimator() -> None:
    X, y = table()
    search = GridSearchCV(BayesNetClassifier(), {"structure": ["naive", "tan"], "smoothing": [0.5, 1]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.7
    assert cross_val_score(make_pipeline(BayesNetClassifier("tan")), X, y, cv=3).mean() > 0.7
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert np.array_equal(again.predict(X), search.predict(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"structure": "forest"}, "structure must be one of 'naive', 'tan'"),
        ({"discretize": "entropy"}, "discretize must be one of"),
        ({"smoothing": -1}, "smoothing must be"),
        ({"n_bins": 1}, "n_bins must be at least 2"),
        ({"cut_points": {"age": [2, 1]}}, "cut points of 'age'"),
    ],
)
def test_parameters_are_checked_in_fit(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BayesNetClassifier(**parameters).fit(*table(20))


def test_numbers_may_stay_categories() -> None:
    classifier = BayesNetClassifier(discretize=None).fit([[0.5], [0.5], [1.25]], [0, 0, 1])
    assert classifier.network_.variable("x0").states == ("0.5", "1.25")
    assert classifier.predict([[1.25]]).tolist() == [1]


def test_a_feature_may_be_called_class() -> None:
    frame = pd.DataFrame({"class": ["a", "b"], "class_": ["a", "b"]})
    classifier = BayesNetClassifier().fit(frame, [True, False])
    assert classifier.target_name_ == "class__"
    assert classifier.network_.variables[0].states == ("False", "True")
