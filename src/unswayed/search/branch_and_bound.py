"""The best subset by branch and bound, with a certified gap at any moment [choi2018, Algorithm 1].

Two searches do the same: node by node with numpy, for whatever is sought (`node_search.py`), and compiled,
over one signed column, where the decisions are two (`signed_search.py`). Loading the compiled one takes
longer than a small search, so small ones start without it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache

from unswayed.kernels.subset_search import is_compiled
from unswayed.search.node_search import search_nodes
from unswayed.search.progress import Found, Incumbent, Task
from unswayed.search.signed_ground import signed_column
from unswayed.search.signed_search import search_signed

LARGE = 2**18
"""Cells of a table that is worth the compiled search at once."""
PATIENCE = 0.15
"""Seconds that a process spends on searches without it before loading it, which takes several times that."""


def branch_and_bound(task: Task) -> Found:
    """The best subset within the budget, proven, or the best so far with its bound when time runs out."""
    incumbent = Incumbent(task)
    incumbent.offer_nothing()
    incumbent.bound = task.lens.ceiling(task.root.table)
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
    if len(column) < LARGE and not is_compiled():
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
