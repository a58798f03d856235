"""One elimination for many columns at once: cases to be classified, frequencies, exponents.

Every buffer of a plan gets an axis of layers in front and an axis of columns behind. An axis of length 1
stands for all where a table is the same in every layer or column.

    layers, variables of the buffer ..., columns

`batch_posteriors` makes a column of every case: the tables are read at each case's states, and the plan,
which depends only on what is observed, runs once for a block of cases.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from unswayed.core.anytime import UNITS_PER_SECOND, bytes_allowed, check_bytes, tick
from unswayed.core.arrays import Codes, Floats
from unswayed.inference.contraction import Linear, contract, units_of
from unswayed.inference.plan import EliminationStep, Plan
from unswayed.inference.posteriors import joint_table
from unswayed.inference.predictors import fill_rows, find_predictor, is_large_model
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
SECONDS_PER_FINDING, SECONDS_PER_OPERATION, SECONDS_ALONE = 3e-7, 7e-9, 1e-3
"""Measured for sorting a case by a finding, for a multiplication, and for a case that runs by itself."""
SECONDS_PER_PREDICTION = 1e-5
"""Of a model of a hundred trees, for one row among many."""
LARGE = 2**18
"""Numbers of the largest buffer beyond which cases are run one by one."""


def batch_posteriors(
    network: BayesianNetwork,
    target: int,
    observed: Sequence[int],
    codes: Codes,  # (cases, observed)
    evidence: Mapping[int, int],
) -> Floats:  # (cases, classes)
    """Pr(target | case, evidence) for each case, a row of states of the observed variables.

    Raises `ImpossibleEvidence` for a case of probability zero and `LimitError` when the time is over.
    """
    planned = _plan_case(network, target, observed, evidence)
    model = find_predictor(network, target) if planned is None else None
    if model is not None and {*observed, *evidence}.issuperset(network.parents[target]):
        return model.probabilities(fill_rows(network.parents[target], evidence, observed, codes))
    if planned is None:
        return np.array([_posterior(network, target, (observed, row), evidence) for row in codes])
    tables, plan = planned
    check_bytes(plan.peak_bytes, "the posterior of a case")
    asked = CaseTables(network, plan, tuple(tables), tuple(observed), evidence)
    found = np.empty((len(codes), len(network.variables[target])))
    units = UNITS_PER_SECOND * _price(plan, observed)
    start = 0
    for masses in _masses(asked, codes):
        block = slice(start, start + len(masses))
        found[block] = _posteriors(network, target, masses, (observed, codes[block]), evidence)
        start = block.stop
        if start < len(codes):
            tick(units * len(masses), f"the posterior of case {start + 1} of {len(codes)}")
    return found


def price_case(
    network: BayesianNetwork, target: int, observed: Sequence[int], evidence: Mapping[int, int]
) -> float:
    """Seconds that one case among many takes, about: predicted, so the same on every machine."""
    planned = _plan_case(network, target, observed, evidence)
    if planned is None:
        is_row = find_predictor(network, target) and {*observed, *evidence} >= set(network.parents[target])
        return SECONDS_PER_PREDICTION if is_row else SECONDS_ALONE
    return _price(planned[1], observed)


def _price(plan: Plan, observed: Sequence[int]) -> float:
    return SECONDS_PER_FINDING * len(observed) + SECONDS_PER_OPERATION * plan.operations


def _plan_case(
    network: BayesianNetwork, target: int, observed: Sequence[int], evidence: Mapping[int, int]
) -> tuple[list[int], Plan] | None:
    """The tables that a case is about and the plan for them; None where some node is no table."""
    everything = {**evidence, **dict.fromkeys(observed, 0)}
    tables = list(tables_for(network, [target], everything, evidence))
    if not all(isinstance(network.cpts[table], Cpt) for table in tables):
        return None
    return tables, contraction(network, tables, everything, [target]).plan


@dataclass(frozen=True, slots=True, eq=False)
class CaseTables:
    """A plan for cases that observe the same variables, and the tables that are its leaves."""

    network: BayesianNetwork
    plan: Plan
    tables: tuple[int, ...]
    observed: tuple[int, ...]
    evidence: Mapping[int, int]

    @property
    def largest(self) -> int:
        """Numbers of the largest buffer."""
        plan = self.plan
        return max(math.prod(plan.shape(buffer)) for buffer in range(len(plan.scopes)))

    def leaves(self, codes: Codes) -> list[Floats]:
        """The leaves for a block of cases."""
        states = {v: codes[:, i] for i, v in enumerate(self.observed)}
        read = (_read(self.network, table, self.evidence, states) for table in self.tables)
        return [np.ones((1, 1)), *read]

    def columns_below(self) -> list[tuple[int, ...]]:
        """For each buffer the columns of a case that its numbers depend on."""
        column = {v: i for i, v in enumerate(self.observed)}
        parents = self.network.parents
        below = [set[int](), *({column[v] for v in (*parents[t], t) if v in column} for t in self.tables)]
        for step in self.plan.steps:
            below.append(below[step.a] | (set() if step.b is None else below[step.b]))
        return [tuple(sorted(columns)) for columns in below]


def _masses(asked: CaseTables, codes: Codes) -> Iterator[Floats]:
    """Pr(target, case, evidence) in blocks of cases: side by side where tables are small, else one by one."""
    largest, n_classes = asked.largest, asked.plan.shape(asked.plan.root)
    if largest > LARGE:
        yield from _one_by_one(asked, codes)
        return
    fitting = int(bytes_allowed() // max(asked.plan.peak_bytes, 1))
    length = min(max(CACHED // largest, FEWEST), MOST, max(fitting, 1))
    for start in range(0, len(codes), length):
        block = codes[start : start + length]
        masses = run_columns(asked.plan, asked.leaves(block))[0]
        yield np.broadcast_to(masses, (*n_classes, len(block))).T


def _one_by_one(asked: CaseTables, codes: Codes) -> Iterator[Floats]:
    """The masses of each case in turn; what only depends on findings that a case shares with others is kept.

    Large tables are quicker one by one, as products of matrices, than many side by side outside the cache.
    """
    plan, below = asked.plan, [list(columns) for columns in asked.columns_below()]
    kept = KeptBuffers(max(min(bytes_allowed() - plan.peak_bytes, bytes_allowed() / 2), 0.0))
    for row in codes:
        buffers: list[Floats | None] = [leaf[0, ..., 0] for leaf in asked.leaves(row[np.newaxis])]
        keys = [(buffer, row[columns].tobytes()) for buffer, columns in enumerate(below)]
        ready, needed = _look_up(plan, keys, kept)
        for step in plan.steps:
            values = ready.pop(step.out, None)
            if values is None and needed[step.out]:
                tick(units_of(step), "exact inference")
                b = None if step.b is None else buffers[step.b]
                values = contract(plan, step, buffers[step.a], b, Linear())
                kept.keep(keys[step.out], values)
            buffers.append(values)
            buffers[step.a] = None
            if step.b is not None:
                buffers[step.b] = None
        answer = buffers[plan.root]
        assert answer is not None
        yield answer[np.newaxis]


def _look_up(
    plan: Plan, keys: Sequence[tuple[int, bytes]], kept: KeptBuffers
) -> tuple[dict[int, Floats], list[bool]]:
    """The kept buffers that a case uses, and which buffers it needs: what those were made of it does not."""
    ready: dict[int, Floats] = {}
    needed = [False] * len(plan.scopes)
    needed[plan.root] = True
    for step in reversed(plan.steps):
        if not needed[step.out]:
            continue
        values = kept.get(keys[step.out])
        if values is not None:
            ready[step.out] = values
            continue
        needed[step.a] = True
        if step.b is not None:
            needed[step.b] = True
    return ready, needed


@dataclass(slots=True)
class KeptBuffers:
    """Buffers by their step and the findings below it, the latest that so many bytes hold."""

    most_bytes: float
    n_bytes: float = 0.0
    _held: OrderedDict[tuple[int, bytes], Floats] = field(default_factory=OrderedDict)

    def get(self, key: tuple[int, bytes]) -> Floats | None:
        """A buffer that was kept."""
        if key in self._held:
            self._held.move_to_end(key)
        return self._held.get(key)

    def keep(self, key: tuple[int, bytes], values: Floats) -> None:
        """Keep a buffer; those not used for longest make room."""
        if values.nbytes > self.most_bytes:
            return
        self._held[key] = values
        self.n_bytes += values.nbytes
        while self.n_bytes > self.most_bytes:
            self.n_bytes -= self._held.popitem(last=False)[1].nbytes


def _posteriors(
    network: BayesianNetwork,
    target: int,
    masses: Floats,
    cases: tuple[Sequence[int], Codes],
    evidence: Mapping[int, int],
) -> Floats:
    """Masses scaled to sum 1; cases too unlikely for ordinary numbers are answered one by one."""
    masses = np.ascontiguousarray(masses)
    totals = masses.sum(axis=1)
    posteriors: Floats = masses / np.where(totals > SAFE, totals, 1.0)[:, np.newaxis]
    observed, codes = cases
    for row in np.flatnonzero(totals <= SAFE):
        posteriors[row] = _posterior(network, target, (observed, codes[row]), evidence)
    return posteriors


def _posterior(
    network: BayesianNetwork, target: int, case: tuple[Sequence[int], Codes], evidence: Mapping[int, int]
) -> Floats:
    """The posterior of one case by itself; of a model with many gaps an estimate where there is no more."""
    states = dict(zip(case[0], map(int, case[1]), strict=True))
    everything = {**evidence, **states}
    if is_large_model(network, target, everything):
        from unswayed.inference.expected import expect_rows, find_case  # which need this file

        model = find_case(network, target, everything)
        assert model is not None
        mass = expect_rows(model).mass[0]
        found: Floats = mass / mass.sum()
        return found
    return joint_table(network, [target], everything)


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
        # One after the other: numpy sums a single column in another order than several side by side.
        out: Numbers = reduce(np.add, np.moveaxis(a, 3, 0))
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
