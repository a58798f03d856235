"""Rows as people have them, as the values of attributes.

A structured attribute is one column that holds whole objects (tuples, lists), or several columns that make up
an object together (the positions of a ranking). All other columns are simple: labels are discrete, numbers
normally distributed unless they are few whole numbers. None and NaN mean "not observed".
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError, QueryError, UnswayedWarning
from unswayed.core.names import listing, unknown_name
from unswayed.model.data.frames import is_frame
from unswayed.model.data.tables import Column, NumberColumn, is_missing, read_table, text_of
from unswayed.spaces.classifier.attributes import (
    Attribute,
    Discrete,
    Gaussian,
    Values,
)
from unswayed.spaces.classifier.objects import Objects, Structured
from unswayed.spaces.formulas import AssignmentCoding
from unswayed.spaces.space import Partial, Space, as_truth

Place: TypeAlias = "int | str"
"""A column, by position or name."""
Places: TypeAlias = "Place | Sequence[Place]"
"""One column of objects, or the columns that make up an object."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where the attributes of a classifier are in its rows."""

    n_columns: int
    """How many columns a row has; 0 when a row is an object itself."""
    columns: tuple[tuple[int, ...], ...]
    """The columns of each attribute."""
    is_whole: tuple[bool, ...]
    """Whether an attribute's one column holds whole objects."""
    attributes: tuple[Attribute, ...]
    """The attributes, structured ones first."""


@dataclass(frozen=True, slots=True, eq=False)
class RawRows:
    """Rows with named columns, cells as they came."""

    names: tuple[str, ...]
    """Names of the columns; x0, x1, ... when they have none."""
    cells: Any
    """A dataframe, or an array (rows, columns)."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.cells)

    def taken(self, rows: Ints) -> RawRows:
        """Some of the rows."""
        if isinstance(self.cells, np.ndarray):
            return RawRows(self.names, self.cells[rows])
        import narwhals as nw

        frame = nw.from_native(self.cells, eager_only=True)
        return RawRows(self.names, frame[rows.tolist()].to_native())

    def column(self, position: int) -> list[Any]:
        """The cells of one column."""
        if isinstance(self.cells, np.ndarray):
            return list(self.cells[:, position].tolist())
        import narwhals as nw

        return list(nw.from_native(self.cells, eager_only=True)[:, position].to_list())

    def simple(self, positions: Sequence[int]) -> tuple[Column, ...]:
        """Columns of numbers and labels."""
        if not positions:
            return ()
        if isinstance(self.cells, np.ndarray):
            return read_table(self.cells[:, list(positions)]).columns
        import narwhals as nw

        frame = nw.from_native(self.cells, eager_only=True)
        return read_table(frame[:, list(positions)].to_native()).columns


def raw_rows(X: Any) -> RawRows:
    """Rows of a dataframe, an array, or lists of cells, of which some may be objects."""
    if is_frame(X):
        return RawRows(tuple(str(name) for name in X.columns), X)
    if not isinstance(X, np.ndarray):
        rows = [list(row) for row in X]
        if len({len(row) for row in rows}) > 1:
            raise QueryError("the rows have different numbers of cells")
        cells = np.empty((len(rows), len(rows[0]) if rows else 0), dtype=object)
        for i, row in enumerate(rows):
            for j, cell in enumerate(row):
                cells[i, j] = cell
        X = cells
    if X.ndim != 2:
        raise QueryError(f"rows need two dimensions (rows, columns); this array has {X.ndim}")
    return RawRows(tuple(f"x{j}" for j in range(X.shape[1])), X)


def layout_of(rows: RawRows, structured: Sequence[tuple[Space[Any], Places]], max_categories: int) -> Layout:
    """The attributes that rows have: the structured ones as declared, the rest by their cells."""
    columns, is_whole, attributes = [], [], []
    for space, places in structured:
        whole = isinstance(places, int | str | np.integer)
        listed = [places] if isinstance(places, int | str | np.integer) else list(places)
        positions = tuple(_position(place, rows.names) for place in listed)
        columns.append(positions)
        is_whole.append(whole)
        attributes.append(structured_attribute(space, " ".join(rows.names[p] for p in positions[:1])))
    taken = [p for positions in columns for p in positions]
    if len(set(taken)) < len(taken):
        raise ModelError("two structured attributes share a column")
    rest = [p for p in range(len(rows.names)) if p not in taken]
    simple = [
        simple_attribute(column, rows.names[p], max_categories)
        for p, column in zip(rest, rows.simple(rest), strict=True)
    ]
    return Layout(
        len(rows.names),
        (*columns, *((p,) for p in rest)),
        (*is_whole, *(False for _ in rest)),
        (*attributes, *simple),
    )


def structured_attribute(space: Space[Any], name: str = "object") -> Structured:
    """The attribute of a space's objects; its structure is made once."""
    return Structured(name, space, space.structure)


def simple_attribute(column: Column, name: str, max_categories: int) -> Gaussian | Discrete:
    """A column of labels, or of at most so many distinct whole numbers, is discrete; others are Gaussian."""
    if not isinstance(column, NumberColumn):
        return Discrete(name, column.labels)
    numbers = np.unique(column.values[~np.isnan(column.values)])
    if 0 < len(numbers) <= max_categories and (numbers == np.round(numbers)).all():
        return Discrete(name, tuple(text_of(float(number)) for number in numbers))
    return Gaussian(name)


def values_in(rows: RawRows, layout: Layout) -> list[Values]:
    """The values of each attribute."""
    if len(rows.names) != layout.n_columns:
        raise QueryError(f"the rows have {len(rows.names)} columns, those learned from {layout.n_columns}")
    simple = [c[0] for c, a in zip(layout.columns, layout.attributes, strict=True) if not _is_structured(a)]
    column_by_position = dict(zip(simple, rows.simple(simple), strict=True))
    values: list[Values] = []
    for columns, whole, attribute in zip(layout.columns, layout.is_whole, layout.attributes, strict=True):
        if isinstance(attribute, Structured):
            values.append(_objects(rows, columns, whole, attribute.space))
        else:
            values.append(_simple_values(column_by_position[columns[0]], attribute))
    return values


def objects_of(space: Space[Any], objects: Any) -> Objects:
    """Objects as truth values; None where one was not observed."""
    if is_frame(objects):
        table = raw_rows(objects)
        return _objects(table, tuple(range(len(table.names))), False, space)
    if isinstance(objects, np.ndarray) and objects.dtype != object:
        return Objects(space.encode_many(objects), np.ones(len(objects), dtype=np.bool_))
    listed = list(objects)
    is_observed = np.array([each is not None for each in listed], dtype=np.bool_)
    seen = [each for each in listed if each is not None]
    is_whole = not any(isinstance(each, Partial) for each in seen)
    rows = space.encode_many(seen) if is_whole else space.observe_many(seen)
    return Objects(rows.reshape(-1, len(space.names)), is_observed)


def _objects(rows: RawRows, columns: tuple[int, ...], whole: bool, space: Space[Any]) -> Objects:
    if whole:
        cells = rows.column(columns[0])
        return objects_of(space, [None if _is_nothing(cell) else cell for cell in cells])
    if isinstance(rows.cells, np.ndarray) and rows.cells.dtype.kind in "iu":
        return objects_of(space, np.ascontiguousarray(rows.cells[:, list(columns)]))
    parts = zip(*(rows.column(column) for column in columns), strict=True)
    if isinstance(space.coding, AssignmentCoding):
        names = _variables([rows.names[column] for column in columns], space.names)
        return objects_of(space, [_assignment(names, part) for part in parts])
    objects = [None if any(map(_is_nothing, part)) else tuple(map(_plain, part)) for part in parts]
    return objects_of(space, objects)


def _variables(columns: Sequence[str], names: Sequence[str]) -> Sequence[str]:
    """The variable of each column: by name where the columns are named like variables, else in order."""
    if set(columns) == set(names):
        return columns
    if len(columns) != len(names) or set(columns) & set(names):
        raise QueryError(f"the columns {listing(columns)} are not the variables {listing(names)}")
    return names


def _assignment(names: Sequence[str], cells: Sequence[Any]) -> dict[str, bool] | Partial | None:
    """Cells as truth values of variables; `Partial` where some are missing, None where all are."""
    known = {
        name: as_truth(cell, name) for name, cell in zip(names, cells, strict=True) if not _is_nothing(cell)
    }
    if not known:
        return None
    return known if len(known) == len(names) else Partial(known)


def _is_nothing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str | float | np.floating) and is_missing(cell))


def _plain(cell: Any) -> Any:
    """A whole number that a table made a float, as it was."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _is_structured(attribute: Attribute) -> bool:
    return isinstance(attribute, Structured)


def _simple_values(column: Column, attribute: Gaussian | Discrete) -> Floats | Ints:
    if isinstance(attribute, Gaussian):
        if isinstance(column, NumberColumn):
            return column.values
        if not column.labels:
            return np.full(len(column.codes), np.nan)
        raise QueryError(
            f"column {attribute.name!r} had numbers in learning, and now {listing(column.labels)}"
        )
    return _codes(column, attribute)


def _codes(column: Column, attribute: Discrete) -> Ints:
    """Positions of the cells among an attribute's labels; a label that was not seen is not observed."""
    if isinstance(column, NumberColumn):
        numbers, which = np.unique(column.values, return_inverse=True)
        found = ["" if np.isnan(number) else text_of(float(number)) for number in numbers]
        which = which.reshape(-1)
    else:
        found, which = [*column.labels, ""], column.codes
    number = {label: code for code, label in enumerate(attribute.labels)}
    new = [label for label in found if label and label not in number]
    if new:
        warnings.warn(
            f"column {attribute.name!r} has values not seen in learning, taken as not observed: "
            f"{listing(new)}",
            UnswayedWarning,
            stacklevel=2,
        )
    codes = np.array([number.get(label, -1) for label in found], dtype=np.int64)
    return codes[which]


def _position(place: Any, names: Sequence[str]) -> int:
    if isinstance(place, str):
        if place not in names:
            raise QueryError(unknown_name("column", place, names))
        return names.index(place)
    if not 0 <= place < len(names):
        raise QueryError(f"there is no column {place}; the rows have {len(names)}")
    return int(place)
