"""The best set of tests under a purchase: groups, set-up costs, precedence, mandatory and forbidden tests.

The search decides tests, not features: it drops or keeps all features of a group at once. A set of tests may
be chosen when it holds the mandatory tests and whatever its members need, and when its prices and the set-up
costs that it touches are within the budget. Everything else is as in `branch_and_bound.py`: the ceiling of
what is still allowed bounds every set below, and the cost of what is kept only grows: the answer is proven.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from unswayed.core.errors import QueryError
from unswayed.decisions.catalogue import Catalogue, cost_together
from unswayed.search.lattice import Node, drop, keep_only
from unswayed.search.task import Found, Incumbent, Task


@dataclass(frozen=True, slots=True, eq=False)
class _OpenSet:
    """Sets of tests still to be searched: those between `kept` and `allowed`."""

    node: Node
    """The features of the allowed tests, with their masses."""
    ceiling: float
    allowed: int
    """Bits of the tests that are not dropped."""
    kept: int
    """Bits of the tests that must be kept."""
    depth: int
    """How many tests are decided, in the order of the search."""
    is_new: bool
    """Whether the allowed tests have not been valued together yet."""


def search_purchase(task: Task) -> Found:
    """The best set of tests within the budget, proven, or the best so far with its bound."""
    catalogue = task.catalogue
    assert catalogue is not None
    if not task.affordable(cost_together(catalogue, _tests(catalogue.mandatory))):
        raise QueryError("the mandatory tests alone exceed the budget; raise it")
    everything = (1 << len(catalogue.offers)) - 1
    features = {f for offer in catalogue.offers for f in offer.features}
    root = keep_only(task.root, frozenset(features), task.sizes)
    incumbent = Incumbent(task)
    ceiling = task.objective.ceiling(root.table)
    start = _OpenSet(root, ceiling, everything, catalogue.mandatory, 0, is_new=True)
    _offer(task, catalogue, catalogue.mandatory, root, incumbent)
    incumbent.bound = ceiling
    _search(task, start, _by_harm(task, catalogue, root), incumbent)
    return incumbent.found()


def _search(task: Task, start: _OpenSet, order: list[int], incumbent: Incumbent) -> None:
    """Improve the incumbent to the best set, and its bound to what is proven of it."""
    waiting = [start]
    entry = start
    try:
        while waiting and time.monotonic() <= task.deadline:
            incumbent.tell()
            entry = waiting.pop()
            if incumbent.is_beaten(entry.ceiling, _features(task, entry.kept)):
                waiting.extend(_children(task, entry, order, incumbent))
    except KeyboardInterrupt:
        incumbent.stopped = True
        waiting.append(entry)
    left = max((each.ceiling for each in waiting), default=incumbent.value)
    incumbent.bound = min(incumbent.bound, max(left, incumbent.value))


def _children(task: Task, entry: _OpenSet, order: list[int], incumbent: Incumbent) -> list[_OpenSet]:
    """What is left to search below sets of tests; the ones to search first come last."""
    catalogue = task.catalogue
    assert catalogue is not None
    if entry.is_new:
        _offer(task, catalogue, entry.allowed, entry.node, incumbent)
    while entry.depth < len(order) and not _is_open(entry, order[entry.depth]):
        entry = _decided(entry)
    if entry.depth == len(order):
        return []
    test = order[entry.depth]
    children = []
    kept = _with_needs(catalogue, entry.kept | 1 << test)
    if not kept & ~entry.allowed and task.affordable(cost_together(catalogue, _tests(kept))):
        children.append(replace(_decided(entry), kept=kept))
    allowed = _without(catalogue, entry.allowed, test)
    if not entry.kept & ~allowed:
        node = entry.node
        for gone in _tests(entry.allowed & ~allowed):
            for feature in catalogue.offers[gone].features:
                node = drop(node, feature, task.sizes)
        incumbent.evaluations += 1
        ceiling = min(task.objective.ceiling(node.table), entry.ceiling)
        if incumbent.is_beaten(ceiling, _features(task, entry.kept)):
            children.append(_OpenSet(node, ceiling, allowed, entry.kept, entry.depth + 1, is_new=True))
    return children


def _is_open(entry: _OpenSet, test: int) -> bool:
    """Whether a test is neither kept nor dropped yet."""
    return bool(entry.allowed >> test & 1) and not entry.kept >> test & 1


def _decided(entry: _OpenSet) -> _OpenSet:
    """The same sets, one test further in the order."""
    return replace(entry, depth=entry.depth + 1, is_new=False)


def _offer(task: Task, catalogue: Catalogue, tests: int, node: Node, incumbent: Incumbent) -> None:
    """Value a set of tests where the budget allows it; `node` holds their features, and perhaps others."""
    if not task.affordable(cost_together(catalogue, _tests(tests))):
        return
    features = _features(task, tests)
    incumbent.evaluations += 1
    incumbent.offer(features, task.objective.value(keep_only(node, features, task.sizes).table))


def _by_harm(task: Task, catalogue: Catalogue, root: Node) -> list[int]:
    """The tests sorted by the ceiling that is left when each is dropped, the most harmful first."""
    left = {}
    for test, offer in enumerate(catalogue.offers):
        node = root
        for feature in offer.features:
            node = drop(node, feature, task.sizes)
        left[test] = task.objective.ceiling(node.table)
    return sorted(left, key=lambda test: (round(left[test], 12), catalogue.offers[test].price, test))


def _with_needs(catalogue: Catalogue, tests: int) -> int:
    """A set of tests, and all that they need."""
    while True:
        needed = tests
        for test in _tests(tests):
            needed |= catalogue.offers[test].needs
        if needed == tests:
            return tests
        tests = needed


def _without(catalogue: Catalogue, allowed: int, test: int) -> int:
    """The allowed tests without one, and without those that need it."""
    allowed &= ~(1 << test)
    while True:
        left = sum(1 << each for each in _tests(allowed) if not catalogue.offers[each].needs & ~allowed)
        if left == allowed:
            return allowed
        allowed = left


def _features(task: Task, tests: int) -> frozenset[int]:
    assert task.catalogue is not None
    return frozenset(f for test in _tests(tests) for f in task.catalogue.offers[test].features)


def _tests(bits: int) -> list[int]:
    return [test for test in range(bits.bit_length()) if bits >> test & 1]
