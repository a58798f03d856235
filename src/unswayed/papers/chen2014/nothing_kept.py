"""What the methods share that know only the decisions of the full classifier: nothing more can be kept.

The same-decision probability needs one row, that of the evidence alone. [chen2014] computes just that;
`depth_first.py` and `brute_force.py` do it as the paper describes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import QueryError
from unswayed.decisions.measures import AchievableAgreement, doubted_agreement, expected_agreement
from unswayed.decisions.oracle import Interval, achieve_with_rows
from unswayed.decisions.problem import Problem
from unswayed.decisions.profile import DecisionProfile
from unswayed.decisions.rules import Decider
from unswayed.engines.parts import refuse_groups
from unswayed.engines.protocol import Needs, Question, Refusal


def refuse_kept(problem: Problem, question: Question) -> Refusal | None:
    """A refusal unless nothing is kept, the target has two states, and no group is too large."""
    if question.needs is Needs.SINGLES:
        return Refusal("answers only what nothing kept tells")
    if question.kept:
        return Refusal(f"answers only what nothing kept tells; {len(question.kept)} features are kept here")
    return refuse_groups(problem)


@dataclass(frozen=True, slots=True, eq=False)
class DecidedOracle:
    """How probable each decision of the full classifier is, given the evidence."""

    problem: Problem
    decision_mass: Floats = field(repr=False)
    """Pr(the full classifier decides a | e), a number for each action."""
    n_explored: int
    """Instantiations visited: nodes of a search tree, or leaves where all were listed."""
    doubt: float = 0.0
    """Mass of what the tolerance of ties decides, not the posterior."""

    def agreement(self, kept: frozenset[int], decider: Decider, tolerance: float) -> Interval:
        """How often the decision taken now by `decider` is the one that all features would lead to."""
        _check(kept)
        profile = self.profile(kept)
        return Interval.point(expected_agreement(profile, decider), doubted_agreement(profile, decider))

    def potential(self, kept: frozenset[int], tolerance: float) -> Interval:
        """The probability of the most probable decision."""
        _check(kept)
        return Interval.point(float(self.decision_mass.max()), self.doubt)

    def achievable(
        self, kept: frozenset[int], positive: int, tolerance: float
    ) -> tuple[Interval, AchievableAgreement]:
        """The agreement of always deciding one way."""
        return achieve_with_rows(self.profile(kept), positive)

    def profile(self, kept: frozenset[int]) -> DecisionProfile:
        """The profile of one row."""
        _check(kept)
        row, decided = self.problem.prior[np.newaxis], self.decision_mass[np.newaxis]
        return DecisionProfile(row, decided, self.doubt, self.problem.rounding)


def _check(kept: frozenset[int]) -> None:
    if kept:
        raise QueryError(
            f"this engine answers only what nothing kept tells, and {len(kept)} features are to be kept; "
            "use another engine"
        )
