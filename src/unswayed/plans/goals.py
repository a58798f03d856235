"""When a plan may stop, and what it is judged by.

Each partial observation has a *loss*: what it costs to stop there, weighted with its probability.

    expected or worst cost   1 where the stopping rule is not met: the chance that the plan fails
    same decision            the chance that the decision is not the full one
    utility, net utility     the expected utility that falls short of the best imaginable

A plan of least cost first fails as rarely as it can, then costs as little as it can; where no plan needs to
fail, it never stops before the rule is met. A plan for same decisions or utility loses as little as it can
within its budget and depth, then costs as little as it can; net utility counts costs as lost utility.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import QueryError
from unswayed.core.numerics import logit
from unswayed.decisions.measures import LEVEL_SLACK
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import TIE, UtilityRule, log_odds
from unswayed.model.variable import Variable


class PlanObjective(Enum):
    """What the best plan has least of, or most of."""

    EXPECTED_COST = "expected-cost"
    """Least expected cost until the stopping rule is met."""
    WORST_COST = "worst-cost"
    """Least cost of the dearest path until the stopping rule is met, on every path."""
    SAME_DECISION = "sdp"
    """Highest expected same-decision probability, within a budget or depth."""
    UTILITY = "utility"
    """Highest expected utility of the decision, within a budget or depth."""
    NET_UTILITY = "net-utility"
    """Highest expected utility less expected cost."""


class StopRule(Protocol):
    """When enough is known."""

    def is_met(self, class_mass: Floats, agreement: Floats, target: Variable) -> Bools:
        """Whether to stop, for each row of class masses and its mass where the full decision is the same."""

    def describe(self) -> str:
        """The rule in words, after "until"."""


@dataclass(frozen=True, slots=True)
class SameDecisionLevel:
    """Stop when the same-decision probability is at least `level`."""

    level: float

    def __post_init__(self) -> None:
        if not 0.0 < self.level <= 1.0:
            raise QueryError(f"the level must lie between 0 and 1; got {self.level!r}")

    def is_met(self, class_mass: Floats, agreement: Floats, target: Variable) -> Bools:
        """Whether the decision survives with the level's probability."""
        reached: Bools = agreement >= (self.level - LEVEL_SLACK) * class_mass.sum(axis=1)
        return reached

    def describe(self) -> str:
        """The rule in words."""
        return f"SDP >= {self.level:g}"


@dataclass(frozen=True, slots=True)
class PosteriorLimits:
    """Stop when the posterior of a state of the target is at most `low` or at least `high`."""

    state: str
    """The state."""
    low: float
    """At or below this it is ruled out,"""
    high: float
    """at or above this it is taken for certain."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.low < self.high <= 1.0:
            raise QueryError(
                f"limits of a posterior must ascend from 0 to 1; got {self.low!r}, {self.high!r}"
            )

    def is_met(self, class_mass: Floats, agreement: Floats, target: Variable) -> Bools:
        """Whether the posterior lies beyond the limits, in log-odds as all posteriors are compared."""
        odds = log_odds(class_mass, target.index(self.state))
        below = odds <= logit(self.low) + TIE if self.low > 0 else odds == -np.inf
        above = odds >= logit(self.high) - TIE if self.high < 1 else odds == np.inf
        return np.asarray(below | above)

    def describe(self) -> str:
        """The rule in words."""
        return f"Pr({self.state}) <= {self.low:g} or >= {self.high:g}"


@dataclass(frozen=True, slots=True)
class Goal:
    """What a plan is judged by, and what bounds it."""

    objective: PlanObjective
    stop: StopRule
    """When enough is known; for objectives other than cost, what leaves are compared with."""
    budget: float = np.inf
    """What a path may cost."""
    max_depth: int | None = None
    """How many tests a path may have."""
    max_leaves: int | None = None
    """How many leaves the plan may have."""

    @property
    def seeks_cost(self) -> bool:
        """Whether the plan goes on until its rule is met."""
        return self.objective in (PlanObjective.EXPECTED_COST, PlanObjective.WORST_COST)

    @property
    def is_bounded(self) -> bool:
        """Whether budget, depth or leaves may end a path before its rule is met."""
        bounds = (self.max_depth, self.max_leaves)
        return bool(np.isfinite(self.budget)) or any(bound is not None for bound in bounds)


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """What is known about rows of masses: partial observations, one a row."""

    mass: Floats
    """Probability of each."""
    action: Ints
    """What is decided there; 0 where the mass is 0."""
    agreement: Floats
    """Probability of each, and that its decision is the full one."""
    loss: Floats
    """What it loses to stop there, weighted with the mass."""


def judge(problem: Problem, goal: Goal, class_mass: Floats, decision_mass: Floats) -> Standing:
    """What comes of stopping at each row of masses."""
    mass = class_mass.sum(axis=1)
    possible = mass > 0
    if possible.all():
        action = problem.decider.decide(class_mass)
    else:
        action = np.zeros(len(mass), dtype=np.int64)
        action[possible] = problem.decider.decide(class_mass[possible])
    agreement = np.take_along_axis(decision_mass, action[:, None], axis=1)[:, 0]
    target = problem.network.variables[problem.target]
    if goal.seeks_cost:
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.where(goal.stop.is_met(class_mass, agreement, target), 0.0, mass)
    elif goal.objective is PlanObjective.SAME_DECISION:
        loss = mass - agreement
    else:
        worth = utilities_of(problem)
        loss = worth.max() * mass - np.take_along_axis(class_mass @ worth.T, action[:, None], axis=1)[:, 0]
    # Rounding leaves a trace where nothing can be lost any more.
    loss[loss <= LEVEL_SLACK * mass] = 0.0
    return Standing(mass, action, agreement, loss)


def utilities_of(problem: Problem) -> Floats:  # (actions, classes)
    """The utilities of the classifier's rule; `QueryError` when it has none."""
    rule, target = problem.classifier.rule, problem.network.variables[problem.target]
    if isinstance(rule, UtilityRule):
        return rule.matrix(target)
    raise QueryError(
        "a plan by utility needs a utility rule, which says what each action is worth; this classifier's "
        f"rule is {type(rule).__name__}"
    )
