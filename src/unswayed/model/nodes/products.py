"""The contexts of a step network read input by input: the product of its neurons.

Going down the levels, the state of all neurons together is a row of classes, one of each neuron's. Rows that
already decide the context are decided; equal rows are one state.

One step neuron is read input by input, exactly [shen2020, section 5.1]. After the first i inputs of [sum_j
w_j u_j + b >= 0], all that matters is the partial sum, and of the sum only which remaining inputs it needs.
Sums with the same future form intervals, and larger sums are satisfied by more futures, so the intervals of
level i follow from those of level i + 1:

    the future changes at s exactly when it changes at s + w_i v for some value v of the input.

Their number never exceeds that of distinct partial sums, and is often far below it. Whole numbers make the
bounds exact, ties at the step included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Ints
from unswayed.kernels.unique_rows import Rows, compiled_hash_rows
from unswayed.model.nodes.layers import ContextLayers

if TYPE_CHECKING:
    from unswayed.model.nodes.steps import StepContexts

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


def product_layers(contexts: StepContexts, order: Sequence[int], sizes: Sequence[int]) -> ContextLayers:
    """The machine of a step network that reads the inputs in this order; `sizes` are those of all inputs.

    Cost: networks that depend on few inputs are a matter of milliseconds; a dense one of 8 neurons takes
    about a tenth of a second for 20 two-state inputs and doubles with each one or two more. Raises
    `LimitError` over the limits.
    """
    places = list(order)
    neurons = [
        neuron_layers(weights[places], int(bias), [sizes[place] for place in places])
        for weights, bias in zip(contexts.network.weights, contexts.network.biases, strict=True)
    ]
    return _Product(contexts, neurons).layers(tuple(places))


class _Product:
    """Levels of the product while they are made; dies when the layers are."""

    def __init__(self, contexts: StepContexts, neurons: list[NeuronLayers]) -> None:
        self.contexts, self.neurons = contexts, neurons
        self.n_bytes = 0.0

    def layers(self, order: tuple[int, ...]) -> ContextLayers:
        rows: Rows = np.zeros((1, len(self.neurons)), dtype=np.int32)
        verdict = int(self._verdict(rows, 0)[0])
        if verdict >= 0 or not order:
            return ContextLayers((), (), max(verdict, 0))
        moves = []
        for level in range(len(order)):
            move, rows = self._level(rows, level)
            moves.append(move)
            if not len(rows):
                break
        return ContextLayers(order[: len(moves)], tuple(moves), -1)

    def _level(self, rows: Rows, level: int) -> tuple[Ints, Rows]:
        """The moves of a level, and the rows that are still open in the next one."""
        after = np.stack([neuron.after[level][rows[:, h]] for h, neuron in enumerate(self.neurons)], axis=2)
        every = after.reshape(-1, len(self.neurons)).astype(np.int32)
        self._check(every)
        verdict = self._verdict(every, level + 1)
        is_open = verdict < 0
        numbers, first = number_equal_rows(every[is_open])
        moves = -1 - verdict
        moves[is_open] = numbers
        return moves.reshape(len(rows), -1), every[is_open][first]

    def _verdict(self, rows: Rows, level: int) -> Ints:
        """The context of each row that is decided, -1 for the others."""
        lowest, highest = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        for h, neuron in enumerate(self.neurons):
            output = self.contexts.network.outputs[h]
            state = neuron.state[level][rows[:, h]]
            lowest += np.where(state == ON, output, np.where(state == OFF, 0, min(output, 0)))
            highest += np.where(state == ON, output, np.where(state == OFF, 0, max(output, 0)))
        least = np.searchsorted(self.contexts.thresholds, lowest, side="left")
        most = np.searchsorted(self.contexts.thresholds, highest, side="left")
        verdict: Ints = np.where(least == most, least, -1)
        return verdict

    def _check(self, rows: Rows) -> None:
        self.n_bytes += 16.0 * len(rows)
        check_bytes(self.n_bytes + 8.0 * rows.size, "the diagram of a step network")
        tick(what="the diagram of a step network")


def number_equal_rows(rows: Rows) -> tuple[Ints, Ints]:
    """Number of each row's value and the first row of each."""
    return compiled_hash_rows(np.ascontiguousarray(rows))
