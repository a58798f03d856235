"""Chains of functions whose first parents change nothing: they start in one state, the right one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from unswayed import BayesianNetwork, Cpt, Variable, posterior
from unswayed.inference import factors
from unswayed.model.chain import deterministic_chain
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.steps import StepContexts, StepNetwork


@pytest.mark.parametrize("seed", range(40))
def test_a_chain_reads_as_its_moves_do(seed):
    """Machines with states that nothing leads to, and parents that change nothing, walked by hand."""
    rng = np.random.default_rng(seed)
    widths = [1, *rng.integers(1, 4, 3)]
    moves = [rng.integers(0, after, (before, 2)) for before, after in itertools.pairwise(widths)]
    columns = rng.dirichlet(np.ones(2), widths[-1]).round(1)
    chain = deterministic_chain(range(3), moves, columns)
    for row in itertools.product(range(2), repeat=3):
        state, walked = 0, np.ones(1)
        for value, move in zip(row, moves, strict=True):
            state = move[state, value]
        for place, step in zip(chain.places, chain.steps, strict=True):
            walked = walked @ step[:, row[place]]
        np.testing.assert_allclose(walked @ chain.columns, columns[state])


def test_posteriors_of_a_function_whose_first_parent_never_matters(monkeypatch):
    """Its weights speak of V1, but V2 alone decides: x1 - 2 x2 >= 0 holds where V2 is a."""
    monkeypatch.setattr(factors, "TABLE_CELLS", 0)
    *parents, child = (Variable(f"V{i}", "ab") for i in range(4))
    network = StepNetwork([[0, 1, -2], [0, 0, 0], [0, 0, 0]], [0, 0, 0], [1, 0, 0])
    node = FocsCpt(child, parents, StepContexts(network, [0]), [[0.5, 0.5], [0.0, 1.0]])
    model = BayesianNetwork([*(Cpt(parent, (), [[0.3, 0.7]]) for parent in parents), node])
    assert posterior(model, of="V3")["a"] == pytest.approx(0.7 * 0.5)
    assert posterior(model, {"V2": "a"}, of="V3")["a"] == pytest.approx(0.0)
