"""Which inputs matter: a ranking by a perceptron, judged on rows that were not learned from.

A set of inputs is judged by the best contexts over their patterns (`patterns.py`), the same for every
network over these inputs. Sets are compared row by row, so that differences count in units of their own
standard error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arguments import expect_count
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import QueryError, expect_number
from unswayed.focs.learn.patterns import Bits, best_partition, count_patterns, held_out_log_likelihoods
from unswayed.focs.learn.perceptrons import Training, fit_perceptron
from unswayed.model.nodes.perceptron import Activation, Perceptron

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


@dataclass(frozen=True, slots=True)
class HeldOutSplit:
    """Four fifths of the rows to learn from, the rest to judge by."""

    rows: Bits
    labels: Ints
    held_rows: Bits
    held_labels: Ints


def split_rows(rows: Bits, labels: Ints, rng: np.random.Generator) -> HeldOutSplit:
    """The rows split at random."""
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
    patterns = count_patterns(split.rows, split.labels, inputs)
    partition = best_partition(patterns, max_contexts=options.max_contexts, smoothing=options.smoothing)
    return held_out_log_likelihoods(patterns, partition, split.held_rows, split.held_labels)


def leads(one: Floats, other: Floats, *, by: float) -> bool:
    """Whether the first has the higher mean, by so many standard errors of the rows' differences."""
    lead = one - other
    return bool(lead.mean() > by * lead.std() / np.sqrt(len(lead)) + 1e-12)
