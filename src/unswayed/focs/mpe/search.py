"""Explanations by branch and bound over the variables, with intervals through the gates.

A first explanation comes from local search: single and double changes of state, from several starts. Then all
states are searched, variables that settle gates first, and whatever cannot beat the best is left. The search
runs in slices, so that time limits and interrupts are heeded, and what it has is returned with its bound.

Going deep first finds good states, but leaves open branches near the root, so that its bound stands still.
Probes lower it: a probe pretends that states of some higher value were known, which prunes much more. When it
ends without finding better ones, nothing exceeds that value. Both take turns, of as many nodes each.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unswayed.core.anytime import seconds_left
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
"""Nodes between two looks at the clock: some 50 ms."""
COMPILE_SECONDS = 15.0
"""Seconds that compiling may take on a busy machine; with less time left it is not begun."""

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
        """The best states, or, when time runs out, the best so far with a bound."""
        now = time.monotonic()
        # Half of a short time is for the bound.
        rng = np.random.default_rng(self.seed)
        first, value = improve(problem, self.n_starts, rng, now + 0.5 * seconds_left())
        if not problem.free:
            return Answer(None if value == -np.inf else {}, value, finished=True)
        packed = pack(problem)
        best = Best(np.array([value]), first[list(packed.order)].copy())
        bound, finished, n_nodes = _search(packed, best)
        found = float(best.value[0])
        states = {v: int(s) for v, s in zip(packed.order, best.states, strict=True)}
        is_possible = found > -np.inf
        return Answer(states if is_possible else None, max(found, bound), finished, n_nodes)


def _search(packed: Packed, best: Best) -> tuple[float, bool, int]:
    """Search to the end or to the end of the time: the bound of what is left, whether it ended, nodes."""
    frontier = start(packed.ground, packed.biases)
    is_quick = compiled_advance.is_ready or seconds_left() > COMPILE_SECONDS
    probe = _Probe(packed, float(frontier.bound[0, 0]))
    try:
        is_over = not compiled_advance.is_loaded and advance(packed.ground, frontier, best, INTERPRETED_NODES)
        while not is_over and seconds_left() > 0.0:
            if is_quick:
                is_over = compiled_advance(packed.ground, frontier, best, SLICE_NODES) or probe.advance(best)
            else:
                is_over = advance(packed.ground, frontier, best, INTERPRETED_NODES)
    except KeyboardInterrupt:
        is_over = False
    bound = -np.inf if is_over else min(open_bound(packed.ground.sizes, frontier), probe.ceiling)
    return bound, is_over, int(frontier.counters[1]) + probe.n_nodes


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


def improve(
    problem: MpeProblem, n_starts: int, rng: np.random.Generator, deadline: float = math.inf
) -> tuple[Ints, float]:
    """The best row found by climbing from several starts, and its value; one start is climbed from anyway."""
    single = [((v, step),) for v in problem.free for step in range(1, problem.sizes[v])]
    double = [(*one, *two) for one, two in combinations(single, 2) if one[0][0] != two[0][0]]
    shifts = [_shifts(single, problem), _shifts(double if len(double) <= MOST_PAIRS else [], problem)]
    evaluator = Evaluator(problem)
    rows: list[tuple[Ints, float]] = []
    for row in _starts(problem, n_starts, rng):
        if not rows or time.monotonic() < deadline:
            rows.append(_climbed(evaluator, row, shifts, deadline))
    return max(rows, key=lambda pair: pair[1])


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


def _climbed(evaluator: Evaluator, row: Ints, shifts: list[Ints], deadline: float) -> tuple[Ints, float]:
    """Climb by the first kind of moves as long as one helps, then by the next kind, and so on."""
    sizes = np.array(evaluator.problem.sizes)
    value = float(evaluator.values(row[np.newaxis])[0])
    kind = 0
    while kind < len(shifts) and time.monotonic() < deadline:
        neighbours = (row + shifts[kind]) % sizes
        values = evaluator.values(neighbours)
        best = int(np.argmax(values)) if len(values) else -1
        if best >= 0 and values[best] > value:
            row, value, kind = neighbours[best], float(values[best]), 0
        else:
            kind += 1
    return row, value
