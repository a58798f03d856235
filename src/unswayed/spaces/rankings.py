"""Spaces of rankings: permutations, the best k of n items, and rankings with tiers.

A ranking is written as its items, first position first. In a game, items are cells and positions are turns
[choi2016, Representing Games]. Variable `i@j` says that item i is at position j.

Coding is fast for integer matrices, one ranking a row: millions of rows a second. Rankings of named items
are sequences of names.

Structures of distributions over rankings are built without their circuit. A circuit of rankings
(`ranking_circuits.py`) has, beside the ways to go on, a prime for everything that is no ranking, and these
primes are most of it. Distributions do not need them. What is left is a node for each set of items that the
first tiers can hold, with a choice for each tier that can follow, and the blocks of the tiers themselves. All
nodes of a tier are written at once: 20 items take seconds where the circuit takes minutes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from math import factorial, prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from unswayed.circuits.psdd.examples import UNKNOWN, Marks
from unswayed.circuits.psdd.psdd import PsddStructure
from unswayed.circuits.psdd.structure import StructureWriter
from unswayed.circuits.vtree import Vtree
from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Bools, Ints
from unswayed.core.errors import LimitError, QueryError, expect_list
from unswayed.core.names import unknown_name
from unswayed.core.numerics import is_whole
from unswayed.spaces.ranking_circuits import n_spine_elements, ranking_circuit, ranking_vtree
from unswayed.spaces.space import Space, listed, refusal

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


_MOST_ITEMS = 500
"""Most items of a space: long rankings of more than about 20 are refused by memory, short ones are not."""
Item: TypeAlias = Hashable
"""An item's name: a string or a number."""
Ranking: TypeAlias = tuple[Any, ...]
"""Items in order of position; with tiers of several items, tuples of items in order of tier."""
_MOST_BITS = 62
"""Most items of which a set fits into an int64."""
_ROWS_AT_ONCE = 8192
"""Rows that stay in the processor's cache while they are written: several times as fast as all at once."""


def ranking_space(items: int | Iterable[Item], *, top: int | None = None) -> Space[Ranking]:
    """All rankings of n items (numbered from 1) or of named ones; with `top`, of their first `top` positions.

    A ranking of nine items is one of 362,880 [choi2016, Case Study: Learning from Game Traces]:

    >>> space = ranking_space(9)
    >>> space.size, len(space.names)
    (362880, 81)
    >>> ranking_space(9, top=3).size
    504
    """
    named = _named(items)
    n_positions = len(named) if top is None else top
    if not is_whole(n_positions) or not 1 <= n_positions <= len(named):
        raise QueryError(f"the first {top} of {len(named)} items; ask for 1 to {len(named)}")
    return _space(named, (1,) * n_positions)


def tiered_ranking_space(items: int | Iterable[Item], tiers: Sequence[int]) -> Space[Ranking]:
    """All partial rankings into tiers of given sizes; items within a tier are not compared.

    Items that are left over when all tiers are full are in none.

    >>> space = tiered_ranking_space("abcd", [1, 2])
    >>> space.size, space.decode(space.encode([["c"], ["d", "a"]]))
    (12, (('c',), ('a', 'd')))
    """
    named = _named(items)
    sizes = expect_list(tiers, "the sizes of tiers")
    if not all(map(is_whole, sizes)) or not sizes or min(sizes) < 1 or sum(sizes) > len(named):
        raise QueryError(f"tiers of sizes {list(sizes)} cannot be filled from {len(named)} items")
    return _space(named, sizes)


def _named(items: int | Iterable[Item]) -> tuple[Item, ...]:
    named = (
        tuple(range(1, min(items, _MOST_ITEMS + 1) + 1))
        if isinstance(items, int)
        else expect_list(items, "the items")
    )
    if len(named) > _MOST_ITEMS:
        raise LimitError(f"more than {_MOST_ITEMS} items cannot be ranked; leave items out")
    if not named:
        raise QueryError("a ranking needs at least one item")
    if not all(isinstance(item, Hashable) for item in named):
        raise QueryError("an item is a name or a number")
    if len(set(named)) < len(named) or len({str(item) for item in named}) < len(named):
        raise QueryError("two items have the same name; give every item its own")
    return named


def _space(items: tuple[Item, ...], tiers: tuple[int, ...]) -> Space[Ranking]:
    names = [[f"{item}@{tier + 1}" for item in items] for tier in range(len(tiers))]
    n_left = len(items) - sum(tiers)
    size = factorial(len(items)) // prod(map(factorial, tiers)) // factorial(n_left)
    what = f"rankings of {len(items)} items"
    if max(tiers) > 1:
        what = f"rankings of {len(items)} items into tiers of {', '.join(map(str, tiers))}"
    elif n_left:
        what = f"rankings of the first {len(tiers)} of {len(items)} items"
    check_ranking_price(len(items), tiers)
    vtree = ranking_vtree(names)
    quick = len(tiers) > 1 and len(items) <= MOST_ITEMS
    return Space(
        what,
        size,
        vtree,
        RankingCoding(items, tiers),
        partial(ranking_circuit, vtree, tiers),
        partial(ranking_structure, vtree, tiers) if quick else None,
    )


@dataclass(frozen=True, slots=True)
class RankingCoding:
    """Items into tiers of fixed sizes; rankings without ties have tiers of one item."""

    items: tuple[Item, ...]
    """The items, in the order of the variables of a tier."""
    tiers: tuple[int, ...]
    """How many items each tier has."""

    def encode_many(self, objects: Any) -> Bools:
        """One row for each ranking: sequences of items, or an integer matrix where items are numbers."""
        places = self._places(objects)
        _check_once_each(places, self.items)
        return self._rows(places)

    def decode(self, row: Bools) -> Ranking:
        """The ranking of a row; items in a tier in the order of the variables."""
        table = row.reshape(len(self.tiers), len(self.items))
        for tier, (size, found) in enumerate(zip(self.tiers, table.sum(axis=1).tolist(), strict=True)):
            if size != found:
                raise QueryError(f"position {tier + 1} has {found} items, not {size}")
        places: Ints = np.nonzero(table)[1]
        _check_once_each(places[None, :], self.items)
        ends = np.cumsum(self.tiers)[:-1]
        tiers = [tuple(self.items[i] for i in each.tolist()) for each in np.split(places, ends)]
        return tuple(tier[0] for tier in tiers) if self._is_flat() else tuple(tiers)

    def mark(self, known: Any) -> Marks:
        """What a beginning of a ranking says: its items in order, tied ones as a group, the rest below.

        Items tied for some positions fill these in an order that is not known: nothing else is there.
        """
        groups = [_group(each, self.items) for each in _sequence(known)]
        if not self._is_flat() and [len(each) for each in groups] != list(self.tiers[: len(groups)]):
            raise QueryError(f"give whole tiers, of sizes {list(self.tiers)}, the first ones first")
        places = _places_of_names([item for group in groups for item in group], self.items)
        _check_once_each(places[None, :], self.items)
        table = np.full((len(self.tiers), len(self.items)), UNKNOWN, dtype=np.int8)
        tier_of = np.repeat(np.arange(len(self.tiers)), self.tiers)
        begin = 0
        for group in groups:
            filled = tier_of[begin : begin + len(group)]  # fewer than the group where positions end
            tiers = np.unique(filled)
            is_certain = len(tiers) == 1 and len(filled) == len(group)
            table[tiers] = 0
            table[np.ix_(tiers, places[begin : begin + len(group)])] = 1 if is_certain else UNKNOWN
            begin += len(group)
        return table.reshape(-1)

    def _is_flat(self) -> bool:
        return max(self.tiers) == 1

    def _rows(self, places: Ints) -> Bools:
        n_rows, n_items = len(places), len(self.items)
        rows = np.zeros((n_rows, len(self.tiers) * n_items), dtype=np.bool_)
        tier = np.repeat(np.arange(len(self.tiers)), self.tiers)
        first = np.arange(min(n_rows, _ROWS_AT_ONCE))[:, None] * rows.shape[1] + n_items * tier
        for begin in range(0, n_rows, _ROWS_AT_ONCE):
            part = places[begin : begin + _ROWS_AT_ONCE]
            rows[begin : begin + _ROWS_AT_ONCE].reshape(-1)[part + first[: len(part)]] = True
        return rows

    def _places(self, objects: Any) -> Ints:
        """The rankings as a matrix of places in `items`, tiers side by side."""
        if isinstance(objects, np.ndarray) and objects.dtype.kind in "iu" and objects.ndim == 2:
            return _places_of_numbers(objects, self.items, sum(self.tiers))
        rankings = listed(objects, "rankings")
        place = {item: i for i, item in enumerate(self.items)}
        found = np.empty((len(rankings), sum(self.tiers)), dtype=np.int64)
        for row, ranking in enumerate(rankings):
            try:
                found[row] = [place[item] for item in self._flat(ranking)]
            except KeyError as error:
                known = [str(item) for item in self.items]
                raise refusal(row, len(rankings), unknown_name("item", str(error.args[0]), known)) from None
            except QueryError as error:
                raise refusal(row, len(rankings), str(error)) from None
        return found

    def _flat(self, ranking: Any) -> list[Any]:
        """The items of a ranking in order of tier; `QueryError` when tiers are too short or too long."""
        given = _sequence(ranking)
        if len(given) != len(self.tiers):
            raise QueryError(f"{len(given)} positions are filled, not {len(self.tiers)}")
        if not self._is_flat():
            tiers = [_sequence(tier) for tier in given]
            for number, (tier, size) in enumerate(zip(tiers, self.tiers, strict=True)):
                if len(tier) != size:
                    raise QueryError(f"tier {number + 1} has {len(tier)} items, not {size}")
            given = list(chain.from_iterable(tiers))
        for item in given:
            if not isinstance(item, Hashable):
                raise QueryError(f"{item!r} is no item")
        return given


def _group(value: Any, items: Sequence[Item]) -> list[Any]:
    """The items tied for a place: those of a set, list or tuple that is no item itself, or one item alone."""
    is_group = isinstance(value, set | frozenset | list | tuple) and value not in items
    return list(value) if is_group else [value]


def _places_of_names(given: Sequence[Any], items: Sequence[Item]) -> Ints:
    place = {item: i for i, item in enumerate(items)}
    for item in given:
        if not isinstance(item, Hashable) or item not in place:
            raise QueryError(unknown_name("item", str(item), [str(each) for each in items]))
    return np.array([place[item] for item in given], dtype=np.int64)


def _sequence(value: Any) -> list[Any]:
    if not isinstance(value, Iterable):
        raise QueryError(f"{value!r} is no ranking; give its items in order")
    return list(value)


def _places_of_numbers(matrix: npt.NDArray[Any], items: Sequence[Item], n_columns: int) -> Ints:
    """A matrix of items that are numbers, as places in `items`."""
    if matrix.shape[1] != n_columns:
        raise QueryError(f"the rankings have {matrix.shape[1]} positions, not {n_columns}")
    if not all(isinstance(item, int | np.integer) for item in items):
        raise QueryError(f"items are names, such as {items[0]!r}; give rankings of names, not of numbers")
    labels = np.array(items, dtype=np.int64)
    if np.array_equal(labels, np.arange(labels[0], labels[0] + len(labels))):
        places: Ints = matrix.astype(np.int64) - labels[0]
        known = (places >= 0) & (places < len(labels))
    else:
        order = np.argsort(labels)
        spot = np.minimum(np.searchsorted(labels[order], matrix), len(labels) - 1)
        places = order[spot]
        known = labels[places] == matrix
    if not known.all():
        row, column = np.argwhere(~known)[0].tolist()
        wrong = unknown_name("item", str(matrix[row, column]), [str(item) for item in items])
        raise refusal(row, len(matrix), wrong)
    return places


def _check_once_each(places: Ints, items: Sequence[Item]) -> None:
    """Every item has at most one position; otherwise `QueryError` for the first ranking where not so."""
    if len(items) <= _MOST_BITS:
        seen = np.bitwise_or.reduce(np.int64(1) << places, axis=1)
        bad = np.bitwise_count(seen) != places.shape[1]
    else:
        ordered = np.sort(places, axis=1)
        bad = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        found, counts = np.unique(places[row], return_counts=True)
        item = items[int(found[np.argmax(counts > 1)])]
        raise refusal(row, len(places), f"item {item!r} is ranked twice; every item has one position")
