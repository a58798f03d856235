"""From a policy to its tree: the most probable states first, so that a tree may be cut short anywhere.

A tree grows state by state (`grow`), and may be written down after each (`write_down`). Where it would have
more leaves than allowed, or was cut before, the states that are left end it. A plan that goes on until it is
safe then does all tests that are left at once, which is always enough; any other plan stops there.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from unswayed.core.anytime import reserve, tick
from unswayed.kernels.plan_values import SLACK, STOP
from unswayed.plans.goals import Goal, PlanObjective, is_met, judge
from unswayed.plans.moves import (
    CUT,
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
UNITS_PER_CHOICE = 200.0
"""Measured: for a choice, beside what it asks of the terrain."""


class _Known(NamedTuple):
    """What is known of a state of the tree."""

    where: Situation
    decision: str
    sdp: float
    reached: bool
    is_bound: bool
    """Whether the SDP is only known to be at least this."""


class _Step(NamedTuple):
    """The test that is done in a state of the tree."""

    test: int
    price: float
    outcomes: dict[int, _Sprout]


@dataclass(slots=True, eq=False)
class _Sprout:
    """A state of the tree while it grows. It changes by single assignments, so that Ctrl-C breaks nothing."""

    known: _Known
    is_close: bool
    """Whether the terrain told as much as it can."""
    step: _Step | None = None
    is_end: bool = False
    """Whether the policy ends here; a state with neither step nor end is cut."""


class _Waiting(NamedTuple):
    """A state to come, in the order of a heap: where mandatory tests are left first, then by probability."""

    may_stop: bool
    rank: float
    number: int
    sprout: _Sprout


@dataclass(slots=True, eq=False)
class GrowingPlan:
    """A tree that may be written down at any moment."""

    terrain: Terrain
    goal: Goal
    policy: Policy
    forced: bool
    """Whether it goes on until its rule is met, as in `is_forced`."""
    most_leaves: float
    root: _Sprout
    waiting: list[_Waiting] = field(default_factory=list)
    n_leaves: int = 1
    n_states: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class GrownPlan:
    """A tree, with what it is worth in each of its states."""

    tree: PlanNode
    value: Value
    """What it is worth, as `goals.py` has it; infinite where it ends too early."""
    steps: dict[Spot, tuple[Value, int]]
    """For each state in which something is tested, its value and the test."""
    is_whole: bool
    """Whether it is what the policy does, cut nowhere."""


def grow_tree(terrain: Terrain, goal: Goal, policy: Policy) -> PlanNode:
    """The whole tree of what a policy does, from nothing observed on."""
    *_, plan = grow(terrain, goal, policy, forced=False)
    return write_down(plan).tree


def grow(
    terrain: Terrain,
    goal: Goal,
    policy: Policy,
    *,
    forced: bool,
    closely: bool = True,
    most_leaves: float = math.inf,
    foretell: Callable[[Iterator[Situation]], None] | None = None,
) -> Iterator[GrowingPlan]:
    """The tree of a policy with at most so many leaves, as it grows; `forced` as in `is_forced`.

    The first tree is there whatever was spent: no plan ends before its mandatory tests. Unless `closely`, its
    states are taken as they are known by now. `foretell` hears before each choice where it is made, and where
    the next ones probably are.
    """
    with reserve():
        start = start_of(terrain)
        (known,) = _look_at(terrain, goal, [(start, 0.0)], terrain.look(start, closely=False))
        plan = GrowingPlan(terrain, goal, policy, forced, most_leaves, _Sprout(known, False))
        _await(plan, plan.root)
        while plan.waiting and not plan.waiting[0].may_stop:
            _advance(plan, closely=False)
    yield plan
    while plan.waiting and plan.n_leaves < most_leaves:
        if foretell is not None:
            foretell(_upcoming(plan))
        _advance(plan, closely=closely)
        yield plan


def _upcoming(plan: GrowingPlan) -> Iterator[Situation]:
    """Where the next choices are made, as far as can be seen."""
    yield plan.waiting[0].sprout.known.where
    for later in heapq.nsmallest(FORETOLD, plan.waiting)[1:]:
        yield later.sprout.known.where


def _await(plan: GrowingPlan, sprout: _Sprout) -> None:
    """Let a state grow later, unless nothing is to be done there."""
    where, may_end = sprout.known.where, may_stop(plan.terrain.catalogue, sprout.known.where.state)
    if where.loss > 0.0 or not may_end:
        plan.n_states += 1
        heapq.heappush(plan.waiting, _Waiting(may_end, -where.mass, plan.n_states, sprout))
    else:
        sprout.is_end = True


def _advance(plan: GrowingPlan, *, closely: bool) -> None:
    """Do what the policy does in the next state."""
    tick(UNITS_PER_CHOICE, "the tree of the plan")
    terrain, goal, sprout = plan.terrain, plan.goal, plan.waiting[0].sprout
    if closely and not sprout.is_close:
        where = sprout.known.where
        (sprout.known,) = _look_at(terrain, goal, [(where.state, where.spent)], terrain.look(where.state))
        sprout.is_close = True
    where = sprout.known.where
    test = plan.policy.choose(where)
    if test in (STOP, CUT):
        sprout.is_end = test == STOP
        heapq.heappop(plan.waiting)
        return
    price = price_in(terrain.catalogue, where.state, test)
    spots = [
        (after(where.state, test, outcome), where.spent + price) for outcome in range(terrain.sizes[test])
    ]
    found = _look_at(terrain, goal, spots, terrain.look_ahead(where.state, [test], closely=closely))
    outcomes = {x: _Sprout(known, closely) for x, known in enumerate(found) if known.where.mass > 0.0}
    n_leaves = plan.n_leaves + len(outcomes) - 1
    if n_leaves > plan.most_leaves and may_stop(terrain.catalogue, where.state):
        heapq.heappop(plan.waiting)
        return
    sprout.step = _Step(test, price, outcomes)
    plan.n_leaves = n_leaves
    heapq.heappop(plan.waiting)
    for child in outcomes.values():
        _await(plan, child)


def _look_at(terrain: Terrain, goal: Goal, spots: list[Spot], outlook: Outlook) -> list[_Known]:
    """States as the terrain knows them."""
    standing = judge(terrain.problem, goal, outlook)
    reached = is_met(terrain.problem, goal, outlook.class_mass, outlook.least)
    actions = terrain.problem.decider.actions
    return [
        _Known(
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


def write_down(plan: GrowingPlan) -> GrownPlan:
    """The tree as it is now; the states that still wait are cut."""
    steps: dict[Spot, tuple[Value, int]] = {}
    return GrownPlan(*_freeze(plan, plan.root, steps), steps, _is_whole(plan.root))


def _is_whole(sprout: _Sprout) -> bool:
    return sprout.is_end if sprout.step is None else all(map(_is_whole, sprout.step.outcomes.values()))


def _freeze(
    plan: GrowingPlan, sprout: _Sprout, steps: dict[Spot, tuple[Value, int]]
) -> tuple[PlanNode, Value]:
    """The tree from a state on and its value; notes what every step is worth."""
    terrain, known, where = plan.terrain, sprout.known, sprout.known.where
    if sprout.step is None:
        return _leaf(plan, sprout)
    test, price, children = sprout.step
    outcomes, values = {}, []
    for outcome, child in children.items():
        node, value = _freeze(plan, child, steps)
        outcomes[outcome_states(terrain, test, outcome)] = node
        values.append(value)
    offer = terrain.catalogue.offers[test]
    features = tuple(terrain.problem.network.variables[f].name for f in offer.features)
    value = value_of_step(plan.goal, price, where.mass, values, forced=plan.forced)
    steps[where.state, where.spent] = value, test
    step = PlanStep(offer.name, features, price, known.decision, known.sdp, where.mass, outcomes)
    return replace(step, is_bound=known.is_bound), value


def _leaf(plan: GrowingPlan, sprout: _Sprout) -> tuple[PlanLeaf, Value]:
    """Where the tree ends, and what it is worth there: nothing finite where it had to go on and could not."""
    terrain, known, where = plan.terrain, sprout.known, sprout.known.where
    loss = where.loss / where.mass
    if sprout.is_end or not (plan.forced and can_finish(terrain, plan.goal)):
        leaf = PlanLeaf(known.decision, known.sdp, where.mass, known.reached, loss)
        fails = (plan.forced and loss > 0.0) or not may_stop(terrain.catalogue, where.state)
        return replace(leaf, is_bound=known.is_bound), (math.inf if fails else where.loss, 0.0)
    offers, left = terrain.catalogue.offers, tests_left(where.state)
    cost = price_of_rest(terrain.catalogue, where.state)
    rest = tuple(offers[test].name for test in left)
    leaf = PlanLeaf(known.decision, known.sdp, where.mass, True, 0.0, rest, cost, known.is_bound)
    worst = plan.goal.objective is PlanObjective.WORST_COST
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
