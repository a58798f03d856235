"""Back through a plan's buckets: states for the eliminated variables, last eliminated first.

When a variable was eliminated, the buffers that mentioned it were joined. All their other variables were
eliminated later, so going backwards those are known by then, and the buffers at their states give the
variable's distribution given all that is known. Taking the largest gives a most probable explanation,
drawing gives a sample, both exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import LimitError
from unswayed.inference.contraction import LogMax, run_keeping
from unswayed.inference.plan import Plan
from unswayed.inference.problem import contraction, impossible
from unswayed.model.network import BayesianNetwork

Pick = Callable[[Floats], Ints]
"""From weights (rows, states), as logarithms, to a state for each row."""


def trace_back(plan: Plan, log_buffers: Sequence[Floats], states: Ints, pick: Pick) -> None:
    """Fill the columns of `states` (rows, variables) for all variables that the plan eliminated.

    Columns of variables that the plan kept must be filled already.
    """
    for bucket in reversed(plan.buckets):
        weights = np.zeros((len(states), plan.sizes[bucket.variable]))
        for buffer in bucket.buffers:
            scope = plan.scopes[buffer]
            axis = scope.index(bucket.variable)
            known = tuple(states[:, v] for v in scope if v != bucket.variable)
            weights += np.moveaxis(log_buffers[buffer], axis, -1)[known]
        states[:, bucket.variable] = pick(weights)


def most_probable_states(
    network: BayesianNetwork, evidence: Mapping[int, int]
) -> tuple[tuple[int, ...], float]:
    """States of all variables, observed ones included, and log Pr(states, evidence).

    Among equally probable explanations one is chosen by position, the same on every run.
    """
    problem = contraction(network, range(len(network)), evidence)
    if not problem.factors.is_deterministic:
        raise LimitError(
            "elimination finds a most probable explanation where every node is a table or reads its parents "
            "without chance; a noisy-or of many unobserved parents does not, so it must be searched for"
        )
    check_bytes(2 * problem.plan.total_bytes, "the most probable explanation in this network")
    buffers = run_keeping(problem.plan, problem.log_leaves(), LogMax())
    best = float(buffers[-1].reshape(()))
    if best == -np.inf:
        raise impossible(network, evidence)
    states = problem.factors.room(1)
    for variable, state in evidence.items():
        states[0, variable] = state
    trace_back(problem.plan, buffers, states, _largest)
    return tuple(map(int, states[0, : len(network)])), best


def _largest(log_weights: Floats) -> Ints:
    best: Ints = np.argmax(log_weights, axis=1)
    return best
