"""Inputs that matter together and not alone: a screen of products of two, three and four of them.

Of a parity of uniform bits no single input tells anything, nor do two of three. The product of all of them,
each as -1 and 1, does. With centred and scaled inputs z_i, products of different sets are uncorrelated as
long as inputs are independent, so that the mean of y z_i z_j z_k over n rows is chance unless it exceeds a
few times n^(-1/2). All products of three of sixty inputs are one product of matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.focs.learn.patterns import Bits
from unswayed.focs.learn.perceptrons import one_thread

MOST_ROWS = 8192
"""Rows that the screen looks at; an effect that takes more to see is left to perceptrons."""
MOST_PAIRS = 2000
"""Pairs of inputs, those of 63, up to which products of four are screened: their number squared."""
SURE_ERRORS = 6.5
"""Standard errors that are no chance, even among the millions of products that are looked at."""


def find_parity(rows: Bits, labels: Ints, *, with_four: bool) -> list[int]:
    """The two, three or four inputs whose product tells most about the label; empty where all may be chance.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.random((1000, 20)) < 0.5
    >>> find_parity(rows, (rows[:, 3] ^ rows[:, 8] ^ rows[:, 17]).astype(int), with_four=False)
    [3, 8, 17]
    """
    scaled, signs = _standardised(rows[:MOST_ROWS].astype(np.float32)), labels[:MOST_ROWS].astype(np.float32)
    spread = float(signs.std())
    if scaled.shape[1] < 2 or spread == 0:
        return []
    signs = (signs - signs.mean()) / spread
    pairs = list(combinations(range(scaled.shape[1]), 2))
    left, right = np.array(pairs).T
    products = scaled[:, left] * scaled[:, right]
    with one_thread():
        found = [_strongest(np.abs(signs @ products)[:, np.newaxis], pairs, [()])]
        weighted = products * signs[:, np.newaxis]
        found.append(_strongest(np.abs(weighted.T @ scaled), pairs, [(i,) for i in range(scaled.shape[1])]))
        if with_four and len(pairs) <= MOST_PAIRS:
            found.append(_strongest(np.abs(weighted.T @ products), pairs, pairs))
    size, inputs = max(found, key=lambda each: each[0])
    return inputs if size > SURE_ERRORS * np.sqrt(len(signs)) else []


def _standardised(values: Floats) -> Floats:
    """Columns of mean 0 and spread 1; constant ones become 0."""
    spread = values.std(axis=0)
    scaled: Floats = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.where(spread > 0, scaled, 0.0), dtype=np.float32)


def _strongest(
    sums: Floats, rows: Sequence[tuple[int, ...]], columns: Sequence[tuple[int, ...]]
) -> tuple[float, list[int]]:
    """The largest sum of a product of different inputs, and these inputs."""
    for place in np.argsort(-sums, axis=None)[: 4 * len(rows)].tolist():
        row, column = divmod(place, len(columns))
        inputs = sorted({*rows[row], *columns[column]})
        if len(inputs) == len(rows[row]) + len(columns[column]):
            return float(sums[row, column]), inputs
    return 0.0, []
