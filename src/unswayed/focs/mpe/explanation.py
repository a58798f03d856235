"""What methods for explanations take and give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from unswayed.focs.mpe.problem import MpeProblem


@dataclass(frozen=True, slots=True)
class Answer:
    """States of the free variables by position, and what is proven about them."""

    states: Mapping[int, int] | None
    """The best states found; None when none were, or when there are none of positive probability."""
    bound: float
    """No states have a larger logarithm than this; minus infinity when the evidence is impossible."""
    finished: bool
    """Whether the search came to its end rather than to a limit."""
    n_nodes: int = 0
    """Nodes of a search tree, where there was one."""


class MpeMethod(Protocol):
    """A way to solve a problem exactly."""

    @property
    def name(self) -> str:
        """What it is called in explanations."""

    @property
    def table_cells(self) -> int:
        """Functions with at most so many instantiations of their free inputs are best given as tables."""

    def solve(self, problem: MpeProblem) -> Answer:
        """The best states, or the best ones found within the limits with a bound."""


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
