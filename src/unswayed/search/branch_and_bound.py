"""The best subset by branch and bound, with a certified gap at any moment [choi2018, Algorithm 1].

A node allows a set of features, of which some are forced in. Its ceiling bounds every subset within it;
when the ceiling does not exceed the best subset known, the node is left. Features are taken in order of
how much dropping them hurts, the worst first, and dropping is tried before forcing in: where it hurts too
much the feature is forced in at once, and the budget soon leaves no choice. A good subset is needed early: it
comes from the same search among the features that hurt most.

Two searches do the same: node by node with numpy, for any objective (`search_nodes`), and compiled, over
one signed column, where there are two decisions (`signed/slices.py`). Loading the compiled one takes longer
than a small search, so small ones start without it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache

from unswayed.kernels.subset_search import compiled_advance
from unswayed.search.lattice import Node, drop, keep_only, reordered
from unswayed.search.signed.ground import signed_column
from unswayed.search.signed.slices import search_signed
from unswayed.search.task import Found, Incumbent, Task, most_harmful, order_by_harm

LARGE = 2**18
"""Cells of a table that is worth the compiled search at once."""
PATIENCE = 0.15
"""Seconds that a process spends on searches without it before loading it, which takes several times that."""


def branch_and_bound(task: Task) -> Found:
    """The best subset within the budget, proven, or the best so far with its bound when time runs out."""
    incumbent = Incumbent(task)
    incumbent.offer_nothing()
    incumbent.bound = task.objective.ceiling(task.root.table)
    try:
        _search(task, incumbent)
    except KeyboardInterrupt:
        incumbent.stopped = True
    return incumbent.found()


def _search(task: Task, incumbent: Incumbent) -> None:
    column = signed_column(task)
    if column is None:
        search_nodes(task, incumbent)
        return
    if len(column) < LARGE and not compiled_advance.is_loaded:
        started = time.monotonic()
        patience = started + PATIENCE - _spent()[0]
        search_nodes(replace(task, deadline=min(task.deadline, patience)), incumbent)
        _spent()[0] += time.monotonic() - started
        if incumbent.stopped or incumbent.found().optimal or time.monotonic() > task.deadline:
            return
    search_signed(task, column, incumbent)


@cache
def _spent() -> list[float]:
    """Seconds that this process has spent on searches that could have been compiled."""
    return [0.0]


@dataclass(frozen=True, slots=True, eq=False)
class _OpenNode:
    """A node still to be searched."""

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
        _search_below(replace(task, root=root), few, incumbent)
    incumbent.bound = min(incumbent.bound, _search_below(task, order, incumbent))


def _search_below(task: Task, order: list[int], incumbent: Incumbent) -> float:
    """Search the subsets of the task's root; returns an upper bound on every subset not yet valued."""
    waiting = [_OpenNode(task.root, task.objective.ceiling(task.root.table), 0, (), is_new=True)]
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


def _children(task: Task, order: list[int], entry: _OpenNode, incumbent: Incumbent) -> list[_OpenNode]:
    """What is left to search under a node; the one to search first comes last."""
    if entry.is_new and task.affordable(task.cost(entry.node.features)):
        value = entry.ceiling if task.objective.monotone else task.objective.value(entry.node.table)
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
    ceiling = min(task.objective.ceiling(smaller.table), entry.ceiling)
    incumbent.evaluations += 1
    if incumbent.is_beaten(ceiling, entry.forced):
        children.append(_OpenNode(smaller, ceiling, entry.depth + 1, entry.forced, is_new=True))
    return children


def _by_harm(task: Task) -> list[int]:
    """The features in the order of the search."""
    left = {f: task.objective.ceiling(drop(task.root, f, task.sizes).table) for f in task.root.features}
    return order_by_harm(task, left)
