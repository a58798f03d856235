"""A bound on all plans from their first few tests, where tests are independent given a class of two.

What is known after some tests is the set S of those done and the log-odds; what is left moves the log-odds by
a sum that depends on S alone. So the distribution of that sum, on a grid, tells at once in which of the
outcomes of S a plan may perhaps stop. It is made for every set of at most k tests, each from one with fewer
features by one addition, and dynamic programming over these sets says what every plan costs at least:

    U(S, x) = 0 where the SDP may reach the level, else  min_t  price_t mass + sum over y of U(S + t, xy)

with the cheapest price alone where S has k tests. Steps of the grid are rounded weights: a sum of them is off
by no more than the sum of their errors, by which the cut is moved to the side that makes stopping easier.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from unswayed.core.anytime import tick
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.decisions.measures import LEVEL_SLACK
from unswayed.decisions.rules import LogOddsIntervals
from unswayed.engines.groups import group_tables, independent_groups
from unswayed.kernels.plan_values import STOP
from unswayed.plans.goals import Goal, PlanObjective, SameDecisionLevel
from unswayed.plans.moves import Policy, Situation, is_forced
from unswayed.plans.terrain import Terrain, done_in

N_CELLS = 2048
"""Steps of the grid from the lowest sum of all weights to the highest."""
UNITS_PER_SUM, UNITS_PER_SET, UNITS_PER_MOVE = 25.0, 100.0, 8.0
"""Estimated: to add a feature to a distribution, to look at the outcomes of a set, and at a test after it."""
ROUNDING = 1e-9
"""More than floating point changes in an SDP."""
DEEPEST = 8


class _Feature(NamedTuple):
    """A feature that is independent of the others given the class."""

    weights: Floats  # (outcomes,)
    """What each outcome adds to the log-odds of the upper class."""
    likelihood: Floats  # (2, outcomes)
    """Pr(outcome | class), the upper class first."""
    steps: Ints
    """The weights above the lowest, in whole steps of the grid."""
    error: float
    """How far the steps are off, at most."""
    test: int | None
    """The test that tells it; None where none does."""


@dataclass(frozen=True, slots=True, eq=False)
class FirstTests:
    """What every plan costs at least, by sets of at most `depth` tests."""

    prices: tuple[float, ...]
    depth: int
    values: dict[int, Floats] = field(repr=False)
    """For each set of tests, as bits, the least cost from each of its outcomes on, weighted with the mass."""
    sizes: tuple[int, ...] = ()
    then: Policy | None = None
    """What is done after `depth` tests."""

    @property
    def lower(self) -> float:
        """No plan costs less."""
        return float(self.values[0][0]) * (1.0 - ROUNDING)

    def choose(self, where: Situation) -> int:
        """The test after which plans may cost least; beyond the depth, what another policy does."""
        done = done_in(where.state)
        if where.loss <= 0.0:
            return STOP
        if done.bit_count() >= self.depth:
            return STOP if self.then is None else self.then.choose(where)
        seen = [(size, x) for size, x in zip(self.sizes, where.state, strict=True) if x >= 0]
        place = 0
        for size, outcome in seen:
            place = place * size + outcome
        costs = {
            test: self.prices[test] * where.mass + float(_after(self, done, test)[place])
            for test in range(len(self.prices))
            if not done >> test & 1
        }
        return min(costs, key=lambda test: (round(costs[test] / where.mass, 12), test))


def _after(first: FirstTests, done: int, test: int) -> Floats:
    """The values after one more test, added up over its outcomes, for each outcome of the tests done."""
    inner = math.prod(size for t, size in enumerate(first.sizes) if done >> t & 1 and t > test)
    later = first.values[done | 1 << test].reshape(-1, first.sizes[test], inner)
    total: Floats = later.sum(axis=1)
    return total.reshape(-1)


def bound_first_tests(terrain: Terrain, goal: Goal, then: Policy) -> Iterator[FirstTests]:
    """Bounds from more and more first tests; nothing where tests depend on each other or decide otherwise."""
    features = _list_features(terrain, goal)
    if features is None:
        return
    problem, decider = terrain.problem, terrain.problem.decider
    assert isinstance(decider, LogOddsIntervals)
    assert isinstance(goal.stop, SameDecisionLevel)
    prior, cell = problem.prior[[decider.upper, 1 - decider.upper]], _cell_of([f.weights for f in features])
    prices = tuple(offer.price for offer in terrain.catalogue.offers)
    n_tests = len(prices)
    for depth in range(1, min(n_tests, DEEPEST) + 1):
        tick(_price(len(features), n_tests, depth), "a bound on all plans")
        looks = _Looks(decider, prior, features, depth, goal.stop.level, cell)
        looks.visit(0, 0, looks.nothing)
        values = _fold(terrain.sizes, prices, depth, looks)
        yield FirstTests(prices, depth, values, terrain.sizes, then)


def _price(n_features: int, n_tests: int, depth: int) -> float:
    """The work for all sets of so many tests."""
    n_sets = sum(math.comb(n_tests, k) for k in range(depth + 1))
    n_sums = sum(math.comb(i, k) for i in range(n_features) for k in range(min(i, depth) + 1))
    n_moves = sum(math.comb(n_tests, k) * (n_tests - k) for k in range(depth))
    return UNITS_PER_SUM * n_sums + UNITS_PER_SET * n_sets + UNITS_PER_MOVE * n_moves


def _list_features(terrain: Terrain, goal: Goal) -> list[_Feature] | None:
    """The features on their grid; None where the bound does not hold or is of no use."""
    problem, catalogue = terrain.problem, terrain.catalogue
    decider, offers = problem.decider, catalogue.offers
    is_plain = not (catalogue.mandatory or catalogue.set_ups or any(o.needs or o.conditions for o in offers))
    is_asked = (
        is_forced(terrain, goal)
        and isinstance(goal.stop, SameDecisionLevel)
        and goal.objective is PlanObjective.EXPECTED_COST
    )
    if not (is_plain and is_asked and isinstance(decider, LogOddsIntervals) and len(decider.cuts) == 1):
        return None
    if any(len(group) > 1 for group in (*independent_groups(problem), *(o.features for o in offers))):
        return None
    groups = group_tables(problem)
    tables = [np.stack([g.likelihood[:, decider.upper], g.likelihood[:, 1 - decider.upper]]) for g in groups]
    if any((table <= 0.0).any() for table in tables):
        return None  # infinite weights
    if not (problem.prior > 0.0).all():
        return None
    tests = {offer.features[0]: test for test, offer in enumerate(offers)}
    weights = [np.log(table[0]) - np.log(table[1]) for table in tables]
    cell = _cell_of(weights)
    found = []
    for group, table, weight in zip(groups, tables, weights, strict=True):
        steps = np.rint((weight - weight.min()) / cell).astype(np.int64)
        error = float(np.abs(weight - weight.min() - steps * cell).max())
        found.append(_Feature(weight, table, steps, error, tests.get(group.features[0])))
    # Outcomes of a set are in the order of its tests; features that nobody buys may stand anywhere.
    return sorted(found, key=lambda each: -1 if each.test is None else each.test)


def _cell_of(weights: list[Floats]) -> float:
    return max(sum(float(np.ptp(each)) for each in weights) / N_CELLS, 1e-9)


class _Rest(NamedTuple):
    """What the features that are not seen add to the log-odds: `lowest`, and a number of steps."""

    steps: Floats  # (2, steps)
    """The distribution of that number, for each class."""
    lowest: float = 0.0
    error: float = ROUNDING
    """How far the sum is off, at most."""


@dataclass(slots=True, eq=False)
class _Looks:
    """For each set of tests, the mass of its outcomes and in which of them a plan must go on."""

    decider: LogOddsIntervals
    prior: Floats  # (2,)
    """Of the upper class and of the other."""
    features: list[_Feature]
    depth: int
    level: float
    cell: float
    masses: dict[int, Floats] = field(default_factory=dict)
    goes_on: dict[int, Bools] = field(default_factory=dict)

    @property
    def nothing(self) -> _Rest:
        """No features at all."""
        n_steps = 1 + sum(int(each.steps.max()) for each in self.features)
        start = np.zeros((2, n_steps))
        start[:, 0] = 1.0
        return _Rest(start)

    def visit(self, i: int, done: int, rest: _Rest) -> None:
        """Every set that has `done` of the first features; the others of these are in the `rest`."""
        if i == len(self.features):
            self._look(done, rest)
            return
        feature = self.features[i]
        self.visit(i + 1, done, _add(rest, feature))
        if feature.test is not None and done.bit_count() < self.depth:
            self.visit(i + 1, done | 1 << feature.test, rest)

    def _look(self, done: int, rest: _Rest) -> None:
        odds, mass = np.array([math.log(self.prior[0] / self.prior[1])]), self.prior[:, np.newaxis]
        for each in self.features:  # in the order of the tests
            if each.test is not None and done >> each.test & 1:
                odds = (odds[:, np.newaxis] + each.weights).ravel()
                mass = (mass[:, :, np.newaxis] * each.likelihood[:, np.newaxis]).reshape(2, -1)
        cut = float(self.decider.cuts[0])
        needed = cut - odds - rest.lowest
        tails = _tail(rest.steps, np.stack([needed - rest.error, needed + rest.error]) / self.cell)
        most_above, least_above = (mass[:, np.newaxis] * tails).sum(axis=0)
        total = mass.sum(axis=0)
        same = np.maximum(
            np.where(odds >= cut - ROUNDING, most_above, 0.0),
            np.where(odds < cut + ROUNDING, total - least_above, 0.0),
        )
        self.masses[done] = total
        self.goes_on[done] = same < (self.level - LEVEL_SLACK - ROUNDING) * total


def _add(rest: _Rest, feature: _Feature) -> _Rest:
    """What is not seen with one more feature."""
    longer = np.zeros_like(rest.steps)
    for steps, share in zip(feature.steps.tolist(), feature.likelihood.T[:, :, np.newaxis], strict=True):
        if steps:
            longer[:, steps:] += share * rest.steps[:, :-steps]
        else:
            longer += share * rest.steps
    return _Rest(longer, rest.lowest + float(feature.weights.min()), rest.error + feature.error)


def _tail(steps: Floats, start: Floats) -> Floats:  # (2, steps), any shape -> (2, that shape)
    """Pr(number of steps >= start) for each class and start."""
    n_steps = steps.shape[1]
    tails = np.zeros((2, n_steps + 1))
    tails[:, :-1] = steps[:, ::-1].cumsum(axis=1)[:, ::-1]
    return np.minimum(tails[:, np.clip(np.ceil(start), 0, n_steps).astype(np.int64)], 1.0)


def _fold(sizes: tuple[int, ...], prices: tuple[float, ...], depth: int, looks: _Looks) -> dict[int, Floats]:
    """What plans cost at least from every outcome of every set on, the largest sets first."""
    first = FirstTests(prices, depth, {}, sizes)
    for done in sorted(looks.masses, key=int.bit_count, reverse=True):
        mass, left = looks.masses[done], [t for t in range(len(prices)) if not done >> t & 1]
        if done.bit_count() == depth or not left:
            best = mass * min((prices[t] for t in left), default=0.0)
        else:
            best = np.minimum.reduce([prices[t] * mass + _after(first, done, t) for t in left])
        first.values[done] = np.where(looks.goes_on[done], best, 0.0)
    return first.values
