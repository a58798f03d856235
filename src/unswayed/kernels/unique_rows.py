"""Numbering distinct rows of small integers, in the order in which they first appear.

The states of a product of decision diagrams are such rows, and finding equal ones is most of the work of
multiplying diagrams. A hash table with open addressing does it in one pass; its twin sorts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]


UNITS_PER_NUMBER = 5e-3
"""Estimated for a number of a row that is hashed."""


def number_rows(rows: Rows) -> tuple[Ints, Ints]:  # (rows, columns) -> (rows,), (distinct,)
    """Number of each row's value, and the first row of each number.

    >>> number_rows(np.array([[5, 1], [2, 2], [5, 1]], dtype=np.int32))
    (array([0, 1, 0]), array([0, 1]))
    """
    if not rows.shape[1]:
        return np.zeros(len(rows), dtype=np.int64), np.arange(min(len(rows), 1))
    _, first, where = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.int64)
    rank[order] = np.arange(len(first))
    return rank[where.reshape(-1)], first[order]


def hash_rows(rows: Rows) -> tuple[Ints, Ints]:
    """`number_rows` by hashing; written to be compiled, for its products must wrap around."""
    n_rows, n_columns = rows.shape
    size = 16
    while size < 2 * n_rows:
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    numbers = np.empty(n_rows, dtype=np.int64)
    first = np.empty(n_rows, dtype=np.int64)
    n_distinct = 0
    for row in range(n_rows):
        key = np.uint64(1469598103934665603)
        for column in range(n_columns):
            key = (key ^ np.uint64(rows[row, column])) * np.uint64(1099511628211)
            key ^= key >> np.uint64(29)
        place = np.int64(key & np.uint64(size - 1))
        while True:
            number = table[place]
            if number < 0:
                table[place] = n_distinct
                numbers[row] = n_distinct
                first[n_distinct] = row
                n_distinct += 1
                break
            same = True
            for column in range(n_columns):
                if rows[first[number], column] != rows[row, column]:
                    same = False
                    break
            if same:
                numbers[row] = number
                break
            place = (place + 1) % size
    return numbers, first[:n_distinct].copy()


def _units(rows: Rows) -> float:
    return UNITS_PER_NUMBER * rows.size


compiled_hash_rows = Kernel(number_rows, loop=hash_rows, price=_units, slower=30.0)
