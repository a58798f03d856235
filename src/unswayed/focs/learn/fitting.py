"""The scorer and the contexts that suit some rows: several kinds are tried, and rows held out decide.

A line suffices where rows are few or effects add up; perceptrons with a heavy and a light penalty follow what
is curved. Where all inputs are bits, a step network of few of them (`steps.py`) is tried as well: it finds
what no perceptron of all inputs finds, such as the parity of four bits among sixty, and it can be compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Bools, Floats
from unswayed.focs.learn.conversion import linear_contexts
from unswayed.focs.learn.folds import WeightedRows, share_out
from unswayed.focs.learn.inputs import StepOptions, leads
from unswayed.focs.learn.scorers import Fit, cross_fit_scores
from unswayed.focs.learn.soft import calibrate_scores, learn_best_partition
from unswayed.focs.learn.steps import learn_step_contexts
from unswayed.focs.learn.thresholds import (
    Partition,
    ScoredRows,
    choose_size,
    grow,
    make_rows,
    row_log_likelihoods,
)
from unswayed.model.nodes.contexts import Contexts, ScoreContexts, Scorer
from unswayed.model.nodes.focs import learn_columns
from unswayed.model.nodes.functional import PerceptronScorer

MOST_FITTED = 16_000
"""Rows that our own scorers are fitted to; with more they take longer and are hardly better."""
FEW_ROWS = 3_000
"""Rows up to which scorers are compared on all folds, else on one."""
DOUBT = 1.0
"""Standard errors by which a scorer must do better than the first and simplest one."""
NO_SIGNAL = 1e-9
"""Scores, which are log-odds or alike, that differ by no more than this are the same but for rounding."""
MOST_STATES = 64
"""Whole numbers below this are states of variables, so that a line over them can be compiled."""


@dataclass(frozen=True, slots=True)
class LearnedScores:
    """A scorer, and rows scored by scorers of its kind that have not seen them."""

    scorer: Scorer
    rows: ScoredRows
    inputs: Floats  # (rows, inputs)
    """Of these rows."""


def learn_scores(
    fits: Sequence[Fit], rows: WeightedRows, n_states: int, n_folds: int, rng: np.random.Generator
) -> LearnedScores:
    """The scorer that held-out rows prefer, fitted to all rows, and the scores of held-out rows.

    Where folds are not wanted, or a class is too rare for two, the first scorer and its own training scores.
    """
    copies = np.bincount(rows.labels, np.maximum(np.floor(rows.weights), 1.0), minlength=n_states)
    n_folds = min(n_folds, int(copies.min()))
    if n_folds < 2:
        scorer = fits[0](rows, rng)
        return _learned(scorer, _scored(scorer.scores(rows.inputs), rows, n_states), rows.inputs)
    parts, fold = share_out(rows, n_folds, rng)

    def judge(fit: Fit, held: range) -> tuple[ScoredRows, Floats]:
        scores, places = cross_fit_scores(fit, parts, fold, rng, held)
        return _scored(scores, parts.at(places), n_states), parts.inputs[places]

    is_few = len(parts.labels) <= FEW_ROWS
    if len(fits) == 1:
        fit, judged = fits[0], judge(fits[0], range(n_folds))
    else:
        rivals = [judge(each, range(n_folds if is_few else 1)) for each in fits]
        best = _choose([scored for scored, _ in rivals])
        fit, judged = fits[best], rivals[best] if is_few else judge(fits[best], range(n_folds))
    return _learned(fit(rows, rng), *judged)


def learn_scores_of_many(
    fits: Sequence[Fit], rows: WeightedRows, n_states: int, rng: np.random.Generator
) -> LearnedScores:
    """The same for many rows: scorers are fitted to some of them, and judged by the rest."""
    parts, fold = share_out(rows, -(-len(rows.labels) // MOST_FITTED), rng)
    used, rest = parts.at(np.flatnonzero(fold == 0)), parts.at(np.flatnonzero(fold != 0))
    found = []
    for fit in fits:
        scorer = fit(used, rng)
        found.append(_learned(scorer, _scored(scorer.scores(rest.inputs), rest, n_states), rest.inputs))
    return found[_choose([each.rows for each in found])] if len(found) > 1 else found[0]


def _learned(scorer: Scorer, rows: ScoredRows, inputs: Floats) -> LearnedScores:
    """The scorer with its rows; one that tells nothing apart scores all of them alike.

    Scorers of other folds differ by what each fold lacks, and thresholds between them would be learned.
    """
    if (np.ptp(scorer.scores(inputs), axis=0) <= NO_SIGNAL).all():
        rows = rows._replace(scores=np.zeros_like(rows.scores))
    return LearnedScores(scorer, rows, inputs)


def _scored(scores: Floats, rows: WeightedRows, n_states: int) -> ScoredRows:
    return make_rows(scores, rows.labels, n_states, rows.weights)


def _choose(judged: Sequence[ScoredRows]) -> int:
    """The best of the scorers, or the first where the best does not surely lead it; all scored equal rows."""
    logs = np.stack([_log_likelihoods_of(rows) for rows in judged])
    best = int(np.argmax(logs @ judged[0].weights))
    is_sure = choose_size(logs[[0, best]], judged[0].weights, by=DOUBT) == 2
    return best if is_sure else 0


def _log_likelihoods_of(rows: ScoredRows) -> Floats:  # (rows,)
    """Log-likelihood of each label under calibrated scores."""
    shares = calibrate_scores(rows)
    if shares is None:  # no probabilities: the contexts themselves are the judge
        return row_log_likelihoods(grow(rows, max_contexts=8)[-1], rows)
    found: Floats = np.log(np.maximum(shares[np.arange(len(rows.labels)), rows.labels], 1e-300))
    return found


def learn_contexts(
    learned: LearnedScores, *, max_contexts: int, smoothing: float, rng: np.random.Generator
) -> tuple[Contexts, Floats]:
    """Contexts of a scorer with their columns, as many as held-out rows support."""
    rows = learned.rows
    partition = learn_best_partition(rows, max_contexts=max_contexts, smoothing=smoothing, rng=rng)
    return score_contexts(learned, partition), partition.columns


def score_contexts(learned: LearnedScores, partition: Partition) -> Contexts:
    """A partition of scores as contexts of the inputs; a line over states becomes a step network."""
    scorer, inputs = learned.scorer, learned.inputs
    n_inputs = inputs.shape[1]
    is_line = isinstance(scorer, PerceptronScorer) and len(scorer.perceptron.weights) == 1
    if is_line and learned.rows.scores.shape[1] == 1 and _are_states(inputs):
        assert isinstance(scorer, PerceptronScorer)
        slopes, bias = scorer.perceptron.weights[0][:, 0], float(scorer.perceptron.biases[0][0])
        return linear_contexts(slopes, bias, partition.contexts)
    return ScoreContexts(n_inputs, scorer, partition.contexts)


def _are_states(inputs: Floats) -> bool:
    return bool(((inputs >= 0) & (inputs < MOST_STATES) & (inputs == np.rint(inputs))).all())


def are_bits(inputs: Floats) -> bool:
    """Whether all inputs are 0 or 1."""
    return bool(((inputs == 0) | (inputs == 1)).all())


def find_step_contexts(
    learned: LearnedScores, rival: Partition, *, smoothing: float, rng: np.random.Generator
) -> tuple[Contexts, Floats] | None:
    """Contexts of a few bits by a step network, where held-out rows like them.

    Many rows must not like the rival surely better, since step networks compile; few rows must surely like
    the step network better, since it has no graded scores. Rows have whole weights, and are repeated. None
    of them was seen by the scorer that scored it, so that both are judged alike.
    """
    rows = WeightedRows(learned.inputs, learned.rows.labels, learned.rows.weights)
    n_folds = max(5, -(-len(rows.labels) // MOST_FITTED))
    fold = rng.permutation(len(rows.labels)) % n_folds
    held = np.flatnonzero(fold == 0)
    used: Bools = fold != 0 if n_folds <= 5 else fold == 1
    options = StepOptions(max_contexts=2, smoothing=smoothing)
    found = learn_step_contexts(*_repeated(rows, used), options=options, rng=rng)
    one = _log_likelihoods(rows.at(held), found.contexts, found.columns)
    other = row_log_likelihoods(rival, learned.rows)[held]
    is_few = rows.weights.sum() <= FEW_ROWS
    if not leads(one, other, by=1.0) if is_few else leads(other, one, by=1.0):
        return None
    if n_folds <= 5:
        found = learn_step_contexts(*_repeated(rows, rows.weights > 0), options=options, rng=rng)
    shape = (found.contexts.n_contexts, 2)
    where = found.contexts.index(rows.inputs)
    return found.contexts, learn_columns(where, rows.labels, shape, smoothing=smoothing, weights=rows.weights)


def _repeated(rows: WeightedRows, used: Bools) -> tuple[Bools, np.ndarray]:
    """Bits and labels of some rows, each as often as its weight says."""
    copies = np.maximum(np.rint(rows.weights[used]), 1).astype(np.int64)
    return np.repeat(rows.inputs[used] == 1, copies, axis=0), np.repeat(rows.labels[used], copies)


def _log_likelihoods(rows: WeightedRows, contexts: Contexts, columns: Floats) -> Floats:
    found: Floats = np.log(np.maximum(columns[contexts.index(rows.inputs), rows.labels], 1e-300))
    return found
