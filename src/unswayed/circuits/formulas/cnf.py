"""Formulas in conjunctive normal form: clauses of literals over named variables.

A literal is a number with a sign, as in DIMACS files: 1 + variable where the variable must hold,
-(1 + variable) where it must not. A clause holds when one of its literals does, the formula when all its
clauses do. Formulas written with and, or and not are in `expressions.py`; both become circuits in
`compile.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unswayed.core.anytime import tick
from unswayed.core.errors import ModelError, expect, expect_list
from unswayed.core.numerics import is_whole


@dataclass(frozen=True, slots=True)
class Cnf:
    """A conjunction of clauses.

    >>> Cnf(("A", "B"), [(1, 2), (-1,)])
    Cnf(names=('A', 'B'), clauses=((1, 2), (-1,)))
    """

    names: tuple[str, ...]
    """Names of the variables; a variable is its position here."""
    clauses: tuple[tuple[int, ...], ...]
    """Literals of each clause; an empty clause never holds, an empty formula always."""

    def __init__(self, names: Sequence[str], clauses: Iterable[Sequence[int]]) -> None:
        object.__setattr__(self, "names", expect_list(names, "the names of a formula"))
        object.__setattr__(
            self,
            "clauses",
            tuple(expect_list(clause, "a clause") for clause in expect_list(clauses, "the clauses")),
        )
        _check(self)
        whole = tuple(tuple(map(int, clause)) for clause in self.clauses)
        object.__setattr__(self, "clauses", whole)


def _check(cnf: Cnf) -> None:
    for name in cnf.names:
        expect(name, str, "the name of a variable")
    if not cnf.names or len(set(cnf.names)) != len(cnf.names):
        raise ModelError("a formula needs variables with different names")
    n_variables = len(cnf.names)
    for position, clause in enumerate(cnf.clauses):
        tick(what="the formula")
        for literal in clause:
            if not (is_whole(literal) and 1 <= abs(literal) <= n_variables):
                raise ModelError(
                    f"clause {position} holds the literal {literal!r}; literals are 1 to {n_variables}, "
                    "whole numbers, with a minus where the variable must not hold"
                )
