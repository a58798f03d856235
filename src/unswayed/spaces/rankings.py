"""Spaces of rankings: permutations, the best k of n items, and rankings with tiers.

A ranking is written as its items, first position first. In a game, items are cells and positions are turns
[choi2016, Representing Games]. Variable `i@j` says that item i is at position j.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import factorial, prod

from unswayed.core.errors import LimitError, QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.spaces.ranking_circuits import ranking_circuit
from unswayed.spaces.ranking_coding import Item, Ranking, RankingCoding
from unswayed.spaces.space import Space

_MOST_ITEMS = 500
"""Complete rankings of more than about 20 items are out of reach anyway; short ones of this many are not."""


def ranking_space(
    items: int | Iterable[Item], *, top: int | None = None, limits: Limits = DEFAULT_LIMITS
) -> Space[Ranking]:
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
    if not 1 <= n_positions <= len(named):
        raise QueryError(f"the first {top} of {len(named)} items; ask for 1 to {len(named)}")
    return _space(named, (1,) * n_positions, limits)


def tiered_ranking_space(
    items: int | Iterable[Item], tiers: Sequence[int], *, limits: Limits = DEFAULT_LIMITS
) -> Space[Ranking]:
    """All partial rankings into tiers of given sizes; items within a tier are not compared.

    Items that are left over when all tiers are full are in none.

    >>> space = tiered_ranking_space("abcd", [1, 2])
    >>> space.size, space.decode(space.encode([["c"], ["d", "a"]]))
    (12, (('c',), ('a', 'd')))
    """
    named = _named(items)
    sizes = tuple(tiers)
    if not sizes or min(sizes) < 1 or sum(sizes) > len(named):
        raise QueryError(f"tiers of sizes {list(sizes)} cannot be filled from {len(named)} items")
    return _space(named, sizes, limits)


def _named(items: int | Iterable[Item]) -> tuple[Item, ...]:
    named = tuple(range(1, min(items, _MOST_ITEMS + 1) + 1)) if isinstance(items, int) else tuple(items)
    if len(named) > _MOST_ITEMS:
        raise LimitError(f"more than {_MOST_ITEMS} items cannot be ranked; leave items out")
    if not named:
        raise QueryError("a ranking needs at least one item")
    if len(set(named)) < len(named) or len({str(item) for item in named}) < len(named):
        raise QueryError("two items have the same name; give every item its own")
    return named


def _space(items: tuple[Item, ...], tiers: tuple[int, ...], limits: Limits) -> Space[Ranking]:
    names = [[f"{item}@{tier + 1}" for item in items] for tier in range(len(tiers))]
    n_left = len(items) - sum(tiers)
    size = factorial(len(items)) // prod(map(factorial, tiers)) // factorial(n_left)
    what = f"rankings of {len(items)} items"
    if max(tiers) > 1:
        what = f"rankings of {len(items)} items into tiers of {', '.join(map(str, tiers))}"
    elif n_left:
        what = f"rankings of the first {len(tiers)} of {len(items)} items"
    return Space(what, ranking_circuit(names, tiers, limits=limits), size, RankingCoding(items, tiers))
