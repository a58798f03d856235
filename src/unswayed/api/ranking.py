"""What to observe next: every test by itself, and the smallest bundle that gains where no single one does."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Unpack

from unswayed.api import shown
from unswayed.api.decisions import agreement_of, single_agreements_of
from unswayed.api.questions import Options, ask, problem_of
from unswayed.api.structured import case_of
from unswayed.api.values import (
    Criterion,
    SameDecisionGain,
    class_mass_of,
    default_criteria,
    gain_between,
    reward_gain,
    value_at,
    value_of_objects,
)
from unswayed.core.anytime import UNITS_PER_SECOND, bounded, portion, settle, tick
from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError, QueryError, expect_number
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.binding import bind_purchase, leave_out_skipped
from unswayed.decisions.catalogue import Catalogue, cost_together, price_after
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import chance_settled
from unswayed.decisions.problem import Problem
from unswayed.decisions.purchase import Costs, purchase_for
from unswayed.decisions.rewards import NegativeEntropy
from unswayed.engines.protocol import Needs, Question
from unswayed.model.evidence import Evidence

if TYPE_CHECKING:
    from unswayed.spaces.decisions.classifier import StructuredCase, StructuredClassifier

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


@dataclass(frozen=True, slots=True)
class ObservationRanking:
    """Tests not done yet, valued one by one, the best by the first criterion first."""

    criteria: tuple[str, ...]
    """Names of the criteria, the one ranked by first."""
    features: tuple[str, ...]
    """The tests, best first: features, or groups that are bought together."""
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

    plot = shown.plot
    to_frame = shown.to_frame
    _repr_html_ = shown.to_html
    __str__ = shown.to_text


@bounded
def rank_observations(
    classifier: Classifier | StructuredClassifier,
    evidence: Evidence | None = None,
    reward: Criterion | Sequence[Criterion] | None = None,
    *,
    costs: Costs | None = None,
    at_least: float = 0.95,
    **options: Unpack[Options],
) -> ObservationRanking:
    """The next single tests, valued side by side; ranked by the first criterion, per cost where given.

    Without `reward`: gain in same-decision probability, entropy, margin, and utility where the rule has
    utilities. Ties go to the test that tells most about the target, then to the one named first. Features
    with one state tell nothing and are left out. `done` is the chance that the decision is safe after a
    test: that its same-decision probability is at least `at_least`. Where no test gains anything alone,
    `bundle` holds the two or three that gain most together, or more where it takes more. A structured
    classifier's attributes are ranked by the gain in same-decision probability alone, unless `reward`
    says otherwise, and have no costs.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> rank_observations(papers).best
    'AC'
    """
    if not isinstance(classifier, Classifier):
        if costs is not None:
            raise QueryError("costs are for features of networks; rank structured attributes without them")
        return _rank_objects(case_of(classifier, evidence, options), reward, at_least, options)
    purchase = purchase_for(classifier, costs)
    classifier, purchase = leave_out_skipped(classifier, purchase)
    terms = None if costs is None and purchase.is_plain and not purchase.costs else purchase
    problem = problem_of(classifier, evidence, options)
    return ranking_of(problem, reward, costs=terms, at_least=at_least, options=options)


def _rank_objects(
    case: StructuredCase, reward: Criterion | Sequence[Criterion] | None, at_least: float, options: Options
) -> ObservationRanking:
    """The open attributes of a structured case, valued one by one."""
    wanted = SameDecisionGain() if reward is None else reward
    criteria = tuple(wanted) if isinstance(wanted, Sequence) else (wanted,)
    values = {
        name: tuple(value_of_objects(case, [name], each, options) for each in criteria)
        for name in case.open_terms
    }
    names = sorted(values, key=lambda name: -round(values[name][0].value, 12))
    return ObservationRanking(
        tuple(each.name for each in criteria),
        tuple(names),
        tuple(values[name] for name in names),
        (1.0,) * len(names),
        (None,) * len(names),
        at_least,
    )


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
    information = {test: rows.information([test]) for test in tests}
    try:
        with portion(FOR_NOW):
            now = _now(problem, criteria, options)
        with portion(FOR_SINGLES):
            singles = {} if now is None else single_agreements_of(problem, problem.decider, options)
    except LimitError as error:
        raise LimitError(f"{error}; or rank by what posteriors tell (reward=NegativeEntropy())") from None
    rows = replace(rows, now=now, singles=singles)
    values = {test: rows.values([test]) for test in tests}
    prices = {test: price_after(catalogue, 0, test) for test in tests}

    def order(test: int) -> tuple[float, float, int]:
        worth = _told_value(values[test][0])
        if per_cost:
            worth = divide_by_cost(worth, prices[test])
        # Values a rounding error apart are ties.
        return -round(worth, 12), -round(information[test], 12), test

    tests.sort(key=order)
    gains = at_least is None or any(values[test][0].high > NO_VALUE for test in tests)
    offers = [catalogue.offers[test] for test in tests]
    done = () if at_least is None else _chances_done(problem, [o.features for o in offers], at_least, options)
    return ObservationRanking(
        tuple(each.name for each in criteria),
        tuple(offer.name for offer in offers),
        tuple(values[test] for test in tests),
        tuple(prices[test] for test in tests),
        done,
        at_least,
        None if gains else settle(_bundles(rows, sorted(tests, key=lambda test: -information[test]))).last,
    )


def _told_value(gain: Measurement) -> float:
    """A gain to rank by: intervals that hold 0 tell it in whole half-widths, so small ones tie."""
    reach = (gain.high - gain.low) / 2
    if gain.certainty is Certainty.EXACT or gain.low > NO_VALUE or reach <= NO_VALUE:
        return gain.value
    return round(gain.value / reach) * reach


def divide_by_cost(value: float, price: float) -> float:
    """Value per cost; what gains for nothing is worth infinitely much."""
    if price > 0:
        return value / price
    return math.inf if value > NO_VALUE else value


@dataclass(frozen=True, slots=True)
class _Rows:
    """How tests are valued, alone or together."""

    problem: Problem
    catalogue: Catalogue
    criteria: tuple[Criterion, ...]
    now: Measurement | None
    """The same-decision probability now, once for all tests; None when no criterion asks for it."""
    singles: Mapping[int, Measurement]
    """The expected one after each single feature, all found together; empty where it is not asked for."""
    options: Options
    _masses: dict[frozenset[int], Floats] = field(default_factory=dict)

    def features(self, tests: Iterable[int]) -> frozenset[int]:
        """The features that tests tell."""
        return frozenset(f for test in tests for f in self.catalogue.offers[test].features)

    def values(self, tests: Sequence[int]) -> tuple[Measurement, ...]:
        """The value of tests by each criterion."""
        return tuple(self.value(tests, criterion) for criterion in self.criteria)

    def value(self, tests: Sequence[int], criterion: Criterion) -> Measurement:
        """The value of tests by one criterion."""
        if isinstance(criterion, SameDecisionGain) and self.now is not None:
            return gain_between(self.now, self._after(self.features(tests)))
        started, kept = time.perf_counter(), self.features(tests)
        if isinstance(criterion, SameDecisionGain):
            return value_at(self.problem, kept, criterion, self.options)
        return reward_gain(self.problem, self._class_mass(kept), criterion, started)

    def _class_mass(self, kept: frozenset[int]) -> Floats:
        """The masses of the classes for each instantiation of features; those of small tables are kept."""
        if kept in self._masses:
            return self._masses[kept]
        found = class_mass_of(self.problem, kept)
        if found.size <= MOST_KEPT:
            self._masses[kept] = found
        return found

    def _after(self, kept: frozenset[int]) -> Measurement:
        """The expected same-decision probability once features are known."""
        if len(kept) == 1 and self.singles:
            return self.singles[next(iter(kept))]
        tick(what="the ranking")  # an estimate would be made on the reserve, test after test
        return agreement_of(self.problem, kept, self.problem.decider, self.options)

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


def _chances_done(
    problem: Problem, tests: Sequence[Sequence[int]], at_least: float, options: Options
) -> tuple[float | None, ...]:
    """The chance of each test to settle the decision, the best tests first; None where no engine tells."""
    found: list[float | None] = []

    def chances() -> Iterator[int]:
        yield 0
        for features in tests:
            found.append(_chance_done(problem, frozenset(features), at_least, options))
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
