"""Spaces of subsets with a given number of elements, and the coding of sets that diagrams hold."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.circuits.psdd.examples import UNKNOWN, Marks
from unswayed.core.anytime import bounded, check_bytes
from unswayed.core.arrays import Bools, Ints
from unswayed.core.errors import QueryError, expect_list
from unswayed.core.names import unknown_name
from unswayed.core.numerics import is_whole
from unswayed.spaces.space import Space, listed, refusal
from unswayed.spaces.zdd import Diagram, diagram_space, holds, reduced

_BYTES_PER_NODE = 300.0
"""For each number of elements chosen at each item, in the diagram and in the circuit."""


@bounded
def subset_space(items: int | Iterable[Hashable], sizes: int | Iterable[int]) -> Space[frozenset[Any]]:
    """All subsets of n items (numbered from 1) or of named ones, with one of the given sizes.

    Cost: n times the largest size.

    >>> subset_space(10, 3).size
    120
    >>> space = subset_space(["ham", "egg", "rye"], range(1, 3))
    >>> space.size, space.explain(["ham", "egg", "rye"])
    (6, '3 elements are chosen, not 1 or 2')
    """
    if isinstance(items, int):
        check_bytes(100.0 * items, f"subsets of {items:,} items")
    named = tuple(range(1, items + 1)) if isinstance(items, int) else expect_list(items, "the items")
    if not named or len({str(item) for item in named}) < len(named):
        raise QueryError("a subset needs at least one item, and every item a name of its own")
    listed_sizes = (sizes,) if isinstance(sizes, int) else expect_list(sizes, "the sizes of subsets")
    if not all(map(is_whole, listed_sizes)):
        raise QueryError(f"the sizes of subsets are whole numbers, not {sizes!r}")
    wanted = sorted(set(listed_sizes))
    if not wanted or wanted[0] < 0 or wanted[-1] > len(named):
        raise QueryError(f"subsets of {len(named)} items have 0 to {len(named)} elements, not {wanted}")
    check_bytes(_BYTES_PER_NODE * len(named) * (wanted[-1] + 1), f"subsets of {len(named):,} items")
    diagram = reduced(_levels(len(named), wanted))
    counts = " or ".join(map(str, wanted))
    coding = SetCoding(named, diagram, lambda found: f"{len(found)} elements are chosen, not {counts}")
    what = f"subsets of {counts} of {len(named)} items"
    return diagram_space(what, diagram, [str(item) for item in named], coding)


def _levels(n_items: int, sizes: list[int]) -> list[Ints]:
    """One node for each number of elements chosen so far, up to the largest size."""
    most = sizes[-1]
    levels = []
    for decided in range(n_items):
        chosen = np.arange(min(decided, most) + 1)
        levels.append(np.stack([2 + chosen, np.where(chosen < most, 3 + chosen, 0)]))
    is_size = np.isin(np.arange(most + 1), sizes).astype(np.int64)
    last = levels[-1]
    levels[-1] = np.where(last > 0, is_size[np.maximum(last - 2, 0)], 0)
    return levels


@dataclass(frozen=True, slots=True, eq=False)
class SetCoding:
    """Sets of named elements; which ones, the diagram says."""

    elements: tuple[Any, ...] = field(repr=False)
    """The elements, in the order of the variables."""
    diagram: Diagram = field(repr=False)
    """The sets."""
    reason: Callable[[frozenset[int]], str] = field(repr=False)
    """Why some elements, by position, are none of the sets."""
    key: Callable[[Any], Hashable] = field(repr=False, default=lambda element: element)
    """What two ways to write one element have in common: the edge a-b is the edge b-a."""
    what: str = "element"
    """What an element is, for messages."""

    def encode_many(self, objects: Any) -> Bools:
        """One row for each set, a collection of elements."""
        sets = listed(objects, "sets")
        column = {self.key(element): i for i, element in enumerate(self.elements)}
        rows = np.zeros((len(sets), len(self.elements)), dtype=np.bool_)
        for row, each in enumerate(sets):
            try:
                rows[row, self._columns(each, column)] = True
            except QueryError as error:
                raise refusal(row, len(sets), str(error)) from None
        self._check(rows)
        return rows

    def decode(self, row: Bools) -> frozenset[Any]:
        """The set of a row."""
        self._check(row[None, :])
        return frozenset(self.elements[i] for i in np.flatnonzero(row).tolist())

    def mark(self, known: Any) -> Marks:
        """What some elements say: they are in the set."""
        row = np.full(len(self.elements), UNKNOWN, dtype=np.int8)
        row[self._columns(known, {self.key(element): i for i, element in enumerate(self.elements)})] = 1
        return row

    def _columns(self, elements: Any, column: dict[Hashable, int]) -> list[int]:
        if isinstance(elements, str | bytes) or not isinstance(elements, Iterable):
            raise QueryError(f"{elements!r} is no set of elements")
        columns = []
        for element in elements:
            try:
                columns.append(column[self.key(element)])
            except (KeyError, TypeError):
                known = [str(each) for each in self.elements]
                raise QueryError(unknown_name(self.what, str(element), known)) from None
        if len(set(columns)) < len(columns):
            raise QueryError(f"the set names an {self.what} twice")
        return columns

    def _check(self, rows: Bools) -> None:
        inside = holds(self.diagram, rows)
        if not inside.all():
            row = int(np.argmin(inside))
            positions = frozenset(np.flatnonzero(rows[row]).tolist())
            raise refusal(row, len(rows), self.reason(positions))
