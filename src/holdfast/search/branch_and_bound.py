"""Depth-first branch and bound over feature subsets, with a certified gap at any moment.

A node allows a set of features, of which some are forced in. Its ceiling bounds every subset within it;
when the ceiling does not exceed the best subset known, the node is left. Features are taken in order of
how much dropping them hurts, the worst first, and dropping is tried before forcing in: where it hurts too
much the feature is forced in at once, and the budget soon leaves no choice [choi2018, Algorithm 1].

A good subset is needed early. It comes from the same search among the features that hurt most.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from holdfast.search.lattice import Node, drop, keep_only, reordered
from holdfast.search.progress import SLACK, Found, Incumbent, Task

EXTRA = 5
"""How many more of the most harmful features than the budget allows the first search is given."""


@dataclass(frozen=True, slots=True, eq=False)
class _Open:
    """A node still to be looked at."""

    node: Node
    ceiling: float
    depth: int
    """How many features are decided, in the order of the search."""
    forced: tuple[int, ...]
    """Features that must be kept."""
    is_new: bool
    """Whether its set of allowed features has not been valued yet."""


def branch_and_bound(task: Task) -> Found:
    """The best subset within the budget, proven, or the best so far with its bound when time runs out."""
    incumbent = Incumbent(task)
    incumbent.offer_nothing()
    bound = task.lens.ceiling(task.root.table)
    try:
        order = _by_harm(task)
        task = replace(task, root=reordered(task.root, order, task.sizes))
        incumbent.evaluations += len(order)
        _search_few(task, order, incumbent)
        bound = _search(task, order, incumbent)
        incumbent.kept = _without_the_useless(task, incumbent)
    except KeyboardInterrupt:
        incumbent.stopped = True
    bound = max(bound, incumbent.value)
    return Found(incumbent.kept, incumbent.value, bound, incumbent.evaluations, incumbent.stopped)


def _search_few(task: Task, order: list[int], incumbent: Incumbent) -> None:
    """Search the subsets of the most harmful features for a good incumbent."""
    few = _most_harmful(task, order)
    if len(few) < len(order):
        root = keep_only(task.root, frozenset(few), task.sizes)
        _search(replace(task, root=root), [f for f in order if f in few], incumbent)


def _search(task: Task, order: list[int], incumbent: Incumbent) -> float:
    """Search the subsets of the task's root; returns what no subset left unseen exceeds."""
    waiting = [_Open(task.root, task.lens.ceiling(task.root.table), 0, (), is_new=True)]
    entry = waiting[0]
    try:
        while waiting:
            if incumbent.stopped or time.monotonic() > task.deadline:
                break
            incumbent.tell(waiting[0].ceiling)
            entry = waiting.pop()
            if entry.ceiling > incumbent.value + SLACK:
                waiting.extend(_children(task, order, entry, incumbent))
    except KeyboardInterrupt:
        # The search among few features is followed by that among all, which is not wanted any more either.
        incumbent.stopped = True
        waiting.append(entry)
    return max((entry.ceiling for entry in waiting), default=-1.0)


def _children(task: Task, order: list[int], entry: _Open, incumbent: Incumbent) -> list[_Open]:
    """What is left to look at under a node; the one to look at first comes last."""
    if entry.is_new and task.affordable(task.cost(entry.node.features)):
        value = entry.ceiling if task.lens.monotone else task.lens.value(entry.node.table)
        incumbent.evaluations += 1
        incumbent.offer(entry.node.features, value)
        if task.lens.monotone:
            return []
    if entry.depth == len(order):
        return []
    feature = order[entry.depth]
    children = []
    forced = (*entry.forced, feature)
    if task.affordable(task.cost(forced)):
        children.append(replace(entry, depth=entry.depth + 1, forced=forced, is_new=False))
    smaller = drop(entry.node, feature, task.sizes)
    ceiling = min(task.lens.ceiling(smaller.table), entry.ceiling)
    incumbent.evaluations += 1
    if ceiling > incumbent.value + SLACK:
        children.append(_Open(smaller, ceiling, entry.depth + 1, entry.forced, is_new=True))
    return children


def _by_harm(task: Task) -> list[int]:
    """The features, those first whose loss lowers the ceiling most for what they cost; ties by name."""

    def harm(feature: int) -> float:
        return -task.lens.ceiling(drop(task.root, feature, task.sizes).table)

    ranked = {f: harm(f) for f in task.root.features}
    return sorted(task.root.features, key=lambda f: (-round(ranked[f], 12), task.costs[f], task.names[f]))


def _most_harmful(task: Task, order: list[int]) -> set[int]:
    """As many of the first features as the budget allows, and a few more."""
    few: list[int] = []
    spent = 0.0
    extra = EXTRA
    for feature in order:
        spent += task.costs[feature]
        if not task.affordable(spent):
            extra -= 1
            if extra < 0:
                break
        few.append(feature)
    return set(few)


def _without_the_useless(task: Task, incumbent: Incumbent) -> frozenset[int]:
    """The incumbent without features whose loss costs nothing: of equal subsets the cheaper one is wanted."""
    node = keep_only(task.root, incumbent.kept, task.sizes)
    for feature in sorted(incumbent.kept, key=lambda f: (-task.costs[f], task.names[f])):
        smaller = drop(node, feature, task.sizes)
        if task.lens.value(smaller.table) > incumbent.value - SLACK:
            node = smaller
    return frozenset(node.features)
