"""What to observe next: every test by itself, and the smallest bundle that gains where no single one does."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

from unswayed.api.decisions import MeasuredSingle, agreement_of, singles_of
from unswayed.api.questions import Options, ask
from unswayed.api.shown import Framed, Plotted
from unswayed.api.values import (
    Criterion,
    KeptMass,
    SameDecisionGain,
    can_turn,
    class_mass_of,
    default_criteria,
    draw_masses,
    gain_between,
    is_cut_off,
    is_listed,
    no_gain,
    reward_gain,
    value_at,
)
from unswayed.core.anytime import UNITS_PER_SECOND, portion, reserve, settle, tick
from unswayed.core.errors import LimitError, QueryError, expect_number
from unswayed.core.measurement import Measurement
from unswayed.decisions.binding import bind_purchase
from unswayed.decisions.catalogue import Catalogue, cost_together, price_after
from unswayed.decisions.measures import chance_settled
from unswayed.decisions.problem import Problem
from unswayed.decisions.purchase import Costs, purchase_for
from unswayed.decisions.rewards import NegativeEntropy
from unswayed.engines.protocol import Needs, Question

T = TypeVar("T", bound=Hashable)

FOR_POSTERIORS = 1 / 3
"""Share of what is left for exact posteriors where samples may take their place."""
FOR_NOW, FOR_SINGLES, FOR_CHANCES, FOR_BUNDLE = 1 / 3, 1 / 2, 1 / 2, 1 / 20
"""Shares of what is left for the SDP now, for that after each test, for chances, and for one bundle."""
FOR_ALL_CHANCES = 5.0 * UNITS_PER_SECOND
"""Work for the chances that single tests settle the decision; what is left out then is not known."""
MOST_KEPT = 2**12
"""Numbers of a table that is kept, to value the same tests by another criterion."""
NO_VALUE = 1e-12
"""Values up to this are rounding."""
MOST_BUNDLED = 16
"""Tests, the most informative ones, that are tried in pairs and triples: 120 and 560 bundles."""
LARGEST_BUNDLE = 3


@dataclass(frozen=True, slots=True)
class Bundle:
    """Tests that gain something together where none does alone."""

    tests: tuple[str, ...]
    """The tests, the most informative first."""
    value: Measurement
    """What they gain together, by the first criterion."""
    cost: float
    """What they cost together."""

    @property
    def gain_per_cost(self) -> float:
        """What they gain for what they cost; gains a rounding error apart are equal."""
        return round(divide_by_cost(self.value.value, self.cost), 12)


@dataclass(frozen=True, slots=True, repr=False)
class ObservationRanking(Plotted, Framed):
    """Tests not done yet, valued one by one, the best by the first criterion first."""

    criteria: tuple[str, ...]
    """Names of the criteria, the one ranked by first."""
    features: tuple[str, ...]
    """The tests, best first: features, or groups that are bought together. Of those that intervals do not
    separate, the one that tells most about the target comes first."""
    values: tuple[tuple[Measurement, ...], ...]
    """For each test its value by each criterion."""
    costs: tuple[float, ...] = ()
    """What each test costs now."""
    done: tuple[float | None, ...] = ()
    """For each test the chance that the SDP is at least `at_least` after it; None where no engine tells."""
    at_least: float | None = 0.95
    """The level at which a decision is safe; None where only what posteriors tell was asked for."""
    bundle: Bundle | None = None
    """Where no test gains anything alone by the first criterion: the fewest that do together."""
    ranks: tuple[int, ...] = ()
    """For each test its place: 1 more than the tests that gain more for certain, or with the confidence of
    the estimates. Tests that their intervals do not separate share a place."""

    @property
    def per_cost(self) -> tuple[float, ...]:
        """The value of each test by the first criterion, divided by its cost."""
        return tuple(divide_by_cost(v[0].value, c) for v, c in zip(self.values, self.costs, strict=True))

    @property
    def best(self) -> str | None:
        """The test to do next; None when none is left or none has any value, alone or in a bundle."""
        if self.bundle is not None:
            return self.bundle.tests[0]
        if not self.features or self.values[0][0].high <= NO_VALUE:
            return None
        return self.features[0]

    def leaders(self, criterion: int = 0) -> tuple[int, ...]:
        """The tests, by position, of which each may gain most by a criterion, as far as intervals tell."""
        gains = {i: values[criterion] for i, values in enumerate(self.values)}
        return tuple(i for i, rank in find_ranks(gains, {}).items() if rank == 1)


def ranking_of(
    problem: Problem,
    reward: Criterion | Sequence[Criterion] | None,
    *,
    costs: Costs | None,
    at_least: float | None,
    options: Options,
) -> ObservationRanking:
    """The ranking for a problem as it stands; a decision is safe `at_least` at that level.

    Without a level, each test is valued by itself and nothing else: no chances to be done, and no bundles.
    """
    expect_number(1.0 if at_least is None else at_least, "the level")
    if at_least is not None and not 0.0 < at_least <= 1.0:
        raise QueryError(f"the level must lie between 0 and 1; got {at_least!r}")
    if reward is None:
        criteria = default_criteria(problem.classifier)
    else:
        criteria = tuple(reward) if isinstance(reward, Sequence) else (reward,)
    if not criteria or not all(hasattr(each, "name") for each in criteria):
        raise QueryError(f"a reward is SameDecisionGain(), NegativeEntropy() or the like, not {reward!r}")
    catalogue = bind_purchase(purchase_for(problem.classifier, costs), problem)
    return _rank_tests(
        _Rows(problem, catalogue, criteria, None, {}, options), per_cost=costs is not None, at_least=at_least
    )


def _rank_tests(rows: _Rows, *, per_cost: bool, at_least: float | None) -> ObservationRanking:
    """Tests valued by each criterion and ranked by the first, per cost where that is asked for."""
    problem, catalogue, criteria, options = rows.problem, rows.catalogue, rows.criteria, rows.options
    tests = [t for t in range(len(catalogue.offers)) if math.isfinite(price_after(catalogue, 0, t))]
    # What posteriors tell comes first: nothing else can take its place when the time is over.
    information = _inform(rows, tests)
    try:
        with portion(FOR_NOW):
            now = _now(problem, criteria, options)
        singles = _find_singles(rows, is_needed=now is not None, is_wanted=at_least is not None)
    except LimitError as error:
        raise LimitError(f"{error}; or rank by what posteriors tell (reward=NegativeEntropy())") from None
    rows = replace(rows, now=now, singles=singles)
    values = {test: rows.values([test]) for test in tests}
    prices = {test: price_after(catalogue, 0, test) for test in tests}

    gains_by_test = {test: values[test][0] for test in tests}
    ranks = find_ranks(gains_by_test, prices if per_cost else {})
    tests.sort(key=lambda test: (ranks[test], -round(information[test], 12), test))
    gains = at_least is None or any(values[test][0].high > NO_VALUE for test in tests)
    offers = [catalogue.offers[test] for test in tests]
    done = () if at_least is None else _chances_done(rows, [o.features for o in offers], at_least)
    return ObservationRanking(
        tuple(each.name for each in criteria),
        tuple(offer.name for offer in offers),
        tuple(values[test] for test in tests),
        tuple(prices[test] for test in tests),
        done,
        at_least,
        None if gains else settle(_bundles(rows, sorted(tests, key=lambda test: -information[test]))).last,
        tuple(ranks[test] for test in tests),
    )


def find_ranks(gains: Mapping[T, Measurement], prices: Mapping[T, float]) -> dict[T, int]:
    """The place of each test by its gain, per cost where it has a price; what is not separated shares one.

    All tests of a place hold the highest of their lower ends, so each of them may be the best of those left.

    >>> from unswayed.core.measurement import Certainty
    >>> def gain(low, high):
    ...     return Measurement((low + high) / 2, low, high, Certainty.BOUND, "sums")
    >>> find_ranks({"a": gain(0.1, 0.4), "b": gain(0.3, 0.5), "c": gain(0.1, 0.2)}, {})
    {'a': 1, 'b': 1, 'c': 3}
    """
    left = {
        test: (
            divide_by_cost(gain.low, prices.get(test, 1.0)),
            divide_by_cost(gain.high, prices.get(test, 1.0)),
        )
        for test, gain in gains.items()
    }
    ranks: dict[T, int] = {}
    while left:
        top = max(low for low, _ in left.values())
        # Values a rounding error apart are ties.
        ranks |= dict.fromkeys([t for t, (_, high) in left.items() if high >= top - NO_VALUE], len(ranks) + 1)
        left = {test: ends for test, ends in left.items() if test not in ranks}
    return ranks


def divide_by_cost(value: float, price: float) -> float:
    """Value per cost; what gains for nothing is worth infinitely much."""
    if price > 0:
        return value / price
    return math.inf if value > NO_VALUE else value


def _inform(rows: _Rows, tests: Sequence[int]) -> dict[int, float]:
    """What each test tells about the target, in bits; from samples where posteriors take too long."""
    found: dict[int, float] = {}

    def tell() -> Iterator[None]:
        yield
        for test in tests:
            found[test] = rows.information([test])
            yield

    takes_estimates = rows.options.get("allow_estimates", False)
    with suppress(LimitError) if takes_estimates else nullcontext():
        settle(tell(), share=FOR_POSTERIORS if takes_estimates else 1.0)
    left = [test for test in tests if test not in found]
    if left and not takes_estimates:
        raise LimitError("what each test tells was not found in time; raise Limits(max_seconds=...)")
    if left:
        with reserve():
            rows.remember(draw_masses(rows.problem, (rows.features([test]) for test in left)))
    return found | {test: rows.information([test]) for test in left}


@dataclass(frozen=True, slots=True)
class _Rows:
    """How tests are valued, alone or together."""

    problem: Problem
    catalogue: Catalogue
    criteria: tuple[Criterion, ...]
    now: Measurement | None
    """The same-decision probability now, once for all tests; None when no criterion asks for it."""
    singles: Mapping[int, MeasuredSingle]
    """What each single feature tells, all found together; empty where it is not asked for or too much."""
    options: Options
    _masses: dict[frozenset[int], KeptMass] = field(default_factory=dict)

    def features(self, tests: Iterable[int]) -> frozenset[int]:
        """The features that tests tell."""
        return frozenset(f for test in tests for f in self.catalogue.offers[test].features)

    def values(self, tests: Sequence[int]) -> tuple[Measurement, ...]:
        """The value of tests by each criterion."""
        return tuple(self.value(tests, criterion) for criterion in self.criteria)

    def value(self, tests: Sequence[int], criterion: Criterion) -> Measurement:
        """The value of tests by one criterion; what cannot gain by the graph or by posteriors, gains 0."""
        started, kept = time.perf_counter(), self.features(tests)
        if is_cut_off(self.problem, kept):
            return no_gain()
        if isinstance(criterion, SameDecisionGain) and self.now is not None:
            if is_listed(self.problem, kept) and not can_turn(self.problem, self._class_mass(kept)):
                return no_gain(self.now.bids)
            return self._gain(self.now, kept)
        if isinstance(criterion, SameDecisionGain):
            return value_at(self.problem, kept, criterion, self.options)
        return reward_gain(self.problem, self._class_mass(kept), criterion, started)

    def remember(self, masses: Mapping[frozenset[int], KeptMass]) -> None:
        """Take masses that were found otherwise."""
        self._masses.update(masses)

    def _class_mass(self, kept: frozenset[int]) -> KeptMass:
        """The masses of the classes for each instantiation of features; those of small tables are kept."""
        if kept in self._masses:
            return self._masses[kept]
        found = class_mass_of(self.problem, kept)
        if found.mass.size <= MOST_KEPT:
            self._masses[kept] = found
        return found

    def _gain(self, now: Measurement, kept: frozenset[int]) -> Measurement:
        """The expected same-decision probability once features are known, less the one now."""
        if len(kept) == 1 and self.singles:
            single = self.singles[next(iter(kept))]
            return gain_between(now, single.agreement) if single.gain is None else single.gain
        tick(what="the ranking")  # an estimate would be made on the reserve, test after test
        return gain_between(now, agreement_of(self.problem, kept, self.problem.decider, self.options))

    def information(self, tests: Sequence[int]) -> float:
        """What tests tell about the target, in bits."""
        return self.value(tests, NegativeEntropy()).value


def _now(problem: Problem, criteria: Sequence[Criterion], options: Options) -> Measurement | None:
    if not any(isinstance(each, SameDecisionGain) for each in criteria):
        return None
    return agreement_of(problem, frozenset(), problem.decider, options)


def _bundles(rows: _Rows, tests: Sequence[int]) -> Iterator[Bundle | None]:
    """Better and better bundles: at last the smallest that gains, of these that of highest gain per cost.

    Tests come with the most informative first. Only the first `MOST_BUNDLED` are tried, and a bundle that
    needs others before it is left out. Where no small bundle gains, all tests may: none of those left of
    them can be missed.
    """
    best: Bundle | None = None
    yield best
    for size in range(2, LARGEST_BUNDLE + 1):
        for bundle in itertools.combinations(tests[:MOST_BUNDLED], size):
            found = _make_gaining_bundle(rows, bundle)
            if found is not None and (best is None or found.gain_per_cost > best.gain_per_cost):
                best = found
            yield best
        if best is not None:
            return
    best = _make_gaining_bundle(rows, tests)
    yield best
    for test in reversed(tests) if best is not None else ():
        fewer = [each for each in tests if each != test]
        smaller = _make_gaining_bundle(rows, fewer)
        if smaller is not None:
            tests, best = fewer, smaller
        yield best


def _make_gaining_bundle(rows: _Rows, tests: Sequence[int]) -> Bundle | None:
    """Tests valued together; None where they gain nothing, need others first, or take too long to value."""
    if not _can_be_bought(rows.catalogue, tests):
        return None
    try:
        with portion(FOR_BUNDLE):
            value = rows.value(tests, rows.criteria[0])
    except LimitError:
        return None
    names = tuple(rows.catalogue.offers[test].name for test in tests)
    return Bundle(names, value, cost_together(rows.catalogue, tests)) if value.low > NO_VALUE else None


def _can_be_bought(catalogue: Catalogue, tests: Sequence[int]) -> bool:
    """Whether tests include all that they need before them."""
    done = sum(1 << test for test in tests)
    return not any(catalogue.offers[test].needs & ~done for test in tests)


def _find_singles(rows: _Rows, *, is_needed: bool, is_wanted: bool) -> Mapping[int, MeasuredSingle]:
    """What every feature tells by itself; nothing where that takes too long and no criterion needs it."""
    if not (is_needed or is_wanted):
        return {}
    try:
        with portion(FOR_SINGLES):
            return singles_of(rows.problem, rows.problem.decider, rows.options)
    except LimitError:
        if is_needed:
            raise
        return {}


def _chances_done(rows: _Rows, tests: Sequence[Sequence[int]], at_least: float) -> tuple[float | None, ...]:
    """The chance of each test to settle the decision, the best tests first; None where no engine tells.

    Features that are tests by themselves were all found together; groups are asked about one by one.
    """
    found: list[float | None] = []

    def chances() -> Iterator[int]:
        yield 0
        for features in tests:
            single = rows.singles.get(features[0]) if len(features) == 1 else None
            if single is not None:
                found.append(single.chance_settled(at_least))
            else:
                found.append(_chance_done(rows.problem, frozenset(features), at_least, rows.options))
            yield len(found)

    settle(chances(), share=FOR_CHANCES, units=FOR_ALL_CHANCES)
    return (*found, *[None] * (len(tests) - len(found)))


def _chance_done(problem: Problem, kept: frozenset[int], at_least: float, options: Options) -> float | None:
    """Probability that the decision is safe after observing features; None where no engine tells."""
    try:
        asked = ask(problem, Question(kept, Needs.ROWS), options)
        # An engine that lists rows has profiles.
        profile = asked.oracle().profile(kept)  # type: ignore[union-attr]
    except LimitError:
        return None
    return chance_settled(profile, problem.decider, at_least)
