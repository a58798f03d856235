"""The sum that a most probable explanation maximizes: tables and gates over the variables not observed.

    log Pr(states, evidence) = sum of factors(states) + sum of gates(states)

A factor is a table over a few variables. A gate is what remains of a node whose function has too many inputs
for a table: a score of its inputs, and what the score is worth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from unswayed.core.arrays import Floats, Ints, frozen_floats
from unswayed.kernels import interval_bounds as kernel
from unswayed.model.network import BayesianNetwork

NO_CUTS = frozen_floats([])
NO_WORTH = frozen_floats([[0.0]])


class Squash(IntEnum):
    """What a neuron of a gate makes of its sum."""

    STEP = kernel.STEP
    IDENTITY = kernel.IDENTITY
    LOGISTIC = kernel.LOGISTIC
    TANH = kernel.TANH
    RELU = kernel.RELU


class Link(IntEnum):
    """What the score of a gate means."""

    CONTEXTS = kernel.CONTEXTS
    """Thresholds turn it into a context, and contexts are worth something."""
    LOG_ODDS = kernel.LOG_ODDS
    """It is the log-odds of state 1 of the child."""
    LOG_ABSENCE = kernel.LOG_ABSENCE
    """It is the logarithm of the probability of state 0 of the child."""


@dataclass(frozen=True, slots=True, eq=False)
class LogFactor:
    """Logarithms over the states of some variables."""

    scope: tuple[int, ...]
    """Positions in the network."""
    logs: Floats
    """One axis for each variable of the scope."""


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """The logarithm of a child's probability as a function of a score."""

    inputs: tuple[int, ...]
    """Positions of two-state variables in the network."""
    weights: Floats  # (neurons, inputs)
    biases: Floats  # (neurons,)
    outputs: Floats  # (neurons,)
    squash: Squash
    link: Link
    child: int | None
    """Position of the child; None when it is observed."""
    observed: int
    """The child's state when it is observed, else -1."""
    offset: float = 0.0
    """Added to the score."""
    cuts: Floats = field(default_factory=lambda: NO_CUTS)
    """Thresholds, for contexts."""
    worth: Floats = field(default_factory=lambda: NO_WORTH)  # (contexts, child states)
    """What contexts are worth with each state of the child; one column when it is observed."""


@dataclass(frozen=True, slots=True, eq=False)
class MpeProblem:
    """What is to be maximized, and over what."""

    network: BayesianNetwork
    evidence: Mapping[int, int]
    """Observed states by position."""
    factors: tuple[LogFactor, ...]
    gates: tuple[Gate, ...]

    @property
    def free(self) -> tuple[int, ...]:
        """Positions of the variables that are not observed."""
        return tuple(v for v in range(len(self.network)) if v not in self.evidence)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of states of every variable of the network."""
        return tuple(len(variable) for variable in self.network.variables)

    def completed(self, states: Mapping[int, int]) -> Ints:  # (1, variables)
        """States of the free variables with the evidence, as one row."""
        row = np.zeros((1, len(self.network)), dtype=np.int64)
        for variable, state in {**states, **self.evidence}.items():
            row[0, variable] = state
        return row


def squashed(sums: Floats, squash: Squash) -> Floats:
    """What neurons make of their sums."""
    match squash:
        case Squash.STEP:
            return (sums >= 0).astype(np.float64)
        case Squash.LOGISTIC:
            return 0.5 * (1.0 + np.tanh(0.5 * sums))
        case Squash.TANH:
            return np.tanh(sums)
        case Squash.RELU:
            return np.maximum(sums, 0.0)
        case Squash.IDENTITY:
            return sums


def gate_worth(gate: Gate, scores: Floats, states: Ints) -> Floats:  # (rows,), (rows, variables) -> (rows,)
    """What scores of a gate are worth, with the child's state in each row."""
    known = np.full(len(states), gate.observed) if gate.child is None else states[:, gate.child]
    if gate.link is Link.CONTEXTS:
        column = np.zeros(len(states), dtype=np.int64) if gate.child is None else known
        found: Floats = gate.worth[np.searchsorted(gate.cuts, scores, side="left"), column]
        return found
    pairs = zip(scores.tolist(), known.tolist(), strict=True)
    return np.array([kernel.link(int(gate.link), score, state) for score, state in pairs])


class Evaluator:
    """A problem prepared for evaluation; a local search asks for thousands of rows."""

    def __init__(self, problem: MpeProblem) -> None:
        self.problem = problem
        self.starts = np.cumsum([0, *(len(gate.outputs) for gate in problem.gates)])
        self.weights = np.zeros((len(problem.network), int(self.starts[-1])))
        for gate, first, last in self._spans():
            self.weights[list(gate.inputs), first:last] = gate.weights.T
        self.biases = np.concatenate([np.zeros(0), *(gate.biases for gate in problem.gates)])

    def _spans(self) -> list[tuple[Gate, int, int]]:
        starts = self.starts.tolist()
        return list(zip(self.problem.gates, starts[:-1], starts[1:], strict=True))

    def values(self, states: Ints) -> Floats:  # (rows, variables) -> (rows,)
        """The sum of factors and gates for each row of states, which must agree with the evidence."""
        total = np.zeros(len(states))
        for factor in self.problem.factors:
            total += factor.logs[tuple(states[:, v] for v in factor.scope)]
        sums = states @ self.weights + self.biases
        for gate, first, last in self._spans():
            scores = gate.offset + squashed(sums[:, first:last], gate.squash) @ gate.outputs
            total += gate_worth(gate, scores, states)
        return total
