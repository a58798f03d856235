"""The models of a circuit one after another.

A circuit is followed from the root: at each decision node an element is chosen, and prime and sub are
followed in turn. Every choice left open is a branch to come back to. In a canonical circuit no branch ends
in vain, so the time between two models is at most that of following the circuit down once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.sdd.table import elements_of


class _Todo(NamedTuple):
    """A node still to follow as seen from a vtree node, and the rest; shared between branches."""

    node: int
    place: int
    rest: _Todo | None


class _Chosen(NamedTuple):
    """A literal chosen, and those before it; shared between branches."""

    literal: int
    rest: _Chosen | None


_Branch = tuple[_Todo | None, _Chosen | None]


def models(sdd: Sdd) -> Iterator[tuple[bool, ...]]:
    """All models, each the values of the variables in the order of `sdd.names`; in no particular order.

    >>> from unswayed.circuits.formulas.expressions import variables
    >>> from unswayed.circuits.formulas.compile import compile_formula
    >>> rain, wet = variables("rain", "wet")
    >>> sorted(models(compile_formula(rain >> wet)))
    [(False, False), (False, True), (True, True)]
    """
    walk = _Walk(sdd)
    branches: list[_Branch] = [(_Todo(sdd.root, sdd.vtree.root, None), None)]
    while branches:
        todo, chosen = branches.pop()
        if todo is None:
            yield _values(chosen, len(sdd.names))
        else:
            branches += walk.followed(todo, chosen)


def _values(chosen: _Chosen | None, n_variables: int) -> tuple[bool, ...]:
    values = [False] * n_variables
    while chosen is not None:
        values[abs(chosen.literal) - 1] = chosen.literal > 0
        chosen = chosen.rest
    return tuple(values)


class _Walk:
    """A circuit as plain lists, which are quicker to look up than arrays."""

    def __init__(self, sdd: Sdd) -> None:
        self.kind, self.place = sdd.kind.tolist(), sdd.vtree_node.tolist()
        self.literal, self.elements = sdd.literal.tolist(), elements_of(sdd)
        self.left, self.right = sdd.vtree.left.tolist(), sdd.vtree.right.tolist()
        self.variable = sdd.vtree.variable.tolist()

    def followed(self, todo: _Todo, chosen: _Chosen | None) -> list[_Branch]:
        """The branches after the first thing to do is done."""
        node, place, rest = todo
        kind = self.kind[node]
        if kind == FALSE:
            return []
        if place % 2 == 0:
            number = self.variable[place] + 1
            literals = [self.literal[node]] if kind == LITERAL else [number, -number]
            return [(rest, _Chosen(literal, chosen)) for literal in literals]
        left, right = self.left[place], self.right[place]
        if kind == DECISION and self.place[node] == place:
            pairs = [(prime, sub) for prime, sub in self.elements[node] if sub != FALSE]
        elif kind == TRUE:
            pairs = [(TRUE, TRUE)]
        else:  # a node from further down; the other side is free
            pairs = [(node, TRUE)] if self.place[node] < place else [(TRUE, node)]
        return [(_Todo(prime, left, _Todo(sub, right, rest)), chosen) for prime, sub in pairs]
