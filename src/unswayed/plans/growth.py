"""From a policy to its tree: the most probable states first, so that a tree may be cut short anywhere.

Where a tree would have more leaves than allowed, or takes too long, the states that are left end it. A plan
that goes on until it is safe then does all tests that are left at once, which is always enough; any other
plan stops there.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from unswayed.core.errors import LimitError
from unswayed.kernels.plan_values import SLACK, STOP
from unswayed.plans.goals import Goal, PlanObjective, is_met, judge
from unswayed.plans.moves import (
    Policy,
    Situation,
    can_finish,
    may_stop,
    price_in,
    price_of_rest,
    tests_left,
)
from unswayed.plans.terrain import Outlook, State, Terrain, after, outcome_states, start_of
from unswayed.plans.tree import PlanLeaf, PlanNode, PlanStep

Value = tuple[float, float]
"""What counts first and what counts second, both weighted with the mass, as in `kernels/plan_values.py`."""
Spot = tuple[State, float]
"""A state, and what was spent to come there."""
EXACTLY = 1e-6
"""Width up to which bounds on an SDP are as good as its value."""
FORETOLD = 100
"""Choices to come that are told before one is made."""


@dataclass(slots=True, eq=False)
class _Sprout:
    """A state of the tree while it grows."""

    where: Situation
    decision: str
    sdp: float
    reached: bool
    is_bound: bool
    """Whether the SDP is only known to be at least this."""
    test: int = STOP
    price: float = 0.0
    outcomes: dict[int, _Sprout] = field(default_factory=dict)
    is_cut: bool = False
    """Whether it ends the tree although the policy would go on."""


@dataclass(frozen=True, slots=True, eq=False)
class GrownPlan:
    """A tree, with what it is worth in each of its states."""

    tree: PlanNode
    value: Value
    """What it is worth, as `goals.py` has it; infinite where it ends too early."""
    steps: dict[Spot, tuple[Value, int]]
    """For each state in which something is tested, its value and the test."""


def grow_tree(terrain: Terrain, goal: Goal, policy: Policy, deadline: float = math.inf) -> PlanNode:
    """The tree of what a policy does, from nothing observed on; `LimitError` after the deadline."""
    return grow_plan(terrain, goal, policy, forced=False, deadline=deadline).tree


def grow_plan(
    terrain: Terrain,
    goal: Goal,
    policy: Policy,
    *,
    forced: bool,
    deadline: float = math.inf,
    most_leaves: int | None = None,
    foretell: Callable[[list[Situation]], None] | None = None,
) -> GrownPlan:
    """The tree of a policy with at most so many leaves, cut at the deadline; `forced` as in `is_forced`.

    Without `most_leaves` the tree is whole, and `LimitError` tells that the deadline came first. `foretell`
    hears before each choice where it is made, and where the next ones probably are.
    """
    root = _sprout(terrain, goal, start_of(terrain), 0.0)
    waiting, order, n_leaves = [(-1.0, 0, root)], count(1), 1
    while waiting:
        _, _, sprout = heapq.heappop(waiting)
        late = time.monotonic() > deadline
        if late and most_leaves is None:
            raise LimitError("the tree of the plan is too large to be written down in this time")
        if foretell is not None and not late:
            foretell([sprout.where, *(each.where for _, _, each in heapq.nsmallest(FORETOLD, waiting))])
        test = STOP if late and not _must_go_on(terrain, sprout) else policy.choose(sprout.where)
        sprout.is_cut = late and sprout.where.loss > 0.0
        if test == STOP:
            continue
        children = _outcomes(terrain, goal, sprout, test, closely=not late)
        too_many = most_leaves is not None and n_leaves + len(children) - 1 > most_leaves
        if (late or too_many) and not _must_go_on(terrain, sprout):
            sprout.is_cut = True
            continue
        n_leaves += len(children) - 1
        sprout.test, sprout.price = test, price_in(terrain.catalogue, sprout.where.state, test)
        sprout.outcomes = children
        for child in children.values():
            heapq.heappush(waiting, (-child.where.mass, next(order), child))
    steps: dict[Spot, tuple[Value, int]] = {}
    return GrownPlan(*_freeze(terrain, goal, root, forced, steps), steps)


def _must_go_on(terrain: Terrain, sprout: _Sprout) -> bool:
    """Whether mandatory tests are left, without which no plan ends."""
    return not may_stop(terrain.catalogue, sprout.where.state)


def _sprout(terrain: Terrain, goal: Goal, state: State, spent: float) -> _Sprout:
    """A state as the terrain knows it."""
    return _known_sprouts(terrain, goal, [(state, spent)], terrain.look(state))[0]


def _outcomes(
    terrain: Terrain, goal: Goal, sprout: _Sprout, test: int, *, closely: bool
) -> dict[int, _Sprout]:
    """The states that a test leads to, impossible ones left out."""
    state = sprout.where.state
    spent = sprout.where.spent + price_in(terrain.catalogue, state, test)
    outlook = terrain.look_ahead(state, [test], closely=closely)
    spots = [(after(state, test, outcome), spent) for outcome in range(terrain.sizes[test])]
    sprouts = _known_sprouts(terrain, goal, spots, outlook)
    return {outcome: each for outcome, each in enumerate(sprouts) if each.where.mass > 0.0}


def _known_sprouts(terrain: Terrain, goal: Goal, spots: list[Spot], outlook: Outlook) -> list[_Sprout]:
    standing = judge(terrain.problem, goal, outlook)
    reached = is_met(terrain.problem, goal, outlook.class_mass, outlook.least)
    actions = terrain.problem.decider.actions
    return [
        _Sprout(
            Situation(*spot, float(standing.mass[i]), float(standing.loss[i])),
            actions[int(standing.action[i])],
            _share(float(standing.agreement[i]), float(standing.mass[i])),
            bool(reached[i]),
            bool(outlook.most[i] - outlook.least[i] > EXACTLY * outlook.class_mass[i].sum()),
        )
        for i, spot in enumerate(spots)
    ]


def _share(agreement: float, mass: float) -> float:
    return min(1.0, agreement / mass) if mass > 0 else 1.0


def _freeze(
    terrain: Terrain, goal: Goal, sprout: _Sprout, forced: bool, steps: dict[Spot, tuple[Value, int]]
) -> tuple[PlanNode, Value]:
    """The tree from a state on and its value; notes what every step is worth."""
    where = sprout.where
    if sprout.test == STOP:
        return _leaf(terrain, goal, sprout, forced=forced)
    outcomes, values = {}, []
    for outcome, child in sprout.outcomes.items():
        node, value = _freeze(terrain, goal, child, forced, steps)
        outcomes[outcome_states(terrain, sprout.test, outcome)] = node
        values.append(value)
    offer = terrain.catalogue.offers[sprout.test]
    features = tuple(terrain.problem.network.variables[f].name for f in offer.features)
    value = value_of_step(goal, sprout.price, where.mass, values, forced=forced)
    steps[where.state, where.spent] = value, sprout.test
    step = PlanStep(offer.name, features, sprout.price, sprout.decision, sprout.sdp, where.mass, outcomes)
    return replace(step, is_bound=sprout.is_bound), value


def _leaf(terrain: Terrain, goal: Goal, sprout: _Sprout, *, forced: bool) -> tuple[PlanLeaf, Value]:
    """Where the tree ends, and what it is worth there: nothing finite where it had to go on and could not."""
    where, loss = sprout.where, sprout.where.loss / sprout.where.mass
    if not (forced and sprout.is_cut and can_finish(terrain, goal)):
        leaf = PlanLeaf(sprout.decision, sprout.sdp, where.mass, sprout.reached, loss)
        fails = (forced and loss > 0.0) or not may_stop(terrain.catalogue, where.state)
        return replace(leaf, is_bound=sprout.is_bound), (math.inf if fails else where.loss, 0.0)
    offers, left = terrain.catalogue.offers, tests_left(where.state)
    cost = price_of_rest(terrain.catalogue, where.state)
    rest = tuple(offers[test].name for test in left)
    leaf = PlanLeaf(sprout.decision, sprout.sdp, where.mass, True, 0.0, rest, cost, sprout.is_bound)
    worst = goal.objective is PlanObjective.WORST_COST
    return leaf, (cost, cost * where.mass) if worst else (cost * where.mass, 0.0)


def value_of_step(goal: Goal, price: float, mass: float, values: list[Value], *, forced: bool) -> Value:
    """What a test is worth by what its outcomes are; nothing counts second where costs come first."""
    second = price * mass + math.fsum(value[1] for value in values)
    if goal.objective is PlanObjective.WORST_COST:
        return price + max(value[0] for value in values), second
    first = math.fsum(value[0] for value in values)
    counts = forced or goal.objective is PlanObjective.NET_UTILITY
    return (first + price * mass, 0.0) if counts else (first, second)


def least_of(values: Sequence[Value], mass: float) -> tuple[Value, int]:
    """The least of some values in a state of such mass, and whose it is.

    First values that differ by rounding are equal, so that the second ones decide.
    """
    first = min(value[0] for value in values)
    if math.isinf(first):
        return (math.inf, 0.0), 0
    most = first + SLACK * (mass + abs(first))
    second, best = min((value[1], number) for number, value in enumerate(values) if value[0] <= most)
    return (first, second), best
