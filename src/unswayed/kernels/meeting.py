"""Meeting in the middle of two sorted lists of sums.

`sum_groups` lists the sums of some groups' weights in ascending order, by merging as many shifted copies of
the list so far as the next group has outcomes. `mass_at_least` then walks up one list and down the other, and
`tails_of_rows` does both for many rows. All are plain Python; the kernels at the end are the same, compiled.

A weight may be infinite, where one class rules the outcome out. Two opposite infinities have no sum, and no
probability either, so nothing is asked of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

EQUAL = 1e-12
"""Sums closer than this are one sum: far below the tie tolerance of decisions, above what rounding can do."""


class MeetingOutcomes(NamedTuple):
    """Outcomes of groups, those of one group side by side."""

    starts: Ints
    """Where each group begins; one more at the end."""
    weight: Floats
    upper: Floats
    lower: Floats


def sum_lists(outcomes: MeetingOutcomes, first: int, past: int) -> Floats:  # (3, sums)
    """Weight and probability under either class of all sums of groups `first` to `past`, by weight.

    >>> weights, upper, lower = np.array([1.0, -1.0]), np.array([0.3, 0.7]), np.array([0.6, 0.4])
    >>> halves = MeetingOutcomes(np.array([0, 2]), weights, upper, lower)
    >>> sum_lists(halves, 0, 1).tolist()
    [[-1.0, 1.0], [0.7, 0.3], [0.4, 0.6]]
    """
    return sum_groups(outcomes, np.arange(first, past))


def sum_groups(outcomes: MeetingOutcomes, groups: Ints) -> Floats:  # (3, sums)
    """The sums of some groups, ascending; equal ones are added up, impossible ones are left out."""
    found = np.empty((3, 1))
    found[0, 0], found[1, 0], found[2, 0] = 0.0, 1.0, 1.0
    for group in groups:
        start, width = outcomes.starts[group], outcomes.starts[group + 1] - outcomes.starts[group]
        n, last = found.shape[1], -1
        merged = np.empty((3, n * width))
        at, head = np.zeros(width, dtype=np.int64), np.empty(width)
        for k in range(width):
            # The next sum of each shifted copy of the list.
            head[k] = outcomes.weight[start + k] + found[0, 0]
        for _ in range(n * width):
            best = 0
            for k in range(1, width):
                if at[k] < n and (at[best] == n or head[k] < head[best]):
                    best = k
            position, weight = at[best], head[best]
            upper = found[1, position] * outcomes.upper[start + best]
            lower = found[2, position] * outcomes.lower[start + best]
            at[best] = position + 1
            if position + 1 < n:
                head[best] = found[0, position + 1] + outcomes.weight[start + best]
            if upper == 0.0 and lower == 0.0:
                continue  # a sum that neither class allows may be of opposite infinities: no number
            if last >= 0 and (weight == merged[0, last] or weight - merged[0, last] <= EQUAL):
                merged[1, last] += upper
                merged[2, last] += lower
            else:
                last += 1
                merged[0, last], merged[1, last], merged[2, last] = weight, upper, lower
        found = np.empty((3, last + 1))
        for k in range(3):
            found[k] = merged[k, : last + 1]
    return found


def mass_at_least(one: Floats, other: Floats, cut: float) -> Floats:  # (2,)
    """Probability, under either class, that a sum from each list together weigh at least `cut`."""
    mass, tail = np.zeros(2), np.zeros(2)
    below = other.shape[1]
    for i in range(one.shape[1]):
        while below > 0 and one[0, i] + other[0, below - 1] >= cut:
            below -= 1
            tail[0] += other[1, below]
            tail[1] += other[2, below]
        mass[0] += one[1, i] * tail[0]
        mass[1] += one[2, i] * tail[1]
    return mass


def tails_of_rows(
    outcomes: MeetingOutcomes,
    lists: Ints,  # (lists, groups)
    middle: int,
    list_of_row: Ints,  # (rows,)
    cuts: Floats,  # (rows, cuts)
) -> Floats:  # (rows, cuts, 2)
    """Probability, under either class, that the groups of a row's list together weigh at least each cut.

    Rows of one list stand side by side; the first `middle` groups of a list make one half, the others the
    other.
    """
    tails = np.empty((len(cuts), cuts.shape[1], 2))
    one, other = np.empty((3, 0)), np.empty((3, 0))
    for row in range(len(cuts)):
        if row == 0 or list_of_row[row] != list_of_row[row - 1]:
            groups = lists[list_of_row[row]]
            one = sum_groups(outcomes, groups[:middle])
            other = sum_groups(outcomes, groups[middle:])
        for k in range(cuts.shape[1]):
            mass = mass_at_least(one, other, cuts[row, k])
            tails[row, k, 0], tails[row, k, 1] = mass[0], mass[1]
    return tails


compiled_sum_lists = Kernel(sum_lists, [sum_groups])
compiled_mass_at_least = Kernel(mass_at_least)
compiled_tails_of_rows = Kernel(tails_of_rows, [sum_groups, mass_at_least])
