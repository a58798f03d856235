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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from unswayed.core.errors import LimitError

MOST_TRIES = 12
HOPELESS_BITS = 44.0
"""An order that makes a table of more than 2 to this many entries (100 TB) is given up at once."""
SECONDS_PER_OPERATION = 5e-9
"""Measured for contractions of large tables; used to weigh one thing against another, not as a promise."""
SECONDS_PER_VARIABLE = 2e-4
"""Measured for one greedy order."""
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
    bits = [round(ONE_BIT * math.log2(size)) for size in sizes]
    tried = [_greedy(links, bits, kept, _weight)]
    ordering_seconds = len(links) * SECONDS_PER_VARIABLE + 1e-9
    # Min-fill takes longer to find, and is worth it unless the work it may save is small beside it.
    if tried[0].operations * SECONDS_PER_OPERATION > 0.1 * ordering_seconds:
        tried.append(_greedy(links, bits, kept, _fill))
    best = min(order.operations for order in tried)
    if math.isinf(best):
        raise LimitError(
            "the variables depend on each other too densely for exact inference: every order tried makes a "
            f"table of more than 2^{HOPELESS_BITS:.0f} entries; add evidence, or ask about fewer variables"
        )
    random = Random(0)
    # Further tries may together take about as long as the contractions they hope to shorten.
    tries = best * SECONDS_PER_OPERATION / ordering_seconds
    for _ in range(min(MOST_TRIES, int(tries))):
        noise = {variable: random.random() for variable in sorted(links)}
        tried.append(_greedy(links, bits, kept, _weighted_fill, noise))
    return sorted(tried, key=lambda order: (order.operations, order.largest))


def _links(scopes: Iterable[Sequence[int]]) -> Links:
    """Each variable's neighbours: those it shares a table with."""
    links: Links = {}
    for scope in scopes:
        for variable in scope:
            links.setdefault(variable, set()).update(scope)
    for variable, neighbours in links.items():
        neighbours.discard(variable)
    return links


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


def _greedy(
    links: Links,
    bits: Sequence[int],
    keep: frozenset[int],
    score: Callable[[Links, Sequence[int], int], int],
    noise: dict[int, float] | None = None,
) -> Order:
    """Eliminate the variable of lowest score until only `keep` is left."""
    links = {variable: set(neighbours) for variable, neighbours in links.items()}
    current = {v: (score(links, bits, v), noise[v] if noise else 0.0, v) for v in links if v not in keep}
    heap = list(current.values())
    heapq.heapify(heap)
    order, operations, largest = [], 0.0, 0.0
    while current:
        entry = heapq.heappop(heap)
        variable = entry[2]
        if current.get(variable) is not entry:
            continue
        del current[variable]
        table_bits = (entry[0] if score is _weight else _weight(links, bits, variable)) / ONE_BIT
        if table_bits > HOPELESS_BITS:
            return Order((), math.inf, math.inf)
        size = 2.0**table_bits
        order.append(variable)
        operations += size
        largest = max(largest, size)
        for other in _eliminate(links, variable, far=score is not _weight):
            if (known := current.get(other)) and (new := score(links, bits, other)) != known[0]:
                entry = current[other] = (new, known[1], other)
                heapq.heappush(heap, entry)
    return Order(tuple(order), operations, largest)


def _eliminate(links: Links, variable: int, far: bool) -> set[int]:
    """Link the variable's neighbours and remove it; what may have another score now comes back.

    That is the neighbours; `far` also finds whatever has both ends of a new link as neighbours, since it
    misses one link fewer.
    """
    neighbours = links.pop(variable)
    touched = set(neighbours) if far else neighbours
    for one in neighbours:
        linked = links[one]
        linked.discard(variable)
        missing = neighbours - linked
        if len(missing) > 1:
            missing.discard(one)
            linked |= missing
            if far:
                touched.update(*(linked & links[other] for other in missing if one < other))
    return touched
