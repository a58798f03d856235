"""Structures as decision diagrams, where the vtree allows it.

Down the right side of a vtree hang left subtrees, the *blocks*. When every block has few variables (one
each in a right-linear vtree, the cells of one turn in the vtree of games), the assignments of a block fall
into few *classes* that no node of the block tells apart, and an example is one class after another. What
used to take a pass over the circuit is then a walk of as many steps as there are blocks, or fewer when
several blocks are taken in one step; see `kernels/circuits/psdd_walk.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from unswayed.circuits.psdd.psdd import PsddStructure
from unswayed.circuits.psdd.steps import DEAD, WalkStep, WalkTables, join_steps, lay_out
from unswayed.core.arrays import Bools, Ints
from unswayed.kernels.circuits.psdd_bits import Circuit, plain_holds

MAX_BLOCK = 10
"""Most variables in a block: its assignments are listed."""
MAX_ENTRIES_PER_CHOICE = 16
"""How many times larger than the circuit its diagram may be."""
JOINED = 6
"""Blocks are taken in one step while they have together at most so many variables."""


def walk_tables(structure: PsddStructure) -> WalkTables | None:
    """The structure as a diagram; None when its vtree has large blocks."""
    if "walk" not in structure.prepared:
        structure.prepared["walk"] = _built(structure)
    tables: WalkTables | None = structure.prepared["walk"]
    return tables


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
