"""Explanations by branch and bound over the variables, with intervals through the gates.

A first explanation comes from local search: single and double changes of state, from several starts. Then all
states are searched, variables that settle gates first, and whatever cannot beat the best is left. The search
runs in slices, so that time limits and interrupts are heeded, and what it has is returned with its bound.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.core.limits import Limits
from unswayed.focs.mpe.explanation import Answer
from unswayed.focs.mpe.packing import Packed, pack
from unswayed.focs.mpe.problem import Evaluator, MpeProblem
from unswayed.kernels.interval_search import Best, advance, compiled_advance, open_bound, start

INTERPRETED_NODES = 300
"""Nodes visited before compiled code is loaded, which takes about a second."""
SLICE_NODES = 2**15
"""Nodes between two looks at the clock: some 50 ms."""

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

    def solve(self, problem: MpeProblem, limits: Limits) -> Answer:
        """The best states, or, when time runs out, the best so far with a bound."""
        first, value = improve(problem, self.n_starts, np.random.default_rng(self.seed))
        if not problem.free:
            return Answer(None if value == -np.inf else {}, value, finished=True)
        packed = pack(problem)
        best = Best(np.array([value]), first[list(packed.order)].copy())
        bound, finished, n_nodes = _search(packed, best, limits)
        found = float(best.value[0])
        states = {v: int(s) for v, s in zip(packed.order, best.states, strict=True)}
        is_possible = found > -np.inf
        return Answer(states if is_possible else None, max(found, bound), finished, n_nodes)


def _search(packed: Packed, best: Best, limits: Limits) -> tuple[float, bool, int]:
    """Search to the end or to the deadline: the bound of what is left, whether it ended, nodes."""
    frontier = start(packed.ground, packed.biases)
    arguments = (packed.ground, frontier, best)
    deadline = limits.deadline()
    is_loaded = compiled_advance.is_loaded
    try:
        is_over = not is_loaded and advance(*arguments, INTERPRETED_NODES)
        while not is_over and time.monotonic() < deadline:
            is_over = compiled_advance(*arguments, SLICE_NODES)
    except KeyboardInterrupt:
        is_over = False
    bound = -np.inf if is_over else open_bound(packed.ground.sizes, frontier)
    return bound, is_over, int(frontier.counters[1])


def improve(problem: MpeProblem, n_starts: int, rng: np.random.Generator) -> tuple[Ints, float]:
    """The best row found by climbing from several starts, and its value."""
    single = [((v, step),) for v in problem.free for step in range(1, problem.sizes[v])]
    double = [(*one, *two) for one, two in combinations(single, 2) if one[0][0] != two[0][0]]
    shifts = [_shifts(single, problem), _shifts(double if len(double) <= MOST_PAIRS else [], problem)]
    evaluator = Evaluator(problem)
    rows = [_climbed(evaluator, row, shifts) for row in _starts(problem, n_starts, rng)]
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


def _climbed(evaluator: Evaluator, row: Ints, shifts: list[Ints]) -> tuple[Ints, float]:
    """Climb by the first kind of moves as long as one helps, then by the next kind, and so on."""
    sizes = np.array(evaluator.problem.sizes)
    value = float(evaluator.values(row[np.newaxis])[0])
    kind = 0
    while kind < len(shifts):
        neighbours = (row + shifts[kind]) % sizes
        values = evaluator.values(neighbours)
        best = int(np.argmax(values)) if len(values) else -1
        if best >= 0 and values[best] > value:
            row, value, kind = neighbours[best], float(values[best]), 0
        else:
            kind += 1
    return row, value
