"""What a conditional distribution must offer to be a node of a network: a table, or a function in its place.

A CPT with n two-state parents has 2^n rows. A *functional* node computes the rows that are asked for in place
of storing all of them: noisy-or, logistic, rules, trees, learned contexts (`nodes/`). Inference takes a node
as a table where that is small once the evidence is put in, and as a `Chain` of small tables where it is not
(`chain.py`); sampling and likelihoods need `probabilities` alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Floats, Ints
from unswayed.model.chain import Chain
from unswayed.model.variable import Variable

ROWS_AT_ONCE = 2**16
"""Rows that are computed together, so that their parents' states take little memory."""

BYTES_PER_CELL = 80.0
"""What a cell of a table takes with the products that inference makes of it."""


class ConditionalDistribution(Protocol):
    """Pr(child | parents) by any means."""

    @property
    def child(self) -> Variable:
        """The variable whose distributions these are."""

    @property
    def parents(self) -> tuple[Variable, ...]:
        """What the child depends on, in the order of the columns that `probabilities` takes."""

    @property
    def table(self) -> Floats:  # (parent configurations, child states)
        """Every row written out, the last parent fastest; `LimitError` where there are too many."""

    @property
    def has_zeros(self) -> bool:
        """Whether some state of the child may be impossible given some states of the parents."""

    def probabilities(self, states: Ints) -> Floats:  # (rows, parents) -> (rows, child states)
        """Pr(child | parents) for each row of parents' states."""

    def unroll(self, known: Mapping[int, int]) -> Chain | None:
        """The distribution as a chain, given the states of some parents by position.

        None where rows are all there is to know. Raises `LimitError` when the chain grows over the limits.
        """


def all_states(sizes: Iterable[int]) -> Ints:  # (product of sizes, variables)
    """Every instantiation of variables of these sizes, the last one fastest.

    >>> all_states([2, 2]).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    sizes = list(sizes)
    grids: Ints = np.indices(sizes, dtype=np.int64).reshape(len(sizes), math.prod(sizes))
    return np.ascontiguousarray(grids.T)


def write_rows(
    cpt: ConditionalDistribution, places: Sequence[int], known: Mapping[int, int]
) -> Floats:  # (instantiations of the parents at places, child states)
    """Pr(child | parents) for every instantiation of the parents at `places`, the last one fastest.

    The other parents are at their known states, or at their first where none is known.
    """
    sizes = [len(cpt.parents[place]) for place in places]
    n_rows = math.prod(map(float, sizes))
    what = f"the table of {cpt.child.name!r} over {len(sizes)} parents"
    check_bytes(BYTES_PER_CELL * n_rows * len(cpt.child), what)
    table = np.empty((int(n_rows), len(cpt.child)))
    for first in range(0, len(table), ROWS_AT_ONCE):
        numbers = np.arange(first, min(first + ROWS_AT_ONCE, len(table)))
        states = np.zeros((len(numbers), len(cpt.parents)), dtype=np.int64)
        for place, state in known.items():
            states[:, place] = state
        for place, size in zip(reversed(places), reversed(sizes), strict=True):
            numbers, states[:, place] = np.divmod(numbers, size)
        table[first : first + len(states)] = cpt.probabilities(states)
    return table


def write_table(cpt: ConditionalDistribution) -> Floats:
    """All rows of a node, the last parent fastest; `LimitError` where there are too many."""
    return write_rows(cpt, range(len(cpt.parents)), {})
