"""The Plackett-Luce model of rankings: items drawn one after another, by their worth.

    P(r) = prod over positions of worth(item here) / sum of the worths of all items not placed before

[Luce 1959, Plackett 1975]. One number for each item: with few rankings it is hard to beat, with many it
cannot follow what depends on more than the items' popularity. Orders that end early are taken as they are.

The worths of greatest likelihood are found by minorising and maximising [Hunter 2004]: each step takes

    worth(i) = wins(i) / sum over the choices where i was available of 1 / (sum of the worths available)

and no step lowers the likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.core.arguments import expect_count
from unswayed.core.arrays import Floats, Ints, read_only
from unswayed.core.errors import QueryError, expect_list, expect_number
from unswayed.spaces.mallows import checked_weights

_MOST_STEPS = 10_000
_TOLERANCE = 1e-10
"""Largest change of the logarithm of a worth in the last step."""


@dataclass(frozen=True, slots=True, eq=False)
class PlackettLuce:
    """A Plackett-Luce distribution over the rankings of items 1 to n.

    >>> model = PlackettLuce(np.log([2.0, 1.0, 1.0]))
    >>> np.exp(model.log_likelihood([[1, 2, 3], [3, 1, 2], [1]])).round(4).tolist()
    [0.25, 0.1667, 0.5]
    """

    log_worth: Floats = field(repr=False)  # (items,)
    """Logarithms of the shares of the items in all worth."""

    def __post_init__(self) -> None:
        worth = np.asarray(self.log_worth, dtype=np.float64)
        if worth.ndim != 1 or not len(worth) or not np.isfinite(worth).all():
            raise QueryError("a Plackett-Luce model needs a finite logarithm of a worth for each item")
        object.__setattr__(self, "log_worth", read_only(worth - np.logaddexp.reduce(worth)))

    def log_likelihood(self, orders: Any) -> Floats:  # (orders,)
        """Log-probability of each order; of one that ends early, that of all rankings that begin so."""
        choices = _choices(orders, None, len(self.log_worth))
        worth = np.exp(self.log_worth)[choices.items]
        odds = np.log(worth) - np.log(_available(worth))
        answer: Floats = np.where(choices.is_open, odds, 0.0).sum(axis=1)
        return answer

    def sample(self, n_samples: int, rng: np.random.Generator) -> Ints:  # (samples, items)
        """Rankings drawn from the distribution: items by worth, each disturbed by Gumbel noise."""
        noisy = self.log_worth + rng.gumbel(size=(n_samples, len(self.log_worth)))
        return 1 + np.argsort(-noisy, axis=1)


def learn_plackett_luce(
    orders: Any, weights: Any = None, *, n_items: int | None = None, prior: float = 0.1
) -> PlackettLuce:
    """The most likely Plackett-Luce distribution of orders, which may end early.

    `prior` weighs comparisons of each item with one of middling worth, as often won as lost: an item that
    always won would otherwise be worth more than any number says.
    """
    expect_number(prior, "the prior")
    if not prior > 0:
        raise QueryError(f"a prior of weight {prior!r}; give a number above 0")
    choices = _choices(orders, weights, n_items)
    n_found = choices.items.shape[1]
    amounts = np.where(choices.is_open, choices.weights[:, None], 0.0)
    wins = np.bincount(choices.items.ravel(), amounts.ravel(), n_found) + prior
    log_worth = np.zeros(n_found)
    for _ in range(_MOST_STEPS):
        worth = np.exp(log_worth)
        # An item was available in every choice up to its place; those never placed, in all of them.
        shares = np.cumsum(amounts / _available(worth[choices.items]), axis=1)
        demand = np.bincount(choices.items.ravel(), shares.ravel(), n_found) + 2 * prior / (worth + 1.0)
        fresh = np.log(wins / demand)
        is_done = np.abs(fresh - log_worth).max() < _TOLERANCE
        log_worth = fresh
        if is_done:
            break
    return PlackettLuce(log_worth)


@dataclass(frozen=True, slots=True, eq=False)
class _Choices:
    """Orders as choices: at each place an item out of those from there on."""

    items: Ints  # (orders, items) the items in order, those not placed at the end
    is_open: np.ndarray[Any, np.dtype[np.bool_]]  # (orders, items) whether the choice was made, among several
    weights: Floats  # (orders,)


def _choices(orders: Any, weights: Any, n_items: int | None) -> _Choices:
    listed = [_checked(order) for order in expect_list(orders, "rankings")]
    if n_items is not None:
        expect_count(n_items, "the number of items", 1)
    n_found = n_items or max((max(order) for order in listed), default=0)
    if not listed or not n_found:
        raise QueryError("rankings are rows of whole numbers from 1, the items in order of position")
    for number, order in enumerate(listed):
        if len(set(order)) < len(order) or max(order) > n_found:
            raise QueryError(f"ranking {number} does not have items from 1 to {n_found}, each at most once")
    everything = range(1, n_found + 1)
    items = np.array([[*order, *(i for i in everything if i not in set(order))] for order in listed]) - 1
    lengths = np.minimum([len(order) for order in listed], n_found - 1)
    return _Choices(items, np.arange(n_found) < lengths[:, None], checked_weights(weights, len(listed)))


def _checked(order: Any) -> Sequence[int]:
    found = np.asarray(order)
    if found.ndim != 1 or found.dtype.kind not in "iu" or not len(found) or found.min() < 1:
        raise QueryError(f"{order!r} is no order; give the numbers of items from 1, the best first")
    listed: list[int] = found.tolist()
    return listed


def _available(worth: Floats) -> Floats:  # (orders, items)
    """The worth of the item at each place and of all after it."""
    return np.cumsum(worth[:, ::-1], axis=1)[:, ::-1]
