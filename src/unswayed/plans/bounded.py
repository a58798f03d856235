"""A plan with a certified gap where the table of all partial observations would be too large.

States are kept in a graph that grows where it matters. Every state has a lower and an upper bound on its
value; a state not opened yet is bounded by what is plain: at least one more test must be paid for, and doing
all that is left is enough. Again and again a walk goes from the start to a state not opened, by the test of
least lower bound and the outcome with the widest gap, opens it, and carries the bounds back along the walk.
The bounds of the start are valid at any moment, so the walk may be stopped at any moment.

This is bounded real-time dynamic programming [mcmahan2005] on a graph without cycles; with a gap of zero at
the start it has found what AO* finds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from unswayed.decisions.catalogue import Offer, cost_together
from unswayed.kernels.plan_values import SLACK, STOP
from unswayed.plans.goals import Goal, PlanObjective, judge
from unswayed.plans.greedy import Greed, GreedyPolicy, outcome_columns
from unswayed.plans.ground import UNDONE, Ground, State
from unswayed.plans.moves import check_goal, may_stop, moves_in
from unswayed.plans.programme import is_forced

Value = tuple[float, float]
"""What counts first and what counts second, both weighted with the mass, as in `kernels/plan_values.py`."""
Report = Callable[[float, float, int], None]
"""Told now and then of the upper and lower bound at the start, and of the number of states."""
NOTHING: Value = (0.0, 0.0)


@dataclass(slots=True)
class _Place:
    """A state in the graph."""

    mass: float
    loss: float
    lower: Value
    upper: Value
    moves: list[tuple[int, float, list[State]]] | None = None
    """The tests that may be done, each with its price and the states it may lead to; None before it opens."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundedSearch:
    """The graph, and how values add up in it."""

    ground: Ground
    goal: Goal
    forced: bool
    """Whether a plan goes on until its rule is met."""
    places: dict[State, _Place] = field(default_factory=dict, repr=False)

    @property
    def start(self) -> State:
        """Nothing observed."""
        return (UNDONE,) * len(self.ground.sizes)

    @property
    def bounds(self) -> tuple[Value, Value]:
        """Lower and upper bound on the value of the best plan."""
        place = self.places[self.start]
        return place.lower, place.upper

    def choose(self, state: State, mass: float, loss: float) -> int:
        """The test of least upper bound; where the graph ends, what a greedy plan does, or `STOP`."""
        if loss <= 0.0 and may_stop(self.ground.catalogue, state):
            return STOP
        place = self.places.get(state)
        if place is not None and place.moves:
            stop = self._stop_value(state, place)
            values = [
                (self._after(price, place.mass, after, upper=True), test)
                for test, price, after in place.moves
            ]
            best, test = min(values)
            return STOP if stop is not None and not _is_less(best, stop) else test
        if self.forced or not may_stop(self.ground.catalogue, state):
            return GreedyPolicy(self.ground, self.goal, Greed.ENTROPY).choose(state, mass, loss)
        return STOP

    def _stop_value(self, state: State, place: _Place) -> Value | None:
        """The value of stopping; None where that is not allowed."""
        allowed = may_stop(self.ground.catalogue, state) and (place.loss <= 0.0 or not self.forced)
        return (place.loss, 0.0) if allowed else None

    def _after(self, price: float, mass: float, after: list[State], *, upper: bool) -> Value:
        """A bound on the value of a test: its price and the bounds of the states after it."""
        parts = [self.places[each].upper if upper else self.places[each].lower for each in after]
        second = price * mass + math.fsum(part[1] for part in parts)
        if self.goal.objective is PlanObjective.WORST_COST:
            return price + max(part[0] for part in parts), second
        first = math.fsum(part[0] for part in parts)
        return (first + price * mass if _counts_cost(self) else first), second


def search_bounded(
    ground: Ground, goal: Goal, deadline: float, report: Report | None = None
) -> BoundedSearch:
    """The graph when the best plan is found, or when the deadline or Ctrl-C ended the search."""
    check_goal(ground.catalogue, goal)
    search = BoundedSearch(ground, goal, is_forced(ground, goal))
    columns = ground.masses.reshape(len(ground.masses), -1).sum(axis=1, keepdims=True)
    standing = judge(ground.problem, goal, *ground.split(columns))
    search.places[search.start] = _place(
        search, search.start, float(standing.mass[0]), float(standing.loss[0])
    )
    told = time.monotonic()
    try:
        while time.monotonic() < deadline and _is_less(*search.bounds):
            _walk(search)
            if report is not None and time.monotonic() - told > 0.1:
                told = time.monotonic()
                lower, upper = search.bounds
                report(upper[0], lower[0], len(search.places))
    except KeyboardInterrupt:
        pass  # the bounds are valid at any moment
    return search


def _walk(search: BoundedSearch) -> None:
    """Go to a state that is not opened, open it, and carry its bounds back."""
    path, state = [], search.start
    while True:
        place = search.places[state]
        path.append(state)
        if place.moves is None:
            _open(search, state, place)
            break
        if not place.moves:
            break
        best = min(place.moves, key=lambda move: search._after(move[1], place.mass, move[2], upper=False))
        state = max(best[2], key=lambda each: _gap(search.places[each]))
        if _gap(search.places[state]) <= NOTHING:
            break
    for each in reversed(path):
        _update(search, each)


def _open(search: BoundedSearch, state: State, place: _Place) -> None:
    """List the tests of a state and the states after them."""
    ground = search.ground
    moves = list(moves_in(ground.catalogue, search.goal, state))
    place.moves = []
    if not moves:
        return
    columns, _ = outcome_columns(ground, state, [test for test, _ in moves])
    standing = judge(ground.problem, search.goal, *ground.split(columns))
    column = 0
    for test, price in moves:
        after = []
        for outcome in range(ground.sizes[test]):
            mass, loss = float(standing.mass[column]), float(standing.loss[column])
            column += 1
            if mass > 0.0:
                later = (*state[:test], outcome, *state[test + 1 :])
                after.append(later)
                if later not in search.places:
                    search.places[later] = _place(search, later, mass, loss)
        place.moves.append((test, price, after))


def _update(search: BoundedSearch, state: State) -> None:
    """Narrow the bounds of a state by those of the states after it."""
    place = search.places[state]
    stop = search._stop_value(state, place)
    ends: list[Value] = [] if stop is None else [stop]
    moves = place.moves or []
    lowers = ends + [search._after(price, place.mass, after, upper=False) for _, price, after in moves]
    uppers = ends + [search._after(price, place.mass, after, upper=True) for _, price, after in moves]
    place.lower = max(place.lower, min(lowers, default=(math.inf, 0.0)))
    place.upper = min(place.upper, min(uppers, default=(math.inf, 0.0)))


def _place(search: BoundedSearch, state: State, mass: float, loss: float) -> _Place:
    """A state with the bounds that are plain before it is opened."""
    offers, worst = search.ground.catalogue.offers, search.goal.objective is PlanObjective.WORST_COST
    stops = may_stop(search.ground.catalogue, state)
    if loss <= 0.0 and stops:
        return _Place(mass, loss, NOTHING, NOTHING, [])
    left = [test for test, outcome in enumerate(state) if outcome == UNDONE]
    least = min((_least_price(offers[test]) for test in left), default=math.inf)
    if search.forced:
        most = cost_together(search.ground.catalogue, left) + sum(_extra(offers[test]) for test in left)
        if worst:
            return _Place(mass, loss, (least, least * mass), (most, most * mass))
        return _Place(mass, loss, (least * mass, least * mass), (most * mass, most * mass))
    upper = (loss, 0.0) if stops else (math.inf, 0.0)
    paid = least * mass if left else 0.0
    if _counts_cost(search):
        return _Place(mass, loss, (min(loss, paid) if stops else paid, 0.0), upper)
    return _Place(mass, loss, (0.0, paid), upper)


def _counts_cost(search: BoundedSearch) -> bool:
    return search.forced or search.goal.objective is PlanObjective.NET_UTILITY


def _least_price(offer: Offer) -> float:
    return min([offer.price, *(each.price for each in offer.conditions)])


def _extra(offer: Offer) -> float:
    """By how much a condition may raise the price."""
    return max([0.0, *(each.price - offer.price for each in offer.conditions)])


def _gap(place: _Place) -> Value:
    """How far apart the bounds are: by what counts first, then by what counts second."""
    first = place.upper[0] - place.lower[0]
    slack = SLACK * (place.mass + abs(place.lower[0]))
    return (first, 0.0) if first > slack else (0.0, max(0.0, place.upper[1] - place.lower[1] - slack))


def _is_less(one: Value, other: Value) -> bool:
    """Whether a value is less than another by more than rounding."""
    slack = SLACK * (1.0 + abs(one[0]) + abs(one[1])) if np.isfinite(one[0]) else 0.0
    if abs(one[0] - other[0]) > slack:
        return one[0] < other[0]
    return one[1] < other[1] - slack
