"""The cheapest ways to reach a sum: pick options from groups, at most one each, until their gains are
enough.

A sufficient reason of naive Bayes and a smallest flip are both such covers: each finding can gain something,
and the gains must add up to what is needed. With equal costs sorting by gain finds the smallest number
[marquessilva2020]; with any costs, a search in that order with the bound of the fractional cover does.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

MOST_NODES = 100_000
"""Nodes of a search before it is content with a bound."""
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Pickable:
    """Options of which one may be picked."""

    name: int
    cost: float
    options: tuple[tuple[float, int], ...]
    """Gains above 0 with what gains them, the largest first; not empty."""


@dataclass(frozen=True, slots=True)
class Covers:
    """Picks whose gains reach the need, all of one cost."""

    picks: tuple[dict[int, int], ...]
    """What is picked in each group, by name; empty when nothing reaches the need."""
    cost_bound: float
    """No cover costs less; infinite when there is none."""
    cut: bool
    """Whether there may be more of this cost."""


@dataclass(slots=True)
class CoverSearch:
    """Groups in the order of gain for cost, with running sums for the fractional bound."""

    groups: list[Pickable]
    gains: list[float] = field(init=False)
    costs: list[float] = field(init=False)
    whole: bool = field(init=False)
    nodes: int = 0

    def __post_init__(self) -> None:
        self.groups.sort(key=lambda group: (-group.options[0][0] / group.cost, group.name))
        self.gains = list(accumulate((group.options[0][0] for group in self.groups), initial=0.0))
        self.costs = list(accumulate((group.cost for group in self.groups), initial=0.0))
        self.whole = all(float(group.cost).is_integer() for group in self.groups)

    def bound(self, first: int, need: float) -> float:
        """What covering the need from the groups `first` and later costs at least."""
        if need <= 0:
            return 0.0
        reach = self.gains[first] + need
        if reach > self.gains[-1]:
            return math.inf
        last = bisect_left(self.gains, reach, lo=first + 1)
        share = (reach - self.gains[last - 1]) / (self.gains[last] - self.gains[last - 1])
        cost = self.costs[last - 1] - self.costs[first] + share * self.groups[last - 1].cost
        return math.ceil(cost - 1e-9) if self.whole else cost

    def covers(self, need: float, limit: float) -> Iterator[tuple[float, dict[int, int]]]:
        """Covers that cost at most `limit`, depth first; ends early after `MOST_NODES` nodes."""
        waiting: list[tuple[int, float, float, dict[int, int]]] = [(0, need, 0.0, {})]
        while waiting and self.nodes < MOST_NODES:
            self.nodes += 1
            first, left, cost, picked = waiting.pop()
            if cost + self.bound(first, left) > limit * (1 + ROUNDING):
                continue
            if left <= 0:
                yield cost, picked
                continue
            group = self.groups[first]
            waiting.append((first + 1, left, cost, picked))
            # The largest gain is pushed last, so it is taken up first.
            for gain, option in reversed(group.options):
                waiting.append((first + 1, left - gain, cost + group.cost, {**picked, group.name: option}))


def cheapest_covers(groups: Sequence[Pickable], need: float, most: int) -> Covers:
    """The cheapest picks whose gains add up to `need`, up to `most` of them.

    >>> options = [Pickable(i, 1.0, ((gain, 7 + i),)) for i, gain in enumerate((2.0, 3.0, 1.0))]
    >>> cheapest_covers(options, 4.0, most=5).picks
    ({1: 8, 0: 7}, {1: 8, 2: 9})
    """
    if need <= 0:
        return Covers(({},), 0.0, cut=False)
    search = CoverSearch([group for group in groups if group.options])
    lowest = search.bound(0, need) if search.groups else math.inf
    if math.isinf(lowest):
        return Covers((), math.inf, cut=False)
    best = _lowest_cost(search, need)
    # A search that was cut short knows its fractional bound only.
    bound = best if search.nodes < MOST_NODES else lowest
    search.nodes = 0
    found = list(_first(search.covers(need, best), most + 1))
    return Covers(tuple(picked for _, picked in found[:most]), bound, len(found) > most)


def _lowest_cost(search: CoverSearch, need: float) -> float:
    """The cost of a cheapest cover; each one found lowers the limit for the next."""
    best = math.inf
    while search.nodes < MOST_NODES:
        step = 1.0 if search.whole else 2 * ROUNDING * best
        limit = search.costs[-1] if math.isinf(best) else best - step
        cheaper = next(search.covers(need, limit), None)
        if cheaper is None:
            break
        best = cheaper[0]
    return best


def _first(
    found: Iterator[tuple[float, dict[int, int]]], most: int
) -> Iterator[tuple[float, dict[int, int]]]:
    for _ in range(most):
        one = next(found, None)
        if one is None:
            return
        yield one
