"""The contexts of a step network read input by input: the product of its neurons.

Going down the levels, the state of all neurons together is a row of classes, one of each neuron's. Rows that
already decide the context are decided; equal rows are one state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Ints
from unswayed.kernels.unique_rows import Rows, compiled_hash_rows, number_rows
from unswayed.model.nodes.layers import ContextLayers
from unswayed.model.nodes.neurons import OFF, ON, NeuronLayers, neuron_layers

if TYPE_CHECKING:
    from unswayed.model.nodes.steps import StepContexts

SMALL = 5000
"""Rows below this are numbered by sorting, above by compiled code, which takes a while to load."""


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
    """Number of each row's value and the first row of each, by whichever way is quicker."""
    if len(rows) < SMALL:
        return number_rows(rows)
    return compiled_hash_rows(np.ascontiguousarray(rows))
