"""Meeting in the middle: the probability that two sums of weights lie in given intervals.

The outcomes of some groups are sorted by weight with running sums of probability; for each outcome of the
other groups the outcomes of the sorted half that satisfy both tests form one interval, found by two
searches.

The sorted half is of groups that are all kept or all hidden: then both tests are bounds on one number.

Where nothing is kept there is one test: `masses_at_least` is that case, in numpy for short lists and compiled
for long ones.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.engines.parts import Span
from unswayed.engines.weights.outcomes import WeightList, alike_bits, combined, predicted_bits
from unswayed.kernels.meeting import MeetingOutcomes, compiled_extend_sums, compiled_mass_at_least

LONG_LISTS, LONGEST_PLAIN = 2**16, 2**20
"""Sums in a list from which compiled code pays for being loaded, from which on for being compiled,"""
SHORT_LISTS = 2**8
"""and below which numpy is as fast once it is."""
CLEARLY = 1e-9
"""By how much a cut lies outside of all sums where nothing needs to be listed: more than rounding does."""
FEW_SUMS, MANY_BOUNDS = 32, 2**12
"""Sums that are compared one by one with so many bounds, or more."""
LOADING_SECONDS = 1.0
"""What loading compiled code takes: once a process has spent as much without it, it is loaded."""
SECONDS_PER_SUM, PLAIN_PER_SUM, COMPILING_SECONDS = 3e-8, 5e-7, 3.0
"""Measured for lists of a million sums: compiled and with numpy; and what compiling takes, numba imported."""
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
    return Ordered(weights.full, _tails(weights.upper), _tails(weights.lower))


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


def _tails(masses: Floats) -> Floats:
    return np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])


def masses_at_least(outcomes: MeetingOutcomes, cuts: Floats) -> Floats:  # (cuts, 2)
    """Probability, under either class, that the weights of all groups sum to at least each cut, ascending.

    All weights must be finite, and the groups few enough for their probabilities to be multiplied.
    """
    if len(outcomes.weight):
        lowest = np.minimum.reduceat(outcomes.weight, outcomes.starts[:-1]).sum()
        highest = np.maximum.reduceat(outcomes.weight, outcomes.starts[:-1]).sum()
        if not ((lowest - CLEARLY < cuts) & (cuts < highest + CLEARLY)).any():
            return np.repeat((cuts <= lowest)[:, np.newaxis].astype(float), 2, axis=1)
    n_groups = len(outcomes.starts) - 1
    middle, n_listed = _middle(outcomes)
    if _is_long(n_listed) and np.diff(outcomes.starts).max() <= MOST_MERGED:
        return _meet_merged(_merged(outcomes, 0, middle), _merged(outcomes, middle, n_groups), cuts)
    halves = _listed(outcomes, 0, middle), _listed(outcomes, middle, n_groups)
    # To sort the shorter one takes less time.
    (sums, *other), (weights, *one) = sorted(halves, key=lambda half: len(half[0]))
    order = np.argsort(sums)
    sums, tails = sums[order], [_tails(masses[order]) for masses in other]
    found: list[list[float]] = []
    positions, before = np.zeros(0, dtype=np.intp), -np.inf
    for cut in cuts:
        bounds = cut - weights
        if found and cut >= before and are_first(sums, positions, bounds):
            found.append(found[-1])
            continue
        positions, before = _count_below(sums, bounds), cut
        found.append([_weigh(positions, masses, tail) for masses, tail in zip(one, tails, strict=True)])
    if n_listed > SHORT_LISTS:
        compiled_extend_sums.seconds_without += PLAIN_PER_SUM * n_listed
    return np.array(found).reshape(-1, 2)


def _meet_merged(one: Floats, other: Floats, cuts: Floats) -> Floats:  # (cuts, 2)
    """The masses from two ascending lists, by compiled code."""
    found: list[Floats] = []
    before = math.inf
    for cut in cuts.tolist():
        # No sum lies between this cut and the one before it that is lower.
        if not before <= cut <= (found[-1][2] if found else -math.inf):
            found.append(compiled_mass_at_least(one, other, cut))
            before = cut
        else:
            found.append(found[-1])
    return np.array(found).reshape(-1, 3)[:, :2]


def are_first(sums: Floats, positions: Ints, bounds: Floats) -> bool:
    """Whether positions found for lower bounds are right for these too: no sum lies between."""
    return bool((np.append(sums, np.inf).take(positions) >= bounds).all())


def _count_below(sums: Floats, bounds: Floats) -> Ints:
    """How many of the ascending sums lie below each bound."""
    if len(sums) > FEW_SUMS or len(bounds) < MANY_BOUNDS:
        return np.searchsorted(sums, bounds)
    # Without a branch that the processor would guess wrong: a third to a ninth of the time.
    counts = np.zeros(len(bounds), dtype=np.int8)
    for each in sums.tolist():
        counts += each < bounds
    return counts.astype(np.intp)


def _is_long(n_listed: float) -> bool:
    """Whether a list of so many sums is for compiled code."""
    is_due = compiled_extend_sums.seconds_without > LOADING_SECONDS and compiled_extend_sums.is_ready
    if compiled_extend_sums.is_loaded or is_due:
        return n_listed > SHORT_LISTS
    return n_listed > LONG_LISTS and (n_listed > LONGEST_PLAIN or compiled_extend_sums.is_ready)


def merges_sums(outcomes: MeetingOutcomes) -> bool:
    """Whether `masses_at_least` may make one sum of several, as compiled code does with long lists."""
    return _middle(outcomes)[1] > SHORT_LISTS


def seconds_to_meet(n_listed: float) -> float:
    """What listing so many sums in two halves for one test is predicted to take, compiling included."""
    if n_listed <= 2.0 * LONG_LISTS or compiled_extend_sums.is_ready:
        return SECONDS_PER_SUM * n_listed
    if n_listed <= 2.0 * LONGEST_PLAIN:
        return PLAIN_PER_SUM * n_listed
    return COMPILING_SECONDS + SECONDS_PER_SUM * n_listed


def _weigh(positions: Ints, masses: Floats, tails: Floats) -> float:
    """The masses of one half, each times the tail of the other half from its position on."""
    # No BLAS: for long vectors it wakes threads, and waits for them on a busy machine.
    return float(np.einsum("i,i->", tails.take(positions), masses))


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


def _merged(outcomes: MeetingOutcomes, first: int, past: int) -> Floats:  # (3, sums)
    """All sums of some groups with their probabilities, ascending, by compiled code.

    Room for long lists is made here: numpy asks the system for large pages, which come far sooner.
    """
    sizes = np.diff(outcomes.starts[first : past + 1]).astype(float)
    found, at = np.array([[0.0], [1.0], [1.0]]), first
    while at < past:
        lengths = found.shape[1] * np.cumprod(sizes[at - first :])
        more = max(1, int(np.searchsorted(lengths, LONG_LISTS, side="right")))
        merged = np.empty((3, int(lengths[more - 1])))
        n = compiled_extend_sums(outcomes, np.arange(at, at + more), found, merged)
        found, at = np.ascontiguousarray(merged[:, :n]), at + more
    return found


def _listed(outcomes: MeetingOutcomes, first: int, past: int) -> tuple[Floats, Floats, Floats]:
    """All sums of some groups and their probabilities under either class, in no order."""
    starts = outcomes.starts[first : past + 1].tolist()
    if len(starts) == 2:  # a large group that stands alone is not copied
        group = slice(*starts)
        return outcomes.weight[group], outcomes.upper[group], outcomes.lower[group]
    sums, products = np.zeros(1), np.ones((2, 1))
    probabilities = np.stack([outcomes.upper, outcomes.lower])
    for start, end in pairwise(starts):
        sums = np.add.outer(sums, outcomes.weight[start:end]).reshape(-1)
        products = (products[:, :, np.newaxis] * probabilities[:, np.newaxis, start:end]).reshape(2, -1)
    return sums, products[0], products[1]
