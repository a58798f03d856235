"""The encoding that networks are compiled with: parameters for distinct rows, none where rows are certain.

A row of a table with the possible states s_1 .. s_m is drawn by a chain of choices: is it s_1? if not, is
it s_2? and so on. Each choice is one Boolean P_i with the weights

    w(P_i)  =  Pr(s_i | none of s_1 .. s_{i-1}),     w(not P_i)  =  1 - w(P_i)

so a certain row needs no parameter, and a row of m possible states m - 1 [chavira2008]. The weights of a
choice add up to 1, so it may stay unconstrained where it is not made; hence all rows with the same numbers
share their choices, which is where equal parameters are exploited. Rows are equal in whole blocks when some
parents do not matter in some context; such a block needs one clause for each state, not one for each row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from unswayed.circuits.formulas.encode import Draft, Encoding
from unswayed.core.arrays import Floats, Ints, read_only
from unswayed.model.network import BayesianNetwork

Cube = dict[int, int]
"""States of some of the parents, by the parent's place in the table."""
Choices = dict[int, tuple[int, ...]]
"""For each possible state of a row the literals of the choices that lead to it."""


@dataclass(frozen=True, slots=True, eq=False)
class RowEncoding:
    """An encoding by distinct rows, and which choices draw which state of which row."""

    encoding: Encoding
    """The weighted formula."""
    labels: tuple[Ints, ...] = field(repr=False)
    """For each table the number of the distinct row that each of its rows is equal to."""
    choices: tuple[tuple[Choices, ...], ...] = field(repr=False)
    """For each table the choices of each of its distinct rows."""


def row_encoding(network: BayesianNetwork) -> RowEncoding:
    """A chain of choices for each distinct row of each table.

    Rows of two states need one parameter each, where the basic encoding has two:

    >>> from unswayed.model.zoo import review
    >>> row_encoding(review()).encoding.n_parameters
    8
    """
    draft = Draft(network)
    all_labels, all_choices = [], []
    for position, cpt in enumerate(network.cpts):
        rows, labels = np.unique(cpt.table, axis=0, return_inverse=True)
        labels = labels.reshape(-1).astype(np.int64)
        choices = tuple(_choices(draft, position, label, row) for label, row in enumerate(rows))
        for cube, label in constant_cubes(labels.reshape([len(parent) for parent in cpt.parents])):
            _add_clauses(draft, position, cube, choices[label])
        all_labels.append(read_only(labels))
        all_choices.append(choices)
    return RowEncoding(draft.encoding(), tuple(all_labels), tuple(all_choices))


def _choices(draft: Draft, position: int, label: int, row: Floats) -> Choices:
    """New parameters for a row, as the choices that lead to each of its possible states."""
    possible = np.flatnonzero(row).tolist()
    # What is left when the states before are refused; summed from the end, so that no digits are lost.
    left = np.cumsum(row[possible][::-1])[::-1].tolist()
    refused: tuple[int, ...] = ()
    choices: Choices = {}
    for place, state in enumerate(possible[:-1]):
        share, rest = float(row[state]) / left[place], left[place + 1] / left[place]
        choice = draft.add_parameter(position, f"{label}.{state}", share, rest)
        choices[state] = (*refused, choice)
        refused = (*refused, -choice)
    choices[possible[-1]] = refused
    return choices


def _add_clauses(draft: Draft, position: int, cube: Cube, choices: Choices) -> None:
    parents = draft.network.parents[position]
    given = [-draft.indicators[parents[place]][state] for place, state in cube.items()]
    for state, literals in choices.items():
        chosen = [-literal for literal in literals]
        draft.add_clause(position, [*given, *chosen, draft.indicators[position][state]])


def constant_cubes(labels: Ints) -> Iterator[tuple[Cube, int]]:
    """Blocks of equal labels that together cover a table with one axis for each parent, each cell once.

    The table is split along the axis that leaves most of it in constant slices, until all are constant.

    >>> list(constant_cubes(np.array([[7, 7], [7, 8]])))
    [({0: 0}, 7), ({0: 1, 1: 0}, 7), ({0: 1, 1: 1}, 8)]
    """
    waiting: list[tuple[Cube, Ints, tuple[int, ...]]] = [({}, labels, tuple(range(labels.ndim)))]
    while waiting:
        cube, table, axes = waiting.pop()
        first = int(table.flat[0])
        if (table == first).all():
            yield cube, first
            continue
        split = max(range(table.ndim), key=lambda axis: (_share_constant(table, axis), -axis))
        left = axes[:split] + axes[split + 1 :]
        slices = np.moveaxis(table, split, 0)
        waiting += [({**cube, axes[split]: s}, slices[s], left) for s in reversed(range(len(slices)))]


def _share_constant(table: Ints, axis: int) -> float:
    """Share of the slices along an axis that hold one label only."""
    slices = np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)
    constant = (slices == slices[:, :1]).all(axis=1)
    return float(constant.mean())
