"""Trees and mixtures of trees: EM never lowers its objective, one component is the tree, gaps are taken."""

import numpy as np
import pytest

from tolerances import EXACT
from unswayed.inference.posteriors import log_probability
from unswayed.learning.backgrounds import fit_mixture, learn_mixture, learn_tree, mean_log_likelihood
from unswayed.learning.expectation import EmOptions, learn_parameters_em
from unswayed.model.data.dataset import Dataset
from unswayed.model.variable import Variable


def rows_of(seed: int, *, n_rows: int = 120, n_columns: int = 5, gaps: float = 0.0) -> Dataset:
    """Rows of two kinds, with some cells missing."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(2, size=n_rows)
    sizes = rng.integers(2, 4, size=n_columns)
    variables = [Variable(f"x{j}", [str(s) for s in range(size)]) for j, size in enumerate(sizes)]
    drawn = [np.where(rng.random(n_rows) < 0.7, kind, rng.integers(size, size=n_rows)) for size in sizes]
    codes = np.column_stack(drawn)
    codes[rng.random(codes.shape) < gaps] = -1
    return Dataset(variables, codes, rng.integers(1, 3, size=n_rows).astype(float))


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("components", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_em_never_lowers_its_objective(seed, components, gaps):
    fit = fit_mixture(rows_of(seed, gaps=gaps), components, rng=np.random.default_rng(seed))
    assert (np.diff(fit.objectives) >= -1e-8).all()


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_a_mixture_of_one_is_the_tree(seed, gaps):
    data = rows_of(seed, gaps=gaps)
    assert learn_mixture(data, components=1) == learn_tree(data)


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_is_that_of_the_network(seed, components):
    data = rows_of(seed, n_rows=30, gaps=0.3)
    network = fit_mixture(data, components, rng=np.random.default_rng(seed)).network
    logs = [
        log_probability(network, {network.index(f"x{j}"): int(s) for j, s in enumerate(row) if s >= 0})
        for row in data.codes
    ]
    expected = float(data.weights @ logs / data.weights.sum())
    assert mean_log_likelihood(network, data) == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("seed", range(3))
def test_gaps_are_learned_as_em_learns_them(seed):
    """The same parameters as the learner of any structure finds on this tree."""
    data = rows_of(seed, n_rows=60, gaps=0.2)
    options = EmOptions(tolerance=1e-10, max_steps=500)
    tree = fit_mixture(data, 1, options=options).network
    other = learn_parameters_em(tree, data, smoothing=0.5, options=options).network
    for one, two in zip(tree.cpts, other.cpts, strict=True):
        np.testing.assert_allclose(one.table, two.table, atol=1e-4)


def test_two_kinds_of_rows_are_worth_two_components():
    network = learn_mixture(rows_of(0, n_rows=1500, n_columns=8), rng=np.random.default_rng(0))
    assert network.names[0] == "component"
    assert len(network.variables[0]) >= 2
