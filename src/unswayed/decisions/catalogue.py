"""A purchase bound to a problem: tests by position, and what each costs once others are done.

What is done is a set of tests, written as bits of a number: bit t stands for `offers[t]`. Everything but the
conditional prices depends on that set alone, so plans and searches look it up in one table. `binding.py`
makes catalogues.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Bools, Floats
from unswayed.core.errors import QueryError
from unswayed.core.names import listing


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
    """What some tests cost together, conditional prices aside."""
    chosen = set(tests)
    shared = (cost for cost, bits in catalogue.set_ups if any(bits >> test & 1 for test in chosen))
    return math.fsum([*(catalogue.offers[test].price for test in sorted(chosen)), *shared])


def least_price(offer: Offer) -> float:
    """The lowest price that a test can have, set-up costs aside."""
    return min([offer.price, *(each.price for each in offer.conditions)])


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


def check_no_conditions(catalogue: Catalogue, what: str) -> None:
    """`QueryError` where prices depend on the order of tests, which `what` cannot take into account."""
    if catalogue.has_conditions:
        names = [offer.name for offer in catalogue.offers if offer.conditions]
        raise QueryError(
            f"the price of {listing(names)} depends on what is done before, and {what} cannot take an order "
            "into account; leave out these prices, or plan by expected cost"
        )
