"""Which constraint of a formula an assignment breaks, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unswayed.circuits.expressions import Connective, Expression, variable_names
from unswayed.circuits.formula import Cnf
from unswayed.core.names import listing


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
    """Whether an expression holds; without recursion, since chains of operators are deep."""
    known: dict[int, bool] = {}
    waiting = [expression]
    while waiting:
        part = waiting[-1]
        unknown = [each for each in part.parts if id(each) not in known]
        if unknown:
            waiting += unknown
            continue
        waiting.pop()
        known[id(part)] = _joined(part, [known[id(each)] for each in part.parts], value)
    return known[id(expression)]


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
