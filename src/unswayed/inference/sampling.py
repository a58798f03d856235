"""Exact samples of a network, with or without evidence, and the likelihood of complete rows.

Without evidence every variable is drawn after its parents. With evidence, the variables above it are drawn
backwards through the elimination (`tracing.py`), each from its exact distribution given what is drawn
already, and the rest after their parents. No sample is rejected or weighted.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import QueryError
from unswayed.inference.problem import contraction
from unswayed.inference.relevance import ancestors_of
from unswayed.inference.tracing import trace_back
from unswayed.model.network import BayesianNetwork


def sample_states(
    network: BayesianNetwork,
    count: int,
    evidence: Mapping[int, int],
    rng: np.random.Generator,
    *,
    without: int | None = None,
) -> Ints:  # (count, variables)
    """`count` independent samples of all variables given the evidence; a leaf `without` need stays 0."""
    states = np.zeros((count, len(network)), dtype=np.int64)
    for variable, state in evidence.items():
        states[:, variable] = state
    above = ancestors_of(network, evidence)
    if above:
        _sample_above(network, above, evidence, states, rng=rng)
    done = frozenset(above)
    for variable in range(len(network)):
        if variable not in done and variable != without:
            above_it = states[:, list(network.parents[variable])]
            states[:, variable] = _draw(network.cpts[variable].probabilities(above_it), rng)
    return states


def _sample_above(
    network: BayesianNetwork,
    above: list[int],
    evidence: Mapping[int, int],
    states: Ints,
    *,
    rng: np.random.Generator,
) -> None:
    """Draw the evidence's ancestors given the evidence."""
    problem = contraction(network, above, evidence)
    check_bytes(2 * problem.plan.total_bytes, "sampling given this evidence")
    buffers, arithmetic = problem.buffers()
    if arithmetic.one == 1.0:
        with np.errstate(divide="ignore"):
            buffers = [np.log(buffer) for buffer in buffers]

    def pick(log_weights: Floats) -> Ints:
        return _draw(np.exp(log_weights - log_weights.max(axis=1, keepdims=True)), rng)

    room = problem.factors.room(len(states))
    room[:, : len(network)] = states
    trace_back(problem.plan, buffers, room, pick)
    states[:, above] = room[:, above]


def _draw(weights: Floats, rng: np.random.Generator) -> Ints:  # (rows, states) -> (rows,)
    """One state a row, in proportion to its weights; a state of weight zero is never drawn."""
    sums = np.cumsum(weights, axis=1)
    totals = sums[:, -1:]
    # A point that rounds up to the total would fall behind the last state of positive weight.
    points = np.minimum(rng.random((len(weights), 1)) * totals, np.nextafter(totals, 0.0))
    drawn: Ints = (sums <= points).sum(axis=1)
    return drawn


def row_log_likelihoods(network: BayesianNetwork, rows: Ints) -> Floats:  # (rows, variables) -> (rows,)
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
        for position, cpt in enumerate(network.cpts):
            shares = cpt.probabilities(rows[:, list(network.parents[position])])
            total += np.log(shares[np.arange(len(rows)), rows[:, position]])
    return total
