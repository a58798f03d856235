"""From a purchase, which speaks of names, to the catalogue of a problem, which speaks of positions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from unswayed.core.errors import QueryError
from unswayed.core.names import unknown_name
from unswayed.decisions.catalogue import Catalogue, Condition, Offer
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem
from unswayed.decisions.purchase import PriceAfter, Purchase, SetUp


def leave_out_skipped(classifier: Classifier, purchase: Purchase) -> tuple[Classifier, Purchase]:
    """Classifier and purchase without the tests that cannot be done, as if these did not exist."""
    if not purchase.skipped:
        return classifier, purchase
    tests = _Tests(purchase, classifier.features)
    gone = {tests.owner(name, "among the skipped tests") for name in purchase.skipped}
    lost = {feature for name in gone for feature in tests.features(name)}
    left = [name for name in classifier.features if name not in lost]
    names = gone | lost
    for name, others in purchase.needs.items():
        missing = [other for other in others if other in names]
        if missing and name not in names:
            raise QueryError(f"{name!r} needs {missing[0]!r}, which is skipped; skip {name!r} too")
    fewer = replace(
        purchase,
        costs={name: cost for name, cost in purchase.costs.items() if name not in names},
        groups={name: group for name, group in purchase.groups.items() if name not in names},
        set_ups={
            name: SetUp(each.cost, tuple(test for test in each.tests if test not in names))
            for name, each in purchase.set_ups.items()
        },
        after=tuple(each for each in purchase.after if each.test not in names and each.given not in names),
        needs={name: others for name, others in purchase.needs.items() if name not in names},
        mandatory=tuple(name for name in purchase.mandatory if name not in names),
        forbidden=tuple(name for name in purchase.forbidden if name not in names),
        skipped=(),
    )
    rule, given = classifier.rule, classifier.given
    return Classifier(classifier.network, classifier.target, left, rule, given=given), fewer


def bind_purchase(purchase: Purchase, problem: Problem) -> Catalogue:
    """The tests that may be bought for a problem; `QueryError` when the purchase does not fit it.

    A test is done when all its features are part of the evidence; a set-up cost is paid when one of them is.
    Skipped tests must be left out before.
    """
    tests = _Tests(purchase, problem.classifier.features)
    unseen = _unseen(tests, problem)
    forbidden = {tests.owner(name, "among the forbidden tests") for name in purchase.forbidden}
    needs = _needs(tests, unseen, forbidden)
    names = [name for name in unseen if name not in forbidden]
    mandatory = _with_needed(
        {tests.owner(name, "among the mandatory tests") for name in purchase.mandatory}, needs
    )
    binding = _Binding(tests, problem, unseen, {name: place for place, name in enumerate(names)})
    return Catalogue(
        tuple(_offer(binding, name, needs[name]) for name in names),
        binding.bits(mandatory),
        _set_ups(binding),
    )


@dataclass(frozen=True, slots=True)
class _Tests:
    """The tests of a purchase over some features."""

    purchase: Purchase
    known: tuple[str, ...]

    def __post_init__(self) -> None:
        for name, features in self.purchase.groups.items():
            if name in self.known and features != (name,):
                raise QueryError(f"the group {name!r} has the name of a feature; call it something else")
            for feature in features:
                if feature not in self.known:
                    hint = unknown_name("feature", feature, self.known)
                    raise QueryError(f"in the group {name!r}: {hint}")
        for name in self.purchase.costs:
            self.owner(name, f"a cost is given for {name!r}")

    def owner(self, name: str, where: str) -> str:
        """The test that a name stands for: a group, a feature by itself, or the group of a feature."""
        if name in self.purchase.groups:
            return name
        if name not in self.known:
            kind = "test" if self.purchase.groups else "feature"
            names = (*self.known, *self.purchase.groups)
            raise QueryError(f"{where}: {unknown_name(kind, name, names)}")
        groups = self.purchase.groups.items()
        return next((group for group, features in groups if name in features), name)

    def features(self, test: str) -> tuple[str, ...]:
        """The features of a test."""
        return self.purchase.groups.get(test, (test,))

    def all(self) -> list[str]:
        """Every test, in the order of the features."""
        return list(dict.fromkeys(self.owner(feature, "a test") for feature in self.known))


@dataclass(frozen=True, slots=True)
class _Binding:
    """The tests of a purchase with what a problem says of them."""

    tests: _Tests
    problem: Problem
    unseen: Mapping[str, tuple[int, ...]]
    """Positions of the features not known yet, for each test that has some."""
    place: Mapping[str, int]
    """Position of each test that may be bought."""

    def bits(self, names: Iterable[str]) -> int:
        """A set of tests as bits, those left out that are done or forbidden."""
        return sum(1 << self.place[name] for name in set(names) if name in self.place)

    def is_known(self, feature: str) -> bool:
        """Whether a feature is part of the evidence."""
        return self.problem.network.index(feature) in self.problem.evidence


def _unseen(tests: _Tests, problem: Problem) -> dict[str, tuple[int, ...]]:
    """The tests that are of use, with the positions of their features not known yet.

    A test whose features have one state each tells nothing. It is of use only where it must be done, or where
    others need it or are priced after it.
    """
    purchase, index = tests.purchase, problem.network.index
    others = (*itertools.chain(*purchase.needs.values()), *(each.given for each in purchase.after))
    named = [*purchase.mandatory, *(name for name in others if name in (*tests.known, *purchase.groups))]
    wanted = {tests.owner(name, "among the mandatory tests") for name in named}
    left = {
        test: tuple(p for p in map(index, tests.features(test)) if p not in problem.evidence)
        for test in tests.all()
    }
    return {
        test: positions
        for test, positions in left.items()
        if positions and (test in wanted or math.prod(problem.sizes(positions)) > 1)
    }


def _needs(tests: _Tests, unseen: Iterable[str], forbidden: set[str]) -> dict[str, frozenset[str]]:
    """For each test, the tests not done yet that must come before it; `QueryError` when that cannot be."""
    needs: dict[str, set[str]] = {name: set() for name in unseen}
    for name, others in tests.purchase.needs.items():
        owner = tests.owner(name, "among the needs")
        needed = {tests.owner(other, f"among what {name!r} needs") for other in others}
        if owner in needs:
            needs[owner] |= needed & needs.keys()
    for name in needs:
        if name not in forbidden:
            _check_needs(name, needs, forbidden)
    return {name: frozenset(each) for name, each in needs.items()}


def _check_needs(name: str, needs: Mapping[str, set[str]], forbidden: set[str]) -> None:
    """`QueryError` when a test waits for itself, or for one that is never done."""
    found = _with_needed(needs[name], needs)
    if name in found:
        raise QueryError(f"the test {name!r} needs itself, by what it needs; break the circle")
    if missing := sorted(found & forbidden):
        raise QueryError(
            f"the test {name!r} needs {missing[0]!r}, which is forbidden; forbid {name!r} too, or allow "
            f"{missing[0]!r}"
        )


def _with_needed(names: Iterable[str], needs: Mapping[str, Iterable[str]]) -> set[str]:
    """The tests, and all that they need."""
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= set(needs.get(name, ())) - found
    return found


def _offer(binding: _Binding, name: str, needs: Iterable[str]) -> Offer:
    purchase = binding.tests.purchase
    price, conditions = purchase.costs.get(name, purchase.default), []
    for each in purchase.after:
        if binding.tests.owner(each.test, "among the prices") != name:
            continue
        if _holds(each, binding):
            price = each.cost
            break
        condition = _condition(each, binding)
        if condition is not None:
            conditions.append(condition)
    return Offer(name, binding.unseen[name], float(price), binding.bits(needs), tuple(conditions))


def _holds(price: PriceAfter, binding: _Binding) -> bool:
    """Whether the evidence alone makes a conditional price hold."""
    network = binding.problem.network
    if price.given in network.names:
        position = network.index(price.given)
        state = binding.problem.evidence.get(position)
        return state is not None and price.state in (None, network.variables[position].states[state])
    if price.state is not None:
        raise QueryError(
            f"the price of {price.test!r} names a state of the group {price.given!r}; name a feature of it"
        )
    owner = binding.tests.owner(price.given, "among the prices")
    return all(map(binding.is_known, binding.tests.features(owner)))


def _condition(price: PriceAfter, binding: _Binding) -> Condition | None:
    """A conditional price that does not hold yet; None where it never will."""
    network, tests = binding.problem.network, binding.tests
    wanted = None
    if price.given in network.names:
        variable = network.variable(price.given)
        state = None if price.state is None else variable.index(price.state)
        wanted = state if len(variable) > 1 else None  # a state that is the only one is no condition
        if binding.is_known(price.given) or price.given not in tests.known:
            return None
    owner = tests.owner(price.given, "among the prices")
    if owner not in binding.place:
        return None
    if wanted is None:
        return Condition(binding.place[owner], None, price.cost)
    features = binding.unseen[owner]
    states = np.indices(binding.problem.sizes(features)).reshape(len(features), -1)
    matching = np.flatnonzero(states[features.index(network.index(price.given))] == wanted)
    return Condition(binding.place[owner], frozenset(matching.tolist()), price.cost)


def _set_ups(binding: _Binding) -> tuple[tuple[float, int], ...]:
    """The set-up costs that no evidence has paid, with the bits of their tests."""
    tests, found = binding.tests, []
    for name, set_up in tests.purchase.set_ups.items():
        owners = [tests.owner(each, f"in the set-up {name!r}") for each in set_up.tests]
        paid = any(binding.is_known(feature) for owner in owners for feature in tests.features(owner))
        bits = binding.bits(owners)
        if bits and not paid and set_up.cost > 0:
            found.append((float(set_up.cost), bits))
    return tuple(found)
