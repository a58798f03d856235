"""Explanations by eliminating one variable after another, taking maxima.

The order is planned and priced first. Cost is exponential in the width of the order only, so long codes with
local checks are cheap; problems with gates have no small tables and are refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.focs.mpe.explanation import Answer
from unswayed.focs.mpe.problem import MpeProblem
from unswayed.inference.contraction import LogMax, run_keeping
from unswayed.inference.plan import Plan, make_plan
from unswayed.inference.tracing import trace_back


@dataclass(frozen=True, slots=True)
class Elimination:
    """Max-elimination over tables."""

    name: str = "elimination"

    def solve(self, problem: MpeProblem, limits: Limits) -> Answer:
        """The best states; `LimitError` when there are gates, or when tables grow over the limits."""
        if problem.gates:
            names = problem.network.names
            raise LimitError(
                f"elimination needs a table for every node, and {len(problem.gates)} have too many inputs "
                f"that matter (one over {names[problem.gates[0].inputs[0]]!r} and "
                f"{len(problem.gates[0].inputs) - 1} others); use branch and bound or a solver"
            )
        plan = elimination_plan(problem)
        limits.check_bytes(2 * plan.total_bytes, "the most probable explanation by elimination")
        logs = [np.zeros(()), *(factor.logs for factor in problem.factors)]
        buffers = run_keeping(plan, logs, LogMax(), limits=limits)
        best = float(buffers[-1].reshape(()))
        if best == -np.inf:
            return Answer(None, best, finished=True)
        row = problem.completed({})
        trace_back(plan, buffers, row, _largest)
        return Answer({v: int(row[0, v]) for v in problem.free}, best, finished=True)


def elimination_plan(problem: MpeProblem) -> Plan:
    """The plan of elimination, priced."""
    # The number one is always among the factors, so that a problem without tables has a plan too.
    return make_plan([(), *(factor.scope for factor in problem.factors)], problem.sizes)


def _largest(log_weights: Floats) -> Ints:
    best: Ints = np.argmax(log_weights, axis=1)
    return best
