"""Multi-layer perceptrons as plain arrays: what was learned, apart from the library that learned it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import ModelError, expect_list
from unswayed.model.nodes.families import checked_numbers, same_fields


class Activation(Enum):
    """What a hidden unit makes of the sum of its inputs; all are monotone. The names are scikit-learn's."""

    LOGISTIC = "logistic"
    TANH = "tanh"
    RELU = "relu"


@dataclass(frozen=True, slots=True, eq=False)
class Perceptron:
    """Layers of weights with one activation between them, and none at the end.

    >>> network = Perceptron([[[1.0], [1.0]], [[2.0]]], [[-1.0], [0.5]], Activation.RELU)
    >>> network.scores(np.array([[0.0, 1.0], [1.0, 1.0]])).tolist()
    [[0.5], [2.5]]
    """

    weights: tuple[Floats, ...]  # each (inputs, outputs)
    """One matrix for each layer."""
    biases: tuple[Floats, ...]  # each (outputs,)
    """What is added to each layer's sums."""
    activation: Activation
    """Applied between layers."""

    def __init__(
        self,
        weights: Sequence[Sequence[Sequence[float]] | Floats],
        biases: Sequence[Sequence[float] | Floats],
        activation: Activation,
    ) -> None:
        object.__setattr__(
            self,
            "weights",
            tuple(checked_numbers(each, "a layer's weights") for each in expect_list(weights, "weights")),
        )
        object.__setattr__(
            self,
            "biases",
            tuple(checked_numbers(each, "a layer's biases") for each in expect_list(biases, "biases")),
        )
        object.__setattr__(self, "activation", activation)
        self._check()

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.activation, *(each.tobytes() for each in self.weights)))

    def _check(self) -> None:
        if not self.weights or len(self.weights) != len(self.biases):
            raise ModelError(
                f"a perceptron needs a matrix and a vector of biases for each layer, not {len(self.weights)} "
                f"and {len(self.biases)}"
            )
        n_inputs = len(self.weights[0]) if self.weights[0].ndim else 0
        for layer, (weights, biases) in enumerate(zip(self.weights, self.biases, strict=True)):
            if weights.ndim != 2 or weights.shape[0] != n_inputs or biases.shape != weights.shape[1:]:
                raise ModelError(
                    f"layer {layer} of a perceptron: weights of shape {weights.shape} and biases of shape "
                    f"{biases.shape} do not follow {n_inputs} inputs"
                )
            if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
                raise ModelError(f"layer {layer} of a perceptron has a weight that is not finite")
            n_inputs = weights.shape[1]

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.weights[0].shape[0])

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return int(self.weights[-1].shape[1])

    def scores(self, inputs: Floats) -> Floats:  # (rows, inputs) -> (rows, outputs)
        """The outputs for each row, before any sigmoid or softmax."""
        values = inputs
        for weights, biases in zip(self.weights[:-1], self.biases[:-1], strict=True):
            values = activated(values @ weights + biases, self.activation)
        scores: Floats = values @ self.weights[-1] + self.biases[-1]
        return scores


def activated(sums: Floats, activation: Activation) -> Floats:
    """The activation of each sum."""
    match activation:
        case Activation.RELU:
            return np.maximum(sums, 0.0)
        case Activation.TANH:
            return np.tanh(sums)
        case Activation.LOGISTIC:
            return 0.5 * (1.0 + np.tanh(0.5 * sums))


def on_raw_inputs(perceptron: Perceptron, centre: Floats, scale: Floats) -> Perceptron:
    """The perceptron that does on x what the given one does on (x - centre) / scale."""
    first = perceptron.weights[0] / scale[:, np.newaxis]
    bias = perceptron.biases[0] - centre @ first
    return Perceptron([first, *perceptron.weights[1:]], [bias, *perceptron.biases[1:]], perceptron.activation)
