"""The compiled search in slices: between them deadlines, Ctrl-C and progress are seen to.

A search begins in this process. Where it takes long and others may help, what is left goes to the driver
(`search/driver.py`), whose slices are calls of `run_slice`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

from unswayed.core.arrays import Floats
from unswayed.core.workers import Workers
from unswayed.kernels.subset_search import (
    SignedPath,
    compiled_advance,
    resume,
    start,
)
from unswayed.search.driver import SliceOutcome, search_in_slices
from unswayed.search.lattice import Node
from unswayed.search.signed.branches import SignedBranch, branch_of, read_branch
from unswayed.search.signed.ground import SignedGround, signed_ground
from unswayed.search.signed.walk import Walk, make_walk
from unswayed.search.task import Incumbent, Task
from unswayed.search.task_search import Findings, Known, TaskSearch

WORK = 2**26
"""Cells added up between two looks at the clock: some tens of milliseconds."""
ROOM = 64
"""Subsets that may wait to be valued."""
ALONE_SECONDS = 1.0
"""How long this process searches before others join: what takes less is not worth starting them."""
COMPILING_SECONDS = 8.0
"""Seconds that must be left for the loop to be compiled."""
PLAIN_SECONDS = 2.0
"""How long a process searches without compiled code where there is none yet: most are over by then."""
PLAIN_WORK = WORK // 8
"""Cells added up at a time without it."""


class SignedShared(NamedTuple):
    """What all slices of a search use, whatever the budget."""

    signed: SignedGround
    task: Task


def search_signed(task: Task, column: Floats, incumbent: Incumbent) -> None:
    """Improve the incumbent to the best subset, and its bound to what is proven of it."""
    signed = signed_ground(task, column)
    ground = signed.to_search(task)
    among_all = make_walk(signed, ground, incumbent)
    search = TaskSearch[SignedBranch](
        incumbent, f"signed by {' '.join(task.names[f] for f in signed.order)}", WORK
    )
    saved = search.resume(read_branch)
    with search:
        if saved is not None:
            _share(among_all, search, saved)
        elif task.checkpoint is None or search.note(1.0, [branch_of(ground, start(ground, 0).left)]):
            _prepare(among_all)
            _explore(among_all, search)


def _prepare(among_all: Walk) -> None:
    """Find a good subset to begin with: among few features, and by the highest ceiling."""
    signed, incumbent, task = among_all.signed, among_all.incumbent, among_all.incumbent.task
    incumbent.evaluations += len(signed.order)
    few = signed.few_to_search(task)
    among_few = among_all if few is None else make_walk(signed, few, incumbent)
    if not among_all.ground.value_is_ceiling:
        _offer_highest(among_few)
    if few is not None:
        _explore(among_few)


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


def _explore(walk: Walk, search: TaskSearch[SignedBranch] | None = None) -> None:
    """Search to the end, or until time is over; the search of all features takes notes, and may be shared."""
    notes = search or TaskSearch[SignedBranch](walk.incumbent, None, WORK)
    path, began = start(walk.ground, ROOM), time.monotonic()
    is_quick = compiled_advance.is_ready
    is_over = False
    while not is_over:
        branch = branch_of(walk.ground, path.left)
        if not notes.note(branch.ceiling, [branch]):
            return
        seconds = time.monotonic() - began
        has_time = time.monotonic() + COMPILING_SECONDS < walk.incumbent.task.deadline
        is_due = has_time and compiled_advance.seconds_without > PLAIN_SECONDS
        is_quick = is_quick or is_due or compiled_advance.is_ready
        if search is not None and search.is_shared and is_quick and seconds > ALONE_SECONDS:
            _share(walk, search, [branch])
            return
        is_over = _advance(walk, path, WORK if is_quick else PLAIN_WORK, is_quick=is_quick)
    notes.note(walk.incumbent.value, [])


def _advance(walk: Walk, path: SignedPath, work: int, *, is_quick: bool = True) -> bool:
    """Search on for so much work; whether the search is over."""
    best, began = walk.best(), time.monotonic()
    try:
        return (compiled_advance if is_quick else compiled_advance.plain)(walk.ground, path, best, work)
    finally:
        if not is_quick:
            compiled_advance.seconds_without += time.monotonic() - began
        walk.learn(path, best)


def _share(walk: Walk, search: TaskSearch[SignedBranch], branches: list[SignedBranch]) -> None:
    """Go on with all that may help."""
    task, signed = walk.incumbent.task, walk.signed
    sent = task.to_send()
    if walk.ground.value_is_ceiling:  # slices value subsets without the masses of their own
        sent = replace(sent, root=Node(task.root.features, task.root.table[:, :0]))
    key, shared = f"{task.workspace.key} signed", SignedShared(signed, sent)
    with Workers[SignedBranch](task.team, run_slice, key, shared) as workers:
        search_in_slices(search, branches, workers)


def run_slice(
    shared: SignedShared, branch: SignedBranch, known: Known, work: tuple[float, int]
) -> SliceOutcome:
    """Search a branch for so many seconds, reading the clock after so many cells."""
    seconds, cells = work
    began = time.monotonic()
    incumbent = known.incumbent(shared.task)
    ground = shared.signed.to_search(incumbent.task)
    walk = make_walk(shared.signed, ground, incumbent)
    path = resume(ground, branch.nodes, ROOM)
    is_over = _advance(walk, path, cells)
    while not is_over and time.monotonic() - began < seconds:
        is_over = _advance(walk, path, cells)
    return SliceOutcome(Findings.of(incumbent), None if is_over else branch_of(ground, path.left))
