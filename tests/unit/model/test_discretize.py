"""Where columns are cut, against definitions and published cut points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oracles.mdl_by_definition import mdl_cuts_by_definition
from shared_data import SHARED, needs_shared_data
from unswayed.core.errors import ModelError
from unswayed.model.data.dataset import make_dataset
from unswayed.model.data.discretize import (
    AtMean,
    CutMethod,
    Discretization,
    EntropyMdl,
    EqualFrequency,
    EqualWidth,
    Observed,
    chosen_cuts,
    mdl_cuts,
)
from unswayed.model.data.intervals import interval_codes, interval_cuts

labelled = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=1, max_size=60)


def observed(values: list[float], weights: list[float] | None = None) -> Observed:
    return Observed(
        np.array(values, dtype=float), np.ones(len(values)) if weights is None else np.array(weights)
    )


@settings(max_examples=300)
@given(labelled)
def test_mdl_is_its_definition(rows: list[tuple[int, int]]) -> None:
    values, labels = [float(value) for value, _ in rows], [label for _, label in rows]
    found = mdl_cuts(np.array(values), np.array(labels), np.ones(len(rows)))
    assert found.tolist() == mdl_cuts_by_definition(values, labels)


@given(st.integers(2, 40), st.integers(0, 3), st.data())
def test_mdl_separates_what_can_be_separated(size: int, shift: int, data: st.DataObject) -> None:
    """Blocks of pure classes that are long enough are cut exactly at their borders."""
    borders = sorted(data.draw(st.sets(st.integers(1, 3), min_size=1)))
    n = 40 + size
    labels = np.concatenate([np.full(n, i % 3) for i in range(len(borders) + 1)])
    values = np.arange(len(labels)) + float(shift)
    expected = [n * (i + 1) - 0.5 + shift for i in range(len(borders))]
    assert mdl_cuts(values, labels, np.ones(len(labels))).tolist() == expected


@given(labelled, st.data())
def test_mdl_weight_is_repetition(rows: list[tuple[int, int]], data: st.DataObject) -> None:
    times = data.draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    values = np.array([float(value) for value, _ in rows])
    labels = np.array([label for _, label in rows])
    weighted = mdl_cuts(values, labels, np.array(times, dtype=float))
    repeated = mdl_cuts(np.repeat(values, times), np.repeat(labels, times), np.ones(sum(times)))
    assert weighted.tolist() == repeated.tolist()


def test_neighbouring_floats_are_kept_apart() -> None:
    low = 1.0
    high = np.nextafter(low, 2.0)
    values = np.array([low] * 20 + [high] * 20)
    cuts = mdl_cuts(values, np.repeat([0, 1], 20), np.ones(40))
    assert interval_codes(values, cuts).tolist() == [0] * 20 + [1] * 20


@needs_shared_data
def test_mdl_cuts_of_pima_as_weka_prints_them() -> None:
    """WEKA's supervised Discretize on its copy of the data (diabetes.arff), the same rows."""
    data = make_dataset(SHARED / "tables" / "pima.csv", "diabetes")
    cuts = [interval_cuts(variable) for variable in data.variables[:-1]]
    printed = [[6.5], [99.5, 127.5, 154.5], [], [], [14.5, 121], [27.85], [0.5275], [28.5]]
    assert [None if found is None else found.round(4).tolist() for found in cuts] == printed


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=50), st.integers(2, 6))
def test_equal_frequency_cuts_are_the_least_values_that_reach_their_share(
    values: list[int], n_bins: int
) -> None:
    ordered = sorted(values)
    quantiles = {ordered[-(-len(ordered) * k // n_bins) - 1] for k in range(1, n_bins)}
    expected = sorted(q for q in quantiles if q < ordered[-1])
    assert chosen_cuts(EqualFrequency(n_bins), observed([float(v) for v in values])).tolist() == expected


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=30), st.data())
@pytest.mark.parametrize("method", [EqualFrequency(3), EqualWidth(4), AtMean()])
def test_weight_is_repetition(method: CutMethod, values: list[int], data: st.DataObject) -> None:
    times = data.draw(st.lists(st.integers(1, 3), min_size=len(values), max_size=len(values)))
    weighted = chosen_cuts(method, observed([float(v) for v in values], [float(t) for t in times]))
    repeated = chosen_cuts(method, observed(np.repeat(values, times).astype(float).tolist()))
    assert weighted == pytest.approx(repeated)


def test_equal_width_and_mean_by_hand() -> None:
    assert chosen_cuts(EqualWidth(4), observed([0, 1, 8])).tolist() == [2, 4, 6]
    assert chosen_cuts(AtMean(), observed([0, 1, 8])).tolist() == [3]
    assert chosen_cuts(AtMean(), observed([0, 1, 8], [1, 1, 2])).tolist() == [4.25]


@pytest.mark.parametrize("method", [EqualFrequency(), EqualWidth(), AtMean()])
def test_a_constant_column_is_not_cut(method: CutMethod) -> None:
    assert chosen_cuts(method, observed([0.1, 0.1, 0.1])).size == 0


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(ModelError, match="n_bins must be at least 2"):
        EqualWidth(1)
    with pytest.raises(ModelError, match="needs a target"):
        EntropyMdl().cuts(observed([1.0, 2.0]))
    with pytest.raises(ModelError, match="cut points of 'age' must be finite and ascending"):
        Discretization(cuts_by_column={"age": [3, 1]})
    with pytest.raises(ModelError, match="max_categories"):
        Discretization(max_categories=-1)
