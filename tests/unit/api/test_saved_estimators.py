"""Learned estimators come back from JSON as they were, and damaged files are refused."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB

import unswayed
from unswayed import (
    BayesianNetwork,
    BayesNetClassifier,
    Classifier,
    Cpt,
    FocsClassifier,
    FormatError,
    ModelError,
    TrimmedClassifier,
    Variable,
)
from unswayed.model.nodes.noisy import NoisyOrCpt

RNG = np.random.default_rng(7)
ROWS = RNG.integers(0, 3, (300, 4)).astype(float)
LABELS = np.where(ROWS.sum(axis=1) + RNG.normal(size=300) > 4, "high", "low")


def learned():
    gaps = np.where(RNG.random(ROWS.shape) < 0.1, np.nan, ROWS)
    numbers = RNG.normal(size=(300, 3)) + (LABELS == "high")[:, None]
    naive = BayesNetClassifier().fit(ROWS, LABELS)
    yield "naive", naive, gaps
    yield "tan of numbers", BayesNetClassifier("tan", smoothing=0.5).fit(numbers, LABELS == "high"), numbers
    yield "focs", FocsClassifier(random_state=0).fit(ROWS, LABELS), gaps
    yield "focs of bits", FocsClassifier(random_state=0).fit(ROWS > 1, LABELS), ROWS > 1
    yield "linear focs", FocsClassifier(LogisticRegression(), random_state=0).fit(ROWS, LABELS), ROWS
    yield "trimmed", TrimmedClassifier(budget=2).fit(ROWS, LABELS), gaps
    yield "trimmed as it is", TrimmedClassifier(FrozenEstimator(naive), budget=2).fit(ROWS, LABELS), ROWS


@pytest.mark.parametrize(("estimator", "rows"), [pytest.param(e, r, id=name) for name, e, r in learned()])
def test_a_loaded_estimator_predicts_as_the_saved_one(tmp_path, estimator, rows):
    unswayed.save_classifier(estimator, tmp_path / "model.json")
    loaded = unswayed.load_classifier(tmp_path / "model.json")
    assert type(loaded) is type(estimator)
    assert loaded.classes_.tolist() == estimator.classes_.tolist()
    np.testing.assert_array_equal(loaded.predict_proba(rows), estimator.predict_proba(rows))
    np.testing.assert_array_equal(loaded.predict(rows), estimator.predict(rows))


def test_names_of_columns_and_numbers_come_back(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"dose": RNG.normal(size=80), "site": RNG.choice(["a", "b"], 80)})
    labels = np.where(frame["dose"] > 0, 1, 0)
    estimator = BayesNetClassifier().fit(frame, labels)
    unswayed.save_classifier(estimator, tmp_path / "model.json")
    loaded = unswayed.load_classifier(tmp_path / "model.json")
    assert loaded.feature_names_in_.tolist() == ["dose", "site"]
    assert loaded.network_ == estimator.network_
    more = loaded.partial_fit(frame, labels)
    assert more.network_ == estimator.partial_fit(frame, labels).network_


def test_a_trimming_tells_what_it_told(tmp_path):
    estimator = TrimmedClassifier(budget=2, costs=[1, 2, 1, 1]).fit(ROWS, LABELS)
    unswayed.save_classifier(estimator, tmp_path / "model.json")
    loaded = unswayed.load_classifier(tmp_path / "model.json")
    assert loaded.trimming_.selection == estimator.trimming_.selection
    assert loaded.trimming_.threshold_interval == estimator.trimming_.threshold_interval
    assert (loaded.threshold_, loaded.agreement_) == (estimator.threshold_, estimator.agreement_)
    np.testing.assert_array_equal(loaded.transform(ROWS), estimator.transform(ROWS))


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (BayesNetClassifier(), "call fit"),
        (FocsClassifier(RandomForestClassifier(5), random_state=0).fit(ROWS, LABELS), "scorer=None"),
        (TrimmedClassifier(CategoricalNB()).fit(ROWS, LABELS), "save its decisions"),
        (FocsClassifier(random_state=np.random.RandomState(1)).fit(ROWS, LABELS), "random_state"),
    ],
    ids=["not fitted", "forest", "foreign", "generator"],
)
def test_what_a_file_cannot_hold_is_refused(tmp_path, estimator, message):
    with pytest.raises(ModelError, match=message):
        unswayed.save_classifier(estimator, tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()


def damaged():
    """Every field of three saved estimators taken away, and replaced by something else."""
    from unswayed.api.saved_estimators import write_estimator

    for estimator in (
        BayesNetClassifier().fit(ROWS[:, :2], LABELS),
        FocsClassifier(random_state=0).fit(ROWS[:, :2], LABELS),
        TrimmedClassifier(budget=1).fit(ROWS[:, :2], LABELS),
    ):
        whole = write_estimator(estimator)
        for place in ("", "learned", "columns", "learned.node", "learned.node.contexts", "learned.selection"):
            inside = whole
            for step in place.split(".") if place else []:
                inside = inside.get(step, {})
            for name in inside if isinstance(inside, dict) else ():
                yield from _changes(whole, [*place.split("."), name] if place else [name])


def _changes(whole, steps):
    for value in (None, -3, "x", [], {}, [["a"]], [1e308, float("nan")]):
        changed = copy.deepcopy(whole)
        inside = changed
        for step in steps[:-1]:
            inside = inside[step]
        inside[steps[-1]] = value
        yield changed
    del inside[steps[-1]]
    yield changed


def test_damaged_files_are_refused_or_harmless(tmp_path):
    """Whatever stands in the file, loading gives an estimator that predicts, or a FormatError."""
    path, refused = tmp_path / "model.json", 0
    for content in damaged():
        path.write_text(json.dumps(content))
        try:
            loaded = unswayed.load_classifier(path)
        except FormatError:
            refused += 1
            continue
        shares = loaded.predict_proba(ROWS[:5, :2])
        assert shares.shape == (5, len(loaded.classes_))
        assert np.isfinite(shares).all()
    assert refused > 200


def test_deep_nesting_is_refused(tmp_path):
    (tmp_path / "model.json").write_text("[" * 100_000)
    with pytest.raises(FormatError, match="JSON"):
        unswayed.load_classifier(tmp_path / "model.json")


def test_a_classifier_on_a_network_of_functions_is_saved_whole(tmp_path):
    bits = [Variable(name, ["off", "on"]) for name in "ABC"]
    causes = [Cpt(bit, [], [[0.7, 0.3]]) for bit in bits[:2]]
    network = BayesianNetwork([*causes, NoisyOrCpt(bits[2], bits[:2], [0.8, 0.5], leak=0.1)])
    classifier = Classifier(network, "A", ["C"], threshold=0.4, positive="on")
    unswayed.save_classifier(classifier, tmp_path / "c.json")
    loaded = unswayed.load_classifier(tmp_path / "c.json")
    assert loaded.network == network
    assert (loaded.target, loaded.features, loaded.rule) == ("A", ("C",), classifier.rule)
