"""Vtrees constrained to a set of variables, and vtrees at random.

A vtree is constrained to a set of variables when some node on its right-most path, the constrained node,
has exactly those variables outside [choi2017, Def. 4]. A circuit over it decides on them first, so each of
its nodes at the constrained node is what is left of the function after some of their instantiations.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from unswayed.circuits.vtree import (
    NOTHING,
    Nested,
    Vtree,
    balanced,
    right_linear,
    to_nested,
    vtree_from_nested,
)
from unswayed.circuits.vtree_moves import moved_leaf
from unswayed.core.errors import QueryError
from unswayed.core.names import unknown_name


def constrained(
    spine: Sequence[str], rest: Vtree | Sequence[str] = (), names: Sequence[str] | None = None
) -> Vtree:
    """A vtree constrained to the variables of the spine [choi2017, Def. 4].

    They are left children along the right-most path, the first at the root; the rest, a vtree or names for
    a balanced one, hangs at its end. Variables are numbered as in `names`, or from left to right.

    >>> to_nested(constrained("AB", ["C", "D"]))
    ('A', ('B', ('C', 'D')))
    """
    if not isinstance(rest, Vtree):
        if not rest:
            return right_linear(spine, names)
        rest = balanced(rest)
    nested: Nested = to_nested(rest)
    for name in reversed(spine):
        nested = (name, nested)
    return vtree_from_nested(nested, names)


def constrain(vtree: Vtree, spine: Sequence[str]) -> Vtree:
    """The vtree with some leaves moved to the spine, in the order given; the others keep their shape.

    >>> to_nested(constrain(balanced("ABCD"), "C"))
    ('C', (('A', 'B'), 'D'))
    """
    if len(set(spine)) != len(spine):
        raise QueryError("a variable is named twice for the spine of a vtree")
    for name in reversed(spine):
        if name not in vtree.names:
            raise QueryError(unknown_name("variable", name, vtree.names))
        if len(vtree) > 1:
            vtree = moved_leaf(vtree, name, vtree.root)
    return vtree


def constrained_node(vtree: Vtree, names: Collection[str]) -> int | None:
    """The node on the right-most path outside of which are exactly the named variables; None without one.

    >>> constrained_node(constrained("AB", ["C", "D"]), {"A", "B"})
    5
    """
    wanted = {vtree.names.index(name) for name in names if name in vtree.names}
    node, outside = vtree.root, set[int]()
    while outside != wanted and not vtree.is_leaf(node):
        outside.update(vtree.variables_below(int(vtree.left[node])))
        node = int(vtree.right[node])
    return node if outside == wanted and len(wanted) == len(set(names)) else None


def random_vtree(names: Sequence[str], rng: np.random.Generator) -> Vtree:
    """A vtree with leaves in a random order, every node split at a random place."""
    if not names:
        raise QueryError("a vtree needs one variable at least")
    leaves = [names[int(i)] for i in rng.permutation(len(names))]
    n_nodes = 2 * len(leaves) - 1
    children = np.full((2, n_nodes), NOTHING, dtype=np.int64)
    waiting = [(0, len(leaves))]
    middle_of: dict[tuple[int, int], int] = {}
    while waiting:
        start, end = waiting.pop()
        if end - start > 1:
            middle = middle_of[start, end] = int(rng.integers(start + 1, end))
            waiting += [(start, middle), (middle, end)]
    for (start, end), middle in middle_of.items():
        node = 2 * middle - 1
        children[0, node] = _top(start, middle, middle_of)
        children[1, node] = _top(middle, end, middle_of)
    variable = np.full(n_nodes, NOTHING, dtype=np.int64)
    variable[::2] = [names.index(name) for name in leaves]
    return Vtree(tuple(names), children[0], children[1], variable)


def _top(start: int, end: int, middle_of: dict[tuple[int, int], int]) -> int:
    """The node above the leaves from one to before another."""
    return 2 * start if end - start == 1 else 2 * middle_of[start, end] - 1
