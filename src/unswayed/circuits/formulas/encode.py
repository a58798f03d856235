"""Networks as weighted formulas: what every encoding has in common, the basic one, and the one in use.

A network becomes a formula over Boolean variables and a weight for each literal, such that the weights of
the models that agree with some evidence add up to its probability [chavira2008]:

    Pr(e)  =  sum of  prod_l w(l)  over the models of the formula in which e holds

There are two kinds of Boolean variables. *Indicators* say which state a network variable has: one Boolean
for two states, else one for each state, exactly one of which holds. All their literals weigh 1.
*Parameters* carry the numbers of the tables. The basic encoding [choi2017, section 3.1] has one parameter
for each number.

Networks are compiled with the row encoding, which exploits zeros and equal rows. A row of a table with the
possible states s_1 .. s_m is drawn by a chain of choices: is it s_1? if not, is it s_2? and so on. Each
choice is one Boolean P_i with the weights

    w(P_i)  =  Pr(s_i | none of s_1 .. s_{i-1}),     w(not P_i)  =  1 - w(P_i)

so a certain row needs no parameter, and a row of m possible states m - 1 [chavira2008]. The weights of a
choice add up to 1, so it may stay unconstrained where it is not made; hence all rows with the same numbers
share their choices. Rows are equal in whole blocks when some parents do not matter in some context; such a
block needs one clause for each state, not one for each row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.vtree import NOTHING
from unswayed.core.arrays import Floats, Ints, frozen_floats, read_only
from unswayed.core.errors import ModelError
from unswayed.model.cpt import configuration_of
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """A weighted formula with what its variables stand for."""

    cnf: Cnf = field(repr=False)
    """The formula."""
    weights: Floats = field(repr=False)  # (Boolean variables, 2)
    """Weight of each variable's negative and positive literal."""
    variables: tuple[Variable, ...]
    """The network's variables."""
    indicators: tuple[tuple[int, ...], ...] = field(repr=False)
    """For each of them the literal that stands for each of its states."""
    owners: tuple[int, ...] = field(repr=False)
    """For each Boolean variable the network variable whose state or table it belongs to; or `NOTHING`."""
    clause_owners: tuple[int, ...] = field(repr=False)
    """For each clause the network variable whose states or table it is about; or `NOTHING`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen_floats(self.weights))
        n_variables = len(self.cnf.names)
        if self.weights.shape != (n_variables, 2) or len(self.owners) != n_variables:
            raise ModelError(
                f"a formula over {n_variables} variables needs as many pairs of weights and owners"
            )
        if len(self.clause_owners) != len(self.cnf.clauses):
            raise ModelError("every clause of an encoding belongs to a network variable")

    @property
    def n_parameters(self) -> int:
        """How many of the Boolean variables carry numbers."""
        return len(self.cnf.names) - sum(len(self.block(v)) for v in range(len(self.variables)))

    def block(self, variable: int) -> tuple[int, ...]:
        """The Boolean variables that tell the state of a network variable."""
        return tuple(dict.fromkeys(abs(literal) - 1 for literal in self.indicators[variable]))

    def parameters(self) -> list[list[int]]:
        """The Boolean variables that carry the numbers of each network variable's table."""
        indicators = {b for v in range(len(self.variables)) for b in self.block(v)}
        found: list[list[int]] = [[] for _ in self.variables]
        for boolean, owner in enumerate(self.owners):
            if boolean not in indicators and owner != NOTHING:
                found[owner].append(boolean)
        return found


def weights_under(encoding: Encoding, evidence: Mapping[int, int]) -> Floats:  # (Boolean variables, 2)
    """The weights with those of the literals that contradict the evidence set to zero."""
    weights = encoding.weights.copy()
    for variable, state in evidence.items():
        for other, literal in enumerate(encoding.indicators[variable]):
            if other != state:
                weights[abs(literal) - 1, int(literal > 0)] = 0.0
    return weights


def basic_encoding(network: BayesianNetwork) -> Encoding:
    """One parameter P for each number of each table, with P <=> (parents' states and child's state).

    >>> from unswayed.model.zoo import review
    >>> basic_encoding(review()).n_parameters
    18
    """
    draft = Draft(network)
    for position, cpt in enumerate(network.cpts):
        for row, numbers in enumerate(cpt.table.tolist()):
            given = draft.row_literals(position, row)
            for state, number in enumerate(numbers):
                holds = [*given, draft.indicators[position][state]]
                parameter = draft.add_parameter(position, f"{row}.{state}", number, 1.0)
                draft.add_clause(position, [*(-literal for literal in holds), parameter])
                for literal in holds:
                    draft.add_clause(position, [-parameter, literal])
    return draft.encoding()


class Draft:
    """An encoding being written: indicators are there, parameters and clauses are added."""

    def __init__(self, network: BayesianNetwork) -> None:
        self.network = network
        self.names: dict[str, None] = {}
        self.weights: list[tuple[float, float]] = []
        self.owners: list[int] = []
        self.clauses: list[Sequence[int]] = []
        self.clause_owners: list[int] = []
        self.indicators = tuple(self._indicators(position) for position in range(len(network)))
        for position, literals in enumerate(self.indicators):
            for clause in exactly_one(literals):
                self.add_clause(position, clause)

    def _indicators(self, position: int) -> tuple[int, ...]:
        variable = self.network.variables[position]
        if len(variable) == 2:
            literal = self._add(position, f"{variable.name}={variable.states[0]}", 1.0, 1.0)
            return literal, -literal
        return tuple(self._add(position, f"{variable.name}={state}", 1.0, 1.0) for state in variable.states)

    def _add(self, position: int, name: str, positive: float, negative: float) -> int:
        while name in self.names:  # names and states may hold any sign, so two of them may look alike
            name += "'"
        self.names[name] = None
        self.weights.append((negative, positive))
        self.owners.append(position)
        return len(self.names)

    def add_parameter(self, position: int, label: str, positive: float, negative: float) -> int:
        """A parameter of a variable's table with the weights of its literals; the positive literal."""
        return self._add(position, f"{self.network.variables[position].name}|{label}", positive, negative)

    def add_clause(self, position: int, clause: Sequence[int]) -> None:
        """A clause about a variable's states or table."""
        self.clauses.append(clause)
        self.clause_owners.append(position)

    def row_literals(self, position: int, row: int) -> list[int]:
        """Literals that hold when the parents of a variable are in the states of a row."""
        parents = self.network.parents[position]
        states = configuration_of(row, [len(self.network.variables[p]) for p in parents])
        return [self.indicators[p][s] for p, s in zip(parents, states, strict=True)]

    def encoding(self) -> Encoding:
        """The finished encoding."""
        return Encoding(
            cnf=Cnf(tuple(self.names), self.clauses),
            weights=np.array(self.weights),
            variables=self.network.variables,
            indicators=self.indicators,
            owners=tuple(self.owners),
            clause_owners=tuple(self.clause_owners),
        )


def exactly_one(literals: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Clauses that make exactly one of the literals hold; none for a literal and its negation.

    >>> list(exactly_one([1, 2, 3]))
    [(1, 2, 3), (-1, -2), (-1, -3), (-2, -3)]
    """
    if len(literals) == 2 and literals[0] == -literals[1]:
        return
    yield tuple(literals)
    for i, one in enumerate(literals):
        for other in literals[i + 1 :]:
            yield (-one, -other)


Cube = dict[int, int]
"""States of some of the parents, by the parent's place in the table."""
Choices = dict[int, tuple[int, ...]]
"""For each possible state of a row the literals of the choices that lead to it."""


@dataclass(frozen=True, slots=True, eq=False)
class RowEncoding:
    """An encoding by distinct rows, and which choices draw which state of which row."""

    encoding: Encoding
    """The weighted formula."""
    labels: tuple[Ints, ...] = field(repr=False)
    """For each table the number of the distinct row that each of its rows is equal to."""
    choices: tuple[tuple[Choices, ...], ...] = field(repr=False)
    """For each table the choices of each of its distinct rows."""


def row_encoding(network: BayesianNetwork) -> RowEncoding:
    """A chain of choices for each distinct row of each table.

    Rows of two states need one parameter each, where the basic encoding has two:

    >>> from unswayed.model.zoo import review
    >>> row_encoding(review()).encoding.n_parameters
    8
    """
    draft = Draft(network)
    all_labels, all_choices = [], []
    for position, cpt in enumerate(network.cpts):
        rows, labels = np.unique(cpt.table, axis=0, return_inverse=True)
        labels = labels.reshape(-1).astype(np.int64)
        choices = tuple(_choices(draft, position, label, row) for label, row in enumerate(rows))
        for cube, label in constant_cubes(labels.reshape([len(parent) for parent in cpt.parents])):
            _add_clauses(draft, position, cube, choices[label])
        all_labels.append(read_only(labels))
        all_choices.append(choices)
    return RowEncoding(draft.encoding(), tuple(all_labels), tuple(all_choices))


def _choices(draft: Draft, position: int, label: int, row: Floats) -> Choices:
    """New parameters for a row, as the choices that lead to each of its possible states."""
    possible = np.flatnonzero(row).tolist()
    # What is left when the states before are refused; summed from the end, so that no digits are lost.
    left = np.cumsum(row[possible][::-1])[::-1].tolist()
    refused: tuple[int, ...] = ()
    choices: Choices = {}
    for place, state in enumerate(possible[:-1]):
        share, rest = float(row[state]) / left[place], left[place + 1] / left[place]
        choice = draft.add_parameter(position, f"{label}.{state}", share, rest)
        choices[state] = (*refused, choice)
        refused = (*refused, -choice)
    choices[possible[-1]] = refused
    return choices


def _add_clauses(draft: Draft, position: int, cube: Cube, choices: Choices) -> None:
    parents = draft.network.parents[position]
    given = [-draft.indicators[parents[place]][state] for place, state in cube.items()]
    for state, literals in choices.items():
        chosen = [-literal for literal in literals]
        draft.add_clause(position, [*given, *chosen, draft.indicators[position][state]])


def constant_cubes(labels: Ints) -> Iterator[tuple[Cube, int]]:
    """Blocks of equal labels that together cover a table with one axis for each parent, each cell once.

    The table is split along the axis that leaves most of it in constant slices, until all are constant.

    >>> list(constant_cubes(np.array([[7, 7], [7, 8]])))
    [({0: 0}, 7), ({0: 1, 1: 0}, 7), ({0: 1, 1: 1}, 8)]
    """
    waiting: list[tuple[Cube, Ints, tuple[int, ...]]] = [({}, labels, tuple(range(labels.ndim)))]
    while waiting:
        cube, table, axes = waiting.pop()
        first = int(table.flat[0])
        if (table == first).all():
            yield cube, first
            continue
        split = max(range(table.ndim), key=lambda axis: (_share_constant(table, axis), -axis))
        left = axes[:split] + axes[split + 1 :]
        slices = np.moveaxis(table, split, 0)
        waiting += [({**cube, axes[split]: s}, slices[s], left) for s in reversed(range(len(slices)))]


def _share_constant(table: Ints, axis: int) -> float:
    """Share of the slices along an axis that hold one label only."""
    slices = np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)
    constant = (slices == slices[:, :1]).all(axis=1)
    return float(constant.mean())
