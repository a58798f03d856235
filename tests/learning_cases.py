"""Small random tables of states, with missing cells, for tests of learning."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from unswayed.model.data.dataset import Dataset
from unswayed.model.variable import Variable


def make_variables(sizes: list[int]) -> list[Variable]:
    """Variables V0, V1, ... with states s0, s1, ..."""
    return [Variable(f"V{i}", [f"s{k}" for k in range(size)]) for i, size in enumerate(sizes)]


@st.composite
def datasets(draw: st.DrawFn, *, max_variables: int = 5, has_missing: bool = True) -> Dataset:
    """A table of 2 to `max_variables` variables whose first has no missing value in the first row."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=max_variables))
    n_rows = draw(st.integers(1, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = np.column_stack([rng.integers(0, size, n_rows) for size in sizes])
    if has_missing:
        codes[rng.random(codes.shape) < draw(st.sampled_from([0.0, 0.3]))] = -1
        codes[0, 0] = 0
    return Dataset(make_variables(sizes), codes)


def take(data: Dataset, rows: object) -> Dataset:
    """Some rows of a table, perhaps repeated or in another order."""
    return Dataset(data.variables, data.codes[rows], data.weights[rows])
