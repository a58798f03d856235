"""The Mallows model of rankings: one central ranking, and probability that falls with the distance from it.

    P(r) = exp(-dispersion d(r, center)) / Z

where d counts the pairs of items that two rankings put in opposite order (Kendall's tau distance) [Mallows
1957]. It is the rival that [choi2016] compares with: one peak, whatever the data.

The center is Kemeny's ranking, the one with the fewest disagreements with given rankings. Which order of
some items is best at the top does not depend on the order of the others below, so the best order of every
set of items follows from those of its subsets with one item less: 2^n sets of n items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.core.anytime import bytes_allowed, tick
from unswayed.core.arrays import Bools, Floats, Ints, expect_numbers, read_only
from unswayed.core.errors import LimitError, QueryError, expect_list
from unswayed.core.limits import readable_bytes

_SMALL = 1e-3
"""Below this dispersion, series are more accurate than differences."""


@dataclass(frozen=True, slots=True, eq=False)
class Mallows:
    """A Mallows distribution over the rankings of items 1 to n.

    >>> model = Mallows(np.array([2, 1, 3]), 1.0)
    >>> np.exp(model.log_likelihood([[2, 1, 3], [1, 2, 3]])).round(4).tolist()
    [0.4863, 0.1789]
    """

    center: Ints = field(repr=False)  # (items,)
    """The most probable ranking, first position first."""
    dispersion: float
    """How fast probability falls: 0 for all rankings alike, infinite for the center only."""
    is_optimal: bool = False
    """Whether learning proved that no other center explains its examples better."""

    def __post_init__(self) -> None:
        center = checked_orders(np.asarray(self.center)[None, :])[0]
        object.__setattr__(self, "center", read_only(center))
        if not self.dispersion >= 0:
            raise QueryError(f"a dispersion of {self.dispersion}; it is 0 or more")

    def log_likelihood(self, orders: Any) -> Floats:  # (rows,)
        """Log-probability of each ranking, rows of items in order of position."""
        checked = checked_orders(orders, len(self.center))
        distance = kendall_distance(checked, self.center)
        if math.isinf(self.dispersion):
            return np.where(distance == 0, 0.0, -math.inf)
        weight = -self.dispersion * distance.astype(np.float64)
        return weight - log_normalizer(self.dispersion, len(self.center))

    def sample(self, n_samples: int, rng: np.random.Generator) -> Ints:  # (samples, items)
        """Rankings drawn from the distribution.

        The item at each position is the v-th of those left, in the order of the center, with probability
        falling exponentially in v; the numbers v are independent and sum to the distance.
        """
        left = np.tile(self.center, (n_samples, 1))
        orders = np.empty_like(left)
        for position in range(len(self.center)):
            n_left = left.shape[1]
            weights = np.exp(-min(self.dispersion, 1e4) * np.arange(n_left))
            skipped = rng.choice(n_left, size=n_samples, p=weights / weights.sum())
            orders[:, position] = left[np.arange(n_samples), skipped]
            stays = np.arange(n_left) != skipped[:, None]
            left = left[stays].reshape(n_samples, n_left - 1)
        return orders


def learn_mallows(orders: Any, weights: Any = None, *, center: Any = None) -> Mallows:
    """The most likely Mallows distribution: no other one makes the rankings more probable.

    The center minimises the sum of distances (Kemeny's ranking), the dispersion makes the expected distance
    from it equal to the mean one. With `center` given, only the dispersion is learned. Cost of the center:
    O(n^2 2^n) for n items, a twentieth of a second for 15; beyond about 26 items give
    `center=heuristic_center(orders)`, which is good and fast and proves nothing.
    """
    checked = checked_orders(orders)
    weight = checked_weights(weights, len(checked))
    if center is None:
        best = 1 + kemeny_ranking(pairwise_wins(checked - 1, weight))
    else:
        best = checked_orders([expect_list(center, "the center")], checked.shape[1])[0]
    mean = float(weight @ kendall_distance(checked, best) / weight.sum())
    return Mallows(best, dispersion_of(mean, len(best)), is_optimal=center is None)


def heuristic_center(orders: Any, weights: Any = None) -> Ints:  # (items,)
    """A ranking near the center: by mean position, then items moved while that lowers the disagreements.

    No single item can be moved to a better place, but a better ranking may exist. Cost: O(n^2) a pass.

    >>> heuristic_center([[2, 1, 3], [2, 3, 1], [1, 2, 3]]).tolist()
    [2, 1, 3]
    """
    checked = checked_orders(orders)
    wins = pairwise_wins(checked - 1, checked_weights(weights, len(checked)))
    order = np.argsort(wins.sum(axis=0), kind="stable")  # fewest defeats first
    moved = True
    while moved:
        moved = False
        for item in order.tolist():
            others = order[order != item]
            # Disagreements when the item stands before the first, second, ... of the others, or last.
            before = np.concatenate([[0.0], np.cumsum(wins[item, others])])
            after = wins[others, item].sum() - np.concatenate([[0.0], np.cumsum(wins[others, item])])
            place, now = int(np.argmin(before + after)), int(np.flatnonzero(order == item)[0])
            if (before + after)[place] < (before + after)[now] * (1 - 1e-12):
                order = np.insert(others, place, item)
                moved = True
    return 1 + order


def checked_weights(weights: Any, n_rows: int) -> Floats:
    """One weight for each ranking, 1 where none are given; `QueryError` otherwise."""
    weight = np.ones(n_rows) if weights is None else expect_numbers(weights, "weights")
    if weight.shape != (n_rows,) or not (weight >= 0).all() or not 0 < weight.sum() < math.inf:
        raise QueryError("give one weight of 0 or more for each ranking, not all 0")
    return weight


def checked_orders(orders: Any, n_items: int | None = None) -> Ints:
    """Rankings as a matrix of items 1 to n, each once a row; `QueryError` otherwise."""
    try:
        matrix = np.asarray(orders)
    except ValueError:  # rows of different lengths
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.dtype.kind not in "iu" or not matrix.size:
        raise QueryError("rankings are rows of whole numbers, the items in order of position")
    n_found = matrix.shape[1]
    if n_items is not None and n_found != n_items:
        raise QueryError(f"rankings of {n_found} items for a model of {n_items}")
    bad: Bools = (np.sort(matrix, axis=1) != np.arange(1, n_found + 1)).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise QueryError(f"ranking {row} does not have each item from 1 to {n_found} once")
    return matrix.astype(np.int64)


def kendall_distance(orders: Ints, center: Ints) -> Ints:  # (rows,)
    """Number of pairs of items that each ranking puts in the other order than the center.

    >>> kendall_distance(np.array([[3, 2, 1], [1, 3, 2]]), np.array([1, 2, 3])).tolist()
    [3, 1]
    """
    position = np.empty(len(center) + 1, dtype=np.int64)
    position[center] = np.arange(len(center))
    places = position[orders]
    total = np.zeros(len(orders), dtype=np.int64)
    for column in range(len(center) - 1):
        total += (places[:, column, None] > places[:, column + 1 :]).sum(axis=1)
    return total


def log_normalizer(dispersion: float, n_items: int) -> float:
    """Logarithm of the sum of exp(-dispersion d) over all rankings: a product over positions."""
    if dispersion == 0:
        return math.lgamma(n_items + 1)
    terms = [math.expm1(-k * dispersion) / math.expm1(-dispersion) for k in range(1, n_items + 1)]
    return math.fsum(map(math.log, terms))


def expected_distance(dispersion: float, n_items: int) -> float:
    """Mean distance from the center.

    >>> expected_distance(0.0, 4)
    3.0
    """
    k = np.arange(1, n_items + 1)
    if n_items * dispersion < _SMALL:
        terms = (k - 1) / 2 - (k**2 - 1) * dispersion / 12
    else:
        with np.errstate(over="ignore"):
            terms = 1 / np.expm1(dispersion) - k / np.expm1(k * dispersion)
    return float(terms.sum())


def dispersion_of(mean_distance: float, n_items: int) -> float:
    """The dispersion whose expected distance is `mean_distance`; by bisection, since it falls steadily."""
    if mean_distance <= 0:
        return math.inf
    if mean_distance >= expected_distance(0.0, n_items):
        return 0.0
    low, high = 0.0, 1.0
    while expected_distance(high, n_items) > mean_distance:
        low, high = high, 2 * high
    while high - low > 1e-15 * high and low < (middle := (low + high) / 2) < high:
        if expected_distance(middle, n_items) > mean_distance:
            low = middle
        else:
            high = middle
    return high


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


def kemeny_ranking(wins: Floats) -> Ints:  # (items,)
    """Items from 0 in the order that contradicts the least weight of preferences.

    `wins[i, j]` is the weight of those who prefer i to j. Cost: O(n^2 2^n) time, O(2^n) memory. Among equally
    good rankings, the one with the larger items at the end.
    """
    n_items = len(wins)
    n_bytes = 40.0 * 2.0 ** min(n_items, 100)
    if n_bytes > bytes_allowed():
        raise LimitError(
            f"the central ranking of {n_items} items needs about {readable_bytes(n_bytes)}, over the limit "
            f"of {readable_bytes(bytes_allowed())}; give a center (heuristic_center(orders) finds a good "
            "one), or raise Limits(max_bytes=...)"
        )
    cost = np.full(2**n_items, np.inf)
    last = np.zeros(2**n_items, dtype=np.int64)
    cost[0] = 0.0
    # Placing item i last in a set contradicts whoever prefers it to the others, and needs the set without i.
    for size, sets in enumerate(_by_size(n_items)):
        tick(what="the central ranking")
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
