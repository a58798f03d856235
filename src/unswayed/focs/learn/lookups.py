"""Contexts as tables over more inputs than patterns alone could tell: rare patterns are filled in.

Patterns of a dozen inputs are seen a few times or never. A perceptron of the same rows knows from similar
patterns what to expect of them (`shrink_patterns`), so that further inputs of the ranking can be judged on
rows held out. They are taken when several draws of such rows agree. A tree knows it too, and better where
inputs matter only after others, as in a decision list (`find_tree`).
"""

from __future__ import annotations

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.focs.learn.inputs import (
    LIKELY,
    HeldOutSplit,
    StepOptions,
    judged_inputs,
    leads,
    ranked_inputs,
    ranking_perceptron,
    split_rows,
)
from unswayed.focs.learn.patterns import (
    Bits,
    Patterns,
    best_partition,
    count_patterns,
    held_out_log_likelihoods,
    lookup_contexts,
    shrink_patterns,
)
from unswayed.model.nodes.contexts import LookupContexts

MORE_INPUTS = (8, 10, 12, 14)
"""How many inputs are tried where more than those that were found may matter."""
QUITE_SURE = 4.0
"""Standard errors by which they must do better,"""
CONFIRMATIONS = 4
"""on so many draws of rows held out, which overlap a little."""
LEAVES = (8, 12, 16, 24, 32)
"""Sizes of trees that are tried."""
WORD_OF_TREE = 1000.0
"""Rows that a leaf counts for in each of its patterns: the tree alone says which context they belong to."""


def find_more_inputs(
    data: tuple[Bits, Ints],
    split: HeldOutSplit,
    chosen: list[int],
    options: StepOptions,
    rng: np.random.Generator,
) -> list[int] | None:
    """Further inputs of the ranking added where that is more likely, rare patterns filled in; else None."""
    if not chosen:
        return None
    best = _judged_shrunk(split, chosen, options, rng)
    others = [
        i for i in ranked_inputs(ranking_perceptron(split, options, len(split.rows), rng)) if i not in chosen
    ]
    found = None
    for size in MORE_INPUTS:
        if len(chosen) < size <= min(options.max_inputs, split.rows.shape[1]):
            longer = [*chosen, *others[: size - len(chosen)]]
            judged = _judged_shrunk(split, longer, options, rng)
            if leads(judged, best, by=LIKELY):
                found, best = longer, judged
    found = None if found is None else _without_idle_shrunk(split, found, chosen, options, rng)
    return found if found and _is_confirmed(data, found, chosen, options, rng) else None


def _is_confirmed(
    data: tuple[Bits, Ints],
    longer: list[int],
    chosen: list[int],
    options: StepOptions,
    rng: np.random.Generator,
) -> bool:
    """Whether the longer list is more likely on several draws of rows held out, taken together."""
    one, other = [], []
    for _ in range(CONFIRMATIONS):
        split = split_rows(*data, rng)
        one.append(_judged_shrunk(split, longer, options, rng))
        other.append(_judged_shrunk(split, chosen, options, rng))
    return leads(np.concatenate(one), np.concatenate(other), by=QUITE_SURE)


def _without_idle_shrunk(
    split: HeldOutSplit,
    inputs: list[int],
    needed: list[int],
    options: StepOptions,
    rng: np.random.Generator,
) -> list[int] | None:
    """The inputs without those added that do not seem to help; None when none does."""
    logs = _judged_shrunk(split, inputs, options, rng)
    for each in reversed(inputs[len(needed) :]):
        fewer = [i for i in inputs if i != each]
        without = _judged_shrunk(split, fewer, options, rng)
        if not leads(logs, without, by=0.5):
            inputs, logs = fewer, without
    return inputs if len(inputs) > len(needed) else None


def _judged_shrunk(
    split: HeldOutSplit, inputs: list[int], options: StepOptions, rng: np.random.Generator
) -> Floats:
    """Log-likelihood of each held-out row under contexts over patterns that a perceptron has filled in."""
    counted = count_patterns(split.rows, split.labels, inputs)
    return _judged(split, shrink_patterns(counted, 2 * options.n_hidden, rng), options)


def _judged(split: HeldOutSplit, filled: Patterns, options: StepOptions) -> Floats:
    partition = best_partition(filled, max_contexts=options.max_contexts, smoothing=options.smoothing)
    return held_out_log_likelihoods(filled, partition, split.held_rows, split.held_labels)


def find_tree(
    data: tuple[Bits, Ints],
    inputs: list[int],
    options: StepOptions,
    rng: np.random.Generator,
    *,
    is_filled: bool,
) -> Patterns | None:
    """Patterns of a tree's inputs as the tree sees them, where these are more likely than those inputs.

    The inputs are judged with rare patterns filled in, or as they are, whichever they would be used with.
    """
    gains = np.zeros(len(LEAVES))
    for _ in range(CONFIRMATIONS):
        split = split_rows(*data, rng)
        known = (
            _judged_shrunk(split, inputs, options, rng)
            if is_filled
            else judged_inputs(split, inputs, options)
        )
        for number, n_leaves in enumerate(LEAVES):
            patterns = tree_patterns(split.rows, split.labels, n_leaves, options)
            gains[number] += (
                -np.inf if patterns is None else (_judged(split, patterns, options) - known).mean()
            )
    best = int(np.argmax(gains))
    return tree_patterns(*data, LEAVES[best], options) if gains[best] > 0 else None


def tree_patterns(rows: Bits, labels: Ints, n_leaves: int, options: StepOptions) -> Patterns | None:
    """Patterns of the inputs that a tree uses, each counted as its leaf is; None for too many inputs."""
    from sklearn.tree import DecisionTreeClassifier

    fitted = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=n_leaves, random_state=0)
    fitted.fit(rows, labels)
    inputs = sorted({int(i) for i in fitted.tree_.feature if i >= 0})
    if not 0 < len(inputs) <= options.max_inputs or len(fitted.classes_) < 2:
        return None
    counted = count_patterns(rows, labels, inputs)
    whole = np.zeros((len(counted.counts), rows.shape[1]), dtype=bool)
    whole[:, inputs] = counted.states
    weight = WORD_OF_TREE * (counted.counts.sum(axis=1, keepdims=True) + 1.0)
    return Patterns(counted.inputs, weight * fitted.predict_proba(whole))


def learn_lookup(
    counted: Patterns, filled: Patterns, n_inputs: int, options: StepOptions
) -> tuple[LookupContexts, Floats]:
    """A table of contexts over patterns whose rare ones are filled in; columns by what was counted."""
    partition = best_partition(filled, max_contexts=options.max_contexts, smoothing=options.smoothing)
    contexts = lookup_contexts(filled, partition, n_inputs)
    mass = np.zeros((contexts.n_contexts, 2))
    np.add.at(mass, contexts.table.reshape(-1), counted.counts)
    columns = (mass + options.smoothing) / (mass + options.smoothing).sum(axis=1, keepdims=True)
    return contexts, columns
