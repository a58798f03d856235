"""From smooth perceptrons to step networks that are as good.

Replacing each sigmoid by a step changes every score, so the output layer is fitted again on the neurons as
they then are, on or off. The result is rounded to whole numbers, and only then are thresholds learned on its
scores: what is learned last is what reasoning will use.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Floats, Ints
from unswayed.focs.learn.perceptrons import one_thread
from unswayed.focs.learn.thresholds import Partition, ScoredRows, grow, make_rows
from unswayed.model.nodes.contexts import TreeContexts
from unswayed.model.nodes.perceptron import Activation, Perceptron
from unswayed.model.nodes.steps import StepContexts, StepNetwork, quantised

FARTHEST = 2.0**50
"""Beyond the sums of rounded weights over any states, and within what step networks take."""
MOST_STEPS = 100
"""Newton steps of the output layer; a handful are the rule."""


def step_network(
    perceptron: Perceptron, inputs: npt.NDArray[np.bool_], labels: Ints, *, weights: Floats, bits: int = 10
) -> StepNetwork:
    """The perceptron's hidden layer with steps, and outputs fitted again to the labels 0 and 1.

    A sigmoid is half on where its sum is 0, and a rectifier begins there: that is where the step is put.
    """
    hidden, biases = perceptron.weights[0].T, perceptron.biases[0]
    if perceptron.activation is Activation.RELU:
        # A rectifier is worth nothing at its foot; the middle of what it reaches on these rows is where
        # being on or off tells most.
        with one_thread():
            sums = inputs @ hidden.T + biases
        biases = biases - 0.5 * np.maximum(sums.max(axis=0, initial=0.0), 0.0)
    steps = quantised(hidden, biases, np.ones(len(biases)), bits=bits)
    with one_thread():
        outputs = logistic_weights(steps.neurons(inputs).astype(np.float64), labels, weights)
    return StepNetwork(steps.weights, steps.biases, quantised(hidden, biases, outputs, bits=bits).outputs)


def linear_network(
    inputs: npt.NDArray[np.bool_], labels: Ints, *, max_contexts: int, smoothing: float, bits: int
) -> StepNetwork:
    """Intervals of one linear score as a step network: a neuron for each threshold, all of equal weights.

    The score of a row is the number of thresholds that its sum exceeds.
    """
    with one_thread():
        slopes = logistic_weights(inputs.astype(np.float64), labels, np.ones(len(labels)), penalty=1.0)
    weights = quantised(slopes[np.newaxis], np.zeros(1), np.ones(1), bits=bits).weights[0]
    sums = make_rows(inputs @ weights.astype(np.float64), labels, 2)
    tree = grow(sums, max_contexts=max_contexts, smoothing=smoothing)[-1].contexts
    cuts = np.unique(np.floor(tree.cut[tree.feature >= 0])).astype(np.int64)
    if not len(cuts):
        return StepNetwork(np.zeros((1, len(weights))), [-1], [0])
    return StepNetwork(np.tile(weights, (len(cuts), 1)), -(cuts + 1), np.ones(len(cuts)))


def linear_contexts(slopes: Floats, bias: float, tree: TreeContexts, *, bits: int = 12) -> StepContexts:
    """Thresholds on one linear score of whole numbers, as a step network: it can be compiled.

    Weights are rounded, so that rows very near a threshold may come to the other side of it.
    """
    scale = (2.0**bits - 1) / max(float(np.abs(slopes).max(initial=0.0)), 1e-300)
    weights = np.rint(slopes * scale).astype(np.int64)
    # No sum comes near `FARTHEST`, so a cut beyond it is as good as one there, however flat the line is.
    beyond = np.clip(np.sort(tree.cut[tree.feature >= 0]) - bias, -FARTHEST / scale, FARTHEST / scale)
    cuts = np.floor(beyond * scale).astype(np.int64)
    network = StepNetwork(
        np.tile(weights, (len(cuts), 1)).reshape(len(cuts), len(weights)), -(cuts + 1), np.ones(len(cuts))
    )
    return StepContexts(network, np.arange(len(cuts)))


def logistic_weights(features: Floats, labels: Ints, weights: Floats, *, penalty: float = 1e-2) -> Floats:
    """Weights of a logistic regression with an intercept, which is not returned."""
    slopes: Floats = fit_logistic(features, labels, weights, penalty=penalty)[:-1]
    return slopes


def fit_logistic(features: Floats, labels: Ints, weights: Floats, *, penalty: float = 1e-2) -> Floats:
    """Weights of a logistic regression, the intercept last; Newton's method.

    Equal rows are joined first: eight neurons make at most 256 patterns, whatever the number of rows.
    """
    patterns, where = np.unique(features, axis=0, return_inverse=True)
    where = where.reshape(-1)
    total = np.bincount(where, weights, minlength=len(patterns))
    ones = np.bincount(where, weights * labels, minlength=len(patterns))
    design = np.column_stack([patterns, np.ones(len(patterns))])
    ridge = penalty * np.eye(design.shape[1])
    found = np.zeros(design.shape[1])
    for _ in range(MOST_STEPS):
        share = 1.0 / (1.0 + np.exp(-np.clip(design @ found, -30.0, 30.0)))
        gradient = design.T @ (ones - total * share) - ridge @ found
        curvature = (design * (total * share * (1.0 - share))[:, np.newaxis]).T @ design + ridge
        change = np.linalg.solve(curvature, gradient)
        # Full steps overshoot where the classes are nearly separable.
        found += change * min(1.0, 4.0 / max(float(np.abs(change).max()), 1e-12))
        if np.abs(change).max() < 1e-6:
            break
    return found


def step_contexts(network: StepNetwork, partition: Partition) -> StepContexts:
    """The step network with a partition's thresholds, which were learned on its scores."""
    cuts = partition.contexts.cut[partition.contexts.feature >= 0]
    # Scores are whole numbers, so a threshold between two of them may as well be the lower one.
    return StepContexts(network, np.unique(np.floor(cuts)))


def scored_rows(
    network: StepNetwork, inputs: npt.NDArray[np.bool_], labels: Ints, weights: Floats | None = None
) -> ScoredRows:
    """Rows of the network's scores, to learn thresholds from."""
    return make_rows(network.scores(inputs).astype(np.float64), labels, 2, weights)
