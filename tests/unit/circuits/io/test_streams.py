"""Rows from files and Arrow give the same counts as rows in memory."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from oracles.enumerate_psdd import all_rows, structure_of
from unswayed.circuits.io.streams import stream_rows
from unswayed.circuits.psdd.learn import count_examples, count_stream
from unswayed.circuits.vtree import right_linear
from unswayed.core.errors import FormatError, QueryError

NAMES = ("a", "b", "c")


@pytest.fixture
def rows():
    return np.random.default_rng(0).integers(0, 2, (1000, 3)).astype(bool)


@pytest.fixture
def structure():
    return structure_of(right_linear(NAMES), all_rows(3)[1:])


def csv_text(rows, *, end="\n") -> str:
    """Columns in another order, and one more."""
    lines = ["c,other,a,b"] + [f"{int(c)},7,{int(a)},{int(b)}" for a, b, c in rows]
    return end.join(lines) + end


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_csv_is_counted_chunk_by_chunk(tmp_path, rows, structure, name, end):
    rows = rows[rows.any(axis=1)]
    data = csv_text(rows, end=end).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    found = count_stream(structure, stream_rows(tmp_path / name, NAMES, chunk_rows=77))
    assert found.total == len(rows)
    assert (found.uses == count_examples(structure, rows).uses).all()


def test_plain_digits_and_words_are_the_same(tmp_path):
    (tmp_path / "plain.csv").write_text("a,b,c\n1,0,1\n0,0,1")
    (tmp_path / "words.csv").write_text("a,b,c\n true ,F,1.0\n0,0,T\n\n")
    plain, words = (
        np.concatenate(list(stream_rows(tmp_path / f"{n}.csv", NAMES))) for n in ("plain", "words")
    )
    assert plain.tolist() == words.tolist() == [[1, 0, 1], [0, 0, 1]]


def test_missing_values_of_csv_are_unknown(tmp_path):
    (tmp_path / "x.csv").write_text("a,b,c\n1,,?\nNaN,NA,0\n")
    assert next(stream_rows(tmp_path / "x.csv", NAMES)).tolist() == [[1, -1, -1], [-1, -1, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,0\n", "unknown column 'c'"),
        ("a,b,c\n1,0,2\n", "line 2: '2' is no truth value"),
        ("a,b,c\n1,0,1\n1,0\n", "line 3: 2 cells found, but the first line names 3 columns"),
        ("a,b,c\n1,0,1\n1,x,0\n", "line 3: 'x' is no truth value"),
        ("", "the file is empty"),
    ],
)
def test_broken_csv_says_where(tmp_path, text, message):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises((FormatError, QueryError), match=message):
        list(stream_rows(tmp_path / "x.csv", NAMES))


def test_words_that_turn_up_late_are_read(tmp_path, monkeypatch):
    """Blocks before were read as numbers, by a reader that must begin again."""
    monkeypatch.setattr("unswayed.model.data.csv.SMALL_FILE", -1)
    monkeypatch.setattr("unswayed.model.data.arrow.BLOCK_BYTES", 600)
    (tmp_path / "x.csv").write_text("a,b,c\n" + "1,0,1\n" * 500 + "0,true,1\n")
    marks = np.concatenate(list(stream_rows(tmp_path / "x.csv", NAMES, chunk_rows=60)))
    assert marks.tolist() == [[1, 0, 1]] * 500 + [[0, 1, 1]]


def test_missing_files_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    for name in ("missing.csv", "missing.parquet"):
        with pytest.raises(FormatError, match="no such file"):
            list(stream_rows(tmp_path / name, NAMES))


def test_arrow_tables_and_parquet_files(tmp_path, rows):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"c": rows[:, 2], "a": rows[:, 0].astype(np.int8), "b": rows[:, 1].astype(float)})
    parquet.write_table(table, tmp_path / "x.parquet")
    for source in (table, table.to_reader(), tmp_path / "x.parquet", str(tmp_path / "x.parquet")):
        chunks = list(stream_rows(source, NAMES, chunk_rows=100))
        assert (np.concatenate(chunks) == rows).all()
        assert max(map(len, chunks)) <= 1000
    with pytest.raises(QueryError, match="unknown column 'd'"):
        list(stream_rows(tmp_path / "x.parquet", "abd"))
    nulls = arrow.table({"a": [True, None], "b": [0, 1], "c": [1, 1]})
    assert next(stream_rows(nulls, NAMES)).tolist() == [[1, 0, 1], [-1, 1, 1]]
    with pytest.raises(QueryError, match="column 'a', row 0: '3' is no truth value"):
        list(stream_rows(arrow.table({"a": [3], "b": [0], "c": [0]}), NAMES))
