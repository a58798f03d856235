"""What is sought: how good a subset is, and how good any part of it can be.

An objective picks the columns of masses it needs from a problem's table, values a subset by them, and gives
an upper bound (ceiling) on every part of the subset. Where dropping features never helps, the value is its
own ceiling, and a search values only subsets that exhaust the budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.decisions.measures import expected_agreement, maximum_achievable_agreement
from unswayed.decisions.profile import profile_from_masses
from unswayed.decisions.rewards import Reward, expected_reward
from unswayed.decisions.rules import Decider
from unswayed.model.variable import Variable


class SearchObjective(Protocol):
    """What a search maximises."""

    @property
    def monotone(self) -> bool:
        """Whether keeping more is never worse, so that value and ceiling are the same."""

    def columns(self, masses: Floats) -> Floats:
        """What it needs of class and decision masses (classes + actions, instantiations)."""

    def value(self, table: Floats) -> float:
        """How good the subset with these masses is."""

    def ceiling(self, table: Floats) -> float:
        """Upper bound on every part of the subset."""


@dataclass(frozen=True, slots=True)
class PotentialObjective:
    """Maximum potential agreement; for naive Bayes the achievable one too [choi2018, Prop. 3].

    With two actions one signed column is enough: D is the mass decided for one less that for the other,
    and MPA = (1 + sum |D|) / 2.
    """

    n_classes: int
    monotone: bool = True

    def columns(self, masses: Floats) -> Floats:
        """The decisions, as one signed column where there are two."""
        decisions = masses[self.n_classes :]
        return decisions[:1] - decisions[1:] if len(decisions) == 2 else decisions

    def value(self, table: Floats) -> float:
        """The maximum potential agreement."""
        return self.ceiling(table)

    def ceiling(self, table: Floats) -> float:
        """The maximum potential agreement."""
        if len(table) == 1:
            return 0.5 + 0.5 * float(np.abs(table).sum())
        return float(table.max(axis=0).sum())


@dataclass(frozen=True, slots=True)
class SameDecisionObjective:
    """Expected same-decision probability: the kept features decide by the classifier's own rule."""

    n_classes: int
    decider: Decider
    monotone: bool = False

    def columns(self, masses: Floats) -> Floats:
        """All of it."""
        return masses

    def value(self, table: Floats) -> float:
        """The agreement of the rule on the kept features."""
        profile = profile_from_masses(table[: self.n_classes].T, table[self.n_classes :].T)
        return expected_agreement(profile, self.decider)

    def ceiling(self, table: Floats) -> float:
        """The maximum potential agreement, which no rule exceeds."""
        return float(table[self.n_classes :].max(axis=0).sum())


@dataclass(frozen=True, slots=True)
class AchievableObjective:
    """Maximum achievable agreement: the kept features decide by the best threshold."""

    n_classes: int
    positive: int
    monotone: bool = False

    def columns(self, masses: Floats) -> Floats:
        """All of it."""
        return masses

    def value(self, table: Floats) -> float:
        """The agreement of the best threshold on the kept features."""
        profile = profile_from_masses(table[: self.n_classes].T, table[self.n_classes :].T)
        return maximum_achievable_agreement(profile, self.positive).value

    def ceiling(self, table: Floats) -> float:
        """The maximum potential agreement, which no threshold exceeds."""
        return float(table[self.n_classes :].max(axis=0).sum())


@dataclass(frozen=True, slots=True)
class RewardObjective:
    """Expected reward of a posterior; `convex` rewards never lose by observing more.

    Of other rewards nothing is known about parts of a subset: the ceiling is infinite, and a search values
    every subset.
    """

    n_classes: int
    reward: Reward
    target: Variable
    convex: bool

    @property
    def monotone(self) -> bool:
        """Whether keeping more is never worse."""
        return self.convex

    def columns(self, masses: Floats) -> Floats:
        """The classes."""
        return masses[: self.n_classes]

    def value(self, table: Floats) -> float:
        """The expected reward after observing the kept features."""
        return expected_reward(table.T, self.reward, self.target)

    def ceiling(self, table: Floats) -> float:
        """The value itself for convex rewards."""
        return self.value(table) if self.convex else np.inf
