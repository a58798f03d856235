"""The compiled search in slices.

A search begins in this process. Where it takes long and others may help, what is left goes to the driver
(`search/driver.py`), whose slices are calls of `run_slice`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from unswayed.core.anytime import UNITS_PER_SECOND, seconds_left, tick
from unswayed.core.arrays import Floats
from unswayed.core.parallel import Workers
from unswayed.kernels.subset_search import (
    SignedPath,
    compiled_advance,
    resume,
    start,
)
from unswayed.search.driver import SliceOutcome, Steps, search_in_slices
from unswayed.search.lattice import Node
from unswayed.search.signed.branches import SignedBranch, branch_of, read_branch
from unswayed.search.signed.ground import SignedGround, signed_ground
from unswayed.search.signed.walk import Walk, make_walk
from unswayed.search.task import Incumbent, Task
from unswayed.search.task_search import Findings, Known, TaskSearch

WORK = 2**26
"""Cells added up in a step: some tens of milliseconds."""
UNITS_PER_CELL = 7e-4
"""Measured for adding up a cell: .5 to .9 nanoseconds."""
STEPS_PER_SLICE = 4
"""Steps of a slice that is searched elsewhere: a fifth of a second."""
ROOM = 64
"""Subsets that may wait to be valued."""
ALONE_UNITS = 1e6
"""How long this process searches before others join: what takes less is not worth starting them."""
COMPILING_SECONDS = 8.0
"""Seconds that must be left for the loop to be compiled."""
PLAIN_SECONDS = 2.0
"""How long a process searches without compiled code where there is none yet: most are over by then."""
PLAIN_WORK, PLAIN_UNITS = WORK // 8, 2e5
"""Cells added up in a step without it, and about how long that takes."""


class SignedShared(NamedTuple):
    """What all slices of a search use, whatever the budget."""

    signed: SignedGround
    task: Task


def search_signed(task: Task, column: Floats, incumbent: Incumbent) -> Iterator[None]:
    """Improve the incumbent to the best subset, and its bound to what is proven of it."""
    signed = signed_ground(task, column)
    ground = signed.to_search(task)
    among_all = make_walk(signed, ground, incumbent)
    search = TaskSearch[SignedBranch](
        incumbent, f"signed by {' '.join(task.names[f] for f in signed.order)}", WORK
    )
    saved = search.resume(read_branch)
    if saved is not None:
        yield from _share(among_all, search, saved)
        return
    search.note(1.0, [branch_of(ground, start(ground, 0).left)])
    yield
    yield from _prepare(among_all)
    yield from _explore(among_all, search)


def _prepare(among_all: Walk) -> Iterator[None]:
    """Find a good subset to begin with: among few features, and by the highest ceiling."""
    signed, incumbent, task = among_all.signed, among_all.incumbent, among_all.incumbent.task
    incumbent.evaluations += len(signed.order)
    few = signed.few_to_search(task)
    among_few = among_all if few is None else make_walk(signed, few, incumbent)
    if not among_all.ground.value_is_ceiling:
        yield from _offer_highest(among_few)
    if few is not None:
        yield from _explore(among_few)


def _offer_highest(walk: Walk) -> Iterator[None]:
    """Offer the subset of the highest ceiling: where values are near their ceilings, hardly any is better.

    Without it every subset within the budget that the search comes to is valued for a start.
    """
    incumbent, task = walk.incumbent, walk.incumbent.task
    highest = replace(incumbent, value=-1.0, kept=frozenset())
    by_ceiling = replace(walk, ground=walk.ground._replace(value_is_ceiling=True), incumbent=highest)
    offered = incumbent.kept
    for _ in itertools.chain(_explore(by_ceiling), [None]):
        if highest.kept != offered:
            offered = highest.kept
            incumbent.evaluations = highest.evaluations + 1
            incumbent.offer(offered, task.objective.value(walk.marginals.of(offered)))
        yield


def _explore(walk: Walk, search: TaskSearch[SignedBranch] | None = None) -> Iterator[None]:
    """Search to the end; the search of all features takes notes, and may be shared."""
    notes = search or TaskSearch[SignedBranch](walk.incumbent, None, WORK)
    path, spent = start(walk.ground, ROOM), 0.0
    is_over = False
    while not is_over:
        branch = branch_of(walk.ground, path.left)
        notes.note(branch.ceiling, [branch])
        yield
        is_quick = _is_quick()
        if search is not None and search.is_shared and is_quick and spent > ALONE_UNITS:
            yield from _share(walk, search, [branch])
            return
        units = UNITS_PER_CELL * WORK if is_quick else PLAIN_UNITS
        tick(units, "the search")
        is_over = _advance(walk, path, WORK if is_quick else PLAIN_WORK, is_quick=is_quick)
        spent += units
    notes.note(walk.incumbent.value, [])


def _is_quick() -> bool:
    """Whether the loop is compiled, or is to be compiled now."""
    is_due = compiled_advance.seconds_without > PLAIN_SECONDS and seconds_left() > COMPILING_SECONDS
    return is_due or compiled_advance.is_ready


def _advance(walk: Walk, path: SignedPath, work: int, *, is_quick: bool = True) -> bool:
    """Search on for so much work; whether the search is over."""
    best = walk.best()
    is_over = (compiled_advance if is_quick else compiled_advance.plain)(walk.ground, path, best, work)
    if not is_quick:
        compiled_advance.seconds_without += PLAIN_UNITS / UNITS_PER_SECOND
    walk.learn(path, best)
    return is_over


def _share(walk: Walk, search: TaskSearch[SignedBranch], branches: list[SignedBranch]) -> Steps:
    """Go on with all that may help."""
    task, signed = walk.incumbent.task, walk.signed
    sent = task.to_send()
    if walk.ground.value_is_ceiling:  # slices value subsets without the masses of their own
        sent = replace(sent, root=Node(task.root.features, task.root.table[:, :0]))
    key, shared = f"{task.workspace.key} signed", SignedShared(signed, sent)
    with Workers[SignedBranch](task.team, run_slice, key, shared) as workers:
        return (yield from search_in_slices(search, branches, workers))


def run_slice(shared: SignedShared, branch: SignedBranch, known: Known, work: int) -> SliceOutcome:
    """Search a branch for some steps of so many cells."""
    incumbent = known.incumbent(shared.task)
    ground = shared.signed.to_search(incumbent.task)
    walk = make_walk(shared.signed, ground, incumbent)
    path = resume(ground, branch.nodes, ROOM)
    is_over, n_steps = False, 0
    while not is_over and n_steps < STEPS_PER_SLICE:
        is_over = _advance(walk, path, work)
        n_steps += 1
    left = None if is_over else branch_of(ground, path.left)
    return SliceOutcome(Findings.of(incumbent), left, UNITS_PER_CELL * work * n_steps)
