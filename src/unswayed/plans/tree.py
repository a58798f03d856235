"""A plan as a tree: tests inside, decisions at the leaves; and what can be counted on it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.decisions.catalogue import Catalogue, price_after
from unswayed.kernels.plan_values import STOP
from unswayed.plans.goals import Goal, judge
from unswayed.plans.ground import UNDONE, Ground, State, done_in, outcome_states


@dataclass(frozen=True, slots=True)
class PlanLeaf:
    """Where the plan stops."""

    decision: str
    """What is decided."""
    sdp: float
    """The same-decision probability there."""
    probability: float
    """How probable it is to come here."""
    posterior: Mapping[str, float] = field(repr=False)
    """The posterior of each state of the target."""
    reached: bool = True
    """Whether the stopping rule is met; False where nothing that may be bought can meet it."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A test, and what to do by how it comes out."""

    test: str
    """The test's name: a feature, or a group of them."""
    features: tuple[str, ...]
    """The features that it tells."""
    cost: float
    """What it costs here."""
    probability: float
    """How probable it is to come here."""
    sdp: float
    """The same-decision probability before the test."""
    outcomes: Mapping[tuple[str, ...], PlanNode] = field(repr=False)
    """What follows on each combination of states of the features; impossible ones are left out."""


PlanNode = PlanStep | PlanLeaf


class Policy(Protocol):
    """What to do in a state."""

    def choose(self, state: State, mass: float, loss: float) -> int:
        """The test to do, or `STOP`."""


def grow_tree(ground: Ground, goal: Goal, policy: Policy) -> PlanNode:
    """The tree of what a policy does, from nothing observed on."""
    start = (UNDONE,) * len(ground.sizes)
    return _grow(_Growth(ground, goal, policy), start, ground.masses, tuple(range(len(start))))


@dataclass(frozen=True, slots=True)
class _Growth:
    ground: Ground
    goal: Goal
    policy: Policy


def _grow(growth: _Growth, state: State, masses: Floats, open_tests: tuple[int, ...]) -> PlanNode:
    """The tree from a state on; `masses` has an axis for each test not done."""
    ground = growth.ground
    columns = masses.reshape(len(masses), -1).sum(axis=1, keepdims=True)
    class_mass, decision_mass = ground.split(columns)
    standing = judge(ground.problem, growth.goal, class_mass, decision_mass)
    mass = float(standing.mass[0])
    sdp = min(1.0, float(standing.agreement[0]) / mass)
    test = growth.policy.choose(state, mass, float(standing.loss[0]))
    if test == STOP:
        states = ground.problem.network.variables[ground.problem.target].states
        posterior = dict(zip(states, (class_mass[0] / mass).tolist(), strict=True))
        decision = ground.problem.decider.actions[int(standing.action[0])]
        reached = _is_reached(growth, class_mass, standing.agreement)
        return PlanLeaf(decision, sdp, mass, posterior, reached)
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
    return PlanStep(offer.name, features, price, mass, sdp, outcomes)


def _is_reached(growth: _Growth, class_mass: Floats, agreement: Floats) -> bool:
    target = growth.ground.problem.network.variables[growth.ground.problem.target]
    with np.errstate(divide="ignore"):
        return bool(growth.goal.stop.is_met(class_mass, agreement, target)[0])


def price_in(catalogue: Catalogue, state: State, test: int) -> float:
    """What a test costs in a state, conditional prices included."""
    offer = catalogue.offers[test]
    price = price_after(catalogue, done_in(state), test)
    for each in offer.conditions:
        outcome = state[each.offer]
        if outcome != UNDONE and (each.outcomes is None or outcome in each.outcomes):
            return price + each.price - offer.price
    return price


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
