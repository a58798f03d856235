"""Step networks: learned as smooth perceptrons, then made of steps that are as good.

Replacing each sigmoid by a step changes every score, so the output layer is fitted again on the neurons as
they then are, on or off. The result is rounded to whole numbers, and only then are thresholds learned on its
scores: what is learned last is what reasoning will use.

There are three: of all inputs (`dense_network`), of one linear score (`linear_network`), and of the patterns
of a few inputs (`learn_on_patterns`), from several starts until its contexts are as likely as the best
contexts over the patterns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.focs.learn.inputs import (
    Bits,
    HeldOutSplit,
    LabelledBits,
    Patterns,
    StepOptions,
    best_partition,
)
from unswayed.focs.learn.scorers import Training, fit_perceptron, logistic_weights, one_thread
from unswayed.focs.learn.thresholds import (
    Partition,
    ScoredRows,
    grow,
    learn_partition,
    make_rows,
    row_log_likelihoods,
)
from unswayed.model.nodes.contexts import LookupContexts, TreeContexts
from unswayed.model.nodes.perceptron import Activation, Perceptron
from unswayed.model.nodes.steps import StepContexts, StepNetwork, quantised

FARTHEST = 2.0**50
"""Beyond the sums of rounded weights over any states, and within what step networks take."""
ALPHAS = (3.0, 0.3, 30.0)
"""Penalties that are tried for a network of all inputs; the first one is right most of the time."""
REFITS = 8
"""Starts of the small network before its contexts are written out pattern by pattern."""


@dataclass(frozen=True, slots=True)
class LearnedContexts:
    """Contexts with their columns, and the inputs that they depend on."""

    contexts: StepContexts | LookupContexts
    columns: Floats  # (contexts, 2)
    inputs: tuple[int, ...]
    """Ascending; all of them for a network that was not pruned."""


def step_network(
    perceptron: Perceptron, inputs: Bits, labels: Ints, *, weights: Floats, bits: int = 10
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


def linear_network(inputs: Bits, labels: Ints, options: StepOptions) -> StepNetwork:
    """Intervals of one linear score as a step network: a neuron for each threshold, all of equal weights.

    The score of a row is the number of thresholds that its sum exceeds.
    """
    with one_thread():
        slopes = logistic_weights(inputs.astype(np.float64), labels, np.ones(len(labels)), penalty=1.0)
    weights = quantised(slopes[np.newaxis], np.zeros(1), np.ones(1), bits=options.bits).weights[0]
    sums = make_rows(inputs @ weights.astype(np.float64), labels, 2)
    tree = grow(sums, max_contexts=options.max_contexts, smoothing=options.smoothing)[-1].contexts
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


def scored_rows(
    network: StepNetwork, inputs: Bits, labels: Ints, weights: Floats | None = None
) -> ScoredRows:
    """Rows of the network's scores, to learn thresholds from."""
    return make_rows(network.scores(inputs).astype(np.float64), labels, 2, weights)


def convert_perceptron(perceptron: Perceptron, split: HeldOutSplit, options: StepOptions) -> StepNetwork:
    """The perceptron as a step network, its outputs fitted to the rows that are learned from."""
    ones = np.ones(len(split.labels))
    return step_network(perceptron, split.rows, split.labels, weights=ones, bits=options.bits)


def judge_network(split: HeldOutSplit, network: StepNetwork, options: StepOptions) -> Floats:
    """Log-likelihood of each held-out row under thresholds on a step network's scores."""
    scored = scored_rows(network, split.rows, split.labels)
    partition = grow(scored, max_contexts=options.max_contexts, smoothing=options.smoothing)[-1]
    return row_log_likelihoods(partition, scored_rows(network, split.held_rows, split.held_labels))


def dense_network(split: HeldOutSplit, options: StepOptions, rng: np.random.Generator) -> StepNetwork:
    """A step network of all inputs; penalty and start by the likelihood of the step network itself."""
    networks = []
    for alpha in ALPHAS:
        training = Training(n_hidden=options.n_hidden, activation=Activation.LOGISTIC, alpha=alpha)
        perceptron = fit_perceptron(split.rows.astype(np.float64), split.labels, 2, training, rng=rng)
        networks.append(convert_perceptron(perceptron, split, options))
    return max(networks, key=lambda network: float(judge_network(split, network, options).mean()))


def cut_scores(
    network: StepNetwork, data: LabelledBits, options: StepOptions, rng: np.random.Generator
) -> LearnedContexts:
    """Thresholds on the scores of a network, from all rows."""
    partition = learn_partition(
        scored_rows(network, *data), max_contexts=options.max_contexts, smoothing=options.smoothing, rng=rng
    )
    inputs = tuple(map(int, np.flatnonzero((network.weights != 0).any(axis=0))))
    return _learned(network, partition, inputs)


def learn_on_patterns(
    patterns: Patterns, n_inputs: int, options: StepOptions, rng: np.random.Generator
) -> LearnedContexts:
    """A step network over all inputs that depends on the patterns' inputs only."""
    best = best_partition(patterns, max_contexts=options.max_contexts, smoothing=options.smoothing)
    where = best.contexts.index(patterns.shares()[:, np.newaxis])
    goal = float((patterns.counts * np.log(best.columns[where])).sum())
    network, partition = _refit(patterns, goal, options, rng) or (_write_out(patterns, where), None)
    weights = np.zeros((network.n_neurons, n_inputs), dtype=np.int64)
    weights[:, list(patterns.inputs)] = network.weights
    wide = StepNetwork(weights, network.biases, network.outputs)
    inputs = tuple(sorted(patterns.inputs))
    if partition is not None:
        return _learned(wide, partition, inputs)
    contexts = StepContexts(wide, np.arange(best.contexts.n_contexts - 1))
    return LearnedContexts(contexts, best.columns, inputs)


def _refit(
    patterns: Patterns, goal: float, options: StepOptions, rng: np.random.Generator
) -> tuple[StepNetwork, Partition] | None:
    """A small step network whose contexts reach the likelihood of the best ones; None when no start does."""
    if not patterns.inputs:
        return None
    rows, labels, weights = patterns.weighted_rows()
    training = Training(n_hidden=options.n_hidden, activation=Activation.LOGISTIC, alpha=1.0)
    for _ in range(REFITS):
        perceptron = fit_perceptron(rows.astype(np.float64), labels, 2, training, rng=rng, weights=weights)
        network = step_network(perceptron, rows.astype(bool), labels, weights=weights, bits=options.bits)
        scored = scored_rows(network, rows.astype(bool), labels, weights)
        partition = grow(scored, max_contexts=options.max_contexts, smoothing=options.smoothing)[-1]
        if float(weights @ row_log_likelihoods(partition, scored)) >= goal - 1e-6 * abs(goal):
            return network, partition
    return None


def _write_out(patterns: Patterns, contexts: Ints) -> StepNetwork:
    """The context of each pattern as a step network with one neuron for each pattern."""
    kept = np.flatnonzero(contexts)
    signs = np.where(patterns.states[kept] == 1, 1, -1)
    return StepNetwork(
        signs.reshape(len(kept), len(patterns.inputs)), -patterns.states[kept].sum(axis=1), contexts[kept]
    )


def _learned(network: StepNetwork, partition: Partition, inputs: tuple[int, ...]) -> LearnedContexts:
    """The step network with a partition's thresholds, which were learned on its scores."""
    cuts = partition.contexts.cut[partition.contexts.feature >= 0]
    # Scores are whole numbers, so a threshold between two of them may as well be the lower one.
    contexts = StepContexts(network, np.unique(np.floor(cuts)))
    return LearnedContexts(contexts, partition.columns, inputs)
