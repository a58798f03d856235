"""Tables of nodes whose state is certain once their parents' states are known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.model.formats.reading.tokens import Span


def certain_table(states: Sequence[int], sizes: Sequence[int], span: Span) -> Floats:  # (rows, states)
    """Row r has all its mass on `states[r]`; `sizes` are those of the parents, then of the child.

    Raises `FormatError` at `span` unless there is one state for each configuration of the parents.
    """
    n_rows = math.prod(sizes[:-1])
    if len(states) != n_rows:
        span.fail(f"{len(states)} states found, expected {n_rows}, one for each configuration of the parents")
    table = np.zeros((n_rows, sizes[-1]))
    table[np.arange(n_rows), list(states)] = 1.0
    return table
