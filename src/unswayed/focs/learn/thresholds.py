"""Thresholds on scores that split rows into contexts of high likelihood [shen2020, section 4.2].

Sorted by score, every place between two distinct scores is a threshold. Running counts of the labels give the
likelihood of both sides of every place, so the best one is found in one pass. The same is done again within
each side, always at the place that gains most, which makes a path of ever finer partitions: the first k - 1
splits of the path make k contexts. How many to keep is decided on rows that the thresholds have not seen.

Scorers that know more than the labels of few rows tell are cut by their own probabilities. A label is one
noisy bit about its row. Where scores are log-odds, nearly, a calibrated score says more: the probability of
the label. Contexts cut where these probabilities differ most lose little of what the scorer knows, and
columns that lean on them (`OPINION` rows) vary less than shares of labels. Scores that are no such thing,
such as those of a step network, are better cut by the labels. Rows held out decide between the two.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.focs.learn.scorers import fit_logistic
from unswayed.model.nodes.contexts import TreeContexts
from unswayed.model.nodes.focs import learn_columns
from unswayed.model.nodes.functional import distribution

HALVINGS = 5
"""Draws of two halves from which the number of contexts is decided."""


class ScoredRows(NamedTuple):
    """Rows to learn contexts from."""

    scores: Floats
    """(rows, scores) What the scorer gives."""
    labels: Ints
    """(rows,) State of the child."""
    n_states: int
    """Number of states of the child."""
    weights: Floats
    """(rows,) How much each row counts."""


class Threshold(NamedTuple):
    """A threshold on one score, and by how much it raises the log-likelihood."""

    gain: float
    score: int
    threshold: float


@dataclass(frozen=True, slots=True)
class Partition:
    """Contexts by thresholds, and their columns."""

    contexts: TreeContexts
    """Over the scores."""
    columns: Floats  # (contexts, states)


def make_rows(scores: Floats, labels: Ints, n_states: int, weights: Floats | None = None) -> ScoredRows:
    """Rows with one column of scores or several, each row counting once unless weighted."""
    matrix = scores.reshape(len(scores), -1).astype(np.float64)
    return ScoredRows(matrix, labels, n_states, np.ones(len(labels)) if weights is None else weights)


def column_log_likelihood(counts: Floats, smoothing: float) -> Floats:  # (..., states) -> (...)
    """Log-likelihood of counts under their own smoothed column."""
    total = counts.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = counts * np.log((counts + smoothing) / (total + smoothing * counts.shape[-1]))
    found: Floats = np.where(counts > 0, terms, 0.0).sum(axis=-1)
    return found


def best_split(rows: ScoredRows, *, smoothing: float = 1.0) -> Threshold | None:
    """The threshold that raises the log-likelihood most; None when no threshold raises it.

    Cost: one sort and one pass for each score.

    Rows d1 to d5 of [shen2020, Figure 1], scored before the sigmoid:

    >>> scores = np.array([[2.0], [-2.0], [1.0], [-1.0], [1.0]])
    >>> best_split(make_rows(scores, np.array([1, 0, 0, 1, 1]), 2), smoothing=0).threshold
    -1.5
    """
    best: Threshold | None = None
    for score in range(rows.scores.shape[1]):
        found = _best_of_score(rows, score, smoothing)
        if found is not None and (best is None or found.gain > best.gain):
            best = found
    return best


def _best_of_score(rows: ScoredRows, score: int, smoothing: float) -> Threshold | None:
    values = rows.scores[:, score]
    order = np.argsort(values, kind="stable")
    values = values[order]
    places = np.flatnonzero(values[1:] > values[:-1])
    if not len(places):
        return None
    running = running_counts(rows.labels[order], rows.weights[order], rows.n_states)
    below, total = running[places], running[-1]
    sides = column_log_likelihood(below, smoothing) + column_log_likelihood(total - below, smoothing)
    best = int(np.argmax(sides))
    gain = float(sides[best] - column_log_likelihood(total, smoothing))
    if not gain > 1e-12 * float(total.sum()):
        return None
    return Threshold(gain, score, _between(values[places[best]], values[places[best] + 1]))


def running_counts(labels: Ints, weights: Floats, n_states: int) -> Floats:  # (rows,) -> (rows, states)
    """Weight of each state among the rows up to each one, itself included."""
    counts = np.zeros((len(labels), n_states))
    counts[np.arange(len(labels)), labels] = weights
    running: Floats = np.cumsum(counts, axis=0)
    return running


def _between(below: float, above: float) -> float:
    """A number t with below <= t < above, the middle unless rounding forbids it."""
    middle = float(below + 0.5 * (above - below))
    return middle if below <= middle < above else float(below)


def grow(rows: ScoredRows, *, max_contexts: int, smoothing: float = 1.0) -> list[Partition]:
    """Partitions of 1, 2, ... contexts, each splitting one context of the one before where it gains most.

    The list is shorter than `max_contexts` when no further threshold raises the likelihood.
    """
    path = _Path(rows, smoothing)
    partitions = [path.partition()]
    while len(partitions) < max_contexts and path.split():
        partitions.append(path.partition())
    return partitions


class _Path:
    """The leaves of the tree of thresholds while it grows; dies when the last partition is made."""

    def __init__(self, rows: ScoredRows, smoothing: float) -> None:
        self.rows, self.smoothing = rows, smoothing
        self.feature, self.cut = [-1], [0.0]
        self.left, self.right = [-1], [-1]
        self.node = np.zeros(len(rows.labels), dtype=np.int64)
        self.waiting: list[tuple[float, int, Threshold, Ints]] = []
        self._offer(0, np.arange(len(rows.labels)))

    def _offer(self, node: int, members: Ints) -> None:
        scores, labels, n_states, weights = self.rows
        split = best_split(
            ScoredRows(scores[members], labels[members], n_states, weights[members]), smoothing=self.smoothing
        )
        if split is not None:
            heapq.heappush(self.waiting, (-split.gain, node, split, members))

    def split(self) -> bool:
        """Split the leaf that gains most; whether there was one."""
        if not self.waiting:
            return False
        _, node, split, members = heapq.heappop(self.waiting)
        goes_left = self.rows.scores[members, split.score] <= split.threshold
        self.feature[node], self.cut[node] = split.score, split.threshold
        for side, part in ((self.left, members[goes_left]), (self.right, members[~goes_left])):
            child = len(self.feature)
            side[node] = child
            self.feature.append(-1)
            self.cut.append(0.0)
            self.left.append(-1)
            self.right.append(-1)
            self.node[part] = child
            self._offer(child, part)
        return True

    def partition(self) -> Partition:
        contexts = TreeContexts(
            self.rows.scores.shape[1], feature=self.feature, cut=self.cut, left=self.left, right=self.right
        )
        shape = (contexts.n_contexts, self.rows.n_states)
        columns = learn_columns(
            contexts.context[self.node], self.rows.labels, shape,
            smoothing=self.smoothing, weights=self.rows.weights,
        )  # fmt: skip
        return Partition(contexts, columns)


def row_log_likelihoods(partition: Partition, rows: ScoredRows) -> Floats:  # (rows,)
    """log Pr(label | scores) of each row."""
    with np.errstate(divide="ignore"):
        found: Floats = np.log(partition.columns[partition.contexts.index(rows.scores), rows.labels])
    return found


def choose_size(gains: Floats, weights: Floats, *, by: float = 1.0) -> int:  # (sizes, rows), (rows,)
    """The number of contexts that rows not learned from support, by the rule of one standard error.

    `gains[k]` are the log-likelihoods of the rows under k + 1 contexts. The smallest number whose mean is
    within `by` standard errors of the best one's, where the error is that of the rows' differences.
    """
    total = float(weights.sum())
    best = int(np.argmax(gains @ weights))
    for size in range(best + 1):
        lead = gains[best] - gains[size]
        mean = float(lead @ weights) / total
        spread = float(weights @ (lead - mean) ** 2) / total
        if mean <= by * np.sqrt(spread / total):
            return size + 1
    return best + 1


def learn_partition(
    rows: ScoredRows, *, max_contexts: int, smoothing: float = 1.0, rng: np.random.Generator
) -> Partition:
    """Thresholds from all rows, as many as learning from half of the rows shows useful on the other half.

    Halves are drawn `HALVINGS` times, and each row counts with its average, so that the number of contexts
    does not hang on one draw.
    """
    size = 1
    if len(rows.labels) > 3:
        gains = np.mean([halved_gains(rows, max_contexts, smoothing, rng) for _ in range(HALVINGS)], axis=0)
        size = choose_size(gains, rows.weights)
    return grow(rows, max_contexts=size, smoothing=smoothing)[-1]


def halved_gains(
    rows: ScoredRows, max_contexts: int, smoothing: float, rng: np.random.Generator
) -> Floats:  # (sizes, rows)
    """Log-likelihood of each row under 1, 2, ... contexts learned from the half that it is not in."""
    order = rng.permutation(len(rows.labels))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    gains = np.empty((max_contexts, len(order)))
    for used, held in (halves, halves[::-1]):
        partitions = grow(_taken(rows, used), max_contexts=max_contexts, smoothing=smoothing)
        others = _taken(rows, held)
        for size in range(max_contexts):
            gains[size, held] = row_log_likelihoods(partitions[min(size, len(partitions) - 1)], others)
    return gains


def _taken(rows: ScoredRows, members: Ints) -> ScoredRows:
    return ScoredRows(rows.scores[members], rows.labels[members], rows.n_states, rows.weights[members])


OPINION = 100.0
"""Rows that the calibrated probability of a context counts for; it takes the place of smoothing."""
MANY_ROWS = 20_000
"""Rows above which one draw of two halves decides as well as several."""
KEEN = 0.3
"""Standard errors by which further contexts must do better here: they cost little where columns lean."""


def learn_best_partition(
    rows: ScoredRows, *, max_contexts: int, smoothing: float, rng: np.random.Generator
) -> Partition:
    """Contexts by labels or by calibrated scores, whichever rows held out prefer."""
    if len(rows.labels) < 4:
        return grow(rows, max_contexts=1, smoothing=smoothing)[-1]
    draws = range(HALVINGS if len(rows.labels) <= MANY_ROWS else 1)
    gains = np.mean([halved_gains(rows, max_contexts, smoothing, rng) for _ in draws], axis=0)
    size = choose_size(gains, rows.weights)
    shares = calibrate_scores(rows)
    if shares is not None:
        path = _soft_path(rows, shares, max_contexts)
        soft = np.mean([_halved_soft_gains(rows, shares, path, rng) for _ in draws], axis=0)
        soft_size = choose_size(soft, rows.weights, by=KEEN)
        if choose_size(np.stack([gains[size - 1], soft[soft_size - 1]]), rows.weights, by=0.0) == 2:
            contexts = path[soft_size - 1]
            return Partition(contexts, _soft_columns(contexts, rows, shares))
    return grow(rows, max_contexts=size, smoothing=smoothing)[-1]


def calibrate_scores(rows: ScoredRows) -> Floats | None:  # (rows, states)
    """Probabilities of the states from scores scaled to fit the labels; None where scores tell none.

    One score is the log-odds of the second of two states up to a line, several are logarithms of the states'
    probabilities up to a common factor.
    """
    n_scores = rows.scores.shape[1]
    if n_scores == 1 and rows.n_states == 2:
        slope, shift = fit_logistic(rows.scores, rows.labels, rows.weights, penalty=1e-2)
        return distribution(slope * rows.scores + shift)
    return None if n_scores != rows.n_states else distribution(_temperature(rows) * rows.scores)


def _temperature(rows: ScoredRows) -> float:
    from scipy.optimize import minimize_scalar

    def loss(factor: float) -> float:
        shares = distribution(factor * rows.scores)[np.arange(len(rows.labels)), rows.labels]
        return -float(rows.weights @ np.log(np.maximum(shares, 1e-300)))

    return float(minimize_scalar(loss, bounds=(0.05, 3.0), method="bounded").x)


def _soft_path(rows: ScoredRows, shares: Floats, max_contexts: int) -> list[TreeContexts]:
    """Partitions of 1, 2, ... contexts as if each row had every label, as often as is probable."""
    n_rows, n_states = shares.shape
    scores = np.repeat(rows.scores, n_states, axis=0)
    weights = (shares * rows.weights[:, np.newaxis]).reshape(-1)
    expanded = ScoredRows(scores, np.tile(np.arange(n_states), n_rows), n_states, weights)
    return [each.contexts for each in grow(expanded, max_contexts=max_contexts, smoothing=1e-9)]


def _soft_columns(contexts: TreeContexts, rows: ScoredRows, shares: Floats) -> Floats:
    """Shares of the labels in each context, leaning on the mean probability there.

    Laplace's count on top would pull sure contexts towards even odds: .01 nats a row where scores are sure.
    """
    where = contexts.index(rows.scores)
    counts = np.zeros((contexts.n_contexts, rows.n_states))
    expected = np.zeros_like(counts)
    np.add.at(counts, (where, rows.labels), rows.weights)
    np.add.at(expected, where, shares * rows.weights[:, np.newaxis])
    mean = (expected + 1e-9) / (expected + 1e-9).sum(axis=1, keepdims=True)
    mass = counts + OPINION * mean
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def _halved_soft_gains(
    rows: ScoredRows, shares: Floats, path: list[TreeContexts], rng: np.random.Generator
) -> Floats:  # (sizes, rows)
    """Log-likelihood of each row with columns from the half that it is not in."""
    order = rng.permutation(len(rows.labels))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    gains = np.empty((len(path), len(order)))
    for used, held in (halves, halves[::-1]):
        taken, others = _taken(rows, used), _taken(rows, held)
        for size, contexts in enumerate(path):
            partition = Partition(contexts, _soft_columns(contexts, taken, shares[used]))
            gains[size, held] = row_log_likelihoods(partition, others)
    return gains
