"""The contexts of a step network as one diagram: the product of its neurons' diagrams.

Going down the levels, the state of all neurons together is a row of classes, one of each neuron's. Rows that
already decide the context end in its terminal; equal rows become one node. Then the diagram is reduced.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.core.errors import LimitError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.focs.diagrams.neurons import OFF, ON, NeuronLayers, neuron_layers
from unswayed.focs.diagrams.obdd import Layer, Obdd, reduced
from unswayed.focs.step import StepContexts, inputs_used, simplified
from unswayed.kernels.unique_rows import Rows, compiled_hash_rows, number_rows

SMALL = 5000
"""Rows below this are numbered by sorting, above by compiled code, which takes a while to load."""


def step_diagram(
    contexts: StepContexts, order: Sequence[int] | None = None, *, limits: Limits = DEFAULT_LIMITS
) -> Obdd:
    """The diagram of the contexts, asking for the inputs in this order (as they stand by default).

    Cost: networks that depend on few inputs are a matter of milliseconds; a dense one of 8 neurons takes
    about a tenth of a second for 20 inputs and doubles with each one or two more. Raises `LimitError` over
    the limits.
    """
    levels = list(range(contexts.n_inputs)) if order is None else list(order)
    simple = simplified(contexts, {})
    # Levels that cannot matter are left out of the product and put back into the order afterwards.
    used = frozenset(inputs_used(simple))
    places = [place for place, each in enumerate(levels) if each in used]
    columns = [levels[place] for place in places]
    neurons = [
        neuron_layers(weights[columns], int(bias))
        for weights, bias in zip(simple.network.weights, simple.network.biases, strict=True)
    ]
    diagram = _Product(simple, neurons, limits).diagram(columns)
    level = np.array([*places, len(levels)])[diagram.level]
    return Obdd(
        levels, diagram.n_terminals, level=level, low=diagram.low, high=diagram.high, root=diagram.root
    )


class _Product:
    """Layers of the product while they are made; dies when the diagram is."""

    def __init__(self, contexts: StepContexts, neurons: list[NeuronLayers], limits: Limits) -> None:
        self.contexts, self.neurons, self.limits = contexts, neurons, limits
        self.deadline = limits.deadline()
        self.n_bytes = 0.0

    def diagram(self, order: list[int]) -> Obdd:
        rows: Rows = np.zeros((1, len(self.neurons)), dtype=np.int32)
        verdict = self._verdict(rows, 0)
        if verdict[0] >= 0 or not order:
            ends = np.arange(self.contexts.n_contexts)
            root = max(int(verdict[0]), 0)
            places = np.full(len(ends), len(order))
            return Obdd(order, len(ends), level=places, low=ends, high=ends, root=root)
        layers = []
        for level in range(len(order)):
            layer, rows = self._layer(rows, level)
            layers.append(layer)
        return reduced(order, self.contexts.n_contexts, layers)

    def _layer(self, rows: Rows, level: int) -> tuple[Layer, Rows]:
        """The nodes of a level, and the rows that are still open in the next one."""
        sides = [
            np.stack([side[level][rows[:, h]] for h, side in enumerate(each)], axis=1).astype(np.int32)
            for each in ([neuron.low for neuron in self.neurons], [neuron.high for neuron in self.neurons])
        ]
        both = np.concatenate(sides)
        self._check(both)
        verdict = self._verdict(both, level + 1)
        is_open = verdict < 0
        numbers, first = numbered(both[is_open])
        children = -1 - verdict
        children[is_open] = numbers
        return Layer(*np.split(children, 2)), both[is_open][first]

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
        self.limits.check_bytes(self.n_bytes + 8.0 * rows.size, "the diagram of a step network")
        if time.monotonic() > self.deadline:
            raise LimitError(
                f"compiling a step network took longer than {self.limits.max_seconds:g} seconds; raise "
                "Limits(max_seconds=...), or learn contexts that depend on fewer inputs"
            )


def numbered(rows: Rows) -> tuple[Ints, Ints]:
    """Number of each row's value and the first row of each, by whichever way is quicker."""
    if len(rows) < SMALL:
        return number_rows(rows)
    return compiled_hash_rows()(np.ascontiguousarray(rows))
