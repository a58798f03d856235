"""Examples that do not fit into memory: rows of truth values, block by block.

`stream_rows` reads what learning reads (`model/data/row_source.py`): CSV, Parquet and Arrow files, folders of
Parquet files, Arrow datasets and readers, dataframes. Columns are found by name; others are ignored.
`count_stream` learns from the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NoReturn

import numpy as np

from unswayed.circuits.psdd.examples import UNKNOWN, Marks
from unswayed.core.errors import FormatError, QueryError
from unswayed.core.names import unknown_name
from unswayed.model.data.chunks import chunk_table, read_chunks
from unswayed.model.data.csv import CsvFile, RawColumn, line_of_row
from unswayed.model.data.row_source import (
    RawBlock,
    RowSource,
    is_source,
    open_source,
    raw_columns,
    source_blocks,
)
from unswayed.model.data.tables import MISSING_WORDS, text_of

CHUNK_ROWS: Final = 65_536
"""Rows in memory at once."""

_MARK_BY_WORD = {"1": 1, "0": 0, "true": 1, "false": 0, "t": 1, "f": 0, "1.0": 1, "0.0": 0, "-1": UNKNOWN}
_MARK_BY_WORD |= dict.fromkeys((word.lower() for word in MISSING_WORDS), UNKNOWN)
_WRONG: Final = -2


def stream_rows(source: Any, names: Sequence[str], *, chunk_rows: int = CHUNK_ROWS) -> Iterator[Marks]:
    """Rows of the named columns, in the order of the names; missing cells and -1 are not observed."""
    opened = open_source(source) if is_source(source) else None
    blocks = (
        _frame_blocks(source, names, chunk_rows) if opened is None else _blocks(opened, names, chunk_rows)
    )
    n_before = 0
    for block in blocks:
        columns = []
        for name in names:
            marks = _marks(block[name])
            if (marks == _WRONG).any():
                _refuse(opened, name, block[name], int(np.argmax(marks == _WRONG)), n_before)
            columns.append(marks)
        n_before += len(columns[0])
        yield np.ascontiguousarray(np.array(columns, dtype=np.int8).T)


def _blocks(source: RowSource, names: Sequence[str], rows: int) -> Iterator[RawBlock]:
    _check_names(names, source.names)
    for block, _ in source_blocks(source, names, frozenset(), None, rows=rows):
        yield block


def _frame_blocks(data: Any, names: Sequence[str], rows: int) -> Iterator[RawBlock]:
    for chunk in read_chunks(data, rows):
        _check_names(names, chunk.names)
        yield raw_columns(chunk_table(chunk, names))


def _check_names(names: Sequence[str], known: Sequence[str]) -> None:
    missing = [name for name in names if name not in known]
    if missing:
        raise QueryError(unknown_name("column", missing[0], known))


def _marks(raw: RawColumn) -> Marks:
    """The truth value of each cell; `_WRONG` where it is none."""
    if isinstance(raw, np.ndarray):
        values = np.where(np.isnan(raw), UNKNOWN, raw)
        is_truth = (values == 0) | (values == 1) | (values == UNKNOWN)
        return np.where(is_truth, values, _WRONG).astype(np.int8)
    found = [_MARK_BY_WORD.get(text.strip().lower(), _WRONG) for text in raw[0]]
    marks: Marks = np.array([*found, UNKNOWN], dtype=np.int8)[raw[1]]
    return marks


def _refuse(source: RowSource | None, name: str, raw: RawColumn, row: int, n_before: int) -> NoReturn:
    cell = text_of(float(raw[row])) if isinstance(raw, np.ndarray) else raw[0][raw[1][row]]
    message = f"{cell!r} is no truth value; give 1 and 0, nothing where not observed"
    if source is not None and isinstance(source.data, CsvFile):
        raise FormatError(message, source.path, line_of_row(source.data, n_before + row + 1))
    raise QueryError(f"column {name!r}, row {n_before + row}: {message}")
