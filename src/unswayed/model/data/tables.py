"""Tables as people have them (a CSV file, a dataframe, an array), read into columns of two kinds.

A column holds numbers or labels. What it *means* as a discrete variable is decided later, in `dataset.py` for
learning and in `encoding.py` for a network that exists. Here only two questions are settled:

- **Which cells are missing?** None, NaN and, among texts, the words in `MISSING_WORDS`.
- **Number or label?** In a dataframe the column's type says so. In a CSV file, which has no types, a column
  is numeric when every cell that is not missing reads as a number. Booleans are labels.

Read next: `csv.py` and `arrow.py` (files), `frames.py` (pandas, polars, pyarrow),
`chunks.py` (tables that need not fit into memory), `dataset.py`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from unswayed.core.arrays import Codes, Floats
from unswayed.core.errors import FormatError, ModelError, QueryError
from unswayed.core.names import listing, unknown_name

MISSING_WORDS = frozenset({"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "None", "NULL", "null"})
"""Texts that mean "not observed", after blanks at either end are removed."""
MARKS_AMONG_NUMBERS = frozenset({"-", "--", "."})
"""Texts that mean "not observed" in a column whose other cells are numbers; elsewhere they may be labels."""
LARGEST_EXACT = 2.0**53
"""Integers beyond it cannot all be told apart as floating-point numbers, so they are kept as labels."""


@dataclass(frozen=True, slots=True, eq=False)
class NumberColumn:
    """A column of numbers."""

    name: str
    """The heading."""
    values: Floats  # (rows,)
    """The numbers, NaN where missing, never infinite."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelColumn:
    """A column of labels, each stored once."""

    name: str
    """The heading."""
    labels: tuple[str, ...]
    """The distinct labels."""
    codes: Codes  # (rows,)
    """Position of each cell in `labels`, -1 where missing."""
    declared: bool = False
    """Whether `labels` is a list somebody declared, in its order, and not just what was found."""


Column = NumberColumn | LabelColumn


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of equal length under distinct names."""

    columns: tuple[Column, ...]
    """The columns from left to right."""
    n_rows: int
    """How many rows each of them has."""
    path: Path | None = None
    """The file it came from, for messages."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns from left to right."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """The column called `name`; `QueryError` suggests the nearest name."""
        for column in self.columns:
            if isinstance(name, str) and column.name == name:
                return column
        raise QueryError(unknown_name("column", str(name), self.names))


def read_table(data: Any) -> Table:
    """The table in `data`: the path of a CSV, Parquet or Arrow file, what `open_csv` gives, a dataframe, a
    mapping from names to columns, or an array.

    A two-dimensional array has no headings; its columns are called `x0`, `x1` and so on.

    Raises `FormatError` for a file that cannot be read, and `ModelError` for other data.

    >>> table = read_table({"age": [31, None, 47], "smokes": ["yes", "no", "?"]})
    >>> table.column("smokes").codes.tolist()
    [0, 1, -1]
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, str | os.PathLike):
        return _read_file(Path(data))
    if isinstance(data, np.ndarray):
        return _array_table(data)
    if isinstance(data, Mapping):
        return make_table([array_column(str(name), np.asarray(data[name])) for name in data])
    from unswayed.model.data.csv import CsvFile, read_csv
    from unswayed.model.data.frames import is_frame, read_frame

    if isinstance(data, CsvFile):
        return read_csv(data)
    if is_frame(data):
        return read_frame(data)
    raise ModelError(
        f"cannot read a table from {type(data).__name__}; give the path of a CSV file, a dataframe "
        "(pandas, polars, pyarrow), a mapping from names to columns, or a two-dimensional array"
    )


def _read_file(path: Path) -> Table:
    from unswayed.model.data.arrow import is_arrow_path, read_arrow
    from unswayed.model.data.csv import read_csv

    return read_arrow(path) if is_arrow_path(path) else read_csv(path)


def make_table(columns: Sequence[Column], path: Path | None = None) -> Table:
    """A table of `columns`, checked: at least one row and column, equal lengths, distinct names."""
    problem = _problem(columns)
    if problem:
        raise ModelError(problem) if path is None else FormatError(problem, path)
    return Table(tuple(columns), _length(columns[0]), path)


def _problem(columns: Sequence[Column]) -> str:
    """What is wrong with these columns as a table; empty when nothing is."""
    if not columns:
        return "the table has no columns"
    twice = [name for name, count in Counter(column.name for column in columns).items() if count > 1]
    if twice:
        return f"columns share a name: {listing(twice)}; rename them so that each column has its own"
    if any(not column.name.strip() for column in columns):
        return "a column has an empty name; name every column"
    if len({_length(column) for column in columns}) > 1:
        lengths = ", ".join(f"{column.name} {_length(column)}" for column in columns[:8])
        return f"columns differ in length ({lengths}); every row needs a cell in every column"
    if _length(columns[0]) == 0:
        return "the table has no rows; learning and predicting need at least one"
    return ""


def _length(column: Column) -> int:
    return len(column.values if isinstance(column, NumberColumn) else column.codes)


def _array_table(array: np.ndarray[Any, Any]) -> Table:
    if array.ndim != 2:
        raise ModelError(f"a table must have two dimensions (rows, columns); this array has {array.ndim}")
    # Everything from here on goes by columns.
    array = np.asfortranarray(array)
    return make_table([array_column(f"x{j}", array[:, j]) for j in range(array.shape[1])])


def array_column(name: str, values: np.ndarray[Any, Any]) -> Column:
    """The column in a one-dimensional array of any type."""
    if values.ndim != 1:
        raise ModelError(f"column {name!r}: expected one value for each row, found shape {values.shape}")
    if values.dtype.kind in "iu" and values.size and not _exact_as_floats(values):
        values = values.astype(str)
    if values.dtype.kind in "iuf":
        return number_column(name, values.astype(np.float64, copy=False))
    if values.dtype.kind in "bUTO":
        return cells_column(name, values.tolist())
    raise ModelError(
        f"column {name!r} holds {values.dtype} values; convert it to numbers or to text, "
        "for dates perhaps the year or the weekday"
    )


def _exact_as_floats(values: np.ndarray[Any, Any]) -> bool:
    return bool(values.max() <= LARGEST_EXACT and values.min() >= -LARGEST_EXACT)


def number_column(name: str, values: Floats) -> NumberColumn:
    """A column of numbers, refused when one of them is infinite."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise ModelError(
            f"column {name!r}, row {row}: {values[row]} is not finite; write a missing value as NaN, "
            "or replace it by a number"
        )
    return NumberColumn(name, values)


def cells_column(name: str, cells: Iterable[Any]) -> Column:
    """A column from single values: numbers if all of them are, labels otherwise."""
    kept = [None if is_missing(cell) else cell for cell in cells]
    kinds = {type(cell) for cell in kept if cell is not None}
    if kinds and all(issubclass(kind, Real) and not issubclass(kind, bool | np.bool_) for kind in kinds):
        return number_column(name, np.array([np.nan if cell is None else float(cell) for cell in kept]))
    return label_column(name, [None if cell is None else text_of(cell) for cell in kept])


def label_column(name: str, texts: Sequence[str | None], declared: Sequence[str] = ()) -> LabelColumn:
    """A column of labels; `declared` lists the labels there may be, in their order."""
    code_by_label = {label: code for code, label in enumerate(declared)}
    for text in dict.fromkeys(texts):
        if text is not None:
            code_by_label.setdefault(text, len(code_by_label))
    labels = tuple(code_by_label)
    codes = np.fromiter(
        (-1 if text is None else code_by_label[text] for text in texts), dtype=np.int64, count=len(texts)
    )
    return LabelColumn(name, labels, codes, declared=bool(declared))


def coded_labels(
    name: str, texts: Sequence[str | None], codes: Codes, declared: Sequence[str] = ()
) -> LabelColumn:
    """A column of labels from texts, not all of them different, and the position of each cell's text.

    The position -1 is a missing cell, as is one whose text is None.
    """
    distinct = label_column(name, texts, declared)
    return LabelColumn(name, distinct.labels, np.append(distinct.codes, -1)[codes], distinct.declared)


def coded_column(name: str, cells: Sequence[Any], codes: Codes) -> Column:
    """A column from distinct values and the position of each cell's value, -1 where missing."""
    column = cells_column(name, cells)
    if isinstance(column, NumberColumn):
        return NumberColumn(name, np.append(column.values, np.nan)[codes])
    return LabelColumn(name, column.labels, np.append(column.codes, -1)[codes])


def take_cells(column: Column, rows: Any) -> Column:
    """The column with some of its rows, in any order."""
    if isinstance(column, NumberColumn):
        return NumberColumn(column.name, column.values[rows])
    return LabelColumn(column.name, column.labels, column.codes[rows], column.declared)


def is_missing(cell: Any) -> bool:
    """Whether a single value stands for "not observed".

    >>> [is_missing(cell) for cell in (None, float("nan"), " ? ", "no")]
    [True, True, True, False]
    """
    if isinstance(cell, str):
        return cell.strip() in MISSING_WORDS
    # pandas' NA refuses to be compared, even with itself; its name tells its type and spares the import.
    return (
        cell is None
        or type(cell).__name__ in ("NAType", "NaTType")
        or (getattr(cell, "shape", ()) == () and bool(cell != cell))
    )


def text_of(cell: Any) -> str:
    """The label of a single value: numbers in their shortest form, anything else as it prints.

    >>> text_of(1.0), text_of(2.50), text_of(" yes"), text_of(True)
    ('1', '2.5', 'yes', 'True')
    """
    if isinstance(cell, float | np.floating):
        number = float(cell)
        is_whole = number.is_integer() and abs(number) <= LARGEST_EXACT
        return str(int(number)) if is_whole else repr(number)
    return str(cell).strip()


def number_in(text: str) -> float | None:
    """The number a text spells, or None when it spells none.

    >>> number_in("1e3"), number_in("1_000"), number_in("low")
    (1000.0, None, None)
    """
    try:
        # Python reads 1_000 as a number; in data it is a code.
        return None if "_" in text else float(text)
    except ValueError:
        return None
