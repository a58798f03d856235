"""Structures of distributions over rankings, built without their circuit.

A circuit of rankings (`ranking_circuits.py`) has, beside the ways to go on, a prime for everything that is no
ranking, and these primes are most of it. Distributions do not need them. What is left is a node for each set
of items that the first tiers can hold, with a choice for each tier that can follow, and the blocks of the
tiers themselves. All nodes of a tier are written at once: 20 items take seconds where the circuit takes
minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unswayed.circuits.psdd.psdd import PsddStructure
from unswayed.circuits.psdd.structure import StructureWriter
from unswayed.circuits.vtree import Vtree
from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Ints
from unswayed.spaces.ranking_circuits import n_spine_elements

MOST_ITEMS = 62
"""Most items of which a set fits into an int64."""
_BYTES_PER_CHOICE = 110.0
"""Measured while structures of 14 to 18 items are written; the finished one takes 24."""


def check_ranking_price(n_items: int, tiers: Sequence[int]) -> None:
    """Raise `LimitError` when the structure of rankings would take more memory than allowed."""
    n_choices = min(n_spine_elements(n_items, tiers), 10**30)  # as floats, larger numbers overflow
    check_bytes(_BYTES_PER_CHOICE * n_choices, f"the circuit of rankings of {n_items} items")


def ranking_structure(vtree: Vtree, tiers: Sequence[int]) -> PsddStructure:
    """The structure of rankings of at most 62 items into two or more tiers, for the vtree of their circuit.

    Cost: n 2^(n - 1) choices for rankings of n items without ties.
    """
    n_items = len(vtree.names) // len(tiers)
    levels = _levels(n_items, tiers)
    blocks = _BlockNodes(vtree, n_items)
    everything = (1 << n_items) - 1
    below = blocks.numbers(len(tiers) - 1, [everything & ~mask for mask in levels[-1].reached], tiers[-1])
    primes = [blocks.numbers(tier, level.chosen, tiers[tier]) for tier, level in enumerate(levels)]
    for tier in range(len(levels) - 1, -1, -1):
        level = levels[tier]
        places = np.full(len(level.counts), 2 * n_items * (tier + 1) - 1)
        below = blocks.writer.add(places, level.counts, primes[tier][level.choice], below[level.target])
    return blocks.writer.finish()


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """The sets of items that the tiers before one can hold, and how they go on."""

    chosen: list[int]
    """All sets that the tier can be, as bit masks."""
    counts: Ints  # (sets,)
    """How many tiers can follow each set."""
    choice: Ints  # (choices,)
    """The position in `chosen` of each choice, those of one set side by side."""
    target: Ints  # (choices,)
    """The position in `reached` of the set after each choice."""
    reached: list[int]
    """The sets after the tier, ascending, as bit masks."""


def _levels(n_items: int, tiers: Sequence[int]) -> list[_Level]:
    """One level for each tier but the last."""
    sets = np.zeros(1, dtype=np.int64)
    levels = []
    for size in tiers[:-1]:
        chosen = [sum(1 << item for item in items) for items in combinations(range(n_items), size)]
        source, choice, after = [], [], []
        for position, mask in enumerate(chosen):
            tick(what="the circuit of rankings")
            apart = np.flatnonzero((sets & mask) == 0)
            source.append(apart)
            choice.append(np.full(len(apart), position))
            after.append(sets[apart] | mask)
        sources = np.concatenate(source)
        order = np.argsort(sources, kind="stable")
        reached, target = np.unique(np.concatenate(after)[order], return_inverse=True)
        counts = np.bincount(sources, minlength=len(sets))
        levels.append(_Level(chosen, counts, np.concatenate(choice)[order], target, reached.tolist()))
        sets = reached
    return levels


class _BlockNodes:
    """The blocks of the tiers, each node made once."""

    def __init__(self, vtree: Vtree, n_items: int) -> None:
        self.writer = StructureWriter(vtree)
        self.n_items = n_items
        self._made: dict[tuple[int, int, int, int], int] = {}

    def numbers(self, tier: int, pools: Sequence[int], count: int) -> Ints:
        """The nodes of `exactly` for each pool."""
        return np.array([self.exactly(tier, 0, pool, count) for pool in pools], dtype=np.int64)

    def exactly(self, tier: int, item: int, pool: int, count: int) -> int:
        """The node for exactly `count` of the items in `pool` from `item` on, and no others."""
        variable = tier * self.n_items + item
        taken, left_out = (int(self.writer.literal(variable, sign)) for sign in (True, False))
        if item == self.n_items - 1:
            return taken if count else left_out
        pool = pool >> item << item if count else 0  # without any item, the pool does not matter
        key = (tier, item, pool, count)
        if key not in self._made:
            rest = (pool >> item + 1).bit_count()
            choices = []
            if count and pool >> item & 1 and count - 1 <= rest:
                choices.append((taken, self.exactly(tier, item + 1, pool, count - 1)))
            if count <= rest:
                choices.append((left_out, self.exactly(tier, item + 1, pool, count)))
            self._made[key] = self.writer.add_node(2 * variable + 1, choices)
        return self._made[key]
