"""The compiled search over signed masses, in slices: nodes that can be sent and saved, and what is found.

A search begins in this process. Where it takes long and others may help, what is left goes to the driver
(`search/driver.py`), whose slices are calls of `run_slice`. What is left is a `SignedBranch`, nodes without
their tables.

The kernel knows bits and one column. What it cannot value itself it hands over: subsets within the budget
whose ceiling exceeds the best value known. They come in the order of the search, neighbours mostly, so what
was summed up for one is used for the next (`Marginals`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from unswayed.core.anytime import tick
from unswayed.core.arrays import Floats
from unswayed.core.parallel import Workers
from unswayed.kernels.subset_search import (
    DONE,
    KEEPING,
    NODE,
    SUBSET,
    UNITS_PER_CELL,
    Records,
    SignedArrays,
    SignedPath,
    compiled_advance,
    open_ceilings,
    resume,
    start,
)
from unswayed.search.driver import Findings, Known, SliceOutcome, Steps, TaskSearch, search_in_slices
from unswayed.search.lattice import Node, drop, keep_only
from unswayed.search.signed.ground import SignedGround, signed_ground
from unswayed.search.task import Incumbent, Task

FIRST_WORK, WORK = 2**17, 2**23
"""Cells added up in the first step and in the longest: 6 ms, or .2 s where the loop is plain."""
STEPS_PER_SLICE = 32
"""Steps of a slice that is searched elsewhere: a fifth of a second."""
ROOM = 64
"""Subsets that may wait to be valued."""
ALONE_UNITS = 1e6
"""How long this process searches before others join: what takes less is not worth starting them."""


@dataclass(frozen=True, slots=True, eq=False)
class SignedBranch:
    """The nodes of a path from the first down to the current one."""

    nodes: Records
    ceilings: Floats  # (nodes,)
    """For each node, an upper bound on the subsets still to visit at it; -1 where none is left."""

    @property
    def ceiling(self) -> float:
        """Upper bound on every subset not yet visited; -1 where none is left."""
        return float(self.ceilings.max(initial=-1.0))

    def split(self) -> tuple[SignedBranch, SignedBranch] | None:
        """The rest without the highest branch that is still to come, and that branch."""
        for depth, node in enumerate(self.nodes[:-1]):
            if node["stage"] == KEEPING:
                rest, ceilings = self.nodes.copy(), self.ceilings.copy()
                rest["stage"][depth], ceilings[depth] = DONE, -1.0
                branch = self.nodes[: depth + 1].copy()
                branch["stage"][:depth] = DONE
                alone = np.append(np.full(depth, -1.0), self.ceilings[depth])
                return SignedBranch(rest, ceilings), SignedBranch(branch, alone)
        return None

    def write(self) -> list[Any]:
        """The branch for a checkpoint."""
        return [self.nodes.tolist(), self.ceilings.tolist()]


def branch_of(ground: SignedArrays, left: Records) -> SignedBranch:
    """The branch of the nodes that a path leaves."""
    return SignedBranch(left, open_ceilings(ground, left))


def read_branch(written: Sequence[Any]) -> SignedBranch:
    """The branch from a checkpoint."""
    nodes, ceilings = written
    return SignedBranch(np.array([tuple(node) for node in nodes], dtype=NODE), np.array(ceilings))


@dataclass(slots=True)
class Marginals:
    """Tables of subsets, summed down from a root in the order of a search."""

    task: Task
    root: Node
    order: Sequence[int]
    _dropped: list[int] = field(default_factory=list)
    _nodes: list[Node] = field(default_factory=list)
    """The last subset's table, and those it was made from."""

    def of(self, kept: frozenset[int]) -> Floats:
        """The table of a subset, from the part of the way that it shares with the one before."""
        dropped = [f for f in self.order if f not in kept]
        dropped += [f for f in self.root.features if f not in kept and f not in dropped]
        shared = 0
        while shared < min(len(dropped), len(self._dropped)) and dropped[shared] == self._dropped[shared]:
            shared += 1
        del self._nodes[shared:]
        for feature in dropped[shared:]:
            parent = self._nodes[-1] if self._nodes else self.root
            self._nodes.append(drop(parent, feature, self.task.sizes))
        self._dropped = dropped
        return self._nodes[-1].table if self._nodes else self.root.table


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """One search: its ground, and what is made of what it finds."""

    signed: SignedGround
    ground: SignedArrays
    marginals: Marginals
    incumbent: Incumbent

    def best(self) -> Records:
        """The incumbent, as the kernel wants it."""
        held, task = self.incumbent, self.incumbent.task
        return np.array([(held.value, task.cost(held.kept), self.signed.bits(held.kept))], dtype=SUBSET)

    def learn(self, path: SignedPath, best: Records) -> None:
        """Take what a slice has found: the best subset it knows, and those it wants valued."""
        incumbent, objective = self.incumbent, self.incumbent.task.objective
        if self.ground.value_is_ceiling:
            incumbent.offer(self.signed.kept(int(best["kept"][0])), float(best["value"][0]))
        for bits in path.found[: path.counts[1]].tolist():
            tick(what="the search")  # a large table takes a while to value
            kept = self.signed.kept(bits)
            incumbent.offer(kept, objective.value(self.marginals.of(kept)))
        incumbent.evaluations += int(path.counts[1] + path.counts[2])
        path.counts[1:3] = 0


def make_walk(signed: SignedGround, ground: SignedArrays, incumbent: Incumbent) -> Walk:
    """The search over all features of a ground, or over the first of them."""
    task, order = incumbent.task, signed.order[: len(ground.features) - 1]
    is_part = len(order) < len(signed.order) and not ground.value_is_ceiling
    root = keep_only(task.root, frozenset(order), task.sizes) if is_part else task.root
    return Walk(signed, ground, Marginals(task, root, order), incumbent)


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
    path, spent, is_over = start(walk.ground, ROOM), 0.0, False
    # Most searches are short, and say by short steps how much they were.
    work = min(FIRST_WORK, WORK)
    while not is_over:
        branch = branch_of(walk.ground, path.left)
        notes.note(branch.ceiling, [branch])
        yield
        if search is not None and search.is_shared and spent > ALONE_UNITS:
            yield from _share(walk, search, [branch])
            return
        tick(UNITS_PER_CELL * work, "the search")
        is_over = _advance(walk, path, work)
        spent += UNITS_PER_CELL * work
        work = min(2 * work, WORK)
    notes.note(walk.incumbent.value, [])


def _advance(walk: Walk, path: SignedPath, work: int) -> bool:
    """Search on for so much work; whether the search is over."""
    best = walk.best()
    is_over = compiled_advance(walk.ground, path, best, work)
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
