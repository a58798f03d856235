"""Summing one feature out of a table of signed masses, and how much mass is then left undecided.

A table has the shape (rows, states, run): the instantiations of the features before one, its states, and
the instantiations of those after it. Summing over the states drops the feature. What counts is the sum of
absolute values of the result: masses of opposite sign that fall together cancel.

`merge` and `absolute_sums` are plain numpy. Compiled code that calls them gets the loops below instead
(`LOOPS`): one pass, no temporary table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BLOCK = 4096
"""Cells of a block whose features are all summed out while it is in the fastest cache."""


def merge(source: Floats, shape: tuple[int, int, int], target: Floats) -> float:
    """Sum `source`, of shape (rows, states, run), over its states into `target`; the absolute sum of it.

    >>> target = np.empty(2)
    >>> left = merge(np.array([0.4, -0.1, -0.3, 0.2]), (1, 2, 2), target)
    >>> round(left, 3), target.round(3).tolist()
    (0.2, [0.1, 0.1])
    """
    rows, _, run = shape
    parts, sums = source.reshape(shape), target.reshape(rows, run)
    # Two slices added are several times faster than a sum along an axis of length two.
    if shape[1] == 2:
        np.add(parts[:, 0], parts[:, 1], out=sums)
    else:
        np.sum(parts, axis=1, out=sums)
    return float(np.abs(sums).sum())


def absolute_sums(table: Floats, states: Ints) -> Floats:
    """The absolute sum that remains when each feature alone is summed out; the first feature is slowest.

    >>> absolute_sums(np.array([0.4, -0.1, -0.3, 0.2]), np.array([2, 2])).round(3).tolist()
    [0.2, 0.4]
    """
    sums = np.empty(len(states))
    rows, run = 1, len(table)
    for feature, size in enumerate(states.tolist()):
        run //= size
        sums[feature] = merge(table, (rows, size, run), np.empty(len(table) // size))
        rows *= size
    return sums


def _merge_loops(source: Floats, shape: tuple[int, int, int], target: Floats) -> float:
    rows, states, run = shape
    total = 0.0
    if states == 2:  # a case of its own, or the compiler does not add several cells at once
        for row in range(rows):
            for i in range(run):
                value = source[row * 2 * run + i] + source[row * 2 * run + run + i]
                target[row * run + i] = value
                total += abs(value)
        return total
    for row in range(rows):
        for state in range(states):
            for i in range(run):
                value = source[(row * states + state) * run + i]
                target[row * run + i] = value if state == 0 else value + target[row * run + i]
    for i in range(rows * run):
        total += abs(target[i])
    return total


def _absolute_sums_loops(table: Floats, states: Ints) -> Floats:
    n_features = len(states)
    sums = np.zeros(n_features)
    runs = np.ones(n_features + 1, dtype=np.int64)
    for feature in range(n_features - 1, -1, -1):
        runs[feature] = runs[feature + 1] * states[feature]
    inside = 0
    while runs[inside] > BLOCK:
        sums[inside] = _merged(table, states[inside], runs[inside + 1])
        inside += 1
    for start in range(0, len(table), runs[inside]):
        block = table[start : start + runs[inside]]
        for feature in range(inside, n_features):
            sums[feature] += _merged(block, states[feature], runs[feature + 1])
    return sums


def _merged(table: Floats, states: int, run: int) -> float:
    """The absolute sum after a feature is summed out, without keeping the result."""
    total = 0.0
    if states == 2:
        for row in range(len(table) // (2 * run)):
            for i in range(run):
                total += abs(table[row * 2 * run + i] + table[row * 2 * run + run + i])
        return total
    for row in range(len(table) // (states * run)):
        part = table[row * states * run : (row + 1) * states * run]
        for i in range(run):
            value = 0.0
            for state in range(states):
                value += part[state * run + i]
            total += abs(value)
    return total


LOOPS: dict[Callable[..., Any], Callable[..., Any]] = {
    merge: _merge_loops,
    absolute_sums: _absolute_sums_loops,
}
"""What a kernel runs in place of the functions written with numpy."""
SUMMING = (_merged,)
"""Functions that add up many terms, which a kernel may do in any order."""
