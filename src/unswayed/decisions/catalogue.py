"""A purchase bound to a problem: tests by position, and what each costs once others are done.

What is done is a set of tests, written as bits of a number: bit t stands for `offers[t]`. Everything but the
conditional prices depends on that set alone, so plans and searches look it up in one table. `binding.py`
makes catalogues.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Bools, Floats
from unswayed.core.errors import QueryError
from unswayed.core.names import listing

MOST_ORDERED = 12
"""Tests whose prices depend on each other that are put in the cheapest order: 4,096 sets of them."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A price that holds once another test is done, or has come out in a certain way."""

    offer: int
    """The test that must be done."""
    outcomes: frozenset[int] | None
    """How it must have come out; None for any way."""
    price: float
    """The price then, set-up costs not counted."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A test that can be bought."""

    name: str
    """The feature's name, or the group's."""
    features: tuple[int, ...]
    """Positions of the features that it tells and that are not known yet."""
    price: float
    """What it costs, set-up costs not counted."""
    needs: int = 0
    """Bits of the tests that must come before it."""
    conditions: tuple[Condition, ...] = ()
    """Other prices; the first that holds counts."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The tests of a problem that may be bought."""

    offers: tuple[Offer, ...]
    """The tests, in the order of the classifier's features."""
    mandatory: int = 0
    """Bits of the tests that come first."""
    set_ups: tuple[tuple[float, int], ...] = ()
    """Costs still to be paid with the first of some tests, and the bits of those."""

    @property
    def has_conditions(self) -> bool:
        """Whether a price depends on what was done before, and so on the order."""
        return any(offer.conditions for offer in self.offers)


def price_after(catalogue: Catalogue, done: int, test: int) -> float:
    """What a test costs when others are done, conditional prices aside; infinite where it may not be done."""
    offer, bit = catalogue.offers[test], 1 << test
    waiting = catalogue.mandatory & ~done
    if done & bit or offer.needs & ~done or (waiting and not waiting & bit):
        return math.inf
    first = (cost for cost, tests in catalogue.set_ups if tests & bit and not tests & done)
    return offer.price + math.fsum(first)


def price_table(catalogue: Catalogue) -> Floats:  # (2^tests, tests)
    """`price_after` for every set of tests done."""
    n_tests = len(catalogue.offers)
    done = np.arange(1 << n_tests)
    table = np.empty((len(done), n_tests))
    waiting = (catalogue.mandatory & ~done) != 0
    for test, offer in enumerate(catalogue.offers):
        bit = 1 << test
        column = table[:, test]
        column[:] = offer.price
        for cost, tests in catalogue.set_ups:
            if tests & bit:
                column[(tests & done) == 0] += cost
        column[((done & bit) != 0) | ((offer.needs & ~done) != 0)] = np.inf
        if not catalogue.mandatory & bit:
            column[waiting] = np.inf
    return table


def spent_table(catalogue: Catalogue) -> Floats:  # (2^tests,)
    """What each set of tests costs together, conditional prices aside."""
    done = np.arange(1 << len(catalogue.offers))
    spent = np.zeros(len(done))
    for test, offer in enumerate(catalogue.offers):
        spent += offer.price * ((done >> test) & 1)
    for cost, tests in catalogue.set_ups:
        spent[(done & tests) != 0] += cost
    return spent


def cost_together(catalogue: Catalogue, tests: Iterable[int]) -> float:
    """What some tests cost together, done in the cheapest order; prices that depend on results aside."""
    chosen = sorted(set(tests))
    shared = (cost for cost, bits in catalogue.set_ups if any(bits >> test & 1 for test in chosen))
    ordered = _ordered_tests(catalogue, chosen) if catalogue.has_conditions else []
    prices = [catalogue.offers[test].price for test in chosen if test not in ordered]
    return math.fsum([*prices, *shared, _cheapest_order(catalogue, chosen, ordered)])


def _ordered_tests(catalogue: Catalogue, chosen: Sequence[int]) -> list[int]:
    """The chosen tests whose price depends on other chosen ones being done, and these others."""
    pairs = {
        (test, each.offer)
        for test in chosen
        for each in catalogue.offers[test].conditions
        if each.outcomes is None and each.offer in chosen
    }
    found = sorted({test for pair in pairs for test in pair})
    if len(found) > MOST_ORDERED:
        raise QueryError(
            f"the prices of {len(found)} tests depend on each other, over {MOST_ORDERED} that can be put in "
            "the cheapest order; leave out some of these prices"
        )
    return found


def _cheapest_order(catalogue: Catalogue, chosen: Sequence[int], ordered: Sequence[int]) -> float:
    """The least that some of the chosen tests cost, over all orders that are allowed."""
    before = {test: _must_precede(catalogue, chosen, test) for test in ordered}
    best = {0: 0.0}  # by the tests placed so far
    for _ in ordered:
        longer: dict[int, float] = {}
        for placed, cost in best.items():
            for test in ordered:
                waits = any(other in before[test] and not placed >> other & 1 for other in ordered)
                if not placed >> test & 1 and not waits:
                    more = placed | 1 << test
                    paid = cost + _price_behind(catalogue.offers[test], placed)
                    longer[more] = min(paid, longer.get(more, math.inf))
        best = longer
    return min(best.values())


def _must_precede(catalogue: Catalogue, chosen: Sequence[int], test: int) -> set[int]:
    """The chosen tests that come before a test in every order: what it needs, and mandatory ones."""
    found = set() if catalogue.mandatory >> test & 1 else {t for t in chosen if catalogue.mandatory >> t & 1}
    waiting = [test, *found]
    while waiting:
        needs = catalogue.offers[waiting.pop()].needs
        more = {t for t in chosen if needs >> t & 1} - found
        found |= more
        waiting += more
    return found


def _price_behind(offer: Offer, placed: int) -> float:
    """What a test costs once others are done, whatever these told."""
    holding = (each.price for each in offer.conditions if each.outcomes is None and placed >> each.offer & 1)
    return next(holding, offer.price)


def least_together(catalogue: Catalogue, tests: Iterable[int], allowed: int = -1) -> float:
    """A bound from below on what some tests cost together, or these and others among those allowed (bits)."""
    chosen = sorted(set(tests))
    shared = (cost for cost, bits in catalogue.set_ups if any(bits >> test & 1 for test in chosen))
    return math.fsum([*(least_price(catalogue.offers[test], allowed) for test in chosen), *shared])


def least_price(offer: Offer, allowed: int = -1) -> float:
    """The lowest price that a test can have once tests among those allowed are done, set-up costs aside."""
    return min([offer.price, *(each.price for each in offer.conditions if allowed >> each.offer & 1)])


def with_needs(catalogue: Catalogue, tests: int) -> int:
    """A set of tests, and all that they need."""
    while True:
        needed = tests
        for test in tests_in(tests):
            needed |= catalogue.offers[test].needs
        if needed == tests:
            return tests
        tests = needed


def tests_in(bits: int) -> list[int]:
    """The tests of a set."""
    return [test for test in range(bits.bit_length()) if bits >> test & 1]


def reachable_sets(prices: Floats) -> Bools:  # (2^tests, tests) -> (2^tests,)
    """Which sets of tests can be done one by one, each at a finite price."""
    n_tests = prices.shape[1]
    reached = np.zeros(len(prices), dtype=np.bool_)
    reached[0] = True
    for size in range(n_tests):  # a set of `size` tests is final before those with one more are marked
        sets = np.flatnonzero(reached & (np.bitwise_count(np.arange(len(prices))) == size))
        for test in range(n_tests):
            reached[sets[np.isfinite(prices[sets, test])] | (1 << test)] = True
    return reached


def check_no_results(catalogue: Catalogue) -> None:
    """`QueryError` where prices depend on what tests tell, which a set chosen beforehand does not know."""
    names = [o.name for o in catalogue.offers if any(c.outcomes is not None for c in o.conditions)]
    if names:
        raise QueryError(
            f"the price of {listing(names)} depends on what another test tells, which nobody knows when the "
            "features are chosen; leave out these prices, or make a plan"
        )
