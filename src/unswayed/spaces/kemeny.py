"""Kemeny's ranking: the one with the fewest disagreements with given rankings, found exactly.

Which order of some items is best at the top does not depend on the order of the others below, so the best
order of every set of items follows from those of its subsets with one item less: 2^n sets of n items.
"""

from __future__ import annotations

import time

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import LimitError
from unswayed.core.limits import DEFAULT_LIMITS, Limits


def pairwise_wins(places: Ints, weights: Floats) -> Floats:  # (items, items)
    """Weight of the rankings, rows of items from 0, that put item i before item j.

    >>> pairwise_wins(np.array([[1, 0], [1, 0], [0, 1]]), np.ones(3)).tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """
    n_items = places.shape[1]
    position = np.argsort(places, axis=1)
    wins = np.zeros((n_items, n_items))
    for item in range(n_items):
        wins[item] = weights @ (position[:, item, None] < position)
    return wins


def kemeny_ranking(wins: Floats, *, limits: Limits = DEFAULT_LIMITS) -> Ints:  # (items,)
    """Items from 0 in the order that contradicts the least weight of preferences.

    `wins[i, j]` is the weight of those who prefer i to j. Cost: O(n^2 2^n) time, O(2^n) memory. Among equally
    good rankings, the one with the larger items at the end.
    """
    n_items = len(wins)
    limits.check_bytes(40.0 * 2.0 ** min(n_items, 100), f"the central ranking of {n_items} items")
    deadline = limits.deadline()
    cost = np.full(2**n_items, np.inf)
    last = np.zeros(2**n_items, dtype=np.int64)
    cost[0] = 0.0
    # Placing item i last in a set contradicts whoever prefers it to the others, and needs the set without i.
    for size, sets in enumerate(_by_size(n_items)):
        if time.monotonic() > deadline:
            raise LimitError("the central ranking is not found in time; raise Limits(max_seconds=...)")
        for item in range(n_items) if size else ():
            inside = sets[(sets >> item & 1) == 1]
            others = inside ^ (1 << item)
            with_item = cost[others] + _weights_of(others, wins[item])
            better = with_item <= cost[inside]
            cost[inside[better]] = with_item[better]
            last[inside[better]] = item
    return _traced(last, n_items)


def _by_size(n_items: int) -> list[Ints]:
    """All sets of items as bit masks, grouped by their number of items."""
    sets = np.arange(2**n_items)
    sizes = np.bitwise_count(sets)
    order = np.argsort(sizes, kind="stable")
    ends = np.cumsum(np.bincount(sizes, minlength=n_items + 1))
    return np.split(sets[order], ends[:-1])


def _weights_of(sets: Ints, weights: Floats) -> Floats:
    """The sum of the weights of the items in each set."""
    total = np.zeros(len(sets))
    for item, weight in enumerate(weights.tolist()):
        total += weight * (sets >> item & 1)
    return total


def _traced(last: Ints, n_items: int) -> Ints:
    order = np.empty(n_items, dtype=np.int64)
    remaining = 2**n_items - 1
    for position in range(n_items - 1, -1, -1):
        order[position] = last[remaining]
        remaining ^= 1 << int(order[position])
    return order
