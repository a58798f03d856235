"""Meeting in the middle of two sorted lists of sums.

`sum_lists` lists the sums of some groups' weights in ascending order, by merging as many shifted copies of
the list so far as the next group has outcomes. `mass_at_least` then walks up one list and down the other.
Both are plain Python; the kernels at the end are the same, compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


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
    size = 1
    for group in range(first, past):
        size *= outcomes.starts[group + 1] - outcomes.starts[group]
    found, merged = np.empty((3, size)), np.empty((3, size))
    found[0, 0], found[1, 0], found[2, 0] = 0.0, 1.0, 1.0
    n = 1
    for group in range(first, past):
        start, end = outcomes.starts[group], outcomes.starts[group + 1]
        at = np.zeros(end - start, dtype=np.int64)
        # The next sum of each shifted copy of the list; a copy that is used up stands at infinity.
        head = outcomes.weight[start:end] + found[0, 0]
        for out in range(n * (end - start)):
            best = 0
            for k in range(1, end - start):
                if head[k] < head[best]:
                    best = k
            position = at[best]
            merged[0, out] = head[best]
            merged[1, out] = found[1, position] * outcomes.upper[start + best]
            merged[2, out] = found[2, position] * outcomes.lower[start + best]
            at[best] = position + 1
            head[best] = (
                np.inf if position + 1 == n else found[0, position + 1] + outcomes.weight[start + best]
            )
        n *= end - start
        found, merged = merged, found
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


compiled_sum_lists = Kernel(sum_lists)
compiled_mass_at_least = Kernel(mass_at_least)
