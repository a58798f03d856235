"""Tables through pyarrow, where it is installed: large CSV files, Parquet files, Arrow datasets, in blocks.

A block of a CSV file is read as texts, so that the standard library's reader and this one settle what is a
number, a label or a missing cell by the same words (`csv.py`). Parquet and Arrow have types, which are
believed as those of a dataframe (`frames.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import FormatError, ModelError
from unswayed.core.extras import import_extra
from unswayed.model.data.frames import read_frame
from unswayed.model.data.tables import MARKS_AMONG_NUMBERS, MISSING_WORDS, Table, number_in

if TYPE_CHECKING:
    from unswayed.model.data.csv import CsvFile, RawColumn

_MISSING = MISSING_WORDS | MARKS_AMONG_NUMBERS
SUFFIXES = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
"""Files that pyarrow reads as datasets."""
MOST_ROWS = 2**17
"""Rows that a dataset is asked for at a time."""
BLOCK_BYTES = 2**20
"""Bytes of a CSV file that are parsed together; pyarrow reads some thirty such blocks ahead.

It refuses rows that fill two of them, so all over `MAX_LINE`, which the standard library then names."""


def has_arrow() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def is_arrow_path(path: Path) -> bool:
    """Whether the name says Parquet or Arrow, or the path is a folder of such files."""
    return path.suffix.lower() in SUFFIXES or path.is_dir()


def is_arrow_stream(data: Any) -> bool:
    """Whether `data` is an Arrow dataset or a reader of record batches."""
    return hasattr(data, "schema") and (hasattr(data, "scanner") or hasattr(data, "read_next_batch"))


def read_arrow(path: Path) -> Table:
    """The whole table in a Parquet or Arrow file, or in a folder of them."""
    try:
        table = read_frame(_open_dataset(path).to_table())
    except (OSError, ModelError) as error:
        raise FormatError(str(error), path) from None
    return Table(table.columns, table.n_rows, path)


def arrow_blocks(source: Any, rows: int, names: Sequence[str] | None = None) -> Iterator[Any]:
    """Arrow tables of `rows` rows: of a Parquet or Arrow file, a folder of them, or an Arrow dataset.

    With `names`, a file or dataset is read for these columns alone.
    """
    yield from _rebatch(_batches(source, rows, names), rows)


def arrow_names(source: Any) -> tuple[str, ...]:
    """Names of the columns of a Parquet or Arrow file, a folder of them, or an Arrow dataset."""
    dataset = _open_dataset(source) if isinstance(source, Path) else source
    return tuple(dataset.schema.names)


def count_arrow_rows(path: Path) -> int:
    """How many rows a Parquet or Arrow file, or a folder of them, holds."""
    return int(_open_dataset(path).count_rows())


def _batches(source: Any, rows: int, names: Sequence[str] | None) -> Iterator[Any]:
    path = Path(source) if isinstance(source, str | Path) else None
    dataset = source if path is None else _open_dataset(path)
    try:
        if hasattr(dataset, "scanner"):
            columns = None if names is None else list(names)
            # By default sixteen batches of each of four files would be read ahead.
            yield from dataset.to_batches(
                columns=columns, batch_size=min(rows, MOST_ROWS), batch_readahead=2, fragment_readahead=1
            )
        else:
            yield from dataset
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read ({error})", path) from None


def _open_dataset(path: Path) -> Any:
    library = import_extra("pyarrow.dataset", "arrow")
    if not path.exists():
        raise FormatError("no such file; check the path", path)
    kind = "parquet" if path.is_dir() or path.suffix.lower() in (".parquet", ".pq") else "ipc"
    try:
        return library.dataset(path, format=kind)
    except (OSError, ValueError) as error:
        raise FormatError(f"this is no {kind} file ({error})", path) from None


def _rebatch(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """The same rows in Arrow tables of `rows` each, the last one shorter."""
    import pyarrow as pa

    waiting, n_waiting = [], 0
    for batch in batches:
        waiting.append(batch)
        n_waiting += batch.num_rows
        while n_waiting >= rows:
            joined = pa.Table.from_batches(waiting)
            yield joined.slice(0, rows)
            waiting = joined.slice(rows).to_batches()
            n_waiting -= rows
    if n_waiting:
        yield pa.Table.from_batches(waiting)


def arrow_csv_blocks(file: CsvFile, rows: int, names: Sequence[str] | None = None) -> Iterator[Any]:
    """Blocks of the named columns of a CSV file, or of all; every cell is a text.

    What pyarrow refuses, such as lines longer than its blocks, is read by the standard library, which names
    the line of what is wrong.
    """
    import pyarrow as pa

    from unswayed.model.data.csv import BLOCK_ROWS, library_blocks

    n_given = 0
    with suppress(pa.ArrowInvalid):
        for block in _csv_blocks(file, rows, names):
            yield block
            n_given += 1
        return
    for _ in library_blocks(file, BLOCK_ROWS):
        pass  # a wrong line is found here, with few rows in memory
    yield from islice(library_blocks(file, rows), n_given, None)


def _csv_blocks(file: CsvFile, rows: int, names: Sequence[str] | None) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv

    reading = csv.ReadOptions(
        column_names=list(file.names),
        skip_rows=file.header_lines,
        block_size=BLOCK_BYTES,
        encoding=file.encoding.removesuffix("-sig"),
    )
    parsing = csv.ParseOptions(delimiter=file.delimiter, newlines_in_values=True)
    converting = csv.ConvertOptions(
        column_types=dict.fromkeys(file.names, pa.string()),
        strings_can_be_null=False,
        include_columns=None if names is None else list(names),
    )
    packed = "gzip" if file.path.suffix.lower() == ".gz" else None
    with pa.input_stream(str(file.path), compression=packed) as stream:
        yield from _rebatch(csv.open_csv(stream, reading, parsing, converting), rows)


def raw_arrow_column(chunked: Any, is_text: bool = False) -> RawColumn:
    """Numbers where all cells spell some or are missing; else distinct texts and positions."""
    cells = chunked.combine_chunks()
    numbers = None if is_text else _numbers(cells)
    if numbers is not None:
        return numbers
    coded = cells.dictionary_encode()
    return coded.dictionary.to_pylist(), _plain(coded.indices, np.int32)


def _plain(cells: Any, kind: type[np.generic]) -> Any:
    """The numbers of an Arrow array, NaN for nulls. Its own `to_numpy` would import pandas first."""
    if not len(cells):
        return np.empty(0, dtype=kind)
    validity, contents = cells.buffers()
    rows = slice(cells.offset, cells.offset + len(cells))
    values = np.frombuffer(contents, dtype=kind)[rows]
    if cells.null_count:
        known = np.unpackbits(np.frombuffer(validity, dtype=np.uint8), bitorder="little")[rows]
        values = np.where(known, values, np.nan)
    return values


def _numbers(cells: Any) -> Floats | None:
    # A column of labels shows itself early; to fail on each block would take longer than all the rest.
    start = [text.strip() for text in cells.slice(0, 64).to_pylist()]
    if any(text not in _MISSING and number_in(text) is None for text in start):
        return None
    found = _parsed(cells)
    if found is None or found.null_count == len(found):
        return None  # a column without values says nothing, and has no numbers either
    values: Floats = _plain(found, np.float64)
    return values


def _parsed(cells: Any) -> Any:
    """The cells as numbers, null where missing; None where one spells no number."""
    import pyarrow as pa
    from pyarrow import compute

    stripped = compute.utf8_trim_whitespace(cells)
    missing = compute.is_in(stripped, value_set=pa.array(sorted(_MISSING)))
    try:
        return compute.if_else(missing, pa.scalar(None, pa.string()), stripped).cast(pa.float64())
    except pa.ArrowInvalid:
        return None
