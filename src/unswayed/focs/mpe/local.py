"""Good explanations quickly: change one state, or two, as long as that makes the sum larger."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.focs.mpe.evaluating import Evaluator
from unswayed.focs.mpe.problem import MpeProblem

Move = tuple[tuple[int, int], ...]
"""Pairs of a variable and how far its state moves on."""
MOST_PAIRS = 2000
"""Double changes are tried where there are at most so many."""


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
