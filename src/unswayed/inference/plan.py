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
from dataclasses import dataclass, replace

from unswayed.inference.ordering import Order, elimination_orders

Scope = tuple[int, ...]

MANY_OPERATIONS = 1e6
"""From here on contractions take longer than planning them once more."""
MOST_PLANNED = 4
"""Orders that are planned and priced where that pays."""


@dataclass(frozen=True, slots=True)
class EliminationStep:
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


@dataclass(frozen=True, slots=True)
class Bucket:
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
        return tuple(self.sizes[variable] for variable in self.scopes[buffer])


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
    orders = _ranked_orders(leaves, sizes, kept, ranks)
    # A second plan takes as long as the first: where the work is small beside it, one is enough.
    tries = 1 if orders[0].operations < MANY_OPERATIONS else MOST_PLANNED
    plans = [_Planner(leaves, sizes, kept, ranks).plan(order) for order in orders[:tries]]
    return min(plans, key=lambda plan: plan.operations + plan.peak_bytes / 8)


def _ranked_orders(
    leaves: Sequence[Scope], sizes: Sequence[int], keep: frozenset[int], ranks: Sequence[int]
) -> list[Order]:
    """Elimination orders, cheapest first, found with the variables numbered by rank."""
    involved = sorted({variable for scope in leaves for variable in scope}, key=ranks.__getitem__)
    place = {variable: i for i, variable in enumerate(involved)}
    # Which scope comes first must not matter either.
    renamed = sorted([place[variable] for variable in scope] for scope in leaves)
    left = [place[variable] for variable in keep if variable in place]
    found = elimination_orders(renamed, [sizes[variable] for variable in involved], left)
    distinct = {order.variables: order for order in found}
    return [replace(each, variables=tuple(involved[v] for v in each.variables)) for each in distinct.values()]


class _Planner:
    """Collects buffers and steps; dies when the frozen plan is made."""

    def __init__(
        self, leaves: list[Scope], sizes: Sequence[int], keep: frozenset[int], ranks: Sequence[int]
    ) -> None:
        self.sizes = tuple(sizes)
        self.ranks = ranks
        self.keep = keep
        self.scopes = list(leaves)
        self.n_leaves = len(leaves)
        self.steps: list[EliminationStep] = []
        self.buckets: list[Bucket] = []
        self.holding: dict[int, set[int]] = {}
        for buffer, scope in enumerate(leaves):
            for variable in scope:
                self.holding.setdefault(variable, set()).add(buffer)
        self.loose = {buffer for buffer, scope in enumerate(leaves) if not scope}

    def plan(self, order: Order) -> Plan:
        for variable in order.variables:
            self._eliminate(variable)
        remaining = self.loose.union(*self.holding.values()) if self.holding else self.loose
        self._join(remaining, summed=frozenset())
        operations, peak, total = self._price()
        return Plan(
            sizes=self.sizes,
            scopes=tuple(self.scopes),
            n_leaves=self.n_leaves,
            steps=tuple(self.steps),
            buckets=tuple(self.buckets),
            operations=operations,
            peak_bytes=peak,
            total_bytes=total,
        )

    def _eliminate(self, variable: int) -> None:
        buffers = self.holding.get(variable, set())
        self.buckets.append(Bucket(variable, tuple(sorted(buffers))))
        self._join(set(buffers), summed=frozenset({variable}))

    def _join(self, buffers: set[int], summed: frozenset[int]) -> None:
        """Multiply buffers, smallest first, and sum `summed` out with the last product."""
        heap = [self._priority(b) for b in buffers]
        heapq.heapify(heap)
        while len(heap) > 1:
            *_, a = heapq.heappop(heap)
            *_, b = heapq.heappop(heap)
            out = self._contract(a, b, frozenset() if heap else summed)
            heapq.heappush(heap, self._priority(out))
        only = heap[0][-1]
        if summed & set(self.scopes[only]):
            self._sum(only, summed)

    def _priority(self, buffer: int) -> tuple[int, list[int], int]:
        """Small buffers first; equally large ones by the ranks of their variables."""
        scope = self.scopes[buffer]
        return (self._size(scope), sorted(map(self.ranks.__getitem__, scope)), buffer)

    def _contract(self, a: int, b: int, summed: frozenset[int]) -> int:
        # The larger operand comes second, so that its own last axes stay last and need no transposition.
        in_a, in_b = set(self.scopes[a]), set(self.scopes[b])
        batch = [v for v in self.scopes[b] if v in in_a and v not in summed]
        left = [v for v in self.scopes[a] if v not in in_b]
        right = [v for v in self.scopes[b] if v not in in_a]
        inner = [v for v in self.scopes[b] if v in summed]
        step = EliminationStep(
            a=a,
            b=b,
            out=len(self.scopes),
            a_axes=_positions(self.scopes[a], [*batch, *left, *inner]),
            b_axes=_positions(self.scopes[b], [*batch, *inner, *right]),
            extents=(self._size(batch), self._size(left), self._size(inner), self._size(right)),
        )
        return self._add(step, (*batch, *left, *right))

    def _sum(self, a: int, summed: frozenset[int]) -> int:
        left = [v for v in self.scopes[a] if v not in summed]
        inner = [v for v in self.scopes[a] if v in summed]
        step = EliminationStep(
            a=a,
            b=None,
            out=len(self.scopes),
            a_axes=_positions(self.scopes[a], [*left, *inner]),
            b_axes=(),
            extents=(1, self._size(left), self._size(inner), 1),
        )
        return self._add(step, tuple(left))

    def _add(self, step: EliminationStep, scope: Scope) -> int:
        for buffer in (step.a, step.b):
            if buffer is not None:
                self.loose.discard(buffer)
                for variable in self.scopes[buffer]:
                    self.holding[variable].discard(buffer)
        self.scopes.append(scope)
        self.steps.append(step)
        for variable in scope:
            self.holding[variable].add(step.out)
        if not scope:
            self.loose.add(step.out)
        return step.out

    def _size(self, variables: Iterable[int]) -> int:
        return math.prod(map(self.sizes.__getitem__, variables))

    def _price(self) -> tuple[float, float, float]:
        sizes = list(map(float, self.sizes))
        size = [math.prod(map(sizes.__getitem__, scope)) for scope in self.scopes]
        operations = sum(float(min(math.prod(step.extents), 2**900)) for step in self.steps)
        live = sum(size[: self.n_leaves])
        peak = live
        for step in self.steps:
            operands = size[step.a] + (0.0 if step.b is None else size[step.b])
            # Transposed copies of the operands live beside them for the length of the step.
            peak = max(peak, live + operands + size[step.out])
            live += size[step.out] - operands
        return operations, 8.0 * peak, 8.0 * sum(size)


def _positions(scope: Scope, wanted: Sequence[int]) -> tuple[int, ...]:
    return tuple(map(scope.index, wanted))
