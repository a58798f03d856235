"""Rows of kept features from a diagram of all features: what can be told apart by looking at some of them.

Walk down the levels. A *row* is a set of instantiations of the kept features seen so far, with the weight
that leads from it to each node of the current level. At a kept feature a row splits into one row for each
state; at a hidden one the states' weights add up. Rows that lead to the same nodes in the same proportions
are one row from there on: nothing below can tell them apart. So the number of rows is bounded by what can
be told apart, not by the number of instantiations, and where the kept features come first it is the number
of nodes.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

import numpy as np

from unswayed.circuits.networks.levels import FeatureLevels
from unswayed.circuits.vtree import NOTHING
from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits

ALIKE = 1e-13
"""Proportions closer than this are equal: they come from different sums of the same numbers."""
_BYTES_PER_ENTRY = 64.0


def kept_rows(levels: FeatureLevels, kept: Collection[int], masses: Floats, *, limits: Limits) -> Floats:
    """The masses of each row of kept features: (rows, columns) from masses of (bottom nodes, columns).

    Raises `LimitError` when there are more rows than memory allows, or when time is over.
    """
    from scipy import sparse

    deadline = limits.deadline()
    rows = sparse.csr_array(np.full((1, 1), levels.start_weight))
    for feature, children, weights in zip(levels.features, levels.children, levels.weights, strict=True):
        width = int(children.max(initial=NOTHING)) + 1
        moves = [_move(children[:, s], weights[:, s], width) for s in range(children.shape[1])]
        if feature in kept:
            limits.check_bytes(_BYTES_PER_ENTRY * rows.nnz * len(moves), "the rows of the kept features")
            rows = merged(sparse.vstack([rows @ move for move in moves], format="csr"))
        else:
            rows = rows @ sum(moves[1:], start=moves[0])
        if time.monotonic() > deadline:
            raise LimitError(
                f"listing the rows of the kept features took longer than {limits.max_seconds:g} s; keep "
                "fewer features, or raise Limits(max_seconds=...)"
            )
    found: Floats = merged(rows) @ masses
    return found


def _move(children: Any, weights: Floats, width: int) -> Any:
    """The matrix that leads the nodes of one level to those of the next by one state."""
    from scipy import sparse

    possible = np.flatnonzero((children != NOTHING) & (weights > 0))
    places = (possible, children[possible])
    return sparse.csr_array((weights[possible], places), shape=(len(children), width))


def merged(rows: Any) -> Any:
    """The rows with those of equal proportions added up, and those without weight left out.

    Two fixed random projections tell rows apart: they agree for different proportions by a chance too small
    to matter, and finding them takes one product and one sort.
    """
    from scipy import sparse

    totals = np.asarray(rows.sum(axis=1)).reshape(-1)
    rows, totals = rows[totals > 0], totals[totals > 0]
    if rows.shape[0] < 2:
        return rows
    probes = np.random.default_rng(0).normal(size=(rows.shape[1], 2))
    marks = (rows @ probes) / totals[:, np.newaxis]
    order = np.argsort(marks[:, 0], kind="stable")
    differ = (np.abs(np.diff(marks[order], axis=0)) > ALIKE * (1 + np.abs(marks[order][1:]))).any(axis=1)
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.concatenate([[0], np.cumsum(differ)])
    n_groups = int(group.max()) + 1
    if n_groups == len(group):
        return rows
    return (
        sparse.csr_array((np.ones(len(group)), (group, np.arange(len(group)))), shape=(n_groups, len(group)))
        @ rows
    )
