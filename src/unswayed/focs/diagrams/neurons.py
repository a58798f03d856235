"""A step neuron as a decision diagram, exactly [shen2020, section 5.1].

After the first i inputs of [sum_j w_j u_j + b >= 0], all that matters is the partial sum, and of the sum
only which remaining inputs it needs. Sums with the same future form intervals, and larger sums are satisfied
by more futures, so the intervals of level i follow from those of level i + 1:

    the future changes at s exactly when it changes at s (input 0) or at s + w_i (input 1).

Their number never exceeds that of distinct partial sums, and is often far below it. Whole numbers make the
bounds exact, ties at the step included.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.focs.diagrams.obdd import Layer, Obdd, reduced

OFF, ON, OPEN = 0, 1, 2


class NeuronLayers(NamedTuple):
    """The classes of equal future of a neuron at each level; the class of the root is 0."""

    low: tuple[Ints, ...]
    """For each level: the class of the next level that each class goes to when the input is 0."""
    high: tuple[Ints, ...]
    """The same when the input is 1."""
    state: tuple[Ints, ...]
    """For each level and the end: whether the neuron is already OFF or ON for certain, or still OPEN."""


def neuron_layers(weights: Ints, bias: int) -> NeuronLayers:
    """The neuron [weights . u + bias >= 0], its inputs in the order of `weights`.

    Cost: time and space in the number of classes, at most the number of distinct partial sums of each level.
    """
    n_inputs = len(weights)
    least = bias + np.concatenate([[0], np.cumsum(np.minimum(weights, 0))])
    most = bias + np.concatenate([[0], np.cumsum(np.maximum(weights, 0))])
    cuts = _within(np.array([0]), least[-1], most[-1])
    states = [np.array([ON if low >= 0 else OFF for low in (least[-1], *cuts)])]
    lows: list[Ints] = []
    highs: list[Ints] = []
    for level in range(n_inputs - 1, -1, -1):
        weight = weights[level]
        candidates = _within(np.union1d(cuts, cuts - weight), least[level], most[level])
        begins = np.concatenate([[least[level]], candidates])
        low = np.searchsorted(cuts, begins, side="right")
        high = np.searchsorted(cuts, begins + weight, side="right")
        kept = np.concatenate([[True], (low[1:] != low[:-1]) | (high[1:] != high[:-1])])
        low, high, cuts = low[kept], high[kept], begins[kept][1:]
        below = states[0]
        states.insert(0, np.where(below[low] == below[high], below[low], OPEN))
        lows.insert(0, low)
        highs.insert(0, high)
    return NeuronLayers(tuple(lows), tuple(highs), tuple(states))


def _within(cuts: Ints, least: int, most: int) -> Ints:
    """Cuts that part the sums from `least` to `most`: a cut is where the upper class begins."""
    return cuts[(cuts > least) & (cuts <= most)]


def neuron_diagram(weights: Ints, bias: int) -> Obdd:
    """The neuron as a diagram over its inputs in order; terminal 1 is "on".

    The linear classifier 1.15 U1 + .95 U2 - 1.05 U3 >= .52 of [shen2020, section 5.1]:

    >>> classifier = neuron_diagram(np.array([115, 95, -105]), -52)
    >>> classifier.index(np.array([[0, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])).tolist()
    [1, 0, 0, 1]
    """
    found = neuron_layers(weights, bias)
    last = found.state[-1]
    layers = [Layer(low, high) for low, high in zip(found.low, found.high, strict=True)]
    if not layers:
        return Obdd([], 2, level=[0, 0], low=[0, 1], high=[0, 1], root=int(last[0]))
    layers[-1] = Layer(-1 - last[layers[-1].low], -1 - last[layers[-1].high])
    return reduced(range(len(weights)), 2, layers)
