"""Rows over a few two-state inputs, joined into counts of their patterns.

With k inputs there are 2^k patterns, so the best contexts over these inputs can be read off their counts:
sort the patterns by the share of ones and cut. No partition into two contexts has a higher likelihood than
the best cut of that order, so it is the yardstick for every network over the same inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Floats, Ints
from unswayed.focs.learn.perceptrons import Training, fit_perceptron, one_thread
from unswayed.focs.learn.thresholds import Partition, ScoredRows, grow
from unswayed.model.distribution import all_states
from unswayed.model.nodes.contexts import LookupContexts
from unswayed.model.nodes.functional import two_way

Bits = npt.NDArray[np.bool_]
OPINION = 4.0
"""Rows that a perceptron's opinion of a pattern counts for."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Counts of labels 0 and 1 for each pattern of some inputs."""

    inputs: tuple[int, ...]
    """Positions of the inputs; the last one varies fastest along the patterns."""
    counts: Floats  # (2^inputs, 2)

    @property
    def states(self) -> Ints:  # (2^inputs, inputs)
        """The patterns themselves."""
        return all_states([2] * len(self.inputs))

    def shares(self, smoothing: float = 1.0) -> Floats:  # (2^inputs,)
        """Smoothed share of ones in each pattern: the score that the patterns are sorted by."""
        total = self.counts.sum(axis=1) + 2 * smoothing
        found: Floats = (self.counts[:, 1] + smoothing) / total
        return found

    def weighted_rows(self) -> tuple[Ints, Ints, Floats]:
        """Patterns, labels and weights of at most 2^(k+1) rows that stand for all rows."""
        seen = np.argwhere(self.counts > 0)
        patterns: Ints = self.states[seen[:, 0]]
        return patterns, seen[:, 1], self.counts[seen[:, 0], seen[:, 1]]


def pattern_numbers(rows: Bits, inputs: Sequence[int]) -> Ints:
    """Number of each row's pattern."""
    numbers = np.zeros(len(rows), dtype=np.int64)
    for place in inputs:
        numbers = 2 * numbers + rows[:, place]
    return numbers


def count_patterns(rows: Bits, labels: Ints, inputs: Sequence[int]) -> Patterns:
    """Counts over the inputs at these positions.

    >>> rows = np.array([[0, 1], [0, 1], [1, 1]], dtype=bool)
    >>> count_patterns(rows, np.array([0, 1, 1]), [0]).counts.tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    cells = 2 * pattern_numbers(rows, inputs) + labels
    counts = np.bincount(cells, minlength=2 ** (len(inputs) + 1)).astype(np.float64)
    return Patterns(tuple(inputs), counts.reshape(-1, 2))


def best_partition(patterns: Patterns, *, max_contexts: int, smoothing: float = 1.0) -> Partition:
    """Contexts over the patterns by cuts of their shares of ones."""
    shares = np.repeat(patterns.shares(smoothing), 2)[:, np.newaxis]
    labels = np.tile([0, 1], len(patterns.counts))
    rows = ScoredRows(shares, labels, 2, patterns.counts.reshape(-1))
    return grow(rows, max_contexts=max_contexts, smoothing=smoothing)[-1]


def held_out_log_likelihoods(
    patterns: Patterns, partition: Partition, rows: Bits, labels: Ints
) -> Floats:  # (rows,)
    """log Pr(label | context of the row's pattern) of rows that were not counted."""
    contexts = partition.contexts.index(patterns.shares()[:, np.newaxis])
    column = contexts[pattern_numbers(rows, patterns.inputs)]
    found: Floats = np.log(partition.columns[column, labels])
    return found


def shrink_patterns(patterns: Patterns, n_hidden: int, rng: np.random.Generator) -> Patterns:
    """The counts with a perceptron's opinion of each pattern added, worth `OPINION` rows.

    Patterns of many inputs are seen a few times or never. A perceptron of the same rows knows from similar
    patterns what to expect of them.
    """
    rows, labels, weights = patterns.weighted_rows()
    training = Training(n_hidden=n_hidden, alpha=1.0)
    perceptron = fit_perceptron(rows.astype(np.float64), labels, 2, training, rng=rng, weights=weights)
    with one_thread():
        shares = two_way(perceptron.scores(patterns.states.astype(np.float64))[:, 0])
    return Patterns(patterns.inputs, patterns.counts + OPINION * shares)


def lookup_contexts(patterns: Patterns, partition: Partition, n_inputs: int) -> LookupContexts:
    """The contexts of a partition of patterns as a table over their inputs."""
    table = partition.contexts.index(patterns.shares()[:, np.newaxis])
    return LookupContexts(n_inputs, patterns.inputs, table.reshape([2] * len(patterns.inputs)))
