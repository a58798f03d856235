"""What may be done in a state: the tests that are allowed and affordable, and whether to stop.

The same rules as in the table of `kernels/plan_values.py`, for one state at a time: there is no table where
tests are many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from unswayed.core.errors import QueryError
from unswayed.decisions.catalogue import Catalogue, check_no_conditions, cost_together, price_after
from unswayed.plans.goals import Goal
from unswayed.plans.ground import UNDONE, State, done_in


def moves_in(catalogue: Catalogue, goal: Goal, state: State) -> Iterator[tuple[int, float]]:
    """The tests that may be done in a state, each with its price there."""
    done = [test for test, outcome in enumerate(state) if outcome != UNDONE]
    if goal.max_depth is not None and len(done) >= goal.max_depth:
        return
    spent = cost_together(catalogue, done) if math.isfinite(goal.budget) else 0.0
    for test, outcome in enumerate(state):
        if outcome == UNDONE:
            price = price_in(catalogue, state, test)
            if math.isfinite(price) and spent + price <= goal.budget * (1 + 1e-12) + 1e-12:
                yield test, price


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


def check_goal(catalogue: Catalogue, goal: Goal) -> None:
    """`QueryError` when budget and depth leave no plan, or cannot be kept exactly."""
    if math.isfinite(goal.budget):
        check_no_conditions(catalogue, "a budget")
    required = [test for test in range(len(catalogue.offers)) if catalogue.mandatory >> test & 1]
    deep = goal.max_depth is not None and len(required) > goal.max_depth
    if deep or cost_together(catalogue, required) > goal.budget * (1 + 1e-12) + 1e-12:
        raise QueryError("the mandatory tests alone exceed the budget or the depth; allow for them")
