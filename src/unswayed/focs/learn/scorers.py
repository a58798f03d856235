"""Scores from any fitted classifier, and scores of rows by classifiers that have not seen them.

A scorer is over-confident about the rows it was fitted to, and columns learned from such scores are too sure.
Cross-fitting scores each row by a scorer fitted to the other folds; thresholds and columns learned from these
scores hold for new rows too.

Perceptrons of one hidden layer are learned by L-BFGS, from rows that may carry weights. L-BFGS sees all rows
at once. On functions such as parities, where first-order training stops short of the rare patterns, it
reaches them; and with weights, many equal rows are one. Inputs are centred and scaled first, so that
two-valued ones become -1 and 1, and the scaling is folded into the first layer afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.focs.learn.rows import WeightedRows
from unswayed.model.nodes.contexts import Scorer
from unswayed.model.nodes.functional import PerceptronScorer, comparable, expected_position
from unswayed.model.nodes.perceptron import Activation, Perceptron, activated, on_raw_inputs


@dataclass(frozen=True, slots=True)
class Training:
    """How a perceptron is trained."""

    n_hidden: int = 8
    """Hidden neurons."""
    activation: Activation = Activation.LOGISTIC
    """Of the hidden neurons."""
    alpha: float = 3.0
    """Penalty on squared weights, for the whole of the rows; about 3 is right for a few thousand."""
    max_iterations: int = 200
    """Steps of L-BFGS."""
    n_starts: int = 1
    """Random starts; the one of lowest loss is kept."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep linear algebra to one thread: on small matrices, or a busy machine, more of them only wait."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(limits=1):
        yield


def scaling(inputs: Floats) -> tuple[Floats, Floats]:
    """Centre and scale of each column: -1 and 1 for two values, zero mean and unit spread for more."""
    low, high = inputs.min(axis=0), inputs.max(axis=0)
    is_two_valued = ((inputs == low) | (inputs == high)).all(axis=0)
    centre = np.where(is_two_valued, 0.5 * low + 0.5 * high, inputs.mean(axis=0))
    spread = np.where(is_two_valued, 0.5 * high - 0.5 * low, inputs.std(axis=0))
    return centre, np.where(spread > 0, spread, 1.0)


def fit_perceptron(
    inputs: Floats,
    labels: Ints,
    n_states: int,
    training: Training,
    *,
    rng: np.random.Generator,
    weights: Floats | None = None,
) -> Perceptron:
    """A perceptron: log-odds of state 1 for two states, one score for each state where there are more."""
    centre, scale = scaling(inputs)
    shares = np.ones(len(labels)) if weights is None else weights
    n_outputs = 1 if n_states == 2 else n_states
    targets = labels[:, np.newaxis].astype(np.float64) if n_outputs == 1 else np.eye(n_states)[labels]
    loss = _Loss((inputs - centre) / scale, targets, shares, training)
    with one_thread():
        found = min((loss.minimized(rng) for _ in range(training.n_starts)), key=lambda pair: pair[0])
    first, bias, second, last = loss.unpacked(found[1])
    return on_raw_inputs(Perceptron([first, second], [bias, last], training.activation), centre, scale)


class _Loss:
    """Mean cross-entropy plus the penalty, and its gradient, over one vector of all weights."""

    def __init__(self, inputs: Floats, targets: Floats, shares: Floats, training: Training) -> None:
        self.inputs, self.targets, self.training = inputs, targets, training
        self.shares = (shares / shares.sum())[:, np.newaxis]
        self.penalty = training.alpha / float(shares.sum())
        n_inputs, n_hidden, n_outputs = inputs.shape[1], training.n_hidden, targets.shape[1]
        self.shapes = ((n_inputs, n_hidden), (n_hidden,), (n_hidden, n_outputs), (n_outputs,))

    def unpacked(self, vector: Floats) -> list[Floats]:
        parts, start = [], 0
        for shape in self.shapes:
            size = int(np.prod(shape))
            parts.append(vector[start : start + size].reshape(shape))
            start += size
        return parts

    def minimized(self, rng: np.random.Generator) -> tuple[float, Floats]:
        """The lowest loss found from a random start, and where."""
        from scipy.optimize import minimize

        # The usual range for a layer: the sums stay of unit size whatever the number of inputs.
        bounds = [np.sqrt(6.0 / sum(shape)) for shape in self.shapes for _ in range(int(np.prod(shape)))]
        start = rng.uniform(-1.0, 1.0, len(bounds)) * bounds
        options = {"maxiter": self.training.max_iterations, "maxfun": 2 * self.training.max_iterations}
        done = minimize(self, start, jac=True, method="L-BFGS-B", options=options)
        return float(done.fun), done.x

    def __call__(self, vector: Floats) -> tuple[float, Floats]:
        first, bias, second, last = self.unpacked(vector)
        hidden = activated(self.inputs @ first + bias, self.training.activation)
        scores = hidden @ second + last
        value, error = self._cross_entropy(scores)
        value += 0.5 * self.penalty * float((first**2).sum() + (second**2).sum())
        back = (error @ second.T) * _slope(hidden, self.training.activation)
        gradient = [
            self.inputs.T @ back + self.penalty * first,
            back.sum(axis=0),
            hidden.T @ error + self.penalty * second,
            error.sum(axis=0),
        ]
        return value, np.concatenate([part.ravel() for part in gradient])

    def _cross_entropy(self, scores: Floats) -> tuple[float, Floats]:
        """The mean cross-entropy, and its derivative by each score."""
        if scores.shape[1] == 1:
            value = float((self.shares * (np.logaddexp(0.0, scores) - self.targets * scores)).sum())
            return value, self.shares * (activated(scores, Activation.LOGISTIC) - self.targets)
        shifted = scores - scores.max(axis=1, keepdims=True)
        logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        return -float((self.shares * self.targets * logs).sum()), self.shares * (np.exp(logs) - self.targets)


def _slope(hidden: Floats, activation: Activation) -> Floats:
    """Derivative of the activation, from its value."""
    match activation:
        case Activation.RELU:
            return (hidden > 0).astype(np.float64)
        case Activation.TANH:
            return 1.0 - hidden**2
        case Activation.LOGISTIC:
            return hidden * (1.0 - hidden)


MOST_STEPS = 100
"""Newton steps of a logistic regression; a handful are the rule."""
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


def fit_logistic(features: Floats, labels: Ints, weights: Floats, *, penalty: float = 1e-2) -> Floats:
    """Weights of a logistic regression, the intercept last; Newton's method.

    Equal rows are joined first: eight neurons make at most 256 patterns, whatever the number of rows.
    """
    patterns, where = np.unique(features, axis=0, return_inverse=True)
    where = where.reshape(-1)
    total = np.bincount(where, weights, minlength=len(patterns))
    ones = np.bincount(where, weights * labels, minlength=len(patterns))
    design = np.column_stack([patterns, np.ones(len(patterns))])
    ridge = penalty * np.eye(design.shape[1])
    found = np.zeros(design.shape[1])
    for _ in range(MOST_STEPS):
        share = 1.0 / (1.0 + np.exp(-np.clip(design @ found, -30.0, 30.0)))
        gradient = design.T @ (ones - total * share) - ridge @ found
        curvature = (design * (total * share * (1.0 - share))[:, np.newaxis]).T @ design + ridge
        change = np.linalg.solve(curvature, gradient)
        # Full steps overshoot where the classes are nearly separable.
        found += change * min(1.0, 4.0 / max(float(np.abs(change).max()), 1e-12))
        if np.abs(change).max() < 1e-6:
            break
    return found


def logistic_weights(features: Floats, labels: Ints, weights: Floats, *, penalty: float = 1e-2) -> Floats:
    """Weights of a logistic regression with an intercept, which is not returned."""
    slopes: Floats = fit_logistic(features, labels, weights, penalty=penalty)[:-1]
    return slopes


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
