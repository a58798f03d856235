"""The compiled search in slices: between them deadlines, Ctrl-C and progress are looked after."""

from __future__ import annotations

import time
from dataclasses import replace

from unswayed.core.arrays import Floats
from unswayed.kernels.subset_search import (
    SignedArrays,
    affordable_ceiling,
    compiled_advance,
    remaining_ceiling,
    start,
)
from unswayed.search.lattice import keep_only
from unswayed.search.signed.ground import SignedGround, signed_ground
from unswayed.search.signed.team import ROOM, WORK, search_together
from unswayed.search.signed.walk import Marginals, Walk
from unswayed.search.task import Incumbent, Task

ALONE_SECONDS = 1.0
"""How long one thread searches before others join: what takes less is not worth starting them."""
PLAIN_SECONDS = 2.0
"""How long a search goes on without compiled code where there is none yet: most are over by then."""
PLAIN_WORK = WORK // 8
"""Cells that a slice of it passes over."""


def search_signed(task: Task, column: Floats, incumbent: Incumbent) -> None:
    """Improve the incumbent to the best subset, and its bound to what is proven of it."""
    signed = signed_ground(task, column)
    incumbent.evaluations += len(signed.order)
    ground = signed.to_search(task)
    among_all = _walk(signed, ground, incumbent)
    few = signed.few_to_search(task)
    among_few = among_all if few is None else _walk(signed, few, incumbent)
    if not ground.value_is_ceiling:
        _offer_highest(among_few)
    if few is not None:
        _explore(among_few)
    incumbent.bound = min(incumbent.bound, affordable_ceiling(ground, 0.0, 0))
    _explore(among_all)


def _walk(signed: SignedGround, ground: SignedArrays, incumbent: Incumbent) -> Walk:
    task, order = incumbent.task, signed.order[: len(ground.features) - 1]
    is_part = len(order) < len(signed.order) and not ground.value_is_ceiling
    root = keep_only(task.root, frozenset(order), task.sizes) if is_part else task.root
    return Walk(signed, ground, Marginals(task, root, order), incumbent)


def _offer_highest(walk: Walk) -> None:
    """Offer the subset of the highest ceiling: where values are near their ceilings, hardly any is better.

    Without it every subset within the budget that the search comes to is valued for a start.
    """
    incumbent, task = walk.incumbent, walk.incumbent.task
    # What it reports of ceilings would be taken for values.
    highest = replace(incumbent, task=replace(task, report=None), value=-1.0, kept=frozenset())
    _explore(replace(walk, ground=walk.ground._replace(value_is_ceiling=True), incumbent=highest))
    incumbent.evaluations = highest.evaluations + 1
    incumbent.offer(highest.kept, task.objective.value(walk.marginals.of(highest.kept)))


def _explore(walk: Walk) -> None:
    """Search to the end, or until time is over; alone at first, then together if the task allows it."""
    task, incumbent = walk.incumbent.task, walk.incumbent
    is_whole = walk.is_whole
    path, began = start(walk.ground, ROOM), time.monotonic()
    is_quick = compiled_advance.is_ready
    is_over = False
    while not is_over:
        if incumbent.stopped or time.monotonic() > task.deadline:
            return
        seconds = time.monotonic() - began
        is_quick = is_quick or seconds > PLAIN_SECONDS
        if task.jobs > 1 and is_whole and is_quick and seconds > ALONE_SECONDS:
            search_together(walk, path)
            return
        incumbent.tell()
        best = walk.best()
        try:
            advance = compiled_advance if is_quick else compiled_advance.plain
            is_over = advance(walk.ground, path, best, WORK if is_quick else PLAIN_WORK)
        finally:
            walk.learn(path, best)
        if is_whole:
            incumbent.bound = incumbent.value if is_over else remaining_ceiling(walk.ground, path)
