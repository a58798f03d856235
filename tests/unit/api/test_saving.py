"""Classifiers come back from disk as they were, and predict rows as asking one by one does."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import unswayed
from strategies import classifiers
from unswayed import Classifier, FormatError, MostProbable, ThresholdRule, UtilityRule
from unswayed.core.errors import ImpossibleEvidence
from unswayed.model.zoo import printer, random_naive_bayes, review

PAPERS = Classifier(review(), "D", ["R1", "R2"], ThresholdRule("+", 0.6))
INVEST = UtilityRule({"go": {"+": 3.0, "-": -1.0}, "wait": {"+": 0.0, "-": 0.0}})


@pytest.mark.parametrize(
    "classifier",
    [
        PAPERS,
        Classifier(review(), "D", ["AC"], INVEST),
        Classifier(printer(), "Fault", ["Light", "Ping"], MostProbable()),
    ],
    ids=["threshold", "utility", "most probable"],
)
def test_saved_and_loaded_it_decides_the_same(tmp_path, classifier):
    unswayed.save_classifier(classifier, tmp_path / "trimmed.json")
    loaded = unswayed.load_classifier(tmp_path / "trimmed.json")
    assert (loaded.target, loaded.features, loaded.rule) == (
        classifier.target,
        classifier.features,
        classifier.rule,
    )
    rows = {name: list(classifier.network.variable(name).states) for name in classifier.features}
    longest = max(map(len, rows.values()))
    rows = {name: (states * longest)[:longest] for name, states in rows.items()}
    assert loaded.predict(rows) == classifier.predict(rows)


def test_variables_below_everything_are_left_out(tmp_path):
    unswayed.save_classifier(PAPERS, tmp_path / "c.json")
    assert "AC" not in unswayed.read_network(tmp_path / "c.bif").names


def test_a_network_that_stands_there_already_is_not_replaced(tmp_path):
    unswayed.write_network(review(), tmp_path / "review.bif")
    with pytest.raises(FormatError, match=r"review\.bif stands beside it already"):
        unswayed.save_classifier(PAPERS, tmp_path / "review.json")
    assert unswayed.read_network(tmp_path / "review.bif") == review()
    for _ in range(2):  # its own files may be written again
        unswayed.save_classifier(PAPERS, tmp_path / "mine.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "no JSON"),
        ("[]", "expected one JSON object"),
        ("{}", "not a classifier"),
        ('{"kind": "unswayed classifier", "version": 1}', "is missing"),
        ('{"kind": "unswayed classifier", "version": 1, "network": "none.bif"}', "no such file"),
    ],
)
def test_broken_files_are_refused(tmp_path, content, message):
    (tmp_path / "c.json").write_text(content)
    with pytest.raises(FormatError, match=message):
        unswayed.load_classifier(tmp_path / "c.json")


def test_a_file_that_contradicts_its_network_is_refused(tmp_path):
    unswayed.save_classifier(PAPERS, tmp_path / "c.json")
    content = json.loads((tmp_path / "c.json").read_text())
    (tmp_path / "c.json").write_text(json.dumps({**content, "target": "E"}))
    with pytest.raises(FormatError, match="unknown variable 'E'"):
        unswayed.load_classifier(tmp_path / "c.json")
    with pytest.raises(FormatError, match=r"\.json"):
        unswayed.save_classifier(PAPERS, tmp_path / "c.txt")


@settings(max_examples=30)
@given(classifiers(), st.data())
def test_predictions_equal_decisions_one_by_one(classifier, data):
    if not classifier.features:
        return
    states = {name: classifier.network.variable(name).states for name in classifier.features}
    cells = {
        name: st.lists(st.one_of(st.none(), st.sampled_from(s)), min_size=4, max_size=4)
        for name, s in states.items()
    }
    rows = {name: data.draw(column) for name, column in cells.items()}
    expected = []
    for i in range(4):
        evidence = {name: column[i] for name, column in rows.items() if column[i] is not None}
        try:
            expected.append(unswayed.decide(classifier, evidence).action)
        except ImpossibleEvidence:
            with pytest.raises(ImpossibleEvidence):
                classifier.predict(rows)
            return
    assert classifier.predict(rows) == expected


def test_many_features_are_predicted_without_one_large_table():
    network = random_naive_bayes(60, np.random.default_rng(0))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    rng = np.random.default_rng(1)
    rows = {f"F{i}": [f"s{v}" for v in rng.integers(0, 2, 3)] for i in range(1, 61)}
    expected = [
        unswayed.decide(classifier, {name: column[i] for name, column in rows.items()}).action
        for i in range(3)
    ]
    assert classifier.predict(rows) == expected
