"""Circuits of rankings, built directly from the sets of items that are ranked already.

Variable (i, j) says that item i is in tier j. A tier has a given number of items: one each for rankings
without ties. The vtree has a right-linear block for each tier, ordered by item, and a right-linear spine
over the blocks [choi2016, Representing Games]. What can follow after some tiers depends only on the set of
items in them, so the circuit has one node on the spine for each such set: its primes are the possible next
tiers, plus one for everything that is no tier, whose sub is false.

Functions inside a block are of one family, "exactly `count` of the items of `pool`, and no others", and its
negation; on the suffix of a block from some item on, they are of the same family.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from math import comb

import numpy as np

from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.vtree import NOTHING, Nested, Vtree, vtree_from_nested
from unswayed.core.anytime import check_bytes, tick

_BYTES_PER_ELEMENT = 400
"""Measured while a draft is written; the finished circuit takes 16."""


def ranking_circuit(vtree: Vtree, tiers: Sequence[int]) -> Sdd:
    """The circuit of rankings with tiers of these sizes, for a vtree of `ranking_vtree`.

    Cost: the number of sets of items that the first tiers can hold, times the tiers that can follow:
    n 2^(n - 1) elements for rankings of n items without ties.
    """
    n_items = len(vtree.names) // len(tiers)
    n_elements = min(n_spine_elements(n_items, tiers), 10**30)  # as floats, larger numbers overflow
    check_bytes(_BYTES_PER_ELEMENT * n_elements, f"the circuit of rankings of {n_items} items")
    block = _Blocks(vtree, n_items)
    everything = (1 << n_items) - 1
    last = len(tiers) - 1
    following: dict[int, int] = {}
    for tier in range(last, -1, -1):
        found: dict[int, int] = {}
        for ranked in _sets(n_items, sum(tiers[:tier])):
            tick(what="the circuit of rankings")
            pool = everything & ~ranked
            if tier == last:
                found[ranked] = block.exactly(tier, 0, pool, tiers[tier])
            else:
                found[ranked] = _spine_node(block, tier, pool, (ranked, tiers[tier], following))
        following = found
    return block.draft.finished(following[0])


def _spine_node(block: _Blocks, tier: int, pool: int, rest: tuple[int, int, dict[int, int]]) -> int:
    """The node on the spine after the items `ranked`: the next tier is any `size` of the items in `pool`."""
    ranked, size, following = rest
    items = [1 << item for item in range(block.n_items) if pool >> item & 1]
    elements = [
        (block.exactly(tier, 0, chosen, size), following[ranked | chosen])
        for chosen in map(sum, combinations(items, size))
    ]
    elements.append((block.exactly(tier, 0, pool, size, negated=True), FALSE))
    return block.draft.decision(block.spine(tier), tuple(elements))


def n_spine_elements(n_items: int, tiers: Sequence[int]) -> int:
    """Primes with a sub that is not false, on the whole spine."""
    total, ranked = 0, 0
    for size in tiers:
        total += comb(n_items, ranked) * comb(n_items - ranked, size)
        ranked += size
    return total


def _sets(n_items: int, size: int) -> list[int]:
    """All sets of `size` items, as bit masks."""
    return [sum(1 << item for item in chosen) for chosen in combinations(range(n_items), size)]


class _Blocks:
    """The circuit's draft and its functions inside blocks."""

    def __init__(self, vtree: Vtree, n_items: int) -> None:
        self.n_items = n_items
        self.draft = CircuitDraft(vtree)
        self._made: dict[tuple[int, int, int, int, bool], int] = {}

    def spine(self, tier: int) -> int:
        """The vtree node on the spine whose left child is the block of a tier."""
        return 2 * self.n_items * (tier + 1) - 1  # in-order: after the last leaf of the block

    def exactly(self, tier: int, item: int, pool: int, count: int, *, negated: bool = False) -> int:
        """Exactly `count` of the items in `pool` from `item` on are in the tier, and no others; or not so."""
        leaf = 2 * (tier * self.n_items + item)
        pool = pool >> item << item
        if not 0 <= count <= pool.bit_count():
            return self.draft.true(self._vtree_node(leaf, item)) if negated else FALSE
        if count == 0:
            pool = 0  # no item may be there: one function, whatever the pool
        if item == self.n_items - 1:
            return self.draft.literal(leaf, positive=(count == 1) != negated)
        key = (tier, item, pool, count, negated)
        if key not in self._made:
            with_item = count - 1 if pool >> item & 1 else -1
            high = self.exactly(tier, item + 1, pool, with_item, negated=negated)
            low = self.exactly(tier, item + 1, pool, count, negated=negated)
            here, not_here = self.draft.literal(leaf, positive=True), self.draft.literal(leaf, positive=False)
            self._made[key] = self.draft.decision(leaf + 1, ((here, high), (not_here, low)))
        return self._made[key]

    def _vtree_node(self, leaf: int, item: int) -> int:
        """The root of the suffix of a block."""
        return leaf if item == self.n_items - 1 else leaf + 1


def ranking_vtree(names: Sequence[Sequence[str]]) -> Vtree:
    """A right-linear block for each tier, and a right-linear spine; `names[j][i]`: item i is in tier j."""
    blocks = [_linear(block) for block in names]
    return vtree_from_nested(_linear(blocks), [name for block in names for name in block])


def _linear(parts: Sequence[Nested]) -> Nested:
    nested = parts[-1]
    for part in reversed(parts[:-1]):
        nested = (part, nested)
    return nested


class CircuitDraft:
    """Nodes of a circuit that is normalised for its vtree; children are added before their parents."""

    def __init__(self, vtree: Vtree) -> None:
        self._vtree = vtree
        self._kind = [FALSE, TRUE]
        self._vtree_node = [NOTHING, NOTHING]
        self._literal = [0, 0]
        self._elements: list[tuple[tuple[int, int], ...]] = [(), ()]
        self._known: dict[object, int] = {}

    def literal(self, leaf: int, *, positive: bool) -> int:
        """The node of the variable at a leaf of the vtree, or of its negation."""
        variable = 1 + int(self._vtree.variable[leaf])
        return self._node(LITERAL, leaf, literal=variable if positive else -variable)

    def true(self, vtree_node: int) -> int:
        """The node that leaves every variable below a vtree node free."""
        found = self._known.get((TRUE, vtree_node))
        if found is not None:
            return found
        if self._vtree.is_leaf(vtree_node):
            return self._node(TRUE, vtree_node)
        left, right = int(self._vtree.left[vtree_node]), int(self._vtree.right[vtree_node])
        number = self.decision(vtree_node, ((self.true(left), self.true(right)),))
        self._known[(TRUE, vtree_node)] = number
        return number

    def decision(self, vtree_node: int, elements: tuple[tuple[int, int], ...]) -> int:
        """The node with these primes and subs."""
        return self._node(DECISION, vtree_node, elements=elements)

    def _node(
        self, kind: int, vtree_node: int, *, literal: int = 0, elements: tuple[tuple[int, int], ...] = ()
    ) -> int:
        key = (kind, vtree_node, literal, elements)
        number = self._known.setdefault(key, len(self._kind))
        if number == len(self._kind):
            self._kind.append(kind)
            self._vtree_node.append(vtree_node)
            self._literal.append(literal)
            self._elements.append(elements)
        return number

    def finished(self, root: int) -> Sdd:
        """The circuit of everything added, with this root."""
        pairs = np.array(list(chain.from_iterable(self._elements)), dtype=np.int64).reshape(-1, 2)
        counts = np.array([len(each) for each in self._elements])
        return Sdd(
            self._vtree,
            kind=np.array(self._kind),
            vtree_node=np.array(self._vtree_node),
            literal=np.array(self._literal),
            starts=np.concatenate([[0], np.cumsum(counts)]),
            primes=pairs[:, 0].copy(),
            subs=pairs[:, 1].copy(),
            root=root,
        )
