"""Weights of evidence: what each group of features can add to the log-odds, and lists of their sums.

Given the class, groups are independent, so a full instantiation's log-odds are

    log-odds(f) = log-odds(e) + sum over groups of  log Pr(f_g | upper, e) / Pr(f_g | other, e)

[chen2014, Prop. 1]. An entry of a list is one outcome of some groups (or several with equal weights,
merged): the weight that all their features give, the weight that the kept ones alone give, and its
probability under either class.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holdfast.core.arrays import Bools, Floats
from holdfast.engines.groups import Group

EQUAL = 1e-12
"""Weights closer than this are one weight: far below the tie tolerance, above what rounding can do."""


@dataclass(frozen=True, slots=True, eq=False)
class WeightList:
    """Outcomes of some groups, with what they weigh and how probable they are."""

    full: Floats
    """Weight of all features of the outcome."""
    kept: Floats
    """Weight of the kept features of it alone."""
    upper: Floats
    """Probability under the upper class."""
    lower: Floats
    """Probability under the other class."""

    def __len__(self) -> int:
        return len(self.full)


NOTHING = WeightList(np.zeros(1), np.zeros(1), np.ones(1), np.ones(1))
"""The one outcome of no groups."""


def group_weights(group: Group, sizes: Sequence[int], kept: frozenset[int], upper: int) -> WeightList:
    """The outcomes of one group; those of equal weights are merged, those of no probability dropped."""
    high, low = group.likelihood[:, upper], group.likelihood[:, 1 - upper]
    full = log_ratio(high, low)
    seen = [feature in kept for feature in group.features]
    if all(seen):
        partial = full
    elif not any(seen):
        partial = np.zeros_like(full)
    else:
        partial = log_ratio(_kept_only(high, sizes, seen), _kept_only(low, sizes, seen))
    return merged(WeightList(full, partial, high, low))


def _kept_only(likelihood: Floats, sizes: Sequence[int], seen: list[bool]) -> Floats:
    """The likelihood of the kept features alone, repeated for every outcome of the others."""
    table = likelihood.reshape(sizes)
    hidden = tuple(axis for axis, one in enumerate(seen) if not one)
    return np.broadcast_to(table.sum(axis=hidden, keepdims=True), table.shape).reshape(-1)


def log_ratio(high: Floats, low: Floats) -> Floats:
    """log(high / low), infinite where one is zero and 0 where both are: such outcomes have no mass."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return without_nan(np.log(high) - np.log(low))


def without_nan(weights: Floats) -> Floats:
    """Zero for nan: opposite certainties cannot occur together, so these outcomes have no mass."""
    cleaned: Floats = np.nan_to_num(weights, nan=0.0, posinf=np.inf, neginf=-np.inf)
    return cleaned


def joined(one: WeightList, other: WeightList) -> WeightList:
    """Outcomes of two sets of groups together: weights add, probabilities multiply; not merged."""
    with np.errstate(invalid="ignore"):
        full = np.add.outer(one.full, other.full).reshape(-1)
        kept = np.add.outer(one.kept, other.kept).reshape(-1)
    return WeightList(
        without_nan(full),
        without_nan(kept),
        np.multiply.outer(one.upper, other.upper).reshape(-1),
        np.multiply.outer(one.lower, other.lower).reshape(-1),
    )


def merged(weights: WeightList) -> WeightList:
    """The same outcomes sorted by full weight, equal ones (in both weights) added up."""
    possible = (weights.upper > 0) | (weights.lower > 0)
    full, kept = weights.full[possible], weights.kept[possible]
    order = np.argsort(full, kind="stable") if np.array_equal(full, kept) else np.lexsort((kept, full))
    full, kept = full[order], kept[order]
    upper, lower = weights.upper[possible][order], weights.lower[possible][order]
    starts = np.concatenate([[True], _differ(full) | _differ(kept)])
    if starts.all():
        return WeightList(full, kept, upper, lower)
    first = np.flatnonzero(starts)
    return WeightList(full[first], kept[first], np.add.reduceat(upper, first), np.add.reduceat(lower, first))


def _differ(values: Floats) -> Bools:
    """Whether each value but the first differs from the one before it."""
    before, after = values[:-1], values[1:]
    with np.errstate(invalid="ignore"):
        differ: Bools = (before != after) & ~(np.abs(after - before) <= EQUAL)
    return differ


def combined(lists: Sequence[WeightList]) -> WeightList:
    """All outcomes of several lists, merged and sorted by full weight."""
    result = NOTHING
    for weights in sorted(lists, key=len):
        result = merged(joined(result, weights))
    return result


def predicted_bits(lists: Sequence[WeightList]) -> float:
    """Logarithm to base 2 of how many outcomes `combined` will have at most."""
    alike = Counter((weights.full.tobytes(), weights.kept.tobytes(), len(weights)) for weights in lists)
    return sum(alike_bits(count, size) for (_, _, size), count in alike.items())


def alike_bits(count: int, size: int) -> float:
    """Logarithm to base 2 of the number of different sums of `count` lists with the same `size` weights.

    At most as many as there are ways to pick `count` of them with repetition: far fewer than the product.
    """
    return (math.lgamma(count + size) - math.lgamma(count + 1) - math.lgamma(size)) / math.log(2.0)
