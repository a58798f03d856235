"""Elimination orders: which variable to sum out next, so that the tables on the way stay small.

Eliminating a variable joins its neighbours into one table, so the order decides everything. Finding the
best is NP-hard; greedy orders are good and cheap: the variable that adds fewest new links (min-fill) or
makes the smallest table (min-weight). `elimination_orders` tries both, and, when the result is still dear,
a number of variants with ties broken at random, and gives the cheapest first.

Ties are broken by the numbers of the variables, and sums of sizes are kept in whole numbers, so that nothing
but the scopes and sizes decides: `plan.py` numbers the variables such that the order of a file does not
matter.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from unswayed.core.anytime import UNITS_PER_SECOND, settle, tick
from unswayed.core.errors import LimitError

MOST_TRIES = 12
HOPELESS_BITS = 44.0
"""An order that makes a table of more than 2 to this many entries (100 TB) is given up at once."""
SECONDS_PER_OPERATION = 5e-9
"""Measured for contractions of large tables; used to weigh one thing against another, not as a promise."""
SECONDS_PER_VARIABLE = 2e-4
"""About the most that one greedy order takes."""
SHARE_OF_TIME = 0.1
"""Share of what is left for an answer that further tries may take."""
ONE_BIT = 2**20
"""Logarithms of sizes are counted in this fraction of a bit: whole numbers add up the same in any order."""
MOST_BITS = 2**60
"""More than the bits of any table."""

Links = dict[int, set[int]]
"""Each variable's neighbours."""


@dataclass(frozen=True, slots=True)
class Order:
    """An elimination order and what it is predicted to cost."""

    variables: tuple[int, ...]
    """What to eliminate, first to last."""
    operations: float
    """Sum of the sizes of the tables that the eliminations make, a measure of time."""
    largest: float
    """Size of the largest of them, a measure of memory."""


HOPELESS = Order((), math.inf, math.inf)


def elimination_order(
    scopes: Iterable[Sequence[int]], sizes: Sequence[int], keep: Iterable[int] = ()
) -> Order:
    """The cheapest order found for eliminating from `scopes` all variables but `keep`.

    Raises `LimitError` when no order is found that any machine could follow.
    """
    return elimination_orders(scopes, sizes, keep)[0]


def elimination_orders(
    scopes: Iterable[Sequence[int]], sizes: Sequence[int], keep: Iterable[int] = ()
) -> list[Order]:
    """All orders tried for eliminating from `scopes` all variables but `keep`, the cheapest first.

    Raises `LimitError` when no order is found that any machine could follow.
    """
    links = _links(scopes)
    kept = frozenset(keep)
    bits = list(map(_bits, sizes))
    tried = [_follow_weight(links, bits, kept)]
    ordering_seconds = len(links) * SECONDS_PER_VARIABLE + 1e-9
    # Min-fill takes longer to find, and is worth it unless the work it may save is small beside it.
    tick(what="the order of exact inference")
    if tried[0].operations * SECONDS_PER_OPERATION > 0.1 * ordering_seconds:
        tried.append(_follow_fill(links, bits, kept))
    best = min(order.operations for order in tried)
    if math.isinf(best):
        raise LimitError(
            "the variables depend on each other too densely for exact inference: every order tried makes a "
            f"table of more than 2^{HOPELESS_BITS:.0f} entries; add evidence, or ask about fewer variables"
        )
    # Further tries may together take about as long as the contractions they hope to shorten.
    n_tries = min(MOST_TRIES, int(best * SECONDS_PER_OPERATION / ordering_seconds))

    def further_tries() -> Iterator[list[Order]]:
        random = Random(0)
        yield tried
        for _ in range(n_tries):
            tick(UNITS_PER_SECOND * ordering_seconds, "the order of exact inference")
            noise = {variable: random.random() for variable in sorted(links)}
            tried.append(_follow_fill(links, bits, kept, _weighted_fill, noise))
            yield tried

    found = settle(further_tries(), share=SHARE_OF_TIME).last
    return sorted(found, key=lambda order: (order.operations, order.largest))


@cache
def _bits(size: int) -> int:
    return round(ONE_BIT * math.log2(size))


def _links(scopes: Iterable[Sequence[int]]) -> Links:
    """Each variable's neighbours: those it shares a table with."""
    links: Links = {}
    for scope in scopes:
        for variable in scope:
            links.setdefault(variable, set()).update(scope)
    for variable, neighbours in links.items():
        neighbours.discard(variable)
    return links


def _follow_weight(links: Links, bits: Sequence[int], keep: frozenset[int]) -> Order:
    """Eliminate what makes the smallest table until only `keep` is left.

    Every question needs this order, so it keeps the weights up to date instead of scoring anew, and packs
    weight and variable into one number.
    """
    links = {variable: set(neighbours) for variable, neighbours in links.items()}
    count, bits_of = len(bits), bits.__getitem__
    weights = {v: bits[v] + sum(map(bits_of, neighbours)) for v, neighbours in links.items()}
    heap = [weight * count + v for v, weight in weights.items() if v not in keep]
    heapq.heapify(heap)
    order, tables = [], []
    while heap:
        weight, variable = divmod(heapq.heappop(heap), count)
        if weights.get(variable) != weight:
            continue
        del weights[variable]
        if weight > HOPELESS_BITS * ONE_BIT:
            return HOPELESS
        order.append(variable)
        tables.append(weight)
        neighbours = links.pop(variable)
        for other in neighbours:
            linked = links[other]
            before = len(linked)
            linked |= neighbours
            linked -= {variable, other}
            is_linked_anew = len(linked) >= before
            weight = (
                bits[other] + sum(map(bits_of, linked)) if is_linked_anew else weights[other] - bits[variable]
            )
            if weight != weights[other]:
                weights[other] = weight
                if other not in keep:
                    heapq.heappush(heap, weight * count + other)
    return _priced(order, tables)


def _priced(order: Sequence[int], weights: Iterable[int]) -> Order:
    sizes = [2.0 ** (weight / ONE_BIT) for weight in weights]
    return Order(tuple(order), sum(sizes), max(sizes, default=0.0))


def _weight(links: Links, bits: Sequence[int], variable: int) -> int:
    """Logarithm of the size of the table that eliminating the variable makes."""
    return bits[variable] + sum(map(bits.__getitem__, links[variable]))


def _fill(links: Links, bits: Sequence[int], variable: int) -> int:
    """Number of missing links among the neighbours, then the size of the table."""
    neighbours = links[variable]
    # Each difference holds the neighbour itself, which is not a missing link, hence the len().
    differences = map(neighbours.difference, map(links.__getitem__, neighbours))
    missing = sum(map(len, differences)) - len(neighbours)
    return missing * MOST_BITS + _weight(links, bits, variable)


def _weighted_fill(links: Links, bits: Sequence[int], variable: int) -> int:
    """Missing links, each weighted by the sizes of what it links; ties left to the noise."""
    neighbours = links[variable]
    missing = 0
    for one in neighbours:
        for other in neighbours - links[one]:
            missing += bits[one] * bits[other]
    return missing - sum(bits[n] ** 2 for n in neighbours)


def _follow_fill(
    links: Links,
    bits: Sequence[int],
    keep: frozenset[int],
    score: Callable[[Links, Sequence[int], int], int] = _fill,
    noise: dict[int, float] | None = None,
) -> Order:
    """Eliminate the variable of lowest score, which counts missing links, until only `keep` is left."""
    links = {variable: set(neighbours) for variable, neighbours in links.items()}
    current = {v: (score(links, bits, v), noise[v] if noise else 0.0, v) for v in links if v not in keep}
    heap = list(current.values())
    heapq.heapify(heap)
    order, tables = [], []
    while current:
        entry = heapq.heappop(heap)
        variable = entry[2]
        if current.get(variable) is not entry:
            continue
        del current[variable]
        tables.append(_weight(links, bits, variable))
        if tables[-1] > HOPELESS_BITS * ONE_BIT:
            return HOPELESS
        order.append(variable)
        for other in _eliminate(links, variable) & current.keys():
            new = score(links, bits, other)
            if new != current[other][0]:
                entry = current[other] = (new, current[other][1], other)
                heapq.heappush(heap, entry)
    return _priced(order, tables)


def _eliminate(links: Links, variable: int) -> set[int]:
    """Link the variable's neighbours and remove it; what may miss fewer links now comes back.

    That is the neighbours, and whatever has both ends of a new link as neighbours.
    """
    neighbours = links.pop(variable)
    touched = set(neighbours)
    for one in neighbours:
        linked = links[one]
        linked.discard(variable)
        missing = neighbours - linked
        if len(missing) > 1:
            missing.discard(one)
            linked |= missing
            touched.update(*(linked & links[other] for other in missing if one < other))
    return touched
