"""Values of many rows of states at once: all neurons of all gates in one matrix product."""

from __future__ import annotations

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.focs.mpe.problem import Gate, MpeProblem, gate_worth, squashed


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
