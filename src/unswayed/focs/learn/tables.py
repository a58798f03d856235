"""Contexts as tables over more inputs than patterns alone could tell: rare patterns are filled in.

Patterns of a dozen inputs are seen a few times or never. A perceptron of the same rows knows from similar
patterns what to expect of them (`shrink_patterns`), so that further inputs of the ranking can be judged on
rows held out. They are taken when several draws of such rows agree. A tree knows it too, and better where
inputs matter only after others, as in a decision list (`find_tree`).
"""

from __future__ import annotations

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.focs.learn.inputs import (
    LIKELY,
    HeldOutSplit,
    LabelledBits,
    Patterns,
    StepOptions,
    best_partition,
    count_patterns,
    judge_patterns,
    leads,
    ranked_inputs,
    ranking_perceptron,
    shrink_patterns,
    split_rows,
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
    data: LabelledBits, split: HeldOutSplit, chosen: list[int], options: StepOptions, rng: np.random.Generator
) -> list[int] | None:
    """Further inputs of the ranking added where that is more likely, rare patterns filled in; else None."""
    if not chosen:
        return None

    def judge(part: HeldOutSplit, inputs: list[int]) -> Floats:
        return _judge_filled(part, inputs, options, rng)

    best = judge(split, chosen)
    ranking = ranked_inputs(ranking_perceptron(split, options, len(split.rows), rng))
    others = [i for i in ranking if i not in chosen]
    found: list[int] = []
    for size in MORE_INPUTS:
        if len(chosen) < size <= min(options.max_inputs, split.rows.shape[1]):
            longer = [*chosen, *others[: size - len(chosen)]]
            judged = judge(split, longer)
            if leads(judged, best, by=LIKELY):
                found, best = longer, judged
    if not found:
        return None
    logs = judge(split, found)
    for each in reversed(found[len(chosen) :]):  # those added that do not seem to help go again
        fewer = [i for i in found if i != each]
        without = judge(split, fewer)
        if not leads(logs, without, by=0.5):
            found, logs = fewer, without
    if len(found) == len(chosen):
        return None
    pairs = []
    for _ in range(CONFIRMATIONS):
        draw = split_rows(data, rng)
        pairs.append((judge(draw, found), judge(draw, chosen)))
    one, other = (np.concatenate(logs) for logs in zip(*pairs, strict=True))
    return found if leads(one, other, by=QUITE_SURE) else None


def _judge_filled(
    split: HeldOutSplit, inputs: list[int], options: StepOptions, rng: np.random.Generator
) -> Floats:
    """Log-likelihood of each held-out row under contexts over patterns that a perceptron has filled in."""
    counted = count_patterns(split.rows, split.labels, inputs)
    return judge_patterns(split, shrink_patterns(counted, 2 * options.n_hidden, rng), options)


def find_tree(
    data: LabelledBits, inputs: list[int], options: StepOptions, rng: np.random.Generator, *, is_filled: bool
) -> Patterns | None:
    """Patterns of a tree's inputs as the tree sees them, where these are more likely than those inputs.

    The inputs are judged with rare patterns filled in, or as they are, whichever they would be used with.
    """
    gains = np.zeros(len(LEAVES))
    for _ in range(CONFIRMATIONS):
        split = split_rows(data, rng)
        counted = count_patterns(split.rows, split.labels, inputs)
        filled = shrink_patterns(counted, 2 * options.n_hidden, rng) if is_filled else counted
        known = judge_patterns(split, filled, options)
        for number, n_leaves in enumerate(LEAVES):
            patterns = tree_patterns(LabelledBits(split.rows, split.labels), n_leaves, options)
            gains[number] += (
                -np.inf if patterns is None else (judge_patterns(split, patterns, options) - known).mean()
            )
    best = int(np.argmax(gains))
    return tree_patterns(data, LEAVES[best], options) if gains[best] > 0 else None


def tree_patterns(data: LabelledBits, n_leaves: int, options: StepOptions) -> Patterns | None:
    """Patterns of the inputs that a tree uses, each counted as its leaf is; None for too many inputs."""
    from sklearn.tree import DecisionTreeClassifier

    fitted = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=n_leaves, random_state=0)
    fitted.fit(data.rows, data.labels)
    inputs = sorted({int(i) for i in fitted.tree_.feature if i >= 0})
    if not 0 < len(inputs) <= options.max_inputs or len(fitted.classes_) < 2:
        return None
    counted = count_patterns(data.rows, data.labels, inputs)
    whole = np.zeros((len(counted.counts), data.rows.shape[1]), dtype=bool)
    whole[:, inputs] = counted.states
    weight = WORD_OF_TREE * (counted.counts.sum(axis=1, keepdims=True) + 1.0)
    return Patterns(counted.inputs, weight * fitted.predict_proba(whole))


def learn_lookup(
    counted: Patterns, filled: Patterns, n_inputs: int, options: StepOptions
) -> tuple[LookupContexts, Floats]:
    """A table of contexts over patterns whose rare ones are filled in; columns by what was counted."""
    partition = best_partition(filled, max_contexts=options.max_contexts, smoothing=options.smoothing)
    table = partition.contexts.index(filled.shares()[:, np.newaxis])
    contexts = LookupContexts(n_inputs, filled.inputs, table.reshape([2] * len(filled.inputs)))
    mass = np.zeros((contexts.n_contexts, 2))
    np.add.at(mass, contexts.table.reshape(-1), counted.counts)
    columns = (mass + options.smoothing) / (mass + options.smoothing).sum(axis=1, keepdims=True)
    return contexts, columns
