"""Examples that do not fit into memory: rows in chunks from CSV, Parquet and Arrow.

Every function here gives an iterator of matrices with one column for each variable, in the order of the
variables, and holds one chunk at a time. Columns are found by name; others are ignored. `count_stream`
learns from them.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from unswayed.circuits.psdd.examples import UNKNOWN, Marks
from unswayed.core.errors import FormatError, QueryError
from unswayed.core.extras import import_extra
from unswayed.core.names import unknown_name

CHUNK_ROWS: Final = 65_536
"""Rows in memory at once."""

_MARK_BY_WORD = {"1": 1, "0": 0, "true": 1, "false": 0, "t": 1, "f": 0, "1.0": 1, "0.0": 0} | dict.fromkeys(
    ("", "nan", "na", "n/a", "null", "none", "?", "-1"), UNKNOWN
)


def stream_rows(source: Any, names: Sequence[str], *, chunk_rows: int = CHUNK_ROWS) -> Iterator[Marks]:
    """Rows of the named columns: of a file (.csv, .csv.gz, .parquet, .arrow, .feather), or of an Arrow
    table, dataset or reader of record batches.
    """
    if isinstance(source, str | Path):
        path = Path(source)
        suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
        if suffix.lower() in (".csv", ".txt"):
            return csv_rows(path, names, chunk_rows=chunk_rows)
        return arrow_rows(_opened_by_arrow(path), names, chunk_rows=chunk_rows)
    return arrow_rows(source, names, chunk_rows=chunk_rows)


def csv_rows(path: str | Path, names: Sequence[str], *, chunk_rows: int = CHUNK_ROWS) -> Iterator[Marks]:
    """Rows of a CSV file with column names in its first line; empty, NaN, NA and ? are not observed.

    Lines of single digits between commas, the usual case, are read much faster than others (25 to 50 times
    in two measurements).
    """
    path = Path(path)
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            header = next(csv.reader([stream.readline().decode("utf-8-sig")]), [])
            columns = _columns([each.strip() for each in header], names, path)
            line = 2
            while lines := list(islice(stream, chunk_rows)):
                marks = _digits(lines, len(header), columns)
                yield _parse(lines, len(header), columns, path=path, first=line) if marks is None else marks
                line += len(lines)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise FormatError(f"cannot be read ({error})", path) from None


def arrow_rows(source: Any, names: Sequence[str], *, chunk_rows: int = CHUNK_ROWS) -> Iterator[Marks]:
    """Rows of an Arrow table, dataset, Parquet file or reader; nulls are not observed."""
    for batch in _batches(source, list(names), chunk_rows):
        known = batch.schema.names
        marks = np.empty((batch.num_rows, len(names)), dtype=np.int8, order="F")
        for j, name in enumerate(names):
            if name not in known:
                raise QueryError(unknown_name("column", name, known))
            marks[:, j] = _arrow_marks(batch.column(known.index(name)), name)
        yield np.ascontiguousarray(marks)


def _columns(header: list[str], names: Sequence[str], path: Path) -> list[int]:
    missing = [name for name in names if name not in header]
    if missing:
        raise FormatError(
            f"the first line must name the columns; {unknown_name('column', missing[0], header)}", path
        )
    return [header.index(name) for name in names]


def _digits(lines: list[bytes], n_columns: int, columns: list[int]) -> Marks | None:
    """Lines of digits 0 and 1 between commas, all equally long; None when they are anything else."""
    text = b"".join(lines)
    width = len(lines[0])
    if not text.endswith(b"\n"):
        text += b"\n"
    if len(text) != width * len(lines) or width not in (2 * n_columns, 2 * n_columns + 1):
        return None
    table = np.frombuffer(text, dtype=np.uint8).reshape(len(lines), width)
    digits = table[:, 0 : 2 * n_columns : 2] - ord("0")
    commas = table[:, 1 : 2 * n_columns - 1 : 2]
    if (digits > 1).any() or (commas != ord(",")).any() or (table[:, -1] != ord("\n")).any():
        return None
    chosen: Marks = np.ascontiguousarray(digits[:, columns]).view(np.int8)
    return chosen


def _parse(lines: list[bytes], n_columns: int, columns: list[int], *, path: Path, first: int) -> Marks:
    """Any lines, value by value."""
    marks = []
    for line, fields in enumerate(csv.reader([each.decode("utf-8") for each in lines]), start=first):
        if not fields:
            continue
        if len(fields) != n_columns:
            raise FormatError(f"expected {n_columns} values, found {len(fields)}", path, line)
        words = [fields[column].strip().lower() for column in columns]
        wrong = next((word for word in words if word not in _MARK_BY_WORD), None)
        if wrong is not None:
            raise FormatError(
                f"{wrong!r} is no truth value; give 1 and 0, nothing where not observed", path, line
            )
        marks.append([_MARK_BY_WORD[word] for word in words])
    return np.array(marks, dtype=np.int8).reshape(-1, len(columns))


def _opened_by_arrow(path: Path) -> Any:
    arrow = _arrow()
    formats = {".parquet": "parquet", ".arrow": "arrow", ".feather": "feather", ".ipc": "arrow"}
    if path.suffix.lower() not in formats:
        raise FormatError(f"rows are read from .csv, {', '.join(formats)}; not from {path.suffix!r}", path)
    import pyarrow.dataset

    try:
        return pyarrow.dataset.dataset(path, format=formats[path.suffix.lower()])
    except (OSError, arrow.ArrowException) as error:
        raise FormatError(f"cannot be read ({error})", path) from None


def _batches(source: Any, names: list[str], chunk_rows: int) -> Iterator[Any]:
    arrow = _arrow()
    if isinstance(source, arrow.RecordBatch):
        yield source
    elif isinstance(source, arrow.Table):
        yield from source.to_batches(max_chunksize=chunk_rows)
    elif isinstance(source, arrow.RecordBatchReader):
        yield from source
    elif hasattr(source, "to_batches"):  # a dataset: only the columns needed are read
        missing = [name for name in names if name not in source.schema.names]
        if missing:
            raise QueryError(unknown_name("column", missing[0], source.schema.names))
        yield from source.to_batches(columns=names, batch_size=chunk_rows)
    else:
        what = type(source).__name__
        raise QueryError(f"cannot stream rows from {what}; give a path or something of Arrow")


def _arrow_marks(column: Any, name: str) -> np.ndarray[Any, Any]:
    from pyarrow import compute

    try:
        values = compute.fill_null(column.cast("int8"), UNKNOWN).to_numpy(zero_copy_only=False)
    except Exception as error:
        if type(error).__module__.startswith("pyarrow"):
            raise QueryError(f"column {name!r} has other values than 0 and 1 ({error})") from None
        raise
    if len(values) and (values.min() < UNKNOWN or values.max() > 1):
        raise QueryError(f"column {name!r} has other values than 0 and 1")
    return np.asarray(values)


def _arrow() -> Any:
    return import_extra("pyarrow", "arrow")
