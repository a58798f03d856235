"""Every subset within the budget, valued one after another: what the other searches must equal."""

from __future__ import annotations

from collections.abc import Iterator

from unswayed.core.anytime import tick
from unswayed.search.lattice import Node, drop
from unswayed.search.task import Found, Incumbent, Task, units_of_pass


def exhaustive(task: Task) -> Iterator[Found]:
    """The best of all subsets within the budget.

    Features are decided one after another, the cheapest last. A branch that keeps more than the budget
    allows holds no subset within it and is not entered.
    """
    incumbent = Incumbent(task)
    incumbent.offer_nothing()
    incumbent.bound = task.objective.ceiling(task.root.table)
    yield incumbent.found()
    order = sorted(task.root.features, key=lambda f: (-task.costs[f], f))
    waiting: list[tuple[Node, int, tuple[int, ...]]] = [(task.root, 0, ())]
    while waiting:
        node, depth, kept = waiting.pop()
        if depth == len(order):
            incumbent.evaluations += 1
            incumbent.offer(kept, task.objective.value(node.table))
            yield incumbent.found()
            continue
        tick(units_of_pass(node), "the search")
        more = (*kept, order[depth])
        if task.affordable(task.cost(more)):
            waiting.append((node, depth + 1, more))
        waiting.append((drop(node, order[depth], task.sizes), depth + 1, kept))
    incumbent.bound = incumbent.value
    yield incumbent.found()
