"""Meeting in the middle: the probability that two sums of weights lie in given intervals.

The outcomes of some groups are sorted by weight with running sums of probability; for each outcome of the
other groups the outcomes of the sorted half that satisfy both tests form one interval, found by two
searches.

The sorted half is of groups that are all kept or all hidden: then both tests are bounds on one number.

Where nothing is kept there is one test: `masses_at_least` is that case.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.anytime import UNITS_PER_SECOND, has_deadline
from unswayed.core.arrays import Floats, Ints
from unswayed.engines.parts import Span
from unswayed.engines.weights.outcomes import WeightList, alike_bits, combined, predicted_bits
from unswayed.kernels.jit import COMPILING
from unswayed.kernels.meeting import MeetingOutcomes, compiled_meet, tails_of

SHORT_LISTS = 2**8
"""Sums in a list below which numpy is as fast as compiled code."""
CLEARLY = 1e-9
"""By how much a cut lies outside of all sums where nothing needs to be listed: more than rounding does."""
UNITS_PER_SUM, PLAIN_TIMES = 3e-2, 16.0
"""Measured for lists of a million sums: compiled, and how many times as long it takes with numpy."""
EVERYWHERE = (-math.inf, math.inf)
"""All weights there are."""
MOST_MERGED = 16
"""Outcomes of a group beyond which merging as many copies of a list takes longer than sorting it."""


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """Outcomes sorted by full weight, with the probability of each tail under either class."""

    full: Floats
    """Weights, ascending."""
    upper_tails: Floats
    """Probability of the outcomes from each position on, under the upper class; one more at the end."""
    lower_tails: Floats
    """The same under the other class."""

    def first_at_least(self, bounds: Floats) -> Ints:
        """Position of the first outcome that weighs at least each bound."""
        return np.searchsorted(self.full, bounds, side="left")

    def span(self, start: Floats, end: Floats) -> tuple[Ints, Ints]:
        """First and past-last positions of the weights in each [start, end)."""
        first = self.first_at_least(start)
        # Nothing lies beyond an infinite end, not even an infinite weight.
        endless = end == np.inf
        if endless.all():
            return first, np.full_like(first, len(self.full))
        last = np.where(endless, len(self.full), self.first_at_least(end))
        return first, np.maximum(first, last)


def ordered(weights: WeightList) -> Ordered:
    """The list, ready to be searched; it must be sorted already."""
    return Ordered(weights.full, tails_of(weights.upper), tails_of(weights.lower))


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """All groups in two halves."""

    ordered: Ordered
    """Groups of one kind, sorted."""
    ordered_is_kept: bool
    """Whether these are kept groups (else hidden ones)."""
    other: WeightList
    """All other groups."""


def split(kept: Sequence[WeightList], hidden: Sequence[WeightList], mixed: Sequence[WeightList]) -> Halves:
    """The cheaper of sorting kept groups or hidden ones."""
    by_hidden = balanced(hidden, [*kept, *mixed])
    by_kept = balanced(kept, [*hidden, *mixed])
    best = min(by_hidden, by_kept, key=lambda sides: sides.outcomes)
    return Halves(ordered(combined(best.sorted_side)), best is by_kept, combined(best.rest))


def split_size(
    kept: Sequence[WeightList], hidden: Sequence[WeightList], mixed: Sequence[WeightList]
) -> float:
    """How many outcomes `split` will list at most."""
    by_hidden = balanced(hidden, [*kept, *mixed])
    by_kept = balanced(kept, [*hidden, *mixed])
    return min(by_hidden.outcomes, by_kept.outcomes)


@dataclass(frozen=True, slots=True)
class Sides:
    """Lists divided between the half to sort and the other one."""

    sorted_side: list[WeightList]
    rest: list[WeightList]
    outcomes: float


def balanced(candidates: Sequence[WeightList], others: Sequence[WeightList]) -> Sides:
    """Candidates moved to the sorted side, alike ones together, while that makes the lists shorter."""
    waiting = sorted(candidates, key=lambda weights: (len(weights), weights.full.tobytes()))
    side: list[WeightList] = []
    side_bits, rest_bits = 0.0, predicted_bits([*others, *waiting])
    n_alike = Counter(weights.full.tobytes() for weights in waiting)
    n_moved: Counter[bytes] = Counter()
    while waiting:
        size, kind = len(waiting[-1]), waiting[-1].full.tobytes()
        moved, left = n_moved[kind], n_alike[kind] - n_moved[kind]
        new_side = side_bits + alike_bits(moved + 1, size) - alike_bits(moved, size)
        new_rest = rest_bits + alike_bits(left - 1, size) - alike_bits(left, size)
        if _sum_of_powers(new_side, new_rest) >= _sum_of_powers(side_bits, rest_bits):
            break
        side.append(waiting.pop())
        n_moved[kind] += 1
        side_bits, rest_bits = new_side, new_rest
    return Sides(side, [*others, *waiting], _sum_of_powers(side_bits, rest_bits))


def _sum_of_powers(one: float, other: float) -> float:
    return float(2.0**one + 2.0**other) if max(one, other) < 1000 else math.inf


def mass_within(halves: Halves, full: Span, kept: Span) -> Floats:  # (2,)
    """Probability, under either class, that the full weight lies in `full` and the kept one in `kept`."""
    other = halves.other
    if halves.ordered_is_kept:
        start = np.maximum(less(full[0], other.full), less(kept[0], other.kept))
        end = np.minimum(less(full[1], other.full), less(kept[1], other.kept))
        return _weighted(halves.ordered, start, end, other)
    values = other.kept
    chosen = values >= kept[0]
    if kept[1] < np.inf:
        chosen &= values < kept[1]
    if not chosen.any():
        return np.zeros(2)
    if not chosen.all():
        other = WeightList(other.full[chosen], other.upper[chosen], other.lower[chosen], other.share)
    return _weighted(halves.ordered, less(full[0], other.full), less(full[1], other.full), other)


def _weighted(ordered: Ordered, start: Floats, end: Floats, other: WeightList) -> Floats:  # (2,)
    """Probability of the sorted outcomes in each [start, end), weighted by the other half's."""
    first, last = ordered.span(start, end)
    upper, lower = ordered.upper_tails, ordered.lower_tails
    return np.array([other.upper @ (upper[first] - upper[last]), other.lower @ (lower[first] - lower[last])])


def less(bound: float, weights: Floats) -> Floats:
    """bound - weights, where an infinite bound stays what it is."""
    return np.full(len(weights), bound) if np.isinf(bound) else bound - weights


def masses_at_least(outcomes: MeetingOutcomes, cuts: Floats) -> Floats:  # (cuts, 2)
    """Probability, under either class, that the weights of all groups sum to at least each cut, ascending.

    All weights must be finite, and the groups few enough for their probabilities to be multiplied.
    """
    if len(outcomes.weight):
        lowest = np.minimum.reduceat(outcomes.weight, outcomes.starts[:-1]).sum()
        highest = np.maximum.reduceat(outcomes.weight, outcomes.starts[:-1]).sum()
        if not ((lowest - CLEARLY < cuts) & (cuts < highest + CLEARLY)).any():
            return np.repeat((cuts <= lowest)[:, np.newaxis].astype(float), 2, axis=1)
    middle, n_listed = _middle(outcomes)
    n_rooms = int(n_listed) if n_listed > SHORT_LISTS else 0
    rooms = np.empty((2, 2, 3, n_rooms))
    if not n_rooms or np.diff(outcomes.starts).max() > MOST_MERGED:
        return compiled_meet.plain(outcomes, middle, cuts, rooms)
    return compiled_meet.run(UNITS_PER_SUM * n_listed, outcomes, middle, cuts, rooms)


def merges_sums(outcomes: MeetingOutcomes) -> bool:
    """Whether `masses_at_least` may make one sum of several, as compiled code does with long lists."""
    return _middle(outcomes)[1] > SHORT_LISTS


def seconds_to_meet(n_listed: float) -> float:
    """What listing so many sums in two halves for one test is predicted to take.

    Where somebody gave seconds, the plain lists are counted, or compiling.
    """
    seconds = UNITS_PER_SUM * n_listed / UNITS_PER_SECOND
    if not has_deadline():
        return seconds
    return min(PLAIN_TIMES * seconds, COMPILING + seconds)


def _middle(outcomes: MeetingOutcomes) -> tuple[int, float]:
    """Where to split the groups so that both lists are short, and the length of the longer one."""
    bits = np.cumsum(np.log2(np.diff(outcomes.starts)))
    if not len(bits):
        return 0, 1.0
    longer = np.maximum(bits, bits[-1] - bits)
    middle = int(np.argmin(longer))
    return middle + 1, float(2.0 ** longer[middle])


def longest_list(outcomes: MeetingOutcomes) -> float:
    """How many sums the longer of the two halves has."""
    return _middle(outcomes)[1]
