"""One learner of contexts, for bits and for numbers: every kind is judged on rows that were not learned from.

Contexts of bits (`learn_step_contexts`) [shen2020, sec. 4]:

    1. Which inputs matter (`inputs.py`)? A perceptron is trained by L-BFGS on a few thousand rows, and ranks
       inputs by sum_h |w_ih v_h|; where nothing is found, on four times as many rows, and so on. Products of
       two to four inputs are screened beside it: parities of uniform bits show in nothing less. For
       k = 0, 1, 2, ... the k first inputs are judged by the best contexts over their patterns; the smallest k
       within one standard error of the best is taken, and inputs that still help are added.
    2. Where a few inputs do not suffice (a cardinality of all inputs), a step network of all inputs stands
       (`step_networks.py`); where rows are few, one linear score may do better than either.
    3. Where further inputs of the ranking are more likely, once a perceptron has filled in the patterns that
       are seen rarely, the contexts are a table over all these inputs; or over those of a tree, where that is
       more likely still (`tables.py`).
    4. Else a perceptron on the inputs that matter, trained on the joined rows, becomes a step network.

Contexts of numbers (`learn_scores`, `score_contexts`) are cuts of a score: a line suffices where rows are few
or effects add up; perceptrons with a heavy and a light penalty follow what is curved. Where all inputs are
bits, `find_step_contexts` sets the first kind against the second: it finds what no perceptron of all inputs
finds, such as the parity of four bits among sixty, and it can be compiled.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import QueryError, UnswayedWarning, expect
from unswayed.focs.learn.inputs import (
    FEW_INPUTS,
    SURE,
    Bits,
    HeldOutSplit,
    LabelledBits,
    StepOptions,
    count_patterns,
    find_parity,
    judged_inputs,
    leads,
    prefix_of,
    ranked_inputs,
    ranking_perceptron,
    shrink_patterns,
    split_rows,
    with_helpful,
    without_idle,
)
from unswayed.focs.learn.rows import WeightedRows, share_out
from unswayed.focs.learn.scorers import Fit, cross_fit_scores
from unswayed.focs.learn.step_networks import (
    LearnedContexts,
    convert_perceptron,
    cut_scores,
    dense_network,
    judge_network,
    learn_on_patterns,
    linear_contexts,
    linear_network,
)
from unswayed.focs.learn.tables import find_more_inputs, find_tree, learn_lookup
from unswayed.focs.learn.thresholds import (
    Partition,
    ScoredRows,
    calibrate_scores,
    choose_size,
    grow,
    learn_best_partition,
    make_rows,
    row_log_likelihoods,
)
from unswayed.model.nodes.contexts import Contexts, ScoreContexts, Scorer
from unswayed.model.nodes.focs import learn_columns
from unswayed.model.nodes.functional import PerceptronScorer
from unswayed.model.nodes.steps import StepNetwork

FEW_BITS = 4_000
"""Rows of bits up to which one linear score is tried too, and from which a tree is."""
TREE_INPUTS = 4
"""Inputs above which a tree is tried: so many it finds, others may matter after them."""
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
    data = _check_bits(rows, labels)
    split = split_rows(data, rng)
    inputs = _choose_inputs(split, options, rng) if options.max_inputs else None
    if inputs is None:
        return cut_scores(dense_network(split, options, rng), data, options, rng)
    _warn_if_many(inputs, data, options)
    line = _better_line(split, inputs, options)
    if line is not None:
        return cut_scores(line, data, options, rng)
    return _learn_on(inputs, data, split, options, rng)


def _check_bits(rows: Bits, labels: Ints) -> LabelledBits:
    if rows.ndim != 2 or len(rows) != len(labels) or len(rows) < 2:
        raise QueryError(
            f"learning contexts takes two rows or more and a label for each, not rows of shape {rows.shape} "
            f"and {len(labels)} labels"
        )
    if not (np.isin(rows, (0, 1)).all() and np.isin(labels, (0, 1)).all()):
        raise QueryError("step networks are learned from inputs and labels of 0 and 1; encode them so")
    return LabelledBits(rows.astype(bool), np.asarray(labels).astype(np.int64))


def _warn_if_many(inputs: list[int], data: LabelledBits, options: StepOptions) -> None:
    if options.max_inputs <= len(inputs) < data.rows.shape[1]:
        warnings.warn(
            f"the contexts depend on {len(inputs)} inputs, as many as max_inputs allows; with more they may "
            "be more likely: raise StepOptions(max_inputs=...), or set it to 0 to keep all",
            UnswayedWarning,
            stacklevel=4,
        )


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
            network = convert_perceptron(perceptron, split, options)
            if leads(judge_network(split, network, options), pruned, by=SURE):
                return None
            # Products of four are as many as pairs squared: looked at only where nothing else was found.
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


def _better_line(split: HeldOutSplit, inputs: list[int], options: StepOptions) -> StepNetwork | None:
    """A linear score, where held-out rows like it better than the inputs chosen; few rows only."""
    if len(split.rows) > FEW_BITS:
        return None
    network = linear_network(split.rows, split.labels, options)
    judged = judge_network(split, network, options)
    return network if leads(judged, judged_inputs(split, inputs, options), by=1.0) else None


def _learn_on(
    inputs: list[int], data: LabelledBits, split: HeldOutSplit, options: StepOptions, rng: np.random.Generator
) -> LearnedContexts:
    """Contexts over these inputs: a table where more inputs or a tree's do better, else a step network."""
    n_inputs = data.rows.shape[1]
    more = find_more_inputs(data, split, inputs, options, rng)
    is_table = more is not None or len(inputs) > FEW_INPUTS
    inputs = more or inputs
    tree = None
    if len(data.rows) > FEW_BITS and len(inputs) > TREE_INPUTS:
        tree = find_tree(data, inputs, options, rng, is_filled=is_table)
    counted = count_patterns(*data, inputs if tree is None else tree.inputs)
    if tree is None and not is_table:
        return learn_on_patterns(counted, n_inputs, options, rng)
    filled = shrink_patterns(counted, 2 * options.n_hidden, rng) if tree is None else tree
    return LearnedContexts(*learn_lookup(counted, filled, n_inputs, options), tuple(sorted(counted.inputs)))


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
