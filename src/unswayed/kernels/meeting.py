"""Meeting in the middle of two sorted lists of sums.

`sum_groups` lists the sums of some groups' weights in ascending order, by merging as many shifted copies of
the list so far as the next group has outcomes. `mass_at_least` then walks up one list and down the other, and
`tails_of_rows` does both for many rows. `meet_merged` does both for one list of groups and several cuts; its
plain twin, `meet_sorted`, is numpy.

A weight may be infinite, where one class rules the outcome out. Two opposite infinities have no sum, and no
probability either, so nothing is asked of them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Functions, Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

EQUAL = 2.0**-50
"""Sums closer than this share of the largest are one sum: some eight units in its last place, more than the
same additions in another order mostly differ by."""

FEW_SUMS, MANY_BOUNDS = 32, 2**12
"""Sums that are compared one by one with so many bounds, or more."""


class MeetingOutcomes(NamedTuple):
    """Outcomes of groups, those of one group side by side."""

    starts: Ints
    """Where each group begins; one more at the end."""
    weight: Floats
    upper: Floats
    lower: Floats


class GroupLists(NamedTuple):
    """Lists of groups, side by side, each in two halves."""

    groups: Ints
    starts: Ints
    """Where each list begins; one more at the end."""
    middles: Ints
    """Where the second half of each list begins."""


def sum_groups(outcomes: MeetingOutcomes, groups: Ints) -> Floats:  # (3, sums)
    """Weight and probability under either class of all sums of some groups, by weight.

    Equal sums are added up, impossible ones are left out.

    >>> weights, upper, lower = np.array([1.0, -1.0]), np.array([0.3, 0.7]), np.array([0.6, 0.4])
    >>> halves = MeetingOutcomes(np.array([0, 2]), weights, upper, lower)
    >>> sum_groups(halves, np.array([0])).tolist()
    [[-1.0, 1.0], [0.7, 0.3], [0.4, 0.6]]
    """
    found = np.ones((3, 1))
    found[0, 0] = 0.0
    for group in groups:
        found = add_group(outcomes, group, found)
    return found


def add_group(outcomes: MeetingOutcomes, group: int, found: Floats) -> Floats:  # (3, sums)
    """The sums of `found` and a group, ascending."""
    merged = np.empty((3, found.shape[1] * (outcomes.starts[group + 1] - outcomes.starts[group])))
    n = merge_group(outcomes, group, found, merged)
    return merged if n == merged.shape[1] else merged[:, :n].copy()


def merge_group(outcomes: MeetingOutcomes, group: int, found: Floats, merged: Floats) -> int:
    """Fill `merged` with the sums of `found` and a group, ascending; how many there are."""
    first, past = outcomes.starts[group], outcomes.starts[group + 1]
    if past - first == 2 and np.isfinite(outcomes.weight[first]) and np.isfinite(outcomes.weight[first + 1]):
        n = merge_two(outcomes, first, found, merged)
    else:
        n = merge_several(outcomes, first, past, found, merged)
    return add_up_equal(merged, n)


def merge_two(outcomes: MeetingOutcomes, first: int, found: Floats, merged: Floats) -> int:
    """Merge two shifted copies of a list, from both ends at once and without a branch.

    Half of the sums come from either end, so neither copy runs out before the loop ends. The processor cannot
    guess which copy is next, and works on one end while it waits for the other.
    """
    n = len(found[0])
    low, high = outcomes.weight[first], outcomes.weight[first + 1]
    front, back = 0, n - 1
    for k in range(n):
        other = k - front
        one, two = found[0, front] + low, found[0, other] + high
        is_two = int(two < one)
        place = front + is_two * (other - front)
        merged[0, k] = min(one, two)
        merged[1, k] = found[1, place] * outcomes.upper[first + is_two]
        merged[2, k] = found[2, place] * outcomes.lower[first + is_two]
        front += 1 - is_two
        end, other = 2 * n - 1 - k, 2 * n - 2 - k - back
        one, two = found[0, back] + low, found[0, other] + high
        is_two = int(two >= one)
        place = back + is_two * (other - back)
        merged[0, end] = max(one, two)
        merged[1, end] = found[1, place] * outcomes.upper[first + is_two]
        merged[2, end] = found[2, place] * outcomes.lower[first + is_two]
        back -= 1 - is_two
    return 2 * n


def merge_several(outcomes: MeetingOutcomes, first: int, past: int, found: Floats, merged: Floats) -> int:
    """Merge a shifted copy of a list for each outcome, without the sums that neither class allows."""
    n, width, n_merged = found.shape[1], past - first, 0
    at, head = np.zeros(width, dtype=np.int64), np.empty(width)
    for k in range(width):
        # The next sum of each copy.
        head[k] = outcomes.weight[first + k] + found[0, 0]
    for _ in range(n * width):
        best = 0
        for k in range(1, width):
            if at[k] < n and (at[best] == n or head[k] < head[best]):
                best = k
        position, weight = at[best], head[best]
        upper = found[1, position] * outcomes.upper[first + best]
        lower = found[2, position] * outcomes.lower[first + best]
        at[best] = position + 1
        if position + 1 < n:
            head[best] = found[0, position + 1] + outcomes.weight[first + best]
        if upper != 0.0 or lower != 0.0:  # else the sum may be of opposite infinities: no number
            merged[0, n_merged], merged[1, n_merged], merged[2, n_merged] = weight, upper, lower
            n_merged += 1
    return n_merged


def add_up_equal(sums: Floats, n: int) -> int:
    """Make one of equal sums among the first `n`, in place; how many are left."""
    last, low, high = 0, 0, n - 1
    while low < high and not np.isfinite(sums[0, low]):
        low += 1
    while low < high and not np.isfinite(sums[0, high]):
        high -= 1
    apart = EQUAL * max(abs(sums[0, low]), abs(sums[0, high])) if n and np.isfinite(sums[0, low]) else 0.0
    for k in range(1, n):
        if sums[0, k] == sums[0, last] or sums[0, k] - sums[0, last] <= apart:
            sums[1, last] += sums[1, k]
            sums[2, last] += sums[2, k]
        else:
            last += 1
            if last < k:
                sums[0, last], sums[1, last], sums[2, last] = sums[0, k], sums[1, k], sums[2, k]
    return min(n, last + 1)


def mass_at_least(one: Floats, other: Floats, cut: float) -> Floats:  # (3,)
    """Probability, under either class, that a sum from each list together weigh at least `cut`; the least.

    No two sums together weigh between the cut and that least weight.
    """
    mass, tail, least = np.zeros(3), np.zeros(2), np.inf
    n = below = other.shape[1]
    for i in range(one.shape[1]):
        while below > 0 and one[0, i] + other[0, below - 1] >= cut:
            below -= 1
            tail[0] += other[1, below]
            tail[1] += other[2, below]
        mass[0] += one[1, i] * tail[0]
        mass[1] += one[2, i] * tail[1]
        if below < n:
            least = min(least, one[0, i] + other[0, below])
    mass[2] = least
    return mass


def tails_of_rows(
    outcomes: MeetingOutcomes,
    lists: GroupLists,
    list_of_row: Ints,  # (rows,)
    cuts: Floats,  # (rows, cuts)
) -> Floats:  # (rows, cuts, 2)
    """Probability, under either class, that the groups of a row's list together weigh at least each cut.

    Rows of one list stand side by side.
    """
    tails = np.empty((len(cuts), cuts.shape[1], 2))
    one, other = np.empty((3, 0)), np.empty((3, 0))
    for row in range(len(cuts)):
        if row == 0 or list_of_row[row] != list_of_row[row - 1]:
            number = list_of_row[row]
            first, past = lists.starts[number], lists.starts[number + 1]
            one = sum_groups(outcomes, lists.groups[first : lists.middles[number]])
            other = sum_groups(outcomes, lists.groups[lists.middles[number] : past])
        for k in range(cuts.shape[1]):
            mass = mass_at_least(one, other, cuts[row, k])
            tails[row, k, 0], tails[row, k, 1] = mass[0], mass[1]
    return tails


def meet_merged(outcomes: MeetingOutcomes, middle: int, cuts: Floats, rooms: Floats) -> Floats:  # (cuts, 2)
    """`meet_sorted` by merging: both halves are listed in ascending order, and walked for each cut.

    Long lists are made in `rooms` (halves, 2, 3, sums) that numpy asked the system for: in large pages, which
    come far sooner than those that compiled code gets.
    """
    one = _merge_groups(outcomes, 0, middle, rooms[0])
    other = _merge_groups(outcomes, middle, len(outcomes.starts) - 1, rooms[1])
    found, mass, before = np.empty((len(cuts), 2)), np.zeros(3), np.inf
    for k in range(len(cuts)):
        # No sum lies between this cut and the one before it that is lower.
        if not before <= cuts[k] <= mass[2]:
            mass, before = mass_at_least(one, other, cuts[k]), cuts[k]
        found[k, 0], found[k, 1] = mass[0], mass[1]
    return found


def _merge_groups(outcomes: MeetingOutcomes, first: int, past: int, rooms: Floats) -> Floats:  # (3, sums)
    """All sums of some groups with their probabilities, ascending, in one of two rooms."""
    found: Floats = rooms[0][:, :1]
    found[0, 0], found[1, 0], found[2, 0] = 0.0, 1.0, 1.0
    for group in range(first, past):
        room = rooms[(group - first + 1) % 2]
        n = merge_group(outcomes, group, found, room)
        found = room[:, :n]
    return found


def meet_sorted(outcomes: MeetingOutcomes, middle: int, cuts: Floats, rooms: Floats) -> Floats:  # (cuts, 2)
    """Probability, under either class, that the weights of all groups sum to at least each cut, ascending.

    Groups from `middle` on are the second half. In numpy: one half is sorted, the other searched for in it.
    """
    halves = _list_groups(outcomes, 0, middle), _list_groups(outcomes, middle, len(outcomes.starts) - 1)
    # To sort the shorter one takes less time.
    (sums, *other), (weights, *one) = sorted(halves, key=lambda half: len(half[0]))
    order = np.argsort(sums)
    sums, tails = sums[order], [tails_of(masses[order]) for masses in other]
    found: list[list[float]] = []
    positions, before = np.zeros(0, dtype=np.intp), -np.inf
    for cut in cuts:
        bounds = cut - weights
        if found and cut >= before and are_first(sums, positions, bounds):
            found.append(found[-1])
            continue
        positions, before = _count_below(sums, bounds), cut
        found.append([_weigh(positions, masses, tail) for masses, tail in zip(one, tails, strict=True)])
    return np.array(found).reshape(-1, 2)


def _list_groups(outcomes: MeetingOutcomes, first: int, past: int) -> tuple[Floats, Floats, Floats]:
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


def _weigh(positions: Ints, masses: Floats, tails: Floats) -> float:
    """The masses of one half, each times the tail of the other half from its position on."""
    # No BLAS: for long vectors it wakes threads, and waits for them on a busy machine.
    return float(np.einsum("i,i->", tails.take(positions), masses))


def tails_of(masses: Floats) -> Floats:
    """Sums of the masses from each one on, and 0 at the end."""
    tails: Floats = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])
    return tails


_MERGING: Functions = [merge_group, merge_two, merge_several, add_up_equal]
compiled_meet = Kernel(meet_sorted, [*_MERGING, _merge_groups, mass_at_least], loop=meet_merged, slower=16.0)
compiled_tails_of_rows = Kernel(
    tails_of_rows, [*_MERGING, add_group, sum_groups, mass_at_least], slower=500.0
)
