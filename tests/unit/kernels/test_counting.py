"""Counting by cell, against a dictionary."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, strategies as st

from unswayed.kernels.counting import cell_counts, mixed_radix


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3), st.booleans()), max_size=30))
def test_weights_by_cell(rows: list[tuple[int, int, bool]]) -> None:
    expected: Counter[int] = Counter()
    for cell, weight, is_left_out in rows:
        expected[cell] += 0 if is_left_out else weight
    cells, weights, left_out = (np.array([row[i] for row in rows]) for i in range(3))
    found = cell_counts(cells.astype(np.int64), left_out.astype(bool), 5, weights.astype(float))
    assert found.tolist() == [expected[cell] for cell in range(5)]


@given(st.integers(0, 2 * 3 * 4 - 1))
def test_mixed_radix_undoes_unravelling(number: int) -> None:
    digits = np.array([np.unravel_index(number, (2, 3, 4))])
    assert mixed_radix(digits, [2, 3, 4]).tolist() == [number]
