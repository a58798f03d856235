"""Questions to a compiled network: most probable explanations, marginals, the probability of evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ImpossibleEvidence, QueryError
from unswayed.core.names import listing
from unswayed.focs.diagrams.trellis import CompiledTrellis
from unswayed.kernels.circuits.trellis import (
    COMPILED,
    PLAIN,
    Passes,
    States,
    compiled_best_states,
    compiled_sum_masses,
)
from unswayed.kernels.jit import Kernel

INTERPRETED = 20_000
"""Nodes times queries below which loading compiled code takes longer than doing without."""
SECONDS_PER_NODE = 1e-6
"""Measured for a node without compiled code."""
LOADING_SECONDS, COMPILING_SECONDS = 0.5, 5.0
"""How long a process does without compiled code that can be loaded, and that would have to be compiled."""


def _passes(compiled: CompiledTrellis, n_queries: int, kernel: Kernel[..., Any]) -> Passes:
    """Compiled passes where they are loaded, or worth it for what was and is asked; else plain ones."""
    n_nodes = len(compiled.trellis.low) * n_queries
    if kernel.is_loaded or n_nodes >= INTERPRETED:
        return COMPILED
    kernel.seconds_without += SECONDS_PER_NODE * n_nodes
    is_due = kernel.seconds_without > (LOADING_SECONDS if kernel.is_ready else COMPILING_SECONDS)
    return COMPILED if is_due else PLAIN


def evidence_rows(compiled: CompiledTrellis, rows: Ints) -> States:  # (queries, variables)
    """Rows of states in the network's order, -1 where nothing is known, in the order of the levels."""
    rows = np.asarray(rows)
    if rows.ndim != 2 or rows.shape[1] != len(compiled.order) or not np.isin(rows, (-1, 0, 1)).all():
        raise QueryError(
            f"evidence must be rows of {len(compiled.order)} states, 0 or 1, or -1 where nothing is known"
        )
    return np.ascontiguousarray(rows[:, list(compiled.order)].astype(np.int8))


def explain_rows(compiled: CompiledTrellis, rows: Ints) -> tuple[Ints, Floats]:
    """The most probable states of all variables for each row of evidence, and log Pr(states).

    Rows are as in `evidence_rows`; where the evidence is impossible the logarithm is minus infinity.

    Cost: one pass over the trellis for each row.
    """
    evidence = evidence_rows(compiled, rows)
    found = np.empty(evidence.shape, dtype=np.int8)
    best = _passes(compiled, len(rows), compiled_best_states).best_states
    logs = best(compiled.trellis, compiled.log_columns, evidence, found)
    states = np.empty(evidence.shape, dtype=np.int64)
    states[:, list(compiled.order)] = found
    return states, logs


def marginal_rows(compiled: CompiledTrellis, rows: Ints) -> tuple[Floats, Floats]:
    """Pr(variable = 1 | evidence) for each row and variable, and log Pr(evidence) of each row."""
    evidence = evidence_rows(compiled, rows)
    passes = _passes(compiled, len(rows), compiled_sum_masses)
    found, logs = np.full(evidence.shape, np.nan), np.empty(len(rows))
    values, shares = np.empty(int(compiled.trellis.starts[-1])), np.empty(len(compiled.order))
    for query, states in enumerate(evidence):
        logs[query] = passes.sum_masses(compiled.trellis, states, values)
        if logs[query] > -np.inf:
            passes.spread(compiled.trellis, states, values, shares)
            found[query, list(compiled.order)] = shares
    return found, logs


def marginals(compiled: CompiledTrellis, evidence: Mapping[str, str] | None = None) -> dict[str, Floats]:
    """Pr(variable | evidence) by name, for every variable.

    >>> from unswayed.focs.diagrams.trellis import compile_network
    >>> from unswayed.model.network import BayesianNetwork
    >>> from unswayed.model.zoo import review
    >>> compiled = compile_network(BayesianNetwork(review().cpts))
    >>> marginals(compiled, {"AC": "+"})["D"].round(2).tolist()
    [0.61, 0.39]
    """
    known = compiled.network.evidence(evidence)
    row = np.full((1, len(compiled.order)), -1)
    for variable, state in known.items():
        row[0, variable] = state
    shares, logs = marginal_rows(compiled, row)
    if logs[0] == -np.inf:
        pairs = [f"{name}={state}" for name, state in (evidence or {}).items()]
        raise ImpossibleEvidence(
            f"the evidence has probability 0 in this network: {listing(pairs)}; check it"
        )
    names = compiled.network.names
    return {name: np.array([1.0 - share, share]) for name, share in zip(names, shares[0], strict=True)}
