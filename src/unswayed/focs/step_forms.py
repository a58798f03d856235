"""Contexts of other kinds, as step networks and as functions of the inputs that matter."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.focs.contexts import RuleContexts, TreeContexts, tree_rules
from unswayed.focs.protocol import Contexts
from unswayed.focs.step import StepContexts, StepNetwork, rule_network


def as_step_contexts(contexts: Contexts) -> StepContexts | None:
    """The same contexts by a step network; None for functions whose inside is not known.

    Rules and trees must be over two-state inputs, which the caller knows.
    """
    if isinstance(contexts, StepContexts):
        return contexts
    if isinstance(contexts, RuleContexts):
        return rule_network(contexts.n_inputs, contexts.rules)
    if isinstance(contexts, TreeContexts):
        return rule_network(contexts.n_inputs, tree_rules(contexts))
    return None


def simplified(contexts: StepContexts, known: Mapping[int, int]) -> StepContexts:
    """The contexts with some inputs known and with constant neurons counted in, over the same inputs.

    Known inputs get weight zero. Neurons that no input can switch any more move their output into the
    thresholds.

    >>> network = StepNetwork([[1, 1], [1, 0]], [-1, -1], [1, 2])
    >>> simplified(StepContexts(network, [0]), {0: 1}).network.n_neurons
    0
    """
    network = contexts.network
    weights, biases = network.weights.copy(), network.biases.copy()
    for place, state in known.items():
        biases += weights[:, place] * state
        weights[:, place] = 0
    least = biases + np.minimum(weights, 0).sum(axis=1)
    most = biases + np.maximum(weights, 0).sum(axis=1)
    is_open = (least < 0) & (most >= 0) & (network.outputs != 0)
    constant = int(network.outputs[least >= 0].sum())
    left = StepNetwork(weights[is_open], biases[is_open], network.outputs[is_open])
    return StepContexts(left, contexts.thresholds - constant)


def inputs_used(contexts: StepContexts) -> tuple[int, ...]:
    """Inputs with a weight in some neuron; others cannot matter."""
    used: Ints = np.flatnonzero((contexts.network.weights != 0).any(axis=0))
    return tuple(map(int, used))
