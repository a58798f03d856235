"""Outcomes listed: vectors of log-probabilities, one for each class, those with equal ratios together.

A decision depends on the ratios of a row of class probabilities alone, so rows with equal ratios are one
row with the sum of their probabilities. Objects of a circuit have far fewer different ratios than there are
objects, as a rule: many choices were never seen and are the same in every class.
"""

from __future__ import annotations

import numpy as np

from unswayed.circuits.psdd.psdd import PsddStructure
from unswayed.core.arrays import Floats

MOST_OUTCOMES = 2**17
"""Longest list that is kept for one attribute."""
_MOST_ROWS = 2**21
"""Rows of all nodes' lists together."""
_SAME = 1e14
"""Log-ratios that agree to this many parts of a nat are equal: rounding, a hundredth of a tie."""


def list_objects(structure: PsddStructure, log_parameters: Floats) -> Floats | None:
    """The distinct likelihood ratios of a circuit's objects with their log-probabilities (outcomes, classes).

    `log_parameters` has a column for each class. None when there are more than `MOST_OUTCOMES`.
    """
    nothing = np.zeros((1, log_parameters.shape[1]))
    lists: list[Floats] = [nothing] * structure.n_nodes
    room = _MOST_ROWS
    for node in np.flatnonzero(structure.is_open).tolist():
        parts = []
        for choice in range(structure.starts[node], structure.starts[node + 1]):
            left, right = lists[structure.lefts[choice]], lists[structure.rights[choice]]
            room -= len(left) * len(right)
            if room < 0:
                return None
            parts.append(log_parameters[choice] + combine(left, right))
        lists[node] = merge_ratios(np.concatenate(parts))
        if len(lists[node]) > MOST_OUTCOMES:
            return None
    return lists[structure.root]


def combine(one: Floats, other: Floats) -> Floats:  # (n, classes), (m, classes) -> (n m, classes)
    """Outcomes of two independent attributes together."""
    if len(one) == 1 or len(other) == 1:
        return one + other
    return (one[:, None, :] + other[None, :, :]).reshape(-1, one.shape[1])


def merge_ratios(rows: Floats) -> Floats:
    """Rows with equal ratios added up; rows that no class allows are dropped.

    >>> merged = merge_ratios(np.log(np.array([[0.1, 0.2], [0.3, 0.6], [0.6, 0.2]])))
    >>> sorted(np.exp(merged).round(3).tolist())
    [[0.4, 0.8], [0.6, 0.2]]
    """
    highest = rows.max(axis=1)
    rows, highest = rows[highest > -np.inf], highest[highest > -np.inf]
    if len(rows) < 2:
        return rows
    keys = np.rint(np.maximum(rows - highest[:, None], -1e3) * _SAME)
    order = np.lexsort(keys.T)
    keys = keys[order]
    begins = np.flatnonzero(np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)]))
    if len(begins) == len(rows):
        return rows
    merged: Floats = np.logaddexp.reduceat(rows[order], begins, axis=0)
    return merged
