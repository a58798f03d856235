"""Zero-suppressed decision diagrams: sets of sets, counted, searched, and turned into circuits.

A diagram decides one element after another, low (left out) or high (taken); elements that are skipped are
left out. Nodes 0 and 1 are the empty set of sets and the set of the empty set; children come before
parents. Reduced, a diagram is unique for its order of elements, and its nodes whose low child is not 0 are
the free parameters of a distribution over the sets [choi2016, Case Study: Detecting Anomalous Paths].

The circuit of a diagram is normalised for a right-linear vtree: on every level, a node decides on that
level's element and its children are on the next level. So where the diagram skips elements, the circuit has
a chain of nodes that leave them out, one for each level, shared by all parents. A circuit node is thus a
diagram node together with a level; for a diagram node the levels run from the highest one it is reached on,
its *top*, down to its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from unswayed.circuits.psdd.structure import StructureWriter
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.vtree import NOTHING, right_linear
from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Bools, Ints, read_only
from unswayed.spaces.space import Coding, Object, Space

_BYTES_PER_NODE = 280.0
"""Measured while circuits of grids of 9 x 9 and 10 x 10 nodes are written: 256 for each circuit node."""


@dataclass(frozen=True, slots=True, eq=False)
class Diagram:
    """A set of subsets of `n_elements` elements."""

    n_elements: int
    """How many elements are decided on, in order."""
    level: Ints = field(repr=False)  # (nodes,)
    """The element each node decides on; `n_elements` at nodes 0 and 1."""
    low: Ints = field(repr=False)  # (nodes,)
    """Where to go on without the element; nodes 0 and 1 are their own children."""
    high: Ints = field(repr=False)  # (nodes,)
    """Where to go on with it; never 0."""
    root: int
    """The node of the whole set."""

    def __post_init__(self) -> None:
        for name in ("level", "low", "high"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_nodes(self) -> int:
        """Decision nodes."""
        return len(self.level) - 2

    @property
    def n_parameters(self) -> int:
        """Decision nodes at which both ways are open."""
        return int(np.count_nonzero(self.low[2:]))


def reduced(levels: Sequence[Ints]) -> Diagram:
    """The reduced diagram of levels of nodes, each with its children without and with an element.

    Children are 0, 1 or 2 + the number of a node on the next level; the first level has one node.

    >>> level = np.array([[1], [1]])          # both with and without the only element
    >>> reduced([level]).n_nodes
    1
    """
    return reduce_shared(levels)[0]


def reduce_shared(levels: Sequence[Ints]) -> tuple[Diagram, Ints]:
    """The same where the first level has several nodes: one diagram that all share, and the root of each."""
    n_levels = len(levels)
    level, low, high = [np.full(2, n_levels)], [np.arange(2)], [np.arange(2)]
    n_nodes = 2
    number = np.arange(2)  # of 0, 1 and the nodes of the level below
    for element in range(n_levels - 1, -1, -1):
        lows, highs = number[levels[element][0]], number[levels[element][1]]
        alive = np.flatnonzero(highs)
        pairs, which = np.unique((lows[alive] << 32) | highs[alive], return_inverse=True)
        number = np.concatenate([np.arange(2), lows])  # a node whose high child is 0 is its low child
        number[2 + alive] = n_nodes + which
        level.append(np.full(len(pairs), element))
        low.append(pairs >> 32)
        high.append(pairs & 0xFFFFFFFF)
        n_nodes += len(pairs)
    joined = [np.concatenate(parts).astype(np.int64) for parts in (level, low, high)]
    roots = number[2:]
    return Diagram(n_levels, joined[0], joined[1], joined[2], int(roots[0]) if len(roots) else 0), roots


def count_sets(diagram: Diagram) -> int:
    """Number of sets, exact however large."""
    return count_below(diagram)[diagram.root]


def count_below(diagram: Diagram) -> list[int]:  # (nodes,)
    """Number of sets of each node."""
    counts = [0, 1]
    for low, high in zip(diagram.low[2:].tolist(), diagram.high[2:].tolist(), strict=True):
        counts.append(counts[low] + counts[high])
    return counts


def holds(diagram: Diagram, rows: Bools) -> Bools:
    """Whether each row, columns in the order of the elements, is one of the sets."""
    node = np.full(len(rows), diagram.root, dtype=np.int64)
    for element in range(diagram.n_elements):
        here = diagram.level[node] == element
        chosen = rows[:, element]
        step = np.where(chosen, diagram.high[node], diagram.low[node])
        # An element that is taken where the diagram skips it is in none of the sets.
        node = np.where(here, step, np.where(chosen, 0, node))
    found: Bools = node == 1
    return found


class _Layout(NamedTuple):
    """The circuit nodes that decide, those of one diagram node side by side from its top downwards."""

    top: Ints  # (diagram nodes,)
    begin: Ints  # (diagram nodes,)
    level: Ints  # (circuit nodes,)
    low: Ints  # (circuit nodes,) the diagram node where it goes on without the element of its level
    high: Ints  # (circuit nodes,) the same with it
    inner: Ints  # circuit nodes above the last level, children before parents

    def below(self, children: Ints, number: Ints) -> Ints:
        """The numbers of diagram nodes one level below each inner node; 0 where there is none."""
        places = self.begin[children] + self.level[self.inner] + 1 - self.top[children]
        return np.where(children == 0, 0, number[np.where(children == 0, 0, places)])


def diagram_space(
    description: str, diagram: Diagram, names: Sequence[str], coding: Coding[Object]
) -> Space[Object]:
    """The space of the sets in a diagram; `LimitError` when its circuit would take too much memory."""
    n_nodes = int(_lengths(diagram, _tops(diagram, np.array([diagram.root]))).sum())
    check_bytes(_BYTES_PER_NODE * n_nodes, f"the circuit of {description}, of {n_nodes:,} nodes,")
    make = partial(circuit_of, diagram, tuple(names))
    return Space(description, count_sets(diagram), right_linear(names), coding, make)


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
    layout = _laid_out(diagram, np.array([diagram.root]))
    inner = layout.inner
    number = _leaf_numbers(layout.high, layout.low, n)
    number[inner] = 3 * n + 2 + np.arange(len(inner))
    subs = np.stack([layout.below(children[inner], number) for children in (layout.high, layout.low)])
    return _assembled(names, layout.level[inner], subs, int(number[layout.begin[diagram.root]]))


def write_diagram(writer: StructureWriter, diagram: Diagram, roots: Ints, first: int) -> Ints:  # (roots,)
    """Write the sets of several roots, none of them node 0, as nodes of a structure, and give the nodes.

    The elements are the variables of the vtree from `first` on, and its subtree of them is right-linear.
    """
    layout = _laid_out(diagram, roots)
    low, high, inner = layout.low, layout.high, layout.inner
    last = first + diagram.n_elements - 1
    taken, left_out = writer.literal(last, 1), writer.literal(last, 0)
    free = writer.add_node(2 * last, [(left_out, 0), (taken, 0)]) if ((low == 1) & (high == 1)).any() else 0
    number = np.where(high == 0, left_out, np.where(low == 0, taken, free))
    variable = first + layout.level[inner]
    number[inner] = writer.n_nodes + np.arange(len(inner))
    is_open = np.stack([low[inner] > 0, high[inner] > 0], axis=1)
    lefts = np.stack([writer.literal(variable, 0), writer.literal(variable, 1)], axis=1)
    rights = np.stack([layout.below(children[inner], number) for children in (low, high)], axis=1)
    writer.add(2 * variable + 1, is_open.sum(axis=1), lefts[is_open], rights[is_open])
    numbers: Ints = number[layout.begin[roots]]
    return numbers


def _laid_out(diagram: Diagram, roots: Ints) -> _Layout:
    top = _tops(diagram, roots)
    length = _lengths(diagram, top)
    begin = np.cumsum(length) - length
    source = np.repeat(np.arange(len(top)), length)
    level = np.arange(len(source)) - begin[source] + top[source]
    own = level == diagram.level[source]
    low, high = np.where(own, diagram.low[source], source), np.where(own, diagram.high[source], 0)
    inner = np.flatnonzero(level < diagram.n_elements - 1)
    return _Layout(top, begin, level, low, high, inner[np.argsort(-level[inner], kind="stable")])


def _tops(diagram: Diagram, roots: Ints) -> Ints:  # (diagram nodes,)
    """The highest level each node is reached on."""
    top = np.full(len(diagram.level), diagram.n_elements, dtype=np.int64)
    for children in (diagram.low[2:], diagram.high[2:]):
        np.minimum.at(top, children, diagram.level[2:] + 1)
    top[roots] = 0
    return top


def _lengths(diagram: Diagram, top: Ints) -> Ints:  # (diagram nodes,)
    """How many circuit nodes each diagram node becomes."""
    length = diagram.level - top + 1
    length[0] = 0
    length[1] = diagram.n_elements - top[1]  # node 1 itself decides on nothing
    return length


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
