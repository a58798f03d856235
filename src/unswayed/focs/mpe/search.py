"""Explanations by branch and bound over the variables, with intervals through the gates.

A first explanation comes from local search: single and double changes of state, from several starts. Then all
states are searched, variables that settle gates first, and whatever cannot beat the best is left. The search
runs in slices, so that time limits and interrupts are heeded, and what it has is returned with its bound.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from unswayed.core.limits import Limits
from unswayed.focs.mpe.explanation import Answer
from unswayed.focs.mpe.local import improve
from unswayed.focs.mpe.packing import Packed, pack
from unswayed.focs.mpe.problem import MpeProblem
from unswayed.kernels.interval_search import Best, advance, compiled_advance, open_bound, start

INTERPRETED_NODES = 300
"""Nodes visited before compiled code is loaded, which takes about a second."""
SLICE_NODES = 2**15
"""Nodes between two looks at the clock: some 50 ms."""


@dataclass(frozen=True, slots=True)
class BranchAndBound:
    """Search of all states, proven."""

    n_starts: int = 3
    """Random starts of the local search that precedes it."""
    seed: int = 0
    """Of these starts."""
    name: str = "branch and bound"

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
    is_loaded = compiled_advance.cache_info().currsize > 0
    try:
        is_over = not is_loaded and advance(*arguments, INTERPRETED_NODES)
        while not is_over and time.monotonic() < deadline:
            is_over = compiled_advance()(*arguments, SLICE_NODES)
    except KeyboardInterrupt:
        is_over = False
    bound = -np.inf if is_over else open_bound(packed.ground.sizes, frontier)
    return bound, is_over, int(frontier.counters[1])
