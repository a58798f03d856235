"""Thresholds from a scorer's own probabilities, for scorers that know more than the labels of few rows tell.

A label is one noisy bit about its row. Where scores are log-odds, nearly, a calibrated score says more: the
probability of the label. Contexts cut where these probabilities differ most lose little of what the scorer
knows, and columns that lean on them (`OPINION` rows) vary less than shares of labels. Scores that are no such
thing, such as those of a step network, are better cut by the labels. Rows held out decide between the two.
"""

from __future__ import annotations

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.focs.learn.conversion import fit_logistic
from unswayed.focs.learn.thresholds import (
    HALVINGS,
    Partition,
    ScoredRows,
    choose_size,
    grow,
    halved_gains,
    row_log_likelihoods,
)
from unswayed.model.nodes.contexts import TreeContexts
from unswayed.model.nodes.functional import distribution

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


def _taken(rows: ScoredRows, members: Ints) -> ScoredRows:
    return ScoredRows(rows.scores[members], rows.labels[members], rows.n_states, rows.weights[members])
