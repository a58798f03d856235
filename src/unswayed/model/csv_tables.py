"""CSV files: the first line names the columns, every later line is a row.

The delimiter is a comma, a semicolon, a tab or a bar, whichever divides the first line into most names. Cells
may be quoted. Empty lines are skipped. A name ending in `.gz` is unpacked on the way.

A file is read in blocks of rows, and each column keeps every distinct text once, so that a file of millions
of rows takes a few bytes for each cell.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.core.errors import FormatError
from unswayed.core.names import listing
from unswayed.model.formats.reading.source import Source, load
from unswayed.model.tables import (
    MARKS_AMONG_NUMBERS,
    MISSING_WORDS,
    Column,
    LabelColumn,
    NumberColumn,
    Table,
    make_table,
    number_in,
)

DELIMITERS = (",", ";", "\t", "|")
BLOCK_ROWS = 20_000
"""Rows held as Python strings at one time."""


def read_csv(path: Path) -> Table:
    """The table in a CSV file; `FormatError` names the line of what is wrong."""
    source = load(path)
    delimiter = _delimiter(source.text)
    names = _header(source, delimiter)
    # A text that is looked up for the first time gets the next number.
    code_by_text = [defaultdict[str, int](count().__next__) for _ in names]
    blocks: list[list[Ints]] = [[] for _ in names]
    for rows in _blocks(source, delimiter, len(names)):
        for texts, known, found in zip(zip(*rows, strict=True), code_by_text, blocks, strict=True):
            found.append(np.fromiter(map(known.__getitem__, texts), dtype=np.int64, count=len(texts)))
    if not blocks[0]:
        raise FormatError("there are column names but no rows; add at least one", path)
    columns = [
        _column(name, list(known), np.concatenate(found))
        for name, known, found in zip(names, code_by_text, blocks, strict=True)
    ]
    _check_finite(source, delimiter, columns)
    return make_table(columns, path)


def _delimiter(text: str) -> str:
    # Parsed, not counted: a quoted name may contain the other delimiters. max keeps the first of equals.
    start = text[:65_536]
    return max(DELIMITERS, key=lambda each: len(next(_reader(start, each, strict=False), [])))


def _reader(text: str, delimiter: str, *, strict: bool = True) -> Any:
    # The type of a reader, with its line numbers, has no public name before Python 3.13.
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)


def _header(source: Source, delimiter: str) -> list[str]:
    names = [name.strip() for name in next(_rows(source, delimiter), [])]
    if not names:
        _fail(source, "the file is empty; expected a line of column names", 1)
    for position, name in enumerate(names):
        if not name:
            _fail(source, f"column {position + 1} has no name; name every column in the first line", 1)
    twice = sorted(name for name, n_times in Counter(names).items() if n_times > 1)
    if twice:
        _fail(source, f"columns share a name: {listing(twice)}; give each its own", 1)
    numbered = [str(position) for position in range(len(names))]
    if names != numbered and all(number_in(name) is not None for name in names):
        _fail(source, f"expected column names, found numbers: {listing(names)}; add a line of names", 1)
    return names


def _rows(source: Source, delimiter: str) -> Iterator[list[str]]:
    """The cells of every line that is not empty, the header first."""
    reader = _reader(source.text, delimiter)
    try:
        yield from filter(None, reader)
    except csv.Error as error:
        _fail(source, f"not a CSV file here ({error}); check quotes and line ends", reader.line_num)


def _line_of(source: Source, delimiter: str, row: int) -> int:
    """The line that row number `row` ends on, the header being row 0; found by reading again."""
    reader = _reader(source.text, delimiter)
    next(islice(filter(None, reader), row, None))
    return int(reader.line_num)


def _blocks(source: Source, delimiter: str, n_columns: int) -> Iterator[list[list[str]]]:
    rows = islice(_rows(source, delimiter), 1, None)
    n_before = 1
    while block := list(islice(rows, BLOCK_ROWS)):
        if set(map(len, block)) != {n_columns}:
            ragged = next(i for i, row in enumerate(block) if len(row) != n_columns)
            _fail(
                source,
                f"{len(block[ragged])} cells found, but the first line names {n_columns} columns; "
                "a cell that contains the delimiter must be quoted",
                _line_of(source, delimiter, n_before + ragged),
            )
        n_before += len(block)
        yield block


def _column(name: str, texts: list[str], codes: Ints) -> Column:
    """A column from its distinct texts and the position of each cell's text among them."""
    stripped = [None if text.strip() in MISSING_WORDS else text.strip() for text in texts]
    unseen = MARKS_AMONG_NUMBERS | {None}
    numbers = [math.nan if text in unseen else number_in(text or "") for text in stripped]
    if None in numbers or all(text in unseen for text in stripped):
        return _labels(name, stripped, codes)
    return NumberColumn(name, np.array(numbers, dtype=np.float64)[codes])


def _check_finite(source: Source, delimiter: str, columns: list[Column]) -> None:
    for column in columns:
        if isinstance(column, NumberColumn) and np.isinf(column.values).any():
            row = int(np.argmax(np.isinf(column.values)))
            _fail(
                source,
                f"column {column.name!r}: {column.values[row]} is not finite; leave the cell empty instead",
                _line_of(source, delimiter, row + 1),
            )


def _labels(name: str, texts: list[str | None], codes: Ints) -> LabelColumn:
    """Labels without blanks at their ends, so that two texts may turn out to be one label."""
    code_by_label: dict[str, int] = {}
    for text in texts:
        if text is not None:
            code_by_label.setdefault(text, len(code_by_label))
    label_by_text = np.array([-1 if text is None else code_by_label[text] for text in texts], dtype=np.int64)
    return LabelColumn(name, tuple(code_by_label), label_by_text[codes])


def _fail(source: Source, message: str, line: int) -> NoReturn:
    raise FormatError(message, source.path, line)
