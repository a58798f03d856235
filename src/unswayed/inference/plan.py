"""A plan: the contractions that answer a question, made and priced before any table is touched.

Tables are numbered buffers, first the network's own (the leaves), then one for each step. Every buffer is
used by exactly one later step, so the steps form a tree with the answer at its root. A step multiplies
two buffers and sums out the variables that nothing else mentions:

    out(batch, left, right) = sum_s  a(batch, left, s) * b(batch, s, right)

where batch variables stand in both operands and stay. So each step is a stack of matrix products, and its
axes fall into these four groups however many variables there are.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from unswayed.inference.ordering import elimination_orders

Scope = tuple[int, ...]

MANY_OPERATIONS = 1e6
"""From here on contractions take longer than planning them once more."""
MOST_PLANNED = 4
"""Orders that are planned and priced where that pays."""


class EliminationStep(NamedTuple):
    """One contraction: buffers `a` and `b` to buffer `out`; `b` is None where `a` is only summed."""

    a: int
    b: int | None
    out: int
    a_axes: tuple[int, ...]
    """Order of a's axes that gives (batch, left, summed)."""
    b_axes: tuple[int, ...]
    """Order of b's axes that gives (batch, summed, right)."""
    extents: tuple[int, int, int, int]
    """Sizes of (batch, left, summed, right)."""


class Bucket(NamedTuple):
    """What was joined to eliminate one variable; read backwards, the way to states and samples."""

    variable: int
    buffers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps that reduce the leaves to one table over the kept variables."""

    sizes: tuple[int, ...]
    """Number of states of every variable of the network."""
    scopes: tuple[Scope, ...]
    """Variables of every buffer, in the order of its axes; leaves first."""
    n_leaves: int
    """How many buffers are the network's own tables."""
    steps: tuple[EliminationStep, ...]
    """In an order in which they can run; the last makes the answer."""
    buckets: tuple[Bucket, ...]
    """One for each variable eliminated, in that order."""
    operations: float
    """Multiplications in all steps."""
    peak_bytes: float
    """Memory held at the worst moment when each buffer is dropped after use."""
    total_bytes: float
    """Memory when all buffers are kept, as the backward pass needs."""

    @property
    def root(self) -> int:
        """The buffer that holds the answer."""
        return len(self.scopes) - 1

    def shape(self, buffer: int) -> tuple[int, ...]:
        """Sizes of the axes of a buffer."""
        return tuple(map(self.sizes.__getitem__, self.scopes[buffer]))


def make_plan(
    scopes: Iterable[Scope],
    sizes: Sequence[int],
    keep: Iterable[int] = (),
    ranks: Sequence[int] | None = None,
) -> Plan:
    """The best plan found that sums all variables but `keep` out of the product of tables over `scopes`.

    `ranks` numbers the variables in a way that does not depend on how they were given, such as by name; the
    plan's cost then does not either. Of several orders the plan wins that takes least work and memory.
    """
    leaves = [tuple(scope) for scope in scopes]
    kept = frozenset(keep)
    ranks = range(len(sizes)) if ranks is None else ranks
    involved = sorted({variable for scope in leaves for variable in scope}, key=ranks.__getitem__)
    place = {variable: i for i, variable in enumerate(involved)}
    orders = elimination_orders(
        [[place[variable] for variable in scope] for scope in leaves],
        [sizes[variable] for variable in involved],
        [place[variable] for variable in kept if variable in place],
    )
    distinct = list({order.variables: order for order in orders}.values())
    # A second plan takes as long as the first: where the work is small beside it, one is enough.
    tries = 1 if distinct[0].operations < MANY_OPERATIONS else MOST_PLANNED
    plans = [
        _Planner(leaves, sizes, ranks).plan([involved[v] for v in order.variables])
        for order in distinct[:tries]
    ]
    return min(plans, key=lambda plan: plan.operations + plan.peak_bytes / 8)


class _Planner:
    """Collects buffers, steps and their price; dies when the frozen plan is made."""

    def __init__(self, leaves: list[Scope], sizes: Sequence[int], ranks: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self.ranks = ranks
        self.scopes = list(leaves)
        self.cells = [self._size(scope) for scope in leaves]
        self.steps: list[EliminationStep] = []
        self.operations = 0
        self.live = self.peak = sum(self.cells)

    def plan(self, order: Sequence[int]) -> Plan:
        """Join, for each variable in order, the buffers that mention it; then join what is left."""
        n_leaves, end = len(self.scopes), len(order)
        turn = [end] * len(self.sizes)
        for number, variable in enumerate(order):
            turn[variable] = number
        # A buffer waits for the first of its variables to be eliminated, so it is joined exactly once.
        waiting: list[list[int]] = [[] for _ in range(end + 1)]
        for leaf, scope in enumerate(self.scopes):
            waiting[min(map(turn.__getitem__, scope), default=end)].append(leaf)
        for variable, buffers in zip(order, waiting, strict=False):
            out = self._join(buffers, variable)
            waiting[min(map(turn.__getitem__, self.scopes[out]), default=end)].append(out)
        self._join(waiting[end], None)
        return Plan(
            sizes=self.sizes,
            scopes=tuple(self.scopes),
            n_leaves=n_leaves,
            steps=tuple(self.steps),
            buckets=tuple(map(Bucket, order, map(tuple, waiting))),
            operations=_as_float(self.operations),
            peak_bytes=8.0 * _as_float(self.peak),
            total_bytes=8.0 * _as_float(sum(self.cells)),
        )

    def _join(self, buffers: list[int], summed: int | None) -> int:
        """Multiply buffers, smallest first, and sum `summed` out with the last product."""
        if len(buffers) == 1:
            return buffers[0] if summed is None else self._sum(buffers[0], summed)
        if len(buffers) == 2:
            return self._contract(buffers[0], buffers[1], summed)
        heap = [self._priority(b) for b in buffers]
        heapq.heapify(heap)
        while True:
            *_, a = heapq.heappop(heap)
            *_, b = heapq.heappop(heap)
            if not heap:
                return self._contract(a, b, summed)
            heapq.heappush(heap, self._priority(self._contract(a, b, None)))

    def _priority(self, buffer: int) -> tuple[int, list[int], int]:
        """Small buffers first; equally large ones by the ranks of their variables."""
        return (self.cells[buffer], sorted(map(self.ranks.__getitem__, self.scopes[buffer])), buffer)

    def _contract(self, a: int, b: int, summed: int | None) -> int:
        if self.cells[a] > self.cells[b]:
            # The larger operand comes second, so that its own last axes stay last and need no transposition.
            a, b = b, a
        in_a, in_b = self.scopes[a], self.scopes[b]
        batch = [v for v in in_b if v in in_a and v != summed]
        left = [v for v in in_a if v not in in_b]
        right = [v for v in in_b if v not in in_a]
        inner = [] if summed is None else [summed]
        n_batch, n_inner = self._size(batch), 1 if summed is None else self.sizes[summed]
        n_left, n_right = self.cells[a] // (n_batch * n_inner), self.cells[b] // (n_batch * n_inner)
        step = EliminationStep(
            a,
            b,
            len(self.scopes),
            tuple(map(in_a.index, batch + left + inner)),
            tuple(map(in_b.index, batch + inner + right)),
            (n_batch, n_left, n_inner, n_right),
        )
        return self._add(step, (*batch, *left, *right), n_batch * n_left * n_right)

    def _sum(self, a: int, summed: int) -> int:
        scope, n_inner = self.scopes[a], self.sizes[summed]
        left = tuple(v for v in scope if v != summed)
        n_left = self.cells[a] // n_inner
        axes = tuple(map(scope.index, (*left, summed)))
        step = EliminationStep(a, None, len(self.scopes), axes, (), (1, n_left, n_inner, 1))
        return self._add(step, left, n_left)

    def _add(self, step: EliminationStep, scope: Scope, made: int) -> int:
        operands = self.cells[step.a] + (0 if step.b is None else self.cells[step.b])
        self.operations += made * step.extents[2]
        # Transposed copies of the operands live beside them for the length of the step.
        self.peak = max(self.peak, self.live + operands + made)
        self.live += made - operands
        self.scopes.append(scope)
        self.cells.append(made)
        self.steps.append(step)
        return step.out

    def _size(self, variables: Iterable[int]) -> int:
        return math.prod(map(self.sizes.__getitem__, variables))


def _as_float(count: int) -> float:
    return float(min(count, 2**900))
