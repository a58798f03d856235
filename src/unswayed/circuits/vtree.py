"""Vtrees: full binary trees whose leaves are the variables of a circuit.

A vtree says how a circuit splits its variables: a decision node that respects vtree node v decides on the
variables left of v first and leaves those right of v to the rest. Its shape decides how large the circuit
becomes: a right-linear one gives ordered binary decision diagrams, a balanced one shallow circuits.

Nodes are numbered in order (left subtree, node, right subtree), so the subtree of a node is the run of
numbers from `first` to `last`, leaves have even numbers, and the k-th leaf from the left is node 2k.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from unswayed.core.arrays import Ints, read_only
from unswayed.core.errors import ModelError

NOTHING = -1
"""In place of a child, a parent or a variable that is not there."""

Nested: TypeAlias = "str | tuple[Nested, Nested]"
"""A vtree written down: a name, or a pair of vtrees."""


@dataclass(frozen=True, slots=True, eq=False)
class Vtree:
    """A full binary tree over named variables; nodes are numbered in order."""

    names: tuple[str, ...]
    """Names of the variables; a variable is its position here."""
    left: Ints = field(repr=False)  # (nodes,)
    """Left child of each node; `NOTHING` at leaves."""
    right: Ints = field(repr=False)  # (nodes,)
    """Right child of each node; `NOTHING` at leaves."""
    variable: Ints = field(repr=False)  # (nodes,)
    """The variable at each leaf; `NOTHING` inside."""
    parent: Ints = field(init=False, repr=False)  # (nodes,)
    """Parent of each node; `NOTHING` at the root."""
    first: Ints = field(init=False, repr=False)  # (nodes,)
    """Smallest number in the subtree of each node."""
    last: Ints = field(init=False, repr=False)  # (nodes,)
    """Largest number in the subtree of each node."""
    root: int = field(init=False)
    """The node above all others."""

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.names):
            raise ModelError("a vtree names a variable twice; every variable has one leaf")
        for name in ("left", "right", "variable"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), dtype=np.int64)))
        parent, first, last, root = _derive(self)
        for name, value in (("parent", parent), ("first", first), ("last", last)):
            object.__setattr__(self, name, read_only(value))
        object.__setattr__(self, "root", root)

    def __len__(self) -> int:
        """Number of nodes, one less than twice the number of variables."""
        return len(self.left)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vtree):
            return NotImplemented
        # Numbered in order, the left children alone determine the shape.
        return self.leaf_names() == other.leaf_names() and np.array_equal(self.left, other.left)

    def __hash__(self) -> int:
        return hash(self.leaf_names())

    def leaf_names(self) -> tuple[str, ...]:
        """Names of the variables from left to right."""
        return tuple(self.names[int(v)] for v in self.variable[::2])

    def is_leaf(self, node: int) -> bool:
        """Whether the node is a variable's leaf."""
        return node % 2 == 0

    def leaf_of(self, variable: int) -> int:
        """The leaf of a variable."""
        return int(np.flatnonzero(self.variable == variable)[0])

    def variables_below(self, node: int) -> tuple[int, ...]:
        """The variables in the subtree of a node, from left to right."""
        first, last = int(self.first[node]), int(self.last[node])
        return tuple(int(v) for v in self.variable[first : last + 1 : 2])

    def postorder(self) -> Iterator[int]:
        """All nodes, children before parents."""
        # A node with a larger subtree never comes before its parts when sorted by size.
        yield from (int(v) for v in np.argsort(self.last - self.first, kind="stable"))


def _derive(vtree: Vtree) -> tuple[Ints, Ints, Ints, int]:
    """Parents, ends of subtrees and the root; `ModelError` when the arrays are no tree numbered in order."""
    n_nodes = len(vtree.left)
    _check_shape(vtree, n_nodes)
    parent = np.full(n_nodes, NOTHING, dtype=np.int64)
    inner = np.arange(1, n_nodes, 2)
    children = np.concatenate([vtree.left[inner], vtree.right[inner]])
    parent[children] = np.concatenate([inner, inner])
    roots = np.flatnonzero(parent == NOTHING)
    if len(roots) != 1 or len(np.unique(children)) != len(children):
        raise ModelError(f"a vtree has one root and every other node one parent; here are {len(roots)} roots")
    first = np.arange(n_nodes, dtype=np.int64)
    last = first.copy()
    for node in _bottom_up(vtree, int(roots[0])):
        low, high = int(vtree.left[node]), int(vtree.right[node])
        if last[low] != node - 1 or first[high] != node + 1:
            raise ModelError(f"vtree node {node} is not numbered in order; use `vtree_from_nested`")
        first[node], last[node] = first[low], last[high]
    return parent, first, last, int(roots[0])


def _check_shape(vtree: Vtree, n_nodes: int) -> None:
    if n_nodes != 2 * len(vtree.names) - 1 or not len(vtree.right) == len(vtree.variable) == n_nodes:
        raise ModelError(f"a vtree over {len(vtree.names)} variables has {2 * len(vtree.names) - 1} nodes")
    inner = np.arange(n_nodes) % 2 == 1
    for children in (vtree.left, vtree.right):
        inside = (children[inner] >= 0) & (children[inner] < n_nodes)
        if not inside.all() or (children[~inner] != NOTHING).any():
            raise ModelError("in a vtree, odd nodes have two children and even ones, the leaves, none")
    if sorted(vtree.variable[~inner].tolist()) != list(range(len(vtree.names))):
        raise ModelError("every variable of a vtree has exactly one leaf")


def _bottom_up(vtree: Vtree, root: int) -> list[int]:
    """Inner nodes, children before parents; without recursion, since linear vtrees are deep."""
    found: list[int] = []
    waiting = [root]
    while waiting and len(found) <= len(vtree):
        node = waiting.pop()
        if node % 2:
            found.append(node)
            waiting += [int(vtree.left[node]), int(vtree.right[node])]
    return found[::-1]


def vtree_from_nested(nested: Nested, names: Sequence[str] | None = None) -> Vtree:
    """The vtree written as nested pairs; variables in the order of `names`, or of the leaves.

    >>> vtree_from_nested((("A", "B"), "C")).variables_below(1)
    (0, 1)
    """
    left: dict[int, int] = {}
    right: dict[int, int] = {}
    leaves: list[str] = []
    built: list[tuple[int, int]] = []  # (root, last leaf) of finished subtrees
    waiting: list[tuple[Nested, bool]] = [(nested, False)]
    while waiting:
        item, has_children = waiting.pop()
        if isinstance(item, str):
            built.append((2 * len(leaves), 2 * len(leaves)))
            leaves.append(item)
        elif has_children:
            (high, end), (low, middle) = built.pop(), built.pop()
            left[middle + 1], right[middle + 1] = low, high
            built.append((middle + 1, end))
        else:
            waiting += [(item, True), (item[1], False), (item[0], False)]
    return _number(tuple(leaves if names is None else names), leaves, left, right)


def _number(names: tuple[str, ...], leaves: list[str], left: dict[int, int], right: dict[int, int]) -> Vtree:
    if sorted(leaves) != sorted(names):
        raise ModelError(f"the leaves of the vtree are {sorted(leaves)}, the variables {sorted(names)}")
    n_nodes = 2 * len(leaves) - 1
    position = {name: i for i, name in enumerate(names)}
    children = np.full((2, n_nodes), NOTHING, dtype=np.int64)
    for row, side in enumerate((left, right)):
        children[row, list(side.keys())] = list(side.values())
    variable = np.full(n_nodes, NOTHING, dtype=np.int64)
    variable[::2] = [position[name] for name in leaves]
    return Vtree(names, children[0], children[1], variable)


def renumber(vtree: Vtree, names: Sequence[str]) -> Vtree:
    """The same vtree with its variables numbered as in `names`; variables not named follow in their order."""
    if vtree.names[: len(names)] == tuple(names):
        return vtree
    order = list(dict.fromkeys([*names, *vtree.names]))
    position = {name: i for i, name in enumerate(order)}
    variable = vtree.variable.copy()
    variable[::2] = [position[name] for name in vtree.leaf_names()]
    return Vtree(tuple(order), vtree.left, vtree.right, variable)


def to_nested(vtree: Vtree, node: int | None = None) -> Nested:
    """The vtree below a node (the root without one) as nested pairs of names."""
    made: dict[int, Nested] = {}
    start = vtree.root if node is None else node
    for leaf in range(int(vtree.first[start]), int(vtree.last[start]) + 1, 2):
        made[leaf] = vtree.names[int(vtree.variable[leaf])]
    for inner in _bottom_up(vtree, start):
        made[inner] = (made.pop(int(vtree.left[inner])), made.pop(int(vtree.right[inner])))
    return made[start]


def right_linear(order: Sequence[str], names: Sequence[str] | None = None) -> Vtree:
    """The vtree of an ordered binary decision diagram: every left child is a leaf, in the given order.

    Variables are numbered as in `names`, or in the order.

    >>> to_nested(right_linear("ABC"))
    ('A', ('B', 'C'))
    """
    return vtree_from_nested(join_right(_some(order)), order if names is None else names)


def left_linear(order: Sequence[str], names: Sequence[str] | None = None) -> Vtree:
    """The vtree whose every right child is a leaf, in the given order; `names` as in `right_linear`.

    >>> to_nested(left_linear("ABC"))
    (('A', 'B'), 'C')
    """
    nested: Nested = _some(order)[0]
    for name in order[1:]:
        nested = (nested, name)
    return vtree_from_nested(nested, order if names is None else names)


def balanced(order: Sequence[str], names: Sequence[str] | None = None) -> Vtree:
    """The vtree that halves the variables again and again, in the given order; `names` as in `right_linear`.

    >>> to_nested(balanced("ABCD"))
    (('A', 'B'), ('C', 'D'))
    """
    return vtree_from_nested(join_balanced(_some(order)), order if names is None else names)


def join_right(parts: Sequence[Nested]) -> Nested:
    """Several vtrees as one, each a left child but the last."""
    nested = parts[-1]
    for part in reversed(parts[:-1]):
        nested = (part, nested)
    return nested


def join_balanced(parts: Sequence[Nested]) -> Nested:
    """Several vtrees as one, as balanced as their number allows.

    >>> join_balanced(["A", "B", "C"])
    ('A', ('B', 'C'))
    """
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return join_balanced(parts[:middle]), join_balanced(parts[middle:])


def _some(order: Sequence[str]) -> Sequence[str]:
    if not order:
        raise ModelError("a vtree needs one variable at least")
    return order
