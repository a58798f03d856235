"""Tables that are read more than once, block by block: what learning in bounded memory passes over.

A block has for each column its numbers, or its distinct texts and the position of each cell's. CSV files have
no types: a column is read as numbers until something else turns up, and then again, as texts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools, Floats
from unswayed.core.errors import FormatError, ModelError
from unswayed.model.data.arrow import arrow_blocks, arrow_names, is_arrow_path
from unswayed.model.data.csv import CsvFile, RawColumn, inspect_csv, join_raw, raw_blocks, raw_column
from unswayed.model.data.dataset import checked_weights, refuse_labels, refuse_weightless
from unswayed.model.data.frames import read_frame
from unswayed.model.data.tables import Column, NumberColumn, Table, label_column, text_of

BLOCK_ROWS = 2**17
"""Rows in memory at one time."""


@dataclass(frozen=True, slots=True, eq=False)
class RowSource:
    """A table that can be read again and again."""

    data: Any
    """A `CsvFile`, the path of a Parquet or Arrow file or of a folder of them, or an Arrow dataset."""
    names: tuple[str, ...]
    """Names of all columns."""

    @property
    def path(self) -> Path | None:
        """The file, for messages."""
        return self.data.path if isinstance(self.data, CsvFile) else _path_of(self.data)


def open_source(data: Any) -> RowSource:
    """What reads the table in a file, a folder of Parquet files or an Arrow dataset."""
    if isinstance(data, CsvFile):
        return RowSource(data, data.names)
    path = _path_of(data)
    if path is None or is_arrow_path(path):
        source = data if path is None else path
        return RowSource(source, arrow_names(source))
    file = inspect_csv(path)
    return RowSource(file, file.names)


def is_source(data: Any) -> bool:
    """Whether `data` is something that `open_source` takes: a file, or an Arrow dataset."""
    return isinstance(data, str | os.PathLike | CsvFile) or (
        hasattr(data, "schema") and hasattr(data, "scanner")
    )


def _path_of(data: Any) -> Path | None:
    return Path(data) if isinstance(data, str | os.PathLike) else None


RawBlock = dict[str, RawColumn]
"""The cells of some rows by the names of their columns."""


def source_blocks(
    source: RowSource,
    names: Iterable[str],
    as_text: frozenset[str],
    weights: str | None,
    *,
    rows: int | None = None,
) -> Iterator[tuple[RawBlock, Floats | None]]:
    """The named columns, `rows` rows at a time, and how much each row counts by the column of weights.

    Rows of weight 0 are left out.
    """
    n_rows = n_kept = 0
    wanted = list(dict.fromkeys([*names, *([] if weights is None else [weights])]))
    for block in _read_ahead(_blocks(source, wanted, as_text, rows or BLOCK_ROWS)):
        amounts = None if weights is None else _read_weights(weights, block[weights], n_rows)
        n_rows += length_of(block[wanted[0]])
        if amounts is not None and not amounts.all():
            block = {name: _keep(raw, amounts > 0) for name, raw in block.items()}
            amounts = amounts[amounts > 0]
        n_kept += length_of(block[wanted[0]])
        yield block, amounts
    if not n_rows:
        raise FormatError("the table has no rows; learning needs at least one", source.path)
    if not n_kept:
        refuse_weightless()


def _blocks(
    source: RowSource, names: Sequence[str], as_text: frozenset[str], n_rows: int
) -> Iterator[RawBlock]:
    if isinstance(source.data, CsvFile):
        for cells in raw_blocks(source.data, n_rows, names, as_text):
            yield dict(zip(names, cells, strict=True))
        return
    for rows in arrow_blocks(source.data, n_rows, names):
        try:
            yield raw_columns(read_frame(rows.select(names)))
        except ModelError as error:
            raise FormatError(str(error), source.path) from None


def _read_ahead(blocks: Iterator[RawBlock]) -> Iterator[RawBlock]:
    """The same blocks, each read while the one before it is worked on."""
    with ThreadPoolExecutor(1) as reader:
        waiting = reader.submit(next, blocks, None)
        while (block := waiting.result()) is not None:
            waiting = reader.submit(next, blocks, None)
            yield block


def raw_columns(table: Table) -> RawBlock:
    """The columns of a table by name."""
    return {
        c.name: c.values if isinstance(c, NumberColumn) else (list(c.labels), c.codes) for c in table.columns
    }


def _keep(raw: RawColumn, kept: Bools) -> RawColumn:
    return raw[kept] if isinstance(raw, np.ndarray) else (raw[0], raw[1][kept])


def _read_weights(name: str, raw: RawColumn, n_before: int) -> Floats:
    column = raw_column(name, raw)
    if not isinstance(column, NumberColumn):
        refuse_labels(name)
    return checked_weights(column.values, len(column.values), n_before)


def length_of(raw: RawColumn) -> int:
    """How many cells there are."""
    return len(raw) if isinstance(raw, np.ndarray) else len(raw[1])


class LateTextError(Exception):
    """A column that began with numbers holds something else further down; its name is the argument."""


def join_cells(source: RowSource, name: str, values: Floats, texts: list[str]) -> Column:
    """The column of these numbers and then these texts; `LateTextError` where it must be read as texts."""
    if not texts:
        return NumberColumn(name, values)
    if not isinstance(source.data, CsvFile):
        return label_column(name, [*map(text_of, values.tolist()), *texts])
    raw: RawColumn = (texts, np.arange(len(texts)))
    if not len(values):
        return raw_column(name, raw)
    joined = join_raw([values, raw])
    if joined is None:
        raise LateTextError(name)
    return raw_column(name, joined)
