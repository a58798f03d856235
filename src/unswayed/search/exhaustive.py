"""Every subset within the budget, valued one after another: what the other searches must equal."""

from __future__ import annotations

import time

from unswayed.search.lattice import Node, drop
from unswayed.search.task import Found, Incumbent, Task


def exhaustive(task: Task) -> Found:
    """The best of all subsets within the budget.

    Features are decided one after another, the cheapest last. A branch that keeps more than the budget
    allows holds no subset within it and is not entered.
    """
    incumbent = Incumbent(task)
    incumbent.offer_nothing()
    incumbent.bound = task.objective.ceiling(task.root.table)
    order = sorted(task.root.features, key=lambda f: (-task.costs[f], f))
    try:
        if _visit(task, task.root, order, (), incumbent):
            incumbent.bound = incumbent.value
    except KeyboardInterrupt:
        incumbent.stopped = True
    return incumbent.found()


def _visit(task: Task, node: Node, undecided: list[int], kept: tuple[int, ...], incumbent: Incumbent) -> bool:
    """Value every affordable subset of the node that has what is kept; False when time ran out."""
    if time.monotonic() > task.deadline:
        return False
    incumbent.tell()
    if not undecided:
        incumbent.evaluations += 1
        incumbent.offer(kept, task.objective.value(node.table))
        return True
    first, rest = undecided[0], undecided[1:]
    complete = _visit(task, drop(node, first, task.sizes), rest, kept, incumbent)
    if task.affordable(task.cost((*kept, first))):
        complete = _visit(task, node, rest, (*kept, first), incumbent) and complete
    return complete
