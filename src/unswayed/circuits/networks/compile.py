"""Networks to circuits: elimination in which the numbers are nodes.

Elimination adds and multiplies numbers; compiling does the same with functions, once for all evidence. A
variable in a context becomes the node that decides on its states; on the right of each state stand the
choices of the tables completed there and the nodes of the variables below in their contexts. The work is
that of the contexts that can occur (`contexts.py`), and equal functions become one node. No clause is
conjoined on the way, so nothing larger than the contexts is ever made.

A network variable of two states is one Boolean. With more states it is a block of Booleans exactly one of
which holds; the primes of its decisions are sets of states, that is of patterns in which just one Boolean
holds. So both decisions and conjunctions of what shares no variable come out canonical without any search.

The circuit is the one that a compiler of formulas makes from the same encoding and vtree, since SDDs are
canonical; another vtree than one from an elimination tree, or another encoding, is compiled from its
clauses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.circuits.formulas.encode import RowEncoding
from unswayed.circuits.libsdd.program import Progress, Report
from unswayed.circuits.networks.contexts import Branches, ContextSearch
from unswayed.circuits.networks.elimination_vtree import EliminationTree, network_vtree
from unswayed.circuits.sdd import apply
from unswayed.circuits.sdd.apply import FunctionTable
from unswayed.circuits.sdd.sdd import FALSE, TRUE, Sdd
from unswayed.circuits.vtree import NOTHING, Vtree
from unswayed.core.anytime import bytes_allowed, tick
from unswayed.core.arrays import Ints
from unswayed.model.network import BayesianNetwork

BYTES_PER_BRANCH = 1600.0
"""Measured: nodes with their elements, four or five to a branch, and rows on the way."""


def compile_tree(
    network: BayesianNetwork, rows: RowEncoding, tree: EliminationTree, *, progress: Progress | None = None
) -> Sdd:
    """The circuit of a network's row encoding over the vtree of an elimination tree.

    Cost: proportional to the branches, one for each state of each variable in each of its contexts.
    Raises `LimitError` when there are more of them than memory allows, or when time is over.
    """
    work = _Compilation(network, rows, tree, progress)
    return work.table.export(work.run())


class _Compilation:
    """The state of one compilation: all contexts first, top-down, then all nodes, bottom-up."""

    def __init__(
        self, network: BayesianNetwork, rows: RowEncoding, tree: EliminationTree, progress: Progress | None
    ) -> None:
        self.rows, self.tree, self.progress = rows, tree, progress
        self.search = ContextSearch(network, rows, tree, bytes_allowed() / BYTES_PER_BRANCH)
        self.vtree = network_vtree(rows.encoding, tree)
        self.table = FunctionTable(self.vtree)
        self.decisions = Decisions(self.table)
        self.places = _places(self.vtree, rows, tree)

    def run(self) -> int:
        branches = {}
        for variable in reversed(self.tree.order):
            tick(what="compiling the network")
            branches[variable] = self.search.branches(variable)
        made: dict[int, Ints] = {}
        for done, variable in enumerate(self.tree.order):
            made[variable] = self._decide(variable, branches.pop(variable), made)
            if self.progress is not None:
                self.progress(Report(done + 1, len(self.tree.order), self.table.n_elements))
        return int(made[self.tree.order[-1]][0])

    def _decide(self, variable: int, branches: Branches, made: dict[int, Ints]) -> Ints:
        """The node of a variable in each of its contexts."""
        joined = self._join(variable, branches, made)
        if variable == self.tree.bottom:
            nodes = np.zeros(branches.n_contexts, dtype=np.int64)
            nodes[branches.context] = joined
            return nodes
        literals = self.rows.encoding.indicators[variable]
        subs = np.full((branches.n_contexts, len(literals)), FALSE, dtype=np.int64)
        subs[branches.context, branches.state] = joined
        distinct, place = np.unique(subs, axis=0, return_inverse=True)
        where = self.places.block[variable]
        found = np.empty(len(distinct), dtype=np.int64)
        for number, each in enumerate(distinct.tolist()):
            found[number] = self.decisions.decide(where, literals, each)
            if number % 4096 == 0:
                tick(what="compiling the network")
        return found[place.reshape(-1)]

    def _join(self, variable: int, branches: Branches, made: dict[int, Ints]) -> Ints:
        """On each branch the conjunction of the choices made there and of the nodes below."""
        parts = [
            self._choose(table, branches)
            for table in self.search.tables[variable]
            if table in self.places.parameters
        ]
        parts += [
            made.pop(child)[branches.below[child]]
            for child in self.search.children[variable]
            if child in self.places.block
        ]
        # A bottom that joins nothing has no vtree node, but may still find a context impossible.
        constants = [made.pop(child)[branches.below[child]] for child in self._childless(variable)]
        if not parts:
            return constants[0] if constants else np.full(len(branches), TRUE, dtype=np.int64)
        joined = parts[-1]
        for part, place in zip(reversed(parts[:-1]), reversed(self.places.joins[variable]), strict=True):
            joined = self._conjoin(place, part, joined)
        for constant in constants:
            joined = np.where(constant == FALSE, FALSE, joined)
        return joined

    def _childless(self, variable: int) -> list[int]:
        return [child for child in self.search.children[variable] if child not in self.places.block]

    def _choose(self, table: int, branches: Branches) -> Ints:
        """The choices that a completed table makes on each branch."""
        n_states = len(self.rows.encoding.indicators[table])
        code = branches.labels[table] * n_states + branches.child_states[table]
        distinct, place = np.unique(code, return_inverse=True)
        choices = self.rows.choices[table]
        where = self.places.parameters[table]
        terms = [term(self.table, where, choices[c // n_states][c % n_states]) for c in distinct.tolist()]
        chosen: Ints = np.array(terms, dtype=np.int64)[place.reshape(-1)]
        return chosen

    def _conjoin(self, place: int, one: Ints, other: Ints) -> Ints:
        n_nodes = len(self.table.place)
        pairs, index = np.unique(one * n_nodes + other, return_inverse=True)
        before, after = np.divmod(pairs, n_nodes)
        found = np.empty(len(pairs), dtype=np.int64)
        for number, (a, b) in enumerate(zip(before.tolist(), after.tolist(), strict=True)):
            found[number] = conjoin_apart(self.table, place, a, b)
            if number % 4096 == 0:
                tick(what="compiling the network")
        nodes: Ints = found[index.reshape(-1)]
        return nodes


@dataclass(frozen=True, slots=True)
class _Places:
    """Where in the vtree the parts of an elimination tree are."""

    block: dict[int, int]
    """For each variable the vtree node that decides on it; a bottom that joins nothing has none."""
    joins: dict[int, list[int]]
    """For each variable the vtree nodes that join what is below it, from the left."""
    parameters: dict[int, int]
    """For each table with parameters the vtree node above them."""


def _places(vtree: Vtree, rows: RowEncoding, tree: EliminationTree) -> _Places:
    """Walk vtree and elimination tree down together: both have the same parts in the same order."""
    places = _Places({}, {}, {})
    below = _parts_below(rows, tree)
    waiting = [(tree.order[-1], vtree.root)]
    while waiting:
        variable, node = waiting.pop()
        places.block[variable], places.joins[variable] = node, []
        rest = node if variable == tree.bottom else int(vtree.right[node])
        for is_last, is_table, part in below[variable]:
            where = rest
            if not is_last:
                places.joins[variable].append(rest)
                where, rest = int(vtree.left[rest]), int(vtree.right[rest])
            if is_table:
                places.parameters[part] = where
            else:
                waiting.append((part, where))
    return places


def _parts_below(rows: RowEncoding, tree: EliminationTree) -> dict[int, list[tuple[bool, bool, int]]]:
    """For each variable what is joined below it: whether it is the last, whether a table, and its number."""
    parts: dict[int, list[tuple[bool, int]]] = {variable: [] for variable in tree.order}
    for table, parameters in enumerate(rows.encoding.parameters()):
        if parameters:
            parts[tree.home[table]].append((True, table))
    children = tree.children()
    for variable in tree.order:  # children first, so it is known whether the bottom joins anything
        for child in children[variable]:
            if child != tree.bottom or parts[child]:
                parts[variable].append((False, child))
    return {
        variable: [(place == len(each) - 1, *part) for place, part in enumerate(each)]
        for variable, each in parts.items()
    }


def conjoin_apart(table: FunctionTable, place: int, one: int, other: int) -> int:
    """The conjunction of a function of the variables left of a vtree node and one of those right of it."""
    if FALSE in (one, other):
        return FALSE
    if TRUE in (one, other):
        return max(one, other)  # the constants have the lowest numbers
    return table.decision(place, {other: one, FALSE: apply.negate(table, one)})


def term(table: FunctionTable, place: int, literals: Sequence[int]) -> int:
    """The conjunction of literals of variables below a vtree node."""
    if not literals:
        return TRUE
    if len(literals) == 1:
        return table.literal(literals[0])
    before = [x for x in literals if table.leaf(abs(x) - 1) < place]
    after = [x for x in literals if table.leaf(abs(x) - 1) > place]
    left, right = int(table.vtree.left[place]), int(table.vtree.right[place])
    return conjoin_apart(table, place, term(table, left, before), term(table, right, after))


class Decisions:
    """Decisions on network variables; sets of states are made once."""

    def __init__(self, table: FunctionTable) -> None:
        self.table = table
        vtree = table.vtree
        self._left, self._right = vtree.left.tolist(), vtree.right.tolist()
        self._variable, self._last = vtree.variable.tolist(), vtree.last.tolist()
        self._sets: dict[tuple[int, frozenset[int], bool], int] = {}

    def decide(self, place: int, literals: Sequence[int], subs: Sequence[int]) -> int:
        """The function that is `subs[i]` where the i-th state's literal holds, and false where none does.

        `place` is the vtree node with the variable's Booleans on its left; where nothing stands on their
        right, it is their own, and subs are constants.
        """
        states: dict[int, list[int]] = {}
        for literal, sub in zip(literals, subs, strict=True):
            states.setdefault(sub, []).append(literal)
        if len(literals) == 2 and literals[0] == -literals[1]:
            primes = {sub: self._one_of_two(each) for sub, each in states.items()}
            return self.table.decision(place, primes)
        states.pop(FALSE, None)
        block = place if set(states) <= {TRUE} and self._spans(place, literals) else self._left[place]
        primes = {sub: self._state_set(block, each) for sub, each in states.items()}
        possible = self._state_set(block, [literal for each in states.values() for literal in each])
        return self.table.decision(place, {**primes, FALSE: apply.negate(self.table, possible)})

    def _one_of_two(self, literals: Sequence[int]) -> int:
        return TRUE if len(literals) == 2 else self.table.literal(literals[0])

    def _spans(self, place: int, literals: Sequence[int]) -> bool:
        return int(self._last[place] - self.table.vtree.first[place]) // 2 + 1 == len(literals)

    def _state_set(self, block: int, literals: Sequence[int]) -> int:
        return self._pattern(block, frozenset(literal - 1 for literal in literals), False)

    def _pattern(self, block: int, allowed: frozenset[int], none: bool) -> int:
        """The function of a block that holds when just one Boolean does, an allowed one, or `none` does."""
        if not allowed and not none:
            return FALSE
        key = (block, allowed, none)
        if key not in self._sets:
            self._sets[key] = self._new_pattern(block, allowed, none)
        return self._sets[key]

    def _new_pattern(self, block: int, allowed: frozenset[int], none: bool) -> int:
        """An allowed one holds on the left, and none on the right; or none on the left: the right decides."""
        left, right = self._left[block], self._right[block]
        if left == NOTHING:
            literal = 1 + self._variable[block]
            return TRUE if allowed and none else self.table.literal(literal if allowed else -literal)
        on_left = frozenset(v for v in allowed if self.table.leaf(v) < block)
        nothing, after = (
            self._pattern(right, frozenset(), True),
            self._pattern(right, allowed - on_left, none),
        )
        primes = {nothing: self._pattern(left, on_left, False), after: self._pattern(left, frozenset(), True)}
        if nothing == after:
            primes[after] = self._pattern(left, on_left, True)
        covered = self._pattern(left, on_left, after != FALSE)
        primes[FALSE] = apply.negate(self.table, covered)
        return self.table.decision(block, {sub: prime for sub, prime in primes.items() if prime != FALSE})
