"""Eliminations of all classes and many columns at once: frequencies, exponents, or nothing but masses.

Classes are the layers of `inference/batches.py`, which runs the steps. What comes out is laid out in rows:
one for each instantiation of kept features, or for each state of every feature alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.inference.batches import Numbers, arrange, contract_columns, multiply_columns, run_columns
from unswayed.inference.plan import Plan


class PassLayout(Protocol):
    """Which rows a pass gives."""

    @property
    def plan(self) -> Plan:
        """How the factors are multiplied and summed."""

    @property
    def n_rows(self) -> int:
        """How many rows come out."""

    def set_of_row(self) -> Ints:
        """Rows of one set cover everything once; the set of each row, from 0 on."""

    @property
    def width(self) -> float:
        """Numbers in a column of the buffer that it pays to keep in the cache."""

    @property
    def operations(self) -> float:
        """Multiplications for a column of one class."""

    def run(self, leaves: Sequence[Numbers]) -> Numbers:  # (classes, rows, columns)
        """The product of the leaves, summed to rows."""

    def select(self, rows: Ints) -> tuple[PassLayout, Ints]:
        """A layout that gives some of the rows, and their positions in it."""


@dataclass(frozen=True, slots=True)
class KeptRows:
    """A row for each instantiation of the plan's kept features, the last of `kept` fastest."""

    plan: Plan
    kept: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """How many instantiations the kept features have."""
        return math.prod(self.plan.sizes[v] for v in self.kept)

    def set_of_row(self) -> Ints:
        """All rows are one set."""
        return np.zeros(self.n_rows, dtype=np.int64)

    @property
    def width(self) -> float:
        """Numbers in a column of the largest buffer."""
        return largest_buffer(self.plan)

    @property
    def operations(self) -> float:
        """Those of the plan, three for each number of a leaf that is turned, two for each row."""
        return self.plan.operations + 3.0 * _leaf_numbers(self.plan) + 2.0 * self.n_rows

    def run(self, leaves: Sequence[Numbers]) -> Numbers:  # (classes, rows, columns)
        """Everything but the kept features summed out."""
        answer = run_columns(self.plan, leaves)
        scope = self.plan.scopes[self.plan.root]
        answer = answer.transpose(0, *(1 + scope.index(v) for v in self.kept), len(scope) + 1)
        return answer.reshape(len(answer), -1, answer.shape[-1])

    def select(self, rows: Ints) -> tuple[KeptRows, Ints]:
        """All rows come out of one elimination."""
        return self, rows


@dataclass(frozen=True, slots=True)
class SingleRows:
    """Rows for every state of every feature alone: as many layouts of one kept feature, by two passes.

    The plan keeps nothing. Going back from the answer to the leaves gives the derivative by each leaf; a leaf
    times its derivative is the product of all factors, summed to the leaf's features.
    """

    plan: Plan
    features: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """How many states the features have together."""
        return sum(self.plan.sizes[v] for v in self.features)

    def set_of_row(self) -> Ints:
        """The rows of each feature are a set."""
        return np.repeat(np.arange(len(self.features)), [self.plan.sizes[v] for v in self.features])

    @property
    def width(self) -> float:
        """Numbers in a column of the largest buffer; rows are many, but each is written once."""
        return max(largest_buffer(self.plan), self.n_rows / 16)

    @property
    def operations(self) -> float:
        """A pass up and a pass down take about as long as three passes up."""
        return 3.0 * (self.plan.operations + _leaf_numbers(self.plan)) + 2.0 * self.n_rows

    def starts(self) -> list[int]:
        """The first row of each feature, and the end."""
        sizes = [self.plan.sizes[v] for v in self.features]
        return [0, *itertools.accumulate(sizes)]

    def leaf_marginals(self, leaves: Sequence[Numbers]) -> list[Numbers]:
        """The product of all leaves summed to the features of each leaf."""
        return [leaf * above for leaf, above in zip(leaves, self._leaf_derivatives(leaves), strict=True)]

    def _leaf_derivatives(self, leaves: Sequence[Numbers]) -> list[Numbers]:
        buffers: list[Numbers | None] = list(leaves)
        for step in self.plan.steps:
            buffers.append(contract_columns(self.plan, step, buffers))
        return _derivatives(self.plan, buffers)[: self.plan.n_leaves]

    def select(self, rows: Ints) -> tuple[SingleRows, Ints]:
        """Only the features whose rows are asked for."""
        starts, owners = self.starts(), self.set_of_row()[rows]
        chosen = np.unique(owners)
        layout = SingleRows(self.plan, tuple(self.features[i] for i in chosen))
        moved = np.asarray(starts)[owners] - np.asarray(layout.starts())[np.searchsorted(chosen, owners)]
        return layout, rows - moved

    def run(self, leaves: Sequence[Numbers]) -> Numbers:  # (classes, rows, columns)
        """The product of all leaves summed to each feature, one after another."""
        derivatives = self._leaf_derivatives(leaves)
        smallest: dict[int, int] = {}
        for leaf in sorted(range(self.plan.n_leaves), key=lambda i: -leaves[i].size):
            smallest.update(dict.fromkeys(self.plan.scopes[leaf], leaf))
        rows = []
        for feature in self.features:
            leaf = smallest[feature]
            product = leaves[leaf] * derivatives[leaf]
            axis = 1 + self.plan.scopes[leaf].index(feature)
            others = tuple(i for i in range(1, product.ndim - 1) if i != axis)
            rows.append(product.sum(axis=others))
        shape = np.broadcast_shapes(*((len(row), 1, row.shape[-1]) for row in rows))
        return np.concatenate([np.broadcast_to(r, (shape[0], r.shape[1], shape[2])) for r in rows], axis=1)


def largest_buffer(plan: Plan) -> float:
    """Numbers in the largest buffer of a plan."""
    return max(math.prod(map(float, plan.shape(buffer))) for buffer in range(len(plan.scopes)))


def _leaf_numbers(plan: Plan) -> float:
    return sum(math.prod(map(float, plan.shape(leaf))) for leaf in range(plan.n_leaves))


def _derivatives(plan: Plan, buffers: Sequence[Numbers | None]) -> list[Numbers]:
    """d answer / d buffer for every buffer; each has one user, so its derivative is one product."""
    found: list[Numbers] = [np.ones(1)] * len(buffers)
    found[plan.root] = np.ones([1, *plan.shape(plan.root), 1])
    for step in reversed(plan.steps):
        batch, left, summed, right = step.extents
        above = found[step.out]
        above = above.reshape(len(above), batch, left, right, above.shape[-1])
        if step.b is None:
            spread = np.broadcast_to(
                above.reshape(len(above), left, 1, above.shape[-1]),
                (len(above), left, summed, above.shape[-1]),
            )
            found[step.a] = _restored(spread, plan.shape(step.a), step.a_axes)
            continue
        a = arrange(buffers[step.a], step.a_axes, (batch, left, summed))
        b = arrange(buffers[step.b], step.b_axes, (batch, summed, right))
        to_a, to_b = multiply_columns(above, b.swapaxes(2, 3)), multiply_columns(a.swapaxes(2, 3), above)
        found[step.a] = _restored(to_a, plan.shape(step.a), step.a_axes)
        found[step.b] = _restored(to_b, plan.shape(step.b), step.b_axes)
    return found


def _restored(values: Numbers, shape: tuple[int, ...], axes: tuple[int, ...]) -> Numbers:
    """Undo the transposition by `axes` that led from `shape` to the layout of `values`."""
    moved = values.reshape(len(values), *(shape[axis] for axis in axes), values.shape[-1])
    inverse = np.argsort(axes) if axes else np.zeros(0, dtype=np.int64)
    return moved.transpose(0, *(int(i) + 1 for i in inverse), len(axes) + 1)
