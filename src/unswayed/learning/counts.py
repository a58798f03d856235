"""How often each family of states occurs: all that learning needs to know about the data.

A *family* is a variable with its parents. Counts form a monoid: `zero_counts` counts nothing, `merge` adds
the counts of two sets of rows, and it does not matter how rows were divided. So data may come in chunks, from
several processes, or in a stream. `smoothed_cpt` is where counts end.

A row counts for a family only if it observes all of its variables (available-case analysis); so each family
uses every row it can. See `expectation.py` for what to do when values are missing for a reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Floats, read_only
from unswayed.core.errors import ModelError
from unswayed.kernels.counting import cell_counts, mixed_radix
from unswayed.model.cpt import Cpt, checked_smoothing
from unswayed.model.data.dataset import Dataset
from unswayed.model.variable import Variable

Family = tuple[int, ...]
"""Positions of variables, the parents first and the child last."""


@dataclass(frozen=True, slots=True, eq=False)
class FamilyCounts:
    """Weighted counts of some families of variables."""

    variables: tuple[Variable, ...]
    """What the positions in families mean."""
    families: tuple[Family, ...]
    """What is counted."""
    tables: tuple[Floats, ...]  # each (parent configurations, child states)
    """One table for each family, laid out as the CPT of its child; read-only."""

    def table(self, family: Family) -> Floats:
        """The table of a family that is counted."""
        return self.tables[self.families.index(family)]


def zero_counts(variables: Sequence[Variable], families: Iterable[Family]) -> FamilyCounts:
    """Counts of no rows at all."""
    families = tuple(families)
    _check_memory(variables, families)
    tables = tuple(read_only(np.zeros(_shape(variables, family))) for family in families)
    return FamilyCounts(tuple(variables), families, tables)


def merge(one: FamilyCounts, other: FamilyCounts) -> FamilyCounts:
    """Counts of the rows of both."""
    if one.variables != other.variables or one.families != other.families:
        raise ModelError("counts can be merged only when they are of the same families of the same variables")
    tables = tuple(read_only(a + b) for a, b in zip(one.tables, other.tables, strict=True))
    return FamilyCounts(one.variables, one.families, tables)


def count_families(data: Dataset, families: Iterable[Family]) -> FamilyCounts:
    """Weight of the rows in each cell of each family.

    Cost: about 2 ns for each row and family when families that differ in the child only stand together.

    >>> rows = Dataset([Variable("C", "ab"), Variable("X", "01")], [[0, 0], [0, 1], [1, 1], [1, -1]])
    >>> count_families(rows, [(0,), (0, 1)]).tables[1].tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    families = tuple(families)
    _check_memory(data.variables, families)
    weights = None if (data.weights == 1.0).all() else data.weights
    missing = data.codes < 0
    tables = []
    for parents, group in groupby(families, key=lambda family: family[:-1]):
        parent_rows = mixed_radix(data.codes[:, parents], [len(data.variables[p]) for p in parents])
        is_parent_missing = missing[:, parents].any(axis=1)
        for *_, child in group:
            n_rows, n_states = _shape(data.variables, (*parents, child))
            cells = parent_rows * n_states + data.codes[:, child]
            is_left_out = is_parent_missing | missing[:, child]
            counted = cell_counts(cells, is_left_out, n_rows * n_states, weights)
            tables.append(read_only(counted.reshape(n_rows, n_states)))
    return FamilyCounts(data.variables, families, tuple(tables))


def _check_memory(variables: Sequence[Variable], families: Sequence[Family]) -> None:
    n_cells = sum(math.prod(_shape(variables, family)) for family in families)
    check_bytes(8.0 * n_cells, f"counting {len(families)} families")


def _shape(variables: Sequence[Variable], family: Family) -> tuple[int, int]:
    *parents, child = family
    return math.prod(len(variables[p]) for p in parents), len(variables[child])


def smoothed_cpt(variables: Sequence[Variable], family: Family, counts: Floats, smoothing: float) -> Cpt:
    """Pr(child | parents) from counts, with `smoothing` added to every cell.

        Pr(x | u) = (N(x, u) + smoothing) / (N(u) + smoothing * number of states)

    That is the posterior mean under a Dirichlet prior; 1 is Laplace's rule. A row without any count is
    uniform, also when `smoothing` is 0.
    """
    *parents, child = family
    cells = counts + checked_smoothing(smoothing)
    cells = np.where(cells.sum(axis=1, keepdims=True) > 0, cells, 1.0)
    return Cpt(variables[child], [variables[p] for p in parents], cells, normalize=True)
