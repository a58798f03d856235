"""From zero-suppressed diagrams to circuits on right-linear vtrees.

The circuit is normalised for its vtree [choi2016, Case Study: Detecting Anomalous Paths]: on every level,
a node decides on that level's element and its children are on the next level. So where the diagram skips
elements, the circuit has a chain of nodes that leave them out, one for each level, shared by all parents.
A circuit node is thus a diagram node together with a level; for a diagram node the levels run from the
highest one it is reached on, its *top*, down to its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unswayed.circuits.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.vtree import NOTHING, right_linear
from unswayed.core.arrays import Ints
from unswayed.spaces.zdd import Diagram


class _Layout(NamedTuple):
    """The circuit nodes that decide, those of one diagram node side by side from its top downwards."""

    top: Ints  # (diagram nodes,)
    begin: Ints  # (diagram nodes,)
    source: Ints  # (circuit nodes,) the diagram node
    level: Ints  # (circuit nodes,)


def circuit_of(diagram: Diagram, names: Sequence[str]) -> Sdd:
    """The diagram as a circuit over the right-linear vtree of `names`, in the order of the elements.

    >>> from unswayed.spaces.zdd import reduced
    >>> one_of_two = reduced([np.array([[2], [3]]), np.array([[0, 1], [1, 0]])])
    >>> circuit_of(one_of_two, ["A", "B"]).n_elements
    2
    """
    n = diagram.n_elements
    if diagram.root == 0:
        return _assembled(names, np.zeros(0, np.int64), np.zeros((2, 0), np.int64), FALSE)
    layout = _laid_out(diagram)
    own = layout.level == diagram.level[layout.source]
    high = np.where(own, diagram.high[layout.source], 0)
    low = np.where(own, diagram.low[layout.source], layout.source)
    inner = np.flatnonzero(layout.level < n - 1)
    inner = inner[np.argsort(-layout.level[inner], kind="stable")]  # children before parents
    number = _leaf_numbers(high, low, n)
    number[inner] = 3 * n + 2 + np.arange(len(inner))

    def below(children: Ints) -> Ints:
        places = layout.begin[children] + layout.level[inner] + 1 - layout.top[children]
        return np.where(children == 0, FALSE, number[np.where(children == 0, 0, places)])

    subs = np.stack([below(high[inner]), below(low[inner])])
    return _assembled(names, layout.level[inner], subs, int(number[layout.begin[diagram.root]]))


def _laid_out(diagram: Diagram) -> _Layout:
    top = np.full(len(diagram.level), diagram.n_elements, dtype=np.int64)
    for children in (diagram.low[2:], diagram.high[2:]):
        np.minimum.at(top, children, diagram.level[2:] + 1)
    top[diagram.root] = 0
    length = diagram.level - top + 1
    length[0] = 0
    length[1] = diagram.n_elements - top[1]  # node 1 itself decides on nothing
    begin = np.cumsum(length) - length
    source = np.repeat(np.arange(len(top)), length)
    level = np.arange(len(source)) - begin[source] + top[source]
    return _Layout(top, begin, source, level)


def _leaf_numbers(high: Ints, low: Ints, n: int) -> Ints:
    """Numbers as nodes on the last level have them: a literal, or true where both ways are open."""
    positive, negative, free = 3 * n - 1, 3 * n, 3 * n + 1
    return np.where(high == 0, negative, np.where(low == 0, positive, free))


def _assembled(names: Sequence[str], level: Ints, subs: Ints, root: int) -> Sdd:
    """The circuit of decision nodes on `level` with subs where the element is taken and left out.

    Nodes are numbered: constants, three for each element (taken, left out, free), decision nodes. Those
    that the root does not need are dropped. Where both subs are the same the element is free, so that
    the circuit is compressed.
    """
    n = len(names)
    element = np.arange(n)
    literals = np.stack([element + 1, -element - 1, 0 * element], axis=1).ravel()
    leaf_kinds = np.tile([LITERAL, LITERAL, TRUE], n)
    kind = np.concatenate([[FALSE, TRUE], leaf_kinds, np.full(len(level), DECISION)])
    literal = np.concatenate([[0, 0], literals, np.zeros(len(level), np.int64)])
    vtree_node = np.concatenate([[NOTHING, NOTHING], np.repeat(2 * element, 3), 2 * level + 1])
    is_free = subs[0] == subs[1]
    primes = np.stack([2 + 3 * level + 2 * is_free, 3 + 3 * level])
    used = np.stack([np.ones(len(level), dtype=np.bool_), ~is_free])
    kept = np.zeros(len(kind), dtype=np.bool_)
    kept[[FALSE, TRUE, root]] = True
    kept[primes[used]] = True
    kept[subs[used]] = True
    number = np.cumsum(kept) - 1
    n_elements = np.concatenate([np.zeros(3 * n + 2, np.int64), used.sum(axis=0)])
    return Sdd(
        right_linear(names),
        kind=kind[kept],
        vtree_node=vtree_node[kept],
        literal=literal[kept],
        starts=np.concatenate([[0], np.cumsum(n_elements[kept])]),
        primes=number[primes].T[used.T],
        subs=number[subs].T[used.T],
        root=int(number[root]),
    )
