"""A long file written in parts that survive a crash, and joined when the last one is done.

Beside `OUT.parquet` a folder `OUT.parquet.parts` holds `job.json`, what is being written from what, and for
each finished part its rows and its notes. A part gets its name when it is whole, its notes before its rows,
so that a part that is there is finished. Who comes back with the same job goes on after the parts that are
there; another job starts anew. The file itself appears when all parts are joined, whole or not at all.

A chunk may also be answered in part, because somebody wants what is there: then the file has the rows up to
it, and what was answered waits with the parts to be gone on with.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from unswayed.core.codec import json_bytes
from unswayed.core.errors import FormatError
from unswayed.model.data.chunks import Chunk, estimate_rows, read_chunks
from unswayed.model.data.csv import CsvFile
from unswayed.model.data.row_files import (
    KINDS,
    arrow_rows,
    cast_texts,
    check_row_file,
    csv_line,
    free_names,
    text_kinds,
    warn_of_names,
    write_csv,
    writing,
)
from unswayed.model.formats.reading.guard import json_content
from unswayed.model.formats.reading.source import load


@dataclass(frozen=True, slots=True)
class PartFolder:
    """The finished parts of a file."""

    output: Path
    """The file that they will make."""
    folder: Path

    @property
    def suffix(self) -> str:
        """`.csv` or `.parquet`."""
        return self.output.suffix.lower()

    def rows(self, number: int) -> Path:
        """Where the rows of a part are."""
        return self.folder / f"{number:06d}{'.csv' if self.suffix == '.csv' else '.arrow'}"

    def notes(self, number: int) -> Path:
        """Where the notes of a part are."""
        return self.folder / f"{number:06d}.json"

    def unfinished(self, number: int) -> Path:
        """Where the answers to some rows of a part wait for the rest."""
        return self.folder / f"{number:06d}.unfinished.json"


@dataclass(frozen=True, slots=True)
class FileProgress:
    """How far the rows of a file are."""

    n_rows: int
    """Rows done, those of an earlier run included."""
    total: int | None
    """About how many there are; None where nothing tells."""
    seconds: float
    """Time since this run began."""
    n_earlier: int = 0
    """Rows that an earlier run had finished."""

    @property
    def rows_per_second(self) -> float:
        """Rows done in a second of this run."""
        return (self.n_rows - self.n_earlier) / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """About how long the rest takes."""
        if self.total is None or self.n_rows == self.n_earlier:
            return None
        return max(self.total - self.n_rows, 0) / self.rows_per_second


@dataclass(frozen=True, slots=True, kw_only=True)
class RowJob:
    """What goes from a table to a file, with columns added."""

    source: Any
    """Whatever `read_chunks` takes."""
    output: Path
    description: Mapping[str, Any]
    """What is asked of the rows, for JSON: runs with equal ones are one job."""
    chunk_rows: int
    report: Callable[[FileProgress], None] | None = None
    """Called after each chunk."""


@dataclass(frozen=True, slots=True)
class ChunkAnswer:
    """What is added to a chunk."""

    added: Mapping[str, Any]
    """The columns, by name."""
    notes: Mapping[str, Any]
    """Notes about it for JSON."""
    unfinished: Any = None
    """Where rows have no answer yet: what the next run is given to go on with, as JSON has it."""


Answer = Callable[[Chunk, Mapping[str, Any] | None], ChunkAnswer]
"""What answers a chunk, given what an earlier run left unfinished of it."""

GOES_ON: Final = "goes_on"
"""The note that rows of the source follow which were not read."""
UNFINISHED: Final = -1
"""Number of the part with rows that have no answers yet."""


def extend_file(job: RowJob, answer: Answer) -> Iterator[dict[str, Any]]:
    """Write the rows of the source with the columns that are added; the notes of each chunk in turn.

    Chunks that an earlier run of the same job has finished are not answered again. The file appears after
    the last chunk, or after one that is not finished; then `GOES_ON` in its notes says whether rows follow.
    """
    started = time.perf_counter()
    parts = open_parts(job.output, _known_again(job))
    total = None if job.report is None else estimate_rows(job.source)
    names: tuple[str, ...] = ()
    n_rows = n_earlier = n_parts = 0
    chunks = read_chunks(job.source, job.chunk_rows)
    for chunk in chunks:
        notes = read_notes(parts, n_parts)
        if notes is None:
            answered = answer(chunk, _read_json(parts.unfinished(n_parts)))
            names = _joined_names(chunk, answered.added)
            if not n_parts:
                warn_of_names(chunk.names, answered.added)
            notes = {**answered.notes, "added": list(answered.added)}
            if answered.unfinished is not None:
                _write_json(parts.unfinished(n_parts), answered.unfinished)
                write_part(parts, UNFINISHED, chunk, answered.added, notes)
                join_parts(parts, n_parts, names, unfinished=True)
                yield {**notes, GOES_ON: next(chunks, None) is not None}
                return
            write_part(parts, n_parts, chunk, answered.added, notes)
        else:
            n_earlier += chunk.n_rows
            names = _joined_names(chunk, notes["added"])
        n_parts, n_rows = n_parts + 1, n_rows + chunk.n_rows
        if job.report is not None:
            job.report(FileProgress(n_rows, total, time.perf_counter() - started, n_earlier))
        yield notes
    if not n_parts:
        raise FormatError("the table has no rows", job.source if isinstance(job.source, str | Path) else None)
    join_parts(parts, n_parts, names)


def _joined_names(chunk: Chunk, added: Iterable[str]) -> tuple[str, ...]:
    return (*chunk.names, *free_names(chunk.names, added).values())


def _known_again(job: RowJob) -> dict[str, Any] | None:
    """What makes two runs one job; None where the source cannot be known again."""
    source, reading = job.source, dict[str, Any]()
    if isinstance(source, CsvFile):
        reading = {"thousands": sorted(source.thousands)}
        source = source.path
    if not isinstance(source, str | os.PathLike) or not Path(source).exists():
        return None
    path = Path(source)
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    found = [[str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    return {"source": found, "chunk_rows": job.chunk_rows, **reading, **job.description}


def open_parts(output: Path, job: Mapping[str, Any] | None) -> PartFolder:
    """The parts of a file that the same job has finished, or none; without a job there are never any."""
    check_row_file(output)
    parts = PartFolder(output, output.with_name(output.name + ".parts"))
    if job is not None and _read_json(parts.folder / "job.json") == json.loads(json_bytes(job)):
        return parts
    try:
        shutil.rmtree(parts.folder, ignore_errors=True)
        parts.folder.mkdir(parents=True)
    except OSError as error:
        raise FormatError(f"cannot be written ({error.strerror or error})", parts.folder) from None
    _write_json(parts.folder / "job.json", job)
    return parts


def read_notes(parts: PartFolder, number: int) -> dict[str, Any] | None:
    """The notes of a finished part; None where the part is not finished."""
    if not parts.rows(number).exists():
        return None
    notes: dict[str, Any] | None = _read_json(parts.notes(number))
    return notes


def write_part(
    parts: PartFolder, number: int, chunk: Chunk, added: Mapping[str, Any], notes: Mapping[str, Any]
) -> None:
    """Write a part: its notes, then its rows. What is finished stays when this fails."""
    kinds = text_kinds(chunk) if chunk.is_text and parts.suffix == ".parquet" else {}
    try:
        _write_json(parts.notes(number), {**notes, "kinds": kinds})
        with writing(parts.rows(number)) as partial:
            if parts.suffix == ".csv":
                write_csv(chunk, added, partial, header=False)
            else:
                _write_arrow(arrow_rows(chunk, added), partial)
    except FormatError as error:
        last = chunk.first_row + chunk.n_rows
        raise FormatError(
            f"rows {chunk.first_row + 1} to {last} {error.reason}; the {chunk.first_row} rows before them "
            f"are kept in {parts.folder.name}: make room and ask again to go on",
            parts.output,
        ) from None


def join_parts(parts: PartFolder, n_parts: int, names: Sequence[str], *, unfinished: bool = False) -> None:
    """Make the file of its parts, in their order, and remove them.

    With an `unfinished` part at the end of them they stay, to be gone on with.
    """
    numbers = [*range(n_parts), *[UNFINISHED] * unfinished]
    with writing(parts.output) as partial:
        if parts.suffix == ".csv":
            _join_csv(parts, numbers, names, partial)
        else:
            _join_parquet(parts, numbers, partial)
    if not unfinished:
        shutil.rmtree(parts.folder, ignore_errors=True)


def _join_csv(parts: PartFolder, numbers: Sequence[int], names: Sequence[str], partial: Path) -> None:
    with partial.open("wb") as joined:
        joined.write(csv_line(names))
        for number in numbers:
            with parts.rows(number).open("rb") as rows:
                shutil.copyfileobj(rows, joined, 2**20)


def _join_parquet(parts: PartFolder, numbers: Sequence[int], partial: Path) -> None:
    from pyarrow import feather, parquet

    kinds = _joined_kinds(parts, numbers)
    writer = None
    for number in numbers:
        table = cast_texts(feather.read_table(parts.rows(number), memory_map=False), kinds)
        if writer is None:
            writer = parquet.ParquetWriter(partial, table.schema)
        writer.write_table(table.cast(writer.schema))
    assert writer is not None
    writer.close()


def _write_arrow(table: Any, path: Path) -> None:
    # Parts are read once: what is quick to write serves better than what is small.
    from pyarrow import Codec, feather

    packing = "lz4" if Codec.is_available("lz4") else "uncompressed"
    feather.write_feather(table, path, compression=packing)


def _joined_kinds(parts: PartFolder, numbers: Sequence[int]) -> dict[str, str]:
    """What each column of texts spells in all parts together."""
    found: dict[str, str] = {}
    for number in numbers:
        for name, kind in (read_notes(parts, number) or {}).get("kinds", {}).items():
            found[name] = max(found.get(name, kind), kind, key=KINDS.index)
    return found


def _read_json(path: Path) -> Any:
    try:
        return json_content(load(path))
    except FormatError:
        return None


def _write_json(path: Path, values: Any) -> None:
    with writing(path) as partial:
        partial.write_bytes(json_bytes(values, allow_nan=True))
