"""Learning contexts: parities among many inputs, cardinalities, trees; gradients and conversions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.linear_model import LogisticRegression

from focs_strategies import bit
from unswayed.core.errors import ModelError, QueryError, UnswayedWarning
from unswayed.focs.learn.contexts import learn_step_contexts
from unswayed.focs.learn.cpts import learn_focs_cpt, learn_tree_cpt
from unswayed.focs.learn.inputs import LabelledBits, StepOptions, best_partition, count_patterns
from unswayed.focs.learn.scorers import Training, _Loss, fit_perceptron, logistic_weights
from unswayed.focs.learn.step_networks import step_network
from unswayed.focs.learn.tables import find_tree, learn_lookup
from unswayed.model.distribution import all_states
from unswayed.model.nodes.perceptron import Activation
from unswayed.model.variable import Variable


def parity_rows(n_inputs, places, count, rng, *, ones=0.8, noise=0.05):
    rows = rng.random((count, n_inputs)) < ones
    labels = np.logical_xor.reduce(rows[:, places], axis=1) ^ (rng.random(count) < noise)
    return rows, labels.astype(np.int64)


def is_parity(contexts, n_inputs, places):
    """Whether two contexts are exactly the parity, on all patterns of its inputs and any others."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (512, n_inputs))
    rows[: 2 ** len(places), places] = all_states([2] * len(places))
    odd = rows[:, places].sum(axis=1) % 2
    index = contexts.index(rows)
    return contexts.n_contexts == 2 and ((index == odd).all() or (index == 1 - odd).all())


@pytest.mark.slow
@pytest.mark.parametrize("ones", [0.8, 0.5])
def test_parity_of_three_among_thirty_inputs_is_learned_every_time(ones):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        places = [seed, seed + 9, seed + 20]
        rows, labels = parity_rows(30, places, 4096, rng, ones=ones)
        learned = learn_step_contexts(rows, labels, rng=rng)
        assert learned.inputs == tuple(places)
        assert is_parity(learned.contexts, 30, places)
        assert np.sort(learned.columns[:, 1]) == pytest.approx([0.05, 0.95], abs=0.02)


def test_parity_of_two_among_eight_is_learned():
    rng = np.random.default_rng(0)
    rows, labels = parity_rows(8, [1, 6], 1000, rng)
    learned = learn_step_contexts(rows, labels, rng=rng)
    assert learned.inputs == (1, 6)
    assert is_parity(learned.contexts, 8, [1, 6])


def test_a_label_that_depends_on_nothing_has_one_context():
    rng = np.random.default_rng(1)
    learned = learn_step_contexts(rng.random((800, 6)) < 0.5, (rng.random(800) < 0.3).astype(int), rng=rng)
    assert (learned.contexts.n_contexts, learned.inputs) == (1, ())
    assert learned.columns[0, 1] == pytest.approx(0.3, abs=0.05)


@pytest.mark.slow
def test_a_cardinality_of_all_inputs_keeps_all_inputs():
    rng = np.random.default_rng(2)
    rows = rng.random((6000, 16)) < 0.5
    labels = ((rows.sum(axis=1) > 8) ^ (rng.random(6000) < 0.05)).astype(int)
    learned = learn_step_contexts(rows, labels, rng=rng)
    assert learned.inputs == tuple(range(16))
    agreement = np.mean((learned.contexts.index(rows) == 1) == (rows.sum(axis=1) > 8))
    assert max(agreement, 1 - agreement) > 0.97


def test_a_tree_learns_a_decision_list_to_its_rare_ends():
    """Distance from the true list in expected log-likelihood, over all instantiations of its inputs."""
    rng = np.random.default_rng(2)
    rows = rng.random((8000, 14)) < 0.5
    states = all_states([2] * 14)

    def share_of_ones(bits):
        first = np.argmax(bits[:, :12], axis=1)
        return np.where(bits[:, :12].any(axis=1) & (first % 2 == 1), 0.95, 0.05)

    labels = (rng.random(8000) < share_of_ones(rows)).astype(int)
    options = StepOptions()
    filled = find_tree(LabelledBits(rows, labels), [0, 1, 2, 3, 4], options, rng, is_filled=False)
    contexts, columns = learn_lookup(count_patterns(rows, labels, filled.inputs), filled, 14, options)
    truth, found = share_of_ones(states), columns[contexts.index(states), 1]
    distance = truth * np.log(truth / found) + (1 - truth) * np.log((1 - truth) / (1 - found))
    assert distance.mean() < 0.005


def test_contexts_may_be_more_than_two():
    rng = np.random.default_rng(3)
    rows = rng.random((4000, 5)) < 0.5
    shares = np.array([0.05, 0.5, 0.95])[rows[:, 0].astype(int) + rows[:, 3]]
    labels = (rng.random(4000) < shares).astype(int)
    learned = learn_step_contexts(rows, labels, options=StepOptions(max_contexts=3), rng=rng)
    assert learned.inputs == (0, 3)
    assert np.sort(learned.columns[:, 1]) == pytest.approx([0.05, 0.5, 0.95], abs=0.05)


def test_the_best_partition_of_patterns_is_the_best_of_all_subsets():
    """No way to put the eight patterns into two contexts is more likely than the best cut of their shares."""
    rng = np.random.default_rng(4)
    rows, labels = rng.random((200, 3)) < 0.5, rng.integers(0, 2, 200)
    patterns = count_patterns(rows, labels, [0, 1, 2])

    def likelihood(contexts):
        value = 0.0
        for context in (0, 1):
            counts = patterns.counts[contexts == context].sum(axis=0)
            total = counts.sum()
            value += sum(c * np.log(c / total) for c in counts if c)
        return value

    found = best_partition(patterns, max_contexts=2, smoothing=0.0)
    ours = likelihood(found.contexts.index(patterns.shares(0.0)[:, np.newaxis]))
    assert ours == pytest.approx(max(likelihood(contexts) for contexts in all_states([2] * 8)))


@pytest.mark.parametrize("activation", [Activation.LOGISTIC, Activation.TANH], ids=lambda each: each.value)
@pytest.mark.parametrize("n_states", [2, 3])
def test_the_gradient_is_that_of_the_loss(activation, n_states):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_states, 20)
    targets = labels[:, np.newaxis].astype(float) if n_states == 2 else np.eye(n_states)[labels]
    loss = _Loss(
        rng.normal(size=(20, 3)), targets, rng.random(20) + 0.1, Training(n_hidden=2, activation=activation)
    )
    start = rng.normal(size=sum(int(np.prod(shape)) for shape in loss.shapes))
    assert check_grad(lambda v: loss(v)[0], lambda v: loss(v)[1], start) < 1e-5


def test_weights_of_rows_are_repetitions():
    rng = np.random.default_rng(0)
    rows, labels, counts = rng.normal(size=(30, 2)), rng.integers(0, 2, 30), rng.integers(1, 4, 30)
    training = Training(n_hidden=2, max_iterations=500)
    weighted = fit_perceptron(
        rows, labels, 2, training, rng=np.random.default_rng(1), weights=counts.astype(float)
    )
    many = np.repeat(np.arange(30), counts)
    repeated = fit_perceptron(rows[many], labels[many], 2, training, rng=np.random.default_rng(1))
    # Scaling uses the rows as they are given, so the two differ in their starts; the optimum is the same.
    assert weighted.scores(rows) == pytest.approx(repeated.scores(rows), abs=0.35)


def test_output_weights_are_those_of_logistic_regression():
    rng = np.random.default_rng(0)
    features = rng.integers(0, 2, (500, 4)).astype(float)
    labels = (rng.random(500) < 1 / (1 + np.exp(-(features @ [1.0, -2.0, 0.5, 0.0])))).astype(int)
    ours = logistic_weights(features, labels, np.ones(500), penalty=1e-6)
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(features, labels).coef_[0]
    assert ours == pytest.approx(theirs, abs=1e-3)


@pytest.mark.parametrize("activation", Activation, ids=lambda each: each.value)
def test_the_step_network_is_about_as_good_as_the_smooth_one(activation):
    rng = np.random.default_rng(0)
    rows, labels = parity_rows(6, [0, 2, 4], 3000, rng)
    smooth = fit_perceptron(
        rows.astype(float), labels, 2, Training(activation=activation, n_starts=3), rng=rng
    )
    steps = step_network(smooth, rows, labels, weights=np.ones(3000))
    scores = steps.scores(rows)
    step_right = max(np.mean((scores > cut) == labels) for cut in np.unique(scores))
    smooth_right = np.mean((smooth.scores(rows.astype(float))[:, 0] > 0) == labels)
    assert step_right > smooth_right - 0.08


def test_tree_cpts_follow_scikit_learn_and_are_smoothed():
    rng = np.random.default_rng(0)
    parents = [bit("A"), Variable("B", ["x", "y", "z"])]
    inputs = np.column_stack([rng.integers(0, 2, 300), rng.integers(0, 3, 300)])
    labels = ((inputs[:, 1] == 1) | (inputs[:, 0] == 1)).astype(int)
    cpt = learn_tree_cpt(bit("X"), parents, (inputs, labels))
    shares = cpt.probabilities(np.array([[0, 0], [0, 1], [0, 2], [1, 2]]))[:, 1]
    assert (shares > 0.5).tolist() == [False, True, False, True]
    assert ((shares > 0) & (shares < 1)).all()


def test_rows_that_are_no_states_are_refused():
    parents = [bit("A"), bit("B")]
    rng = np.random.default_rng(0)
    with pytest.raises(QueryError, match="parents' states must be their positions"):
        learn_tree_cpt(bit("X"), parents, (np.full((3, 2), 2), np.zeros(3, dtype=int)))
    with pytest.raises(QueryError, match="a state of the child for each row"):
        learn_focs_cpt(bit("X"), parents, (np.zeros((3, 2), dtype=int), np.zeros(2, dtype=int)), rng=rng)
    with pytest.raises(ModelError, match="has 3 states"):
        learn_focs_cpt(
            Variable("X", "abc"), parents, (np.zeros((3, 2), dtype=int), np.zeros(3, dtype=int)), rng=rng
        )
    with pytest.raises(QueryError, match="max_depth"):
        learn_tree_cpt(bit("X"), parents, (np.zeros((3, 2), dtype=int), np.zeros(3, dtype=int)), max_depth=0)
    with pytest.raises(QueryError, match="n_hidden must be a whole number, at least 1"):
        StepOptions(n_hidden=0)
    with pytest.raises(QueryError, match="max_inputs must be at most 16"):
        StepOptions(max_inputs=40)
    with pytest.raises(QueryError, match="of 0 and 1"):
        learn_step_contexts(np.full((4, 2), 0.5), np.zeros(4), rng=rng)


def held_out_loss(function, n_inputs, count, *, options=None, noise=0.05):
    """Minus the mean log-likelihood of new rows, and of the function itself on the same rows."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (count + 10_000, n_inputs))
    labels = function(rows) ^ (rng.random(len(rows)) < noise)
    child, *parents = (bit(name) for name in ("X", *(f"U{i}" for i in range(n_inputs))))
    pair = rows[:count], labels[:count]
    cpt = learn_focs_cpt(child, parents, pair, options=options, rng=np.random.default_rng(0))
    shares = cpt.probabilities(rows[count:])[np.arange(10_000), labels[count:]]
    truth = np.where(function(rows[count:]) == labels[count:], 1 - noise, noise)
    return -np.log(shares).mean(), -np.log(truth).mean()


def test_few_rows_are_enough_for_a_majority():
    """With nothing learned the loss is .69; logistic regression has .34."""
    loss, _ = held_out_loss(lambda rows: (rows[:, :7].sum(axis=1) > 3).astype(int), 7, 200)
    assert loss < 0.4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["multiplexer", "decision list", "ten of five terms"])
def test_functions_of_a_dozen_inputs_come_near_the_limit(name):
    functions = {
        "multiplexer": lambda rows: rows[np.arange(len(rows)), 3 + rows[:, :3] @ [1, 2, 4]],
        "decision list": lambda rows: np.where(
            rows[:, :12].any(axis=1), np.argmax(rows[:, :12], axis=1) % 2, 0
        ),
        "ten of five terms": lambda rows: rows[:, :10].reshape(-1, 5, 2).all(axis=2).any(axis=1).astype(int),
    }
    loss, limit = held_out_loss(functions[name], 20, 10_000)
    # The last inputs of a decision list matter in one row of a thousand.
    assert loss < limit + (0.02 if name == "decision list" else 0.005)


@pytest.mark.slow
def test_ranking_takes_more_rows_when_it_finds_nothing():
    options = StepOptions(n_ranking_rows=500, n_starts=1)
    loss, limit = held_out_loss(lambda rows: rows[:, :4].sum(axis=1) % 2, 30, 20_000, options=options)
    assert loss < limit + 0.005


def test_a_bound_on_inputs_that_binds_is_warned_of():
    options = StepOptions(max_inputs=1)
    with pytest.warns(UnswayedWarning, match="as many as max_inputs allows"):
        held_out_loss(lambda rows: rows[:, 0], 4, 1000, options=options)
