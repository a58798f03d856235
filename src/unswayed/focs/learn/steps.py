"""Learning contexts as step networks: which inputs matter, then a network on those [shen2020, sec. 4].

    1. A perceptron is trained by L-BFGS on a few thousand rows, and ranks inputs by sum_h |w_ih v_h|; where
       nothing is found, on four times as many rows, and so on. Products of two to four inputs are screened
       beside it: parities of uniform bits show in nothing less.
    2. For k = 0, 1, 2, ... the k first inputs are judged by the best contexts over their patterns, on rows
       that were not learned from; the smallest k within one standard error of the best is taken, and inputs
       that still help are added.
    3. A perceptron on these inputs alone, trained on the joined rows, becomes a step network; from several
       starts, until its contexts are as likely as the best contexts over the patterns.
    4. Where further inputs of the ranking make rows held out more likely, once a perceptron has filled in
       the patterns that are seen rarely, the contexts are a table over all these inputs; or over those of a
       tree, where that is more likely still.

Where a few inputs do not suffice (a cardinality of all inputs), a step network of all inputs stands; where
rows are few, one linear score may do better than either. All are compared on rows held out.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import QueryError, UnswayedWarning, expect
from unswayed.focs.learn.conversion import linear_network, scored_rows, step_contexts, step_network
from unswayed.focs.learn.inputs import (
    FEW_INPUTS,
    SURE,
    HeldOutSplit,
    StepOptions,
    judged_inputs,
    leads,
    prefix_of,
    ranked_inputs,
    ranking_perceptron,
    split_rows,
    with_helpful,
    without_idle,
)
from unswayed.focs.learn.lookups import find_more_inputs, find_tree, learn_lookup
from unswayed.focs.learn.parities import find_parity
from unswayed.focs.learn.patterns import (
    Bits,
    Patterns,
    best_partition,
    count_patterns,
    shrink_patterns,
)
from unswayed.focs.learn.perceptrons import Training, fit_perceptron
from unswayed.focs.learn.thresholds import Partition, grow, learn_partition, row_log_likelihoods
from unswayed.model.nodes.contexts import LookupContexts
from unswayed.model.nodes.perceptron import Activation, Perceptron
from unswayed.model.nodes.steps import StepContexts, StepNetwork

ALPHAS = (3.0, 0.3, 30.0)
"""Penalties that are tried for a network of all inputs; the first one is right most of the time."""
FEW_ROWS = 4000
"""Rows up to which one linear score is tried too, and from which a tree is."""
TREE_INPUTS = 4
"""Inputs above which a tree is tried: so many it finds, others may matter after them."""
REFITS = 8
"""Starts of the small network before its contexts are written out pattern by pattern."""


@dataclass(frozen=True, slots=True)
class LearnedContexts:
    """Contexts with their columns, and the inputs that they depend on."""

    contexts: StepContexts | LookupContexts
    columns: Floats  # (contexts, 2)
    inputs: tuple[int, ...]
    """Ascending; all of them for a network that was not pruned."""


def learn_step_contexts(
    rows: Bits, labels: Ints, *, options: StepOptions | None = None, rng: np.random.Generator
) -> LearnedContexts:
    """Contexts of two-state inputs for a label of 0 or 1.

    Warns when the inputs found are as many as `max_inputs` allows. Cost: about a second for thirty inputs.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.random((4000, 12)) < 0.8
    >>> noisy = (rows[:, 2] ^ rows[:, 5] ^ rows[:, 7] ^ (rng.random(4000) < 0.05)).astype(int)
    >>> learn_step_contexts(rows, noisy, rng=rng).inputs
    (2, 5, 7)
    """
    options = StepOptions() if options is None else options
    expect(options, StepOptions, "the options of learning contexts")
    expect(rng, np.random.Generator, "rng")
    rows, labels = _checked(rows, labels)
    split = split_rows(rows, labels, rng)
    chosen = _choose_inputs(split, options, rng) if options.max_inputs else None
    if chosen is not None and options.max_inputs <= len(chosen) < rows.shape[1]:
        warnings.warn(
            f"the contexts depend on {len(chosen)} inputs, as many as max_inputs allows; with more they may "
            "be more likely: raise StepOptions(max_inputs=...), or set it to 0 to keep all",
            UnswayedWarning,
            stacklevel=3,
        )
    linear = _better_linear(split, chosen, options)
    if linear is not None or chosen is None:
        network = _dense_network(split, options, rng) if linear is None else linear
        return _cut_scores(network, rows, labels, options, rng)
    more = find_more_inputs((rows, labels), split, chosen, options, rng)
    found = more or chosen
    is_table = more is not None or len(chosen) > FEW_INPUTS
    filled = None
    if len(rows) > FEW_ROWS and len(found) > TREE_INPUTS:
        filled = find_tree((rows, labels), found, options, rng, is_filled=is_table)
    if not is_table and filled is None:
        return _on_patterns(count_patterns(rows, labels, found), rows.shape[1], options, rng)
    counted = count_patterns(rows, labels, found if filled is None else filled.inputs)
    filled = shrink_patterns(counted, 2 * options.n_hidden, rng) if filled is None else filled
    return LearnedContexts(
        *learn_lookup(counted, filled, rows.shape[1], options), tuple(sorted(counted.inputs))
    )


def _cut_scores(
    network: StepNetwork, rows: Bits, labels: Ints, options: StepOptions, rng: np.random.Generator
) -> LearnedContexts:
    """Thresholds on the scores of a network, from all rows."""
    partition = learn_partition(
        scored_rows(network, rows, labels),
        max_contexts=options.max_contexts,
        smoothing=options.smoothing,
        rng=rng,
    )
    return _learned(network, partition, _inputs_of(network))


def _inputs_of(network: StepNetwork) -> tuple[int, ...]:
    return tuple(map(int, np.flatnonzero((network.weights != 0).any(axis=0))))


def _better_linear(split: HeldOutSplit, chosen: list[int] | None, options: StepOptions) -> StepNetwork | None:
    """A linear score, where held-out rows like it better than the inputs chosen; few rows only."""
    if chosen is None or len(split.rows) > FEW_ROWS:
        return None
    network = linear_network(
        split.rows,
        split.labels,
        max_contexts=options.max_contexts,
        smoothing=options.smoothing,
        bits=options.bits,
    )
    judged = _judged_network(split, network, options)
    return network if leads(judged, judged_inputs(split, chosen, options), by=1.0) else None


def _widened(network: StepNetwork, inputs: Sequence[int], n_inputs: int) -> StepNetwork:
    """The same network over all inputs."""
    weights = np.zeros((network.n_neurons, n_inputs), dtype=np.int64)
    weights[:, list(inputs)] = network.weights
    return StepNetwork(weights, network.biases, network.outputs)


def _checked(rows: Bits, labels: Ints) -> tuple[Bits, Ints]:
    if rows.ndim != 2 or len(rows) != len(labels) or len(rows) < 2:
        raise QueryError(
            f"learning contexts takes two rows or more and a label for each, not rows of shape {rows.shape} "
            f"and {len(labels)} labels"
        )
    if not (np.isin(rows, (0, 1)).all() and np.isin(labels, (0, 1)).all()):
        raise QueryError("step networks are learned from inputs and labels of 0 and 1; encode them so")
    return rows.astype(bool), np.asarray(labels).astype(np.int64)


def _choose_inputs(split: HeldOutSplit, options: StepOptions, rng: np.random.Generator) -> list[int] | None:
    """The inputs to keep; None when a network of all inputs is better."""
    n_rows = options.n_ranking_rows
    screened = _screen(split, options, with_four=False)
    has_four = False
    while True:
        for _ in range(options.n_starts):
            perceptron = ranking_perceptron(split, options, n_rows, rng)
            ranked = _settle(split, prefix_of(split, ranked_inputs(perceptron), options), options)
            one, other = judged_inputs(split, ranked, options), judged_inputs(split, screened, options)
            best, pruned = (screened, other) if leads(other, one, by=0.0) else (ranked, one)
            network = _converted(perceptron, split, options)
            if leads(_judged_network(split, network, options), pruned, by=SURE):
                return None
            if not best and not has_four:
                best, has_four = _screen(split, options, with_four=True), True
            if best:
                return best
        if n_rows >= len(split.rows):
            return []
        n_rows *= 4


def _screen(split: HeldOutSplit, options: StepOptions, *, with_four: bool) -> list[int]:
    return _settle(split, find_parity(split.rows, split.labels, with_four=with_four), options)


def _settle(split: HeldOutSplit, inputs: list[int], options: StepOptions) -> list[int]:
    """The inputs without idle ones, and with those others that surely help."""
    few = inputs[: options.max_inputs]
    return with_helpful(split, without_idle(split, few, options), options)


def _converted(perceptron: Perceptron, split: HeldOutSplit, options: StepOptions) -> StepNetwork:
    ones = np.ones(len(split.labels))
    return step_network(perceptron, split.rows, split.labels, weights=ones, bits=options.bits)


def _judged_network(split: HeldOutSplit, network: StepNetwork, options: StepOptions) -> Floats:
    """Log-likelihood of each held-out row under thresholds on a step network's scores."""
    scored = scored_rows(network, split.rows, split.labels)
    partition = grow(scored, max_contexts=options.max_contexts, smoothing=options.smoothing)[-1]
    return row_log_likelihoods(partition, scored_rows(network, split.held_rows, split.held_labels))


def _dense_network(split: HeldOutSplit, options: StepOptions, rng: np.random.Generator) -> StepNetwork:
    """A step network of all inputs; penalty and start by the likelihood of the step network itself."""
    networks = []
    for alpha in ALPHAS:
        training = Training(n_hidden=options.n_hidden, activation=Activation.LOGISTIC, alpha=alpha)
        perceptron = fit_perceptron(split.rows.astype(np.float64), split.labels, 2, training, rng=rng)
        networks.append(_converted(perceptron, split, options))
    return max(networks, key=lambda network: float(_judged_network(split, network, options).mean()))


def _on_patterns(
    patterns: Patterns, n_inputs: int, options: StepOptions, rng: np.random.Generator
) -> LearnedContexts:
    """A step network over all inputs that depends on the patterns' inputs only."""
    order = np.argsort(patterns.inputs)
    best = best_partition(patterns, max_contexts=options.max_contexts, smoothing=options.smoothing)
    goal = _pattern_log_likelihood(patterns, best)
    found = _refitted(patterns, goal, options, rng)
    steps = _written_out(patterns, best) if found is None else found
    assert isinstance(steps.contexts, StepContexts)
    network = _widened(steps.contexts.network, patterns.inputs, n_inputs)
    inputs = tuple(int(np.asarray(patterns.inputs)[place]) for place in order)
    return replace(steps, contexts=StepContexts(network, steps.contexts.thresholds), inputs=inputs)


def _pattern_log_likelihood(patterns: Patterns, partition: Partition) -> float:
    contexts = partition.contexts.index(patterns.shares()[:, np.newaxis])
    return float((patterns.counts * np.log(partition.columns[contexts])).sum())


def _refitted(
    patterns: Patterns, goal: float, options: StepOptions, rng: np.random.Generator
) -> LearnedContexts | None:
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
            return _learned(network, partition, ())
    return None


def _written_out(patterns: Patterns, best: Partition) -> LearnedContexts:
    """The best contexts over the patterns as a step network with one neuron for each pattern."""
    contexts = best.contexts.index(patterns.shares()[:, np.newaxis])
    kept = np.flatnonzero(contexts)
    signs = np.where(patterns.states[kept] == 1, 1, -1)
    network = StepNetwork(
        signs.reshape(len(kept), len(patterns.inputs)), -patterns.states[kept].sum(axis=1), contexts[kept]
    )
    steps = StepContexts(network, np.arange(best.contexts.n_contexts - 1))
    return LearnedContexts(steps, best.columns, ())


def _learned(network: StepNetwork, partition: Partition, inputs: tuple[int, ...]) -> LearnedContexts:
    return LearnedContexts(step_contexts(network, partition), partition.columns, inputs)
