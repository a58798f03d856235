"""Passes over a trellis: a layered decision diagram with a probability on each edge.

Nodes are numbered level by level from the root, node 0, to one sink, the last node. A node of level g decides
variable g: state 0 leads to `low`, state 1 to `high`, both in level g + 1, with the probabilities in
row `row` of `columns`. Evidence is a state for each level, or -1 where nothing is known; many queries are the
rows of one array.

Functions are plain Python over arrays, and compiled by `COMPILED`. Sums are scaled at every level, so
that long products do not underflow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
States = npt.NDArray[np.int8]

UNITS_PER_NODE = 0.015
"""Estimated for a node of a pass; a plain one takes a microsecond."""


class Trellis(NamedTuple):
    """A layered decision diagram as flat arrays."""

    starts: Ints
    """First node of each level, then the sink, then the number of nodes."""
    low: Ints
    """Where each node but the sink goes for state 0."""
    high: Ints
    """Where it goes for state 1."""
    row: Ints
    """Which distribution each node but the sink has."""
    columns: Floats
    """(distributions, 2) Probabilities of states 0 and 1."""


def sum_masses(trellis: Trellis, evidence: States, values: Floats) -> float:
    """log Pr(evidence); fills `values` (nodes,) with each node's mass below, scaled within its level."""
    starts, low, high, row, columns = trellis
    values[-1] = 1.0
    logarithm = 0.0
    for level in range(len(starts) - 3, -1, -1):
        largest = 0.0
        known = evidence[level]
        for node in range(starts[level], starts[level + 1]):
            mass = 0.0
            if known != 1:
                mass += columns[row[node], 0] * values[low[node]]
            if known != 0:
                mass += columns[row[node], 1] * values[high[node]]
            values[node] = mass
            largest = max(largest, mass)
        if largest == 0.0:
            return -np.inf
        for node in range(starts[level], starts[level + 1]):
            values[node] /= largest
        logarithm += np.log(largest)
    return float(logarithm + np.log(values[0])) if values[0] > 0.0 else -np.inf


def spread(trellis: Trellis, evidence: States, values: Floats, found: Floats) -> None:
    """Fill `found` (levels,) with Pr(state 1 | evidence), from the masses that `sum_masses` left in `values`.

    From the root down, each node passes on the probability that the evidence leads through it.
    """
    starts, low, high, row, columns = trellis
    flow = np.zeros(starts[-1])
    flow[0] = 1.0
    for level in range(len(starts) - 2):
        known = evidence[level]
        ones = 0.0
        for node in range(starts[level], starts[level + 1]):
            if flow[node] == 0.0:
                continue
            off = 0.0 if known == 1 else columns[row[node], 0] * values[low[node]]
            on = 0.0 if known == 0 else columns[row[node], 1] * values[high[node]]
            share = on / (off + on)
            ones += flow[node] * share
            flow[high[node]] += flow[node] * share
            flow[low[node]] += flow[node] * (1.0 - share)
        found[level] = ones


def best_states(trellis: Trellis, log_columns: Floats, evidence: States, found: States) -> Floats:
    """log Pr of the most probable states of each query, which go to `found` (queries, levels).

    Of equally probable ones, the one whose first different state is 0.
    """
    starts, low, high, row, _ = trellis
    n_levels = len(starts) - 2
    values = np.empty(starts[-1])
    goes_high = np.empty(starts[-1], dtype=np.bool_)
    logs = np.empty(len(evidence))
    for query in range(len(evidence)):
        values[-1] = 0.0
        for level in range(n_levels - 1, -1, -1):
            known = evidence[query, level]
            for node in range(starts[level], starts[level + 1]):
                off = -np.inf if known == 1 else log_columns[row[node], 0] + values[low[node]]
                on = -np.inf if known == 0 else log_columns[row[node], 1] + values[high[node]]
                goes_high[node] = on > off
                values[node] = max(on, off)
        logs[query] = values[0]
        node = 0
        for level in range(n_levels):
            # Where the evidence is impossible both ways are; the observed state is kept all the same.
            goes = evidence[query, level] == 1 or (goes_high[node] and evidence[query, level] != 0)
            found[query, level] = 1 if goes else 0
            node = high[node] if goes else low[node]
    return logs


def _units(trellis: Trellis, *_: object) -> float:
    return UNITS_PER_NODE * len(trellis.low)


def _units_of_best(trellis: Trellis, log_columns: Floats, evidence: States, found: States) -> float:
    return UNITS_PER_NODE * len(trellis.low) * len(evidence)


compiled_sum_masses = Kernel(sum_masses, price=_units)
compiled_spread = Kernel(spread, price=_units)
compiled_best_states = Kernel(best_states, price=_units_of_best)
