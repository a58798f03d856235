"""Tables from files, dataframes, mappings and arrays, and what is wrong with broken ones."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unswayed.core.errors import FormatError, ModelError, QueryError
from unswayed.model.data.tables import LabelColumn, NumberColumn, Table, read_table


def write(folder: Path, text: str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def cells(table: Table, name: str) -> list[object]:
    """The cells of a column as Python values, None where missing."""
    column = table.column(name)
    if isinstance(column, NumberColumn):
        return [None if np.isnan(value) else value for value in column.values.tolist()]
    return [None if code < 0 else column.labels[code] for code in column.codes]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_csv_numbers_and_labels(tmp_path: Path, delimiter: str, name: str, mark: str) -> None:
    rows = ["age,smokes,note", "31,yes,a", "47.5, no ,?", ",NA,b"]
    table = read_table(write(tmp_path, mark + "\n".join(row.replace(",", delimiter) for row in rows), name))
    assert table.names == ("age", "smokes", "note")
    assert cells(table, "age") == [31.0, 47.5, None]
    assert cells(table, "smokes") == ["yes", "no", None]
    assert cells(table, "note") == ["a", None, "b"]


def test_csv_quoted_cells_may_hold_delimiters_and_line_ends(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, 'a;"b;c"\r\n"x;y";"two\nlines"\r\n\r\n1;2\r\n'))
    assert table.names == ("a", "b;c")
    assert cells(table, "a") == ["x;y", "1"]
    assert cells(table, "b;c") == ["two\nlines", "2"]


def test_csv_labels_that_differ_in_blanks_are_one(tmp_path: Path) -> None:
    column = read_table(write(tmp_path, "a\nx\n x\nx \ny\n")).column("a")
    assert isinstance(column, LabelColumn)
    assert (column.labels, column.codes.tolist()) == (("x", "y"), [0, 0, 0, 1])


def test_csv_in_blocks_is_csv_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    text = "n,s\n" + "".join(f"{rng.integers(9)},{rng.choice(['p', 'q', ''])}\n" for _ in range(50))
    path = write(tmp_path, text)
    whole = read_table(path)
    monkeypatch.setattr("unswayed.model.data.csv.BLOCK_ROWS", 7)
    for name in whole.names:
        assert cells(read_table(path), name) == cells(whole, name)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "empty"),
        ("a,b\n", None, "no rows"),
        ("a,b\n1,2\n\n3\n", 4, "1 cells found, but the first line names 2 columns"),
        ("a,b\n1,2,3\n", 2, "3 cells found"),
        ("a,a\n1,2\n", 1, "columns share a name: 'a'"),
        ("a,\n1,2\n", 1, "column 2 has no name"),
        ("1.5,2\n1,2\n", 1, "expected column names, found numbers"),
        ("a,b\n1,2\ninf,3\n", 3, "column 'a': inf is not finite"),
        ('a,b\n1,"2\n', 2, "not a CSV file here"),
    ],
)
def test_broken_csv_names_the_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read_table(write(tmp_path, text))
    assert caught.value.line == line


def test_missing_file() -> None:
    with pytest.raises(FormatError, match="no such file"):
        read_table("no/such/file.csv")


FRAMES = {
    "pandas": pd.DataFrame(
        {
            "number": [1.5, np.nan, 3.0],
            "integer": pd.array([1, None, 3], dtype="Int64"),
            "text": ["01", None, "?"],
            "truth": pd.array([True, None, False], dtype="boolean"),
            "grade": pd.Categorical(["low", None, "high"], ["low", "mid", "high"], ordered=True),
            "mixed": pd.Series([1, "a", None], dtype=object),
        }
    ),
    "polars": pl.DataFrame(
        {
            "number": [1.5, float("nan"), 3.0],
            "integer": [1, None, 3],
            "text": ["01", None, "?"],
            "truth": [True, None, False],
            "grade": pl.Series(["low", None, "high"], dtype=pl.Enum(["low", "mid", "high"])),
            "mixed": pl.Series(["1", "a", None]),
        }
    ),
}


@pytest.mark.parametrize("make", FRAMES)
def test_frames_keep_the_types_of_their_columns(make: str) -> None:
    table = read_table(FRAMES[make])
    assert cells(table, "number") == [1.5, None, 3.0]
    assert cells(table, "integer") == [1.0, None, 3.0]
    assert cells(table, "text") == ["01", None, None]
    assert cells(table, "truth") == ["True", None, "False"]
    assert cells(table, "mixed") == ["1", "a", None]
    grade = table.column("grade")
    assert isinstance(grade, LabelColumn)
    assert (grade.labels, grade.codes.tolist(), grade.declared) == (("low", "mid", "high"), [0, -1, 2], True)


def test_pyarrow_tables_are_read() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = read_table(pyarrow.table({"a": [1.0, None], "b": ["x", "y"]}))
    assert cells(table, "a") == [1.0, None]
    assert cells(table, "b") == ["x", "y"]


def test_equal_columns_of_pyarrow_tables_have_names_of_their_own() -> None:
    arrow = pytest.importorskip("pyarrow")
    assert read_table(arrow.table({"a": [0], "b": [0]})).names == ("a", "b")


def test_integers_too_large_for_floats_stay_apart() -> None:
    large = 2**60
    for data in (pd.DataFrame({"id": [large, large + 1]}), np.array([[large], [large + 1]])):
        column = read_table(data).columns[0]
        assert isinstance(column, LabelColumn)
        assert column.labels == (str(large), str(large + 1))


def test_arrays_and_mappings() -> None:
    table = read_table(np.array([[1, 2], [3, 4]]))
    assert table.names == ("x0", "x1")
    assert cells(table, "x1") == [2.0, 4.0]
    assert cells(read_table({"a": [True, False]}), "a") == ["True", "False"]
    assert cells(read_table(np.array([["u"], ["v"]], dtype=object)), "x0") == ["u", "v"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pd.DataFrame({"a": []}), "no rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "columns share a name: 'a'"),
        ({"a": [1, 2], "b": [1]}, "columns differ in length"),
        ({}, "no columns"),
        ({"a": [1.0, np.inf]}, "column 'a', row 1: inf is not finite"),
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])}), "column 'day' holds Datetime"),
        (np.zeros(3), "two dimensions"),
        (pl.LazyFrame({"a": [1]}), "call .collect()"),
        (17, "cannot read a table from int"),
    ],
)
def test_broken_data_are_refused(data: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        read_table(data)


def test_unknown_column_suggests_the_nearest() -> None:
    with pytest.raises(QueryError, match="did you mean 'smokes'"):
        read_table({"smokes": ["yes"]}).column("smoke")


def test_usual_marks_of_missing_values_and_bars_between_cells(tmp_path):
    """A dash or a point is missing among numbers, and a label like any other among labels."""
    path = tmp_path / "rows.csv"
    path.write_text("age|vote|kind\n31|+|a\n-|-|N/A\n.|+|NULL\n47|-|b\nn/a|+|#N/A\n")
    table = read_table(path)
    age, vote, kind = table.columns
    np.testing.assert_array_equal(age.values, [31.0, np.nan, np.nan, 47.0, np.nan])
    assert vote.labels == ("+", "-")
    assert vote.codes.tolist() == [0, 1, 0, 1, 0]
    assert kind.labels == ("a", "b")
    assert kind.codes.tolist() == [0, -1, -1, 1, -1]
