"""Perceptrons of one hidden layer learned by L-BFGS, from rows that may carry weights.

L-BFGS sees all rows at once. On functions such as parities, where first-order training stops short of the
rare patterns, it reaches them; and with weights, many equal rows are one. Inputs are centred and scaled
first, so that two-valued ones become -1 and 1, and the scaling is folded into the first layer afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats, Ints
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
