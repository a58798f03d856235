"""Any node of a network as a diagram over its parents, with a column for each terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import LimitError, ModelError
from unswayed.focs.diagrams.obdd import Obdd, reduced, step_diagram
from unswayed.model.distribution import ConditionalDistribution, all_states
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.steps import StepContexts, as_step_contexts, inputs_used, simplified

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
