"""Networks as weighted formulas: what every encoding has in common, and the basic one.

A network becomes a formula over Boolean variables and a weight for each literal, such that the weights of
the models that agree with some evidence add up to its probability [chavira2008]:

    Pr(e)  =  sum of  prod_l w(l)  over the models of the formula in which e holds

There are two kinds of Boolean variables. *Indicators* say which state a network variable has: one Boolean
for two states, else one for each state, exactly one of which holds. All their literals weigh 1.
*Parameters* carry the numbers of the tables. The basic encoding [choi2017, section 3.1] has one parameter
for each number; `encodings_rows.py` has the one that exploits zeros and equal rows, which is what networks
are compiled with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.vtree import NOTHING
from unswayed.core.arrays import Floats, frozen_floats
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
