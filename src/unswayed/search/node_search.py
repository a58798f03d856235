"""Branch and bound node by node, for any lens: what is sought, and how far it can be bounded, is asked of it.

A node allows a set of features, of which some are forced in. Its ceiling bounds every subset within it;
when the ceiling does not exceed the best subset known, the node is left. Features are taken in order of
how much dropping them hurts, the worst first, and dropping is tried before forcing in: where it hurts too
much the feature is forced in at once, and the budget soon leaves no choice [choi2018, Algorithm 1].

A good subset is needed early. It comes from the same search among the features that hurt most.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from unswayed.search.harm import in_order_of_harm, most_harmful
from unswayed.search.lattice import Node, drop, keep_only, reordered
from unswayed.search.progress import Incumbent, Task


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


def search_nodes(task: Task, incumbent: Incumbent) -> None:
    """Improve the incumbent to the best subset, and its bound to what is proven of it."""
    order = _by_harm(task)
    incumbent.evaluations += len(order)
    task = replace(task, root=reordered(task.root, order, task.sizes))
    few = most_harmful(task, order)
    if len(few) < len(order):
        root = keep_only(task.root, frozenset(few), task.sizes)
        _search(replace(task, root=root), few, incumbent)
    incumbent.bound = min(incumbent.bound, _search(task, order, incumbent))


def _search(task: Task, order: list[int], incumbent: Incumbent) -> float:
    """Search the subsets of the task's root; returns what no subset left unseen exceeds."""
    waiting = [_Open(task.root, task.lens.ceiling(task.root.table), 0, (), is_new=True)]
    entry = waiting[0]
    try:
        while waiting:
            if incumbent.stopped or time.monotonic() > task.deadline:
                break
            incumbent.tell()
            entry = waiting.pop()
            if incumbent.is_beaten(entry.ceiling, entry.forced):
                waiting.extend(_children(task, order, entry, incumbent))
    except KeyboardInterrupt:
        # The search among few features is followed by that among all, which is not wanted any more either.
        incumbent.stopped = True
        waiting.append(entry)
    return max((entry.ceiling for entry in waiting), default=incumbent.value)


def _children(task: Task, order: list[int], entry: _Open, incumbent: Incumbent) -> list[_Open]:
    """What is left to look at under a node; the one to look at first comes last."""
    if entry.is_new and task.affordable(task.cost(entry.node.features)):
        value = entry.ceiling if task.lens.monotone else task.lens.value(entry.node.table)
        incumbent.evaluations += 1
        incumbent.offer(entry.node.features, value)
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
    if incumbent.is_beaten(ceiling, entry.forced):
        children.append(_Open(smaller, ceiling, entry.depth + 1, entry.forced, is_new=True))
    return children


def _by_harm(task: Task) -> list[int]:
    """The features in the order of the search."""
    left = {f: task.lens.ceiling(drop(task.root, f, task.sizes).table) for f in task.root.features}
    return in_order_of_harm(task, left)
