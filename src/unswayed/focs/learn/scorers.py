"""Scores from any fitted classifier, and scores of rows by classifiers that have not seen them.

A scorer is over-confident about the rows it was fitted to, and columns learned from such scores are too sure.
Cross-fitting scores each row by a scorer fitted to the other folds; thresholds and columns learned from these
scores hold for new rows too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.focs.learn.conversion import fit_logistic
from unswayed.focs.learn.folds import WeightedRows
from unswayed.focs.learn.perceptrons import Training, fit_perceptron, one_thread, scaling
from unswayed.model.nodes.contexts import Scorer
from unswayed.model.nodes.functional import PerceptronScorer, comparable, expected_position
from unswayed.model.nodes.perceptron import Activation, Perceptron, on_raw_inputs

LINE_PENALTY = 3.0
"""On squared weights of scaled inputs, for the whole of the rows, as for perceptrons."""


@dataclass(frozen=True, slots=True, eq=False)
class EstimatorScorer:
    """The scores of a fitted scikit-learn classifier, or of any object with a decision function."""

    estimator: Any
    is_ordinal: bool = False
    """Whether there is one score, the expected position of the class, instead of one for each class."""

    def scores(self, inputs: Floats) -> Floats:  # (rows, inputs) -> (rows, scores)
        """Log-odds of the second of two classes, else one score for each class."""
        with one_thread():
            found = self._raw(inputs)
        return expected_position(found) if self.is_ordinal else comparable(found)

    def _raw(self, inputs: Floats) -> Floats:
        if hasattr(self.estimator, "decision_function"):
            given = np.asarray(self.estimator.decision_function(inputs), dtype=np.float64)
            return given.reshape(len(inputs), -1)
        if hasattr(self.estimator, "predict_proba"):
            with np.errstate(divide="ignore"):
                logs = np.log(np.asarray(self.estimator.predict_proba(inputs), dtype=np.float64))
            logs = np.maximum(logs, -745.0)  # the logarithm of the smallest number there is
            return logs[:, 1:] - logs[:, :1] if logs.shape[1] == 2 else logs
        raise ModelError(
            f"a scorer needs decision_function or predict_proba, and {type(self.estimator).__name__} has "
            "neither; pass a classifier"
        )


Fit = Callable[[WeightedRows, np.random.Generator], Scorer]
"""Learns a scorer from rows."""


def fit_estimator(estimator: Any, *, is_ordinal: bool) -> Fit:
    """Clones and fits a classifier of scikit-learn."""

    def fit(rows: WeightedRows, rng: np.random.Generator) -> Scorer:
        from sklearn.base import clone
        from sklearn.utils.validation import has_fit_parameter

        found = clone(estimator)
        if "random_state" in getattr(found, "get_params", dict)():
            found.set_params(random_state=int(rng.integers(2**31)))
        weighted = (rows.weights != 1.0).any()
        if weighted and not has_fit_parameter(found, "sample_weight"):
            raise ModelError(
                f"{type(found).__name__} takes no sample_weight; use a scorer that does, or none"
            )
        with one_thread():
            found.fit(rows.inputs, rows.labels, **({"sample_weight": rows.weights} if weighted else {}))
        ours = _perceptron_of(found)
        return EstimatorScorer(found, is_ordinal) if ours is None else PerceptronScorer(ours, is_ordinal)

    return fit


def fit_by_training(training: Training, n_states: int, *, is_ordinal: bool) -> Fit:
    """Trains a perceptron of one hidden layer."""

    def fit(rows: WeightedRows, rng: np.random.Generator) -> Scorer:
        inputs, labels, weights = rows
        perceptron = fit_perceptron(inputs, labels, n_states, training, rng=rng, weights=weights)
        return PerceptronScorer(perceptron, is_ordinal)

    return fit


def fit_line(rows: WeightedRows, rng: np.random.Generator) -> Scorer:
    """Log-odds of two classes that are linear in the inputs, which are scaled first."""
    centre, scale = scaling(rows.inputs)
    with one_thread():
        found = fit_logistic((rows.inputs - centre) / scale, rows.labels, rows.weights, penalty=LINE_PENALTY)
    line = Perceptron([found[:-1, np.newaxis]], [found[-1:]], Activation.LOGISTIC)
    return PerceptronScorer(on_raw_inputs(line, centre, scale))


def cross_fit_scores(
    fit: Fit, rows: WeightedRows, fold: Ints, rng: np.random.Generator, held: Sequence[int]
) -> tuple[Floats, Ints]:
    """Scores of the rows in some folds by scorers fitted to the others, and which rows these are."""
    scores, places = [], []
    for number in held:
        inside = np.flatnonzero(fold == number)
        scorer = fit(rows.at(np.flatnonzero(fold != number)), rng)
        scores.append(scorer.scores(rows.inputs[inside]))
        places.append(inside)
    return np.concatenate(scores), np.concatenate(places)


def _perceptron_of(fitted: Any) -> Perceptron | None:
    """The scores of a linear classifier or a perceptron of scikit-learn as our own; None for other kinds.

    Ours can be saved without the library, and linear ones compiled.
    """
    from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import LinearSVC

    if isinstance(fitted, LogisticRegression | RidgeClassifier | SGDClassifier | LinearSVC):
        biases = np.broadcast_to(np.atleast_1d(fitted.intercept_), len(fitted.coef_))
        return Perceptron([np.transpose(fitted.coef_)], [biases], Activation.LOGISTIC)
    names = [activation.value for activation in Activation]
    if isinstance(fitted, MLPClassifier) and fitted.activation in names:
        return Perceptron(fitted.coefs_, fitted.intercepts_, Activation(fitted.activation))
    return None
