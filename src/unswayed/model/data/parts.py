"""A long file written in parts that survive a crash, and joined when the last one is done.

Beside `OUT.parquet` a folder `OUT.parquet.parts` holds `job.json`, what is being written from what, and for
each finished part its rows and its notes. A part gets its name when it is whole, its notes before its rows,
so that a part that is there is finished. Who comes back with the same job goes on after the parts that are
there; another job starts anew. The file itself appears when all parts are joined, whole or not at all.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unswayed.core.errors import FormatError
from unswayed.model.data.chunks import Chunk
from unswayed.model.data.row_files import (
    KINDS,
    arrow_rows,
    cast_texts,
    check_row_file,
    csv_line,
    text_kinds,
    write_csv,
    writing,
)


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
        return self.folder / f"{number:06d}{self.suffix}"

    def notes(self, number: int) -> Path:
        """Where the notes of a part are."""
        return self.folder / f"{number:06d}.json"


def open_parts(output: Path, job: Mapping[str, Any] | None) -> PartFolder:
    """The parts of a file that the same job has finished, or none; without a job there are never any."""
    check_row_file(output)
    parts = PartFolder(output, output.with_name(output.name + ".parts"))
    if job is not None and _read_json(parts.folder / "job.json") == json.loads(json.dumps(job)):
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
                from pyarrow import parquet

                parquet.write_table(arrow_rows(chunk, added), partial)
    except FormatError as error:
        last = chunk.first_row + chunk.n_rows
        raise FormatError(
            f"rows {chunk.first_row + 1} to {last} {error.reason}; the {chunk.first_row} rows before them "
            f"are kept in {parts.folder.name}: make room and ask again to go on",
            parts.output,
        ) from None


def join_parts(parts: PartFolder, n_parts: int, names: Sequence[str]) -> None:
    """Make the file of its parts, in their order, and remove them."""
    with writing(parts.output) as partial:
        if parts.suffix == ".csv":
            _join_csv(parts, n_parts, names, partial)
        else:
            _join_parquet(parts, n_parts, partial)
    shutil.rmtree(parts.folder, ignore_errors=True)


def _join_csv(parts: PartFolder, n_parts: int, names: Sequence[str], partial: Path) -> None:
    with partial.open("wb") as joined:
        joined.write(csv_line(names))
        for number in range(n_parts):
            with parts.rows(number).open("rb") as rows:
                shutil.copyfileobj(rows, joined, 2**20)


def _join_parquet(parts: PartFolder, n_parts: int, partial: Path) -> None:
    from pyarrow import parquet

    kinds = _joined_kinds(parts, n_parts)
    writer = None
    for number in range(n_parts):
        table = cast_texts(parquet.read_table(parts.rows(number)), kinds)
        if writer is None:
            writer = parquet.ParquetWriter(partial, table.schema)
        writer.write_table(table.cast(writer.schema))
    assert writer is not None
    writer.close()


def _joined_kinds(parts: PartFolder, n_parts: int) -> dict[str, str]:
    """What each column of texts spells in all parts together."""
    found: dict[str, str] = {}
    for number in range(n_parts):
        for name, kind in (read_notes(parts, number) or {}).get("kinds", {}).items():
            found[name] = max(found.get(name, kind), kind, key=KINDS.index)
    return found


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _write_json(path: Path, values: Any) -> None:
    with writing(path) as partial:
        partial.write_text(json.dumps(values), encoding="utf-8")
