"""Scores from any fitted classifier, and scores of rows by classifiers that have not seen them.

A scorer is over-confident about the rows it was fitted to, and columns learned from such scores are too sure.
Cross-fitting scores each row by a scorer fitted to the other folds; thresholds and columns learned from these
scores hold for new rows too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.focs.learn.perceptrons import Training, fit_perceptron, one_thread
from unswayed.model.nodes.contexts import Scorer
from unswayed.model.nodes.functional import PerceptronScorer, comparable, expected_position
from unswayed.model.nodes.perceptron import Activation, Perceptron


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


@dataclass(frozen=True, slots=True)
class ScorerSource:
    """Where scorers come from: an unfitted classifier to be cloned, or our perceptron."""

    estimator: Any
    """A scikit-learn classifier, or None for the perceptron."""
    training: Training
    is_ordinal: bool
    n_states: int

    def fitted(self, inputs: Floats, labels: Ints, weights: Floats, rng: np.random.Generator) -> Scorer:
        """A scorer fitted to weighted rows."""
        if self.estimator is None:
            perceptron = fit_perceptron(
                inputs, labels, self.n_states, self.training, rng=rng, weights=weights
            )
            return PerceptronScorer(perceptron, self.is_ordinal)
        from sklearn.base import clone
        from sklearn.utils.validation import has_fit_parameter

        found = clone(self.estimator)
        if "random_state" in getattr(found, "get_params", dict)():
            found.set_params(random_state=int(rng.integers(2**31)))
        weighted = (weights != 1.0).any()
        if weighted and not has_fit_parameter(found, "sample_weight"):
            raise ModelError(
                f"{type(found).__name__} takes no sample_weight; use a scorer that does, or none"
            )
        with one_thread():
            found.fit(inputs, labels, **({"sample_weight": weights} if weighted else {}))
        ours = _perceptron_of(found)
        if ours is None:
            return EstimatorScorer(found, self.is_ordinal)
        return PerceptronScorer(ours, self.is_ordinal)

    def cross_fitted(
        self, inputs: Floats, labels: Ints, weights: Floats, n_folds: int, rng: np.random.Generator
    ) -> Floats | None:
        """Scores of each row by a scorer that has not seen it; None where a class is too rare for that."""
        counts = np.bincount(labels, minlength=self.n_states)
        n_folds = min(n_folds, int(counts.min()))
        if n_folds < 2:
            return None
        fold = folds(labels, n_folds, rng)
        parts = []
        for number in range(n_folds):
            used = fold != number
            parts.append(self.fitted(inputs[used], labels[used], weights[used], rng).scores(inputs[~used]))
        scores = np.empty((len(labels), parts[0].shape[1]))
        for number, part in enumerate(parts):
            scores[fold == number] = part
        return scores


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


def folds(labels: Ints, n_folds: int, rng: np.random.Generator) -> Ints:  # (rows,)
    """Number of each row's fold; every class is shared out evenly."""
    fold = np.empty(len(labels), dtype=np.int64)
    for label in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == label))
        fold[members] = np.arange(len(members)) % n_folds
    return fold
