"""Rows with added columns, as dataframes and as files: CSV and Parquet.

The columns of the input stay as they came, type by type; the cells of a CSV file stay the texts they are, and
in a Parquet file become numbers only where the whole column spells numbers. An added column whose name the
input has gets another one. A file appears whole or not at all: it is written under another name first.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from unswayed.core.errors import FormatError, UnswayedWarning
from unswayed.core.extras import import_extra
from unswayed.core.names import listing
from unswayed.model.data.arrow import has_arrow
from unswayed.model.data.chunks import Chunk
from unswayed.model.data.tables import MISSING_WORDS, LabelColumn, Table, text_of

KINDS = ("nothing", "integer", "number", "text")
"""What a column of texts spells; each may hold what comes before it."""
_INTEGER = "^-?(0|[1-9][0-9]{0,14})$"
_CODE = "^[+-]?0[0-9]"
"""A number with a leading zero is a code, not a quantity."""


def check_row_file(path: Path) -> None:
    """`FormatError` unless the name says CSV or Parquet."""
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise FormatError("rows are written to a .csv or .parquet file; name it so", path)


def free_names(names: Sequence[str], added: Iterable[str]) -> dict[str, str]:
    """What each added column is called in a table with columns of these names: itself, where none has it.

    >>> free_names(["id", "decision"], ["decision", "sdp"])
    {'decision': 'unswayed_decision', 'sdp': 'sdp'}
    """
    found = {}
    for name in added:
        found[name] = name
        while found[name] in names:
            found[name] = f"unswayed_{found[name]}"
    return found


def warn_of_names(names: Sequence[str], added: Iterable[str]) -> None:
    """Tell which added columns are called otherwise."""
    changed = {name: free for name, free in free_names(names, added).items() if free != name}
    if changed:
        warnings.warn(
            f"the table has columns of its own that are called {listing(list(changed))}; they stay, and "
            f"what is added is called {listing(list(changed.values()))}",
            UnswayedWarning,
            stacklevel=4,
        )


def _beside(chunk: Chunk, added: Mapping[str, Any]) -> dict[str, Any]:
    free = free_names(chunk.names, added)
    return {free[name]: values for name, values in added.items()}


def frame_with(chunk: Chunk, added: Mapping[str, Any], library: str | None = None) -> Any:
    """The rows with the added columns as a dataframe of pandas, polars or pyarrow; None keeps the library."""
    warn_of_names(chunk.names, added)
    added = _beside(chunk, added)
    if library is None and not isinstance(chunk.rows, Table | Mapping) and not chunk.is_text:
        return _extended(chunk.rows, added)
    if library == "pyarrow":
        return arrow_rows(chunk, added)
    return import_extra(library or "pandas", "tables").DataFrame({**cells_of(chunk), **_lists(added)})


def _extended(frame: Any, added: Mapping[str, Any]) -> Any:
    import narwhals as nw

    rows = nw.from_native(frame, eager_only=True)
    types: dict[str, Any] = {"b": nw.Boolean, "f": nw.Float64, "O": nw.String}
    series = [
        nw.new_series(
            name,
            values.tolist(),
            None if _has_gaps(values) else types[values.dtype.kind],
            backend=rows.implementation,
        )
        for name, values in added.items()
    ]
    if rows.implementation.is_pandas():  # whose series are joined by their index
        series = [nw.from_native(s.to_native().set_axis(frame.index), series_only=True) for s in series]
    return rows.with_columns(*series).to_native()


def _has_gaps(values: Any) -> bool:
    """Whether a column is of yes and no with gaps: then it is an array of objects, and not of texts."""
    return values.dtype == object and any(isinstance(value, bool) for value in values)


def _lists(added: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(values).tolist() for name, values in added.items()}


def cells_of(chunk: Chunk) -> dict[str, list[Any]]:
    """The cells of a chunk by column; None where missing, except in texts."""
    if isinstance(chunk.rows, Mapping):
        return {name: list(cells) for name, cells in chunk.rows.items()}
    if isinstance(chunk.rows, Table):
        return {column.name: _column_cells(column) for column in chunk.rows.columns}
    import narwhals as nw

    frame = nw.from_native(chunk.rows, eager_only=True)
    return {str(name): frame.get_column(name).to_list() for name in frame.columns}


def _column_cells(column: Any) -> list[Any]:
    if isinstance(column, LabelColumn):
        labels = [*column.labels, None]
        return [labels[code] for code in column.codes.tolist()]
    return [None if np.isnan(value) else value for value in column.values.tolist()]


def arrow_rows(chunk: Chunk, added: Mapping[str, Any]) -> Any:
    """The rows with the added columns as an Arrow table; texts of a CSV file stay texts."""
    added = _beside(chunk, added)
    library = import_extra("pyarrow", "arrow")
    if hasattr(chunk.rows, "column_names"):
        table = chunk.rows
    elif isinstance(chunk.rows, Table | Mapping):
        table = library.table(cells_of(chunk))
    else:
        import narwhals as nw

        table = nw.from_native(chunk.rows, eager_only=True).to_arrow()
    for name, values in added.items():
        is_text = values.dtype == object and not _has_gaps(values)
        column = library.array(values, from_pandas=True, type=library.string() if is_text else None)
        table = table.append_column(name, column)
    return table


def write_rows(chunk: Chunk, added: Mapping[str, Any], path: Path) -> None:
    """Write rows to a `.csv` or `.parquet` file, whole or not at all."""
    check_row_file(path)
    warn_of_names(chunk.names, added)
    with writing(path) as partial:
        if path.suffix.lower() == ".csv":
            write_csv(chunk, added, partial)
        else:
            table = arrow_rows(chunk, added)
            if chunk.is_text:
                table = cast_texts(table, text_kinds(chunk))
            import_extra("pyarrow.parquet", "arrow").write_table(table, partial)


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """A name to write to; the file gets its own when all is written, and is gone when something failed."""
    partial = path.with_name(path.name + ".partial")
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise FormatError(f"cannot be written ({error.strerror or error})", path) from None
    finally:
        partial.unlink(missing_ok=True)


def write_csv(chunk: Chunk, added: Mapping[str, Any], path: Path, *, header: bool = True) -> None:
    """Write rows as CSV; by pyarrow where it is installed and the rows are not texts from the library."""
    added = _beside(chunk, added)
    with path.open("wb") as stream:
        if has_arrow() and not isinstance(chunk.rows, Mapping):
            table = arrow_rows(chunk, added)
            stream.write(csv_line(table.column_names) if header else b"")
            _write_arrow_csv(table, stream)
            return
        columns = {**cells_of(chunk), **_lists(added)}
        stream.write(csv_line(list(columns)) if header else b"")
        file = io.TextIOWrapper(stream, "utf-8", newline="", write_through=True)
        writer = csv.writer(file, lineterminator="\n")
        texts = ([_text(cell) for cell in cells] for cells in columns.values())
        writer.writerows(zip(*texts, strict=True))
        file.detach()


def csv_line(cells: Sequence[str]) -> bytes:
    """A line of a CSV file."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().encode("utf-8")


def _text(cell: Any) -> Any:
    if not isinstance(cell, float):
        return cell
    return None if np.isnan(cell) else text_of(cell)


def _write_arrow_csv(table: Any, stream: BinaryIO) -> None:
    import pyarrow as pa
    from pyarrow import compute, csv as arrow_csv

    for place, each in enumerate(table.schema):
        if pa.types.is_boolean(each.type):
            words = compute.if_else(table[each.name], "True", "False")
            table = table.set_column(place, each.name, words)
    # Quotes around every text, or around none where none needs them: then nothing is written twice.
    buffer = pa.BufferOutputStream()
    try:
        arrow_csv.write_csv(table, buffer, _csv_options("none"))
    except pa.ArrowInvalid:
        buffer = pa.BufferOutputStream()
        arrow_csv.write_csv(table, buffer, _csv_options("needed"))
    stream.write(buffer.getvalue())


def _csv_options(style: str) -> Any:
    from pyarrow import csv as arrow_csv

    return arrow_csv.WriteOptions(include_header=False, quoting_style=style)


def text_kinds(chunk: Chunk) -> dict[str, str]:
    """What each column of a chunk of texts spells."""
    pa = import_extra("pyarrow", "arrow")
    return {
        name: _kind(
            pa.chunked_array([chunk.rows[name]]) if isinstance(chunk.rows, Mapping) else chunk.rows[name]
        )
        for name in chunk.names
    }


def _kind(cells: Any) -> str:
    import pyarrow as pa
    from pyarrow import compute

    texts = compute.utf8_trim_whitespace(cells.combine_chunks().dictionary_encode().dictionary)
    texts = texts.filter(compute.invert(compute.is_in(texts, value_set=pa.array(sorted(MISSING_WORDS)))))
    if not len(texts):
        return "nothing"
    if compute.all(compute.match_substring_regex(texts, _INTEGER)).as_py():
        return "integer"
    if compute.any(compute.match_substring_regex(texts, _CODE)).as_py():
        return "text"
    try:
        texts.cast(pa.float64())
    except pa.ArrowInvalid:
        return "text"
    return "number"


def cast_texts(table: Any, kinds: Mapping[str, str]) -> Any:
    """The Arrow table with columns of texts turned into what they spell; an empty text becomes missing."""
    import pyarrow as pa
    from pyarrow import compute

    types = {"integer": pa.int64(), "number": pa.float64()}
    for name, kind in kinds.items():
        place = table.column_names.index(name)
        words = pa.array(sorted(MISSING_WORDS)) if kind in types else pa.array([""])
        stripped = compute.utf8_trim_whitespace(table[name])
        known = compute.if_else(
            compute.is_in(stripped, value_set=words),
            pa.scalar(None, pa.string()),
            stripped if kind in types else table[name],
        )
        table = table.set_column(place, name, known.cast(types[kind]) if kind in types else known)
    return table
