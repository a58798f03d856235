"""Structures as decision diagrams, where the vtree allows it.

Down the right side of a vtree hang left subtrees, the *blocks*. When every block has few variables (one
each in a right-linear vtree, the cells of one turn in the vtree of games), the assignments of a block fall
into few *classes* that no node of the block tells apart, and an example is one class after another. What
used to take a pass over the circuit is then a walk of as many steps as there are blocks, or fewer when
several blocks are taken in one step; see `kernels/circuits/psdd_walk.py`.

A step leads from the nodes of one level to those of the next by the class of the values of a block of
variables. Two steps in a row are one step over both blocks; fewer and longer steps take less time, as long as
there are not too many classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from unswayed.circuits.psdd.psdd import PsddStructure
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.memo import Topic
from unswayed.kernels.circuits.psdd_bits import Circuit, plain_holds
from unswayed.kernels.circuits.psdd_walk import MASKED, WalkDiagram

DEAD = -1
"""In place of a node of the next level: the values lead nowhere."""
WALK: Topic[WalkTables | None] = Topic("decision diagrams of structures")
MAX_BLOCK = 10
"""Most variables in a block: its assignments are listed."""
MAX_ENTRIES_PER_CHOICE = 16
"""How many times larger than the circuit its diagram may be."""
JOINED = 6
"""Blocks are taken in one step while they have together at most so many variables."""


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
        classes=np.concatenate([_classes_of_step(step) for step in steps]).astype(np.int32),
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


def _classes_of_step(step: WalkStep) -> Ints:
    """The classes of assignments; with masks, numbered without those that lead nowhere from any node."""
    if not _has_masks(step):
        return step.class_of
    alive = np.flatnonzero((step.target != DEAD).any(axis=0))
    number = np.full(step.target.shape[1], MASKED)
    number[alive] = np.arange(len(alive))
    return number[step.class_of]


def walk_tables(structure: PsddStructure) -> WalkTables | None:
    """The structure as a diagram; None when its vtree has large blocks."""
    return structure.memo.get(WALK, None, lambda: _built(structure))


def _built(structure: PsddStructure) -> WalkTables | None:
    blocks = _blocks(structure)
    if max(len(structure.vtree.variables_below(block)) for block in blocks) > MAX_BLOCK:
        return None
    room = MAX_ENTRIES_PER_CHOICE * (structure.n_choices + len(blocks))
    steps: list[WalkStep] = []
    made = _Steps(structure, blocks)
    for step in made.all():
        room -= step.target.size
        if room < 0:
            return None
        if steps and len(steps[-1].variables) + len(step.variables) <= JOINED:
            steps[-1] = join_steps(steps[-1], step)
        else:
            steps.append(step)
    return lay_out(steps, int(made.position[structure.root]))


def _blocks(structure: PsddStructure) -> list[int]:
    """Left children down the right side of the vtree, and the leaf at its end."""
    vtree, node = structure.vtree, structure.vtree.root
    blocks = []
    while not vtree.is_leaf(node):
        blocks.append(int(vtree.left[node]))
        node = int(vtree.right[node])
    return [*blocks, node]


def _classes(
    structure: PsddStructure, variables: Sequence[int], inside: Ints, tops: Ints
) -> tuple[Ints, Bools]:
    """The assignments of a block by what holds in them, as far as it makes a difference.

    It does at the nodes the block is entered by (`tops`), and where a choice below them has alternatives;
    it does not where no node can be entered.
    """
    n_rows = 2 ** len(variables)
    codes = np.arange(n_rows)[:, None] >> np.arange(len(variables) - 1, -1, -1)
    holds = plain_holds(_part(structure, variables, inside), (codes & 1).astype(np.uint8))[:, 1:]
    matters = np.isin(inside, tops)
    for node in inside[structure.is_open[inside]].tolist():
        choices = slice(structure.starts[node], structure.starts[node + 1])
        matters |= np.isin(inside, structure.lefts[choices]) | np.isin(inside, structure.rights[choices])
    signature = holds & matters & (holds & np.isin(inside, tops)).any(axis=1, keepdims=True)
    _, first, class_of = np.unique(signature, axis=0, return_index=True, return_inverse=True)
    return class_of.reshape(-1), signature[first]


def _part(structure: PsddStructure, variables: Sequence[int], inside: Ints) -> Circuit:
    """The nodes of a block as a circuit of their own over its variables; node 0 comes first."""
    number = {0: 0} | {int(node): i for i, node in enumerate(inside, start=1)}
    column = {variable: i for i, variable in enumerate(variables, start=1)}
    literal, starts, lefts, rights = [0], [0, 0], [], []
    for node in inside.tolist():
        sign = int(structure.literal[node])
        literal.append(int(np.sign(sign)) * column[abs(sign) - 1] if sign else 0)
        for choice in range(structure.starts[node], structure.starts[node + 1]):
            lefts.append(number[int(structure.lefts[choice])])
            rights.append(number[int(structure.rights[choice])])
        starts.append(len(lefts))
    arrays = [np.array(each, dtype=np.int64) for each in (literal, starts, lefts, rights)]
    return Circuit(arrays[0], arrays[1], arrays[2], arrays[3], len(literal) - 1)


class _Steps:
    """The steps of a structure, one for each block."""

    def __init__(self, structure: PsddStructure, blocks: list[int]) -> None:
        self.structure, self.blocks = structure, blocks
        self.order = np.argsort(structure.vtree_node, kind="stable")
        self.places = structure.vtree_node[self.order]
        self.position = np.full(structure.n_nodes, DEAD)
        """Of nodes at the right side of the vtree: their position among those of the same vtree node."""
        for block in blocks:
            nodes = self._nodes(self._spine(block))
            self.position[nodes] = np.arange(len(nodes))

    def all(self) -> Iterator[WalkStep]:
        """The steps from the root on; the last one leads to one end."""
        for block in self.blocks:
            yield _BlockStep(self, block).finish()

    def _spine(self, block: int) -> int:
        """The vtree node from whose nodes the step over a block is taken; the last block is its own."""
        return block if block == self.blocks[-1] else int(self.structure.vtree.parent[block])

    def _nodes(self, first: int, last: int | None = None) -> Ints:
        """Nodes at one vtree node, or at a range of them."""
        bounds = np.searchsorted(self.places, [first, (first if last is None else last) + 1])
        return np.sort(self.order[bounds[0] : bounds[1]])


class _BlockStep:
    """The step over one block."""

    def __init__(self, steps: _Steps, block: int) -> None:
        self.structure = structure = steps.structure
        self.steps, self.variables = steps, structure.vtree.variables_below(block)
        self.inside = steps._nodes(int(structure.vtree.first[block]), int(structure.vtree.last[block]))
        tops = self.inside[structure.vtree_node[self.inside] == block]
        self.class_of, self.holds = _classes(structure, self.variables, self.inside, tops)
        self.nodes = steps._nodes(steps._spine(block))
        self.is_last = block == steps.blocks[-1]
        self.target = np.full((len(self.nodes), len(self.holds)), DEAD)
        self.uses: list[tuple[Ints, Ints]] = []

    def finish(self) -> WalkStep:
        """The step, with where every class leads to and what it uses."""
        if self.is_last:
            for node in self.nodes.tolist():
                self._enter(np.array([node]), node, np.zeros(1, dtype=np.int64))
        else:
            self._choices()
        empty = np.zeros(0, dtype=np.int64)
        entries = np.concatenate([empty, *(each for each, _ in self.uses)])
        order = np.argsort(entries, kind="stable")
        choices = np.concatenate([empty, *(each for _, each in self.uses)])
        return WalkStep(tuple(self.variables), self.class_of, self.target, entries[order], choices[order])

    def _choices(self) -> None:
        structure = self.structure
        choices = np.concatenate([np.arange(*structure.starts[n : n + 2]) for n in self.nodes.tolist()])
        lefts = structure.lefts[choices]
        order = np.argsort(lefts, kind="stable")
        ends = [*np.flatnonzero(np.diff(lefts[order], prepend=-1)).tolist(), len(order)]
        for start, end in pairwise(ends):
            same = choices[order[start:end]]
            owners = structure.owner[same]
            entries = self._enter(
                owners, int(lefts[order[start]]), self.steps.position[structure.rights[same]]
            )
            several = structure.starts[owners + 1] - structure.starts[owners] > 1
            self._use(entries[several], same[several][:, None])

    def _enter(self, owners: Ints, top: int, targets: Ints) -> Ints:  # (owners, classes of the top)
        """Lead from nodes to others in all classes in which a node of the block holds; the entries."""
        classes = np.flatnonzero(self.holds[:, np.searchsorted(self.inside, top)])
        positions = self.steps.position[owners]
        self.target[positions[:, None], classes] = targets[:, None]
        entries: Ints = positions[:, None] * len(self.holds) + classes
        for place, each in enumerate(classes.tolist()):
            for used in self._below(top, each):
                self._use(entries[:, place], np.array(used))
        return entries

    def _use(self, entries: Ints, choices: Ints) -> None:
        entries, choices = np.broadcast_arrays(entries, choices)
        self.uses.append((entries.ravel(), choices.ravel()))

    def _below(self, node: int, each: int) -> list[int]:
        """Choices that a node of the block uses in a class, those without an alternative left out."""
        structure, used, waiting = self.structure, [], [node]
        while waiting:
            node = waiting.pop()
            if not structure.is_open[node]:
                continue
            choices = range(structure.starts[node], structure.starts[node + 1])
            taken = next(c for c in choices if self._holds(c, each))
            if len(choices) > 1:
                used.append(taken)
            waiting += [int(structure.lefts[taken]), int(structure.rights[taken])]
        return used

    def _holds(self, choice: int, each: int) -> bool:
        nodes = [int(self.structure.lefts[choice]), int(self.structure.rights[choice])]
        return all(self.holds[each, np.searchsorted(self.inside, node)] for node in nodes if node)
