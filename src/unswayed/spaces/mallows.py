"""The Mallows model of rankings: one central ranking, and probability that falls with the distance from it.

    P(r) = exp(-dispersion d(r, center)) / Z

where d counts the pairs of items that two rankings put in opposite order (Kendall's tau distance) [Mallows
1957]. It is the rival that [choi2016] compares with: one peak, whatever the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints, read_only
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.spaces.kemeny import kemeny_ranking, pairwise_wins

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


def learn_mallows(orders: Any, weights: Any = None, *, limits: Limits = DEFAULT_LIMITS) -> Mallows:
    """The most likely Mallows distribution, exact: no other one makes the rankings more probable.

    The center minimises the sum of distances (Kemeny's ranking), the dispersion makes the expected distance
    from it equal to the mean one. Cost of the center: O(n^2 2^n) for n items, a
    twentieth of a second for 15.
    """
    checked = checked_orders(orders)
    weight = np.ones(len(checked)) if weights is None else np.asarray(weights, dtype=np.float64)
    if weight.shape != (len(checked),) or not (weight >= 0).all() or not 0 < weight.sum() < math.inf:
        raise QueryError("give one weight of 0 or more for each ranking, not all 0")
    center = 1 + kemeny_ranking(pairwise_wins(checked - 1, weight), limits=limits)
    mean = float(weight @ kendall_distance(checked, center) / weight.sum())
    return Mallows(center, dispersion_of(mean, len(center)))


def checked_orders(orders: Any, n_items: int | None = None) -> Ints:
    """Rankings as a matrix of items 1 to n, each once a row; `QueryError` otherwise."""
    matrix = np.asarray(orders)
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
