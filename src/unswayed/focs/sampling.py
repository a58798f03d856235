"""Samples from a functional network, and the likelihood of complete rows.

Both need every variable's distribution given its parents and nothing more, so any functions will do, with any
number of parents.
"""

from __future__ import annotations

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import QueryError
from unswayed.model.network import BayesianNetwork


def sample_rows(network: BayesianNetwork, count: int, rng: np.random.Generator) -> Ints:  # (count, variables)
    """`count` independent instantiations of all variables, in the network's order.

    >>> from unswayed.model.zoo import review
    >>> sample_rows(BayesianNetwork(review().cpts), 3, np.random.default_rng(0)).shape
    (3, 4)
    """
    states = np.zeros((count, len(network)), dtype=np.int64)
    for position, node in enumerate(network.cpts):
        shares = node.probabilities(states[:, list(network.parents[position])])
        sums = np.cumsum(shares, axis=1)
        # A point that rounds up to the total would fall behind the last state of positive probability.
        points = np.minimum(rng.random((count, 1)) * sums[:, -1:], np.nextafter(sums[:, -1:], 0.0))
        states[:, position] = (sums <= points).sum(axis=1)
    return states


def log_likelihoods(network: BayesianNetwork, rows: Ints) -> Floats:  # (rows, variables) -> (rows,)
    """log Pr(row) for each complete row; minus infinity where a row is impossible."""
    rows = np.asarray(rows)
    if rows.ndim != 2 or rows.shape[1] != len(network) or rows.dtype.kind not in "iu":
        raise QueryError(
            f"rows must be whole numbers in {len(network)} columns, a state of each variable, not an array "
            f"of shape {rows.shape} and type {rows.dtype}"
        )
    sizes = np.array([len(variable) for variable in network.variables])
    if ((rows < 0) | (rows >= sizes)).any():
        place = int(np.argmax(((rows < 0) | (rows >= sizes)).any(axis=0)))
        raise QueryError(
            f"a row has a state of {network.names[place]!r} that does not exist; it has {sizes[place]} states"
        )
    total = np.zeros(len(rows))
    with np.errstate(divide="ignore"):
        for position, node in enumerate(network.cpts):
            shares = node.probabilities(rows[:, list(network.parents[position])])
            total += np.log(shares[np.arange(len(rows)), rows[:, position]])
    return total
