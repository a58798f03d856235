"""Greedy selection with swaps: good subsets quickly, without proof."""

from __future__ import annotations

from collections.abc import Iterator

from unswayed.core.anytime import tick
from unswayed.search.lattice import keep_only
from unswayed.search.task import SLACK, Found, Incumbent, Task, units_of_pass


def greedy(task: Task) -> Iterator[Found]:
    """Features added one by one, each the best gain for its cost, then swapped while that helps.

    The upper bound is the ceiling of all features: nothing is proven beyond it.
    """
    incumbent = Incumbent(task)
    incumbent.offer_nothing()
    incumbent.bound = task.objective.ceiling(task.root.table)
    yield incumbent.found()
    for _ in _grow_and_swap(task, incumbent):
        yield incumbent.found()


def _grow_and_swap(task: Task, incumbent: Incumbent) -> Iterator[None]:
    kept: frozenset[int] = frozenset()
    value = incumbent.value
    while fitting := [f for f in task.root.features if f not in kept and _fits(task, kept | {f})]:
        values = {}
        for feature in fitting:
            values[feature] = _offer(task, kept | {feature}, incumbent)
            yield
        best = min(fitting, key=lambda f: (-(values[f] - value) / task.costs[f], task.names[f]))
        kept, value = kept | {best}, values[best]
    improved = True
    while improved:
        improved = False
        for changed in list(_neighbours(task, kept)):
            before = incumbent.value
            if _offer(task, changed, incumbent) > before + SLACK:
                kept, improved = changed, True
            yield
            if improved:
                break


def _neighbours(task: Task, kept: frozenset[int]) -> Iterator[frozenset[int]]:
    """Subsets within the budget that have one feature in the place of another."""
    for out in sorted(kept):
        for into in task.root.features:
            changed = kept - {out} | {into}
            if into not in kept and _fits(task, changed):
                yield changed


def _fits(task: Task, kept: frozenset[int]) -> bool:
    return task.affordable(task.cost(kept))


def _offer(task: Task, kept: frozenset[int], incumbent: Incumbent) -> float:
    tick(units_of_pass(task.root), "the search")
    value = task.objective.value(keep_only(task.root, kept, task.sizes).table)
    incumbent.evaluations += 1
    incumbent.offer(kept, value)
    return value
