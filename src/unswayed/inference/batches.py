"""One elimination for many columns at once: cases to be classified, frequencies, exponents.

Every buffer of a plan gets an axis of layers in front and an axis of columns behind. An axis of length 1
stands for all where a table is the same in every layer or column.

    layers, variables of the buffer ..., columns

`batch_posteriors` makes a column of every case: the tables are read at each case's states, and the plan,
which depends only on what is observed, runs once for a block of cases.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Codes, Floats
from unswayed.core.errors import LimitError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.inference.plan import EliminationStep, Plan
from unswayed.inference.posteriors import joint_table
from unswayed.inference.problem import SAFE, contraction
from unswayed.inference.relevance import tables_for
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork

Numbers = npt.NDArray[Any]
"""Real or complex."""
CACHED = 2**18
"""Numbers of the largest buffer that a block of cases fills: about what a cache holds."""
FEWEST, MOST = 16, 4096
"""Cases in a block, at least and at most."""


def batch_posteriors(
    network: BayesianNetwork,
    target: int,
    observed: Sequence[int],
    codes: Codes,  # (cases, observed)
    evidence: Mapping[int, int],
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> Floats:  # (cases, classes)
    """Pr(target | case, evidence) for each case, a row of states of the observed variables.

    Raises `ImpossibleEvidence` for a case of probability zero and `LimitError` when the time is over.
    """
    everything = {**evidence, **dict.fromkeys(observed, 0)}
    tables = tables_for(network, [target], everything, evidence)
    if not all(isinstance(network.cpts[table], Cpt) for table in tables):
        return np.array([_posterior(network, target, (observed, row), evidence, limits) for row in codes])
    plan = contraction(network, tables, everything, [target]).plan
    found = np.empty((len(codes), len(network.variables[target])))
    largest = max(int(np.prod(plan.shape(b), dtype=np.int64)) for b in range(len(plan.scopes)))
    limits.check_bytes(plan.peak_bytes, "the posterior of a case")
    fitting = int(limits.max_bytes // max(plan.peak_bytes, 1))
    length, deadline = min(max(CACHED // largest, FEWEST), MOST, fitting), limits.deadline()
    for start in range(0, len(codes), length):
        if time.monotonic() > deadline:
            raise LimitError(
                f"posteriors of {len(codes)} cases took longer than {limits.max_seconds:g} s, which sufficed "
                f"for {start}; raise Limits(max_seconds=...)"
            )
        block = codes[start : start + length]
        states = {v: block[:, i] for i, v in enumerate(observed)}
        leaves = [np.ones((1, 1)), *(_read(network, table, evidence, states) for table in tables)]
        masses = np.broadcast_to(run_columns(plan, leaves)[0], (found.shape[1], len(block))).T
        found[start : start + length] = _posteriors(network, target, masses, (observed, block), evidence)
    return found


def _posteriors(
    network: BayesianNetwork,
    target: int,
    masses: Floats,
    cases: tuple[Sequence[int], Codes],
    evidence: Mapping[int, int],
) -> Floats:
    """Masses scaled to sum 1; cases too unlikely for ordinary numbers are answered one by one."""
    totals = masses.sum(axis=1)
    posteriors: Floats = masses / np.where(totals > SAFE, totals, 1.0)[:, np.newaxis]
    observed, codes = cases
    for row in np.flatnonzero(totals <= SAFE):
        posteriors[row] = _posterior(network, target, (observed, codes[row]), evidence, DEFAULT_LIMITS)
    return posteriors


def _posterior(
    network: BayesianNetwork,
    target: int,
    case: tuple[Sequence[int], Codes],
    evidence: Mapping[int, int],
    limits: Limits,
) -> Floats:
    """The posterior of one case by itself."""
    states = dict(zip(case[0], map(int, case[1]), strict=True))
    return joint_table(network, [target], {**evidence, **states}, limits=limits)


def _read(
    network: BayesianNetwork, table: int, evidence: Mapping[int, int], states: Mapping[int, Codes]
) -> Floats:
    """A table as a leaf: evidence cut out, read at the states of each case, everything else left as axes."""
    scope = (*network.parents[table], table)
    values = network.cpts[table].table.reshape([len(network.variables[v]) for v in scope])
    values = values[tuple(evidence.get(v, slice(None)) for v in scope)]
    left = [v for v in scope if v not in evidence]
    seen = [i for i, v in enumerate(left) if v in states]
    unseen = [i for i, v in enumerate(left) if v not in states]
    if not seen:
        return values[np.newaxis, ..., np.newaxis]
    by_case = values.transpose(*seen, *unseen)[tuple(states[left[i]] for i in seen)]
    return np.ascontiguousarray(np.moveaxis(by_case, 0, -1))[np.newaxis]


def run_columns(plan: Plan, leaves: Sequence[Numbers]) -> Numbers:
    """The answer of a plan for all layers and columns; every buffer is dropped as soon as it is used."""
    buffers: list[Numbers | None] = list(leaves)
    for step in plan.steps:
        buffers.append(contract_columns(plan, step, buffers))
        buffers[step.a] = None
        if step.b is not None:
            buffers[step.b] = None
    answer = buffers[plan.root]
    assert answer is not None
    return answer


def contract_columns(plan: Plan, step: EliminationStep, buffers: Sequence[Numbers | None]) -> Numbers:
    """The buffer that a step makes."""
    batch, left, summed, right = step.extents
    a = arrange(buffers[step.a], step.a_axes, (batch, left, summed))
    if step.b is None:
        out: Numbers = a.sum(axis=3)
    else:
        out = multiply_columns(a, arrange(buffers[step.b], step.b_axes, (batch, summed, right)))
    return out.reshape(len(out), *plan.shape(step.out), out.shape[-1])


def multiply_columns(a: Numbers, b: Numbers) -> Numbers:
    """(layers, batch, left, s, columns) times (layers, batch, s, right, columns), summed over s."""
    out: Numbers = a[:, :, :, 0, np.newaxis] * b[:, :, np.newaxis, 0]
    for s in range(1, a.shape[3]):
        out += a[:, :, :, s, np.newaxis] * b[:, :, np.newaxis, s]
    return out


def arrange(buffer: Numbers | None, axes: tuple[int, ...], extents: tuple[int, ...]) -> Numbers:
    """A buffer with its variables' axes in the order of a step, grouped."""
    assert buffer is not None
    moved = buffer.transpose(0, *(axis + 1 for axis in axes), len(axes) + 1)
    return moved.reshape(len(buffer), *extents, buffer.shape[-1])
