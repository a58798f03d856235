"""A plan as a tree: tests inside, decisions at the leaves; and what can be counted on it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError
from unswayed.kernels.plan_values import STOP
from unswayed.plans.goals import Goal, PlanObjective, judge
from unswayed.plans.ground import UNDONE, Ground, State, outcome_states
from unswayed.plans.moves import price_in


@dataclass(frozen=True, slots=True)
class PlanLeaf:
    """Where the plan stops."""

    decision: str
    """What is decided."""
    sdp: float
    """The same-decision probability."""
    probability: float
    """How probable it is to come here."""
    reached: bool = True
    """Whether the stopping rule is met; False where nothing that may be bought can meet it."""
    loss: float = 0.0
    """What is lost by stopping here, as the objective counts it."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A test, and what to do by how it comes out."""

    test: str
    """The test's name: a feature, or a group of them."""
    features: tuple[str, ...]
    """The features that it tells."""
    cost: float
    """What it costs here."""
    decision: str
    """What would be decided without the test,"""
    sdp: float
    """and the same-decision probability of that."""
    probability: float
    """How probable it is to come here."""
    outcomes: Mapping[tuple[str, ...], PlanNode] = field(repr=False)
    """What follows on each combination of states of the features; impossible ones are left out."""


PlanNode = PlanStep | PlanLeaf


class Policy(Protocol):
    """What to do in a state."""

    def choose(self, state: State, mass: float, loss: float) -> int:
        """The test to do, or `STOP`."""


def grow_tree(ground: Ground, goal: Goal, policy: Policy, deadline: float = math.inf) -> PlanNode:
    """The tree of what a policy does, from nothing observed on; `LimitError` after the deadline."""
    start = (UNDONE,) * len(ground.sizes)
    return _grow(_Growth(ground, goal, policy, deadline), start, ground.masses, tuple(range(len(start))))


@dataclass(frozen=True, slots=True)
class _Growth:
    ground: Ground
    goal: Goal
    policy: Policy
    deadline: float

    def check_time(self) -> None:
        """`LimitError` after the deadline."""
        if time.monotonic() > self.deadline:
            raise LimitError("the tree of the plan is too large to be written down in this time")


def _grow(growth: _Growth, state: State, masses: Floats, open_tests: tuple[int, ...]) -> PlanNode:
    """The tree from a state on; `masses` has an axis for each test not done."""
    growth.check_time()
    ground = growth.ground
    columns = masses.reshape(len(masses), -1).sum(axis=1, keepdims=True)
    class_mass, decision_mass = ground.split(columns)
    standing = judge(ground.problem, growth.goal, class_mass, decision_mass)
    mass = float(standing.mass[0])
    sdp = min(1.0, float(standing.agreement[0]) / mass)
    decision = ground.problem.decider.actions[int(standing.action[0])]
    test = growth.policy.choose(state, mass, float(standing.loss[0]))
    if test == STOP:
        reached = _is_reached(growth, class_mass, standing.agreement)
        return PlanLeaf(decision, sdp, mass, reached, float(standing.loss[0]) / mass)
    axis = 1 + open_tests.index(test)
    left = tuple(each for each in open_tests if each != test)
    outcomes = {}
    for outcome in range(ground.sizes[test]):
        part: Floats = np.take(masses, outcome, axis=axis)
        if part.any():
            later = (*state[:test], outcome, *state[test + 1 :])
            outcomes[outcome_states(ground, test, outcome)] = _grow(growth, later, part, left)
    offer = ground.catalogue.offers[test]
    features = tuple(ground.problem.network.variables[f].name for f in offer.features)
    price = price_in(ground.catalogue, state, test)
    return PlanStep(offer.name, features, price, decision, sdp, mass, outcomes)


def _is_reached(growth: _Growth, class_mass: Floats, agreement: Floats) -> bool:
    target = growth.ground.problem.network.variables[growth.ground.problem.target]
    with np.errstate(divide="ignore"):
        return bool(growth.goal.stop.is_met(class_mass, agreement, target)[0])


def leaves(node: PlanNode) -> Iterator[PlanLeaf]:
    """The leaves of a plan, in the order of the outcomes."""
    if isinstance(node, PlanLeaf):
        yield node
    else:
        for child in node.outcomes.values():
            yield from leaves(child)


def expected_cost(node: PlanNode) -> float:
    """What the tests cost on average."""
    return math.fsum(step.probability * step.cost for step in steps(node))


def expected_tests(node: PlanNode) -> float:
    """How many tests are done on average."""
    return math.fsum(step.probability for step in steps(node))


def worst_cost(node: PlanNode) -> float:
    """What the tests of the dearest path cost."""
    if isinstance(node, PlanLeaf):
        return 0.0
    return node.cost + max(map(worst_cost, node.outcomes.values()))


def depth_of(node: PlanNode) -> int:
    """How many tests the longest path has."""
    return 0 if isinstance(node, PlanLeaf) else 1 + max(map(depth_of, node.outcomes.values()))


def steps(node: PlanNode) -> Iterator[PlanStep]:
    """The tests of a plan, each before what follows it."""
    if isinstance(node, PlanStep):
        yield node
        for child in node.outcomes.values():
            yield from steps(child)


def chance_reached(node: PlanNode) -> float:
    """Probability that the plan ends where its stopping rule is met."""
    return min(1.0, math.fsum(leaf.probability for leaf in leaves(node) if leaf.reached))


def expected_loss(node: PlanNode) -> float:
    """What the leaves lose on average, as the objective counts it."""
    return math.fsum(leaf.probability * leaf.loss for leaf in leaves(node))


def plan_value(node: PlanNode, goal: Goal, *, forced: bool) -> tuple[float, float]:
    """What counts first of a plan and what counts second, lower being better, as `goals.py` has it."""
    cost = expected_cost(node)
    if goal.objective is PlanObjective.WORST_COST:
        return worst_cost(node), cost
    if forced:
        return cost, 0.0
    lost = expected_loss(node)
    return (lost + cost, 0.0) if goal.objective is PlanObjective.NET_UTILITY else (lost, cost)
