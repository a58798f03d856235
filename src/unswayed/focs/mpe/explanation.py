"""What an explanation is, and what methods return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from unswayed.core.limits import Limits
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

    def solve(self, problem: MpeProblem, limits: Limits) -> Answer:
        """The best states, or the best ones found within the limits with a bound."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The most probable states of all variables together with the evidence."""

    states: Mapping[str, str]
    """State of every variable by name, observed ones included."""
    log_probability: float
    """log Pr(states)."""
    bound: float
    """No states compatible with the evidence have a larger logarithm; equal to it when optimal."""
    method: str
    """Which method found it."""
    seconds: float
    """How long it took."""
    n_nodes: int = 0
    """Nodes of a search tree, where there was one."""

    @property
    def optimal(self) -> bool:
        """Whether it is proven that nothing is more probable."""
        return self.bound <= self.log_probability + TOLERANCE


TOLERANCE = 1e-6
"""Logarithms this close count as equal: solvers of mixed-integer programs promise no more."""
