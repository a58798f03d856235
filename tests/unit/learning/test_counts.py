"""Counts against a dictionary, and probabilities by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from learning_cases import datasets
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError, ModelError
from unswayed.core.limits import Limits
from unswayed.learning.counts import count_families, merge, smoothed_cpt, zero_counts
from unswayed.model.cpt import row_of
from unswayed.model.data.dataset import Dataset
from unswayed.model.variable import Variable


@given(datasets(), st.data())
def test_counts_are_those_of_a_dictionary(data: Dataset, draw: st.DataObject) -> None:
    family = tuple(draw.draw(st.permutations(range(len(data.variables)))))[: draw.draw(st.integers(1, 3))]
    weights = draw.draw(st.lists(st.integers(0, 3), min_size=data.n_rows, max_size=data.n_rows))
    data = Dataset(data.variables, data.codes, weights)
    expected: Counter[tuple[int, int]] = Counter()
    sizes = [len(data.variables[i]) for i in family]
    for row, weight in zip(data.codes.tolist(), weights, strict=True):
        states = [row[i] for i in family]
        if min(states) >= 0:
            expected[row_of(states[:-1], sizes[:-1]), states[-1]] += weight
    table = count_families(data, [family]).table(family)
    assert {cell: table[cell] for cell in np.ndindex(table.shape) if table[cell]} == {
        cell: weight for cell, weight in expected.items() if weight
    }


def test_smoothing_by_hand() -> None:
    child, parent = Variable("x", "abc"), Variable("u", "pq")
    counts = np.array([[3.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    cpt = smoothed_cpt([parent, child], (0, 1), counts, 0.5)
    assert cpt.table == pytest.approx(np.array([[3.5, 1.5, 0.5], [0.5, 0.5, 0.5]]) / [[5.5], [1.5]])
    raw = smoothed_cpt([parent, child], (0, 1), counts, 0.0)
    assert raw.table == pytest.approx(np.array([[0.75, 0.25, 0.0], [1 / 3, 1 / 3, 1 / 3]]))


@pytest.mark.parametrize("smoothing", [-1.0, float("nan"), float("inf")])
def test_smoothing_must_be_a_count(smoothing: float) -> None:
    with pytest.raises(ModelError, match="smoothing must be finite and at least 0"):
        smoothed_cpt([Variable("x", "ab")], (0,), np.ones((1, 2)), smoothing)


def test_zero_is_neutral_and_strangers_do_not_merge() -> None:
    data = Dataset([Variable("x", "ab")], [[0], [1], [1]])
    counts = count_families(data, [(0,)])
    assert merge(counts, zero_counts(data.variables, [(0,)])).tables[0].tolist() == [[1, 2]]
    with pytest.raises(ModelError, match="same families"):
        merge(counts, zero_counts(data.variables, []))
    with pytest.raises(ValueError, match="read-only"):
        counts.tables[0][0, 0] = 5


def test_counts_that_do_not_fit_are_refused_before_counting() -> None:
    wide = [Variable(f"V{i}", [f"s{k}" for k in range(100)]) for i in range(5)]
    data = Dataset(wide, [[0] * 5])
    with pytest.raises(LimitError, match="counting 1 families"), within(Limits(max_bytes=10**9)):
        count_families(data, [(0, 1, 2, 3, 4)])
