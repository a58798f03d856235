"""Which contexts of an elimination tree can occur: the first half of compiling a network.

Going down an elimination tree, each variable is decided in some *context*: the states of the variables
above on which anything below depends. Two ways down to the same context leave the same function, so each is
followed once; contexts of probability zero are not followed at all. What elimination does with dense tables
is done here with lists of rows that hold only what can occur, which is where determinism is exploited.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unswayed.circuits.formulas.encode import RowEncoding
from unswayed.circuits.networks.elimination_vtree import EliminationTree
from unswayed.core.arrays import Bools, Ints
from unswayed.core.errors import LimitError
from unswayed.core.memo import Topic
from unswayed.inference.relevance import ancestors_of
from unswayed.model.network import BayesianNetwork

DRAWS: Topic[list[float]] = Topic("bits that tables draw")
States = npt.NDArray[np.int32]
"""Rows of states, a column for each of some variables."""
MOST_POSSIBLE = 2**20
"""Rows of possible states of the spine beyond which they are not listed first."""


@dataclass(frozen=True, slots=True, eq=False)
class Branches:
    """All contexts of one variable, each with all states of the variable that are possible in it."""

    n_contexts: int
    """How many contexts there are."""
    context: Ints = field(repr=False)  # (branches,)
    """The context of each branch."""
    state: Ints = field(repr=False)  # (branches,)
    """The state of the variable on each branch."""
    labels: dict[int, Ints] = field(repr=False)
    """For each table completed here its distinct row on each branch."""
    child_states: dict[int, Ints] = field(repr=False)
    """For each table completed here the state of its child on each branch."""
    below: dict[int, Ints] = field(repr=False)
    """For each variable right below its context on each branch."""

    def __len__(self) -> int:
        return len(self.context)


class ContextSearch:
    """Lists the contexts of every variable of a tree, parents first."""

    def __init__(
        self, network: BayesianNetwork, rows: RowEncoding, tree: EliminationTree, most_branches: float
    ) -> None:
        self.network, self.rows, self.tree = network, rows, tree
        self.sizes = [*(len(v) for v in network.variables), 1]
        self.most_branches = most_branches
        self.n_branches = 0
        self.tables: dict[int, list[int]] = {variable: [] for variable in tree.order}
        for table, home in enumerate(tree.home):
            self.tables[home].append(table)
        self.children = tree.children()
        self.contexts: dict[int, States] = {tree.order[-1]: np.zeros((1, 0), dtype=np.int32)}
        self.possible = possible_rows(network, tree.spine) if _is_determined(network, tree.spine) else None

    def branches(self, variable: int) -> Branches:
        """The branches of the next variable; the one above it must have been asked for before."""
        contexts = self.contexts.pop(variable)
        size = self.sizes[variable]
        self._check(len(contexts) * size)
        scope = (*self.tree.contexts[variable], variable)
        state = np.tile(np.arange(size, dtype=np.int32), len(contexts))
        table = np.column_stack([np.repeat(contexts, size, axis=0), state])
        table, labels, child_states, kept = self._complete(variable, scope, table)
        below = {child: self._go_down(child, scope, table) for child in self.children[variable]}
        self.n_branches += len(table)
        return Branches(
            n_contexts=len(contexts),
            context=np.repeat(np.arange(len(contexts)), size)[kept],
            state=state[kept].astype(np.int64),
            labels=labels,
            child_states=child_states,
            below=below,
        )

    def _check(self, coming: int) -> None:
        if self.n_branches + coming > self.most_branches:
            raise LimitError(
                f"compiling this network needs more than {self.most_branches:.3g} branches, over the limit "
                "on memory; constrain to fewer variables, leave out variables that do not matter, or raise "
                "Limits(max_bytes=...)"
            )

    def _complete(
        self, variable: int, scope: tuple[int, ...], table: States
    ) -> tuple[States, dict[int, Ints], dict[int, Ints], Bools]:
        """The branches on which no table completed here is zero, with the tables' rows there."""
        kept = self._within_possible(variable, scope, table)
        labels, child_states = {}, {}
        for number in self.tables[variable]:
            row, child = self._entry(number, scope, table)
            kept &= self.network.cpts[number].table[row, child] > 0
            labels[number], child_states[number] = self.rows.labels[number][row], child
        labels = {number: each[kept] for number, each in labels.items()}
        child_states = {number: each[kept] for number, each in child_states.items()}
        return table[kept], labels, child_states, kept

    def _entry(self, number: int, scope: tuple[int, ...], table: States) -> tuple[Ints, Ints]:
        """Row and column of a variable's table on each branch."""
        row = np.zeros(len(table), dtype=np.int64)
        for parent in self.network.parents[number]:
            row = row * self.sizes[parent] + table[:, scope.index(parent)]
        return row, table[:, scope.index(number)].astype(np.int64)

    def _within_possible(self, variable: int, scope: tuple[int, ...], table: States) -> Bools:
        """Whether the states on each branch can occur together, as far as that is known beforehand."""
        if self.possible is None or variable not in self.tree.spine:
            return np.ones(len(table), dtype=np.bool_)
        columns = [self.tree.spine.index(v) for v in scope]
        sizes = [self.sizes[v] for v in scope]
        allowed, _ = distinct_rows(self.possible[:, columns], sizes)
        n_allowed = len(allowed)
        _, place = distinct_rows(np.concatenate([allowed, table]), sizes)
        found: Bools = np.isin(place[n_allowed:], place[:n_allowed])
        return found

    def _go_down(self, child: int, scope: tuple[int, ...], table: States) -> Ints:
        context = self.tree.contexts[child]
        columns = [scope.index(v) for v in context]
        rows, place = distinct_rows(table[:, columns], [self.sizes[v] for v in context])
        self.contexts[child] = rows
        return place


def distinct_rows(rows: States, sizes: Sequence[int]) -> tuple[States, Ints]:
    """The different rows, sorted, and the place of each row among them.

    >>> distinct_rows(np.array([[1, 0], [0, 1], [1, 0]], dtype=np.int32), [2, 2])[1].tolist()
    [1, 0, 1]
    """
    if math.prod(map(float, sizes)) < 2.0**62:
        code = np.zeros(len(rows), dtype=np.int64)
        for column, size in enumerate(sizes):
            code = code * size + rows[:, column]
        _, first, place = np.unique(code, return_index=True, return_inverse=True)
        return rows[first], place.reshape(-1)
    found, place = np.unique(rows, axis=0, return_inverse=True)
    return found, place.reshape(-1)


def _is_determined(network: BayesianNetwork, spine: Sequence[int]) -> bool:
    """Whether less is drawn at random above some variables than their states could tell apart."""
    return drawn_bits(network, spine) < sum(math.log2(len(network.variables[v])) for v in spine)


def drawn_bits(network: BayesianNetwork, variables: Collection[int]) -> float:
    """Bits that all tables above some variables draw together at most: certain rows draw nothing."""
    return (
        sum(_draws(network)[ancestor] for ancestor in ancestors_of(network, variables)) if variables else 0.0
    )


def _draws(network: BayesianNetwork) -> list[float]:
    """Bits that each table draws at most."""

    def count() -> list[float]:
        return [math.log2(np.count_nonzero(cpt.table, axis=1).max()) for cpt in network.cpts]

    return network.memo.get(DRAWS, None, count)


def possible_rows(network: BayesianNetwork, wanted: Sequence[int]) -> States | None:
    """All states of some variables that have positive probability together; None when they are too many.

    The network is walked from parents to children; a variable is forgotten once nothing more depends on it.
    """
    last_use = _last_uses(network, wanted)
    known: list[int] = []
    rows: States = np.zeros((1, 0), dtype=np.int32)
    for variable in sorted(last_use):
        table = network.cpts[variable].table > 0
        entry = np.zeros(len(rows), dtype=np.int64)
        for parent in network.parents[variable]:
            entry = entry * len(network.variables[parent]) + rows[:, known.index(parent)]
        source, state = np.nonzero(table[entry])
        if len(source) > MOST_POSSIBLE:
            return None
        rows = np.column_stack([rows[source], state.astype(np.int32)])
        known.append(variable)
        needed = [place for place, v in enumerate(known) if last_use[v] > variable]
        known = [known[place] for place in needed]
        rows, _ = distinct_rows(rows[:, needed], [len(network.variables[v]) for v in known])
    return rows[:, [known.index(v) for v in wanted]]


def _last_uses(network: BayesianNetwork, wanted: Sequence[int]) -> dict[int, int]:
    """For each ancestor of the wanted variables the last one that depends on it; wanted ones never end."""
    uses = {variable: variable for variable in ancestors_of(network, wanted)}
    for variable in uses:
        for parent in network.parents[variable]:
            uses[parent] = max(uses[parent], variable)
    return {**uses, **dict.fromkeys(wanted, len(network))}
