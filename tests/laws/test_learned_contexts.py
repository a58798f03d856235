"""Laws of learning contexts: no table is too small or too empty of signal to learn from."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from unswayed.core.errors import UnswayedWarning
from unswayed.focs.learn.cpts import learn_focs_cpt, learn_states_cpt
from unswayed.focs.learn.estimator import FocsClassifier
from unswayed.focs.learn.step_networks import linear_contexts
from unswayed.model.nodes.contexts import TreeContexts
from unswayed.model.variable import Variable

CELLS = np.array([[0], [0], [1], [1]] * 5), np.array([0, 1, 0, 1] * 5)
"""Both labels as often in either state."""


@pytest.mark.parametrize("seed", range(20))
def test_a_table_without_signal_makes_one_context_of_its_shares(seed):
    found = FocsClassifier(random_state=seed).fit(*CELLS)
    assert found.contexts_.n_contexts == 1
    np.testing.assert_allclose(found.predict_proba(CELLS[0]), 0.5)


@pytest.mark.parametrize("slope", [0.0, 1e-320, 1e-300, 1e-17, 1e-14, 1e-9, 1.0, 1e9])
def test_a_flat_line_leaves_every_row_on_the_side_of_its_score(slope):
    tree = TreeContexts(1, feature=[0, -1, 0, -1, -1], cut=[-2.0, 0, 3.0, 0, 0], left=[1, -1, 3, -1, -1],
                        right=[2, -1, 4, -1, -1])  # fmt: skip
    rows = np.arange(4)[:, np.newaxis]
    contexts = linear_contexts(np.array([slope]), 0.25, tree)
    np.testing.assert_array_equal(contexts.index(rows), tree.index(rows * slope + 0.25))


def learn_from_nothing(rng: np.random.Generator) -> None:
    """Learn from a tiny table, or from one whose labels know nothing of its inputs."""
    n_inputs = int(rng.integers(1, 4))
    n_rows = int(rng.choice([2, 3, 4, 6, 10, 30]))
    sizes = rng.integers(2, 4, n_inputs)
    inputs = rng.integers(0, sizes, (n_rows, n_inputs))
    labels = rng.integers(0, 2, n_rows)
    if rng.random() < 0.5:  # every row with both labels: exactly without signal
        inputs, labels = np.repeat(inputs, 2, axis=0), np.tile([0, 1], n_rows)
    parents = [Variable(f"X{i}", [str(k) for k in range(size)]) for i, size in enumerate(sizes)]
    found = learn_states_cpt(Variable("Y", ["n", "y"]), parents, (inputs, labels), rng=rng)
    np.testing.assert_allclose(found.probabilities(inputs).sum(axis=1), 1.0)


@pytest.mark.parametrize("seed", range(60))
def test_states_are_learned_from_any_table(seed):
    learn_from_nothing(np.random.default_rng(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_states_are_learned_from_any_table_of_many(seed):
    rng = np.random.default_rng([seed, 7])
    for _ in range(100):
        learn_from_nothing(rng)


def fit_to_nothing(rng: np.random.Generator) -> None:
    """The same for the estimator and for step networks, with labels of any number of classes."""
    n_rows, n_inputs = int(rng.choice([2, 3, 5, 8, 20])), int(rng.integers(1, 4))
    inputs = rng.integers(0, 2, (n_rows, n_inputs))
    labels = np.concatenate([[0, 1], rng.integers(0, rng.integers(2, 4), n_rows - 2)])
    scale = rng.choice([1.0, 1e-9, 1e9])
    found = FocsClassifier(max_iterations=20, n_restarts=1, random_state=int(rng.integers(99)))
    found.fit(inputs * scale, labels)
    np.testing.assert_allclose(found.predict_proba(inputs * scale).sum(axis=1), 1.0)
    names = [Variable(name, ["0", "1"]) for name in ("Y", *(f"X{i}" for i in range(n_inputs)))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnswayedWarning)
        learn_focs_cpt(names[0], names[1:], (inputs, labels.clip(0, 1)), rng=rng)


@pytest.mark.parametrize("seed", range(8))
def test_an_estimator_is_fitted_to_any_table(seed):
    fit_to_nothing(np.random.default_rng(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_an_estimator_is_fitted_to_any_table_of_many(seed):
    rng = np.random.default_rng([seed, 8])
    for _ in range(30):
        fit_to_nothing(rng)
