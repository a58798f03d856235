"""Circuits into a table of functions, and out of it again as the one canonical circuit."""

from __future__ import annotations

from unswayed.circuits.sdd.apply import compressed
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.sdd.table import FunctionTable, elements_of
from unswayed.core.limits import DEFAULT_LIMITS, Limits


def load(table: FunctionTable, sdd: Sdd) -> int:
    """The number of a circuit's function. The vtrees have to be equal; the circuit need not be canonical."""
    places, kinds = sdd.vtree_node.tolist(), sdd.kind.tolist()
    variables, literals = table.vtree.variable.tolist(), sdd.literal.tolist()
    numbers = [FALSE, TRUE]
    for node, elements in enumerate(elements_of(sdd)[2:], start=2):
        if kinds[node] == LITERAL:
            # By its leaf, since equal vtrees may number their variables differently.
            variable = variables[places[node]] + 1
            numbers.append(table.literal(variable if literals[node] > 0 else -variable))
        elif kinds[node] == DECISION:
            pairs = [(numbers[p], numbers[s]) for p, s in elements]
            numbers.append(table.run(compressed(table, places[node], pairs)))
        else:
            numbers.append(kinds[node])
    return numbers[sdd.root]


def canonical(sdd: Sdd, *, limits: Limits = DEFAULT_LIMITS) -> Sdd:
    """The compressed and trimmed circuit of the same function over the same vtree; there is only one."""
    table = FunctionTable(sdd.vtree, limits=limits)
    return table.export(load(table, sdd))
