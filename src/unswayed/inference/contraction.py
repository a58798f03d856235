"""Running a plan: tables in, the table over the kept variables out, and back again for derivatives.

Three arithmetics share one plan. Ordinary numbers are fastest and are tried first. Where evidence is so
unlikely that products underflow, the same plan runs on logarithms. With maxima in place of sums it finds
most probable states.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from unswayed.core.anytime import is_counted, tick
from unswayed.core.arrays import Floats
from unswayed.inference.plan import EliminationStep, Plan

UNITS_PER_NUMBER = 2e-3
"""About what a multiplication of a large step takes, and a number that it reads or writes."""
UNITS_PER_STEP = 10.0
"""What a step takes however small it is."""
FEW_SUMMED = 8
"""Numbers of a sum below which it is quicker to add whole columns; numpy adds so few in the same order."""
PIECE = 2**21
"""Numbers of a product that are made before the clock is read again."""


class Arithmetic(Protocol):
    """What a plan needs to know of numbers: products of stacks of matrices, sums, and one."""

    one: float

    def product(self, a: Floats, b: Floats) -> Floats:
        """(batch, left, s) times (batch, s, right) to (batch, left, right)."""

    def total(self, a: Floats) -> Floats:
        """(..., s) summed over s."""


class Linear:
    """Ordinary numbers: sums of products."""

    one = 1.0

    def product(self, a: Floats, b: Floats) -> Floats:
        """(batch, left, s) times (batch, s, right) to (batch, left, right)."""
        return _matrix_products(a, b)

    def total(self, a: Floats) -> Floats:
        """(..., s) summed over s."""
        if not 0 < a.shape[-1] < FEW_SUMMED:
            totals: Floats = a.sum(axis=-1)
            return totals
        totals = a[..., 0].copy()
        for column in range(1, a.shape[-1]):
            totals += a[..., column]
        return totals


class LogSum:
    """Logarithms of sums of products: slower, but nothing underflows."""

    one = 0.0

    def product(self, a: Floats, b: Floats) -> Floats:
        """(batch, left, s) times (batch, s, right) to (batch, left, right)."""
        return self.total(np.swapaxes(a[:, :, :, np.newaxis] + b[:, np.newaxis, :, :], -1, -2))

    def total(self, a: Floats) -> Floats:
        """(..., s) summed over s."""
        highest = a.max(axis=-1, keepdims=True)
        base = np.where(np.isfinite(highest), highest, 0.0)
        with np.errstate(divide="ignore"):
            sums: Floats = base + np.log(np.exp(a - base).sum(axis=-1, keepdims=True))
        return np.squeeze(sums, axis=-1)


class LogMax:
    """Logarithms of the largest product: what most probable states are found by."""

    one = 0.0

    def product(self, a: Floats, b: Floats) -> Floats:
        """(batch, left, s) times (batch, s, right) to (batch, left, right)."""
        best: Floats = a[:, :, 0, np.newaxis] + b[:, np.newaxis, 0, :]
        for s in range(1, a.shape[2]):
            np.maximum(best, a[:, :, s, np.newaxis] + b[:, np.newaxis, s, :], out=best)
        return best

    def total(self, a: Floats) -> Floats:
        """(..., s) maximised over s."""
        highest: Floats = a.max(axis=-1)
        return highest


def run(plan: Plan, leaves: Sequence[Floats], arithmetic: Arithmetic) -> Floats:
    """The answer of a plan; every buffer is dropped as soon as it is used."""
    answer = _forward(plan, list(leaves), arithmetic, keep=False)[plan.root]
    assert answer is not None
    return answer


def run_keeping(plan: Plan, leaves: Sequence[Floats], arithmetic: Arithmetic) -> list[Floats]:
    """All buffers of a plan, leaves first, the answer last."""
    buffers = _forward(plan, list(leaves), arithmetic, keep=True)
    return [buffer for buffer in buffers if buffer is not None]


def _forward(
    plan: Plan, buffers: list[Floats | None], arithmetic: Arithmetic, *, keep: bool
) -> list[Floats | None]:
    counted = is_counted()
    for step in plan.steps:
        if counted:
            tick(units_of(step), "exact inference")
        b = None if step.b is None else buffers[step.b]
        buffers.append(contract(plan, step, buffers[step.a], b, arithmetic))
        if not keep:
            buffers[step.a] = None
            if step.b is not None:
                buffers[step.b] = None
    return buffers


def contract(
    plan: Plan, step: EliminationStep, a: Floats | None, b: Floats | None, arithmetic: Arithmetic
) -> Floats:
    """The buffer that a step makes of one or two others."""
    assert a is not None
    batch, left, summed, right = step.extents
    if b is None:
        values = arithmetic.total(a.transpose(step.a_axes))
    else:
        values = arithmetic.product(
            a.transpose(step.a_axes).reshape(batch, left, summed),
            b.transpose(step.b_axes).reshape(batch, summed, right),
        )
    return values.reshape(plan.shape(step.out))


def units_of(step: EliminationStep) -> float:
    """The work of a step; one that would not end in time is not begun."""
    batch, left, summed, right = step.extents
    moved = batch * (left * summed + summed * right + left * right)
    return UNITS_PER_STEP + UNITS_PER_NUMBER * (math.prod(step.extents) + moved)


def _matrix_products(a: Floats, b: Floats) -> Floats:
    """Stacks of matrix products by whichever of numpy's loops suits their shape, large ones in pieces."""
    (batch, left, summed), right = a.shape, b.shape[2]
    multiply = np.multiply if summed == 1 else np.matmul
    if batch * left * right <= PIECE:
        small: Floats = multiply(a, b)
        return small
    products = np.empty((batch, left, right))
    n_stacks, n_rows = max(PIECE // (left * right), 1), max(PIECE // right, 1)
    for stack, row in itertools.product(range(0, batch, n_stacks), range(0, left, n_rows)):
        tick(what="exact inference")
        stacks, rows = slice(stack, stack + n_stacks), slice(row, row + n_rows)
        multiply(a[stacks, rows], b[stacks], out=products[stacks, rows])
    return products


def derivatives(
    plan: Plan, buffers: Sequence[Floats], arithmetic: Arithmetic, wanted: Sequence[bool]
) -> list[Floats | None]:
    """d answer / d buffer for each buffer, given all buffers of a run [darwiche2003].

    With logarithms, the logarithm of it. The plan is a tree, so each buffer has one user and its
    derivative is a single product. Buffers above no wanted one are skipped and left as None.
    """
    needed = list(wanted)
    for step in plan.steps:
        needed[step.out] = needed[step.out] or needed[step.a] or (step.b is not None and needed[step.b])
    found: list[Floats | None] = [None] * len(buffers)
    found[plan.root] = np.full(plan.shape(plan.root), arithmetic.one)
    for step in reversed(plan.steps):
        tick(what="exact inference")
        if needed[step.a] or (step.b is not None and needed[step.b]):
            _propagate(plan, step, buffers, arithmetic, found, needed)
    return found


def _propagate(
    plan: Plan,
    step: EliminationStep,
    buffers: Sequence[Floats],
    arithmetic: Arithmetic,
    found: list[Floats | None],
    needed: list[bool],
) -> None:
    batch, left, summed, right = step.extents
    above = found[step.out]
    assert above is not None
    if step.b is None:
        spread = np.empty((left, summed))
        spread[:] = above.reshape(left, 1)
        found[step.a] = _restored(spread, plan.shape(step.a), step.a_axes)
        return
    above = above.reshape(batch, left, right)
    if needed[step.a]:
        b = buffers[step.b].transpose(step.b_axes).reshape(batch, summed, right)
        below = arithmetic.product(above, b.swapaxes(1, 2))
        found[step.a] = _restored(below, plan.shape(step.a), step.a_axes)
    if needed[step.b]:
        a = buffers[step.a].transpose(step.a_axes).reshape(batch, left, summed)
        below = arithmetic.product(a.swapaxes(1, 2), above)
        found[step.b] = _restored(below, plan.shape(step.b), step.b_axes)


def _restored(values: Floats, shape: tuple[int, ...], axes: tuple[int, ...]) -> Floats:
    """Undo the transposition by `axes` that led from `shape` to the layout of `values`."""
    inverse = sorted(range(len(axes)), key=axes.__getitem__)
    return values.reshape([shape[axis] for axis in axes]).transpose(inverse)
