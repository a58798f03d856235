"""Other vtrees from a vtree: rotate, swap, move a leaf, constrain to some variables; and random ones.

All moves are functions from a vtree to a vtree. `Relinked` also says where the old nodes have gone, which
is what moving a circuit along needs (`move_leaf` in `sdd/algebra.py`).

A vtree is constrained to a set of variables when some node on its right-most path, the constrained node,
has exactly those variables outside [choi2017, Def. 4]. A circuit over it decides on them first, so each of
its nodes at the constrained node is what is left of the function after some of their instantiations.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from unswayed.circuits.vtree import (
    NOTHING,
    Nested,
    Vtree,
    balanced,
    join_right,
    right_linear,
    to_nested,
    vtree_from_nested,
)
from unswayed.core.arrays import Ints, read_only
from unswayed.core.errors import QueryError
from unswayed.core.names import unknown_name


class Side(Enum):
    """Left or right."""

    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Relinked:
    """A vtree made from another one by hanging nodes elsewhere."""

    vtree: Vtree
    """The new vtree."""
    node_by_old: Ints = field(repr=False)  # (nodes,)
    """The number that each node of the old vtree has in the new one."""


def rotate_right(vtree: Vtree, node: int) -> Vtree:
    """The vtree with ((a, b), c) at a node turned into (a, (b, c)).

    >>> from unswayed.circuits.vtree import to_nested, vtree_from_nested
    >>> to_nested(rotate_right(vtree_from_nested((("A", "B"), "C")), 3))
    ('A', ('B', 'C'))
    """
    _check_inner(vtree, node)
    low = int(vtree.left[node])
    if vtree.is_leaf(low):
        raise QueryError(f"vtree node {node} cannot be rotated right: its left child is a leaf")
    links = _Links(vtree)
    links.replace(node, low)
    links.left[node], links.right[low] = links.right[low], node
    return links.number().vtree


def rotate_left(vtree: Vtree, node: int) -> Vtree:
    """The vtree with (a, (b, c)) at a node turned into ((a, b), c); undoes `rotate_right`."""
    _check_inner(vtree, node)
    high = int(vtree.right[node])
    if vtree.is_leaf(high):
        raise QueryError(f"vtree node {node} cannot be rotated left: its right child is a leaf")
    links = _Links(vtree)
    links.replace(node, high)
    links.right[node], links.left[high] = links.left[high], node
    return links.number().vtree


def swap_children(vtree: Vtree, node: int) -> Vtree:
    """The vtree with the children of a node exchanged.

    >>> from unswayed.circuits.vtree import to_nested, vtree_from_nested
    >>> to_nested(swap_children(vtree_from_nested((("A", "B"), "C")), 3))
    ('C', ('A', 'B'))
    """
    _check_inner(vtree, node)
    links = _Links(vtree)
    links.left[node], links.right[node] = links.right[node], links.left[node]
    return links.number().vtree


def move_vtree_leaf(vtree: Vtree, name: str, beside: int, side: Side = Side.LEFT) -> Vtree:
    """The vtree with a variable's leaf taken out and put beside a node, on its left or right.

    >>> from unswayed.circuits.vtree import to_nested, vtree_from_nested
    >>> vtree = vtree_from_nested((("A", "B"), "C"))
    >>> to_nested(move_vtree_leaf(vtree, "B", vtree.leaf_of(2)))
    ('A', ('B', 'C'))
    """
    return relink_leaf(vtree, name, beside, side).vtree


def relink_leaf(vtree: Vtree, name: str, beside: int, side: Side = Side.LEFT) -> Relinked:
    """As `move_vtree_leaf`, with the new numbers of the old nodes; the leaf's parent goes with the leaf."""
    if name not in vtree.names:
        raise QueryError(unknown_name("variable", name, vtree.names))
    _check_node(vtree, beside)
    leaf = vtree.leaf_of(vtree.names.index(name))
    if beside == leaf:
        raise QueryError(f"the leaf of {name!r} cannot be moved beside itself")
    links = _Links(vtree)
    parent = int(vtree.parent[leaf])
    sibling = int(vtree.left[parent] + vtree.right[parent] - leaf)
    links.replace(parent, sibling)
    links.left[parent] = links.right[parent] = NOTHING
    neighbour = sibling if beside == parent else beside
    links.replace(neighbour, parent)
    pair = (leaf, neighbour) if side is Side.LEFT else (neighbour, leaf)
    links.left[parent], links.right[parent] = pair
    return links.number()


class _Links:
    """The children of a vtree's nodes, open to change."""

    def __init__(self, vtree: Vtree) -> None:
        self.vtree = vtree
        self.root = vtree.root
        self.left = vtree.left.tolist()
        self.right = vtree.right.tolist()

    def replace(self, old: int, new: int) -> None:
        """Put a node in the place of another, which hangs nowhere then."""
        if old == self.root:
            self.root = new
            return
        # The parents change with every move, so they are looked up; a vtree has few nodes.
        for children in (self.left, self.right):
            if old in children:
                children[children.index(old)] = new
                return

    def number(self) -> Relinked:
        """The vtree of the links, numbered in order."""
        order: list[int] = []
        waiting = [(self.root, False)]
        while waiting:
            node, is_open = waiting.pop()
            if is_open or self.left[node] == NOTHING:
                order.append(node)
            else:
                waiting += [(self.right[node], False), (node, True), (self.left[node], False)]
        number = np.empty(len(order) + 1, dtype=np.int64)
        number[order] = np.arange(len(order))
        number[NOTHING] = NOTHING  # so that a missing child stays missing
        left, right = (number[np.array(children)[order]] for children in (self.left, self.right))
        vtree = Vtree(self.vtree.names, left, right, self.vtree.variable[order])
        return Relinked(vtree, read_only(number[:-1]))


def _check_node(vtree: Vtree, node: int) -> None:
    if not 0 <= node < len(vtree):
        raise QueryError(f"{node} is no node of the vtree, whose nodes are 0 to {len(vtree) - 1}")


def _check_inner(vtree: Vtree, node: int) -> None:
    _check_node(vtree, node)
    if vtree.is_leaf(node):
        raise QueryError(f"vtree node {node} is a leaf and has no children to move")


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
    return vtree_from_nested(join_right([*spine, to_nested(rest)]), names)


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
            vtree = move_vtree_leaf(vtree, name, vtree.root)
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
    """A vtree with leaves in a random order, neighbours joined at random until one is left."""
    if not names:
        raise QueryError("a vtree needs one variable at least")
    parts: list[Nested] = [names[int(i)] for i in rng.permutation(len(names))]
    while len(parts) > 1:
        place = int(rng.integers(len(parts) - 1))
        parts[place : place + 2] = [(parts[place], parts[place + 1])]
    return vtree_from_nested(parts[0], names)
