"""A step neuron read input by input, exactly [shen2020, section 5.1].

After the first i inputs of [sum_j w_j u_j + b >= 0], all that matters is the partial sum, and of the sum
only which remaining inputs it needs. Sums with the same future form intervals, and larger sums are satisfied
by more futures, so the intervals of level i follow from those of level i + 1:

    the future changes at s exactly when it changes at s + w_i v for some value v of the input.

Their number never exceeds that of distinct partial sums, and is often far below it. Whole numbers make the
bounds exact, ties at the step included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unswayed.core.arrays import Ints

OFF, ON, OPEN = 0, 1, 2


class NeuronLayers(NamedTuple):
    """The classes of equal future of a neuron at each level; the class of the root is 0."""

    after: tuple[Ints, ...]
    """For each level (classes, values): the class of the next level that each value of the input leads to."""
    state: tuple[Ints, ...]
    """For each level and the end: whether the neuron is already OFF or ON for certain, or still OPEN."""


def neuron_layers(weights: Ints, bias: int, sizes: Sequence[int]) -> NeuronLayers:
    """The neuron [weights . u + bias >= 0], its inputs in the order of `weights`, u_i from 0 to sizes[i] - 1.

    Cost: time and space in the number of classes, at most the number of distinct partial sums of each level.

    >>> [len(level) for level in neuron_layers(np.array([1, 1, 1]), -2, [2, 2, 2]).after]
    [1, 2, 3]
    """
    reach = weights * (np.array(sizes, dtype=np.int64) - 1)
    least = bias + np.concatenate([[0], np.cumsum(np.minimum(reach, 0))])
    most = bias + np.concatenate([[0], np.cumsum(np.maximum(reach, 0))])
    cuts = _within(np.array([0]), least[-1], most[-1])
    states = [np.array([ON if low >= 0 else OFF for low in (least[-1], *cuts)])]
    levels: list[Ints] = []
    for level in range(len(weights) - 1, -1, -1):
        added = weights[level] * np.arange(sizes[level])
        candidates = _within(np.unique(np.subtract.outer(cuts, added)), least[level], most[level])
        begins = np.concatenate([[least[level]], candidates])
        after = np.searchsorted(cuts, np.add.outer(begins, added), side="right")
        kept = np.concatenate([[True], (after[1:] != after[:-1]).any(axis=1)])
        levels.append(after[kept])
        ends = states[-1][after[kept]]
        states.append(np.where((ends == ends[:, :1]).all(axis=1), ends[:, 0], OPEN))
        cuts = candidates[kept[1:]]
    levels.reverse()
    states.reverse()
    return NeuronLayers(tuple(levels), tuple(states))


def _within(cuts: Ints, least: int, most: int) -> Ints:
    """Cuts that part the sums from `least` to `most`: a cut is where the upper class begins."""
    return cuts[(cuts > least) & (cuts <= most)]
