"""Steps of a walk through a decision diagram: joined into longer ones, and laid out for the walk.

A step leads from the nodes of one level to those of the next by the class of the values of a block of
variables. Two steps in a row are one step over both blocks; fewer and longer steps take less time, as long as
there are not too many classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.kernels.circuits.psdd_walk import MASKED, WalkDiagram

DEAD = -1
"""In place of a node of the next level: the values lead nowhere."""


@dataclass(frozen=True, slots=True, eq=False)
class WalkStep:
    """One step from every node of a level."""

    variables: tuple[int, ...]
    """The variables of the block, in the order in which their values are read."""
    class_of: Ints  # (2 ** variables,)
    """Class of each assignment, read as a binary number with the first variable highest."""
    target: Ints  # (nodes, classes)
    """Where each class leads to from each node: a position in the next level, or `DEAD`."""
    entries: Ints  # (uses,)
    """Node times classes + class of each use of a choice, ascending, ..."""
    choices: Ints  # (uses,)
    """... and the choice used there."""


@dataclass(frozen=True, slots=True, eq=False)
class WalkTables:
    """A structure as a diagram, and which choices each entry of the diagram uses."""

    diagram: WalkDiagram
    """Where each entry leads."""
    entries: Ints = field(repr=False)  # (uses,)
    """Entries that use a choice, ..."""
    choices: Ints = field(repr=False)  # (uses,)
    """... and the choice each of them uses; choices of nodes that have no other are left out."""

    def terms(self, log_parameters: Sequence[Floats]) -> Floats:  # (entries, parameters)
        """What each entry adds to the log-likelihood, for several parametrisations."""
        n_entries = len(self.diagram.target)
        terms = np.empty((n_entries, len(log_parameters)))
        for k, each in enumerate(log_parameters):
            terms[:, k] = np.bincount(self.entries, each[self.choices], n_entries)
        return terms

    def sums(self, trace: npt.NDArray[np.int32], log_parameters: Sequence[Floats]) -> Floats:
        """Log-likelihoods (rows, parametrisations) of few rows, from the entries (rows, levels) they took.

        Takes time in the length of the walks, and none in the size of the diagram.
        """
        which, choices = uses_at(self.entries, self.choices, trace.ravel())  # none at -1
        rows = which // max(trace.shape[1], 1)
        found = [np.bincount(rows, each[choices], len(trace)) for each in log_parameters]
        return np.column_stack(found).astype(np.float64)

    def counts(self, visits: Floats, n_choices: int) -> Floats:  # (choices,)
        """Uses of each choice from visits to each entry."""
        return np.bincount(self.choices, visits[self.entries], n_choices).astype(np.float64)


def join_steps(one: WalkStep, other: WalkStep) -> WalkStep:
    """Two steps in a row as one."""
    n_nodes, n_classes = one.target.shape[0], one.target.shape[1] * other.target.shape[1]
    middle = np.repeat(one.target, other.target.shape[1], axis=1)  # (nodes, classes of both)
    second = np.tile(np.arange(other.target.shape[1]), one.target.shape[1])
    target = np.where(middle == DEAD, DEAD, other.target[middle, second])
    alive = np.flatnonzero(target.ravel() != DEAD)
    before = alive // other.target.shape[1]
    after = middle.ravel()[alive] * other.target.shape[1] + alive % other.target.shape[1]
    uses = [uses_at(one.entries, one.choices, before), uses_at(other.entries, other.choices, after)]
    owners = np.concatenate([alive[which] for which, _ in uses])
    order = np.argsort(owners, kind="stable")
    class_of = (one.class_of[:, None] * other.target.shape[1] + other.class_of).ravel()
    choices = np.concatenate([each for _, each in uses])[order]
    step = WalkStep(
        one.variables + other.variables, class_of, target.reshape(n_nodes, n_classes), owners[order], choices
    )
    return _without_dead_classes(step)


def uses_at(entries: Ints, choices: Ints, wanted: npt.NDArray[np.signedinteger[Any]]) -> tuple[Ints, Ints]:
    """Choices used at the wanted entries: the position among them, and the choice; `entries` ascend."""
    starts = np.searchsorted(entries, wanted)
    counts = np.searchsorted(entries, wanted, side="right") - starts
    which = np.repeat(np.arange(len(wanted)), counts)
    place = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    return which, choices[starts[which] + place]


def _without_dead_classes(step: WalkStep) -> WalkStep:
    """The step with one class, the last, for all values that lead nowhere from any node."""
    alive = np.flatnonzero((step.target != DEAD).any(axis=0))
    n_classes = step.target.shape[1]
    number = np.full(n_classes, len(alive))
    number[alive] = np.arange(len(alive))
    target = np.concatenate([step.target[:, alive], np.full((len(step.target), 1), DEAD)], axis=1)
    entries = step.entries // n_classes * (len(alive) + 1) + number[step.entries % n_classes]
    return WalkStep(step.variables, number[step.class_of], target, entries, step.choices)


def lay_out(steps: Sequence[WalkStep], root: int) -> WalkTables:
    """The steps one after the other, as a walk from a node of the first level takes them.

    Node 0 is the dead end, with a first entry of its own for levels without masks.
    """
    n_nodes, n_entries = 1, 0
    firsts, masks, targets, entries = [np.zeros(1, np.int64)], [np.zeros(1, np.uint64)], [], []
    for step in steps:
        kept = _kept(step)
        number = n_entries + np.cumsum(kept) - 1  # of each node's classes, in the order of the step
        firsts.append(n_entries + np.cumsum(kept.sum(axis=1)) - kept.sum(axis=1))
        masks.append(_masks(kept))
        n_nodes += len(kept)
        targets.append(np.where(step.target == DEAD, 0, n_nodes + step.target)[kept])
        entries.append(number[step.entries])
        n_entries += int(kept.sum())
    diagram = WalkDiagram(
        blocks=np.cumsum([0, *(len(step.variables) for step in steps)]),
        order=np.array([v for step in steps for v in step.variables], dtype=np.int64),
        offsets=np.cumsum([0, *(len(step.class_of) for step in steps[:-1])]),
        classes=np.concatenate([_classes(step) for step in steps]).astype(np.int32),
        has_masks=np.array([_has_masks(step) for step in steps]),
        first=np.concatenate(firsts).astype(np.int32),
        masks=np.concatenate(masks),
        target=np.concatenate(targets).astype(np.int32),
        start=1 + root,
        end=n_nodes,
    )
    choices = np.concatenate([step.choices for step in steps])
    return WalkTables(diagram, np.concatenate(entries), choices)


def _has_masks(step: WalkStep) -> bool:
    return int((step.target != DEAD).any(axis=0).sum()) <= MASKED


def _kept(step: WalkStep) -> Bools:  # (nodes, classes)
    """Entries that are laid out: with masks those that lead on, otherwise all."""
    return step.target != DEAD if _has_masks(step) else np.ones(step.target.shape, dtype=np.bool_)


def _masks(kept: Bools) -> npt.NDArray[np.uint64]:  # (nodes,)
    alive = np.flatnonzero(kept.any(axis=0))[:MASKED]
    bits = np.uint64(1) << np.arange(len(alive), dtype=np.uint64)
    masks: npt.NDArray[np.uint64] = (
        np.where(kept[:, alive], bits, 0).astype(np.uint64).sum(axis=1, dtype=np.uint64)
    )
    return masks


def _classes(step: WalkStep) -> Ints:
    """The classes of assignments; with masks, numbered without those that lead nowhere from any node."""
    if not _has_masks(step):
        return step.class_of
    alive = np.flatnonzero((step.target != DEAD).any(axis=0))
    number = np.full(step.target.shape[1], MASKED)
    number[alive] = np.arange(len(alive))
    return number[step.class_of]
