"""The most probable explanation, by the method that suits the problem.

A problem of tables only is eliminated when that is cheap. Otherwise branch and bound, which takes anything.
For many questions about one network, compile it once (`diagrams/trellis.py`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from unswayed.core.errors import ImpossibleEvidence, LimitError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.names import listing
from unswayed.focs.mpe.building import build_problem
from unswayed.focs.mpe.elimination import Elimination, elimination_plan
from unswayed.focs.mpe.explanation import Answer, Explanation, MpeMethod
from unswayed.focs.mpe.problem import MpeProblem
from unswayed.focs.mpe.search import BranchAndBound
from unswayed.focs.sampling import log_likelihoods
from unswayed.model.network import BayesianNetwork

WIDEST = 2.0**20
"""Elimination is chosen when no table on the way has more entries than this."""


def most_probable_explanation(
    network: BayesianNetwork,
    evidence: Mapping[str, str] | None = None,
    *,
    method: MpeMethod | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Explanation:
    """The jointly most probable states of all variables given the evidence.

        argmax over x compatible with e of Pr(x)    [shen2020, section 5.2]

    Exact: when time runs out the best states found are returned with a bound (`optimal` is then False).
    Raises `ImpossibleEvidence`, and `LimitError` when nothing at all was found in time.

    >>> from unswayed.model.nodes.noisy import NoisyOrCpt
    >>> from unswayed.model import Cpt, Variable
    >>> fever, flu, cold = (Variable(name, ["no", "yes"]) for name in ("Fever", "Flu", "Cold"))
    >>> network = BayesianNetwork([
    ...     Cpt(flu, [], [0.9, 0.1]), Cpt(cold, [], [0.7, 0.3]), NoisyOrCpt(fever, [flu, cold], [0.9, 0.4])])
    >>> most_probable_explanation(network, {"Fever": "yes"}).states
    {'Flu': 'no', 'Cold': 'yes', 'Fever': 'yes'}
    """
    started = time.perf_counter()
    problem = build_problem(network, network.evidence(evidence))
    chosen = choose_method(problem) if method is None else method
    answer = chosen.solve(problem, limits)
    if answer.states is None:
        raise _nothing(answer, evidence, limits)
    row = problem.completed(answer.states)
    value = float(log_likelihoods(network, row)[0])
    if value == -np.inf:
        raise _nothing(answer, evidence, limits)
    names = [variable.states[state] for variable, state in zip(network.variables, row[0], strict=True)]
    return Explanation(
        states=dict(zip(network.names, names, strict=True)),
        log_probability=value,
        bound=max(value, answer.bound),
        method=chosen.name,
        seconds=time.perf_counter() - started,
        n_nodes=answer.n_nodes,
    )


def choose_method(problem: MpeProblem) -> MpeMethod:
    """Elimination when all is tables and they stay small, else branch and bound."""
    if problem.gates:
        return BranchAndBound()
    try:
        plan = elimination_plan(problem)
    except LimitError:
        return BranchAndBound()
    widest = max(np.prod(plan.shape(buffer), dtype=float) for buffer in range(len(plan.scopes)))
    return Elimination() if widest <= WIDEST else BranchAndBound()


def _nothing(answer: Answer, evidence: Mapping[str, str] | None, limits: Limits) -> Exception:
    if answer.finished:
        pairs = [f"{name}={state}" for name, state in (evidence or {}).items()]
        return ImpossibleEvidence(
            f"the evidence has probability 0 in this network: {listing(pairs, at_most=12)}; check it for "
            "typing errors or for findings that contradict each other"
        )
    return LimitError(
        f"no explanation was found within {limits.max_seconds} seconds; raise Limits(max_seconds=...)"
    )
