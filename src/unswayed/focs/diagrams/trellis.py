"""A whole network compiled to a trellis: one level for each variable, a probability on each edge.

The diagrams of all nodes are multiplied level by level, as in [shen2020, section 5.1] circuits are. A state
of a level is what the open nodes have come to in their diagrams; at the level of a node's own child its
diagram has reached a terminal, whose column is put on the edges. So a path from root to sink is an
instantiation of all variables, and the product along it its probability. One pass up gives Pr(evidence) or
the most probable explanation, a second one down all marginals. For the code of three adjacent bits this is
its textbook trellis.

The order of the variables matters: a node is open from its first parent to its child, and the states of a
level are combinations of what the open nodes have seen so far. `trellis_order` keeps few of them open.

The second half of the file asks it for most probable explanations, marginals and the probability of evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Floats, Ints, frozen_floats, read_only
from unswayed.core.errors import ImpossibleEvidence, ModelError, QueryError
from unswayed.core.names import listing
from unswayed.focs.diagrams.obdd import compile_node, parents_that_matter
from unswayed.kernels.circuits.trellis import (
    States,
    Trellis,
    compiled_best_states,
    compiled_spread,
    compiled_sum_masses,
)
from unswayed.kernels.unique_rows import Rows
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.products import number_equal_rows

Families = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True, eq=False)
class CompiledTrellis:
    """A network as a trellis; made by `compile_network`."""

    network: BayesianNetwork
    order: tuple[int, ...]
    """Variable of each level."""
    trellis: Trellis
    log_columns: Floats
    """Logarithms of the trellis' columns."""

    def __repr__(self) -> str:
        return f"<CompiledNetwork: {len(self.order)} variables, {len(self.trellis.low)} nodes>"


def compile_network(network: BayesianNetwork, *, order: Sequence[int] | None = None) -> CompiledTrellis:
    """The network as a trellis, its levels in this order of positions, or in a good one.

    All variables have two states. Raises `LimitError` when a node cannot be compiled or the product grows
    over the limits.
    """
    wide = [v.name for v in network.variables if len(v) != 2]
    if wide:
        raise ModelError(
            f"a trellis is over two-state variables, unlike {listing(wide)}; use elimination instead"
        )
    return _Builder(network, order).compiled()


def _checked_order(order: Sequence[int], families: Sequence[Sequence[int]]) -> list[int]:
    level = {int(v): place for place, v in enumerate(order)}
    if sorted(level) != list(range(len(families))) or len(order) != len(families):
        raise QueryError(f"an order must name each of the {len(families)} variables once, by position")
    for child, parents in enumerate(families):
        if any(level[parent] > level[child] for parent in parents):
            raise QueryError(f"the variable at position {child} comes before one of its parents in the order")
    return [int(v) for v in order]


class _Builder:
    """Levels of the trellis while they are made; dies when the compiled network is."""

    def __init__(self, network: BayesianNetwork, order: Sequence[int] | None) -> None:
        self.network = network
        families = [
            [parents[place] for place in parents_that_matter(node)]
            for node, parents in zip(network.cpts, network.parents, strict=True)
        ]
        self.order = trellis_order(families) if order is None else _checked_order(order, families)
        level_of = {v: level for level, v in enumerate(self.order)}
        self.diagrams = [
            compile_node(node, sorted(range(len(parents)), key=lambda place: level_of[parents[place]]))
            for node, parents in zip(network.cpts, network.parents, strict=True)
        ]
        self.offsets = np.cumsum([0, *(len(each.columns) for each in self.diagrams)])
        self.opens = self._by_first_parent()
        # The level at which each node's diagram asks for each of its parents.
        self.asked = [
            {network.parents[v][place]: level for level, place in enumerate(each.diagram.order.tolist())}
            for v, each in enumerate(self.diagrams)
        ]
        self.n_bytes = 0.0

    def compiled(self) -> CompiledTrellis:
        rows: Rows = np.zeros((1, 0), dtype=np.int32)
        is_open: list[int] = []
        starts, lows, highs, row_numbers = [0], [], [], []
        for variable in self.order:
            own, low, high, is_open, rows = self._level(variable, is_open, rows)
            starts.append(starts[-1] + len(low))
            lows.append(low + starts[-1])
            highs.append(high + starts[-1])
            row_numbers.append(own)
        columns = np.concatenate([each.columns for each in self.diagrams])
        trellis = Trellis(
            starts=read_only(np.array([*starts, starts[-1] + 1], dtype=np.int64)),
            low=read_only(np.concatenate(lows)),
            high=read_only(np.concatenate(highs)),
            row=read_only(np.concatenate(row_numbers)),
            columns=frozen_floats(columns),
        )
        with np.errstate(divide="ignore"):
            return CompiledTrellis(self.network, tuple(self.order), trellis, frozen_floats(np.log(columns)))

    def _level(
        self, variable: int, is_open: list[int], rows: Rows
    ) -> tuple[Ints, Ints, Ints, list[int], Rows]:
        """A variable's level: each state's distribution and children, and the states of the next level."""
        is_open, rows, own = self._closed(variable, is_open, rows)
        is_open, rows = self._opened(variable, is_open, rows)
        low, high = rows.copy(), rows.copy()
        for place, component in enumerate(is_open):
            diagram = self.diagrams[component].diagram
            here = diagram.level[rows[:, place]] == self.asked[component].get(variable, -1)
            low[:, place] = np.where(here, diagram.low[rows[:, place]], rows[:, place])
            high[:, place] = np.where(here, diagram.high[rows[:, place]], rows[:, place])
        both = np.concatenate([low, high])
        self._check(both)
        numbers, first = number_equal_rows(both)
        off, on = np.split(numbers, 2)
        return own, off, on, is_open, both[first]

    def _closed(self, variable: int, is_open: list[int], rows: Rows) -> tuple[list[int], Rows, Ints]:
        """The open nodes without the variable's own, whose terminals pick each state's distribution."""
        diagram = self.diagrams[variable].diagram
        if variable not in is_open:
            return is_open, rows, np.full(len(rows), self.offsets[variable] + diagram.root)
        place = is_open.index(variable)
        own = self.offsets[variable] + rows[:, place].astype(np.int64)
        return [c for c in is_open if c != variable], np.delete(rows, place, axis=1), own

    def _opened(self, variable: int, is_open: list[int], rows: Rows) -> tuple[list[int], Rows]:
        """The open nodes with those whose first parent that matters this variable is."""
        fresh = self.opens[variable]
        roots = np.array([[self.diagrams[component].diagram.root for component in fresh]], dtype=np.int32)
        return [*is_open, *fresh], np.hstack([rows, np.repeat(roots, len(rows), axis=0)])

    def _by_first_parent(self) -> list[list[int]]:
        """For each variable the nodes that it opens."""
        opens: list[list[int]] = [[] for _ in self.diagrams]
        for component, (diagram, _) in enumerate(self.diagrams):
            if diagram.root >= diagram.n_terminals:
                place = int(diagram.order[diagram.level[diagram.root]])
                opens[self.network.parents[component][place]].append(component)
        return opens

    def _check(self, rows: Rows) -> None:
        self.n_bytes += 12.0 * len(rows)
        check_bytes(self.n_bytes + 8.0 * rows.size, "the trellis of this network")
        tick(what="the trellis of this network")


def trellis_order(families: Families) -> list[int]:
    """Positions of all variables, parents before children; `families[v]` are the parents of v that matter.

    The order of the network and a greedy one are compared, and the one with fewer open nodes is taken.

    >>> trellis_order([[], [], [], [0, 1], [1, 2]])
    [0, 1, 3, 2, 4]
    """
    given = _Placement(families).filled(greedy=False)
    greedy = _Placement(families).filled(greedy=True)
    return min((given, greedy), key=lambda order: _cost(families, order))


class _Placement:
    """An order while it is made: roots one by one, every other variable as soon as its parents are placed."""

    def __init__(self, families: Families) -> None:
        self.families = families
        self.order: list[int] = []
        self.missing = [len(parents) for parents in families]
        self.children: list[list[int]] = [[] for _ in families]
        for child, parents in enumerate(families):
            for parent in parents:
                self.children[parent].append(child)

    def filled(self, *, greedy: bool) -> list[int]:
        left = [v for v, parents in enumerate(self.families) if not parents]
        while left:
            chosen = min(left, key=self._price) if greedy else left[0]
            left.remove(chosen)
            self._place(chosen)
        return self.order

    def _place(self, variable: int) -> None:
        waiting = [variable]
        while waiting:
            placed = waiting.pop(0)
            self.order.append(placed)
            for child in self.children[placed]:
                self.missing[child] -= 1
                if not self.missing[child]:
                    waiting.append(child)

    def _price(self, variable: int) -> tuple[int, int, int]:
        """Nodes that the variable opens less those it closes, then parents still missing; fewer is better."""
        change, missing = 0, 0
        for child in self.children[variable]:
            is_new = self.missing[child] == len(self.families[child])
            is_last = self.missing[child] == 1
            change += is_new - is_last
            missing += self.missing[child]
        return change, missing, variable


def _cost(families: Families, order: list[int]) -> float:
    """Sum over the levels of 2 to the number of open nodes."""
    level = {v: i for i, v in enumerate(order)}
    change = [0] * (len(order) + 1)
    for child, parents in enumerate(families):
        if parents:
            change[min(level[p] for p in parents)] += 1
            change[level[child]] -= 1
    total, n_open = 0.0, 0
    for each in change:
        n_open += each
        total += 2.0**n_open
    return total


def evidence_rows(compiled: CompiledTrellis, rows: Ints) -> States:  # (queries, variables)
    """Rows of states in the network's order, -1 where nothing is known, in the order of the levels."""
    rows = np.asarray(rows)
    if rows.ndim != 2 or rows.shape[1] != len(compiled.order) or not np.isin(rows, (-1, 0, 1)).all():
        raise QueryError(
            f"evidence must be rows of {len(compiled.order)} states, 0 or 1, or -1 where nothing is known"
        )
    return np.ascontiguousarray(rows[:, list(compiled.order)].astype(np.int8))


def explain_rows(compiled: CompiledTrellis, rows: Ints) -> tuple[Ints, Floats]:
    """The most probable states of all variables for each row of evidence, and log Pr(states).

    Rows are as in `evidence_rows`; where the evidence is impossible the logarithm is minus infinity.

    Cost: one pass over the trellis for each row.
    """
    evidence = evidence_rows(compiled, rows)
    found = np.empty(evidence.shape, dtype=np.int8)
    logs = compiled_best_states(compiled.trellis, compiled.log_columns, evidence, found)
    states = np.empty(evidence.shape, dtype=np.int64)
    states[:, list(compiled.order)] = found
    return states, logs


def marginal_rows(compiled: CompiledTrellis, rows: Ints) -> tuple[Floats, Floats]:
    """Pr(variable = 1 | evidence) for each row and variable, and log Pr(evidence) of each row."""
    evidence = evidence_rows(compiled, rows)
    found, logs = np.full(evidence.shape, np.nan), np.empty(len(rows))
    values, shares = np.empty(int(compiled.trellis.starts[-1])), np.empty(len(compiled.order))
    for query, states in enumerate(evidence):
        logs[query] = compiled_sum_masses(compiled.trellis, states, values)
        if logs[query] > -np.inf:
            compiled_spread(compiled.trellis, states, values, shares)
            found[query, list(compiled.order)] = shares
    return found, logs


def marginals(compiled: CompiledTrellis, evidence: Mapping[str, str] | None = None) -> dict[str, Floats]:
    """Pr(variable | evidence) by name, for every variable.

    >>> from unswayed.focs.diagrams.trellis import compile_network
    >>> from unswayed.model.network import BayesianNetwork
    >>> from unswayed.model.zoo import review
    >>> compiled = compile_network(BayesianNetwork(review().cpts))
    >>> marginals(compiled, {"AC": "+"})["D"].round(2).tolist()
    [0.61, 0.39]
    """
    known = compiled.network.evidence(evidence)
    row = np.full((1, len(compiled.order)), -1)
    for variable, state in known.items():
        row[0, variable] = state
    shares, logs = marginal_rows(compiled, row)
    if logs[0] == -np.inf:
        pairs = [f"{name}={state}" for name, state in (evidence or {}).items()]
        raise ImpossibleEvidence(
            f"the evidence has probability 0 in this network: {listing(pairs)}; check it"
        )
    names = compiled.network.names
    return {name: np.array([1.0 - share, share]) for name, share in zip(names, shares[0], strict=True)}
