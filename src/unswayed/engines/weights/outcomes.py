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
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.engines.groups import Group
from unswayed.kernels.meeting import EQUAL, MeetingOutcomes


class Share(Enum):
    """How much of the features behind a list is kept."""

    NONE = "none"
    ALL = "all"
    SOME = "some"


@dataclass(frozen=True, slots=True, eq=False)
class WeightList:
    """Outcomes of some groups, with what they weigh and how probable they are."""

    full: Floats
    """Weight of all features of the outcome."""
    upper: Floats
    """Probability under the upper class."""
    lower: Floats
    """Probability under the other class."""
    share: Share
    """How much of the features is kept."""
    partial: Floats | None = None
    """Weight of the kept features alone, where some are kept and some not."""

    def __len__(self) -> int:
        return len(self.full)

    @property
    def kept(self) -> Floats:
        """Weight of the kept features of each outcome alone."""
        if self.share is Share.ALL:
            return self.full
        return np.zeros(len(self.full)) if self.partial is None else self.partial

    @property
    def key(self) -> tuple[bytes, bytes, int]:
        """Equal for lists with the same weights."""
        return self.full.tobytes(), b"" if self.partial is None else self.partial.tobytes(), len(self.full)


NOTHING = WeightList(np.zeros(1), np.ones(1), np.ones(1), Share.NONE)
"""The one outcome of no groups."""


def group_weights(group: Group, sizes: Sequence[int], kept: frozenset[int], upper: int) -> WeightList:
    """The outcomes of one group; those of equal weights are merged, those of no probability dropped.

    Remembered with the group where it is kept whole or not at all.
    """
    high, low = group.likelihood[:, upper], group.likelihood[:, 1 - upper]
    seen = [feature in kept for feature in group.features]
    if all(seen) or not any(seen):
        share = Share.ALL if all(seen) else Share.NONE
        if (upper, share) not in group.lists:
            group.lists[upper, share] = merged(WeightList(log_ratio(high, low), high, low, share))
        found: WeightList = group.lists[upper, share]
        return found
    full = log_ratio(high, low)
    partial = log_ratio(_kept_only(high, sizes, seen), _kept_only(low, sizes, seen))
    return merged(WeightList(full, high, low, Share.SOME, partial))


def list_outcomes(groups: Sequence[Group], upper: int) -> MeetingOutcomes:
    """The possible outcomes of all groups side by side, as they come: quick to make."""
    starts = np.zeros(len(groups) + 1, dtype=np.int64)
    np.cumsum([len(group.likelihood) for group in groups], out=starts[1:])
    high, low = (
        np.concatenate([np.zeros(0), *(group.likelihood[:, side] for group in groups)])
        for side in (upper, 1 - upper)
    )
    possible = (high > 0) | (low > 0)
    if not possible.all():
        starts = np.concatenate([[0], np.cumsum(possible)])[starts]
        high, low = high[possible], low[possible]
    return MeetingOutcomes(starts, log_ratio(high, low), high, low)


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
    is_nan = np.isnan(weights)
    return np.where(is_nan, 0.0, weights) if is_nan.any() else weights


def joined(one: WeightList, other: WeightList) -> WeightList:
    """Outcomes of two sets of groups together: weights add, probabilities multiply; not merged."""
    share, partial = one.share, None
    if one.share is not other.share or one.share is Share.SOME:
        share, partial = Share.SOME, _sums(one.kept, other.kept)
    return WeightList(
        _sums(one.full, other.full),
        np.multiply.outer(one.upper, other.upper).reshape(-1),
        np.multiply.outer(one.lower, other.lower).reshape(-1),
        share,
        partial,
    )


def _sums(one: Floats, other: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        sums = np.add.outer(one, other).reshape(-1)
    return without_nan(sums) if np.isnan(sums).any() else sums


def merged(weights: WeightList) -> WeightList:
    """The same outcomes sorted by full weight, equal ones (in both weights) added up."""
    weights = _possible(weights)
    keys = (weights.full,) if weights.partial is None else (weights.partial, weights.full)
    # Joining puts sorted runs one after another, which a stable sort only has to merge.
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys)
    weights = _taken(weights, order)
    starts = _differ(weights.full)
    if weights.partial is not None:
        starts |= _differ(weights.partial)
    if starts.all():
        return weights
    first = np.flatnonzero(starts)
    return replace(
        _taken(weights, first),
        upper=np.add.reduceat(weights.upper, first),
        lower=np.add.reduceat(weights.lower, first),
    )


def _possible(weights: WeightList) -> WeightList:
    possible = (weights.upper > 0) | (weights.lower > 0)
    return weights if possible.all() else _taken(weights, np.flatnonzero(possible))


def _taken(weights: WeightList, positions: Ints) -> WeightList:
    return WeightList(
        weights.full[positions],
        weights.upper[positions],
        weights.lower[positions],
        weights.share,
        None if weights.partial is None else weights.partial[positions],
    )


def _differ(values: Floats) -> Bools:
    """Whether each value differs from the one before it; the first always does."""
    finite = np.abs(values[np.isfinite(values)])
    apart = EQUAL * float(finite.max(initial=0.0))
    starts = np.ones(len(values), dtype=np.bool_)
    with np.errstate(invalid="ignore"):
        # The difference of equal infinities is nan, which is not above anything.
        starts[1:] = np.abs(values[1:] - values[:-1]) > apart
    return starts


def combined(lists: Sequence[WeightList]) -> WeightList:
    """All outcomes of several lists; merged and sorted by full weight when all are kept or all hidden."""
    shares: dict[Share, WeightList] = {}
    for weights in sorted(lists, key=len):
        before = shares.get(weights.share)
        shares[weights.share] = weights if before is None else merged(joined(weights, before))
    result = None
    for weights in shares.values():
        result = weights if result is None else joined(result, weights)
    return NOTHING if result is None else result


def predicted_bits(lists: Sequence[WeightList]) -> float:
    """Logarithm to base 2 of how many outcomes `combined` will have at most."""
    alike = Counter(weights.key for weights in lists)
    return sum(alike_bits(count, size) for (_, _, size), count in alike.items())


def alike_bits(count: int, size: int) -> float:
    """Logarithm to base 2 of the number of different sums of `count` lists with the same `size` weights.

    At most as many as there are ways to pick `count` of them with repetition: far fewer than the product.
    """
    return (math.lgamma(count + size) - math.lgamma(count + 1) - math.lgamma(size)) / math.log(2.0)
