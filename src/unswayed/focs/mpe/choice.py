"""The most probable explanation, by the method that suits the problem.

Where elimination is cheap it is taken, else branch and bound, which takes anything. Whatever a method
returns is judged by the network itself, so no rounding in a method can make an explanation look better than
it is. For many questions about one network of two-state variables, compile it once (`diagrams/trellis.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from unswayed.core.anytime import units_left
from unswayed.core.errors import LimitError, SolverError
from unswayed.focs.mpe.building import build_problem
from unswayed.focs.mpe.elimination import Elimination, is_cheap
from unswayed.focs.mpe.explanation import Answer, ExplainedStates, MpeMethod
from unswayed.focs.mpe.problem import MpeProblem
from unswayed.focs.mpe.search import BranchAndBound
from unswayed.inference.problem import impossible
from unswayed.inference.sampling import row_log_likelihoods
from unswayed.model.network import BayesianNetwork


def explain(
    network: BayesianNetwork, evidence: Mapping[int, int], *, method: MpeMethod | None = None
) -> ExplainedStates:
    """The jointly most probable states of all variables given the evidence, by position.

        argmax over x compatible with e of Pr(x)    [shen2020, section 5.2]

    Exact: when time runs out the best states found are returned with a bound. Raises `ImpossibleEvidence`,
    and `LimitError` when nothing at all was found in time.
    """
    given = MpeProblem(network, dict(evidence), (), ())
    chosen = choose_method(given) if method is None else method
    problem = (
        given
        if isinstance(chosen, Elimination)
        else build_problem(network, evidence, table_cells=chosen.table_cells)
    )
    answer = chosen.solve(problem)
    if answer.states is None:
        raise _nothing(problem, answer)
    row = problem.completed(answer.states)
    value = float(row_log_likelihoods(network, row)[0])
    if value == -np.inf:
        raise _nothing(problem, answer)
    return ExplainedStates(
        states=tuple(map(int, row[0])),
        log_probability=value,
        bound=max(value, answer.bound),
        method=chosen.name,
        n_nodes=answer.n_nodes,
    )


def choose_method(problem: MpeProblem) -> MpeMethod:
    """Elimination when its tables stay small, else branch and bound."""
    return Elimination() if is_cheap(problem) else BranchAndBound()


def _nothing(problem: MpeProblem, answer: Answer) -> Exception:
    if answer.finished:
        return impossible(problem.network, problem.evidence)
    if math.isinf(units_left()):
        return SolverError(
            "the solver found no explanation, which proves nothing where weights are this large; "
            "use branch and bound"
        )
    return LimitError("no explanation was found in time; raise Limits(max_seconds=...)")
