"""Zero-suppressed decision diagrams: sets of sets, counted and looked up.

A diagram decides one element after another, low (left out) or high (taken); elements that are skipped are
left out. Nodes 0 and 1 are the empty set of sets and the set of the empty set; children come before
parents. Reduced, a diagram is unique for its order of elements, and its nodes whose low child is not 0 are
the free parameters of a distribution over the sets [choi2016, Case Study: Detecting Anomalous Paths].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.arrays import Bools, Ints, read_only


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


def reduced(levels: Sequence[Ints], root: int = 2) -> Diagram:
    """The reduced diagram of levels of nodes, each with its children without and with an element.

    Children are 0, 1 or 2 + the number of a node on the next level; the first level has one node, unless
    `root` is 0 or 1.

    >>> level = np.array([[1], [1]])          # both with and without the only element
    >>> reduced([level]).n_nodes
    1
    """
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
    return Diagram(n_levels, joined[0], joined[1], joined[2], int(number[root]))


def count_sets(diagram: Diagram) -> int:
    """Number of sets, exact however large."""
    counts = [0, 1]
    for low, high in zip(diagram.low[2:].tolist(), diagram.high[2:].tolist(), strict=True):
        counts.append(counts[low] + counts[high])
    return counts[diagram.root]


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
