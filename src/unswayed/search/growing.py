"""Depth-first search by adding features, with values and ceilings asked for subset by subset.

This is the shape of the first exact search for the expected same-decision probability, made for naive Bayes
(MAXDR [chen2015], as described in [choi2017, section 6]): features are taken or left in
a fixed order, every subset within the budget is valued from scratch, and a branch is left when all it can
still take could not beat the best subset known. It knows no tables, and so shares nothing between subsets:
a baseline for the searches that do.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Protocol

from unswayed.search.progress import SLACK, Found, Incumbent, Task


class Asked(Protocol):
    """Answers about one subset of features after another."""

    def value(self, kept: frozenset[int]) -> float:
        """How good the subset is."""

    def ceiling(self, kept: frozenset[int]) -> float:
        """What no part of the subset exceeds."""


@dataclass(frozen=True, slots=True)
class _Branch:
    """Features taken, and how many in the order are decided."""

    taken: frozenset[int]
    depth: int
    ceiling: float


def growing(task: Task, asked: Asked) -> Found:
    """The best subset within the budget, proven, or the best so far with its bound when time runs out."""
    incumbent = Incumbent(task)
    everything = frozenset(task.root.features)
    waiting = [_Branch(frozenset(), 0, math.inf)]
    try:
        incumbent.offer((), asked.value(frozenset()))
        order = _by_value(task, asked, incumbent)
        waiting = [_Branch(frozenset(), 0, asked.ceiling(everything))]
        while waiting and time.monotonic() <= task.deadline:
            incumbent.bound = max(branch.ceiling for branch in waiting)
            incumbent.tell()
            _open(task, asked, order, (waiting, incumbent))
    except KeyboardInterrupt:
        incumbent.stopped = True
    incumbent.bound = max((branch.ceiling for branch in waiting), default=-math.inf)
    return incumbent.found()


def _by_value(task: Task, asked: Asked, incumbent: Incumbent) -> list[int]:
    """The affordable features, the best on their own first; ties by name."""
    alone = {f: asked.value(frozenset({f})) for f in task.root.features if task.affordable(task.costs[f])}
    for feature, value in alone.items():
        incumbent.evaluations += 1
        incumbent.offer((feature,), value)
    return sorted(alone, key=lambda f: (-round(alone[f], 12), task.names[f]))


def _open(task: Task, asked: Asked, order: list[int], state: tuple[list[_Branch], Incumbent]) -> None:
    """Decide the next feature of the last branch waiting: leave it, or take it if the budget allows."""
    waiting, incumbent = state
    branch = waiting[-1]
    if branch.ceiling <= incumbent.value + SLACK or branch.depth == len(order):
        waiting.pop()
        return
    feature, later = order[branch.depth], frozenset(order[branch.depth + 1 :])
    without = asked.ceiling(branch.taken | later)
    taken = branch.taken | {feature}
    children = [_Branch(branch.taken, branch.depth + 1, min(without, branch.ceiling))]
    incumbent.evaluations += 1
    if task.affordable(task.cost(taken)):
        if len(taken) > 1:
            incumbent.evaluations += 1
            incumbent.offer(taken, asked.value(taken))
        children.append(_Branch(taken, branch.depth + 1, branch.ceiling))
    # Only now, so that an interruption before leaves the branch itself waiting.
    waiting[-1:] = children
