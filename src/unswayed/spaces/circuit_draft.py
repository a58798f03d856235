"""A circuit while it is written node by node, equal nodes once; dies when the frozen circuit is made."""

from __future__ import annotations

from itertools import chain

import numpy as np

from unswayed.circuits.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.vtree import NOTHING, Vtree


class CircuitDraft:
    """Nodes of a circuit that is normalised for its vtree; children are added before their parents."""

    def __init__(self, vtree: Vtree) -> None:
        self._vtree = vtree
        self._kind = [FALSE, TRUE]
        self._vtree_node = [NOTHING, NOTHING]
        self._literal = [0, 0]
        self._elements: list[tuple[tuple[int, int], ...]] = [(), ()]
        self._known: dict[object, int] = {}

    def literal(self, leaf: int, *, positive: bool) -> int:
        """The node of the variable at a leaf of the vtree, or of its negation."""
        variable = 1 + int(self._vtree.variable[leaf])
        return self._node(LITERAL, leaf, literal=variable if positive else -variable)

    def true(self, vtree_node: int) -> int:
        """The node that leaves every variable below a vtree node free."""
        found = self._known.get((TRUE, vtree_node))
        if found is not None:
            return found
        if self._vtree.is_leaf(vtree_node):
            return self._node(TRUE, vtree_node)
        left, right = int(self._vtree.left[vtree_node]), int(self._vtree.right[vtree_node])
        number = self.decision(vtree_node, ((self.true(left), self.true(right)),))
        self._known[(TRUE, vtree_node)] = number
        return number

    def decision(self, vtree_node: int, elements: tuple[tuple[int, int], ...]) -> int:
        """The node with these primes and subs."""
        return self._node(DECISION, vtree_node, elements=elements)

    def _node(
        self, kind: int, vtree_node: int, *, literal: int = 0, elements: tuple[tuple[int, int], ...] = ()
    ) -> int:
        key = (kind, vtree_node, literal, elements)
        number = self._known.setdefault(key, len(self._kind))
        if number == len(self._kind):
            self._kind.append(kind)
            self._vtree_node.append(vtree_node)
            self._literal.append(literal)
            self._elements.append(elements)
        return number

    def finished(self, root: int) -> Sdd:
        """The circuit of everything added, with this root."""
        pairs = np.array(list(chain.from_iterable(self._elements)), dtype=np.int64).reshape(-1, 2)
        counts = np.array([len(each) for each in self._elements])
        return Sdd(
            self._vtree,
            kind=np.array(self._kind),
            vtree_node=np.array(self._vtree_node),
            literal=np.array(self._literal),
            starts=np.concatenate([[0], np.cumsum(counts)]),
            primes=pairs[:, 0].copy(),
            subs=pairs[:, 1].copy(),
            root=root,
        )
