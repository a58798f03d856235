"""Folds of weighted rows, screened products, calibrated contexts, and lines that compile."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from unswayed.focs.learn.cpts import learn_states_cpt, learn_tree_cpt
from unswayed.focs.learn.estimator import FocsClassifier
from unswayed.focs.learn.inputs import find_parity
from unswayed.focs.learn.rows import WeightedRows, join_equal, share_out
from unswayed.focs.learn.step_networks import linear_contexts
from unswayed.focs.learn.thresholds import calibrate_scores, grow, make_rows
from unswayed.model.nodes.steps import StepContexts
from unswayed.model.variable import Variable


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_parts_of_rows_keep_all_weight_and_fill_the_folds_evenly(seed, n_folds):
    rng = np.random.default_rng(seed)
    rows = WeightedRows(
        rng.normal(size=(20, 2)), rng.integers(0, 2, 20), rng.choice([0.5, 1.0, 3.0, 9.0], 20)
    )
    parts, fold = share_out(rows, n_folds, rng)
    for row, weight in zip(rows.inputs, rows.weights, strict=True):
        own = (parts.inputs == row).all(axis=1)
        assert parts.weights[own].sum() == pytest.approx(weight)
        assert len(set(fold[own])) == own.sum() <= max(1, weight)
    whole = share_out(rows._replace(weights=np.full(20, 3.0)), n_folds, rng)
    for label in set(rows.labels):
        own = whole[0].labels == label
        sizes = np.bincount(whole[1][own], whole[0].weights[own], minlength=n_folds)
        assert sizes.max() - sizes.min() <= 1


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_joined_rows_do_not_depend_on_their_order_or_on_being_repeated(seed):
    rng = np.random.default_rng(seed)
    inputs, labels = rng.integers(0, 2, (30, 3)).astype(float), rng.integers(0, 2, 30)
    copies = rng.integers(0, 4, 30)
    weighted = join_equal(WeightedRows(inputs, labels, copies.astype(float)))
    shuffled = rng.permutation(np.repeat(np.arange(30), copies))
    repeated = join_equal(WeightedRows(inputs[shuffled], labels[shuffled], np.ones(len(shuffled))))
    for one, other in zip(weighted, repeated, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("places", [(4, 9), (0, 7, 13), (1, 2, 3, 19)])
def test_parities_of_uniform_bits_are_found(places):
    rng = np.random.default_rng(sum(places))
    rows = rng.random((2000, 20)) < 0.5
    labels = rows[:, list(places)].sum(axis=1) % 2 ^ (rng.random(2000) < 0.1)
    assert find_parity(rows, labels, with_four=True) == list(places)
    if len(places) == 4:
        assert find_parity(rows, labels, with_four=False) == []


def test_chance_is_not_taken_for_a_parity():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows, labels = rng.random((500, 30)) < rng.uniform(0.1, 0.9, 30), rng.integers(0, 2, 500)
        assert find_parity(rows, labels, with_four=True) == []


def test_a_calibrated_score_is_the_share_of_its_labels():
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 3, 40_000)
    labels = (rng.random(40_000) < 1 / (1 + np.exp(-(0.5 * scores - 1)))).astype(int)
    shares = calibrate_scores(make_rows(scores, labels, 2))[:, 1]
    for low, high in combinations((-9.0, -2.0, 0.0, 2.0, 9.0), 2):
        inside = (scores > low) & (scores < high)
        assert shares[inside].mean() == pytest.approx(labels[inside].mean(), abs=0.01)


def test_few_rows_learn_contexts_as_good_as_the_line_behind_them():
    """300 rows of a linear function: the loss is near that of the true probabilities."""
    rng = np.random.default_rng(3)
    slopes = rng.normal(size=8)

    def draw(count):
        rows = rng.normal(size=(count, 8))
        shares = 1 / (1 + np.exp(-rows @ slopes))
        return rows, (rng.random(count) < shares).astype(int), shares

    rows, labels, _ = draw(300)
    found = FocsClassifier(random_state=0).fit(rows, labels)
    new, truth, shares = draw(20_000)
    best = -np.log(np.where(truth == 1, shares, 1 - shares)).mean()
    loss = -np.log(found.predict_proba(new)[np.arange(len(truth)), truth]).mean()
    assert loss < best + 0.05


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_thresholds_on_a_line_over_states_are_read_input_by_input(seed):
    """The compiled machine ends in the context that the thresholds say."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 4)
    rows = np.indices(sizes).reshape(4, -1).T
    slopes, bias = rng.normal(size=4), float(rng.normal())
    scores = rows @ slopes + bias
    tree = grow(make_rows(scores, rng.integers(0, 2, len(rows)), 2), max_contexts=4)[-1].contexts
    contexts = linear_contexts(slopes, bias, tree, bits=20)
    far = np.abs(scores[:, None] - tree.cut[tree.feature >= 0]).min(axis=1, initial=np.inf) > 1e-4
    np.testing.assert_array_equal(contexts.index(rows)[far], tree.index(scores[:, None])[far])
    layers = contexts.layers(sizes.tolist(), {})
    for row, context in zip(rows.tolist(), contexts.index(rows).tolist(), strict=True):
        state = 0
        for place, move in zip(layers.order, layers.moves, strict=True):
            state = int(move[state, row[place]])
            if state < 0:
                break
        assert (-1 - state if layers.order else layers.context) == context


def test_a_linear_scorer_over_states_becomes_a_step_network():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, (2000, 5)).astype(float)
    labels = rng.random(2000) < 1 / (1 + np.exp(-(rows @ [1, -1, 0.5, 0, 0.3] - 1)))
    found = FocsClassifier(random_state=0).fit(rows, labels)
    assert isinstance(found.contexts_, StepContexts)
    cpt = found.as_cpt(Variable("Y", ["False", "True"]), [Variable(f"X{i}", "abcd") for i in range(5)])
    np.testing.assert_array_equal(cpt.probabilities(rows.astype(int)), found.predict_proba(rows))


def test_many_states_are_learned_by_a_tree_or_a_line():
    rng = np.random.default_rng(1)
    parents = [Variable(f"U{i}", ["low", "middle", "high"]) for i in range(6)]
    child = Variable("X", ["no", "yes"])
    inputs = rng.integers(0, 3, (1500, 6))
    new = rng.integers(0, 3, (5000, 6))

    def labels_of(rows, function):
        return (rng.random(len(rows)) < function(rows)).astype(int)

    def line(rows):
        return 1 / (1 + np.exp(-(rows.sum(axis=1) - 6.0)))

    def corner(rows):
        return np.where((rows[:, 0] == 1) & (rows[:, 3] == 2), 0.9, 0.1)

    for function, kind in ((line, "StepContexts"), (corner, "TreeContexts")):
        cpt = learn_states_cpt(child, parents, (inputs, labels_of(inputs, function)), rng=rng)
        assert type(cpt.contexts).__name__ == kind
        assert np.abs(cpt.probabilities(new)[:, 1] - function(new)).mean() < 0.06
    whole = learn_tree_cpt(child, parents, (inputs, labels_of(inputs, line)))
    assert cpt.contexts.n_contexts < whole.contexts.n_contexts
