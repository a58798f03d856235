"""Formulas to circuits.

Clauses are conjoined bottom-up along the vtree: each at the lowest node above all its variables, or at the
node that the caller names. Two subtrees share no variable, so joining their results is one element; all the
work is in the clauses that cross from left to right. Expressions are compiled from their parts upward, every
part a register, and counts by a table of how many parts have held so far.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.formulas.expressions import Connective, Expression, fold, variable_names
from unswayed.circuits.libsdd.builder import SddBuilder
from unswayed.circuits.libsdd.program import Progress
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import Vtree, balanced, renumber
from unswayed.core.errors import QueryError, expect, expect_list
from unswayed.core.names import unknown_name
from unswayed.core.numerics import is_whole


def compile_formula(
    formula: Cnf | Expression, vtree: Vtree | None = None, *, progress: Progress | None = None
) -> Sdd:
    """The circuit of a formula over a vtree; without one, over a balanced vtree of the formula's variables.

    The vtree may have more variables than the formula, which are free then. `LimitError` when it does not
    fit in the limits: the order of the variables decides how large a circuit becomes.

    >>> from unswayed.circuits.formulas.expressions import variables
    >>> from unswayed.circuits.sdd.evaluate import model_count
    >>> rain, wet = variables("rain", "wet")
    >>> model_count(compile_formula(rain >> wet))
    3
    """
    if isinstance(formula, Cnf):
        return compile_cnf(formula, vtree, progress=progress)
    names = variable_names(formula)
    if vtree is None and not names:
        raise QueryError("the formula has no variables; give a vtree")
    vtree = balanced(names) if vtree is None else vtree
    _check_known(names, vtree)
    builder = SddBuilder(vtree)
    register = expression_register(builder, formula)
    return builder.build([register], progress=progress)[0]


def compile_cnf(
    cnf: Cnf,
    vtree: Vtree | None = None,
    *,
    groups: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Sdd:
    """The circuit of clauses over a vtree (a balanced one without).

    `groups` names for each clause the vtree node at which it is conjoined; this changes the time taken, not
    the circuit. Variables are matched by name; the circuit numbers them as the formula does.

    >>> from unswayed.circuits.sdd.evaluate import model_count
    >>> model_count(compile_cnf(Cnf("ABC", [(1, 2), (-2, 3)])))
    4
    """
    expect(cnf, Cnf, "the clauses")
    vtree = balanced(cnf.names) if vtree is None else vtree
    _check_known(cnf.names, vtree)
    builder = SddBuilder(renumber(vtree, cnf.names))
    register = _bottom_up(builder, cnf.clauses, _places(cnf.clauses, builder.vtree, groups))
    return builder.build([register], progress=progress)[0]


def lowest_above(vtree: Vtree, nodes: Sequence[int]) -> int:
    """The lowest vtree node that has all the given ones in its subtree; the root when there are none."""
    if not nodes:
        return vtree.root
    node, high = min(nodes), max(nodes)
    while vtree.last[node] < high:
        node = int(vtree.parent[node])
    return node


def _check_known(names: Sequence[str], vtree: Vtree) -> None:
    expect(vtree, Vtree, "the vtree")
    known = set(vtree.names)
    for name in names:
        if name not in known:
            raise QueryError(
                f"the vtree does not have all variables: {unknown_name('variable', name, vtree.names)}"
            )


def _places(clauses: Sequence[tuple[int, ...]], vtree: Vtree, groups: Sequence[int] | None) -> list[int]:
    """The vtree node at which each clause is conjoined."""
    if groups is None:
        leaf = (2 * np.argsort(vtree.variable[::2])).tolist()
        return [lowest_above(vtree, [leaf[abs(x) - 1] for x in clause]) for clause in clauses]
    groups = expect_list(groups, "the groups")
    if len(groups) != len(clauses):
        raise QueryError(f"{len(groups)} groups for {len(clauses)} clauses; give one vtree node for each")
    wrong = [node for node in groups if not is_whole(node) or not 0 <= node < len(vtree)]
    if wrong:
        raise QueryError(f"group {wrong[0]!r} is no node of the vtree, whose nodes are 0 to {len(vtree) - 1}")
    return [int(node) for node in groups]


def _bottom_up(builder: SddBuilder, clauses: Sequence[tuple[int, ...]], places: Sequence[int]) -> int:
    """The register of the conjunction of all clauses."""
    vtree = builder.vtree
    waiting: dict[int, list[int]] = {}
    for position, place in enumerate(places):
        waiting.setdefault(place, []).append(position)
    made: dict[int, int] = {}
    for node in vtree.postorder():
        children = () if vtree.is_leaf(node) else (int(vtree.left[node]), int(vtree.right[node]))
        parts = [made.pop(child) for child in children if child in made]
        parts += [builder.clause(clauses[position]) for position in waiting.get(node, ())]
        if parts:
            made[node] = builder.conjoin(parts)
    return made[vtree.root] if made else builder.constant(True)


def expression_register(builder: SddBuilder, expression: Expression) -> int:
    """The register of an expression, all of whose variables the builder's vtree has."""
    number = {name: i for i, name in enumerate(builder.vtree.names, start=1)}
    return fold(expression, lambda part, registers: _register(builder, part, registers, number))


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
