"""One elimination for many columns at once: frequencies, exponents, or nothing but masses.

Every buffer of a plan gets an axis of classes in front and an axis of columns behind. Columns of length 1
stand for all where a factor is the same in every column.

    classes, variables of the buffer ..., columns
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unswayed.inference.plan import Plan, Step

Numbers = npt.NDArray[Any]
"""Real or complex."""


class Layout(Protocol):
    """Which rows a pass gives."""

    @property
    def plan(self) -> Plan:
        """How the factors are multiplied and summed."""

    @property
    def n_rows(self) -> int:
        """How many rows come out."""

    def run(self, leaves: Sequence[Numbers]) -> Numbers:  # (classes, rows, columns)
        """The product of the leaves, summed to rows."""


@dataclass(frozen=True, slots=True)
class KeptRows:
    """A row for each instantiation of the plan's kept features, the last of `kept` fastest."""

    plan: Plan
    kept: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """How many instantiations the kept features have."""
        return math.prod(self.plan.sizes[v] for v in self.kept)

    def run(self, leaves: Sequence[Numbers]) -> Numbers:  # (classes, rows, columns)
        """Everything but the kept features summed out."""
        buffers: list[Numbers | None] = list(leaves)
        for step in self.plan.steps:
            buffers.append(_forward(self.plan, step, buffers))
            buffers[step.a] = None
            if step.b is not None:
                buffers[step.b] = None
        answer = buffers[self.plan.root]
        assert answer is not None
        scope = self.plan.scopes[self.plan.root]
        answer = answer.transpose(0, *(1 + scope.index(v) for v in self.kept), len(scope) + 1)
        return answer.reshape(len(answer), -1, answer.shape[-1])


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

    def starts(self) -> list[int]:
        """The first row of each feature, and the end."""
        sizes = [self.plan.sizes[v] for v in self.features]
        return [0, *itertools.accumulate(sizes)]

    def run(self, leaves: Sequence[Numbers]) -> Numbers:  # (classes, rows, columns)
        """The product of all leaves summed to each feature, one after another."""
        buffers: list[Numbers | None] = list(leaves)
        for step in self.plan.steps:
            buffers.append(_forward(self.plan, step, buffers))
        derivatives = _derivatives(self.plan, buffers)
        rows = []
        for feature in self.features:
            leaf = min(
                (i for i in range(self.plan.n_leaves) if feature in self.plan.scopes[i]),
                key=lambda i: leaves[i].size,
            )
            product = leaves[leaf] * derivatives[leaf]
            axis = 1 + self.plan.scopes[leaf].index(feature)
            others = tuple(i for i in range(1, product.ndim - 1) if i != axis)
            rows.append(product.sum(axis=others))
        shape = np.broadcast_shapes(*((len(row), 1, row.shape[-1]) for row in rows))
        return np.concatenate([np.broadcast_to(r, (shape[0], r.shape[1], shape[2])) for r in rows], axis=1)


def _forward(plan: Plan, step: Step, buffers: Sequence[Numbers | None]) -> Numbers:
    batch, left, summed, right = step.extents
    a = _operand(buffers[step.a], step.a_axes, (batch, left, summed))
    if step.b is None:
        out: Numbers = a.sum(axis=3)
    else:
        b = _operand(buffers[step.b], step.b_axes, (batch, summed, right))
        out = _multiply(a, b)
    return out.reshape(len(out), *plan.shape(step.out), out.shape[-1])


def _multiply(a: Numbers, b: Numbers) -> Numbers:
    """(classes, batch, left, s, columns) times (classes, batch, s, right, columns), summed over s."""
    out: Numbers = a[:, :, :, 0, np.newaxis] * b[:, :, np.newaxis, 0]
    for s in range(1, a.shape[3]):
        out += a[:, :, :, s, np.newaxis] * b[:, :, np.newaxis, s]
    return out


def _operand(buffer: Numbers | None, axes: tuple[int, ...], extents: tuple[int, ...]) -> Numbers:
    assert buffer is not None
    moved = buffer.transpose(0, *(axis + 1 for axis in axes), len(axes) + 1)
    return moved.reshape(len(buffer), *extents, buffer.shape[-1])


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
        a = _operand(buffers[step.a], step.a_axes, (batch, left, summed))
        b = _operand(buffers[step.b], step.b_axes, (batch, summed, right))
        to_a, to_b = _multiply(above, b.swapaxes(2, 3)), _multiply(a.swapaxes(2, 3), above)
        found[step.a] = _restored(to_a, plan.shape(step.a), step.a_axes)
        found[step.b] = _restored(to_b, plan.shape(step.b), step.b_axes)
    return found


def _restored(values: Numbers, shape: tuple[int, ...], axes: tuple[int, ...]) -> Numbers:
    """Undo the transposition by `axes` that led from `shape` to the layout of `values`."""
    moved = values.reshape(len(values), *(shape[axis] for axis in axes), values.shape[-1])
    inverse = np.argsort(axes) if axes else np.zeros(0, dtype=np.int64)
    return moved.transpose(0, *(int(i) + 1 for i in inverse), len(axes) + 1)
