"""A good subset to start a search by dropping with, and the order in which that search decides features.

Features are dropped one by one, the least harmful for its cost first, until the budget is met; then kept and
dropped ones are swapped while that helps. The search decides first what matters most around the subset found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.anytime import tick
from unswayed.core.arrays import Floats, Ints
from unswayed.kernels.leave_one_out import (
    UNITS_PER_ERROR,
    FeatureSides,
    Rooms,
    compiled_errors_but_one,
    rooms_for,
)
from unswayed.kernels.sum_distributions import Grid

BETTER = 1e-12
"""Errors closer than this are equal."""


@dataclass(frozen=True, slots=True, eq=False)
class Shop:
    """Features by their number on a grid, what they cost, and what may be spent."""

    grid: Grid = field(repr=False)
    costs: Floats
    budget: float
    rooms: Rooms = field(repr=False)

    def fits(self, kept: Iterable[int]) -> bool:
        """Whether features are within the budget."""
        return math.fsum(self.costs[f] for f in kept) <= self.budget


def open_shop(grid: Grid, costs: Floats, budget: float) -> Shop:
    """The shop with room to compute in; the budget is to allow for rounding already."""
    return Shop(grid, costs, budget, rooms_for(grid))


def errors_without(shop: Shop, kept: set[int]) -> dict[int, float]:
    """The least error of the kept features less each one of them."""
    free = _numbers(kept)
    errors = _errors(shop, FeatureSides(_numbers(()), _numbers(_others(shop, kept)), free), is_kept=True)
    return dict(zip(free.tolist(), errors.tolist(), strict=True))


def errors_with(shop: Shop, kept: set[int]) -> dict[int, float]:
    """The least error of the kept features and each one of the others."""
    free = _numbers(_others(shop, kept))
    errors = _errors(shop, FeatureSides(_numbers(kept), _numbers(()), free), is_kept=False)
    return dict(zip(free.tolist(), errors.tolist(), strict=True))


def error_of(shop: Shop, kept: set[int]) -> float:
    """The least error of the kept features."""
    others = _others(shop, kept)
    if kept:
        one = min(kept)
        sides = FeatureSides(_numbers(kept - {one}), _numbers(others), _numbers({one}))
    else:
        one = min(others)
        sides = FeatureSides(_numbers(()), _numbers(f for f in others if f != one), _numbers({one}))
    return float(_errors(shop, sides, is_kept=not kept)[0])


def good_subsets(shop: Shop) -> Iterator[set[int]]:
    """Better and better subsets within the budget: what tells most, then by dropping, filling, swapping."""
    yield most_telling(shop)
    kept, error = set(range(len(shop.costs))), 0.0
    while not shop.fits(kept):
        errors = errors_without(shop, kept)
        worst = min(errors, key=lambda f: ((errors[f] - error) / shop.costs[f], -shop.costs[f], f))
        kept.remove(worst)
        error = errors[worst]
    swapped: set[int] | None = kept
    while swapped is not None:
        kept = _filled(shop, swapped)
        yield kept
        swapped = _swapped(shop, kept)


def most_telling(shop: Shop) -> set[int]:
    """Features within the budget, most telling for their cost first: whose weights differ most by class."""
    grid = shop.grid
    apart = np.add.reduceat((grid.upper - grid.lower) * grid.number, grid.starts[:-1])
    kept: set[int] = set()
    order = range(len(shop.costs))
    for f in sorted(order, key=lambda f: (-apart[f] / shop.costs[f] if shop.costs[f] else -math.inf, f)):
        if shop.fits(kept | {f}):
            kept.add(f)
    return kept


def search_order(shop: Shop, kept: set[int], kinds: Ints, names: Sequence[str]) -> list[int]:
    """All features, those first that matter most to this subset; features alike stand together."""
    now = error_of(shop, kept)
    worth = {f: error - now for f, error in errors_without(shop, kept).items()}
    worth |= {f: now - error for f, error in errors_with(shop, kept).items()}
    most: dict[int, float] = {}
    for f, value in worth.items():
        most[int(kinds[f])] = max(most.get(int(kinds[f]), -np.inf), value)
    # Of features alike the dearer ones are dropped first, then those whose names come last.
    by_name = sorted(worth, key=lambda f: names[f], reverse=True)
    return sorted(by_name, key=lambda f: (-most[int(kinds[f])], kinds[f], -shop.costs[f]))


def _filled(shop: Shop, kept: set[int]) -> set[int]:
    """The subset with what the budget still affords, the most helpful for its cost first."""
    while True:
        fitting = [f for f in _others(shop, kept) if shop.fits(kept | {f})]
        if not fitting:
            return kept
        now, errors = error_of(shop, kept), errors_with(shop, kept)
        kept = kept | {min(fitting, key=lambda f: ((errors[f] - now) / shop.costs[f], f))}


def _swapped(shop: Shop, kept: set[int]) -> set[int] | None:
    """The best subset that exchanges one feature, if it is better."""
    best, found = error_of(shop, kept) - BETTER, None
    free = _numbers(kept)
    for other in _others(shop, kept):
        rest = _numbers(f for f in _others(shop, kept) if f != other)
        errors = _errors(shop, FeatureSides(_numbers({other}), rest, free), is_kept=True)
        for f, error in zip(free.tolist(), errors.tolist(), strict=True):
            changed = kept - {f} | {other}
            if error < best and shop.fits(changed):
                best, found = error, changed
    return found


def _others(shop: Shop, kept: set[int]) -> list[int]:
    return [f for f in range(len(shop.costs)) if f not in kept]


def _numbers(features: Iterable[int]) -> Ints:
    return np.array(sorted(features), dtype=np.int64)


def _errors(shop: Shop, sides: FeatureSides, *, is_kept: bool) -> Floats:
    tick(UNITS_PER_ERROR * len(sides.free), "a subset to start with")
    return compiled_errors_but_one(shop.grid, sides, shop.rooms, is_kept)
