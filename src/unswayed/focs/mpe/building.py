"""From a network and evidence to factors and gates: the presolve.

Evidence is put into every node. Neurons that can no longer change are counted in, inputs without weight are
dropped, and a function that is left with few inputs becomes a table, along which axes that do not matter are
dropped too. So contexts learned over thirty parents that depend on three of them are tables of eight rows,
whatever the network around them looks like.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import LimitError
from unswayed.focs.mpe.problem import Gate, Link, LogFactor, MpeProblem, Squash
from unswayed.model.cpt import Cpt
from unswayed.model.distribution import ConditionalDistribution, all_states
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.contexts import LookupContexts
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.functional import LogisticCpt, PerceptronCpt
from unswayed.model.nodes.noisy import NoisyOrCpt
from unswayed.model.nodes.perceptron import Activation
from unswayed.model.nodes.steps import StepContexts, as_step_contexts, inputs_used, simplified

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
            link=Link.CONTEXTS,
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
        weights, biases, outputs, offset, squash, link = layers
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
            link=link,
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


_Layers = tuple[Floats, Floats, Floats, float, Squash, Link]


def _layers(node: ConditionalDistribution) -> _Layers | None:
    """Weights, biases, outputs and offset of a functional CPT; None when it has no such form."""
    if isinstance(node, LogisticCpt):
        return node.weights[np.newaxis], np.zeros(1), np.ones(1), node.bias, Squash.IDENTITY, Link.LOG_ODDS
    if isinstance(node, NoisyOrCpt):
        none, added = node.log_absence()
        weights = np.maximum(added, CERTAIN)[np.newaxis]
        return weights, np.zeros(1), np.ones(1), max(none, CERTAIN), Squash.IDENTITY, Link.LOG_ABSENCE
    if isinstance(node, PerceptronCpt) and all(len(parent) == 2 for parent in node.parents):
        perceptron = node.perceptron
        if len(perceptron.weights) == 2 and perceptron.n_outputs == 1:
            (first, second), (biases, last) = perceptron.weights, perceptron.biases
            squash = _SQUASH[perceptron.activation]
            return first.T, biases, second[:, 0], float(last[0]), squash, Link.LOG_ODDS
    return None


def all_rows(problem: MpeProblem) -> Ints:
    """Every instantiation of the free variables, with the evidence: for small problems and for tests."""
    free = list(problem.free)
    rows = np.repeat(problem.completed({}), int(np.prod([problem.sizes[v] for v in free])), axis=0)
    rows[:, free] = all_states([problem.sizes[v] for v in free])
    return rows
