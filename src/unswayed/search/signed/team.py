"""Several threads on one search: each takes slices of a branch, and they share the best subset in between.

The kernel lets other threads run while it works. A thread without work is given the highest open branch of
one that has just finished a slice. What is pruned depends on who comes first, what is found does not: of
all subsets the best by value, cost and names is one, and no branch that holds it is ever left.
"""

from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from unswayed.kernels.subset_search import Records, SignedPath, compiled_advance, remaining_ceiling, split
from unswayed.search.signed.walk import Walk

WORK = 2**26
"""Cells added up in a slice: some tens of milliseconds."""
ROOM = 64
"""Subsets that may wait to be valued."""


@dataclass(frozen=True, slots=True, eq=False)
class _Slice:
    """A branch that a thread is at work on."""

    path: SignedPath
    best: Records
    ceiling: float
    """Upper bound on every subset of the branch."""


@dataclass(slots=True)
class _Team:
    walk: Walk
    idle: list[SignedPath]
    """Branches that wait for a thread."""
    running: dict[Future[bool], _Slice] = field(default_factory=dict)

    def bound(self) -> float:
        """Upper bound on every subset not yet visited."""
        ceilings = [remaining_ceiling(self.walk.ground, path) for path in self.idle]
        ceilings += [each.ceiling for each in self.running.values()]
        return max(ceilings, default=self.walk.incumbent.value)


def search_together(walk: Walk, path: SignedPath) -> None:
    """Search the branch to its end, or until time is over, with as many threads as the task allows."""
    incumbent, task = walk.incumbent, walk.incumbent.task
    team = _Team(walk, [path])
    with ThreadPoolExecutor(task.jobs) as pool:
        while team.idle or team.running:
            is_late = incumbent.stopped or time.monotonic() > task.deadline
            if is_late and not team.running:
                break
            if not is_late:
                _start(team, pool, task.jobs)
            _collect(team)
            incumbent.bound = team.bound()
            incumbent.tell()


def _start(team: _Team, pool: ThreadPoolExecutor, jobs: int) -> None:
    """Give every free thread a branch, splitting those at hand."""
    for path in list(team.idle):
        while len(team.idle) + len(team.running) < jobs and (other := split(team.walk.ground, path)):
            team.idle.append(other)
    while team.idle and len(team.running) < jobs:
        path = team.idle.pop()
        ceiling = remaining_ceiling(team.walk.ground, path)
        work = _Slice(path, team.walk.best(), ceiling)
        team.running[pool.submit(compiled_advance, team.walk.ground, path, work.best, WORK)] = work


def _collect(team: _Team) -> None:
    """Wait for the next slice to end, and learn from it."""
    finished, _ = wait(team.running, return_when=FIRST_COMPLETED)
    for future in finished:
        work = team.running.pop(future)
        is_over = future.result()
        team.walk.learn(work.path, work.best)
        if not is_over:
            team.idle.append(work.path)
