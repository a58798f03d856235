"""Passes over a circuit of sums in floating point: values upward, shares downward, best choices, samples.

Nodes as in `psdd_bits.py`: children before parents, node 0 always holds, a literal holds by the example,
any other node is a sum of choices with a parameter each. Values are logarithms, so that circuits over
thousands of variables do not underflow; shares (how probable it is that a node is used) are not, since they
are at most 1 and add up. Evidence has 1, 0, or -1 for a value that is not known.

All loops are plain Python that also compiles (`COMPILED`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.circuits.psdd_bits import Circuit
from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Marks = npt.NDArray[np.int8]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]

UNITS_PER_CHOICE, UNITS_PER_TERM, UNITS_PER_DRAW = 3e-3, 1.5e-2, 2e-2
"""Estimated for a choice, a choice of an example with its exponential, and a node of a sample."""


class Flow(NamedTuple):
    """What `downward` fills in."""

    shares: Floats
    """(nodes, rows) Probability that each node is used, given the evidence; 0 where that is impossible."""
    weights: Floats
    """(rows,) Weight of each row in the counts."""
    counts: Floats
    """(choices,) Expected weight of the uses of each choice, added to what is there."""


def spread_up(circuit: Circuit, marked: Flags) -> None:
    """Mark every node above a marked one."""
    _, starts, lefts, rights, _ = circuit
    for node in range(len(marked)):
        for choice in range(starts[node], starts[node + 1]):
            if marked[lefts[choice]] or marked[rights[choice]]:
                marked[node] = True


def spread_possible(circuit: Circuit, marked: Flags) -> None:
    """Mark every node with a choice whose nodes are both marked."""
    _, starts, lefts, rights, _ = circuit
    for node in range(len(marked)):
        for choice in range(starts[node], starts[node + 1]):
            if marked[lefts[choice]] and marked[rights[choice]]:
                marked[node] = True


def spread_down(circuit: Circuit, kept: Flags, marked: Flags) -> None:
    """Mark every node that a marked one reaches through choices that are kept."""
    _, starts, lefts, rights, _ = circuit
    for node in range(len(marked) - 1, -1, -1):
        for choice in range(starts[node], starts[node + 1]):
            if marked[node] and kept[choice]:
                marked[lefts[choice]] = True
                marked[rights[choice]] = True


def upward(circuit: Circuit, log_parameters: Floats, evidence: Marks, values: Floats) -> None:
    """Fill `values` (nodes, rows): the log-probability of the evidence below each node."""
    literal, starts, lefts, rights, _ = circuit
    n_rows = evidence.shape[0]
    values[0, :] = 0.0
    for node in range(1, len(literal)):
        sign = literal[node]
        if sign != 0:
            variable, wanted = abs(sign) - 1, 1 if sign > 0 else 0
            for row in range(n_rows):
                known = evidence[row, variable]
                values[node, row] = 0.0 if known < 0 or known == wanted else -math.inf
            continue
        for row in range(n_rows):
            highest = -math.inf
            for choice in range(starts[node], starts[node + 1]):
                below = values[lefts[choice], row] + values[rights[choice], row]
                highest = max(highest, log_parameters[choice] + below)
            if highest == -math.inf or starts[node + 1] - starts[node] == 1:
                values[node, row] = highest
                continue
            total = 0.0
            for choice in range(starts[node], starts[node + 1]):
                below = values[lefts[choice], row] + values[rights[choice], row]
                total += math.exp(log_parameters[choice] + below - highest)
            values[node, row] = highest + math.log(total)


def downward(circuit: Circuit, log_parameters: Floats, values: Floats, flow: Flow) -> None:
    """Fill the shares of nodes, given the evidence that `upward` saw, and add up those of choices."""
    _, starts, lefts, rights, root = circuit
    shares, weights, counts = flow
    shares[:, :] = 0.0
    for row in range(values.shape[1]):
        if values[root, row] > -math.inf:
            shares[root, row] = 1.0
    for node in range(root, 0, -1):
        for choice in range(starts[node], starts[node + 1]):
            left, right = lefts[choice], rights[choice]
            for row in range(values.shape[1]):
                share = shares[node, row]
                if share == 0.0:
                    continue
                below = values[left, row] + values[right, row]
                share *= math.exp(log_parameters[choice] + below - values[node, row])
                shares[left, row] += share
                shares[right, row] += share
                counts[choice] += share * weights[row]


class BestRows(NamedTuple):
    """What `best` fills in."""

    completed: Marks
    """(rows, variables) The most probable completion of each row; as it was where there is none."""
    scores: Floats
    """(rows,) Its log-probability."""


def best(circuit: Circuit, log_parameters: Floats, evidence: Marks, found: BestRows) -> None:
    """Find the most probable completion of each row; of equally probable choices the first."""
    literal, starts, lefts, rights, root = circuit
    completed, scores = found
    values = np.zeros(len(literal))
    chosen = np.zeros(len(literal), dtype=np.int64)
    used = np.zeros(len(literal), dtype=np.bool_)
    for row in range(evidence.shape[0]):
        for node in range(1, len(literal)):
            sign = literal[node]
            if sign != 0:
                known = evidence[row, abs(sign) - 1]
                values[node] = 0.0 if known < 0 or (known == 1) == (sign > 0) else -math.inf
                continue
            highest = -math.inf
            for choice in range(starts[node], starts[node + 1]):
                value = log_parameters[choice] + values[lefts[choice]] + values[rights[choice]]
                if value > highest:
                    highest = value
                    chosen[node] = choice
            values[node] = highest
        scores[row] = values[root]
        used[:] = False
        used[root] = values[root] > -math.inf
        for node in range(root, 0, -1):
            if not used[node]:
                continue
            if literal[node] != 0:
                completed[row, abs(literal[node]) - 1] = 1 if literal[node] > 0 else 0
            else:
                used[lefts[chosen[node]]] = True
                used[rights[chosen[node]]] = True


def expect(circuit: Circuit, parameters: Floats, terms: Floats, values: Floats) -> None:
    """Fill `values` (nodes,): the expected sum of the terms of the choices used below each node."""
    _, starts, lefts, rights, _ = circuit
    for node in range(len(values)):
        values[node] = 0.0
        for choice in range(starts[node], starts[node + 1]):
            if parameters[choice] > 0.0:
                below = values[lefts[choice]] + values[rights[choice]]
                values[node] += parameters[choice] * (terms[choice] + below)


class Draws(NamedTuple):
    """What `sample` draws with."""

    vtree_node: Ints
    """(nodes,) The vtree node of each node."""
    parameters: Floats
    """(choices,) Probability of each choice given its node."""
    last: Ints
    """(nodes,) The last choice of each node that is possible: rounding never leads past it."""
    uniforms: Floats
    """(rows, vtree nodes) Random numbers, one for each vtree node, since a sample uses one node of each."""


def sample(circuit: Circuit, draws: Draws, rows: Bytes) -> None:
    """Fill `rows`, all zero before, with samples."""
    literal, starts, lefts, rights, root = circuit
    vtree_node, parameters, last, uniforms = draws
    waiting = np.zeros(uniforms.shape[1] + 2, dtype=np.int64)
    for row in range(rows.shape[0]):
        waiting[0] = root
        depth = 1
        while depth > 0:
            depth -= 1
            node = waiting[depth]
            if literal[node] != 0:
                if literal[node] > 0:
                    rows[row, literal[node] - 1] = 1
                continue
            choice = starts[node]
            left_over = uniforms[row, vtree_node[node]]
            while choice < last[node] and left_over >= parameters[choice]:
                left_over -= parameters[choice]
                choice += 1
            waiting[depth] = lefts[choice]
            depth += 1
            if rights[choice] != 0:
                waiting[depth] = rights[choice]
                depth += 1


class SumLoops(NamedTuple):
    """The loops, compiled; see the functions of the same names."""

    spread_up: Callable[[Circuit, Flags], None]
    spread_possible: Callable[[Circuit, Flags], None]
    spread_down: Callable[[Circuit, Flags, Flags], None]
    upward: Callable[[Circuit, Floats, Marks, Floats], None]
    downward: Callable[[Circuit, Floats, Floats, Flow], None]
    best: Callable[[Circuit, Floats, Marks, BestRows], None]
    expect: Callable[[Circuit, Floats, Floats, Floats], None]
    sample: Callable[[Circuit, Draws, Bytes], None]


PLAIN = SumLoops(spread_up, spread_possible, spread_down, upward, downward, best, expect, sample)
"""The same loops, not compiled."""


def _once(circuit: Circuit, *_: object) -> float:
    return UNITS_PER_CHOICE * (len(circuit.literal) + len(circuit.lefts))


def _by_rows(circuit: Circuit, one: object, rows: npt.NDArray[Any], *_: object) -> float:
    """For passes whose third argument has a row for each example."""
    return UNITS_PER_TERM * (len(circuit.literal) + len(circuit.lefts)) * len(rows)


def _by_columns(circuit: Circuit, one: object, values: Floats, *_: object) -> float:
    return UNITS_PER_TERM * (len(circuit.literal) + len(circuit.lefts)) * float(values.shape[1])


def _by_draws(circuit: Circuit, draws: Draws, rows: Bytes) -> float:
    return UNITS_PER_DRAW * draws.uniforms.size


COMPILED = SumLoops(
    Kernel(spread_up, price=_once),
    Kernel(spread_possible, price=_once),
    Kernel(spread_down, price=_once),
    Kernel(upward, price=_by_rows),
    Kernel(downward, price=_by_columns),
    Kernel(best, price=_by_rows),
    Kernel(expect, price=_once),
    Kernel(sample, price=_by_draws),
)
"""The same loops, compiled where that pays."""
