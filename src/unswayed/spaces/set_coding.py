"""Sets of elements as rows of truth values, for spaces that are diagrams over these elements."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools
from unswayed.core.errors import QueryError
from unswayed.core.names import unknown_name
from unswayed.spaces.space import listed, refusal
from unswayed.spaces.zdd import Diagram, holds


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
