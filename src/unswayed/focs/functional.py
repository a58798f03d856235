"""Functional CPTs: noisy-or, logistic functions and multi-layer perceptrons [shen2020, section 2.1].

Their parameters grow with the number of parents, not with the number of the parents' instantiations. They are
easy to learn, to sample from and to evaluate; reasoning with them is hard already when the parents are
independent [shen2020, Theorem 1].

State 0 of a two-state variable is its absence, state 1 its presence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats, Ints, frozen_floats
from unswayed.core.errors import ModelError
from unswayed.focs.perceptron import Perceptron
from unswayed.focs.protocol import check_family, check_two_states, checked_rows
from unswayed.model.variable import Variable


@dataclass(frozen=True, slots=True, eq=False)
class NoisyOrCpt:
    """Each present parent causes the child on its own, unless inhibited.

        Pr(child = 0 | u) = (1 - leak) * product over i with u_i = 1 of (1 - strength_i)

    The child and all parents have two states.

    >>> fever, flu, cold = (Variable(name, ["no", "yes"]) for name in ("Fever", "Flu", "Cold"))
    >>> cpt = NoisyOrCpt(fever, [flu, cold], strengths=[0.9, 0.4], leak=0.01)
    >>> cpt.probabilities(np.array([[0, 0], [1, 1]]))[:, 1].round(4).tolist()
    [0.01, 0.9406]
    """

    child: Variable
    """What is caused."""
    parents: tuple[Variable, ...]
    """The causes."""
    strengths: Floats  # (parents,)
    """Probability with which each cause alone has its effect."""
    leak: float
    """Probability of the effect without any cause."""

    def __init__(
        self, child: Variable, parents: Sequence[Variable], strengths: Sequence[float], *, leak: float = 0.0
    ) -> None:
        object.__setattr__(self, "child", child)
        object.__setattr__(self, "parents", tuple(parents))
        object.__setattr__(self, "strengths", frozen_floats(strengths))
        object.__setattr__(self, "leak", float(leak))
        check_family(child, self.parents)
        check_two_states(child, (child, *self.parents), "a noisy-or")
        numbers = np.append(self.strengths, self.leak)
        if self.strengths.shape != (len(self.parents),) or not ((numbers >= 0) & (numbers <= 1)).all():
            raise ModelError(
                f"noisy-or of {child.name!r}: {numbers.tolist()} must be one strength for each of "
                f"{len(self.parents)} parents and a leak, each from 0 to 1"
            )

    def log_absence(self) -> tuple[float, Floats]:
        """log Pr(child = 0) with no parent present, and what each parent adds to it when present."""
        with np.errstate(divide="ignore"):
            added: Floats = np.log1p(-self.strengths)
            return float(np.log1p(-self.leak)), added

    def probabilities(self, states: Ints) -> Floats:
        """Pr(child | parents) for each row."""
        rows = checked_rows(states, len(self.parents), f"the noisy-or of {self.child.name!r}")
        kept = np.where(rows == 1, 1.0 - self.strengths, 1.0)
        absent = (1.0 - self.leak) * kept.prod(axis=1)
        return np.column_stack([absent, 1.0 - absent])


@dataclass(frozen=True, slots=True, eq=False)
class LogisticCpt:
    """Log-odds that are linear in the parents.

        Pr(child = 1 | u) = sigma(bias + sum_i weight_i u_i),    sigma(a) = 1 / (1 + exp(-a))

    [shen2020, section 2.1]. The child and all parents have two states.

    >>> x, u, v = (Variable(name, ["0", "1"]) for name in "XUV")
    >>> cpt = LogisticCpt(x, [u, v], weights=[2.0, -2.0])
    >>> cpt.probabilities(np.array([[1, 1], [1, 0]]))[:, 1].round(4).tolist()
    [0.5, 0.8808]
    """

    child: Variable
    """The variable whose distributions these are."""
    parents: tuple[Variable, ...]
    """What it depends on."""
    weights: Floats  # (parents,)
    """What each parent adds to the log-odds when it is in state 1."""
    bias: float
    """Log-odds when all parents are in state 0."""

    def __init__(
        self, child: Variable, parents: Sequence[Variable], weights: Sequence[float], *, bias: float = 0.0
    ) -> None:
        object.__setattr__(self, "child", child)
        object.__setattr__(self, "parents", tuple(parents))
        object.__setattr__(self, "weights", frozen_floats(weights))
        object.__setattr__(self, "bias", float(bias))
        check_family(child, self.parents)
        check_two_states(child, (child, *self.parents), "a logistic function")
        is_finite = np.isfinite(self.weights).all() and math.isfinite(self.bias)
        if self.weights.shape != (len(self.parents),) or not is_finite:
            raise ModelError(
                f"logistic CPT of {child.name!r}: {self.weights.tolist()} must be one finite weight for each "
                f"of {len(self.parents)} parents, and the bias {self.bias} finite"
            )

    def probabilities(self, states: Ints) -> Floats:
        """Pr(child | parents) for each row."""
        rows = checked_rows(states, len(self.parents), f"the logistic CPT of {self.child.name!r}")
        return two_way(self.bias + rows @ self.weights)


@dataclass(frozen=True, slots=True, eq=False)
class PerceptronCpt:
    """A multi-layer perceptron whose outputs are the distribution of the child.

    One output is the log-odds of state 1 of a two-state child; else there is one output for each state, and
    the distribution is their softmax. Inputs are the parents' states as numbers.
    """

    child: Variable
    """The variable whose distributions these are."""
    parents: tuple[Variable, ...]
    """The inputs, in order."""
    perceptron: Perceptron
    """From parents' states to log-odds."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", tuple(self.parents))
        check_family(self.child, self.parents)
        n_outputs = 1 if len(self.child) == 2 else len(self.child)
        shape = (self.perceptron.n_inputs, self.perceptron.n_outputs)
        if shape[0] != len(self.parents) or shape[1] not in (n_outputs, len(self.child)):
            raise ModelError(
                f"perceptron of {self.child.name!r}: {shape[0]} inputs and {shape[1]} outputs, but "
                f"{len(self.parents)} parents and {len(self.child)} states need {len(self.parents)} and "
                f"{n_outputs}"
            )

    def probabilities(self, states: Ints) -> Floats:
        """Pr(child | parents) for each row."""
        rows = checked_rows(states, len(self.parents), f"the perceptron of {self.child.name!r}")
        return distribution(self.perceptron.scores(rows.astype(np.float64)))


def two_way(log_odds: Floats) -> Floats:  # (rows,) -> (rows, 2)
    """Probabilities of states 0 and 1 from the log-odds of state 1, without overflow."""
    decay = np.exp(-np.abs(log_odds))
    likely, unlikely = 1.0 / (1.0 + decay), decay / (1.0 + decay)
    is_positive = log_odds >= 0
    return np.column_stack([np.where(is_positive, unlikely, likely), np.where(is_positive, likely, unlikely)])


def distribution(scores: Floats) -> Floats:  # (rows, scores) -> (rows, states)
    """Probabilities of the states: from log-odds where there is one score, else by softmax."""
    if scores.shape[1] == 1:
        return two_way(scores[:, 0])
    mass = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = mass / mass.sum(axis=1, keepdims=True)
    return shares
