"""The most probable explanation: states of all variables, jointly most probable given the evidence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import LimitError
from unswayed.inference.contraction import LogMax, run_keeping
from unswayed.inference.problem import contraction, impossible
from unswayed.inference.tracing import trace_back
from unswayed.model.network import BayesianNetwork


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
