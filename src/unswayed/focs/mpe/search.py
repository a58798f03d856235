"""Explanations by branch and bound over the variables, with intervals through the gates.

A first explanation comes from local search: single and double changes of state, from several starts. Then all
states are searched, variables that settle gates first, and whatever cannot beat the best is left. The search
is a stream of what slices of it come to, so that it ends with its best and a bound whenever it is ended.

Going deep first finds good states, but leaves open branches near the root, so that its bound stands still.
Probes lower it: a probe pretends that states of some higher value were known, which prunes much more. When it
ends without finding better ones, nothing exceeds that value. Both take turns, of as many nodes each.

`pack` gives a problem as the arrays that the search kernel takes, variables in the order of branching.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unswayed.core.anytime import settle, tick
from unswayed.core.arguments import expect_count
from unswayed.core.arrays import Floats, Ints
from unswayed.focs.mpe.problem import Answer, Evaluator, Gate, LogFactor, MpeProblem, ScoreMeaning
from unswayed.kernels.interval_search import (
    Best,
    GateFactors,
    GateGround,
    Gates,
    OpenBranches,
    compiled_advance,
    open_bound,
    start,
)


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
        touched_starts=_offsets([len(each) for each in touched]),
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
        neuron_starts=_offsets([len(gate.outputs) for gate in gates]),
        activation=np.array([gate.squash for gate in gates], dtype=np.int64),
        offset=np.array([gate.offset for gate in gates], dtype=np.float64),
        kind=np.array([gate.meaning for gate in gates], dtype=np.int64),
        cuts=np.concatenate([np.zeros(0), *(gate.cuts for gate in gates)]),
        cut_starts=_offsets([len(gate.cuts) for gate in gates]),
        worth=np.concatenate([np.zeros(0), *(gate.worth.reshape(-1) for gate in gates)]),
        worth_starts=_offsets([gate.worth.size for gate in gates]),
        child=np.array([-1 if g.child is None else depth[g.child] for g in gates], dtype=np.int64),
        observed=np.array([gate.observed for gate in gates], dtype=np.int64),
        n_states=np.array([_n_states(gate) for gate in gates], dtype=np.int64),
        touched=np.array([g for each in touched for g in each], dtype=np.int64),
        touched_starts=_offsets([len(each) for each in touched]),
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
    return gate.worth.shape[1] if gate.meaning is ScoreMeaning.CONTEXTS else 2


def _offsets(lengths: list[int]) -> Ints:
    starts: Ints = np.cumsum([0, *lengths])
    return starts


FIRST_NODES, SLICE_NODES = 300, 2**11
"""Nodes of the first slice, which comes in any case, and of the others: 3 ms, or .2 s where it is plain."""
UNITS_PER_NODE, CLIMB_UNITS = 1.5, 0.5
"""Work for a node, and for each neighbour that local search looks at, about."""

FIRST_STEP = 0.03
"""How far the first probe goes down from the bound to the best states."""
GROWTH = 4.0
"""How many times as many nodes as the last probe the next one should take."""
CLOSE = 1e-3
"""Nats between the best states and the bound below which probes would repeat the search itself."""

Move = tuple[tuple[int, int], ...]
"""Pairs of a variable and how far its state moves on."""
MOST_PAIRS = 2000
"""Double changes are tried where there are at most so many."""


@dataclass(frozen=True, slots=True)
class BranchAndBound:
    """Search of all states, proven."""

    n_starts: int = 3
    """Random starts of the local search that precedes it."""
    seed: int = 0
    """Of these starts."""
    name: str = "branch and bound"
    table_cells: int = 2**14

    def __post_init__(self) -> None:
        for name in ("n_starts", "seed", "table_cells"):
            expect_count(getattr(self, name), name)

    def solve(self, problem: MpeProblem) -> Answer:
        """The best states, or, when the budget is spent, the best so far with a bound."""
        rng = np.random.default_rng(self.seed)
        # Half of a short time is for the bound.
        first, value = settle(climb(problem, self.n_starts, rng), share=0.5).last
        if not problem.free:
            return Answer(None if value == -np.inf else {}, value, finished=True)
        packed = pack(problem)
        best = Best(np.array([value]), first[list(packed.order)].copy())
        found = settle(_search(packed, best), heeds_interrupts=True).last
        states = {v: int(s) for v, s in zip(packed.order, found.states, strict=True)}
        is_possible = found.value > -np.inf
        bound = max(found.value, found.bound)
        return Answer(states if is_possible else None, bound, found.is_over, found.n_nodes)


@dataclass(frozen=True, slots=True, eq=False)
class _Reached:
    """What a search has come to."""

    states: Ints
    """The best states, in the order of the search, and"""
    value: float
    """their logarithm."""
    bound: float
    """Nothing that is left exceeds this."""
    is_over: bool
    n_nodes: int


def _search(packed: Packed, best: Best) -> Iterator[_Reached]:
    """Search to the end, slice by slice."""
    frontier = start(packed.ground, packed.biases)
    probe = _Probe(packed, float(frontier.bound[0, 0]))

    def reach(is_over: bool) -> _Reached:
        bound = -np.inf if is_over else min(open_bound(packed.ground.sizes, frontier), probe.ceiling)
        n_nodes = int(frontier.counters[1]) + probe.n_nodes
        return _Reached(best.states.copy(), float(best.value[0]), bound, is_over, n_nodes)

    is_over = _advance(packed, frontier, best, FIRST_NODES)
    yield reach(is_over)
    while not is_over:
        tick(2.0 * UNITS_PER_NODE * SLICE_NODES, "the search for the most probable states")
        is_over = _advance(packed, frontier, best, SLICE_NODES) or probe.advance(best)
        yield reach(is_over)


def _advance(packed: Packed, frontier: OpenBranches, best: Best, n_nodes: int) -> bool:
    """Search on for so many nodes; whether the search is over."""
    return compiled_advance.run(UNITS_PER_NODE * n_nodes, packed.ground, frontier, best, n_nodes)


class _Probe:
    """Lowers the bound from above, level by level; lives as long as its search."""

    def __init__(self, packed: Packed, ceiling: float) -> None:
        self.packed, self.ceiling = packed, ceiling
        self.n_nodes = 0
        self.step, self.last_nodes = 0.0, 1
        self.running: tuple[float, OpenBranches, Best] | None = None

    def advance(self, best: Best, budget: int = SLICE_NODES) -> bool:
        """Probe for so many nodes; whether that proves the best states, which it may have improved."""
        last = self.n_nodes + budget
        while self.n_nodes < last:
            known = float(best.value[0])
            if self.running is None:
                if not np.isfinite(known + self.ceiling) or self.ceiling - known < CLOSE:
                    return False
                self._begin(best)
            assert self.running is not None
            level, frontier, found = self.running
            before = int(frontier.counters[1])
            is_over = _advance(self.packed, frontier, found, last - self.n_nodes)
            self.n_nodes += int(frontier.counters[1]) - before
            exceeds = bool(found.value[0] > level)
            if exceeds and found.value[0] > known:
                best.value[0], best.states[:] = found.value[0], found.states
            if is_over:
                self._finish(float(found.value[0]), int(frontier.counters[1]))
            if is_over and exceeds:
                return True
        return False

    def _begin(self, best: Best) -> None:
        """Probe the next level: a step down, but no more than half of the way to the best states."""
        gap = self.ceiling - float(best.value[0])
        self.step = min(self.step or FIRST_STEP * gap, 0.5 * gap)
        level = self.ceiling - self.step
        frontier = start(self.packed.ground, self.packed.biases)
        self.running = level, frontier, Best(np.array([level]), best.states.copy())

    def _finish(self, value: float, n_nodes: int) -> None:
        """Nothing exceeds the value; the next step is such that its probe takes about `GROWTH` times as long.

        Each probe repeats the ones before it, so with this growth a third of all nodes is repeated.
        """
        self.running = None
        # Branches within rounding of the level are pruned too.
        self.ceiling = min(self.ceiling, value + 1e-12)
        growth = max(n_nodes / self.last_nodes, 1.01)
        self.step *= min(max(math.log(GROWTH) / math.log(growth), 0.5), 2.0)
        self.last_nodes = max(n_nodes, 1)


def climb(problem: MpeProblem, n_starts: int, rng: np.random.Generator) -> Iterator[tuple[Ints, float]]:
    """The best row so far, and its value: climbing from several starts, one after the other."""
    single = [((v, step),) for v in problem.free for step in range(1, problem.sizes[v])]
    double = [(*one, *two) for one, two in combinations(single, 2) if one[0][0] != two[0][0]]
    shifts = [_shifts(single, problem), _shifts(double if len(double) <= MOST_PAIRS else [], problem)]
    evaluator = Evaluator(problem)
    best: tuple[Ints, float] | None = None
    for row in _starts(problem, n_starts, rng):
        for found in _climb_from(evaluator, row, shifts):
            if best is None or found[1] > best[1]:
                best = found
            yield best


def _starts(problem: MpeProblem, n_starts: int, rng: np.random.Generator) -> list[Ints]:
    """Each variable's own best state, and states at random."""
    first = problem.completed({})[0]
    for factor in problem.factors:
        if len(factor.scope) == 1:
            first[factor.scope[0]] = int(np.argmax(factor.logs))
    found = [first]
    for _ in range(n_starts):
        row = first.copy()
        for variable in problem.free:
            if rng.random() < 0.5:
                row[variable] = rng.integers(problem.sizes[variable])
        found.append(row)
    return found


def _shifts(moves: Sequence[Move], problem: MpeProblem) -> Ints:  # (moves, variables)
    """How far each move carries each variable's state on."""
    shifts = np.zeros((len(moves), len(problem.network)), dtype=np.int64)
    for number, move in enumerate(moves):
        for variable, step in move:
            shifts[number, variable] = step
    return shifts


def _climb_from(evaluator: Evaluator, row: Ints, shifts: list[Ints]) -> Iterator[tuple[Ints, float]]:
    """Climb by the first kind of moves as long as one helps, then by the next kind, and so on."""
    sizes = np.array(evaluator.problem.sizes)
    value = float(evaluator.values(row[np.newaxis])[0])
    yield row, value
    kind = 0
    while kind < len(shifts):
        tick(CLIMB_UNITS * shifts[kind].size, "the search for the most probable states")
        neighbours = (row + shifts[kind]) % sizes
        values = evaluator.values(neighbours)
        best = int(np.argmax(values)) if len(values) else -1
        if best >= 0 and values[best] > value:
            row, value, kind = neighbours[best], float(values[best]), 0
            yield row, value
        else:
            kind += 1
