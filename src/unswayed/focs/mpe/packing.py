"""A problem as the arrays that the search kernel takes, variables in the order of branching."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.focs.mpe.problem import Gate, Link, LogFactor, MpeProblem
from unswayed.kernels.interval_search import GateFactors, GateGround, Gates


@dataclass(frozen=True, slots=True)
class Packed:
    """A problem for the kernel."""

    order: tuple[int, ...]
    """Variable of each depth."""
    ground: GateGround
    biases: Floats
    """Of all neurons."""


def pack(problem: MpeProblem) -> Packed:
    """The problem in arrays."""
    order = branching_order(problem)
    depth = {variable: place for place, variable in enumerate(order)}
    sizes = np.array([problem.sizes[v] for v in order], dtype=np.int64)
    biases = np.concatenate([np.zeros(0), *(gate.biases for gate in problem.gates)])
    ground = GateGround(sizes, _factors(problem, depth, len(order)), _gates(problem, depth, len(order)))
    return Packed(order, ground, biases)


def branching_order(problem: MpeProblem) -> tuple[int, ...]:
    """Free variables, those that settle most of what is still open first.

    A variable counts for its share of what is undecided in each gate or factor, so that gates which are
    almost settled are finished before others are begun.
    """
    shares = _influence(problem)
    left = list(problem.free)
    remaining = shares.sum(axis=1)
    order = []
    while left:
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.nan_to_num(shares[:, left] / remaining[:, np.newaxis]).sum(axis=0)
        chosen = left[int(np.argmax(scores))]
        left.remove(chosen)
        remaining = np.maximum(remaining - shares[:, chosen], 1e-12)
        order.append(chosen)
    return tuple(order)


def _influence(problem: MpeProblem) -> Floats:  # (terms, variables)
    """How much each variable has to say in each factor and gate."""
    rows = []
    terms: list[LogFactor | Gate] = [*problem.factors, *problem.gates]
    for term in terms:
        row = np.zeros(len(problem.network))
        if isinstance(term, LogFactor):
            if len(term.scope) > 1:
                row[list(term.scope)] = 1.0
        else:
            row[list(term.inputs)] = np.abs(term.outputs) @ np.abs(term.weights)
            if term.child is not None:
                # Once its inputs are known a child is settled by one look, so it comes last.
                row[term.child] = 1e-9
        rows.append(row)
    return np.array(rows).reshape(len(rows), len(problem.network))


def _factors(problem: MpeProblem, depth: dict[int, int], n_depths: int) -> GateFactors:
    best: list[Floats] = []
    longest = max((len(factor.scope) for factor in problem.factors), default=0)
    starts = np.zeros((len(problem.factors), longest + 1), dtype=np.int64)
    touched: list[list[tuple[int, int]]] = [[] for _ in range(n_depths)]
    size = 0
    for number, factor in enumerate(problem.factors):
        axes = sorted(range(len(factor.scope)), key=lambda axis: depth[factor.scope[axis]])
        logs = factor.logs.transpose(axes)
        for place in range(len(axes) + 1):
            maxima = logs.max(axis=tuple(range(place, len(axes)))).reshape(-1)
            starts[number, place] = size
            size += len(maxima)
            best.append(maxima)
            if place < len(axes):
                touched[depth[factor.scope[axes[place]]]].append((number, place))
    pairs = np.array([pair for each in touched for pair in each], dtype=np.int64).reshape(-1, 2)
    return GateFactors(
        best=np.concatenate([np.zeros(0), *best]),
        starts=starts,
        touched=pairs[:, 0].copy(),
        place=pairs[:, 1].copy(),
        touched_starts=_starts([len(each) for each in touched]),
    )


def _gates(problem: MpeProblem, depth: dict[int, int], n_depths: int) -> Gates:
    gates = problem.gates
    touched = [
        [g for g, gate in enumerate(gates) if variable in gate.inputs or variable == gate.child]
        for variable, _ in sorted(depth.items(), key=lambda pair: pair[1])
    ]
    return Gates(
        weights=_weights(gates, depth, n_depths),
        outputs=np.concatenate([np.zeros(0), *(gate.outputs for gate in gates)]),
        neuron_starts=_starts([len(gate.outputs) for gate in gates]),
        activation=np.array([gate.squash for gate in gates], dtype=np.int64),
        offset=np.array([gate.offset for gate in gates], dtype=np.float64),
        kind=np.array([gate.link for gate in gates], dtype=np.int64),
        cuts=np.concatenate([np.zeros(0), *(gate.cuts for gate in gates)]),
        cut_starts=_starts([len(gate.cuts) for gate in gates]),
        worth=np.concatenate([np.zeros(0), *(gate.worth.reshape(-1) for gate in gates)]),
        worth_starts=_starts([gate.worth.size for gate in gates]),
        child=np.array([-1 if g.child is None else depth[g.child] for g in gates], dtype=np.int64),
        observed=np.array([gate.observed for gate in gates], dtype=np.int64),
        n_states=np.array([_n_states(gate) for gate in gates], dtype=np.int64),
        touched=np.array([g for each in touched for g in each], dtype=np.int64),
        touched_starts=_starts([len(each) for each in touched]),
    )


def _weights(gates: tuple[Gate, ...], depth: dict[int, int], n_depths: int) -> Floats:
    weights = np.zeros((n_depths, sum(len(gate.outputs) for gate in gates)))
    first = 0
    for gate in gates:
        last = first + len(gate.outputs)
        weights[[depth[v] for v in gate.inputs], first:last] = gate.weights.T
        first = last
    return weights


def _n_states(gate: Gate) -> int:
    return gate.worth.shape[1] if gate.link is Link.CONTEXTS else 2


def _starts(lengths: list[int]) -> Ints:
    starts: Ints = np.cumsum([0, *lengths])
    return starts
