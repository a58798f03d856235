"""What can be done with circuits: join, negate, condition, forget, compare, give another vtree.

Results are canonical for their vtree. Small circuits are joined in this process, large ones in a worker
process over libsdd when PySDD is installed; see `libsdd/builder.py`. A chain of operations on large
circuits is best written to an `SddBuilder`, which runs them all in one go.

To move a leaf, the function is conditioned on its variable both ways. Neither half mentions it, so no node
of theirs belongs to the leaf or its parent, and both are circuits over the new vtree as they are, but for
numbers. There they are joined again: f = (x and f|x) or (not x and f|not x). Beside the root this is one
node with two elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral

import numpy as np

from unswayed.circuits.libsdd.builder import SddBuilder
from unswayed.circuits.libsdd.program import Progress
from unswayed.circuits.sdd.apply import FunctionTable, canonical, elements_of, load
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.vtree import Vtree
from unswayed.circuits.vtree_moves import Relinked, Side, relink_leaf
from unswayed.core.errors import QueryError, expect
from unswayed.core.names import unknown_name

__all__ = [
    "canonical",
    "condition",
    "conjoin",
    "constant",
    "disjoin",
    "forget",
    "implies",
    "is_equivalent",
    "literal",
    "negate",
    "over_vtree",
]


def constant(vtree: Vtree, value: bool) -> Sdd:
    """The circuit that always holds, or never."""
    return FunctionTable(vtree).export(TRUE if value else FALSE)


def literal(vtree: Vtree, name: str, value: bool = True) -> Sdd:
    """The circuit that holds where a variable has a value."""
    table = FunctionTable(vtree)
    return table.export(table.literal(_to_literal(vtree, name, value)))


def conjoin(
    *circuits: Sdd,
) -> Sdd:
    """The circuit that holds where all of some circuits over one vtree do.

    >>> from unswayed.circuits.sdd.evaluate import model_count
    >>> from unswayed.circuits.vtree import balanced
    >>> vtree = balanced("ABC")
    >>> model_count(conjoin(literal(vtree, "A"), literal(vtree, "B", False)))
    2
    """
    return _combine(circuits, lambda builder, loaded: builder.conjoin(loaded))


def disjoin(
    *circuits: Sdd,
) -> Sdd:
    """The circuit that holds where one at least of some circuits over one vtree does."""
    return _combine(circuits, lambda builder, loaded: builder.disjoin(loaded))


def negate(sdd: Sdd) -> Sdd:
    """The circuit that holds where another does not."""
    return _combine((sdd,), lambda builder, loaded: builder.negate(loaded[0]))


def condition(sdd: Sdd, evidence: Mapping[str, bool]) -> Sdd:
    """What is left of a circuit where variables have the values given; it does not mention them any more."""
    expect(sdd, Sdd, "the circuit")
    expect(evidence, Mapping, "the evidence")
    literals = [_to_literal(sdd.vtree, name, value) for name, value in evidence.items()]
    return _combine((sdd,), lambda builder, loaded: builder.condition(loaded[0], literals))


def forget(sdd: Sdd, names: Iterable[str]) -> Sdd:
    """The circuit that holds where some values of the named variables make another hold."""
    variables = [_to_literal(sdd.vtree, name, True) - 1 for name in names]
    return _combine((sdd,), lambda builder, loaded: builder.forget(loaded[0], variables))


def is_equivalent(a: Sdd, b: Sdd) -> bool:
    """Whether two circuits over one vtree hold for the same assignments."""
    _check_vtrees((a, b))
    table = FunctionTable(a.vtree)
    return load(table, a) == load(table, b)


def implies(a: Sdd, b: Sdd) -> bool:
    """Whether one circuit holds wherever another over the same vtree does."""
    both = _combine((a, b), lambda builder, loaded: builder.conjoin([loaded[0], builder.negate(loaded[1])]))
    return both.root == FALSE


def over_vtree(sdd: Sdd, vtree: Vtree) -> Sdd:
    """The circuit of the same function over another vtree with the same variables.

    Made anew, node by node, as disjunctions of conjunctions: right for every vtree, quick for a good one.
    """
    if sorted(vtree.names) != sorted(sdd.names):
        odd = sorted(set(vtree.names) ^ set(sdd.names))
        raise QueryError(
            f"the circuit and the vtree have different variables: only one of them has {odd[:5]}"
        )
    builder = SddBuilder(vtree)
    position = {name: i for i, name in enumerate(vtree.names, start=1)}
    registers = [builder.constant(False), builder.constant(True)]
    for node, elements in enumerate(elements_of(sdd)[2:], start=2):
        if sdd.kind[node] == LITERAL:
            signed = int(sdd.literal[node])
            variable = position[sdd.names[abs(signed) - 1]]
            registers.append(builder.literal(variable if signed > 0 else -variable))
        elif sdd.kind[node] == DECISION:
            parts = [builder.conjoin([registers[p], registers[s]]) for p, s in elements]
            registers.append(builder.disjoin(parts))
        else:
            registers.append(registers[int(sdd.kind[node])])
    return builder.build([registers[sdd.root]])[0]


def _combine(circuits: tuple[Sdd, ...], combine: Callable[[SddBuilder, list[int]], int]) -> Sdd:
    """The circuit that a builder makes of some circuits over one vtree."""
    _check_vtrees(circuits)
    builder = SddBuilder(circuits[0].vtree)
    register = combine(builder, [builder.load(sdd) for sdd in circuits])
    return builder.build([register])[0]


def _check_vtrees(circuits: tuple[Sdd, ...]) -> None:
    if not circuits:
        raise QueryError("there is nothing to join; give one circuit at least")
    if any(sdd.vtree != circuits[0].vtree for sdd in circuits[1:]):
        raise QueryError("the circuits have different vtrees; bring them over one with `over_vtree` first")


def _to_literal(vtree: Vtree, name: str, value: bool) -> int:
    if name not in vtree.names:
        raise QueryError(unknown_name("variable", name, vtree.names))
    # Anything else would be taken for true or false by chance: "no" and NaN are true to Python.
    if not isinstance(value, bool | np.bool_ | Integral) or value not in (0, 1):
        raise QueryError(f"{name!r} is said to be {value!r}; a variable of a circuit is True or False")
    position = vtree.names.index(name) + 1
    return position if value else -position


def move_leaf(sdd: Sdd, name: str, beside: int, side: Side = Side.LEFT) -> Sdd:
    """The circuit of the same function over the vtree with a leaf moved beside a node (`move_vtree_leaf`).

    Cost: that of conditioning twice and of joining once; the join is short beside a node of the right-most
    path.

    >>> from unswayed.circuits.sdd.algebra import literal
    >>> from unswayed.circuits.vtree import balanced, to_nested
    >>> sdd = literal(balanced("ABC"), "C")
    >>> to_nested(move_leaf(sdd, "C", sdd.vtree.root).vtree)
    ('C', ('A', 'B'))
    """
    relinked = relink_leaf(sdd.vtree, name, beside, side)
    literal = sdd.names.index(name) + 1
    before = SddBuilder(sdd.vtree)
    whole = before.load(sdd)
    halves = before.build([before.condition(whole, [literal]), before.condition(whole, [-literal])])
    after = SddBuilder(relinked.vtree)
    positive, negative = (after.load(_relabel(half, relinked)) for half in halves)
    joined = after.disjoin(
        [
            after.conjoin([after.literal(literal), positive]),
            after.conjoin([after.literal(-literal), negative]),
        ]
    )
    return after.build([joined])[0]


def _relabel(sdd: Sdd, relinked: Relinked) -> Sdd:
    """The same nodes over the new vtree; left stays left, and right stays right."""
    place = sdd.vtree_node.copy()
    placed = sdd.kind >= LITERAL
    place[placed] = relinked.node_by_old[place[placed]]
    return Sdd(relinked.vtree, sdd.kind, place, sdd.literal, sdd.starts, sdd.primes, sdd.subs, sdd.root)


def minimize(sdd: Sdd, *, seconds: int = 10, progress: Progress | None = None) -> Sdd:
    """The circuit over the best vtree found in about so many seconds; never larger than the one given.

    The variables keep their numbers. Needs PySDD (the extra `circuits`). The search looks at the
    clock between its moves, so it may take somewhat longer; `limits` are hard.
    """
    builder = SddBuilder(sdd.vtree)
    register = builder.load(sdd)
    builder.minimize(seconds)
    (found,) = builder.build([register], progress=progress)
    return found if found.n_elements < sdd.n_elements else sdd
