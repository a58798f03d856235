"""Which item to ask next where items are independent: what matters of the answers is their sum.

A *situation* is the set of items that were asked and the sum of their answers; there are 2^n sets and few
sums. In each, the lowest and the highest band that the rest can still lead to say whether the band is
certain, and

    V(asked, s) = 0 where it is, else  min_j  cost_j + sum_a Pr(a) V(asked + j, s + term_ja)

is the least expected cost until it is. A *tail* is how a fixed order of items goes on from every sum: it is
folded from its last item to its first. Items beyond the few that are planned for are a tail of the plan, or,
revealed at no cost, make a bound: no way to ask costs less than the best one that is told them for free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Floats, Ints
from unswayed.model.score import Score
from unswayed.model.score_laws import Known, blocks_of

UNITS_PER_CELL = 0.01
"""Work of one answer in one situation: about 10 ns."""
NEARLY = 1e-12
"""Costs this close are equal, and the item that comes first is asked."""


@dataclass(frozen=True, slots=True, eq=False)
class SumTerrain:
    """The unknown items of a form and the sums that any of them can have."""

    places: tuple[int, ...]
    """Where the items stand on the form."""
    costs: Floats
    """What each costs."""
    shares: tuple[Floats, ...]
    """How probable each of their answers is."""
    moves: tuple[Ints, ...]  # each (answers, sums)
    """The number of the sum after each answer, by the number of the sum before."""
    bands: Ints  # (sums,)
    """The band of each sum, where nothing is unknown."""
    start: int
    """The number of the sum of what is known."""

    @property
    def n_sums(self) -> int:
        """How many sums there are."""
        return len(self.bands)


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """How it goes on from each sum: what it costs, and where it can lead."""

    cost: Floats  # (sums,)
    """Expected cost until the band is certain."""
    count: Floats  # (sums,)
    """Expected number of items asked until then."""
    low: Ints
    """The lowest band that can be reached."""
    high: Ints
    """The highest."""


def make_terrain(score: Score, known: Known, costs: Floats) -> SumTerrain | None:
    """The terrain of the unknown items; None where some depend on each other, or prevalences are missing."""
    blocks = blocks_of(score, known)
    open_blocks = [block for block in blocks if len(block.rows) > 1]
    if any(len(block.places) > 1 or block.shares is None for block in open_blocks):
        return None
    start = sum(int(block.added[0]) for block in blocks if len(block.rows) == 1)
    codes = np.array([start])
    for block in open_blocks:
        codes = np.unique(np.concatenate([codes, np.add.outer(codes, block.added).reshape(-1)]))
    places = tuple(block.places[0] for block in open_blocks)
    order = np.argsort(places)
    return SumTerrain(
        tuple(int(places[k]) for k in order),
        costs[[places[k] for k in order]] if len(places) else np.zeros(0),
        tuple(_known_shares(open_blocks[k].shares) for k in order),
        tuple(_moves(codes, open_blocks[k].added) for k in order),
        score.sums.bands(codes),
        int(np.searchsorted(codes, start)),
    )


def _known_shares(shares: Floats | None) -> Floats:
    assert shares is not None
    return shares


def _moves(codes: Ints, added: Ints) -> Ints:
    """Where each sum goes with each answer; sums that never meet this item go anywhere."""
    return np.minimum(np.searchsorted(codes, codes + added[:, np.newaxis]), len(codes) - 1)


def nothing_left(terrain: SumTerrain) -> Tail:
    """The tail of a form on which everything is known."""
    return Tail(np.zeros(terrain.n_sums), np.zeros(terrain.n_sums), terrain.bands, terrain.bands)


def prepend(terrain: SumTerrain, item: int, tail: Tail) -> Tail:
    """The tail that asks an item first, unless the band is certain."""
    moves, shares = terrain.moves[item], terrain.shares[item]
    low, high = tail.low[moves].min(axis=0), tail.high[moves].max(axis=0)
    is_open = low < high
    cost = np.where(is_open, terrain.costs[item] + shares @ tail.cost[moves], 0.0)
    return Tail(cost, np.where(is_open, 1.0 + shares @ tail.count[moves], 0.0), low, high)


def in_order(terrain: SumTerrain, order: Sequence[int], tail: Tail | None = None) -> Tail:
    """The tail of a fixed order; items that cannot change the band any more are asked all the same."""
    last = nothing_left(terrain) if tail is None else tail
    return reduce(lambda after, item: prepend(terrain, item, after), reversed(order), last)


@dataclass(frozen=True, slots=True, eq=False)
class SumPlan:
    """What to ask in every situation of some items, and what comes of it."""

    items: tuple[int, ...]
    """The items that are planned for, by number in the terrain."""
    choice: Ints  # (sets of items, sums)
    """The item to ask, by position in `items`; -1 where the band is certain or all are asked."""
    cost: Floats  # (sets of items, sums)
    """Expected cost from there."""
    count: Floats
    """Expected number of items from there."""


def plan_sums(terrain: SumTerrain, items: Sequence[int], tail: Tail, *, greedy: bool = False) -> SumPlan:
    """The best way to ask some items before a tail; or, greedy, the most information per cost each time."""
    n_sets, n_sums = 2 ** len(items), terrain.n_sums
    n_bands = int(terrain.bands.max()) + 1
    check_bytes((44.0 + 8.0 * greedy * (n_bands + 1)) * n_sets * n_sums, "the plan of a score")
    low, high = (np.broadcast_to(each, (n_sets, n_sums)).copy() for each in (tail.low, tail.high))
    cost, count = np.zeros((n_sets, n_sums)), np.zeros((n_sets, n_sums))
    cost[-1], count[-1] = tail.cost, tail.count
    choice = np.full((n_sets, n_sums), -1)
    entropy = _entropies(terrain, items) if greedy else None
    for sets in _by_size(len(items)):
        best = np.full((len(sets), n_sums), np.inf)
        for number, item in enumerate(items):
            rows = np.flatnonzero(~sets >> number & 1)
            here, after = sets[rows], sets[rows] | 1 << number
            tick(UNITS_PER_CELL * len(rows) * terrain.moves[item].size, "the plan")
            priced = terrain.costs[item] + _expected(terrain, item, cost, after)
            worth = priced
            if entropy is not None:
                told = _expected(terrain, item, entropy, after) - entropy[here]
                worth = np.round(told / max(terrain.costs[item], NEARLY), 12)
            is_better = worth < best[rows] - NEARLY
            best[rows] = np.where(is_better, worth, best[rows])
            choice[here] = np.where(is_better, number, choice[here])
            cost[here] = np.where(is_better, priced, cost[here])
            counted = 1.0 + _expected(terrain, item, count, after)
            count[here] = np.where(is_better, counted, count[here])
        _span(terrain, items, sets, low, high)
        is_open = low[sets] < high[sets]
        choice[sets] = np.where(is_open, choice[sets], -1)
        cost[sets], count[sets] = cost[sets] * is_open, count[sets] * is_open
    return SumPlan(tuple(items), choice, cost, count)


def _by_size(n_items: int) -> list[Ints]:
    """Sets of items as bits, the large ones first, without the full one."""
    sets = np.arange(2**n_items)
    sizes = np.bitwise_count(sets.astype(np.uint64)).astype(np.int64)
    return [sets[sizes == size] for size in range(n_items - 1, -1, -1)]


def _expected(terrain: SumTerrain, item: int, values: Floats, after: Ints) -> Floats:
    """The expected value after an answer to an item."""
    rows = values[after]
    found = np.zeros_like(rows)
    for move, share in zip(terrain.moves[item], terrain.shares[item], strict=True):
        found += share * rows[:, move]
    return found


def _first_unknown(sets: Ints, number: int) -> Ints:
    """Those sets whose first item that is not in them has this number."""
    found: Ints = sets[((sets + 1) & ~sets) == 1 << number]
    return found


def _span(terrain: SumTerrain, items: Sequence[int], sets: Ints, low: Ints, high: Ints) -> None:
    """Put in the bands that sets can lead to; by way of any unknown item it is the same."""
    for number, item in enumerate(items):
        rows = _first_unknown(sets, number)
        after = rows | 1 << number
        low[rows] = np.minimum.reduce([low[after][:, move] for move in terrain.moves[item]])
        high[rows] = np.maximum.reduce([high[after][:, move] for move in terrain.moves[item]])


def _entropies(terrain: SumTerrain, items: Sequence[int]) -> Floats:
    """The entropy of the band in every situation, in bits."""
    n_sets = 2 ** len(items)
    found = np.zeros((n_sets, terrain.n_sums))
    for band in np.unique(terrain.bands):
        law = np.zeros((n_sets, terrain.n_sums))
        law[-1] = terrain.bands == band
        for sets in _by_size(len(items)):
            for number, item in enumerate(items):
                rows = _first_unknown(sets, number)
                law[rows] = _expected(terrain, item, law, rows | 1 << number)
        found -= law * np.log2(law, out=np.zeros_like(law), where=law > 0)
    return found
