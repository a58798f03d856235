"""An audit equals single questions: patterns, zeros, ties, several classes, dependent features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import unswayed
from strategies import classifiers
from tolerances import EXACT
from unswayed import Classifier, ImpossibleEvidence, QueryError, ThresholdRule, audit
from unswayed.model.zoo import random_bounded_treewidth, random_naive_bayes


def rows_of(classifier, rng, n_rows):
    """Random cells, some of them missing."""
    return {
        name: [
            None if rng.random() < 0.4 else str(rng.choice(classifier.network.variable(name).states))
            for _ in range(n_rows)
        ]
        for name in classifier.features
    }


def findings(columns, i):
    return {name: cells[i] for name, cells in columns.items() if cells[i] is not None}


def check(classifier, columns, n_rows, **options):
    found = audit(classifier, columns, **options)
    for i in range(n_rows):
        evidence = findings(columns, i)
        single = unswayed.sdp(classifier, evidence)
        decided = unswayed.decide(classifier, evidence)
        assert found.decision[i] == decided.action
        assert found.sdp[i] == pytest.approx(single.value, abs=EXACT)
        assert found.safe[i] == (single.low >= found.at_least - 1e-12)
        rule = classifier.rule
        wanted = (
            decided.posterior[rule.positive]
            if isinstance(rule, ThresholdRule)
            else max(decided.posterior.values())
        )
        assert found.posterior[i] == pytest.approx(wanted, abs=EXACT)


@settings(max_examples=60)
@given(classifiers(), st.integers(0, 2**32 - 1))
def test_an_audit_equals_single_questions(classifier, seed):
    assume(classifier.features)
    columns = rows_of(classifier, np.random.default_rng(seed), 6)
    try:
        check(classifier, columns, 6)
    except ImpossibleEvidence:
        assume(False)


@pytest.mark.parametrize("n_features", [12, 24])
def test_naive_bayes_by_sorted_sums(n_features):
    network = random_naive_bayes(n_features, np.random.default_rng(3))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.3))
    columns = rows_of(classifier, np.random.default_rng(4), 12)
    check(classifier, columns, 12)


def test_rows_beyond_lists_and_tables_are_asked_one_by_one(monkeypatch):
    network = random_bounded_treewidth(10, 2, np.random.default_rng(0))
    target = network.names[0]
    classifier = Classifier(network, target, network.names[1:], threshold=0.4, positive="s0")
    columns = rows_of(classifier, np.random.default_rng(4), 8)
    monkeypatch.setattr("unswayed.engines.patterns.LARGEST_TABLE", 1.0)
    monkeypatch.setattr("unswayed.engines.patterns.MOST_BITS", -1.0)
    check(classifier, columns, 8)


def test_parallel_audits_are_the_same():
    network = random_naive_bayes(9, np.random.default_rng(1))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    columns = rows_of(classifier, np.random.default_rng(2), 200)
    one, two = audit(classifier, columns), audit(classifier, columns, n_jobs=2)
    assert one.decision == two.decision
    assert one.sdp.tolist() == two.sdp.tolist()


def test_an_impossible_row_is_named():
    network = unswayed.BayesianNetwork(
        [
            unswayed.Cpt(c := unswayed.Variable("C", ["a", "b"]), [], [0.5, 0.5]),
            unswayed.Cpt(unswayed.Variable("F", ["x", "y", "z"]), [c], [[0.5, 0.5, 0.0], [0.3, 0.7, 0.0]]),
        ]
    )
    classifier = Classifier(network, "C", threshold=0.5, positive="a")
    with pytest.raises(ImpossibleEvidence, match=r"row 2 of the table is impossible .*F=z"):
        audit(classifier, {"F": ["x", "z"]})


def test_reasons_next_tests_outcomes_and_files(tmp_path):
    from unswayed.model.zoo import review

    papers = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    columns = {"R1": ["+", None, "-"], "AC": ["+", "-", None], "D": ["+", "-", "+"]}
    found = audit(papers, columns, next_test=True, reason=True, outcome="D", costs={"R2": 3.0})
    assert found.columns.next_test[0] == "R2"
    assert found.columns.next_test[1] is None
    assert found.columns.reason[1] == "AC=-"
    summary = found.summary()
    assert (summary["rows"], summary["safe"], summary["fragile"]) == (3, 2, 1)
    assert summary["saved_cost"] == pytest.approx((1 + 3) + (3 + 1))
    confirmed = {band["sdp_from"]: band["confirmed"] for band in summary["confirmed"]}
    assert confirmed == {0.5: 1.0, 0.95: 1.0, 0.99: 0.0}
    frame = found.to_frame()
    assert list(frame.columns)[:3] == ["R1", "AC", "D"]
    assert list(frame.columns)[3:9] == ["decision", "posterior", "sdp", "sdp_low", "sdp_high", "safe"]
    found.write(tmp_path / "audited.csv")
    assert (tmp_path / "audited.csv").read_text().splitlines()[0].startswith("R1,AC,D,decision,posterior,sdp")
    with pytest.raises(unswayed.FormatError, match=r"\.csv or \.parquet"):
        found.write(tmp_path / "audited.xls")
    with pytest.raises(QueryError, match="outcome is no column"):
        audit(papers, columns, outcome="E")


def trees(n_features, seed):
    rng = np.random.default_rng(seed)
    return unswayed.learning.learn_tan(rng.integers(0, 3, (150, n_features + 1)), "x0", smoothing=0.2)


@pytest.mark.parametrize("n_features", [4, 9])
def test_trees_by_sums_over_components(n_features, monkeypatch):
    """What a component adds depends on the observed features around it alone."""
    monkeypatch.setattr("unswayed.engines.patterns.SMALL_TABLE", 0.0)
    classifier = Classifier(trees(n_features, 2), "x0", threshold=0.3, positive="1")
    two_classes = Classifier(
        unswayed.learning.learn_tan(np.random.default_rng(1).integers(0, 2, (90, n_features + 1)), "x0"), "x0"
    )
    for each in (classifier, two_classes):
        check(each, rows_of(each, np.random.default_rng(4), 15), 15)


def test_boundaries_too_large_for_one_table(monkeypatch):
    monkeypatch.setattr("unswayed.engines.patterns.SMALL_TABLE", 0.0)
    monkeypatch.setattr("unswayed.engines.components.LARGEST_JOINT", 0)
    network = random_bounded_treewidth(9, 2, np.random.default_rng(5))
    classifier = Classifier(network, network.names[3], threshold=0.5, positive="s1")
    check(classifier, rows_of(classifier, np.random.default_rng(4), 12), 12)


def test_alike_features_have_few_sums():
    """Sixty alike features have 61 sums, not 2^60."""
    c = unswayed.Variable("C", ["a", "b"])
    table = [[0.7, 0.3], [0.4, 0.6]]
    cpts = [unswayed.Cpt(c, [], [0.5, 0.5])]
    cpts += [unswayed.Cpt(unswayed.Variable(f"F{i}", ["0", "1"]), [c], table) for i in range(60)]
    classifier = Classifier(unswayed.BayesianNetwork(cpts), "C")
    found = audit(classifier, {"F0": ["0", "1"], "F1": ["0", None]})
    for row, evidence in enumerate([{"F0": "0", "F1": "0"}, {"F0": "1"}]):
        single = unswayed.sdp(classifier, evidence)
        assert found.sdp[row] == pytest.approx(single.value, abs=EXACT)


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(classifiers(), st.integers(0, 2**32 - 1))
def test_ten_thousand_rows_equal_single_questions(classifier, seed):
    """Patterns, zeros, ties, several classes, dependent features: 600 classifiers of up to 17 rows each."""
    assume(classifier.features)
    columns = rows_of(classifier, np.random.default_rng(seed), 17)
    try:
        check(classifier, columns, 17)
    except ImpossibleEvidence:
        assume(False)
