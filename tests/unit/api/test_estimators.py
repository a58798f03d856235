"""The trimmed classifier beyond what scikit-learn checks: what it keeps, predicts and transforms."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline

from oracles.enumerate_joint import posterior_by_enumeration
from tolerances import EXACT
from unswayed.api.estimators import TrimmedClassifier
from unswayed.api.selection import trim
from unswayed.core.errors import ModelError, QueryError
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.learning.classifiers import learn_naive_bayes
from unswayed.learning.estimator import BayesNetClassifier


def table(n_rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Six yes-no questions of which the first ones tell more about the label."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n_rows) < 0.4
    right = {"fever": 0.8, "cough": 0.79, "rash": 0.75, "age": 0.7, "shoe": 0.5, "hat": 0.5}
    columns = {name: np.where(rng.random(n_rows) < p, ill, ~ill).astype(int) for name, p in right.items()}
    return pd.DataFrame(columns), pd.Series(np.where(ill, "ill", "well"), name="health")


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8])
def test_it_is_the_trimming_of_the_learned_network(threshold):
    X, y = table()
    found = TrimmedClassifier(budget=2, threshold=threshold, positive="ill").fit(X, y)
    network = learn_naive_bayes(X.assign(health=y), "health")
    full = Classifier(network, "health", list(X.columns), ThresholdRule("ill", threshold))
    expected = trim(full, budget=2)
    assert found.trimming_.selection.kept == expected.selection.kept
    assert found.agreement_ == expected.selection.value
    low, high = expected.threshold_interval
    assert low < found.threshold_ <= high
    assert found.threshold_ == threshold or not low < threshold <= high
    assert found.predict(X).tolist() == [
        "ill" if action == "ill" else "well" for action in found.trimming_.classifier.predict(X)
    ]


def test_agreement_is_what_the_rows_of_the_network_show():
    """On rows weighted by their probability, predictions of both classifiers agree as often as promised."""
    X, y = table()
    trimmed = TrimmedClassifier(budget=3, threshold=0.3).fit(X, y)
    every = np.indices((2,) * 6).reshape(6, -1).T
    rows = pd.DataFrame(every, columns=X.columns)
    network = trimmed.classifier_.network
    mass = np.zeros(len(rows))
    for state in range(2):
        product = np.full(len(rows), network.cpts[0].table[0, state])
        for column, cpt in enumerate(network.cpts[1:]):
            product *= cpt.table[state][every[:, column]]
        mass += product
    full = trimmed.estimator_.predict_proba(rows)[:, 1] >= 0.3 - 1e-9
    same = full == (trimmed.predict(rows) == "well")
    assert mass[same].sum() == pytest.approx(trimmed.agreement_, abs=EXACT)


def test_dropped_columns_are_not_looked_at():
    X, y = table()
    trimmed = TrimmedClassifier(budget=2).fit(X, y)
    blank = X.astype(float)
    blank.loc[:, ~trimmed.get_support()] = np.nan
    assert np.array_equal(trimmed.predict_proba(blank), trimmed.predict_proba(X))
    evidence = {name: str(X[name].iloc[0]) for name in trimmed.trimming_.selection.kept}
    expected = posterior_by_enumeration(trimmed.classifier_.network, "health", evidence)
    assert trimmed.predict_proba(X)[0] == pytest.approx(expected, abs=EXACT)


def test_columns_come_and_go():
    X, y = table()
    trimmed = TrimmedClassifier(budget=3).fit(X, y)
    kept = list(trimmed.trimming_.selection.kept)
    assert trimmed.get_feature_names_out().tolist() == kept
    assert [X.columns[i] for i in trimmed.get_support(indices=True)] == kept
    assert np.array_equal(trimmed.transform(X), X[kept].to_numpy())
    back = trimmed.inverse_transform(trimmed.transform(X))
    assert np.array_equal(back[:, trimmed.get_support()], X[kept].to_numpy())
    assert np.isnan(back[:, ~trimmed.get_support()]).all()
    frame = pd.DataFrame(back, columns=X.columns)
    assert np.array_equal(trimmed.predict(frame), trimmed.predict(X))
    with pytest.raises(ModelError, match="X has 4 columns, but 3 features were kept"):
        trimmed.inverse_transform(X.iloc[:, :4])


def test_text_comes_back_as_text():
    X = [["a", "x"], ["b", "x"], ["a", "y"], ["b", "y"]] * 4
    trimmed = TrimmedClassifier(budget=1).fit(X, [0, 1, 0, 1] * 4)
    back = trimmed.inverse_transform(trimmed.transform(X))
    assert back[:2].tolist() == [["a", None], ["b", None]]
    assert np.array_equal(trimmed.predict(back), trimmed.predict(X))


def test_frames_of_either_make_give_the_same_and_stay_frames():
    X, y = table()
    trimmed = TrimmedClassifier(budget=2).fit(X, y)
    frame = pl.DataFrame({name: X[name].to_numpy() for name in X})
    by_polars = TrimmedClassifier(budget=2).fit(frame, y.to_numpy())
    assert np.array_equal(by_polars.get_support(), trimmed.get_support())
    assert by_polars.predict_proba(frame) == pytest.approx(trimmed.predict_proba(X))
    as_pandas = trimmed.set_output(transform="pandas").transform(X)
    assert isinstance(as_pandas, pd.DataFrame)
    assert as_pandas.columns.tolist() == list(trimmed.trimming_.selection.kept)
    as_polars = by_polars.set_output(transform="polars").transform(frame)
    assert isinstance(as_polars, pl.DataFrame)
    assert as_polars.to_numpy().tolist() == as_pandas.to_numpy().tolist()


@pytest.mark.parametrize("base", [CategoricalNB(), BernoulliNB()], ids=["categories", "truths"])
def test_scikit_learns_own_classifiers_are_trimmed(base):
    X, y = table()
    everything = TrimmedClassifier(base, budget=1.0).fit(X, y)
    assert everything.agreement_ == pytest.approx(1.0)
    fitted = clone(base).fit(X, y)
    assert np.array_equal(everything.predict(X), fitted.predict(X))
    few = TrimmedClassifier(base, budget=2).fit(X, y)
    alone = clone(base).fit(X.loc[:, few.get_support()], y)
    # Naive Bayes on the kept columns alone is what is left of naive Bayes on all of them.
    assert few.predict_proba(X) == pytest.approx(alone.predict_proba(X.loc[:, few.get_support()]), abs=1e-12)


def test_a_classifier_that_is_fitted_already_is_trimmed_as_it_is():
    X, y = table()
    fitted = CategoricalNB().fit(X, y)
    log_prior = fitted.class_log_prior_.copy()
    trimmed = TrimmedClassifier(FrozenEstimator(fitted), budget=3).fit(X.iloc[:4], y.iloc[:4])
    assert np.array_equal(fitted.class_log_prior_, log_prior)
    assert np.exp(log_prior) == pytest.approx(trimmed.classifier_.network.cpts[0].table[0])


def test_costs_are_given_by_name_or_by_column():
    X, y = table()
    by_name = TrimmedClassifier(budget=3, costs={"fever": 10}).fit(X, y)
    assert "fever" not in by_name.trimming_.selection.kept
    by_column = TrimmedClassifier(budget=3, costs=[10, 1, 1, 1, 1, 1]).fit(X, y)
    assert by_column.trimming_.selection.kept == by_name.trimming_.selection.kept
    dear = TrimmedClassifier(budget=0.4, costs={"fever": 5}).fit(X, y)
    # All features cost 10, of which 0.4 is 4.
    assert 0 < dear.trimming_.selection.cost <= 4


@pytest.mark.parametrize(("budget", "count"), [(0, 0), (1, 1), (3, 3), (0.5, 3), (0.99, 5), (100, 6)])
def test_a_budget_is_an_amount_or_a_share(budget, count):
    X, y = table()
    trimmed = TrimmedClassifier(budget=budget).fit(X, y)
    assert trimmed.get_support().sum() <= count
    assert trimmed.agreement_ >= TrimmedClassifier(budget=0).fit(X, y).agreement_


def test_many_classes_are_decided_by_the_most_probable():
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=300)
    X = np.stack([np.where(rng.random(300) < p, y, rng.integers(3, size=300)) for p in (0.6, 0.5, 0.1)], 1)
    trimmed = TrimmedClassifier(budget=2).fit(X, y)
    assert trimmed.threshold_ is None
    assert trimmed.get_support()[0]
    assert not trimmed.get_support()[2]
    assert np.array_equal(trimmed.predict(X), trimmed.predict_proba(X).argmax(axis=1))


def test_it_works_in_pipelines_and_searches():
    X, y = table()
    as_selector = make_pipeline(TrimmedClassifier(budget=3), LogisticRegression()).fit(X, y)
    assert as_selector[-1].n_features_in_ == 3
    search = GridSearchCV(
        TrimmedClassifier(BayesNetClassifier()),
        {"budget": [1, 0.5], "estimator__structure": ["naive", "tan"]},
        cv=3,
        error_score="raise",
    ).fit(X, y)
    assert search.best_score_ > 0.8
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert np.array_equal(again.predict(X), search.predict(X))
    assert again.trimming_ == search.best_estimator_.trimming_
    assert not hasattr(clone(again), "trimming_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": -1}, "budget must be a number of at least 0"),
        ({"budget": "half"}, "budget must be a number"),
        ({"budget": True}, "budget must be a number"),
        ({"budget": float("nan")}, "budget must be a number"),
        ({"costs": [1, 2]}, "a number for each of the 6 columns"),
        ({"costs": {"fevr": 1}}, "'fevr'.*did you mean 'fever'"),
        ({"costs": {"fever": -1}}, "must be a positive number"),
        ({"threshold": 1.5}, "between 0 and 1"),
        ({"positive": "dead"}, "one of the labels 'ill', 'well', not 'dead'"),
        ({"method": "magic"}, "method must be one of 'branch-and-bound'"),
        ({"method": "fs-sdd"}, "method must be one of"),
        ({"estimator": GaussianNB()}, "KBinsDiscretizer"),
    ],
    ids=str,
)
def test_parameters_are_checked_in_fit(parameters, message):
    with pytest.raises((ModelError, QueryError), match=message):
        TrimmedClassifier(**parameters).fit(*table(40))


def test_thresholds_are_for_two_classes():
    X, _ = table(30)
    with pytest.raises(ModelError, match="for two classes; y has 3"):
        TrimmedClassifier(threshold=0.4).fit(X, [0, 1, 2] * 10)


def test_too_many_features_for_a_table_are_chosen_and_certified():
    rng = np.random.default_rng(2)
    y = rng.integers(3, size=300)
    noise = rng.integers(2, size=(300, 30))
    X = np.column_stack([np.where(rng.random(300) < 0.9, y, rng.integers(3, size=300)), noise])
    trimmed = TrimmedClassifier(budget=2, max_seconds=4).fit(X, y)
    selection = trimmed.trimming_.selection
    assert trimmed.get_support()[0]
    assert (selection.certainty, selection.engine) == (Certainty.BOUND, "sums")
    low, high = selection.interval
    assert low <= trimmed.agreement_ <= high
