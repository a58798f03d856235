"""Rows shared out to folds, so that a row of weight 3 and three equal rows are the same thing.

Equal rows with equal labels are joined first, in an order that does not depend on how they came. A joined row
of weight w is floor(w) copies, at least one, which are dealt out at random as if they were rows of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unswayed.core.arrays import Floats, Ints

MOST_COPIES = 100
"""Of a row, however large its weight."""


class WeightedRows(NamedTuple):
    """Rows with their labels, and how much each counts."""

    inputs: Floats
    """(rows, inputs)"""
    labels: Ints
    """(rows,) Positions of the labels among the classes."""
    weights: Floats
    """(rows,)"""

    def at(self, places: Ints) -> WeightedRows:
        """Some of the rows."""
        return WeightedRows(self.inputs[places], self.labels[places], self.weights[places])


def join_equal(rows: WeightedRows) -> WeightedRows:
    """Distinct rows in ascending order, their weights added up; rows without weight are left out.

    >>> joined = join_equal(WeightedRows(np.array([[1.0], [0.0], [1.0]]), np.array([1, 0, 1]), np.ones(3)))
    >>> joined.inputs.ravel().tolist(), joined.weights.tolist()
    ([0.0, 1.0], [1.0, 2.0])
    """
    counted = rows.weights > 0
    whole = np.column_stack([rows.inputs[counted], rows.labels[counted]])
    # Negative zero and zero are equal numbers with different bits.
    distinct, where = np.unique(whole + 0.0, axis=0, return_inverse=True)
    weights: Floats = np.zeros(len(distinct))
    np.add.at(weights, where.reshape(-1), rows.weights[counted])
    return WeightedRows(distinct[:, :-1], distinct[:, -1].astype(np.int64), weights)


def share_out(rows: WeightedRows, n_folds: int, rng: np.random.Generator) -> tuple[WeightedRows, Ints]:
    """Parts of the rows, and the fold of each; every class is shared out evenly, its copies at random.

    Copies of one row must not be spread evenly: a fold that mirrors the others would judge what was learned
    by heart as if it held.
    """
    copies = np.clip(np.floor(rows.weights + 1e-9), 1, MOST_COPIES).astype(np.int64)
    row = np.repeat(np.arange(len(copies)), copies)
    fold = np.empty(len(row), dtype=np.int64)
    for label in np.unique(rows.labels):
        members = rng.permutation(np.flatnonzero(rows.labels[row] == label))
        fold[members] = np.arange(len(members)) % n_folds
    cells, counts = np.unique(row * n_folds + fold, return_counts=True)
    row, fold = np.divmod(cells, n_folds)
    return rows.at(row)._replace(weights=counts * (rows.weights / copies)[row]), fold
