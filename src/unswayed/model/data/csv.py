"""CSV files: the first line names the columns, every later line is a row.

The delimiter is a comma, a semicolon, a tab or a bar, whichever divides the first line into most names. Cells
may be quoted. Empty lines are skipped. A name ending in `.gz` is unpacked on the way.

A file is read in blocks of rows, and each column keeps every distinct text once. Small files are read by the
standard library, which names the line of whatever is wrong; large ones by pyarrow where it is installed
(`arrow.py`), some ten times faster, and again by the standard library when pyarrow refuses them.
`read_csv` gives the whole table, `text_blocks` one block of rows after the other.
"""

from __future__ import annotations

import csv
import io
import math
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from unswayed.core.arguments import expect_path
from unswayed.core.arrays import Codes, Floats
from unswayed.core.errors import FormatError, QueryError, UnswayedWarning
from unswayed.core.names import listing, unknown_name
from unswayed.model.data.arrow import is_arrow_path
from unswayed.model.data.spelt_numbers import drop_points, list_pointed, read_spelt
from unswayed.model.data.tables import (
    MARKS_AMONG_NUMBERS,
    MISSING_WORDS,
    Column,
    NumberColumn,
    Table,
    coded_labels,
    make_table,
    number_in,
)
from unswayed.model.formats.reading.guard import guarded
from unswayed.model.formats.reading.source import bounded_lines, is_within, load, open_bytes, text_encoding

DELIMITERS = (",", ";", "\t", "|")
BLOCK_ROWS = 20_000
"""Rows held as Python strings at one time."""
SMALL_FILE = 2**22
"""Bytes up to which a file is read by the standard library: loading pyarrow takes as long."""


@dataclass(frozen=True, slots=True)
class CsvFile:
    """How a CSV file is written."""

    path: Path
    encoding: str
    delimiter: str
    names: tuple[str, ...]
    """Names of the columns."""
    header_lines: int
    """Lines up to the last one of the names."""
    text: str | None = None
    """Contents of a small file."""
    thousands: frozenset[str] = frozenset()
    """Columns whose points separate thousands."""

    @contextmanager
    def open(self) -> Iterator[Iterator[str]]:
        """The lines from the first, ends as they are; `FormatError` for one without end."""
        stream = open_bytes(self.path) if self.text is None else io.BytesIO(self.text.encode(self.encoding))
        with io.TextIOWrapper(stream, self.encoding, newline="") as text:  # type: ignore[type-var]
            yield bounded_lines(text, self.path)

    def fail(self, message: str, line: int) -> NoReturn:
        """Raise `FormatError` for a line of this file."""
        raise FormatError(message, self.path, line)


TextBlock = Any
"""A block of rows by columns: a mapping from names to tuples of texts, or an Arrow table of texts."""
RawColumn = Floats | tuple[list[str], Codes]
"""The cells of a block: numbers, or distinct texts and the position of each cell's among them."""


def open_csv(path: str | os.PathLike[str], *, thousands: Iterable[str] = ()) -> CsvFile:
    """A CSV file to learn from, to predict or to audit, with what its cells do not tell.

    In the columns `thousands`, points separate thousands: `8.767` is 8767. Elsewhere it is a decimal.

    Raises `QueryError` for a name that no column has.
    """
    if is_arrow_path(Path(path)):
        raise QueryError(f"{path} holds numbers, not their spelling; thousands are named for CSV files alone")
    file, names = inspect_csv(Path(path)), frozenset(thousands)
    for name in sorted(names - set(file.names)):
        raise QueryError(unknown_name("column", name, file.names))
    return replace(file, thousands=names)


def read_csv(source: Path | CsvFile) -> Table:
    """The table in a CSV file; `FormatError` names the line of what is wrong."""
    file = source if isinstance(source, CsvFile) else inspect_csv(source)
    columns = _gather(file)
    _check_finite(file, columns)
    return make_table(columns, file.path)


def inspect_csv(path: Path) -> CsvFile:
    """How the file is written, from its first lines."""
    path = expect_path(path, "the table")
    text = None
    if str(path) == "-" or is_within(path, SMALL_FILE):
        text = load(path).text
        start, encoding = text[:65_536], "utf-8"
    else:
        encoding = text_encoding(path)
        with open_bytes(path) as stream:
            start = stream.read(65_536).decode(encoding, errors="ignore")
    # Parsed, not counted: a quoted name may contain the other delimiters. max keeps the first of equals.
    with guarded(path, "a CSV file"):
        delimiter = max(
            DELIMITERS, key=lambda each: len(next(_reader(io.StringIO(start, newline=""), each, False), []))
        )
    return _with_header(CsvFile(path, encoding, delimiter, (), 0, text))


def _reader(lines: Iterable[str], delimiter: str, strict: bool = True) -> Any:
    # The type of a reader, with its line numbers, has no public name before Python 3.13.
    return csv.reader(lines, delimiter=delimiter, strict=strict)


def _with_header(file: CsvFile) -> CsvFile:
    names = [name.strip() for name in next(_rows(file), [])]
    if not names:
        file.fail("the file is empty; expected a line of column names", 1)
    for position, name in enumerate(names):
        if not name:
            file.fail(f"column {position + 1} has no name; name every column in the first line", 1)
    twice = sorted(name for name, n_times in Counter(names).items() if n_times > 1)
    if twice:
        file.fail(f"columns share a name: {listing(twice)}; give each its own", 1)
    numbered = [str(position) for position in range(len(names))]
    if names != numbered and all(number_in(name) is not None for name in names):
        file.fail(f"expected column names, found numbers: {listing(names)}; add a line of names", 1)
    return replace(file, names=tuple(names), header_lines=line_of_row(file, 0))


def text_blocks(file: CsvFile, rows: int, names: Sequence[str] | None = None) -> Iterator[TextBlock]:
    """Blocks of `rows` rows, every cell as the text it is; with `names`, of these columns at least."""
    if file.text is None:
        from unswayed.model.data.arrow import arrow_csv_blocks, has_arrow

        if has_arrow():
            yield from arrow_csv_blocks(file, rows, names)
            return
    yield from library_blocks(file, rows)


def library_blocks(file: CsvFile, rows: int) -> Iterator[TextBlock]:
    """Blocks of `rows` rows by the standard library; `FormatError` for the first line that is wrong."""
    for cells in _blocks(file, rows):
        yield dict(zip(file.names, zip(*cells, strict=True), strict=True))


def raw_blocks(
    file: CsvFile, rows: int, names: Sequence[str], as_text: frozenset[str] = frozenset()
) -> Iterator[list[RawColumn]]:
    """Blocks of `rows` rows of the named columns, each read as numbers in blocks where it holds nothing else.

    `as_text` lists those that are known to hold something else; others show when `join_raw` joins the blocks.
    """
    for block in text_blocks(file, rows, names):
        yield [_read_cells(file, name, block[name], name in as_text) for name in names]


def text_column(file: CsvFile, name: str, cells: Any, n_before: int = 0) -> Column:
    """The column that cells of a block are; `n_before` rows came before them."""
    column = raw_column(name, _read_cells(file, name, cells))
    _check_finite(file, [column], n_before)
    return column


def _read_cells(file: CsvFile, name: str, cells: Any, is_text: bool = False) -> RawColumn:
    """The cells of a column, without the points between thousands where it has such."""
    if name not in file.thousands:
        return _raw(cells, is_text)
    found = _raw(cells, is_text=True)
    assert isinstance(found, tuple)
    texts = []
    for text in found[0]:
        plain = drop_points(text)
        if plain is None:
            raise FormatError(
                f"column {name!r}: {text.strip()!r} has no point between thousands; mend it, or read the "
                "column as decimals",
                file.path,
            )
        texts.append(plain)
    numbers = None if is_text else all_numbers(texts)
    return (texts, found[1]) if numbers is None else numbers[found[1]]


def find_pointed(file: CsvFile, names: Iterable[str]) -> dict[str, tuple[str, int]]:
    """Of columns of numbers those whose points may separate thousands: the first such cell, and how many."""
    found: dict[str, tuple[str, int]] = {}
    possible = [name for name in names if name not in file.thousands]
    for block in _raw_texts(file, possible):
        for name, (texts, codes) in block.items():
            pointed = list_pointed(texts) if name in possible else None
            if pointed is None:
                possible = [each for each in possible if each != name]
            elif any(pointed):
                n_cells = int(np.array([*pointed, False])[codes].sum())
                first, n_before = found.get(name, (texts[pointed.index(True)].strip(), 0))
                found[name] = first, n_before + n_cells
        if not possible:
            break
    return {name: found[name] for name in possible if name in found}


def _raw_texts(file: CsvFile, names: Sequence[str]) -> Iterator[dict[str, tuple[list[str], Codes]]]:
    """Blocks of the named columns, each with its distinct texts and the position of each cell's."""
    for block in raw_blocks(file, BLOCK_ROWS, names, frozenset(names)) if names else ():
        yield {name: raw for name, raw in zip(names, block, strict=True) if isinstance(raw, tuple)}


def _raw(cells: Any, is_text: bool = False) -> RawColumn:
    if isinstance(cells, tuple):
        texts, codes = _coded(cells)
        numbers = None if is_text else all_numbers(texts)
        return (texts, codes) if numbers is None else numbers[codes]
    from unswayed.model.data.arrow import raw_arrow_column

    return raw_arrow_column(cells, is_text)


def _blocks(file: CsvFile, n_rows: int) -> Iterator[list[list[str]]]:
    rows = islice(_rows(file), 1, None)
    n_before, n_columns = 1, len(file.names)
    while block := list(islice(rows, n_rows)):
        if set(map(len, block)) != {n_columns}:
            ragged = next(i for i, row in enumerate(block) if len(row) != n_columns)
            file.fail(
                f"{len(block[ragged])} cells found, but the first line names {n_columns} columns; "
                "a cell that contains the delimiter must be quoted",
                line_of_row(file, n_before + ragged),
            )
        n_before += len(block)
        yield block


def _rows(file: CsvFile) -> Iterator[list[str]]:
    """The cells of every line that is not empty, the header first."""
    with file.open() as lines:
        reader = _reader(lines, file.delimiter)
        try:
            yield from filter(None, reader)
        except csv.Error as error:
            file.fail(
                f"not a CSV file here ({error}); check quotes and line ends", _last_whole_line(file) + 1
            )


def _last_whole_line(file: CsvFile) -> int:
    """The line before the row that cannot be read; found by reading again."""
    line = 0
    with file.open() as lines, suppress(csv.Error):
        reader = _reader(lines, file.delimiter)
        for _ in reader:
            line = reader.line_num
    return line


def line_of_row(file: CsvFile, row: int) -> int:
    """The line that row number `row` ends on, the header being row 0; found by reading again."""
    with file.open() as lines:
        reader = _reader(lines, file.delimiter)
        next(islice(filter(None, reader), row, None))
        return int(reader.line_num)


def _coded(texts: Sequence[str]) -> tuple[list[str], Codes]:
    # A text that is looked up for the first time gets the next number.
    known = defaultdict[str, int](count().__next__)
    codes = np.fromiter(map(known.__getitem__, texts), dtype=np.int32, count=len(texts))
    return list(known), codes


def _gather(file: CsvFile) -> list[Column]:
    """All rows by columns; those that turn out to hold labels late are read again as texts."""
    as_text: frozenset[str] = frozenset()
    while True:
        found = dict(zip(file.names, _read_columns(file, as_text), strict=True))
        mixed = {name for name, raw in found.items() if raw is None}
        if not mixed:
            return [raw_column(name, raw) for name, raw in found.items() if raw is not None]
        as_text |= mixed
        del found  # nothing is held while it is read again


def _read_columns(file: CsvFile, as_text: frozenset[str]) -> list[RawColumn | None]:
    blocks: list[list[RawColumn]] = [[] for _ in file.names]
    for block in raw_blocks(file, BLOCK_ROWS, file.names, as_text):
        for found, raw in zip(blocks, block, strict=True):
            found.append(raw)
    if not blocks[0]:
        refuse_empty(file)
    return [join_raw(found) for found in blocks]


def refuse_empty(file: CsvFile) -> NoReturn:
    """Raise `FormatError` for a file without rows."""
    raise FormatError("there are column names but no rows; add at least one", file.path)


def join_raw(blocks: Sequence[RawColumn]) -> RawColumn | None:
    """The cells of all blocks; None where some hold numbers and others texts that are none."""
    if any(isinstance(block, np.ndarray) for block in blocks):
        texts = {text for block in blocks if isinstance(block, tuple) for text in block[0]}
        if None in map(_number, texts):
            return None
        return np.concatenate([b if isinstance(b, np.ndarray) else _numbers(*b) for b in blocks])
    known = defaultdict[str, int](count().__next__)
    codes = []
    for block in blocks:
        assert isinstance(block, tuple)
        position = np.array([known[text] for text in block[0]], dtype=np.int32)
        codes.append(position[block[1]])
    return list(known), np.concatenate(codes)


def _number(text: str) -> float | None:
    """The number that a cell spells, NaN where it is missing among numbers, None where it is a label."""
    stripped = text.strip()
    return math.nan if stripped in MISSING_WORDS | MARKS_AMONG_NUMBERS else number_in(stripped)


def _numbers(texts: list[str], codes: Codes) -> Floats:
    found: Floats = np.array([_number(text) for text in texts], dtype=np.float64)[codes]
    return found


def all_numbers(texts: Sequence[str]) -> Floats | None:
    """The numbers that texts spell, NaN where missing; None where one is a label, or all are missing."""
    found = [_number(text) for text in texts]
    if None in found:
        return None
    numbers: Floats = np.array(found, dtype=np.float64)
    return None if np.isnan(numbers).all() else numbers


def raw_column(name: str, raw: RawColumn) -> Column:
    """A column from the numbers in it, or from its distinct texts."""
    if isinstance(raw, np.ndarray):
        return NumberColumn(name, raw)
    texts, codes = raw
    numbers = all_numbers(texts)
    if numbers is not None:
        return NumberColumn(name, numbers[codes])
    if (spelt := read_spelt(texts)) is not None:
        warnings.warn(f"column {name!r}: {spelt[1]}", UnswayedWarning, stacklevel=2)
        return NumberColumn(name, np.array(spelt[0])[codes])
    stripped = [None if text.strip() in MISSING_WORDS else text.strip() for text in texts]
    return coded_labels(name, stripped, codes)


def refuse_infinite(file: CsvFile, name: str) -> None:
    """Raise `FormatError` for the first number in a column that is not finite."""
    n_before = 0
    for [raw] in raw_blocks(file, BLOCK_ROWS, [name]):
        column = raw_column(name, raw)
        _check_finite(file, [column], n_before)
        n_before += len(raw) if isinstance(raw, np.ndarray) else len(raw[1])


def _check_finite(file: CsvFile, columns: Sequence[Column], n_before: int = 0) -> None:
    for column in columns:
        if isinstance(column, NumberColumn) and np.isinf(column.values).any():
            row = int(np.argmax(np.isinf(column.values)))
            file.fail(
                f"column {column.name!r}: {column.values[row]} is not finite; leave the cell empty instead",
                line_of_row(file, n_before + row + 1),
            )
