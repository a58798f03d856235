"""Chunks of a table are the table: every kind of source, and the same cells by either reader of CSV files."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unswayed.core.errors import FormatError, ModelError
from unswayed.learning import learn_naive_bayes
from unswayed.model.data.chunks import chunk_table, estimate_rows, read_chunks, read_whole
from unswayed.model.data.encoding import encode
from unswayed.model.data.row_files import cells_of
from unswayed.model.data.tables import LabelColumn, Table, read_table
from unswayed.model.variable import Variable

pyarrow = pytest.importorskip("pyarrow", reason="large files are read by pyarrow")

TEXTS = {
    "numbers": "a,b\n1,2.5\n,3\n-,1e3\nNA,.5\n",
    "labels": "a;b\nyes;no\n ?;maybe \nno; no\n",
    "quotes": 'a,b\n"x, y","two\nlines"\n"say ""so""",z\n',
    "blank lines": "a,b\n\n1,2\n\n3,4\n",
    "codes": "a\n1_000\n2\n",
    "late label": "a,b\n" + "1,007\n" * 30 + "x,008\n",
    "late mark": "a\n" + "1\n" * 30 + "-\n",
    "nothing": "a,b\n,\n?,NA\n",
    "plus": "a\n+1\n2\n",
    "bare returns": "a,b\r1,x\r\r2,y\r",
    "returns in quotes": 'a,b\r1,"x\ry"\r2,y',
}


def cells(table: Table) -> dict[str, list[object]]:
    found = {}
    for column in table.columns:
        if isinstance(column, LabelColumn):
            found[column.name] = [None if c < 0 else column.labels[c] for c in column.codes]
        else:
            found[column.name] = [None if np.isnan(v) else v for v in column.values]
    return found


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_both_readers_read_the_same_cells(tmp_path, monkeypatch, text, suffix):
    path = tmp_path / f"table{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith(".gz") else text.encode())
    by_library = cells(read_table(path))
    monkeypatch.setattr("unswayed.model.data.csv.SMALL_FILE", -1)
    monkeypatch.setattr("unswayed.model.data.csv.BLOCK_ROWS", 7)
    assert cells(read_table(path)) == by_library
    monkeypatch.setattr("unswayed.model.data.arrow.has_arrow", lambda: False)
    assert cells(read_table(path)) == by_library


LATE = """
import json, sys, warnings
from pathlib import Path
import pyarrow
from unswayed.model.data import csv
from unswayed.model.data.census import read_coded, infer_variables
from unswayed.model.data.dataset import join_datasets
warnings.simplefilter("ignore")
path = Path(sys.argv[1])
assert path.stat().st_size > csv.SMALL_FILE
table = csv.read_csv(path)
census = infer_variables(path, "word")
coded = join_datasets(list(read_coded(census)))
found = {c.name: [type(c).__name__, getattr(c, "labels", ())[:40]] for c in table.columns}
print(json.dumps([found, [list(v.states) for v in coded.variables], coded.codes[-9:].tolist()]))
print(pyarrow.cpu_count(), file=sys.stderr)
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_a_large_file_with_late_words_is_read_with_any_number_of_threads(tmp_path, threads):
    path = tmp_path / "late.csv"
    rows = [
        f"{i % 7},{i % 5},{i % 3}.5,{'yes' if i % 2 else 'no'},{'-' if i % 11 == 0 else i % 4}"
        for i in range(350_000)
    ]
    rows[-5:] = ["x,1,1.5,no,1", "1,1,1.5,no,2", "y,NA,w,no,-", ",1,2.5,yes,3", "1,2,0.5,no,"]
    path.write_text("word,plain,second,label,marked\n" + "\n".join(rows) + "\n")
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    outcome = subprocess.run(
        [sys.executable, "-c", LATE, str(path)], capture_output=True, text=True, env=environment, timeout=300
    )
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr.split() == [str(threads)]
    columns, states, codes = json.loads(outcome.stdout)
    assert columns == {
        "word": ["LabelColumn", ["0", "1", "2", "3", "4", "5", "6", "x", "y"]],
        "plain": ["NumberColumn", []],
        "second": ["LabelColumn", ["0.5", "1.5", "2.5", "w"]],
        "label": ["LabelColumn", ["no", "yes"]],
        "marked": ["NumberColumn", []],
    }
    assert states == [
        ["0", "1", "2", "3", "4", "5", "6", "x", "y"],
        ["0", "1", "2", "3", "4"],
        ["0.5", "1.5", "2.5", "w"],
        ["no", "yes"],
        ["0", "1", "2", "3"],
    ]
    assert codes[-5:] == [
        [7, 1, 1, 0, 1],
        [1, 1, 1, 0, 2],
        [8, -1, 3, 0, -1],
        [-1, 1, 2, 1, 3],
        [1, 2, 0, 0, -1],
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_encodings_of_large_files(tmp_path, monkeypatch, encoding):
    path = tmp_path / "table.csv"
    path.write_bytes("Größe,x\ngroß,1\nklein,2\n".encode(encoding))
    monkeypatch.setattr("unswayed.model.data.csv.SMALL_FILE", -1)
    assert cells(read_table(path)) == {"Größe": ["groß", "klein"], "x": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", 3, "3 cells found"),
        ("a,b\n1,2\n\n3\n", 4, "1 cells found"),
        ("a\n1\ninf\n", 3, "not finite"),
        ("a,a\n1,2\n", 1, "share a name"),
        ("", 1, "empty"),
    ],
)
def test_large_broken_files_name_the_line(tmp_path, monkeypatch, text, line, message):
    path = tmp_path / "table.csv"
    path.write_text(text)
    monkeypatch.setattr("unswayed.model.data.csv.SMALL_FILE", -1)
    with pytest.raises(FormatError, match=message) as error:
        list(map(chunk_table, read_chunks(path)))
    assert error.value.line == line


def test_rows_before_a_broken_line_are_given(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "1,2\n" * 5 + "3\n")
    chunks = read_chunks(path, rows=2)
    assert [next(chunks).n_rows, next(chunks).n_rows] == [2, 2]
    with pytest.raises(FormatError, match="1 cells found"):
        next(chunks)


def sources(folder: Path) -> dict[str, object]:
    frame = pd.DataFrame({"age": np.arange(10.0), "smokes": ["yes", "no", None, "no", "yes"] * 2})
    table = pyarrow.Table.from_pandas(frame)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    (folder / "many").mkdir()
    frame[:4].to_parquet(folder / "many" / "0.parquet")
    frame[4:].to_parquet(folder / "many" / "1.parquet")
    from pyarrow import dataset, feather

    feather.write_feather(table, folder / "t.feather")
    return {
        "csv": folder / "t.csv",
        "parquet": str(folder / "t.parquet"),
        "folder": folder / "many",
        "feather": folder / "t.feather",
        "dataset": dataset.dataset(folder / "t.parquet"),
        "batches": pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=3)),
        "pandas": frame,
        "arrow": table,
        "mapping": {"age": frame["age"].tolist(), "smokes": ["yes", "no", None, "no", "yes"] * 2},
        "iterator": iter([frame[:3], frame[3:]]),
    }


WHOLE = ["csv", "parquet", "folder", "feather", "pandas", "arrow", "mapping"]
NAMES = [*WHOLE, "dataset", "batches", "iterator"]


@pytest.mark.parametrize("name", NAMES)
def test_every_source_in_chunks(tmp_path, name):
    source = sources(tmp_path)[name]
    chunks = list(read_chunks(source, rows=4))
    assert sum(chunk.n_rows for chunk in chunks) == 10
    assert max(chunk.n_rows for chunk in chunks) == 4
    assert [chunk.first_row for chunk in chunks] == np.cumsum([0, *(c.n_rows for c in chunks)])[:-1].tolist()
    tables = [chunk_table(chunk, ["smokes", "age", "height"]) for chunk in chunks]
    assert [value for table in tables for value in cells(table)["age"]] == list(range(10))
    assert [c for t in tables for c in cells(t)["smokes"]] == ["yes", "no", None, "no", "yes"] * 2


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_table_is_one_chunk(tmp_path, name):
    source = sources(tmp_path)[name]
    whole = read_whole(source)
    assert (whole.n_rows, whole.names) == (10, ("age", "smokes"))
    assert list(cells_of(whole)) == ["age", "smokes"]
    assert cells(read_table(source)) == cells(chunk_table(whole))


def test_several_tables_are_not_one(tmp_path):
    with pytest.raises(ModelError, match="several parts"):
        read_whole(sources(tmp_path)["iterator"])


def test_columns_of_other_types_are_carried_along(tmp_path):
    """A date is no feature; a chunk keeps it, and only who asks for it is refused."""
    frame = pd.DataFrame({"age": [1.0, 2.0], "day": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    frame.to_parquet(tmp_path / "t.parquet")
    (chunk,) = read_chunks(tmp_path / "t.parquet")
    assert cells(chunk_table(chunk, ["age"])) == {"age": [1.0, 2.0]}
    with pytest.raises(ModelError, match="column 'day' holds"):
        chunk_table(chunk)


def test_states_do_not_depend_on_the_chunks(tmp_path):
    """A column that holds numbers in one chunk and a word in another finds the same states."""
    path = tmp_path / "t.csv"
    path.write_text("age\n" + "".join(f"{value}\n" for value in [25, 35.0, "?", 70, "unknown", 61]))
    age = [Variable("age", ["<=30", "30..60", ">60"])]
    with pytest.warns(match="'unknown'"):
        whole = encode(read_table(path), age).codes[:, 0].tolist()
    with pytest.warns(match="'unknown'"):
        parts = [encode(chunk_table(chunk), age).codes[:, 0] for chunk in read_chunks(path, rows=2)]
    assert np.concatenate(parts).tolist() == whole == [0, 1, -1, 2, -1, 2]


def test_rows_are_estimated(tmp_path):
    found = {name: estimate_rows(source) for name, source in sources(tmp_path).items()}
    assert found["parquet"] == found["folder"] == found["pandas"] == 10
    assert 8 <= found["csv"] <= 12
    assert found["batches"] is None


def test_learning_from_a_large_file_is_learning_from_a_small_one(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 500)
    frame = pd.DataFrame({"x": (rng.normal(size=500) + label).round(3), "y": rng.choice(["a", "b", ""], 500)})
    frame.assign(label=label).to_csv(tmp_path / "t.csv", index=False)
    small = learn_naive_bayes(tmp_path / "t.csv", "label")
    monkeypatch.setattr("unswayed.model.data.csv.SMALL_FILE", -1)
    large = learn_naive_bayes(tmp_path / "t.csv", "label")
    assert large.variables == small.variables
    for one, other in zip(large.cpts, small.cpts, strict=True):
        assert np.array_equal(one.table, other.table)
