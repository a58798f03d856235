"""The sum that a most probable explanation maximizes: tables and gates over the variables not observed.

    log Pr(states, evidence) = sum of factors(states) + sum of gates(states)

A factor is a table over a few variables. A gate is what remains of a node whose function has too many inputs
for a table: a score of its inputs, and what the score is worth.

`build_problem` is the presolve. Evidence is put into every node. Neurons that can no longer change are
counted in, inputs without weight are dropped, and a function that is left with few inputs becomes a table,
along which axes that do not matter are dropped too. So contexts learned over thirty parents that depend on
three of them are tables of eight rows, whatever the network around them looks like.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol

import numpy as np

from unswayed.core.arrays import Floats, Ints, frozen_floats
from unswayed.core.errors import LimitError
from unswayed.kernels import interval_bounds as kernel
from unswayed.model.cpt import Cpt
from unswayed.model.distribution import ConditionalDistribution, all_states
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.contexts import LookupContexts
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.functional import LogisticCpt, PerceptronCpt
from unswayed.model.nodes.noisy import NoisyOrCpt
from unswayed.model.nodes.perceptron import Activation
from unswayed.model.nodes.steps import StepContexts, as_step_contexts, inputs_used, simplified

NO_CUTS = frozen_floats([])
NO_WORTH = frozen_floats([[0.0]])


class Squash(IntEnum):
    """What a neuron of a gate makes of its sum."""

    STEP = kernel.STEP
    IDENTITY = kernel.IDENTITY
    LOGISTIC = kernel.LOGISTIC
    TANH = kernel.TANH
    RELU = kernel.RELU


class ScoreMeaning(IntEnum):
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
    meaning: ScoreMeaning
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


@dataclass(frozen=True, slots=True)
class Answer:
    """States of the free variables by position, and what is proven about them."""

    states: Mapping[int, int] | None
    """The best states found; None when none were, or when there are none of positive probability."""
    bound: float
    """No states have a larger logarithm than this; minus infinity when the evidence is impossible."""
    finished: bool
    """Whether the search came to its end rather than to a limit."""
    n_nodes: int = 0
    """Nodes of a search tree, where there was one."""


class MpeMethod(Protocol):
    """A way to solve a problem exactly."""

    @property
    def name(self) -> str:
        """What it is called in explanations."""

    @property
    def table_cells(self) -> int:
        """Functions with at most so many instantiations of their free inputs are best given as tables."""

    def solve(self, problem: MpeProblem) -> Answer:
        """The best states, or the best ones found within the limits with a bound."""


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
    if gate.meaning is ScoreMeaning.CONTEXTS:
        column = np.zeros(len(states), dtype=np.int64) if gate.child is None else known
        found: Floats = gate.worth[np.searchsorted(gate.cuts, scores, side="left"), column]
        return found
    pairs = zip(scores.tolist(), known.tolist(), strict=True)
    return np.array([kernel.link(int(gate.meaning), score, state) for score, state in pairs])


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


CERTAIN = -1e6
"""Stands for the logarithm of 0 in sums of logarithms of absence."""
_SQUASH = {
    Activation.LOGISTIC: Squash.LOGISTIC,
    Activation.TANH: Squash.TANH,
    Activation.RELU: Squash.RELU,
}


def build_problem(
    network: BayesianNetwork, evidence: Mapping[int, int], *, table_cells: int = 2**14
) -> MpeProblem:
    """The problem of explaining the evidence; `LimitError` for opaque functions of too many free parents.

    Functions with at most `table_cells` instantiations of their free inputs become tables.
    """
    builder = _Builder(network, evidence, table_cells)
    factors, gates = [], []
    for position in range(len(network)):
        term = builder.term(position)
        if isinstance(term, Gate):
            gates.append(term)
        else:
            factors.append(term)
    return MpeProblem(network, dict(evidence), tuple(factors), tuple(gates))


class _Builder:
    """Makes one term for each node; dies when the problem is made."""

    def __init__(self, network: BayesianNetwork, evidence: Mapping[int, int], table_cells: int) -> None:
        self.network, self.evidence, self.table_cells = network, evidence, table_cells

    def term(self, position: int) -> LogFactor | Gate:
        node, parents = self.network.cpts[position], self.network.parents[position]
        if isinstance(node, Cpt):
            return self._table(position, list(range(len(parents))))
        if isinstance(node, FocsCpt) and isinstance(node.contexts, LookupContexts):
            return self._table(position, list(node.contexts.places))
        steps = self._steps(node, parents)
        used = list(range(len(parents))) if steps is None else list(inputs_used(steps))
        free = [place for place in used if parents[place] not in self.evidence]
        cells = np.prod([float(len(node.parents[place])) for place in free])
        if cells <= self.table_cells:
            return self._table(position, used)
        if steps is not None and isinstance(node, FocsCpt):
            return self._step_gate(position, node, steps)
        return self._smooth_gate(position, node)

    def _steps(self, node: ConditionalDistribution, parents: tuple[int, ...]) -> StepContexts | None:
        """The contexts as a step network with the evidence put in; None where that is not possible."""
        if not isinstance(node, FocsCpt) or any(len(parent) != 2 for parent in node.parents):
            return None
        steps = as_step_contexts(node.contexts)
        known = {place: self.evidence[p] for place, p in enumerate(parents) if p in self.evidence}
        return None if steps is None else simplified(steps, known)

    def _table(self, position: int, used: list[int]) -> LogFactor:
        """The node as a factor over the free ones of the used parents, and the child."""
        node, parents = self.network.cpts[position], self.network.parents[position]
        free = [place for place in used if parents[place] not in self.evidence]
        sizes = [len(node.parents[place]) for place in free]
        rows = np.zeros((int(np.prod(sizes)), len(parents)), dtype=np.int64)
        for place, parent in enumerate(parents):
            rows[:, place] = self.evidence.get(parent, 0)
        rows[:, free] = all_states(sizes)
        with np.errstate(divide="ignore"):
            logs = np.log(node.probabilities(rows)).reshape([*sizes, len(node.child)])
        scope = [*(parents[place] for place in free), position]
        if position in self.evidence:
            logs, scope = logs[..., self.evidence[position]], scope[:-1]
        return _without_idle_axes(scope, logs)

    def _step_gate(self, position: int, node: FocsCpt, steps: StepContexts) -> Gate:
        parents = self.network.parents[position]
        used = list(inputs_used(steps))
        state = self.evidence.get(position)
        with np.errstate(divide="ignore"):
            worth = np.log(node.columns)
        return Gate(
            inputs=tuple(parents[place] for place in used),
            weights=steps.network.weights[:, used].astype(np.float64),
            biases=steps.network.biases.astype(np.float64),
            outputs=steps.network.outputs.astype(np.float64),
            squash=Squash.STEP,
            meaning=ScoreMeaning.CONTEXTS,
            child=position if state is None else None,
            observed=-1 if state is None else 0,
            cuts=steps.thresholds.astype(np.float64),
            worth=worth if state is None else worth[:, [state]],
        )

    def _smooth_gate(self, position: int, node: ConditionalDistribution) -> Gate:
        """A gate for a function whose child's log-odds, or log-absence, come from one layer of neurons."""
        layers = _layers(node)
        if layers is None:
            n_parents = len(node.parents)
            raise LimitError(
                f"the CPT of {node.child.name!r} is a function of {n_parents} parents that can only be "
                "evaluated; learn a tree (learn_states_cpt, learn_tree_cpt) or step contexts "
                "(learn_focs_cpt) for it, or observe more of its parents"
            )
        weights, biases, outputs, offset, squash, meaning = layers
        parents = self.network.parents[position]
        free = [place for place, parent in enumerate(parents) if parent not in self.evidence]
        known = np.array([self.evidence.get(parent, 0) for parent in parents], dtype=np.float64)
        state = self.evidence.get(position)
        return Gate(
            inputs=tuple(parents[place] for place in free),
            weights=weights[:, free],
            biases=biases + weights @ known,
            outputs=outputs,
            squash=squash,
            meaning=meaning,
            child=position if state is None else None,
            observed=-1 if state is None else state,
            offset=offset,
        )


def _without_idle_axes(scope: list[int], logs: Floats) -> LogFactor:
    """The factor without variables that make no difference."""
    for axis in reversed(range(len(scope))):
        first: Floats = np.asarray(logs.take(0, axis=axis))
        if (logs == np.expand_dims(first, axis)).all():
            logs, scope = first, scope[:axis] + scope[axis + 1 :]
    return LogFactor(tuple(scope), np.array(logs, order="C"))


_Layers = tuple[Floats, Floats, Floats, float, Squash, ScoreMeaning]


def _layers(node: ConditionalDistribution) -> _Layers | None:
    """Weights, biases, outputs and offset of a functional CPT; None when it has no such form."""
    zero, one = np.zeros(1), np.ones(1)
    if isinstance(node, LogisticCpt):
        weights = node.weights[np.newaxis]
        return weights, zero, one, node.bias, Squash.IDENTITY, ScoreMeaning.LOG_ODDS
    if isinstance(node, NoisyOrCpt):
        none, added = node.log_absence()
        weights = np.maximum(added, CERTAIN)[np.newaxis]
        return weights, zero, one, max(none, CERTAIN), Squash.IDENTITY, ScoreMeaning.LOG_ABSENCE
    if isinstance(node, PerceptronCpt) and all(len(parent) == 2 for parent in node.parents):
        perceptron = node.perceptron
        if len(perceptron.weights) == 2 and perceptron.n_outputs == 1:
            (first, second), (biases, last) = perceptron.weights, perceptron.biases
            squash = _SQUASH[perceptron.activation]
            return first.T, biases, second[:, 0], float(last[0]), squash, ScoreMeaning.LOG_ODDS
    return None
