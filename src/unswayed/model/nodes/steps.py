"""Step networks: one hidden layer of neurons that are on or off, in whole numbers.

    score(u) = sum_h v_h [ sum_i w_hi u_i + b_h >= 0 ]

over inputs u_i of 0 or 1, or the numbers of a parent's states. Weights are integers, so a sum that meets its
step exactly does so for every engine: diagrams, branch and bound and integer programs reason about one and
the same function, which floating point would not grant. A learned network is rounded first (`quantised`) and
its thresholds are learned afterwards, so that nothing is lost between learning and reasoning.

Thresholds on the score make contexts: context k holds the u with T_k < score(u) <= T_(k+1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Floats, Ints, read_only
from unswayed.core.errors import ModelError
from unswayed.model.nodes.contexts import Contexts, Rule, RuleContexts, TreeContexts, tree_boxes
from unswayed.model.nodes.families import checked_rows, same_fields
from unswayed.model.nodes.layers import Box, ContextLayers
from unswayed.model.nodes.products import product_layers

LARGEST = 2**52
"""Sums up to this are exact in int64 and in float64, so compiled code may use either."""


@dataclass(frozen=True, slots=True, eq=False)
class StepNetwork:
    """A hidden layer of step neurons and one output, all weights whole numbers.

    Two neurons, "at least one" and "both", make an exclusive or:

    >>> network = StepNetwork([[1, 1], [1, 1]], [-1, -2], [1, -1])
    >>> network.scores(np.array([[0, 0], [0, 1], [1, 0], [1, 1]])).tolist()
    [0, 1, 1, 0]
    """

    weights: Ints  # (neurons, inputs)
    """What each input adds to each neuron when it is 1."""
    biases: Ints  # (neurons,)
    """A neuron is on when its weights' sum plus this is at least 0."""
    outputs: Ints  # (neurons,)
    """What each neuron adds to the score when it is on."""

    def __init__(self, weights: npt.ArrayLike, biases: npt.ArrayLike, outputs: npt.ArrayLike) -> None:
        for name, values in (("weights", weights), ("biases", biases), ("outputs", outputs)):
            object.__setattr__(self, name, read_only(whole(values, f"the {name} of a step network")))
        n_neurons = len(self.outputs)
        if self.weights.ndim != 2 or self.biases.shape != (n_neurons,) or len(self.weights) != n_neurons:
            raise ModelError(
                f"a step network of {n_neurons} outputs has weights of shape {self.weights.shape} and biases "
                f"of shape {self.biases.shape}; give one row of weights and one bias for each neuron"
            )
        reach = np.abs(self.weights).sum(axis=1, dtype=np.float64) + np.abs(self.biases)
        total = float(np.abs(self.outputs).sum(dtype=np.float64))
        if max(reach.max(initial=0.0), total) > LARGEST:
            raise ModelError(f"the sums of a step network reach {max(reach.max(), total):.3g}; scale it down")

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.weights.tobytes(), self.biases.tobytes(), self.outputs.tobytes()))

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.weights.shape[1])

    @property
    def n_neurons(self) -> int:
        """Number of hidden neurons."""
        return len(self.outputs)

    def neurons(self, states: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:  # (rows, inputs) -> (rows, neurons)
        """Which neurons are on."""
        # float64 products are exact here and, unlike those of integers, go through BLAS.
        sums = np.asarray(states, dtype=np.float64) @ self.weights.T.astype(np.float64)
        on: npt.NDArray[np.bool_] = sums + self.biases >= 0
        return on

    def scores(self, states: npt.NDArray[Any]) -> Ints:  # (rows, inputs) -> (rows,)
        """The score of each row."""
        rows = checked_rows(states, self.n_inputs, "a step network")
        found: Ints = (self.neurons(rows) @ self.outputs.astype(np.float64)).astype(np.int64)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class StepContexts:
    """The contexts that thresholds on the score of a step network make.

    >>> network = StepNetwork([[1, 1], [1, 1]], [-1, -2], [1, -1])
    >>> StepContexts(network, [0]).index(np.array([[0, 1], [1, 1]])).tolist()
    [1, 0]
    """

    network: StepNetwork
    thresholds: Ints  # (contexts - 1,)
    """Ascending; a score equal to a threshold belongs below it."""

    def __init__(self, network: StepNetwork, thresholds: npt.ArrayLike) -> None:
        if not isinstance(network, StepNetwork):
            raise ModelError(f"step contexts cut the score of a StepNetwork, not {network!r}")
        object.__setattr__(self, "network", network)
        object.__setattr__(self, "thresholds", read_only(whole(thresholds, "thresholds").reshape(-1)))
        if (np.diff(self.thresholds) <= 0).any():
            raise ModelError(f"thresholds must ascend, unlike {self.thresholds.tolist()}")

    @property
    def n_contexts(self) -> int:
        """One more than there are thresholds."""
        return len(self.thresholds) + 1

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self.network.n_inputs

    def index(self, states: npt.NDArray[Any]) -> Ints:
        """The context of each row."""
        found: Ints = np.searchsorted(self.thresholds, self.network.scores(states), side="left")
        return found

    def layers(self, sizes: Sequence[int], known: Mapping[int, int]) -> ContextLayers | None:
        """The classes of equal future of all neurons after each input that matters."""
        simple = simplified(self, known, sizes)
        return product_layers(simple, inputs_used(simple), sizes)

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.network, self.thresholds.tobytes()))


def quantised(weights: Floats, biases: Floats, outputs: Floats, *, bits: int = 10) -> StepNetwork:
    """A step network of `bits`-bit weights close to a real-valued one.

    A neuron keeps its step when weights and bias are scaled together, so each is scaled on its own until its
    largest weight is 2^bits - 1. The outputs are scaled together.

    >>> quantised(np.array([[0.5, -0.25]]), np.array([0.1]), np.array([3.0]), bits=4).weights.tolist()
    [[15, -8]]
    """
    top = 2.0**bits - 1
    largest = np.abs(weights).max(axis=1, initial=0.0)
    scale = top / np.where(largest > 0, largest, 1.0)
    # A bias beyond all weights decides the neuron alone; clipping it there keeps the numbers small.
    reach = np.abs(weights * scale[:, np.newaxis]).sum(axis=1) + top
    return StepNetwork(
        np.rint(weights * scale[:, np.newaxis]),
        np.rint(np.clip(biases * scale, -reach, reach)),
        np.rint(outputs * (top / max(np.abs(outputs).max(initial=0.0), 1e-300))),
    )


def rule_network(n_inputs: int, rules: Sequence[Rule | None]) -> StepContexts:
    """Rules over two-state inputs as a step network: neuron k is on exactly where rule k holds.

    >>> rule_network(2, [{0: 1}, {0: 0, 1: 1}, {0: 0, 1: 0}]).index(np.array([[1, 1], [0, 0]])).tolist()
    [0, 2]
    """
    weights = np.zeros((len(rules), n_inputs), dtype=np.int64)
    biases = np.zeros(len(rules), dtype=np.int64)
    for number, rule in enumerate(rules):
        weights[number], biases[number] = _conjunction(n_inputs, rule)
    return StepContexts(StepNetwork(weights, biases, np.arange(len(rules))), np.arange(len(rules) - 1))


def _conjunction(n_inputs: int, rule: Mapping[int, int] | None) -> tuple[Ints, int]:
    """A neuron that is on when all conditions hold; one without a rule is never on."""
    weights = np.zeros(n_inputs, dtype=np.int64)
    if rule is None:
        return weights, -1
    for place, state in rule.items():
        weights[place] = 1 if state else -1
    return weights, -sum(rule.values())


def parity_network(n_inputs: int, places: Sequence[int]) -> StepContexts:
    """Two contexts: an even or an odd number of ones among the inputs at `places`.

    Neuron k is on from k + 1 ones on, and they count alternately up and down.

    >>> parity_network(3, [0, 2]).index(np.array([[1, 1, 0], [1, 0, 1]])).tolist()
    [1, 0]
    """
    weights = np.zeros((len(places), n_inputs), dtype=np.int64)
    weights[:, list(places)] = 1
    steps = np.arange(len(places))
    return StepContexts(StepNetwork(weights, -1 - steps, 1 - 2 * (steps % 2)), [0])


def as_step_contexts(contexts: Contexts) -> StepContexts | None:
    """The same contexts by a step network; None for functions whose inside is not known.

    Rules and trees must be over two-state inputs, which the caller knows.
    """
    if isinstance(contexts, StepContexts):
        return contexts
    if isinstance(contexts, RuleContexts):
        return rule_network(contexts.n_inputs, contexts.rules)
    if isinstance(contexts, TreeContexts):
        boxes = tree_boxes(contexts, [2] * contexts.n_inputs)
        return rule_network(contexts.n_inputs, [None if box is None else _as_rule(box) for box in boxes])
    return None


def _as_rule(box: Box) -> Rule:
    """The rule of a box of two-state inputs."""
    return {place: min(states) for place, states in box.items() if len(states) == 1}


def simplified(
    contexts: StepContexts, known: Mapping[int, int], sizes: Sequence[int] | None = None
) -> StepContexts:
    """The contexts with some inputs known and with constant neurons counted in, over the same inputs.

    Inputs have two values unless `sizes` says otherwise. Known inputs get weight zero. Neurons that no input
    can switch any more move their output into the thresholds.

    >>> network = StepNetwork([[1, 1], [1, 0]], [-1, -1], [1, 2])
    >>> simplified(StepContexts(network, [0]), {0: 1}).network.n_neurons
    0
    """
    network = contexts.network
    weights, biases = network.weights.copy(), network.biases.copy()
    for place, state in known.items():
        biases += weights[:, place] * state
        weights[:, place] = 0
    reach = weights * (1 if sizes is None else np.array(sizes, dtype=np.int64) - 1)
    least = biases + np.minimum(reach, 0).sum(axis=1)
    most = biases + np.maximum(reach, 0).sum(axis=1)
    is_open = (least < 0) & (most >= 0) & (network.outputs != 0)
    constant = int(network.outputs[least >= 0].sum())
    left = StepNetwork(weights[is_open], biases[is_open], network.outputs[is_open])
    return StepContexts(left, contexts.thresholds - constant)


def inputs_used(contexts: StepContexts) -> tuple[int, ...]:
    """Inputs with a weight in some neuron; others cannot matter."""
    used: Ints = np.flatnonzero((contexts.network.weights != 0).any(axis=0))
    return tuple(map(int, used))


def whole(values: npt.ArrayLike, what: str) -> Ints:
    """The values as integers; `ModelError` when they are not whole numbers."""
    try:
        array = np.atleast_1d(np.asarray(values))
    except ValueError:
        raise ModelError(f"{what} must be rows of equal length, unlike {values!r}") from None
    if array.dtype.kind not in "iufb" or not (np.isfinite(array).all() and (array == np.rint(array)).all()):
        raise ModelError(f"{what} must be whole numbers; round a real-valued network with quantised()")
    if np.abs(array.astype(np.float64)).max(initial=0.0) > LARGEST:
        raise ModelError(f"{what} must be below 2^52; scale the network down")
    return array.astype(np.int64)
