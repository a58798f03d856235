"""A plan with a certified gap where the table of all partial observations would be too large.

States are kept in a graph that grows where it matters. Every state has a lower and an upper bound on its
value; a state not opened yet is bounded by what is plain: at least one more test must be paid for where it is
certain that the plan may not stop, and doing all that is left is enough. Again and again a walk goes from the
start to a state not opened, by the test of least lower bound and the outcome with the widest gap, opens it,
and carries the bounds back along the walk. The bounds of the start are valid after every walk, and what
is known of a state is assigned last, so the search may be stopped at any moment.

This is bounded real-time dynamic programming [mcmahan2005] on a graph without cycles; with a gap of zero at
the start it has found what AO* finds. Plans that are known already lower the upper bounds of their states.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from unswayed.core.anytime import reserve, tick
from unswayed.decisions.catalogue import cost_together, least_price, tests_in
from unswayed.kernels.plan_values import SLACK, STOP
from unswayed.plans.goals import Goal, PlanObjective, judge
from unswayed.plans.greedy import Greed, GreedyPolicy
from unswayed.plans.growth import Spot, Value, least_of, value_of_step
from unswayed.plans.moves import (
    CUT,
    Situation,
    can_finish,
    check_goal,
    is_forced,
    may_stop,
    moves_in,
    price_of_rest,
    tests_left,
)
from unswayed.plans.prefetch import Prefetcher, Visit
from unswayed.plans.saved import PlanNotes
from unswayed.plans.terrain import Terrain, after, done_in, start_of

KnownSteps = Mapping[Spot, tuple[Value, int]]
"""What known plans are worth in their states, and which test they do there."""
NOTHING: Value = (0.0, 0.0)
FORETOLD = 100
"""States that may be opened next that others are told of."""
UNITS_PER_WALK, UNITS_PER_PLACE = 500.0, 35.0
"""Measured: for a walk, and for each state that it finds; what the terrain is asked comes on top."""


_Move = tuple[int, float, list[Spot]]
"""A test, its price, and where it may lead."""


@dataclass(slots=True)
class _Place:
    """A state in the graph."""

    mass: float
    loss: float
    least_loss: float
    lower: Value
    upper: Value
    moves: list[_Move] | None = None
    """The tests that may be done; None before it opens."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundedSearch:
    """The graph, and how values add up in it."""

    ground: Terrain
    goal: Goal
    forced: bool
    """Whether a plan goes on until its rule is met,"""
    finishes: bool
    """and whether all tests that are left are always enough for that."""
    known: dict[Spot, tuple[Value, int]] = field(default_factory=dict, repr=False)
    scouts: Prefetcher | None = field(default=None, repr=False)
    places: dict[Spot, _Place] = field(default_factory=dict, repr=False)

    @property
    def start(self) -> Spot:
        """Nothing observed, nothing spent."""
        return start_of(self.ground), 0.0

    @property
    def bounds(self) -> tuple[Value, Value]:
        """Lower and upper bound on the value of the best plan."""
        place = self.places[self.start]
        return place.lower, place.upper

    def choose(self, where: Situation) -> int:
        """The test of least upper bound; where the graph ends, what a known or greedy plan does."""
        test = FoundPlan(self).choose(where)
        if test != CUT:
            return test
        if self.forced or not may_stop(self.ground.catalogue, where.state):
            return GreedyPolicy(self.ground, self.goal, Greed.ENTROPY).choose(where)
        return STOP

    def spot(self, state: tuple[int, ...], spent: float) -> Spot:
        """The place of a state; what was spent counts only where there is a budget."""
        catalogue = self.ground.catalogue
        if not math.isfinite(self.goal.budget):
            return state, 0.0
        # Without conditional prices the order makes no difference, and must make none by rounding.
        return state, spent if catalogue.has_conditions else cost_together(
            catalogue, tests_in(done_in(state))
        )

    def _stop_value(self, spot: Spot, loss: float) -> Value | None:
        """The value of stopping with such a loss; None where that is not allowed."""
        allowed = may_stop(self.ground.catalogue, spot[0]) and (loss <= 0.0 or not self.forced)
        return (loss, 0.0) if allowed else None

    def _after(self, move: _Move, mass: float, *, upper: bool) -> Value:
        """A bound on the value of a test: its price and the bounds of the states after it."""
        _, price, spots = move
        parts = [
            place.upper if upper else self._least(place) for place in map(self.places.__getitem__, spots)
        ]
        return value_of_step(self.goal, price, mass, parts, forced=self.forced)

    def _least(self, place: _Place) -> Value:
        """The lower bound of a state as those before it count it.

        Its second part holds where the first is what comes. In the worst case more may come of a state
        without harm, where another outcome is worse: then the second part says nothing yet.
        """
        worst = self.goal.objective is PlanObjective.WORST_COST
        return (place.lower[0], 0.0) if worst and _first_gap(place) > 0.0 else place.lower

    def _most_promising(self, place: _Place) -> _Move:
        """The test of least lower bound in a state, of equal ones that of least upper bound."""
        moves = place.moves or []
        lowers = [self._after(move, place.mass, upper=False) for move in moves]
        least, _ = least_of(lowers, place.mass)
        equal = [m for m, low in zip(moves, lowers, strict=True) if not _is_less(least, low, place.mass)]
        return min(equal, key=lambda move: self._after(move, place.mass, upper=True))

    def _ends_after(self, move: _Move, mass: float) -> tuple[Value, Value]:
        """Both bounds on the value of a test."""
        return self._after(move, mass, upper=False), self._after(move, mass, upper=True)


@dataclass(frozen=True, slots=True)
class FoundPlan:
    """The policy that the upper bounds of a search are about: nothing is asked to follow it."""

    search: BoundedSearch

    def choose(self, where: Situation) -> int:
        """The test of least upper bound or of a known plan; `CUT` where the graph and known plans end."""
        search = self.search
        if where.loss <= 0.0 and may_stop(search.ground.catalogue, where.state):
            return STOP
        spot = search.spot(where.state, where.spent)
        place, known = search.places.get(spot), search.known.get(spot)
        if place is None or not place.moves:
            return CUT if known is None else known[1]
        options = [(search._after(move, place.mass, upper=True), move[0]) for move in place.moves]
        if known is not None:
            options.append(known)
        stop = search._stop_value(spot, place.loss)
        if stop is not None:
            options.insert(0, (stop, STOP))
        return options[least_of([value for value, _ in options], place.mass)[1]][1]


def search_bounded(
    ground: Terrain,
    goal: Goal,
    *,
    known: KnownSteps | None = None,
    scouts: Prefetcher | None = None,
    notes: PlanNotes | None = None,
) -> Iterator[BoundedSearch]:
    """The graph after every walk, until the best plan is found."""
    notes = notes or PlanNotes()
    check_goal(ground.catalogue, goal)
    search = BoundedSearch(ground, goal, is_forced(ground, goal), can_finish(ground, goal), scouts=scouts)
    search.known.update({search.spot(*spot): step for spot, step in (known or {}).items()})
    with reserve():  # a first bound is there whatever was spent
        standing = judge(ground.problem, goal, ground.look(search.start[0], closely=False))
    row = standing.mass[0], standing.loss[0], standing.least_loss[0]
    search.places[search.start] = _place(search, search.start, *map(float, row))
    notes.read_graph(partial(_read_places, search))
    notes.write_graph = partial(_write_places, search)
    yield search
    while _is_less(*search.bounds, mass=1.0) and _walk(search):
        notes.note()
        yield search


def _write_places(search: BoundedSearch) -> list[Any]:
    """The graph for a checkpoint, without its edges."""
    return [
        [*spot, place.mass, place.loss, place.least_loss, place.lower, place.upper, _stage(place)]
        for spot, place in search.places.items()
    ]


def _stage(place: _Place) -> int:
    """Whether a state is not opened, opened, or has nowhere to go."""
    return 0 if place.moves is None else 1 if place.moves else 2


def _read_places(search: BoundedSearch, written: list[Any]) -> None:
    """Put the states of a checkpoint into the graph; where they lead to follows from the tests."""
    for state, spent, mass, loss, least_loss, lower, upper, stage in written:
        place = _Place(mass, loss, least_loss, tuple(lower), tuple(upper), None if stage == 0 else [])
        search.places[tuple(state), spent] = place
    for state, spent, *_, stage in written:
        if stage == 1:
            spot = tuple(state), spent
            search.places[spot].moves = [
                (test, price, [each for each in _spots(search, spot, test, price) if each in search.places])
                for test, price in moves_in(search.ground.catalogue, search.goal, *spot)
            ]


def _spots(search: BoundedSearch, spot: Spot, test: int, price: float) -> list[Spot]:
    """Where each outcome of a test leads to from a state."""
    state, spent = spot
    outcomes = range(search.ground.sizes[test])
    return [search.spot(after(state, test, outcome), spent + price) for outcome in outcomes]


def _walk(search: BoundedSearch) -> bool:
    """Go to a state that is not opened, open it, and carry its bounds back; whether anything changed."""
    tick(UNITS_PER_WALK, "the search for a better plan")
    path, spot = [], search.start
    while True:
        place = search.places[spot]
        path.append(spot)
        opened = place.moves is None
        if opened:
            _send_ahead(search, spot)
            _open(search, spot, place)
        if opened or not place.moves:
            break
        spots = search._most_promising(place)[2]
        spot = max(spots, key=lambda each: _gap(search.places[each]))
        if _gap(search.places[spot]) <= NOTHING:
            break
    changed = [_update(search, each) for each in reversed(path)]
    return opened or any(changed)


def _send_ahead(search: BoundedSearch, spot: Spot) -> None:
    """Have others visit the states that are probably opened after this one."""
    if search.scouts is not None:
        later = islice(_fringe(search, search.start, set()), FORETOLD)
        visits = (_visit(search, each) for each in later)
        search.scouts.go_ahead(_visit(search, spot), visits)


def _fringe(search: BoundedSearch, spot: Spot, seen: set[Spot]) -> Iterator[Spot]:
    """States not opened that walks come to from a state, the likeliest first."""
    place = search.places[spot]
    if place.moves is None:
        yield spot
        return
    for _, _, spots in sorted(place.moves, key=lambda move: search._ends_after(move, place.mass)):
        for later in sorted(spots, key=lambda each: _gap(search.places[each]), reverse=True):
            if later not in seen and _gap(search.places[later]) > NOTHING:
                seen.add(later)
                yield from _fringe(search, later, seen)


def _visit(search: BoundedSearch, spot: Spot) -> Visit:
    """What opening a state asks, for others to ask."""
    place = search.places[spot]
    ask = partial(_ask_around, search.goal, spot, place.least_loss < place.loss)
    return Visit(spot[0], ask, ("open", *spot))


def _ask_around(goal: Goal, spot: Spot, closely: bool, terrain: Terrain) -> None:
    """Ask a terrain what `_open` asks it."""
    state, spent = spot
    if closely:
        terrain.look(state)
    tests = [test for test, _ in moves_in(terrain.catalogue, goal, state, spent)]
    if tests:
        terrain.look_ahead(state, tests)


def _open(search: BoundedSearch, spot: Spot, place: _Place) -> None:
    """Look closely at a state, and list its tests and the states after them."""
    ground, (state, spent) = search.ground, spot
    if place.least_loss < place.loss:
        standing = judge(ground.problem, search.goal, ground.look(state))
        place.loss, place.least_loss = float(standing.loss[0]), float(standing.least_loss[0])
        if place.loss <= 0.0 and may_stop(ground.catalogue, state):
            place.lower = place.upper = NOTHING
            place.moves = []
            return
    moves = list(moves_in(ground.catalogue, search.goal, state, spent))
    found: list[_Move] = []
    if moves:
        n_states = sum(ground.sizes[test] for test, _ in moves)
        tick(UNITS_PER_PLACE * n_states, "the search for a better plan")
        standing = judge(ground.problem, search.goal, ground.look_ahead(state, [test for test, _ in moves]))
        rows = iter(
            zip(standing.mass.tolist(), standing.loss.tolist(), standing.least_loss.tolist(), strict=True)
        )
        for test, price in moves:
            spots = []
            for later in _spots(search, spot, test, price):
                row = next(rows)
                if row[0] > 0.0:
                    spots.append(later)
                    if later not in search.places:
                        search.places[later] = _place(search, later, *row)
            found.append((test, price, spots))
    place.moves = found


def _update(search: BoundedSearch, spot: Spot) -> bool:
    """Narrow the bounds of a state by those of the states after it; whether that changed them."""
    place = search.places[spot]
    before = place.lower, place.upper
    lower, upper = _bound(search, spot, upper=False), _bound(search, spot, upper=True)
    place.upper, _ = least_of([place.upper, upper], place.mass)
    if abs(lower[0] - place.lower[0]) <= SLACK * (place.mass + abs(lower[0])):
        place.lower = max(lower[0], place.lower[0]), max(lower[1], place.lower[1])
    else:
        place.lower = max(lower, place.lower)
    return (place.lower, place.upper) != before


def _bound(search: BoundedSearch, spot: Spot, *, upper: bool) -> Value:
    """A bound on the value of a state by those of the states after it, and by what stopping loses."""
    place = search.places[spot]
    values = [search._after(move, place.mass, upper=upper) for move in place.moves or ()]
    stop = search._stop_value(spot, place.loss if upper else place.least_loss)
    if stop is not None:
        values.append(stop)
    return least_of(values, place.mass)[0] if values else (math.inf, 0.0)


def _place(search: BoundedSearch, spot: Spot, mass: float, loss: float, least_loss: float) -> _Place:
    """A state with the bounds that are plain before it is opened."""
    catalogue, state = search.ground.catalogue, spot[0]
    stops = may_stop(catalogue, state)
    if loss <= 0.0 and stops:
        return _Place(mass, loss, loss, NOTHING, NOTHING, [])
    place = _Place(mass, loss, least_loss, *_plain_bounds(search, spot, mass, (loss, least_loss)))
    if spot in search.known:
        place.upper, _ = least_of([place.upper, search.known[spot][0]], mass)
    return place


def _plain_bounds(
    search: BoundedSearch, spot: Spot, mass: float, losses: tuple[float, float]
) -> tuple[Value, Value]:
    """One more test at least, unless the plan may perhaps stop; all that is left at most, or stop now."""
    catalogue, (state, _), (loss, least_loss) = search.ground.catalogue, spot, losses
    stops, worst = may_stop(catalogue, state), search.goal.objective is PlanObjective.WORST_COST
    left = tests_left(state)
    least = min((least_price(catalogue.offers[test]) for test in left), default=math.inf)
    if stops and least_loss <= 0.0:
        least = 0.0
    if search.forced:
        most = price_of_rest(catalogue, state) if search.finishes else math.inf
        lower, upper = (least, least * mass), (most, most * mass)
        return (lower, upper) if worst else ((lower[1], 0.0), (upper[1], 0.0))
    upper = (loss, 0.0) if stops else (math.inf, 0.0)
    paid = least * mass if left else 0.0
    if search.goal.objective is PlanObjective.NET_UTILITY:
        return (min(least_loss, paid) if stops else paid, 0.0), upper
    return (0.0, paid), upper


def _gap(place: _Place) -> Value:
    """How far apart the bounds are, by what counts first, then second; none where nothing can narrow them."""
    if place.moves is not None and not place.moves:
        return NOTHING
    slack = SLACK * (place.mass + abs(place.lower[1]))
    return _first_gap(place), max(0.0, place.upper[1] - place.lower[1] - slack)


def _first_gap(place: _Place) -> float:
    """How far apart the bounds are by what counts first; 0 where that is rounding."""
    lower, upper = place.lower[0], place.upper[0]
    return upper - lower if upper > lower + SLACK * (place.mass + abs(lower)) else 0.0


def _is_less(one: Value, other: Value, mass: float) -> bool:
    """Whether a value is less than another, in a state of such mass, by more than rounding."""
    if math.isinf(one[0]) or math.isinf(other[0]):
        return one[0] < other[0]
    if abs(one[0] - other[0]) > SLACK * (mass + abs(one[0])):
        return one[0] < other[0]
    return one[1] < other[1] - SLACK * (mass + abs(one[1]))
