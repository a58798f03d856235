"""The most probable explanation, by the method that suits the problem.

Where elimination is cheap it is taken, else branch and bound, which takes anything. Whatever a method
returns is judged by the network itself, so no rounding in a method can make an explanation look better than
it is. For many questions about one network of two-state variables, compile it once (`diagrams/trellis.py`).

Elimination takes one variable after another, with maxima for sums. The order is planned and priced first.
Cost is exponential in the width of the order only, so long codes with local checks are cheap. Functions take
part as chains of tables, unless chance comes into reading the parents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unswayed.core.anytime import portion, units_left
from unswayed.core.arguments import expect_count
from unswayed.core.errors import ImpossibleEvidence, LimitError, SolverError
from unswayed.focs.mpe.problem import Answer, MpeMethod, MpeProblem, build_problem
from unswayed.focs.mpe.search import BranchAndBound
from unswayed.inference.problem import contraction, impossible
from unswayed.inference.sampling import row_log_likelihoods
from unswayed.inference.tracing import most_probable_states
from unswayed.model.network import BayesianNetwork


@dataclass(frozen=True, slots=True)
class ExplainedStates:
    """The most probable states of all variables together with the evidence, by position."""

    states: tuple[int, ...]
    """State of every variable, observed ones included."""
    log_probability: float
    """log Pr(states), computed from the network itself."""
    bound: float
    """No states compatible with the evidence have a larger logarithm."""
    method: str
    """Which method found it."""
    n_nodes: int = 0
    """Nodes of a search tree, where there was one."""


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
