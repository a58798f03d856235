"""Spaces of truth assignments: the models of a formula, or of any circuit.

This is the general way to a structured attribute: write down what its values have to obey, and compile it
[choi2016, Representing Structured Attributes]. An object says which variables hold: a mapping of names to
truth values, or a collection of the names of those that do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.formulas.expressions import Connective, Expression, fold, variable_names
from unswayed.circuits.psdd.examples import UNKNOWN, Marks
from unswayed.circuits.sdd.evaluate import evaluate, model_count
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import Vtree
from unswayed.core.arrays import Bools
from unswayed.core.errors import QueryError
from unswayed.core.names import listing, unknown_name
from unswayed.spaces.space import Space, as_truth, checked_rows, listed, refusal

Assignment: TypeAlias = dict[str, bool]
"""Which variables hold, by name."""


def formula_space(formula: Cnf | Expression, vtree: Vtree | None = None) -> Space[Assignment]:
    """All assignments that make a formula hold, compiled for a vtree (a balanced one without).

    A formula is a list of clauses, or an expression of variables joined by `&`, `|`, `~` and counts.

    >>> space = formula_space(Cnf(["rain", "snow", "sun"], [(1, 2, 3), (-1, -2)]))
    >>> space.size, space.explain(["rain", "snow"])
    (5, 'not rain or not snow: this clause does not hold')
    """
    from unswayed.circuits.formulas.compile import compile_formula

    circuit = compile_formula(formula, vtree)
    return _space(circuit, formula, f"models of a formula over {len(circuit.names)} variables")


def circuit_space(circuit: Sdd, description: str = "models of a circuit") -> Space[Assignment]:
    """All assignments that make a circuit hold."""
    return _space(circuit, None, description)


def _space(circuit: Sdd, formula: Cnf | Expression | None, description: str) -> Space[Assignment]:
    size = model_count(circuit)
    if not size:
        raise QueryError("the formula never holds, so its space is empty; look for constraints in conflict")
    return Space(description, size, circuit.vtree, AssignmentCoding(circuit, formula), lambda: circuit)


@dataclass(frozen=True, slots=True, eq=False)
class AssignmentCoding:
    """Assignments of a circuit's variables by name."""

    circuit: Sdd = field(repr=False)
    """The circuit."""
    formula: Cnf | Expression | None = field(repr=False)
    """The formula it was compiled from, to say which clause fails."""

    def encode_many(self, objects: Any) -> Bools:
        """One row for each assignment."""
        if isinstance(objects, np.ndarray) and objects.ndim == 2 and objects.dtype != object:
            table = checked_rows(objects, len(self.circuit.names))
            self._check(table)
            return table
        assignments = listed(objects, "assignments")
        column = {name: i for i, name in enumerate(self.circuit.names)}
        rows = np.zeros((len(assignments), len(column)), dtype=np.bool_)
        for row, assignment in enumerate(assignments):
            try:
                rows[row, [column[name] for name in self._holding(assignment, column)]] = True
            except QueryError as error:
                raise refusal(row, len(rows), str(error)) from None
        self._check(rows)
        return rows

    def decode(self, row: Bools) -> Assignment:
        """The assignment of a row."""
        self._check(row[None, :])
        return dict(zip(self.circuit.names, row.tolist(), strict=True))

    def mark(self, known: Any) -> Marks:
        """What some names say: these variables hold."""
        column = {name: i for i, name in enumerate(self.circuit.names)}
        row = np.full(len(column), UNKNOWN, dtype=np.int8)
        row[[column[name] for name in self._holding(known, column)]] = 1
        return row

    def _holding(self, assignment: Any, column: Mapping[str, int]) -> list[str]:
        """The names of the variables that hold."""
        if isinstance(assignment, str | bytes) or not isinstance(assignment, Iterable):
            raise QueryError(f"{assignment!r} is no assignment; give names, or names with truth values")
        for name in assignment:
            if not isinstance(name, str) or name not in column:
                raise QueryError(unknown_name("variable", str(name), self.circuit.names))
        if not isinstance(assignment, Mapping):
            return list(assignment)
        missing = [name for name in self.circuit.names if name not in assignment]
        if missing:
            raise QueryError(f"the assignment says nothing about {missing[0]!r}")
        return [name for name, value in assignment.items() if as_truth(value, name)]

    def _check(self, rows: Bools) -> None:
        inside = evaluate(self.circuit, rows)
        if not inside.all():
            row = int(np.argmin(inside))
            raise refusal(row, len(rows), self._reason(rows[row]))

    def _reason(self, row: Bools) -> str:
        if self.formula is None:
            return "the circuit does not hold"
        value = dict(zip(self.circuit.names, row.tolist(), strict=True))
        return broken_constraint(self.formula, value)


def broken_constraint(formula: Cnf | Expression, value: Mapping[str, bool]) -> str:
    """The first clause, or part of a conjunction, that does not hold; empty when all do.

    >>> broken_constraint(Cnf(["rain", "sun"], [(1, 2), (-1,)]), {"rain": True, "sun": False})
    'not rain: this clause does not hold'
    """
    if isinstance(formula, Cnf):
        return _broken_clause(formula, value)
    parts = formula.parts if formula.connective is Connective.AND else (formula,)
    for number, part in enumerate(parts, start=1):
        if not _holds(part, value):
            return f"constraint {number} of {len(parts)}, on {listing(variable_names(part))}, does not hold"
    return ""


def _broken_clause(formula: Cnf, value: Mapping[str, bool]) -> str:
    for clause in formula.clauses:
        if not any(value[formula.names[abs(literal) - 1]] == (literal > 0) for literal in clause):
            return f"{_clause_text(clause, formula.names)}: this clause does not hold"
    return ""


def _clause_text(clause: Sequence[int], names: Sequence[str]) -> str:
    return " or ".join(("" if literal > 0 else "not ") + names[abs(literal) - 1] for literal in clause)


def _holds(expression: Expression, value: Mapping[str, bool]) -> bool:
    """Whether an expression holds."""
    return fold(expression, lambda part, held: _joined(part, held, value))


def _joined(part: Expression, held: list[bool], value: Mapping[str, bool]) -> bool:
    if part.connective is Connective.VARIABLE:
        return bool(value[part.name])
    if part.connective is Connective.NOT:
        return not held[0]
    if part.connective is Connective.AND:
        return all(held)
    if part.connective is Connective.OR:
        return any(held)
    return part.bounds[0] <= sum(held) <= part.bounds[1]
