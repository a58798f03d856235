"""Greedy selection with swaps: good subsets quickly, without proof."""

from __future__ import annotations

import time

from unswayed.search.lattice import keep_only
from unswayed.search.task import SLACK, Found, Incumbent, Task


def greedy(task: Task) -> Found:
    """Features added one by one, each the best gain for its cost, then swapped while that helps.

    The upper bound is the ceiling of all features: nothing is proven beyond it.
    """
    incumbent = Incumbent(task)
    incumbent.offer_nothing()
    incumbent.bound = task.objective.ceiling(task.root.table)
    try:
        _swap(task, _grow(task, incumbent), incumbent)
    except KeyboardInterrupt:
        incumbent.stopped = True
    return incumbent.found()


def _offer(task: Task, kept: frozenset[int], incumbent: Incumbent) -> float:
    value = task.objective.value(keep_only(task.root, kept, task.sizes).table)
    incumbent.evaluations += 1
    incumbent.offer(kept, value)
    incumbent.tell()
    return value


def _grow(task: Task, incumbent: Incumbent) -> frozenset[int]:
    kept: frozenset[int] = frozenset()
    value = incumbent.value
    while time.monotonic() <= task.deadline:
        fitting = [f for f in task.root.features if f not in kept and task.affordable(task.cost(kept | {f}))]
        if not fitting:
            break
        values = {f: _offer(task, kept | {f}, incumbent) for f in fitting}
        best = min(fitting, key=lambda f: (-(values[f] - value) / task.costs[f], task.names[f]))
        kept, value = kept | {best}, values[best]
    return kept


def _swap(task: Task, kept: frozenset[int], incumbent: Incumbent) -> None:
    improved = True
    while improved and time.monotonic() <= task.deadline:
        improved = False
        for out in sorted(kept):
            for into in task.root.features:
                changed = kept - {out} | {into}
                if into in kept or not task.affordable(task.cost(changed)):
                    continue
                before = incumbent.value
                if _offer(task, changed, incumbent) > before + SLACK:
                    kept, improved = changed, True
                    break
            if improved:
                break
