"""Threshold search against exhaustive search, scikit-learn's trees, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.tree import DecisionTreeClassifier

from unswayed.focs.learn.thresholds import (
    best_split,
    choose_size,
    column_log_likelihood,
    grow,
    learn_partition,
    make_rows,
    row_log_likelihoods,
)

labelled = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=25
)


@given(labelled, st.sampled_from([0.0, 1.0]))
def test_the_best_threshold_is_the_best_of_all(rows, smoothing):
    """Every threshold tried one by one, with columns counted anew."""
    scores, labels, weights = (np.array(each) for each in zip(*rows, strict=True))
    found = best_split(make_rows(scores, labels, 3, weights.astype(float)), smoothing=smoothing)

    def likelihood(members):
        counts = np.bincount(labels[members], weights[members], minlength=3)
        return float(column_log_likelihood(counts, smoothing))

    whole = likelihood(np.ones(len(labels), dtype=bool))
    gains = {
        t: likelihood(scores <= t) + likelihood(scores > t) - whole for t in sorted(set(scores.tolist()))[:-1]
    }
    best = max(gains.values(), default=0.0)
    if found is None:
        assert best < 1e-9
    else:
        assert found.gain == pytest.approx(best, abs=1e-9)
        below = max(t for t in gains if t <= found.threshold)
        assert gains[below] == pytest.approx(best, abs=1e-9)


def test_without_smoothing_the_first_split_is_that_of_a_decision_stump():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=500)
    labels = (rng.random(500) < 1 / (1 + np.exp(-2 * scores))).astype(int)
    stump = DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(scores[:, np.newaxis], labels)
    found = best_split(make_rows(scores, labels, 2), smoothing=0.0)
    assert found.threshold == pytest.approx(stump.tree_.threshold[0])


def test_contexts_are_numbered_by_rising_scores():
    scores = np.repeat([3.0, 1.0, 2.0, 0.0], 50)
    labels = np.repeat([0, 1, 2, 3], 50)
    partition = grow(make_rows(scores, labels, 4), max_contexts=9)[-1]
    assert partition.contexts.n_contexts == 4
    assert partition.contexts.index(np.array([[0.0], [1.0], [2.0], [3.0]])).tolist() == [0, 1, 2, 3]
    assert np.argmax(partition.columns, axis=1).tolist() == [3, 1, 2, 0]


def test_likelihood_on_the_learning_rows_rises_along_the_path():
    rng = np.random.default_rng(3)
    rows = make_rows(rng.normal(size=(300, 2)), rng.integers(0, 3, 300), 3)
    values = [
        row_log_likelihoods(partition, rows).sum() for partition in grow(rows, max_contexts=6, smoothing=0)
    ]
    assert values == sorted(values)


def test_scores_that_say_nothing_make_one_context():
    rng = np.random.default_rng(4)
    rows = make_rows(rng.normal(size=2000), rng.integers(0, 2, 2000), 2)
    assert learn_partition(rows, max_contexts=8, rng=rng).contexts.n_contexts == 1
    constant = make_rows(np.zeros(10), np.arange(10) % 2, 2)
    assert len(grow(constant, max_contexts=4)) == 1


def test_held_out_rows_decide_how_many_contexts_to_keep():
    rng = np.random.default_rng(5)

    def rows(count):
        scores = rng.integers(0, 3, count)
        return make_rows(
            scores.astype(float), (rng.random(count) < np.array([0.1, 0.5, 0.9])[scores]).astype(int), 2
        )

    partitions = grow(rows(3000), max_contexts=3)
    held = rows(3000)
    gains = np.stack([row_log_likelihoods(partition, held) for partition in partitions])
    assert choose_size(gains, held.weights) == 3


def test_thresholds_lie_between_neighbouring_floats():
    low = 1.0
    high = np.nextafter(low, 2.0)
    found = best_split(make_rows(np.array([low] * 5 + [high] * 5), np.array([0] * 5 + [1] * 5), 2))
    assert low <= found.threshold < high
