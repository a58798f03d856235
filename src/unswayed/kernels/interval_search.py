"""Branch and bound over states, with intervals through the neurons of gates.

Wanted are states of variables that make a sum as large as possible. Its terms are *factors*, tables over a
few variables, and *gates*, functions of the score of a small neural network:

    score = offset + sum_h output_h * activation(bias_h + sum_d weight_hd * state_d)

Variables are decided in a fixed order. A factor is bounded by the largest entry that the decided part of its
scope allows, which is a lookup in a table made beforehand. A gate is bounded through intervals: undecided
inputs make each neuron's sum an interval, activations are monotone, so the score is an interval too, and so
is what the gate can still be worth. Every step of the order narrows them; a branch that cannot beat the best
states is left.

The state of a search is arrays only, so it stops after any number of nodes and goes on later; `advance` is
plain Python without recursion and is compiled by `compiled_advance`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.interval_bounds import (
    CONTEXTS,
    activated,
    best_context,
    best_link,
    contexts_of,
    difference,
    link,
    rises,
)
from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Spot = tuple[int, int, int]
"""The neurons of a gate, from one to before another, and their activation."""


class GateFactors(NamedTuple):
    """Tables over variables, with the largest entry for every decided part of their scope."""

    best: Floats
    """For each factor and number k of decided variables: the largest entry for each instantiation of them."""
    starts: Ints
    """(factors, longest scope + 1) Where these begin in `best`."""
    touched: Ints
    """Factors that mention the variable of each depth, side by side."""
    place: Ints
    """For each of these, how many variables of its scope come before."""
    touched_starts: Ints
    """(depths + 1,) Where the list of each depth begins."""


class Gates(NamedTuple):
    """Functions of scores of neurons."""

    weights: Floats
    """(depths, neurons) What a variable's state 1 adds to each neuron."""
    outputs: Floats
    """(neurons,) What each neuron adds to its gate's score, times its activation."""
    neuron_starts: Ints
    """(gates + 1,) Where the neurons of each gate begin."""
    activation: Ints
    """(gates,) STEP to RELU."""
    offset: Floats
    """(gates,) Added to the score."""
    kind: Ints
    """(gates,) What is made of the score: CONTEXTS, LOG_ODDS or LOG_ABSENCE."""
    cuts: Floats
    """Thresholds of the gates of kind CONTEXTS, side by side."""
    cut_starts: Ints
    """(gates + 1,)"""
    worth: Floats
    """For these gates: what each context is worth with each state of the child, child states fastest."""
    worth_starts: Ints
    """(gates + 1,)"""
    child: Ints
    """(gates,) Depth of the child, or -1 when it is observed."""
    observed: Ints
    """(gates,) The child's state where it is observed; for CONTEXTS then 0, the only state in `worth`."""
    n_states: Ints
    """(gates,) Number of states of the child in `worth`."""
    touched: Ints
    """Gates that mention the variable of each depth, side by side."""
    touched_starts: Ints
    """(depths + 1,)"""


class GateGround(NamedTuple):
    """What is searched; stays as it is."""

    sizes: Ints
    """Number of states of the variable of each depth."""
    factors: GateFactors
    gates: Gates


class OpenBranches(NamedTuple):
    """The state of a search; a slot holds what follows from the state chosen at the depth before."""

    least: Floats
    """(depths + 1, slots, neurons) Lowest sum of each neuron."""
    most: Floats
    """(depths + 1, slots, neurons) Highest sum."""
    gate_bound: Floats
    """(depths + 1, slots, gates) What each gate can at most be worth."""
    settled: npt.NDArray[np.bool_]
    """(depths + 1, slots, gates) Whether that is all it can be worth."""
    entry: Ints
    """(depths + 1, slots, factors) Instantiation of the decided part of each factor's scope."""
    bound: Floats
    """(depths + 1, slots) What the sum can at most be."""
    order: Ints
    """(depths, slots) States to try, the most promising first."""
    tried: Ints
    """(depths,) How many of them were."""
    path: Ints
    """(depths + 1,) Slot at each depth: the state chosen one depth above."""
    counters: Ints
    """(2,) Depth, -1 at the end, and nodes visited."""


class Best(NamedTuple):
    """The best states so far."""

    value: Floats
    """(1,)"""
    states: Ints
    """(depths,)"""


def advance(ground: GateGround, frontier: OpenBranches, best: Best, budget: int) -> bool:
    """Visit up to `budget` nodes more; whether the search is over."""
    depth, visited = frontier.counters[0], 0
    sizes = ground.sizes
    n_depths = len(sizes)
    while depth >= 0 and visited < budget:
        if depth == n_depths or frontier.tried[depth] == sizes[depth]:
            depth -= 1
            continue
        if frontier.tried[depth] == 0:
            visited += 1
            _expand(ground, frontier, depth)
        state = frontier.order[depth, frontier.tried[depth]]
        frontier.tried[depth] += 1
        if frontier.bound[depth + 1, state] <= best.value[0] + 1e-12:
            # States are tried by falling bounds: those that come after cannot do better.
            frontier.tried[depth] = sizes[depth]
            continue
        frontier.path[depth + 1] = state
        if depth + 1 == n_depths:
            best.value[0] = frontier.bound[depth + 1, state]
            best.states[:] = frontier.path[1:]
            continue
        depth += 1
        frontier.tried[depth] = 0
    frontier.counters[0] = depth
    frontier.counters[1] += visited
    return bool(depth < 0)


def _expand(ground: GateGround, frontier: OpenBranches, depth: int) -> None:
    """Fill the slots of the next depth and order the states by what they promise."""
    for state in range(ground.sizes[depth]):
        _decide(ground, frontier, (depth, state))
        place = state
        while place > 0 and (
            frontier.bound[depth + 1, frontier.order[depth, place - 1]] < frontier.bound[depth + 1, state]
        ):
            frontier.order[depth, place] = frontier.order[depth, place - 1]
            place -= 1
        frontier.order[depth, place] = state


def _decide(ground: GateGround, frontier: OpenBranches, choice: tuple[int, int]) -> None:
    """The slot that follows from deciding one variable."""
    depth, state = choice
    gates = ground.gates
    slot = frontier.path[depth]
    _copy(frontier.least, depth, slot, state)
    _copy(frontier.most, depth, slot, state)
    _copy(frontier.gate_bound, depth, slot, state)
    _copy(frontier.settled, depth, slot, state)
    _copy(frontier.entry, depth, slot, state)
    fall = _decide_factors(ground.sizes, ground.factors, frontier.entry, choice)
    spots, first = gates.touched, gates.touched_starts[depth]
    child, observed, kind, gate_bound = gates.child, gates.observed, gates.kind, frontier.gate_bound
    for number in range(first, gates.touched_starts[depth + 1]):
        gate = spots[number]
        if frontier.settled[depth + 1, state, gate]:
            continue
        known = observed[gate]
        if child[gate] == depth:
            known = state
        elif 0 <= child[gate] < depth:
            known = frontier.path[child[gate] + 1]
        neurons = (gates.neuron_starts[gate], gates.neuron_starts[gate + 1], gates.activation[gate])
        low, high = _narrowed(
            (frontier.least, frontier.most), (gates.weights, gates.outputs), choice, neurons
        )
        scores = (low + gates.offset[gate], high + gates.offset[gate])
        before = gate_bound[depth + 1, state, gate]
        if kind[gate] == CONTEXTS:
            contexts = contexts_of(gates.cuts, (gates.cut_starts[gate], gates.cut_starts[gate + 1]), scores)
            table = (gates.worth_starts[gate], gates.n_states[gate])
            gate_bound[depth + 1, state, gate] = best_context(gates.worth, table, contexts, known)
            # A gate whose context and child are certain is worth the same whatever else is decided.
            frontier.settled[depth + 1, state, gate] = contexts[0] == contexts[1] and known >= 0
        else:
            gate_bound[depth + 1, state, gate] = best_link(kind[gate], scores, known)
        fall += difference(gate_bound[depth + 1, state, gate], before)
    frontier.bound[depth + 1, state] = frontier.bound[depth, slot] + fall


def _copy(values: Any, depth: int, slot: int, state: int) -> None:
    """Begin a slot of the next depth with what a slot of this one holds."""
    # Assigning slices would be shorter, and takes three times as long when compiled.
    for place in range(values.shape[2]):
        values[depth + 1, state, place] = values[depth, slot, place]


def _decide_factors(sizes: Ints, factors: GateFactors, entry: Ints, choice: tuple[int, int]) -> float:
    """By how much the bounds of the factors fall; their entries in the slot are brought up to date."""
    depth, state = choice
    best, starts = factors.best, factors.starts
    fall = 0.0
    for number in range(factors.touched_starts[depth], factors.touched_starts[depth + 1]):
        factor, place = factors.touched[number], factors.place[number]
        before = entry[depth + 1, state, factor]
        after = before * sizes[depth] + state
        entry[depth + 1, state, factor] = after
        fall += difference(best[starts[factor, place + 1] + after], best[starts[factor, place] + before])
    return fall


def _narrowed(
    sums: tuple[Floats, Floats], layer: tuple[Floats, Floats], choice: tuple[int, int], neurons: Spot
) -> tuple[float, float]:
    """Lowest and highest sum of a gate's outputs, its neurons' intervals narrowed by a decided variable."""
    depth, state = choice
    least, most = sums
    weights, outputs = layer
    low = high = 0.0
    for neuron in range(neurons[0], neurons[1]):
        weight, output = weights[depth, neuron], outputs[neuron]
        if (weight > 0) == (state == 1):
            least[depth + 1, state, neuron] += abs(weight)
        else:
            most[depth + 1, state, neuron] -= abs(weight)
        off = activated(least[depth + 1, state, neuron], neurons[2])
        on = activated(most[depth + 1, state, neuron], neurons[2])
        low += output * (off if output > 0 else on)
        high += output * (on if output > 0 else off)
    return low, high


def start(ground: GateGround, biases: Floats) -> OpenBranches:
    """The state before the first node; `biases` are those of the neurons."""
    sizes, factors, gates = ground
    n_depths, n_slots = len(sizes), int(sizes.max(initial=1))
    n_neurons, n_gates, n_factors = len(biases), len(gates.kind), len(factors.starts)
    frontier = OpenBranches(
        least=np.zeros((n_depths + 1, n_slots, n_neurons)),
        most=np.zeros((n_depths + 1, n_slots, n_neurons)),
        gate_bound=np.zeros((n_depths + 1, n_slots, n_gates)),
        settled=np.zeros((n_depths + 1, n_slots, n_gates), dtype=np.bool_),
        entry=np.zeros((n_depths + 1, n_slots, n_factors), dtype=np.int64),
        bound=np.zeros((n_depths + 1, n_slots)),
        order=np.zeros((max(n_depths, 1), n_slots), dtype=np.int64),
        tried=np.zeros(n_depths + 1, dtype=np.int64),
        path=np.zeros(n_depths + 1, dtype=np.int64),
        counters=np.zeros(2, dtype=np.int64),
    )
    frontier.least[0, 0] = biases + np.minimum(gates.weights, 0).sum(axis=0)
    frontier.most[0, 0] = biases + np.maximum(gates.weights, 0).sum(axis=0)
    # Bounds are updated by differences, so all that counts here is that they are bounds.
    frontier.bound[0, 0] = sum(factors.best[factors.starts[f, 0]] for f in range(n_factors))
    frontier.gate_bound[0, 0] = [_first_bound(gates, frontier, gate) for gate in range(n_gates)]
    frontier.bound[0, 0] += frontier.gate_bound[0, 0].sum()
    return frontier


def _first_bound(gates: Gates, frontier: OpenBranches, gate: int) -> float:
    """What a gate can be worth before anything is decided."""
    first, last = int(gates.neuron_starts[gate]), int(gates.neuron_starts[gate + 1])
    kind = int(gates.activation[gate])
    low = high = float(gates.offset[gate])
    for neuron in range(first, last):
        output = float(gates.outputs[neuron])
        ends = (activated(frontier.least[0, 0, neuron], kind), activated(frontier.most[0, 0, neuron], kind))
        low += output * ends[0 if output > 0 else 1]
        high += output * ends[1 if output > 0 else 0]
    known = int(gates.observed[gate])
    if gates.kind[gate] != CONTEXTS:
        return best_link(int(gates.kind[gate]), (low, high), known)
    cuts = (int(gates.cut_starts[gate]), int(gates.cut_starts[gate + 1]))
    table = (int(gates.worth_starts[gate]), int(gates.n_states[gate]))
    return best_context(gates.worth, table, contexts_of(gates.cuts, cuts, (low, high)), known)


def open_bound(sizes: Ints, frontier: OpenBranches) -> float:
    """Upper bound on all states not yet visited; minus infinity when the search is over."""
    highest = -np.inf
    for depth in range(int(frontier.counters[0]) + 1):
        if depth == len(sizes):
            continue
        if frontier.tried[depth] == 0:
            highest = max(highest, float(frontier.bound[depth, frontier.path[depth]]))
        for number in range(int(frontier.tried[depth]), int(sizes[depth]) if frontier.tried[depth] else 0):
            highest = max(highest, float(frontier.bound[depth + 1, frontier.order[depth, number]]))
    return highest


Advance = Callable[[GateGround, OpenBranches, Best, int], bool]


SMALL = (difference, activated, rises, link, contexts_of, best_context, best_link, _copy, _narrowed)

compiled_advance = Kernel(advance, (*SMALL, _decide_factors, _decide, _expand))
