"""Explanations by eliminating one variable after another, taking maxima.

The order is planned and priced first. Cost is exponential in the width of the order only, so long codes with
local checks are cheap. Functions take part as chains of tables, unless chance comes into reading the parents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.core.anytime import portion
from unswayed.core.arguments import expect_count
from unswayed.core.errors import ImpossibleEvidence, LimitError
from unswayed.focs.mpe.explanation import Answer
from unswayed.focs.mpe.problem import MpeProblem
from unswayed.inference.explanations import most_probable_states
from unswayed.inference.problem import contraction

WIDEST = 2.0**20
"""Elimination is chosen when no table on the way has more entries than this."""
UNROLLED = 2**22
"""Bytes that the chain of a function may take for elimination to be chosen."""


@dataclass(frozen=True, slots=True)
class Elimination:
    """Max-elimination over tables."""

    name: str = "elimination"
    table_cells: int = 0

    def __post_init__(self) -> None:
        expect_count(self.table_cells, "table_cells")

    def solve(self, problem: MpeProblem) -> Answer:
        """The best states; `LimitError` when tables grow over the limits, or chance comes into a chain."""
        try:
            states, best = most_probable_states(problem.network, problem.evidence)
        except ImpossibleEvidence:
            return Answer(None, -np.inf, finished=True)
        return Answer({v: states[v] for v in problem.free}, best, finished=True)


def is_cheap(problem: MpeProblem) -> bool:
    """Whether elimination will not meet a large table."""
    network = problem.network
    try:
        with portion(max_bytes=UNROLLED):
            found = contraction(network, range(len(network)), problem.evidence)
    except LimitError:
        return False
    widest = max(np.prod(found.plan.shape(buffer), dtype=float) for buffer in range(len(found.plan.scopes)))
    return found.factors.is_deterministic and bool(widest <= WIDEST)
