"""A file in parts: what is finished is kept, what is not is never taken for it."""

from __future__ import annotations

import errno

import numpy as np
import pandas as pd
import pytest

from unswayed.core.errors import FormatError, UnswayedWarning
from unswayed.model.data.chunks import read_chunks
from unswayed.model.data.parts import join_parts, open_parts, read_notes, write_part
from unswayed.model.data.row_files import frame_with, write_rows

pytest.importorskip("pyarrow", reason="Parquet files are written by pyarrow")


def csv_chunks(tmp_path, text="id,x,y\n007,1,a\n008,2.5,\n009,NA,c\n", rows=2):
    path = tmp_path / "in.csv"
    path.write_text(text)
    return list(read_chunks(path, rows=rows))


def added(chunk):
    return {"safe": np.ones(chunk.n_rows, dtype=bool), "note": np.array(["n,1"] * chunk.n_rows, dtype=object)}


def write_all(parts, chunks, first=0):
    for number, chunk in enumerate(chunks):
        if number >= first:
            write_part(parts, number, chunk, added(chunk), {"number": number})
    join_parts(parts, len(chunks), ["id", "x", "y", "safe", "note"])


def test_csv_keeps_its_cells_as_they_are(tmp_path):
    parts = open_parts(tmp_path / "out.csv", None)
    write_all(parts, csv_chunks(tmp_path))
    assert (tmp_path / "out.csv").read_text() == (
        'id,x,y,safe,note\n007,1,a,True,"n,1"\n008,2.5,,True,"n,1"\n009,NA,c,True,"n,1"\n'
    )
    assert not parts.folder.exists()


def test_large_csv_keeps_its_cells_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr("unswayed.model.data.csv.SMALL_FILE", -1)
    write_all(open_parts(tmp_path / "out.csv", None), csv_chunks(tmp_path))
    found = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    assert found.values.tolist() == [
        ["007", "1", "a", "True", "n,1"],
        ["008", "2.5", "", "True", "n,1"],
        ["009", "NA", "c", "True", "n,1"],
    ]


def test_parquet_of_a_csv_has_the_types_of_whole_columns(tmp_path):
    """The codes stay texts, numbers become numbers though one part has only integers."""
    write_all(open_parts(tmp_path / "out.parquet", None), csv_chunks(tmp_path, rows=1))
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert found["id"].tolist() == ["007", "008", "009"]
    assert found["x"].tolist()[:2] == [1.0, 2.5]
    assert np.isnan(found["x"].iloc[2])
    assert found["y"].isna().tolist() == [False, True, False]
    assert found["safe"].dtype == bool


def test_the_same_job_goes_on_and_another_starts_anew(tmp_path):
    chunks = csv_chunks(tmp_path)
    parts = open_parts(tmp_path / "out.csv", {"job": 1})
    write_part(parts, 0, chunks[0], added(chunks[0]), {"number": 0})
    again = open_parts(tmp_path / "out.csv", {"job": 1})
    assert read_notes(again, 0)["number"] == 0
    assert read_notes(again, 1) is None
    other = open_parts(tmp_path / "out.csv", {"job": 2})
    assert read_notes(other, 0) is None
    write_part(other, 0, chunks[0], added(chunks[0]), {"number": 0})
    assert read_notes(open_parts(tmp_path / "out.csv", None), 0) is None


@pytest.mark.parametrize("left", ["000001.csv.partial", "000001.json"])
def test_half_a_part_is_none(tmp_path, left):
    """What a process leaves behind that dies while it writes is not taken for a part."""
    chunks = csv_chunks(tmp_path)
    parts = open_parts(tmp_path / "out.csv", {"job": 1})
    write_part(parts, 0, chunks[0], added(chunks[0]), {})
    (parts.folder / left).write_text("{}")
    again = open_parts(tmp_path / "out.csv", {"job": 1})
    assert read_notes(again, 1) is None
    write_all(again, chunks, first=1)
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 4


def test_a_full_disk_names_the_rows_and_keeps_what_is_done(tmp_path, monkeypatch):
    chunks = csv_chunks(tmp_path)
    parts = open_parts(tmp_path / "out.csv", {"job": 1})
    write_part(parts, 0, chunks[0], added(chunks[0]), {})

    def fail(*_args, **_options):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("unswayed.model.data.parts.write_csv", fail)
        with pytest.raises(FormatError, match=r"rows 3 to 3 .*No space left.*2 rows before them are kept"):
            write_part(parts, 1, chunks[1], added(chunks[1]), {})
    assert read_notes(parts, 1) is None
    write_all(open_parts(tmp_path / "out.csv", {"job": 1}), chunks, first=1)
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 4


def test_nothing_half_written_appears(tmp_path, monkeypatch):
    (chunk,) = csv_chunks(tmp_path, rows=9)
    monkeypatch.setattr("unswayed.model.data.row_files.csv_line", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_rows(chunk, added(chunk), tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_stay_of_their_library(library):
    frame = pytest.importorskip(library)
    make = frame.table if library == "pyarrow" else frame.DataFrame
    given = make({"x": [1, 2], "safe": ["a", "b"]})
    (chunk,) = read_chunks(given)
    added = {"safe": np.array([True, False]), "note": np.array([None, "n"], dtype=object)}
    with pytest.warns(UnswayedWarning, match="'unswayed_safe'"):
        found = frame_with(chunk, added)
    assert type(found) is type(given)
    as_lists = found.to_pydict() if library == "pyarrow" else {n: list(found[n]) for n in found.columns}
    assert list(as_lists) == ["x", "safe", "unswayed_safe", "note"]
    assert as_lists["x"] == [1, 2]
    assert as_lists["safe"] == ["a", "b"], "a person's own column stays"
    assert as_lists["unswayed_safe"] == [True, False]
    assert as_lists["note"][1] == "n"


def test_pandas_rows_keep_their_index():
    given = pd.DataFrame({"x": [1, 2]}, index=["one", "two"])
    (chunk,) = read_chunks(given)
    found = frame_with(chunk, {"safe": np.array([True, False])})
    assert found.index.tolist() == ["one", "two"]
    assert found.loc["two", "safe"] == False  # noqa: E712 - numpy's False
