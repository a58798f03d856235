"""A conditional probability table: one distribution of the child for each state of the parents.

Tables are two-dimensional, whatever the number of parents: row r holds Pr(child | parents = r), and
the rows count through the parents' states with the *last* parent fastest. A parent configuration and
its row are turned into each other by `row_of` and `configuration_of`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats, Ints, frozen_floats
from unswayed.core.errors import ModelError, expect_number
from unswayed.core.numerics import format_distinct
from unswayed.kernels.counting import mixed_radix
from unswayed.model.chain import Chain
from unswayed.model.variable import Variable

ROW_TOLERANCE = 1e-9
"""How far from 1 the sum of a row may be before the table is refused."""


@dataclass(frozen=True, slots=True, eq=False)
class Cpt:
    """Pr(child | parents), checked on construction.

    `table` may have one axis for each parent and a last one for the child, or be given flat or by
    rows in the same order.

    >>> rain = Variable("Rain", ["yes", "no"])
    >>> grass = Variable("Grass", ["wet", "dry"])
    >>> Cpt(grass, [rain], [[0.9, 0.1], [0.2, 0.9]])
    Traceback (most recent call last):
    ...
    unswayed.core.errors.ModelError: CPT of 'Grass', row (Rain=no): probabilities sum to 1.1, not 1; \
correct the table, or pass normalize=True to rescale each row
    """

    child: Variable
    """The variable whose distributions these are."""
    parents: tuple[Variable, ...]
    """What the child depends on; the last one varies fastest along the rows."""
    table: Floats  # (parent configurations, child states)
    """Row r is Pr(child | parents = r); read-only."""

    def __init__(
        self, child: Variable, parents: Sequence[Variable], table: Any, *, normalize: bool = False
    ) -> None:
        object.__setattr__(self, "child", child)
        object.__setattr__(self, "parents", tuple(parents))
        rows = self._rows(table)
        object.__setattr__(self, "table", frozen_floats(rescaled(rows) if normalize else rows))
        self._check_sums()

    def _rows(self, table: Any) -> Floats:
        names = [self.child.name, *(p.name for p in self.parents)]
        if len(set(names)) < len(names):
            raise ModelError(f"CPT of {self.child.name!r}: a variable appears twice in {names}")
        values = np.asarray(table, dtype=np.float64)
        n_rows = math.prod(len(p) for p in self.parents)
        if values.size != n_rows * len(self.child):
            raise ModelError(
                f"CPT of {self.child.name!r}: {values.size} numbers given, "
                f"but {n_rows} rows of {len(self.child)} states need {n_rows * len(self.child)}"
            )
        rows = values.reshape(n_rows, len(self.child))
        if not (rows.min(initial=0.0) >= 0 and rows.max(initial=0.0) < math.inf):  # NaN is neither
            row = int(np.argmax(~(np.isfinite(rows) & (rows >= 0)).all(axis=1)))
            raise ModelError(
                f"CPT of {self.child.name!r}, row {self.describe_row(row)}: "
                f"{rows[row].tolist()} has an entry that is not a probability; "
                "every number must be finite and at least 0"
            )
        return rows

    def _check_sums(self) -> None:
        totals = self.table.sum(axis=1)
        off = np.abs(totals - 1.0)
        row = int(off.argmax())
        if off[row] > ROW_TOLERANCE:
            total = format_distinct(totals[row], 1.0)
            raise ModelError(
                f"CPT of {self.child.name!r}, row {self.describe_row(row)}: probabilities sum to "
                f"{total}, not 1; correct the table, or pass normalize=True to rescale each row"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cpt):
            return NotImplemented
        return (
            self.child == other.child
            and self.parents == other.parents
            and np.array_equal(self.table, other.table)
        )

    def __hash__(self) -> int:
        return hash((self.child, self.parents, self.table.tobytes()))

    def __reduce__(self) -> tuple[type[Cpt], tuple[Any, ...]]:
        return (Cpt, (self.child, self.parents, self.table))

    @property
    def has_zeros(self) -> bool:
        """Whether some entry is 0."""
        return not self.table.all()

    def probabilities(self, states: Ints) -> Floats:  # (rows, parents) -> (rows, child states)
        """Pr(child | parents) for each row of parents' states: rows of the table."""
        chosen: Floats = self.table[mixed_radix(states, [len(parent) for parent in self.parents])]
        return chosen

    def unroll(self, known: Mapping[int, int]) -> Chain | None:
        """None: a table is there already."""
        return None

    def describe_row(self, row: int) -> str:
        """The parents' states of a row as people write them, such as `(Rain=no, Wind=strong)`."""
        states = configuration_of(row, [len(p) for p in self.parents])
        return f"({', '.join(f'{p.name}={p.states[s]}' for p, s in zip(self.parents, states, strict=True))})"


def row_of(states: Sequence[int], sizes: Sequence[int]) -> int:
    """Row of the parents' states in a table, the last parent fastest.

    >>> row_of((1, 0, 2), sizes=(2, 2, 3))
    8
    """
    row = 0
    for state, size in zip(states, sizes, strict=True):
        row = row * size + state
    return row


def configuration_of(row: int, sizes: Sequence[int]) -> tuple[int, ...]:
    """The parents' states of a row: the inverse of `row_of`.

    >>> configuration_of(8, sizes=(2, 2, 3))
    (1, 0, 2)
    """
    states = []
    for size in reversed(sizes):
        row, state = divmod(row, size)
        states.append(state)
    return tuple(reversed(states))


def rescaled(rows: Floats) -> Floats:  # (rows, states)
    """Rows divided by their sums; a row of zeros is left as it is, to be refused by the check."""
    totals = rows.sum(axis=1, keepdims=True)
    scaled: Floats = np.divide(rows, totals, out=rows.copy(), where=totals > 0)
    return scaled


def checked_smoothing(smoothing: float) -> float:
    """`smoothing` itself, or `ModelError` unless it is finite and at least 0."""
    expect_number(smoothing, "smoothing")
    if not 0 <= smoothing < math.inf:
        raise ModelError(f"smoothing must be finite and at least 0, not {smoothing!r}")
    return smoothing
