"""Decisions for whole tables of rows, with whatever is missing in them summed out.

Rows that observe the same features are decided together: one joint table of those features and the
target, looked up row by row, or, where that table would be large, one posterior for each distinct row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unswayed.core.arrays import Codes, Floats, Ints
from unswayed.inference.batches import batch_posteriors
from unswayed.inference.posteriors import joint_table
from unswayed.model.encoding import encode
from unswayed.model.network import BayesianNetwork

LARGEST_TABLE = 2**18
"""Instantiations of the observed features beyond which rows are answered one by one."""


def row_posteriors(
    network: BayesianNetwork,
    target: int,
    features: tuple[int, ...],
    data: Any,
    given: Mapping[int, int] | None = None,
) -> Floats:  # (rows, classes)
    """Pr(target | row, given) for each row of a table, of which only `features` count."""
    given = given or {}
    codes = encode(data, [network.variables[f] for f in features]).codes
    found = np.empty((len(codes), len(network.variables[target])))
    seen = codes >= 0
    for pattern in np.unique(seen, axis=0):
        rows = np.flatnonzero((seen == pattern).all(axis=1))
        observed = tuple(feature for feature, one in zip(features, pattern, strict=True) if one)
        found[rows] = _posteriors(network, (target, observed, given), codes[rows][:, pattern])
    return found


def _posteriors(
    network: BayesianNetwork, asked: tuple[int, tuple[int, ...], Mapping[int, int]], codes: Codes
) -> Floats:
    target, observed, given = asked
    sizes = [len(network.variables[f]) for f in observed]
    distinct, which = np.unique(codes, axis=0, return_inverse=True)
    if math.prod(sizes) > min(LARGEST_TABLE, 64 * len(distinct)):
        return batch_posteriors(network, target, observed, distinct, given)[which.reshape(-1)]
    table = joint_table(network, [*observed, target], given).reshape(math.prod(sizes), -1)
    mass = table[row_numbers(distinct, sizes)]
    if not mass.sum(axis=1).all():
        bad = distinct[np.flatnonzero(mass.sum(axis=1) == 0)[0]]
        impossible = dict(zip(observed, map(int, bad), strict=True))
        joint_table(network, [target], {**given, **impossible})  # raises, naming it
    posteriors: Floats = (mass / mass.sum(axis=1, keepdims=True))[which.reshape(-1)]
    return posteriors


def row_numbers(codes: Codes, sizes: Sequence[int]) -> Ints:  # (rows,)
    """Where each row of states stands in a table over them, the last column fastest."""
    numbers: Ints = np.zeros(len(codes), dtype=np.int64)
    for column, size in enumerate(sizes):
        numbers = numbers * size + codes[:, column]
    return numbers
