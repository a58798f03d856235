"""Every subset within the budget, valued one after another: what the other searches must equal."""

from __future__ import annotations

import time

from holdfast.search.lattice import Node, drop
from holdfast.search.progress import Found, Incumbent, Task


def exhaustive(task: Task) -> Found:
    """The best of all subsets within the budget."""
    incumbent = Incumbent(task)
    incumbent.offer_nothing()
    ceiling = task.lens.ceiling(task.root.table)
    try:
        complete = _visit(task, task.root, 0, incumbent)
    except KeyboardInterrupt:
        complete, incumbent.stopped = False, True
    bound = incumbent.value if complete else ceiling
    return Found(incumbent.kept, incumbent.value, bound, incumbent.evaluations, incumbent.stopped)


def _visit(task: Task, node: Node, depth: int, incumbent: Incumbent) -> bool:
    """Value the node and all it can become by dropping features from `depth` on; False when time ran out."""
    if time.monotonic() > task.deadline:
        return False
    if task.affordable(task.cost(node.features)):
        incumbent.evaluations += 1
        incumbent.offer(node.features, task.lens.value(node.table))
    incumbent.tell(float("inf"))
    complete = True
    for later in range(depth, len(task.root.features)):
        smaller = drop(node, task.root.features[later], task.sizes)
        complete = _visit(task, smaller, later + 1, incumbent) and complete
    return complete
