"""Tables that need not fit into memory: blocks of rows, one after the other.

`read_chunks` takes whatever `read_table` takes, and beyond it folders of Parquet files, Arrow datasets and
readers of record batches, and any iterator of tables. A chunk keeps its rows as they came, so that they can
be written out again unchanged; `chunk_table` reads the columns that are asked for. CSV files have no types,
so whether a column holds numbers or labels is settled chunk by chunk; `encode` gives the same states for
both.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from unswayed.core.errors import ModelError
from unswayed.model.data.arrow import arrow_blocks, count_arrow_rows, is_arrow_path, is_arrow_stream
from unswayed.model.data.csv import CsvFile, inspect_csv, refuse_empty, text_blocks, text_column
from unswayed.model.data.frames import is_frame, open_frame, read_frame
from unswayed.model.data.tables import Table, read_table, take_cells

CHUNK_ROWS = 200_000
"""Rows in memory at one time."""


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Some rows of a table, as they came."""

    rows: Any
    """A dataframe, a `Table`, or columns of texts by name."""
    names: tuple[str, ...]
    """Names of all columns."""
    n_rows: int
    first_row: int
    """How many rows of the table came before."""
    source: CsvFile | Path | None = None
    """The file they are of, for messages."""

    @property
    def is_text(self) -> bool:
        """Whether the cells are the texts of a CSV file."""
        return isinstance(self.source, CsvFile)


def read_chunks(data: Any, rows: int = CHUNK_ROWS) -> Iterator[Chunk]:
    """The table in `data` in chunks of at most `rows` rows.

    >>> [chunk.n_rows for chunk in read_chunks({"age": [31, 47, 52]}, rows=2)]
    [2, 1]
    """
    first_row = 0
    for chunk in _chunks(data, rows):
        yield replace(chunk, first_row=first_row)
        first_row += chunk.n_rows


def read_whole(data: Any) -> Chunk:
    """The whole table in `data` as one chunk."""
    if _is_csv(data):
        table = read_table(data)
        return Chunk(table, table.names, table.n_rows, 0)
    chunks = list(read_chunks(data, sys.maxsize))
    if len(chunks) != 1:
        raise ModelError("the table comes in several parts; audit it into a file, or join them first")
    return chunks[0]


def chunk_table(chunk: Chunk, names: Iterable[str] | None = None) -> Table:
    """The named columns of a chunk, or all; names that it does not have are left out."""
    wanted = chunk.names if names is None else tuple(n for n in dict.fromkeys(names) if n in chunk.names)
    if isinstance(chunk.rows, Table):
        return Table(tuple(chunk.rows.column(name) for name in wanted), chunk.n_rows, chunk.rows.path)
    if isinstance(chunk.source, CsvFile):
        columns = [text_column(chunk.source, name, chunk.rows[name], chunk.first_row) for name in wanted]
        return Table(tuple(columns), chunk.n_rows, chunk.source.path)
    if not wanted:
        return Table((), chunk.n_rows, chunk.source)
    table = read_frame(_select(chunk.rows, wanted))
    return Table(table.columns, chunk.n_rows, chunk.source)


def _chunks(data: Any, rows: int) -> Iterator[Chunk]:
    if _is_csv(data):
        yield from _csv_chunks(data if isinstance(data, CsvFile) else inspect_csv(Path(data)), rows)
    elif isinstance(data, str | os.PathLike) or is_arrow_stream(data):
        path = Path(data) if isinstance(data, str | os.PathLike) else None
        for block in arrow_blocks(data if path is None else path, rows):
            yield Chunk(block, tuple(block.column_names), block.num_rows, 0, path)
    elif isinstance(data, Iterator):
        for part in data:
            yield from _chunks(part, rows)
    elif is_frame(data) and not isinstance(data, Table | Mapping):
        yield from _frame_chunks(data, rows)
    else:
        table = read_table(data)
        for start in range(0, table.n_rows, rows):
            part = slice_table(table, start, start + rows)
            yield Chunk(part, table.names, part.n_rows, start)


def _is_csv(data: Any) -> bool:
    is_path = isinstance(data, str | os.PathLike)
    return isinstance(data, CsvFile) or (is_path and not is_arrow_path(Path(data)))


def _csv_chunks(file: CsvFile, rows: int) -> Iterator[Chunk]:
    n_chunks = 0
    for block in text_blocks(file, rows):
        n_chunks += 1
        n_rows = len(block[file.names[0]])
        yield Chunk(block, file.names, n_rows, 0, file)
    if not n_chunks:
        refuse_empty(file)


def _frame_chunks(data: Any, rows: int) -> Iterator[Chunk]:
    frame = open_frame(data)
    names = tuple(map(str, frame.columns))
    if not len(frame):
        raise ModelError("the table has no rows; learning and predicting need at least one")
    for start in range(0, len(frame), rows):
        part = frame if len(frame) <= rows else frame[start : start + rows]
        yield Chunk(part.to_native(), names, len(part), start)


def _select(frame: Any, names: tuple[str, ...]) -> Any:
    import narwhals as nw

    rows = nw.from_native(frame, eager_only=True)
    headings = {str(heading): heading for heading in rows.columns}
    return rows.select([headings[name] for name in names]).to_native()


def slice_table(table: Table, start: int, stop: int) -> Table:
    """The rows from `start` up to `stop`."""
    if start <= 0 and stop >= table.n_rows:
        return table
    columns = tuple(take_cells(column, slice(start, stop)) for column in table.columns)
    return Table(columns, min(stop, table.n_rows) - start, table.path)


def estimate_rows(data: Any) -> int | None:
    """About how many rows there are, to say how long they will take; None where nothing tells."""
    data = data.path if isinstance(data, CsvFile) else data
    if not isinstance(data, str | os.PathLike):
        return len(data) if is_frame(data) else None
    path = Path(data)
    if is_arrow_path(path):
        return count_arrow_rows(path)
    if path.suffix.lower() == ".gz" or not path.is_file():
        return None
    file = inspect_csv(path)
    with file.open() as lines:
        sizes = [len(line.encode(file.encoding, errors="replace")) for line in islice(lines, 1000)]
    return int(path.stat().st_size * len(sizes) / sum(sizes)) - 1 if sizes else 0
