"""A search over signed masses as the rest of the package sees it: subsets of features, and their values.

The kernel knows bits and one column. What it cannot value itself it hands over: subsets within the budget
whose ceiling exceeds the best value known. They come in the order of the search, neighbours mostly, so what
was summed up for one is used for the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.anytime import tick
from unswayed.core.arrays import Floats
from unswayed.kernels.subset_search import SUBSET, Records, SignedArrays, SignedPath
from unswayed.search.lattice import Node, drop, keep_only
from unswayed.search.signed.ground import SignedGround
from unswayed.search.task import Incumbent, Task


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
