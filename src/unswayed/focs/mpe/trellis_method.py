"""Explanations by max-product on the compiled network, as one method among the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.core.limits import Limits
from unswayed.focs.diagrams.queries import explain_rows
from unswayed.focs.diagrams.trellis import compile_network
from unswayed.focs.mpe.explanation import Answer
from unswayed.focs.mpe.problem import MpeProblem


@dataclass(frozen=True, slots=True)
class MaxProduct:
    """Compile the network to a trellis and take its best path.

    For many questions about one network compile it once instead, with `compile_network`, and ask
    `explain_rows`.
    """

    name: str = "max-product"

    def solve(self, problem: MpeProblem, limits: Limits) -> Answer:
        """The best states; `LimitError` when the network does not compile within the limits."""
        compiled = compile_network(problem.network, limits=limits)
        row = np.full((1, len(problem.network)), -1)
        for variable, state in problem.evidence.items():
            row[0, variable] = state
        states, logs = explain_rows(compiled, row)
        if logs[0] == -np.inf:
            return Answer(None, -np.inf, finished=True)
        return Answer({v: int(states[0, v]) for v in problem.free}, float(logs[0]), finished=True)
