"""Explanations by branch and bound over the variables, with intervals through the gates.

A first explanation comes from local search: single and double changes of state, from several starts. Then all
states are searched, variables that settle gates first, and whatever cannot beat the best is left. The search
is a stream of what slices of it come to, so that it ends with its best and a bound whenever it is ended.

Going deep first finds good states, but leaves open branches near the root, so that its bound stands still.
Probes lower it: a probe pretends that states of some higher value were known, which prunes much more. When it
ends without finding better ones, nothing exceeds that value. Both take turns, of as many nodes each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unswayed.core.anytime import settle, tick, units_left
from unswayed.core.arguments import expect_count
from unswayed.core.arrays import Ints
from unswayed.focs.mpe.explanation import Answer
from unswayed.focs.mpe.packing import Packed, pack
from unswayed.focs.mpe.problem import Evaluator, MpeProblem
from unswayed.kernels.interval_search import (
    Best,
    OpenBranches,
    advance,
    compiled_advance,
    open_bound,
    start,
)

INTERPRETED_NODES = 300
"""Nodes visited before compiled code is loaded, which takes about a second."""
SLICE_NODES = 2**15
"""Nodes of a slice: some 50 ms."""
SLICE_UNITS, CLIMB_UNITS = 5e4, 0.5
"""Work for a slice, and for each neighbour that local search looks at, about."""
COMPILE_UNITS = 15e6
"""What compiling may take on a busy machine; with less left it is not begun."""

FIRST_STEP = 0.03
"""How far the first probe goes down from the bound to the best states."""
GROWTH = 4.0
"""How many times as many nodes as the last probe the next one should take."""
CLOSE = 1e-3
"""Nats between the best states and the bound below which probes would repeat the search itself."""

Move = tuple[tuple[int, int], ...]
"""Pairs of a variable and how far its state moves on."""
MOST_PAIRS = 2000
"""Double changes are tried where there are at most so many."""


@dataclass(frozen=True, slots=True)
class BranchAndBound:
    """Search of all states, proven."""

    n_starts: int = 3
    """Random starts of the local search that precedes it."""
    seed: int = 0
    """Of these starts."""
    name: str = "branch and bound"
    table_cells: int = 2**14

    def __post_init__(self) -> None:
        for name in ("n_starts", "seed", "table_cells"):
            expect_count(getattr(self, name), name)

    def solve(self, problem: MpeProblem) -> Answer:
        """The best states, or, when the budget is spent, the best so far with a bound."""
        rng = np.random.default_rng(self.seed)
        # Half of a short time is for the bound.
        first, value = settle(climb(problem, self.n_starts, rng), share=0.5).last
        if not problem.free:
            return Answer(None if value == -np.inf else {}, value, finished=True)
        packed = pack(problem)
        best = Best(np.array([value]), first[list(packed.order)].copy())
        found = settle(_search(packed, best), heeds_interrupts=True).last
        states = {v: int(s) for v, s in zip(packed.order, found.states, strict=True)}
        is_possible = found.value > -np.inf
        bound = max(found.value, found.bound)
        return Answer(states if is_possible else None, bound, found.is_over, found.n_nodes)


@dataclass(frozen=True, slots=True, eq=False)
class _Reached:
    """What a search has come to."""

    states: Ints
    """The best states, in the order of the search, and"""
    value: float
    """their logarithm."""
    bound: float
    """Nothing that is left exceeds this."""
    is_over: bool
    n_nodes: int


def _search(packed: Packed, best: Best) -> Iterator[_Reached]:
    """Search to the end, slice by slice."""
    frontier = start(packed.ground, packed.biases)
    is_quick = compiled_advance.is_ready or units_left() > COMPILE_UNITS
    probe = _Probe(packed, float(frontier.bound[0, 0]))

    def reach(is_over: bool) -> _Reached:
        bound = -np.inf if is_over else min(open_bound(packed.ground.sizes, frontier), probe.ceiling)
        n_nodes = int(frontier.counters[1]) + probe.n_nodes
        return _Reached(best.states.copy(), float(best.value[0]), bound, is_over, n_nodes)

    is_over = not compiled_advance.is_loaded and advance(packed.ground, frontier, best, INTERPRETED_NODES)
    yield reach(is_over)
    while not is_over:
        tick(SLICE_UNITS, "the search for the most probable states")
        if is_quick:
            is_over = compiled_advance(packed.ground, frontier, best, SLICE_NODES) or probe.advance(best)
        else:
            is_over = advance(packed.ground, frontier, best, INTERPRETED_NODES)
        yield reach(is_over)


class _Probe:
    """Lowers the bound from above, level by level; lives as long as its search."""

    def __init__(self, packed: Packed, ceiling: float) -> None:
        self.packed, self.ceiling = packed, ceiling
        self.n_nodes = 0
        self.step, self.last_nodes = 0.0, 1
        self.running: tuple[float, OpenBranches, Best] | None = None

    def advance(self, best: Best, budget: int = SLICE_NODES) -> bool:
        """Probe for so many nodes; whether that proves the best states, which it may have improved."""
        last = self.n_nodes + budget
        while self.n_nodes < last:
            known = float(best.value[0])
            if self.running is None:
                if not np.isfinite(known + self.ceiling) or self.ceiling - known < CLOSE:
                    return False
                self._begin(best)
            assert self.running is not None
            level, frontier, found = self.running
            before = int(frontier.counters[1])
            is_over = compiled_advance(self.packed.ground, frontier, found, last - self.n_nodes)
            self.n_nodes += int(frontier.counters[1]) - before
            exceeds = bool(found.value[0] > level)
            if exceeds and found.value[0] > known:
                best.value[0], best.states[:] = found.value[0], found.states
            if is_over:
                self._finish(float(found.value[0]), int(frontier.counters[1]))
            if is_over and exceeds:
                return True
        return False

    def _begin(self, best: Best) -> None:
        """Probe the next level: a step down, but no more than half of the way to the best states."""
        gap = self.ceiling - float(best.value[0])
        self.step = min(self.step or FIRST_STEP * gap, 0.5 * gap)
        level = self.ceiling - self.step
        frontier = start(self.packed.ground, self.packed.biases)
        self.running = level, frontier, Best(np.array([level]), best.states.copy())

    def _finish(self, value: float, n_nodes: int) -> None:
        """Nothing exceeds the value; the next step is such that its probe takes about `GROWTH` times as long.

        Each probe repeats the ones before it, so with this growth a third of all nodes is repeated.
        """
        self.running = None
        # Branches within rounding of the level are pruned too.
        self.ceiling = min(self.ceiling, value + 1e-12)
        growth = max(n_nodes / self.last_nodes, 1.01)
        self.step *= min(max(math.log(GROWTH) / math.log(growth), 0.5), 2.0)
        self.last_nodes = max(n_nodes, 1)


def climb(problem: MpeProblem, n_starts: int, rng: np.random.Generator) -> Iterator[tuple[Ints, float]]:
    """The best row so far, and its value: climbing from several starts, one after the other."""
    single = [((v, step),) for v in problem.free for step in range(1, problem.sizes[v])]
    double = [(*one, *two) for one, two in combinations(single, 2) if one[0][0] != two[0][0]]
    shifts = [_shifts(single, problem), _shifts(double if len(double) <= MOST_PAIRS else [], problem)]
    evaluator = Evaluator(problem)
    best: tuple[Ints, float] | None = None
    for row in _starts(problem, n_starts, rng):
        for found in _climb_from(evaluator, row, shifts):
            if best is None or found[1] > best[1]:
                best = found
            yield best


def _starts(problem: MpeProblem, n_starts: int, rng: np.random.Generator) -> list[Ints]:
    """Each variable's own best state, and states at random."""
    first = problem.completed({})[0]
    for factor in problem.factors:
        if len(factor.scope) == 1:
            first[factor.scope[0]] = int(np.argmax(factor.logs))
    found = [first]
    for _ in range(n_starts):
        row = first.copy()
        for variable in problem.free:
            if rng.random() < 0.5:
                row[variable] = rng.integers(problem.sizes[variable])
        found.append(row)
    return found


def _shifts(moves: Sequence[Move], problem: MpeProblem) -> Ints:  # (moves, variables)
    """How far each move carries each variable's state on."""
    shifts = np.zeros((len(moves), len(problem.network)), dtype=np.int64)
    for number, move in enumerate(moves):
        for variable, step in move:
            shifts[number, variable] = step
    return shifts


def _climb_from(evaluator: Evaluator, row: Ints, shifts: list[Ints]) -> Iterator[tuple[Ints, float]]:
    """Climb by the first kind of moves as long as one helps, then by the next kind, and so on."""
    sizes = np.array(evaluator.problem.sizes)
    value = float(evaluator.values(row[np.newaxis])[0])
    yield row, value
    kind = 0
    while kind < len(shifts):
        tick(CLIMB_UNITS * shifts[kind].size, "the search for the most probable states")
        neighbours = (row + shifts[kind]) % sizes
        values = evaluator.values(neighbours)
        best = int(np.argmax(values)) if len(values) else -1
        if best >= 0 and values[best] > value:
            row, value, kind = neighbours[best], float(values[best]), 0
            yield row, value
        else:
            kind += 1
