"""Expressions to programs: every part becomes a register, parts before what they are part of."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.circuits.formulas.expressions import Connective, Expression
from unswayed.circuits.libsdd.builder import SddBuilder


def expression_register(builder: SddBuilder, expression: Expression) -> int:
    """The register of an expression, all of whose variables the builder's vtree has."""
    number = {name: i for i, name in enumerate(builder.vtree.names, start=1)}
    made: dict[int, int] = {}
    waiting = [expression]
    while waiting:
        part = waiting[-1]
        missing = [each for each in part.parts if id(each) not in made]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        if id(part) not in made:
            made[id(part)] = _register(builder, part, [made[id(each)] for each in part.parts], number)
    return made[id(expression)]


def _register(builder: SddBuilder, part: Expression, parts: list[int], number: dict[str, int]) -> int:
    match part.connective:
        case Connective.VARIABLE:
            return builder.literal(number[part.name])
        case Connective.NOT:
            return builder.negate(parts[0])
        case Connective.AND:
            return builder.conjoin(parts)
        case Connective.OR:
            return builder.disjoin(parts)
        case Connective.COUNT:
            return _count(builder, parts, part.bounds)


def _count(builder: SddBuilder, parts: Sequence[int], bounds: tuple[int, int]) -> int:
    """The register that holds where the number of parts that hold is between two bounds.

    From the last part back: `held[j]` is the register of "when j parts before this one hold, the number in
    the end is right".
    """
    low, high = max(0, bounds[0]), min(len(parts), bounds[1])
    if low > high:
        return builder.constant(False)
    never, always = builder.constant(False), builder.constant(True)
    held = [always if low <= j else never for j in range(high + 1)] + [never]
    for position in range(len(parts) - 1, -1, -1):
        part, opposite = parts[position], builder.negate(parts[position])
        held = [
            builder.disjoin([builder.conjoin([part, held[j + 1]]), builder.conjoin([opposite, held[j]])])
            for j in range(min(position, high) + 1)
        ] + [never]
    return held[0]
