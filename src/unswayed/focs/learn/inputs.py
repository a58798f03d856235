"""Which of many two-state inputs matter, judged on rows that were not learned from.

With k inputs there are 2^k patterns, so the best contexts over these inputs can be read off the counts of
their patterns: sort the patterns by the share of ones and cut. No partition into two contexts has a higher
likelihood than the best cut of that order, so it is the yardstick for every network over the same inputs.
Sets of inputs are compared row by row, so that differences count in units of their own standard error.

Two things propose inputs. A perceptron of all inputs ranks them by how much they can move its output. And a
screen looks at products of two, three and four: of a parity of uniform bits no single input tells anything,
nor do two of three. The product of all of them, each as -1 and 1, does. With centred and scaled inputs z_i,
products of different sets are uncorrelated as long as inputs are independent, so that the mean of
y z_i z_j z_k over n rows is chance unless it exceeds a few times n^(-1/2). All products of three of sixty
inputs are one product of matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.core.arguments import expect_count
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import QueryError, expect_number
from unswayed.focs.learn.scorers import Training, fit_perceptron, one_thread
from unswayed.focs.learn.thresholds import Partition, ScoredRows, grow
from unswayed.model.distribution import all_states
from unswayed.model.nodes.functional import two_way
from unswayed.model.nodes.perceptron import Activation, Perceptron

Bits = npt.NDArray[np.bool_]
SURE = 4.0
"""Standard errors of the rows' differences by which more inputs must do better: many are tried."""
LIKELY = 2.0
"""Standard errors by which an input must help to stay."""
MOST_INPUTS = 16
"""Patterns of more inputs than this are too many to count."""
MOST_BITS = 30
"""Sums of weights of this size stay exact."""
FEW_INPUTS = 8
"""Prefixes of the ranking up to this length are always judged; longer ones while the longest are the best."""
RANKING_STEPS = 100
"""Steps of L-BFGS for a ranking, which is settled long before the weights are."""
MOST_ROWS = 8192
"""Rows that the screen looks at; an effect that takes more to see is left to perceptrons."""
MOST_PAIRS = 2000
"""Pairs of inputs, those of 63, up to which products of four are screened: their number squared."""
SURE_ERRORS = 6.5
"""Standard errors that are no chance, even among the millions of products that are looked at."""
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


def find_parity(rows: Bits, labels: Ints, *, with_four: bool) -> list[int]:
    """The two, three or four inputs whose product tells most about the label; empty where all may be chance.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.random((1000, 20)) < 0.5
    >>> find_parity(rows, (rows[:, 3] ^ rows[:, 8] ^ rows[:, 17]).astype(int), with_four=False)
    [3, 8, 17]
    """
    scaled, signs = _standardised(rows[:MOST_ROWS].astype(np.float32)), labels[:MOST_ROWS].astype(np.float32)
    spread = float(signs.std())
    if scaled.shape[1] < 2 or spread == 0:
        return []
    signs = (signs - signs.mean()) / spread
    pairs = list(combinations(range(scaled.shape[1]), 2))
    left, right = np.array(pairs).T
    products = scaled[:, left] * scaled[:, right]
    with one_thread():
        found = [_strongest(np.abs(signs @ products)[:, np.newaxis], pairs, [()])]
        weighted = products * signs[:, np.newaxis]
        found.append(_strongest(np.abs(weighted.T @ scaled), pairs, [(i,) for i in range(scaled.shape[1])]))
        if with_four and len(pairs) <= MOST_PAIRS:
            found.append(_strongest(np.abs(weighted.T @ products), pairs, pairs))
    size, inputs = max(found, key=lambda each: each[0])
    return inputs if size > SURE_ERRORS * np.sqrt(len(signs)) else []


def _standardised(values: Floats) -> Floats:
    """Columns of mean 0 and spread 1; constant ones become 0."""
    spread = values.std(axis=0)
    scaled: Floats = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.where(spread > 0, scaled, 0.0), dtype=np.float32)


def _strongest(
    sums: Floats, rows: Sequence[tuple[int, ...]], columns: Sequence[tuple[int, ...]]
) -> tuple[float, list[int]]:
    """The largest sum of a product of different inputs, and these inputs."""
    for place in np.argsort(-sums, axis=None)[: 4 * len(rows)].tolist():
        row, column = divmod(place, len(columns))
        inputs = sorted({*rows[row], *columns[column]})
        if len(inputs) == len(rows[row]) + len(columns[column]):
            return float(sums[row, column]), inputs
    return 0.0, []


@dataclass(frozen=True, slots=True)
class StepOptions:
    """How contexts are learned as step networks."""

    max_contexts: int = 2
    """At most so many contexts."""
    max_inputs: int = 16
    """At most so many inputs, unless all are needed; 0 to keep all inputs."""
    n_hidden: int = 8
    """Neurons of the hidden layer."""
    n_ranking_rows: int = 4096
    """Rows from which the inputs are ranked at first; four times as many each time that nothing is found."""
    n_starts: int = 3
    """Rankings from different starts, as long as they find nothing."""
    bits: int = 10
    """Size of the whole-number weights."""
    smoothing: float = 1.0
    """Added to every count of a column."""

    def __post_init__(self) -> None:
        least = {
            "max_contexts": 1,
            "max_inputs": 0,
            "n_hidden": 1,
            "n_ranking_rows": 1,
            "n_starts": 1,
            "bits": 2,
        }
        for name, low in least.items():
            expect_count(getattr(self, name), name, low)
        if self.max_inputs > MOST_INPUTS or self.bits > MOST_BITS:
            raise QueryError(
                f"max_inputs must be at most {MOST_INPUTS} and bits at most {MOST_BITS}; they are "
                f"{self.max_inputs} and {self.bits}"
            )
        expect_number(self.smoothing, "smoothing")
        if not 0 < self.smoothing < math.inf:
            raise QueryError(f"smoothing must be finite and above 0, not {self.smoothing!r}")


class LabelledBits(NamedTuple):
    """Rows of two-state inputs with labels of 0 and 1."""

    rows: Bits
    labels: Ints


@dataclass(frozen=True, slots=True)
class HeldOutSplit:
    """Four fifths of the rows to learn from, the rest to judge by."""

    rows: Bits
    labels: Ints
    held_rows: Bits
    held_labels: Ints


def split_rows(data: LabelledBits, rng: np.random.Generator) -> HeldOutSplit:
    """The rows split at random."""
    rows, labels = data
    order = rng.permutation(len(rows))
    held, used = np.split(order, [max(1, len(order) // 5)])
    return HeldOutSplit(rows[used], labels[used], rows[held], labels[held])


def ranking_perceptron(
    split: HeldOutSplit, options: StepOptions, n_rows: int, rng: np.random.Generator
) -> Perceptron:
    """A perceptron of all inputs, from the first `n_rows` rows."""
    few = slice(n_rows)
    training = Training(
        n_hidden=options.n_hidden, activation=Activation.LOGISTIC, max_iterations=RANKING_STEPS
    )
    return fit_perceptron(split.rows[few].astype(np.float64), split.labels[few], 2, training, rng=rng)


def ranked_inputs(perceptron: Perceptron) -> list[int]:
    """Inputs by how much they can move the output, sum_h |w_ih v_h|, the strongest first."""
    importance = np.abs(perceptron.weights[0]) @ np.abs(perceptron.weights[1][:, 0])
    return [int(i) for i in np.argsort(-importance, kind="stable")]


def prefix_of(split: HeldOutSplit, ranked: Sequence[int], options: StepOptions) -> list[int]:
    """The shortest prefix of the ranking that the best one does not lead."""
    most = min(options.max_inputs, len(ranked))
    judged: list[Floats] = []
    best = 0
    while len(judged) <= min(most, max(FEW_INPUTS, best + 2)):
        judged.append(judged_inputs(split, ranked[: len(judged)], options))
        best = max(range(len(judged)), key=lambda k: float(judged[k].mean()))
    shortest = next(k for k, logs in enumerate(judged) if not leads(judged[best], logs, by=1.0))
    return list(ranked[:shortest])


def without_idle(split: HeldOutSplit, inputs: list[int], options: StepOptions) -> list[int]:
    """The inputs without those that do not help, the last of the ranking first."""
    logs = judged_inputs(split, inputs, options)
    for each in reversed(inputs):
        fewer = [i for i in inputs if i != each]
        without = judged_inputs(split, fewer, options)
        if not leads(logs, without, by=LIKELY):
            inputs, logs = fewer, without
    return inputs


def with_helpful(split: HeldOutSplit, inputs: list[int], options: StepOptions) -> list[int]:
    """The inputs and those others that help surely, one by one: a ranking may miss the last of a parity."""
    logs = judged_inputs(split, inputs, options)
    while inputs and len(inputs) < options.max_inputs:
        others = [i for i in range(split.rows.shape[1]) if i not in inputs]
        judged = {i: judged_inputs(split, [*inputs, i], options) for i in others}
        found = max(others, key=lambda i: float(judged[i].mean()), default=None)
        if found is None or not leads(judged[found], logs, by=SURE):
            break
        inputs, logs = [*inputs, found], judged[found]
    return inputs


def judged_inputs(split: HeldOutSplit, inputs: Sequence[int], options: StepOptions) -> Floats:
    """Log-likelihood of each held-out row under the best contexts over some inputs."""
    return judge_patterns(split, count_patterns(split.rows, split.labels, inputs), options)


def judge_patterns(split: HeldOutSplit, patterns: Patterns, options: StepOptions) -> Floats:
    """Log-likelihood of each held-out row under the best contexts over patterns, counted or filled in."""
    partition = best_partition(patterns, max_contexts=options.max_contexts, smoothing=options.smoothing)
    contexts = partition.contexts.index(patterns.shares()[:, np.newaxis])
    column = contexts[pattern_numbers(split.held_rows, patterns.inputs)]
    found: Floats = np.log(partition.columns[column, split.held_labels])
    return found


def leads(one: Floats, other: Floats, *, by: float) -> bool:
    """Whether the first has the higher mean, by so many standard errors of the rows' differences."""
    lead = one - other
    return bool(lead.mean() > by * lead.std() / np.sqrt(len(lead)) + 1e-12)
