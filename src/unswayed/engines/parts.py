"""A problem seen as sums of weights: its groups by how much of each is kept, and where the cuts lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.memo import Topic
from unswayed.decisions.problem import MOST_STRUCTURES, Problem, remember_structure
from unswayed.decisions.rules import LogOddsIntervals
from unswayed.engines.groups import Group, independent_groups
from unswayed.engines.protocol import Refusal, refuse_lost
from unswayed.engines.weights.outcomes import Share, WeightList, group_weights, predicted_bits

GROUP_SIZES: Topic[Sizes] = Topic("sizes of groups", most=MOST_STRUCTURES)
LARGEST_GROUP = 2**22
"""Instantiations of one group beyond which its table is not made."""
Span = tuple[float, float]
"""Weights from the first number up to, not including, the second."""


def refuse_groups(problem: Problem) -> Refusal | None:
    """A refusal unless the decision is one on log-odds and no group is too large for a table."""
    if not isinstance(problem.decider, LogOddsIntervals):
        return Refusal(f"needs a target of two states; this one has {len(problem.prior)}")
    groups = [group for group in independent_groups(problem) if len(group) > 1]
    largest = max((math.prod(map(float, problem.sizes(group))) for group in groups), default=1.0)
    if largest > LARGEST_GROUP:
        cap = f"the fixed cap of 2^{math.log2(LARGEST_GROUP):.0f}"
        return Refusal(
            f"features that depend on each other have {largest:.3g} instantiations together, over {cap}"
        )
    # Weights of single features are logarithms of table entries, which do not underflow.
    is_safe = not groups and float(problem.prior.min()) >= problem.lost_share
    return None if is_safe else refuse_lost(problem)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much there is to list for a question."""

    n_groups: int
    """Independent groups of features."""
    rows_bits: float
    """Logarithm to base 2 of the number of rows of a profile."""
    outcomes: float
    """Outcomes in both halves of a meeting in the middle."""
    tabled: float
    """Instantiations of groups of dependent features, whose tables take an elimination."""
    is_mixed: bool
    """Whether rows must be listed: kept and hidden features depend on each other, or several cuts decide."""


def predict_sizes(problem: Problem, kept: frozenset[int]) -> Sizes:
    """Upper bounds from the numbers of states alone, without a look at any table."""
    sizes = remember_structure(problem, GROUP_SIZES, partial(_add_up_sizes, problem, kept), kept)
    return replace(sizes, is_mixed=sizes.is_mixed or len(intervals_of(problem).regions) != 2)


def _add_up_sizes(problem: Problem, kept: frozenset[int]) -> Sizes:
    bits: dict[Share, list[float]] = {share: [] for share in Share}
    rows = tabled = 0.0
    for features in independent_groups(problem):
        size = sum(each := [math.log2(n) for n in problem.sizes(features)])
        seen = [n for feature, n in zip(features, each, strict=True) if feature in kept] if kept else []
        rows += sum(seen)
        tabled += 2.0**size if len(features) > 1 else 0.0
        share = Share.NONE if not seen else Share.ALL if len(seen) == len(features) else Share.SOME
        bits[share].append(size)
    total, whole = sum(map(sum, bits.values())), max(bits[Share.NONE], bits[Share.ALL], key=sum)
    sorted_bits = sum(whole[i] for i in take_half(whole, total))
    outcomes = 2.0 ** min(sorted_bits, 1000.0) + 2.0 ** min(total - sorted_bits, 1000.0)
    return Sizes(sum(map(len, bits.values())), rows, outcomes, tabled, bool(bits[Share.SOME]))


def take_half(bits: Sequence[float], total: float) -> list[int]:
    """Which of them make about half of the total, the largest first.

    >>> take_half([1.0, 6.0, 5.0, 4.0], 16.0)
    [1, 3]
    """
    taken, found = 0.0, []
    for i in sorted(range(len(bits)), key=lambda i: -bits[i]):
        if taken + bits[i] <= 0.5 * total + 0.5 * bits[i]:
            taken += bits[i]
            found.append(i)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The groups' weights, by how much of each group is kept."""

    kept: list[WeightList]
    """Groups kept entirely."""
    hidden: list[WeightList]
    """Groups of which nothing is kept."""
    mixed: list[WeightList]
    """Groups of which some features are kept."""
    mixed_groups: list[Group]
    """The groups behind `mixed`."""
    rows_bits: float
    """Logarithm to base 2 of the number of rows of a profile."""

    @property
    def all_lists(self) -> list[WeightList]:
        """All groups."""
        return [*self.kept, *self.hidden, *self.mixed]


def split_groups(problem: Problem, groups: Sequence[Group], kept: frozenset[int]) -> Parts:
    """Weights of all groups for this kept set."""
    assert isinstance(problem.decider, LogOddsIntervals)
    parts = Parts([], [], [], [], 0.0)
    mixed_bits = 0.0
    for group in groups:
        sizes = problem.sizes(group.features)
        weights = group_weights(group, sizes, kept, problem.decider.upper)
        seen = [f for f in group.features if f in kept]
        if len(seen) == len(group.features):
            parts.kept.append(weights)
        elif not seen:
            parts.hidden.append(weights)
        else:
            parts.mixed.append(weights)
            parts.mixed_groups.append(group)
            mixed_bits += float(np.log2(problem.sizes(seen)).sum())
    rows_bits = predicted_bits(parts.kept) + mixed_bits
    return Parts(parts.kept, parts.hidden, parts.mixed, parts.mixed_groups, rows_bits)


def intervals_of(problem: Problem) -> LogOddsIntervals:
    """The full classifier's decider, which must be one on log-odds."""
    assert isinstance(problem.decider, LogOddsIntervals)
    return problem.decider


def independent(problem: Problem, parts: Parts) -> bool:
    """Whether kept and hidden features are independent given the class, and one cut decides."""
    return not parts.mixed and len(intervals_of(problem).regions) == 2


def settled(problem: Problem, parts: Parts, decider: LogOddsIntervals) -> bool | None:
    """Whether both decisions are the same (or never the same) whatever is observed; None when it depends.

    The extreme weights tell: where they lead to one decision, everything between them does.
    """
    full = problem.decider
    assert isinstance(full, LogOddsIntervals)
    base, rounding = base_log_odds(problem), problem.rounding
    decided = _only_region(full, base, [weights.full for weights in parts.all_lists], rounding)
    kept = _only_region(decider, base, [weights.kept for weights in (*parts.kept, *parts.mixed)], rounding)
    if decided is None or kept is None:
        return None
    return full.regions[decided] == decider.regions[kept]


def _only_region(
    decider: LogOddsIntervals, base: float, weights: list[Floats], rounding: float
) -> int | None:
    """The one interval that every sum of weights leads to; None when there are several, or ties in doubt."""
    if np.isinf(base):
        return len(decider.cuts) if base > 0 else 0
    least, most = (base + sum(float(end(each)) for each in weights) for end in (np.min, np.max))
    low, high = np.searchsorted(decider.cuts, [least, most], side="right")
    starts, ends = decider.doubts(rounding).T
    is_clear = low == high and not ((starts <= most) & (least < ends)).any()
    return int(low) if is_clear else None


def base_log_odds(problem: Problem) -> float:
    """Log-odds of the upper class before any free feature is observed."""
    assert isinstance(problem.decider, LogOddsIntervals)
    upper = problem.decider.upper
    with np.errstate(divide="ignore"):
        return float(np.log(problem.prior[upper]) - np.log(problem.prior[1 - upper]))


class Region(NamedTuple):
    """The weights that lead to a decision: for certain, and those that the tolerance of ties may add."""

    surely: Span
    maybe: Span

    def less(self, moved: float) -> Region:
        """The region moved down; infinite ends stay where they are."""
        ends = (end if math.isinf(end) else end - moved for span in self for end in span)
        low, high, least, most = ends
        return Region((low, high), (least, most))


def region_of(decider: LogOddsIntervals, region: int, base: float, rounding: float) -> Region:
    """The weights that lead to a region of the decider where the tolerance of ties counts either way."""
    starts, ends = decider.doubts(rounding).T - base
    starts, ends = np.array([-np.inf, *starts, np.inf]), np.array([-np.inf, *ends, np.inf])
    surely, maybe = (ends[region], starts[region + 1]), (starts[region], ends[region + 1])
    return Region((float(surely[0]), float(surely[1])), (float(maybe[0]), float(maybe[1])))


def span_of(decider: LogOddsIntervals, region: int, base: float) -> Span:
    """The weights that lead to a region of the decider, from where the log-odds stand."""
    cuts = decider.cuts
    low = -np.inf if region == 0 else float(cuts[region - 1]) - base
    high = np.inf if region == len(cuts) else float(cuts[region]) - base
    return low, high


def probability_of(log_odds: float) -> float:
    """The probability that has these log-odds, infinite ones included."""
    if np.isinf(log_odds):
        return float(log_odds > 0)
    return float(1.0 / (1.0 + np.exp(-np.clip(log_odds, -700.0, 700.0))))
