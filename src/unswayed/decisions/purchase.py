"""What observations cost, as people really have it: one description for plans, rankings and searches.

A *test* is what can be bought: a feature by itself, or a group of features that come together, such as a
blood panel. A `Purchase` speaks of tests by name:

    costs       what each test costs; one that is not named costs `default`
    groups      features bought together, for one price
    set_ups     what is paid once, with the first of several tests: draw blood
    after       another price once something is known: a second look is cheaper
    needs       tests that must come before a test
    mandatory   tests that come first in every case
    forbidden   tests that nobody buys, although the full decision would use them
    skipped     tests that cannot be done in this case, so that no decision waits for them

Wherever a test is named, one of its features may stand for it. A test is bought once: to repeat it tells
nothing. A plain mapping of costs is the simplest purchase. `binding.py` binds a purchase to a problem, which
gives a `Catalogue`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.errors import QueryError, expect, expect_list, expect_number
from unswayed.core.names import listing, unknown_name
from unswayed.decisions.classifier import Classifier
from unswayed.model import roles


@dataclass(frozen=True, slots=True)
class SetUp:
    """A cost that several tests share: it is paid with the first of them."""

    cost: float
    """What it costs, once."""
    tests: tuple[str, ...]
    """The tests that need it."""


@dataclass(frozen=True, slots=True)
class PriceAfter:
    """What a test costs once a feature is known, or known to be in one state."""

    test: str
    """The test that is priced."""
    given: str
    """The feature, test or variable that must be known."""
    cost: float
    """The price then."""
    state: str | None = None
    """The state that `given` must have; None where any state counts."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """What can be bought, for how much, and in which order.

    >>> panel = Purchase({"blood": 7.0}, groups={"blood": ("sugar", "cholesterol")}, mandatory=("age",))
    >>> panel.groups["blood"]
    ('sugar', 'cholesterol')
    """

    costs: Mapping[str, float] = field(default_factory=dict)
    """The price of each test; `default` for tests that are not named."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The features of each group; no feature is in two."""
    set_ups: Mapping[str, SetUp] = field(default_factory=dict)
    """Costs that several tests share, by name."""
    after: tuple[PriceAfter, ...] = ()
    """Prices that depend on what is known; the first that applies to a test counts."""
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a test, the tests that must come before it."""
    mandatory: tuple[str, ...] = ()
    """Tests that come before all others, in every case."""
    forbidden: tuple[str, ...] = ()
    """Tests that are never bought; the full decision still depends on them."""
    skipped: tuple[str, ...] = ()
    """Tests that cannot be done; the full decision does without them."""
    default: float = 1.0
    """What a test costs that `costs` does not name."""

    def __post_init__(self) -> None:
        expect(self.costs, Mapping, "costs")
        for name in ("groups", "needs"):
            lists = getattr(self, name)
            expect(lists, Mapping, name)
            object.__setattr__(
                self, name, {k: expect_list(each, f"{name} of {k!r}") for k, each in lists.items()}
            )
        for name in ("after", "mandatory", "forbidden", "skipped"):
            object.__setattr__(self, name, expect_list(getattr(self, name), name))
        expect(self.set_ups, Mapping, "set_ups")
        for name, set_up in self.set_ups.items():
            expect(set_up, SetUp, f"the set-up cost {name!r}")
        for price in self.after:
            expect(price, PriceAfter, "a price after another test")
        for each in self.restricted:
            expect(each, str, "a test that is mandatory, forbidden or skipped")
        _check_prices(self)
        _check_groups(self)
        for one, other in (("mandatory", "forbidden"), ("mandatory", "skipped"), ("forbidden", "skipped")):
            both = sorted(set(getattr(self, one)) & set(getattr(self, other)))
            if both:
                raise QueryError(f"{listing(both)} cannot be {one} and {other} at once; choose one")

    @property
    def is_plain(self) -> bool:
        """Whether it says nothing but what each feature costs."""
        return not (self.groups or self.set_ups or self.after or self.needs or self.restricted)

    @property
    def restricted(self) -> tuple[str, ...]:
        """The tests that are mandatory, forbidden or skipped."""
        return (*self.mandatory, *self.forbidden, *self.skipped)


Costs = Mapping[str, float] | Purchase
"""Costs as every verb takes them: by feature, or a whole description."""


def purchase_of(costs: Costs | None) -> Purchase:
    """The description that costs stand for; without costs, every test costs 1."""
    if isinstance(costs, Purchase):
        return costs
    expect(costs, (Mapping, type(None)), "costs")
    return Purchase(dict(costs or {}))


def check_costs(costs: Mapping[str, float], features: Sequence[str]) -> None:
    """Raise `QueryError` for a cost of something that is no feature, or that is not positive."""
    for name, cost in costs.items():
        if name not in features:
            raise QueryError(f"a cost is given for {name!r}: {unknown_name('feature', name, features)}")
        check_cost(name, cost)


def check_cost(name: str, cost: float) -> None:
    """Raise `QueryError` unless the cost of a feature is positive and finite."""
    expect_number(cost, f"the cost of {name!r}")
    if not 0.0 < cost < math.inf:
        raise QueryError(f"the cost of {name!r} must be a positive number, not {cost!r}")


def check_budget(budget: float) -> None:
    """Raise `QueryError` unless the budget is at least 0."""
    expect_number(budget, "the budget")
    if not budget >= 0.0:
        raise QueryError(f"the budget must be at least 0, not {budget!r}")


def purchase_for(classifier: Classifier, costs: Costs | None) -> Purchase:
    """The description that costs stand for; without costs, what the network's file says of observations."""
    if costs is not None:
        return purchase_of(costs)
    network, features = classifier.network, classifier.features
    stated = roles.observation_costs(network)
    return Purchase(
        {name: cost for name, cost in stated.items() if name in features},
        mandatory=tuple(name for name in roles.mandatory_observations(network) if name in features),
    )


def _check_prices(purchase: Purchase) -> None:
    prices: list[tuple[str, float]] = [
        (f"the cost of {name!r}", cost) for name, cost in purchase.costs.items()
    ]
    prices += [(f"the set-up cost {name!r}", each.cost) for name, each in purchase.set_ups.items()]
    prices += [(f"the cost of {each.test!r} after {each.given!r}", each.cost) for each in purchase.after]
    prices.append(("the default cost", purchase.default))
    for what, price in prices:
        if not (isinstance(price, int | float | np.number) and math.isfinite(price) and price >= 0):
            raise QueryError(f"{what} must be a number, at least 0, not {price!r}")


def _check_groups(purchase: Purchase) -> None:
    owner: dict[str, str] = {}
    for name, features in purchase.groups.items():
        if not features:
            raise QueryError(f"the group {name!r} has no features; name at least one")
        for feature in features:
            if feature in owner:
                raise QueryError(
                    f"{feature!r} is in the group {owner[feature]!r} and in {name!r}; a feature has one place"
                )
            owner[feature] = name
    _refuse_prices_inside(purchase.costs, owner)


def _refuse_prices_inside(costs: Iterable[str], owner: Mapping[str, str]) -> None:
    for name in costs:
        if owner.get(name, name) != name:
            raise QueryError(
                f"a cost is given for {name!r}, which is bought with the group {owner[name]!r}; "
                "give one cost, for the group"
            )
