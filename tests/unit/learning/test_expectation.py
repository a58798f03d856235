"""EM: what it must keep, and what it must find again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from learning_cases import datasets
from oracles.enumerate_joint import mass_by_enumeration
from tolerances import ENGINE
from unswayed.core.errors import ModelError, UnswayedWarning
from unswayed.learning import learn_parameters
from unswayed.learning.expectation import EmOptions, learn_parameters_em
from unswayed.model.data.dataset import Dataset
from unswayed.model.variable import Variable

STRUCTURE = {"B": ["A"], "C": ["B"]}


def chain(data: Dataset) -> dict[str, list[str]]:
    """V0 -> V1 -> V2 and so on."""
    return {name: [before] for before, name in zip(data.names, data.names[1:], strict=False)}


def sampled(n_rows: int, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    a = rng.random(n_rows) < 0.4
    b = rng.random(n_rows) < np.where(a, 0.9, 0.3)
    c = rng.random(n_rows) < np.where(b, 0.8, 0.1)
    return Dataset([Variable(name, "01") for name in "ABC"], np.column_stack([a, b, c]).astype(np.int8))


def masked(data: Dataset, share: float) -> Dataset:
    codes = data.codes.copy()
    codes[np.random.default_rng(1).random(codes.shape) < share] = -1
    return Dataset(data.variables, codes, data.weights)


@settings(deadline=None, max_examples=40)
@given(datasets(max_variables=4))
def test_the_objective_never_decreases(data: Dataset) -> None:
    for smoothing in (0.0, 0.7):
        options = EmOptions(tolerance=1e-4)
        steps = np.diff(
            learn_parameters_em(chain(data), data, smoothing=smoothing, options=options).objectives
        )
        assert (steps >= -ENGINE).all()


@settings(deadline=None, max_examples=40)
@given(datasets(max_variables=4, has_missing=False))
def test_complete_data_are_simply_counted(data: Dataset) -> None:
    fit = learn_parameters_em(chain(data), data, smoothing=0.5)
    assert fit.is_converged
    for found, counted in zip(
        fit.network.cpts, learn_parameters(chain(data), data, smoothing=0.5).cpts, strict=True
    ):
        assert found.table == pytest.approx(counted.table, abs=ENGINE)


def test_the_objective_is_the_likelihood() -> None:
    """Of a small table, by enumeration, for the network before the last step."""
    data = masked(sampled(30), 0.3)
    fit = learn_parameters_em(STRUCTURE, data, smoothing=0.0)
    log_likelihood = sum(
        np.log(
            mass_by_enumeration(
                fit.network, {v.name: v.states[s] for v, s in zip(data.variables, row, strict=True) if s >= 0}
            )
        )
        for row in data.codes
    )
    assert fit.objectives[-1] == pytest.approx(log_likelihood)


def test_values_missing_at_random_are_recovered() -> None:
    """Within four standard errors of the parameters that the rows were drawn with."""
    fit = learn_parameters_em(STRUCTURE, masked(sampled(4000), 0.3))
    truth = [[[0.6, 0.4]], [[0.7, 0.3], [0.1, 0.9]], [[0.9, 0.1], [0.2, 0.8]]]
    for cpt, expected in zip(fit.network.cpts, truth, strict=True):
        assert np.abs(cpt.table - expected).max() < 4 * 0.5 / np.sqrt(4000 * 0.4 * 0.7**2)


def test_what_is_missing_for_a_reason_is_recovered_where_counting_fails() -> None:
    """B is looked at only where C is 1: counting what is seen overrates B, EM does not."""
    data = sampled(4000)
    codes = data.codes.copy()
    codes[codes[:, 2] == 0, 1] = -1
    codes[:200] = data.codes[:200]
    seen = Dataset(data.variables, codes)
    truth = data.codes[:, 1].mean()
    counted = learn_parameters({"B": []}, seen).cpts[0].table[0, 1]
    fit = learn_parameters_em({"C": ["B"]}, seen)
    assert counted - truth > 0.15
    assert fit.network.cpts[0].table[0, 1] == pytest.approx(truth, abs=0.06)


def test_hidden_variables_need_a_random_start() -> None:
    """Two features that agree more than chance: a hidden cause explains them, a symmetric start does not."""
    rng = np.random.default_rng(4)
    cause = rng.random(300) < 0.5
    codes = np.column_stack([np.full(300, -1), *(cause ^ (rng.random(300) < 0.1) for _ in range(3))])
    data = Dataset([Variable(name, "01") for name in "HXYZ"], codes.astype(np.int8))
    structure = {name: ["H"] for name in "XYZ"}
    stuck = learn_parameters_em(structure, data)
    moved = learn_parameters_em(structure, data, rng=np.random.default_rng(0))
    assert moved.objectives[-1] > stuck.objectives[-1] + 50
    again = learn_parameters_em(structure, data, rng=np.random.default_rng(0))
    assert again.network == moved.network


def test_stopping_early_is_said() -> None:
    with pytest.warns(UnswayedWarning, match="EM stopped after 1 steps"):
        fit = learn_parameters_em(STRUCTURE, masked(sampled(50), 0.5), options=EmOptions(max_steps=1))
    assert not fit.is_converged


def test_smoothing_is_checked_first() -> None:
    with pytest.raises(ModelError, match="smoothing"):
        learn_parameters_em(STRUCTURE, sampled(5), smoothing=-1)
