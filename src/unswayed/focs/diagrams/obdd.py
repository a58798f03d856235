"""Ordered decision diagrams with several terminals, as flat arrays.

A diagram over n two-state inputs asks for them in a fixed order. Nodes are numbered children first:
terminals 0 to k - 1, one for each context, then inner nodes. Diagrams here are reduced: no node has equal
children and no two nodes are equal, so one function in one order has one diagram, up to the numbering within
a level.

The second half of the file makes one of any node of a network: a diagram over its parents, with a column for
each terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Floats, Ints, read_only
from unswayed.core.errors import LimitError, ModelError
from unswayed.model.distribution import ConditionalDistribution, all_states
from unswayed.model.nodes.families import checked_rows
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.products import product_layers
from unswayed.model.nodes.steps import StepContexts, as_step_contexts, inputs_used, simplified


@dataclass(frozen=True, slots=True, eq=False)
class Obdd:
    """A reduced ordered decision diagram; the terminal that a row reaches is the number of its context.

    >>> xor = Obdd([0, 1], 2, level=[2, 2, 1, 1, 0], low=[0, 1, 0, 1, 2], high=[0, 1, 1, 0, 3], root=4)
    >>> xor.index(np.array([[0, 1], [1, 1]])).tolist()
    [1, 0]
    """

    order: Ints  # (levels,)
    """Input that each level asks for."""
    n_terminals: int
    """The first so many nodes are terminals."""
    level: Ints  # (nodes,)
    """Level of each node; that of terminals is the number of levels."""
    low: Ints  # (nodes,)
    """Where a node leads when its input is 0; terminals lead to themselves."""
    high: Ints  # (nodes,)
    """Where it leads when its input is 1."""
    root: int
    """Where every row begins; a terminal when all rows are of one context."""

    def __init__(
        self,
        order: npt.ArrayLike,
        n_terminals: int,
        *,
        level: npt.ArrayLike,
        low: npt.ArrayLike,
        high: npt.ArrayLike,
        root: int,
    ) -> None:
        object.__setattr__(self, "n_terminals", int(n_terminals))
        object.__setattr__(self, "root", int(root))
        for name, values in (("order", order), ("level", level), ("low", low), ("high", high)):
            object.__setattr__(self, name, read_only(np.array(values, dtype=np.int64)))
        self._check()

    def _check(self) -> None:
        n_nodes = len(self.level)
        if not 0 < self.n_terminals <= n_nodes or not 0 <= self.root < n_nodes:
            raise ModelError("a diagram needs a terminal, and a root among its nodes")
        if len(np.unique(self.order)) < len(self.order):
            raise ModelError("an input comes twice in the order of a diagram")
        inner = slice(self.n_terminals, None)
        numbers = np.arange(n_nodes)[inner]
        for children in (self.low[inner], self.high[inner]):
            if (children >= numbers).any() or (children < 0).any():
                raise ModelError("nodes of a diagram must be numbered children first")
            if (self.level[children] <= self.level[inner]).any():
                raise ModelError("a node of a diagram leads to a level that is not below its own")

    def __len__(self) -> int:
        return len(self.level)

    @property
    def n_contexts(self) -> int:
        """Number of terminals."""
        return self.n_terminals

    @property
    def n_inputs(self) -> int:
        """Number of levels."""
        return len(self.order)

    @property
    def support(self) -> tuple[int, ...]:
        """Inputs that the function depends on, ascending."""
        return tuple(sorted({int(self.order[level]) for level in self.level[self.n_terminals :]}))

    def index(self, states: npt.NDArray[Any]) -> Ints:
        """The terminal that each row of inputs reaches."""
        rows = checked_rows(states, self.n_inputs, "a diagram")
        node = np.full(len(rows), self.root, dtype=np.int64)
        for level, place in enumerate(self.order):
            here = self.level[node] == level
            node = np.where(here, np.where(rows[:, place] == 1, self.high[node], self.low[node]), node)
        return node


def reduced(order: Sequence[int], n_terminals: int, moves: Sequence[Ints]) -> Obdd:
    """The reduced diagram of levels as in `ContextLayers`, the first of which has the root as its only node.

    From the last level up, nodes with equal children give way to the child and equal nodes become one.
    """
    n_levels = len(order)
    level, low, high = [np.full(n_terminals, n_levels)], [np.arange(n_terminals)], [np.arange(n_terminals)]
    n_nodes = n_terminals
    below: Ints = np.zeros(0, dtype=np.int64)
    for depth in range(n_levels - 1, -1, -1):
        off, on = (_renamed(side, below) for side in moves[depth].T)
        differs = off != on
        keys, where = np.unique(off[differs] * np.int64(2**31) + on[differs], return_inverse=True)
        below = off.copy()
        below[differs] = n_nodes + where.reshape(-1)
        level.append(np.full(len(keys), depth))
        low.append(keys >> 31)
        high.append(keys & (2**31 - 1))
        n_nodes += len(keys)
    arrays = {"level": level, "low": low, "high": high}
    joined = {name: np.concatenate(parts) for name, parts in arrays.items()}
    return _reachable(Obdd(order, n_terminals, **joined, root=int(below[0])))


def _renamed(children: Ints, below: Ints) -> Ints:
    """Final numbers of children: a child >= 0 is a node of the next level, -1 - t is terminal t."""
    if not len(below):
        return -1 - children
    return np.where(children < 0, -1 - children, below[np.maximum(children, 0)])


def _reachable(diagram: Obdd) -> Obdd:
    """The diagram without nodes that its root does not lead to."""
    used = np.zeros(len(diagram), dtype=bool)
    used[: diagram.n_terminals] = True
    used[diagram.root] = True
    for node in range(len(diagram) - 1, diagram.n_terminals - 1, -1):
        if used[node]:
            used[diagram.low[node]] = used[diagram.high[node]] = True
    if used.all():
        return diagram
    number = np.cumsum(used) - 1
    return Obdd(
        diagram.order,
        diagram.n_terminals,
        level=diagram.level[used],
        low=number[diagram.low[used]],
        high=number[diagram.high[used]],
        root=int(number[diagram.root]),
    )


def step_diagram(contexts: StepContexts, order: Sequence[int] | None = None) -> Obdd:
    """The diagram of a step network over two-state inputs, asking in this order (as they stand by default).

    The linear classifier 1.15 U1 + .95 U2 - 1.05 U3 >= .52 of [shen2020, section 5.1]:

    >>> from unswayed.model.nodes.steps import StepNetwork
    >>> classifier = step_diagram(StepContexts(StepNetwork([[115, 95, -105]], [-52], [1]), [0]))
    >>> classifier.index(np.array([[0, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])).tolist()
    [1, 0, 0, 1]
    """
    levels = list(range(contexts.n_inputs)) if order is None else list(order)
    simple = simplified(contexts, {})
    used = frozenset(inputs_used(simple))
    layers = product_layers(simple, [each for each in levels if each in used], [2] * contexts.n_inputs)
    # Inputs that cannot matter are left out of the product and put back into the order here.
    places = [levels.index(each) for each in layers.order]
    ends = np.arange(contexts.n_contexts)
    if not places:
        depth = np.full(len(ends), len(levels))
        return Obdd(levels, len(ends), level=depth, low=ends, high=ends, root=layers.context)
    diagram = reduced(layers.order, len(ends), layers.moves)
    level = np.array([*places, len(levels)])[diagram.level]
    return Obdd(levels, len(ends), level=level, low=diagram.low, high=diagram.high, root=diagram.root)


TABLE_INPUTS = 12
"""Functions of at most so many inputs are compiled from their table."""


class NodeDiagram(NamedTuple):
    """Pr(child | parents): the terminal that the parents reach is a row of `columns`."""

    diagram: Obdd
    columns: Floats  # (terminals, child states)


def table_diagram(order: Sequence[int], terminals: Ints, n_terminals: int) -> Obdd:
    """The diagram of a function from its value for every instantiation, the last input of `order` fastest.

    >>> len(table_diagram([0, 1], np.array([0, 1, 1, 0]), 2))
    5
    """
    if not len(order):
        ends = np.arange(n_terminals)
        return Obdd([], n_terminals, level=0 * ends, low=ends, high=ends, root=int(terminals[0]))
    moves = [np.arange(2 ** (level + 1)).reshape(-1, 2) for level in range(len(order) - 1)]
    return reduced(order, n_terminals, [*moves, (-1 - terminals).reshape(-1, 2)])


def compile_node(node: ConditionalDistribution, order: Sequence[int] | None = None) -> NodeDiagram:
    """The node as a diagram that asks for the parents in this order, by their positions.

    Raises `LimitError` for functions of many parents that are not step networks, rules or trees, and when the
    diagram grows over the limits; `ModelError` when a parent does not have two states.
    """
    levels = list(range(len(node.parents))) if order is None else list(order)
    for parent in node.parents:
        if len(parent) != 2:
            raise ModelError(
                f"diagrams are over two-state variables, and {parent.name!r} has {len(parent)} states; "
                "tabulate the network and use inference on tables instead"
            )
    steps = as_step_contexts(node.contexts) if isinstance(node, FocsCpt) else None
    if isinstance(node, FocsCpt) and isinstance(steps, StepContexts):
        return NodeDiagram(step_diagram(steps, levels), node.columns)
    if len(levels) > TABLE_INPUTS:
        raise LimitError(
            f"the CPT of {node.child.name!r} is a function of {len(levels)} parents whose inside is not "
            "known; learn step contexts for it (learn_focs_cpt), which can be compiled"
        )
    return _from_table(node, levels)


def parents_that_matter(node: ConditionalDistribution) -> list[int]:
    """Positions of the parents that a node can depend on, as far as that is seen without compiling it."""
    steps = as_step_contexts(node.contexts) if isinstance(node, FocsCpt) else None
    return list(range(len(node.parents)) if steps is None else inputs_used(simplified(steps, {})))


def _from_table(node: ConditionalDistribution, levels: list[int]) -> NodeDiagram:
    rows = np.zeros((2 ** len(levels), len(levels)), dtype=np.int64)
    rows[:, levels] = all_states([2] * len(levels))
    columns, terminals = np.unique(node.probabilities(rows), axis=0, return_inverse=True)
    return NodeDiagram(table_diagram(levels, terminals.reshape(-1), len(columns)), columns)
