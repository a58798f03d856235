"""Formulas as people write them: variables joined by and, or, not, implications and counts.

    rain, wet = variables("rain", "wet")
    (rain >> wet) & ~exactly(2, rain, wet)

An expression is a tree (shared parts are compiled once). `&`, `|`, `~` and `>>` are and, or, not and
implies; the functions below join many at once and count how many hold. `compile_formula` makes a circuit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from unswayed.core.errors import ModelError, expect

T = TypeVar("T")


class Connective(Enum):
    """What the top of an expression is."""

    VARIABLE = "variable"
    """A variable by its name."""
    NOT = "not"
    """The negation of its only part."""
    AND = "and"
    """All parts hold; true without parts."""
    OR = "or"
    """Some part holds; false without parts."""
    COUNT = "count"
    """The number of parts that hold lies between two bounds."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Expression:
    """A formula over named variables; made by the functions of this file."""

    connective: Connective
    """What joins the parts."""
    parts: tuple[Expression, ...] = ()
    """What is joined."""
    name: str = ""
    """The name of a variable."""
    bounds: tuple[int, int] = (0, 0)
    """Fewest and most parts that may hold, where they are counted."""

    def __and__(self, other: Expression) -> Expression:
        return all_of(self, other)

    def __or__(self, other: Expression) -> Expression:
        return any_of(self, other)

    def __invert__(self) -> Expression:
        # Two negations cancel, so that chains of them stay short.
        return self.parts[0] if self.connective is Connective.NOT else Expression(Connective.NOT, (self,))

    def __rshift__(self, other: Expression) -> Expression:
        return any_of(~self, other)

    def __bool__(self) -> bool:
        raise ModelError("an expression is neither true nor false; join expressions with &, | and ~")

    def __repr__(self) -> str:
        names = variable_names(self)
        return f"<expression over {len(names)} variables>"


def variable(name: str) -> Expression:
    """The formula that holds where a variable does."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"a variable is named by text, not {name!r}")
    return Expression(Connective.VARIABLE, name=name)


def variables(*names: str) -> tuple[Expression, ...]:
    """One variable for each name."""
    return tuple(variable(name) for name in names)


def constant(value: bool) -> Expression:
    """The formula that always holds, or never."""
    return Expression(Connective.AND if value else Connective.OR)


def all_of(*parts: Expression) -> Expression:
    """The formula that holds where all parts do."""
    return Expression(Connective.AND, _flat(Connective.AND, parts))


def any_of(*parts: Expression) -> Expression:
    """The formula that holds where one part at least does."""
    return Expression(Connective.OR, _flat(Connective.OR, parts))


def implies(a: Expression, b: Expression) -> Expression:
    """The formula that holds where b does, or a does not; also `a >> b`."""
    _check_parts((a, b))
    return any_of(~a, b)


def iff(a: Expression, b: Expression) -> Expression:
    """The formula that holds where both parts do, or neither."""
    _check_parts((a, b))
    return (a & b) | (~a & ~b)


def at_most(count: int, *parts: Expression) -> Expression:
    """The formula that holds where so many parts do, or fewer."""
    return Expression(Connective.COUNT, _check_parts(parts), bounds=(0, count))


def at_least(count: int, *parts: Expression) -> Expression:
    """The formula that holds where so many parts do, or more."""
    return Expression(Connective.COUNT, _check_parts(parts), bounds=(count, len(parts)))


def exactly(count: int, *parts: Expression) -> Expression:
    """The formula that holds where just so many parts do."""
    return Expression(Connective.COUNT, _check_parts(parts), bounds=(count, count))


def exactly_one(*parts: Expression) -> Expression:
    """The formula that holds where one part does and no other.

    >>> from unswayed.circuits.formulas.compile import compile_formula
    >>> from unswayed.circuits.sdd.evaluate import model_count
    >>> model_count(compile_formula(exactly_one(*variables("red", "green", "blue"))))
    3
    """
    return exactly(1, *parts)


def fold(expression: Expression, make: Callable[[Expression, list[T]], T]) -> T:
    """What `make` makes of an expression and of what it made of its parts, each part once.

    Without recursion, since chains of operators are deep.
    """
    made: dict[int, T] = {}
    waiting = [expression]
    while waiting:
        part = waiting[-1]
        missing = [each for each in part.parts if id(each) not in made]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        if id(part) not in made:
            made[id(part)] = make(part, [made[id(each)] for each in part.parts])
    return made[id(expression)]


def variable_names(expression: Expression) -> tuple[str, ...]:
    """The names of the variables of an expression, in the order in which they are written."""
    expect(expression, Expression, "the formula")
    found: dict[str, None] = {}
    seen: set[int] = set()
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if part.connective is Connective.VARIABLE:
            found.setdefault(part.name)
        waiting += reversed(part.parts)
    return tuple(found)


def _flat(connective: Connective, parts: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """The parts, those joined in the same way opened: chains of one operator become one list."""
    flat: list[Expression] = []
    for part in _check_parts(parts):
        flat += part.parts if part.connective is connective and part.parts else (part,)
    return tuple(flat)


def _check_parts(parts: tuple[Expression, ...]) -> tuple[Expression, ...]:
    for part in parts:
        if not isinstance(part, Expression):
            raise ModelError(f"{part!r} is no expression; make one with variable(name)")
    return parts
