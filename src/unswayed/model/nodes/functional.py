"""Functional CPTs: logistic functions and multi-layer perceptrons [shen2020, section 2.1].

Their parameters grow with the number of parents, not with the number of the parents' instantiations. They are
easy to learn, to sample from and to evaluate; reasoning with them is hard already when the parents are
independent [shen2020, Theorem 1]. Noisy-or is in `noisy.py`.

State 0 of a two-state variable is its absence, state 1 its presence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.model.chain import Chain, deterministic_chain
from unswayed.model.nodes.families import (
    FunctionalCpt,
    check_two_states,
    checked_family,
    checked_numbers,
    checked_rows,
)
from unswayed.model.nodes.perceptron import Perceptron
from unswayed.model.variable import Variable

MOST_SUMS = 4096
"""A logistic function whose weights make more different sums than this is read row by row."""
SAME_SUM = 1e-13
"""Sums this close, measured by the sum of all weights, differ by rounding only."""


@dataclass(frozen=True, slots=True, eq=False)
class LogisticCpt(FunctionalCpt):
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
        self, child: Variable, parents: Sequence[Variable], weights: npt.ArrayLike, *, bias: float = 0.0
    ) -> None:
        object.__setattr__(self, "child", child)
        object.__setattr__(self, "parents", checked_family(child, parents))
        check_two_states(child, (child, *self.parents), "a logistic function")
        title = f"logistic CPT of {child.name!r}"
        object.__setattr__(self, "weights", checked_numbers(weights, title))
        object.__setattr__(self, "bias", float(checked_numbers(bias, title).reshape(-1)[:1].sum()))
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

    @property
    def has_zeros(self) -> bool:
        """Never: log-odds are finite."""
        return False

    def unroll(self, known: Mapping[int, int]) -> Chain | None:
        """The chain of sums so far; None where there are too many different ones."""
        places = [place for place in range(len(self.parents)) if place not in known and self.weights[place]]
        sums = np.array([self.bias + sum(self.weights[place] * state for place, state in known.items())])
        unit = SAME_SUM * (np.abs(self.weights).sum() + abs(self.bias)) or 1.0
        moves = []
        for place in places:
            after = np.add.outer(sums, [0.0, float(self.weights[place])])
            _, first, move = np.unique(np.rint(after / unit), return_index=True, return_inverse=True)
            if len(first) > MOST_SUMS:
                return None
            sums = after.reshape(-1)[first]
            moves.append(move.reshape(after.shape))
        return deterministic_chain(places, moves, two_way(sums))


@dataclass(frozen=True, slots=True, eq=False)
class PerceptronCpt(FunctionalCpt):
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
        object.__setattr__(self, "parents", checked_family(self.child, self.parents))
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

    @property
    def has_zeros(self) -> bool:
        """Never: log-odds are finite."""
        return False

    def unroll(self, known: Mapping[int, int]) -> Chain | None:
        """None: what hidden units make of each parent is not a matter of few states."""
        return None


@dataclass(frozen=True, slots=True)
class PerceptronScorer:
    """The scores of a perceptron, for contexts by thresholds."""

    perceptron: Perceptron
    """From inputs to log-odds of the second of two classes, or to one score for each class."""
    is_ordinal: bool = False
    """Whether there is one score, the expected position of the class, in place of one for each class."""

    def scores(self, inputs: Floats) -> Floats:  # (rows, inputs) -> (rows, scores)
        """The scores of each row."""
        found = self.perceptron.scores(inputs)
        return expected_position(found) if self.is_ordinal else comparable(found)


def expected_position(scores: Floats) -> Floats:  # (rows, scores) -> (rows, 1)
    """The expected position of the class under the softmax of the scores; one score stays as it is."""
    if scores.shape[1] == 1:
        return scores
    return (distribution(scores) @ np.arange(scores.shape[1], dtype=np.float64))[:, np.newaxis]


def comparable(scores: Floats) -> Floats:  # (rows, scores)
    """Scores of several classes as logarithms of their softmax; one score stays as it is.

    A softmax does not change when all scores of a row move together, so two scorers that agree may differ
    by that, and thresholds learned from one would not fit the other.
    """
    if scores.shape[1] == 1:
        return scores
    shifted = scores - scores.max(axis=1, keepdims=True)
    found: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return found


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
