"""What may be done in a state: the tests that are allowed and affordable, and whether to stop.

The same rules as in the table of `kernels/plan_values.py`, for one state at a time: there is no table where
tests are many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from unswayed.core.errors import QueryError
from unswayed.core.numerics import spendable
from unswayed.decisions.catalogue import Catalogue, Offer, least_together, price_after
from unswayed.plans.goals import Goal, PlanObjective, SameDecisionLevel
from unswayed.plans.terrain import UNDONE, State, Terrain, done_in


@dataclass(frozen=True, slots=True)
class Situation:
    """Where a plan stands when it has to choose."""

    state: State
    """How the tests came out so far."""
    spent: float
    """What they cost, in the order in which they were done."""
    mass: float
    """How probable it is to come here."""
    loss: float
    """What it loses to stop here, weighted with the mass."""


CUT = -2
"""What is done in a state that a policy does not know."""


class Policy(Protocol):
    """What to do in a situation."""

    def choose(self, where: Situation) -> int:
        """The test to do, `STOP` or `CUT`."""


def moves_in(catalogue: Catalogue, goal: Goal, state: State, spent: float) -> Iterator[tuple[int, float]]:
    """The tests that may be done in a state after so much was spent, each with its price there."""
    if goal.max_depth is not None and sum(each != UNDONE for each in state) >= goal.max_depth:
        return
    for test, outcome in enumerate(state):
        if outcome == UNDONE:
            price = price_in(catalogue, state, test)
            if math.isfinite(price) and is_affordable(goal, spent + price):
                yield test, price


def is_affordable(goal: Goal, cost: float) -> bool:
    """Whether a path may cost so much, rounding aside."""
    return cost <= spendable(goal.budget)


def may_stop(catalogue: Catalogue, state: State) -> bool:
    """Whether all mandatory tests are done."""
    return not catalogue.mandatory & ~done_in(state)


def price_in(catalogue: Catalogue, state: State, test: int) -> float:
    """What a test costs in a state, conditional prices included."""
    offer = catalogue.offers[test]
    price = price_after(catalogue, done_in(state), test)
    for each in offer.conditions:
        outcome = state[each.offer]
        if outcome != UNDONE and (each.outcomes is None or outcome in each.outcomes):
            return price + each.price - offer.price
    return price


def tests_left(state: State) -> list[int]:
    """The tests not done."""
    return [test for test, outcome in enumerate(state) if outcome == UNDONE]


def price_of_rest(catalogue: Catalogue, state: State) -> float:
    """What it costs at most to do all tests that are left."""
    done, left = done_in(state), tests_left(state)
    bits = sum(1 << test for test in left)
    set_ups = (cost for cost, tests in catalogue.set_ups if not tests & done and tests & bits)
    return math.fsum([*(_highest_price(catalogue.offers[test]) for test in left), *set_ups])


def _highest_price(offer: Offer) -> float:
    return max([offer.price, *(each.price for each in offer.conditions)])


def can_finish(ground: Terrain, goal: Goal) -> bool:
    """Whether doing all tests that are left always meets the stopping rule, and is always allowed.

    With every feature bought, the decision is the full one: a level of the SDP is reached.
    """
    bought = {feature for offer in ground.catalogue.offers for feature in offer.features}
    telling = {feature for feature in ground.problem.free if ground.problem.sizes([feature]) != [1]}
    unbounded = math.isinf(goal.budget) and goal.max_depth is None
    return isinstance(goal.stop, SameDecisionLevel) and telling <= bought and unbounded


def is_forced(ground: Terrain, goal: Goal) -> bool:
    """Whether a plan goes on until its stopping rule is met.

    A plan of least worst cost always does, or it is none. One of least expected cost does where it always
    can; where a path may have to end before, failing less comes before costing less.
    """
    if goal.objective is PlanObjective.WORST_COST:
        return True
    is_open = goal.objective is PlanObjective.EXPECTED_COST and goal.max_leaves is None
    return is_open and can_finish(ground, goal)


def without_idle_bounds(catalogue: Catalogue, goal: Goal) -> Goal:
    """The goal without a budget and a depth that no path can reach: they change nothing."""
    n_tests = len(catalogue.offers)
    if is_affordable(goal, price_of_rest(catalogue, (UNDONE,) * n_tests)):
        goal = replace(goal, budget=math.inf)
    if goal.max_depth is not None and goal.max_depth >= n_tests:
        goal = replace(goal, max_depth=None)
    return goal


def check_goal(catalogue: Catalogue, goal: Goal) -> None:
    """`QueryError` when budget and depth leave no plan."""
    required = [test for test in range(len(catalogue.offers)) if catalogue.mandatory >> test & 1]
    deep = goal.max_depth is not None and len(required) > goal.max_depth
    if deep or not is_affordable(goal, least_together(catalogue, required)):
        raise QueryError("the mandatory tests alone exceed the budget or the depth; allow for them")
