"""When a plan may stop, and what it is judged by.

Each partial observation has a *loss*: what it costs to stop there, weighted with its probability.

    expected or worst cost   1 where the stopping rule is not met: the chance that the plan fails
    same decision            the chance that the decision is not the full one
    closest                  the same where the stopping rule is not met, 0 where it is
    utility, net utility     the expected utility that falls short of the best imaginable

A plan of least cost first fails as rarely as it can, then costs as little as it can; where no plan needs to
fail, it never stops before the rule is met. A plan for same decisions or utility loses as little as it can
within its budget and depth, then costs as little as it can; net utility counts costs as lost utility. A plan
of least worst cost meets the rule on every path or is none; of equal worst costs from a state on it takes the
least expected one. The closest plan is for a depth or budget that leaves many paths short of the rule: it
brings those as near to the full decision as it can, and tests no longer where the rule is met.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import QueryError, expect_number
from unswayed.core.numerics import logit
from unswayed.decisions.measures import LEVEL_SLACK
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import TIE, UtilityRule, log_odds
from unswayed.model.variable import Variable
from unswayed.plans.terrain import Outlook


class PlanObjective(Enum):
    """What the best plan has least of, or most of."""

    EXPECTED_COST = "expected-cost"
    """Least expected cost until the stopping rule is met."""
    WORST_COST = "worst-cost"
    """Least cost of the dearest path until the stopping rule is met, on every path."""
    SAME_DECISION = "sdp"
    """Highest expected same-decision probability, within a budget or depth."""
    CLOSEST = "closest"
    """Least chance to end short of the stopping rule with another decision than the full one, within a budget
    or depth."""
    UTILITY = "utility"
    """Highest expected utility of the decision, within a budget or depth."""
    NET_UTILITY = "net-utility"
    """Highest expected utility less expected cost."""


@runtime_checkable
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
        expect_number(self.level, "the level")
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
    def stops_by_rule(self) -> bool:
        """Whether nothing is tested any more where the rule is met."""
        return self.seeks_cost or self.objective is PlanObjective.CLOSEST

    @property
    def is_bounded(self) -> bool:
        """Whether budget, depth or leaves may end a path before its rule is met."""
        bounds = (self.max_depth, self.max_leaves)
        return bool(np.isfinite(self.budget)) or any(bound is not None for bound in bounds)


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """What comes of stopping in some states, one a row."""

    mass: Floats
    """Probability of each."""
    action: Ints
    """What is decided there; 0 where the mass is 0."""
    agreement: Floats
    """Probability of each, and that its decision is the full one: at least this."""
    loss: Floats
    """What it loses to stop there at most, weighted with the mass."""
    least_loss: Floats
    """What it loses at least: the same array where everything is known exactly."""


def judge(problem: Problem, goal: Goal, outlook: Outlook) -> Standing:
    """What comes of stopping in each state."""
    loss = _losses(problem, goal, outlook, outlook.least)
    least = loss if outlook.most is outlook.least else _losses(problem, goal, outlook, outlook.most)
    return Standing(outlook.class_mass.sum(axis=1), outlook.action, outlook.least, loss, least)


def _losses(problem: Problem, goal: Goal, outlook: Outlook, agreement: Floats) -> Floats:
    """What it loses to stop in each state, where its decision is the full one so often."""
    class_mass = outlook.class_mass
    mass = class_mass.sum(axis=1)
    if goal.seeks_cost:
        loss = np.where(is_met(problem, goal, class_mass, agreement), 0.0, mass)
    elif goal.objective is PlanObjective.CLOSEST:
        loss = np.where(is_met(problem, goal, class_mass, agreement), 0.0, mass - agreement)
    elif goal.objective is PlanObjective.SAME_DECISION:
        loss = mass - agreement
    else:
        worth = utilities_of(problem)
        gained = np.take_along_axis(class_mass @ worth.T, outlook.action[:, None], axis=1)[:, 0]
        loss = worth.max() * mass - gained
    # Rounding leaves a trace where nothing can be lost any more.
    loss[loss <= LEVEL_SLACK * mass] = 0.0
    return loss


def is_met(problem: Problem, goal: Goal, class_mass: Floats, agreement: Floats) -> Bools:
    """Whether the stopping rule is met, for each row."""
    target = problem.network.variables[problem.target]
    with np.errstate(divide="ignore", invalid="ignore"):
        return goal.stop.is_met(class_mass, agreement, target)


def utilities_of(problem: Problem) -> Floats:  # (actions, classes)
    """The utilities of the classifier's rule; `QueryError` when it has none."""
    rule, target = problem.classifier.rule, problem.network.variables[problem.target]
    if isinstance(rule, UtilityRule):
        return rule.matrix(target)
    raise QueryError(
        "a plan by utility needs a utility rule, which says what each action is worth; this classifier's "
        f"rule is {type(rule).__name__}"
    )
