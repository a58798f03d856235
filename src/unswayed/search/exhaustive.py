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
    for _ in _visit(task, task.root, order, (), incumbent):
        yield incumbent.found()
    incumbent.bound = incumbent.value
    yield incumbent.found()


def _visit(
    task: Task, node: Node, undecided: list[int], kept: tuple[int, ...], incumbent: Incumbent
) -> Iterator[None]:
    """Value every affordable subset of the node that has what is kept."""
    if not undecided:
        incumbent.evaluations += 1
        incumbent.offer(kept, task.objective.value(node.table))
        yield
        return
    first, rest = undecided[0], undecided[1:]
    tick(units_of_pass(node), "the search")
    yield from _visit(task, drop(node, first, task.sizes), rest, kept, incumbent)
    if task.affordable(task.cost((*kept, first))):
        yield from _visit(task, node, rest, (*kept, first), incumbent)
