"""Variables and states from a table read block by block, against the same table in memory."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unswayed.core.errors import FormatError, LimitError, ModelError, QueryError, UnswayedWarning
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable
from unswayed.learning import learn_naive_bayes, learn_tan
from unswayed.model import AtMean, Discretization, EqualFrequency, EqualWidth, open_csv
from unswayed.model.data.census import infer_variables, read_coded
from unswayed.model.data.column_warnings import list_column_warnings
from unswayed.model.data.dataset import join_datasets, make_dataset
from unswayed.model.data.tables import read_table


@pytest.fixture(params=["library", "arrow"])
def small_blocks(request, monkeypatch):
    """Blocks of some rows, by both readers of CSV files."""
    monkeypatch.setattr("unswayed.model.data.row_source.BLOCK_ROWS", 13)
    monkeypatch.setattr("unswayed.model.data.value_tally.FEWEST", 5)
    if request.param == "arrow":
        monkeypatch.setattr("unswayed.model.data.csv.SMALL_FILE", -1)
    return request.param


def mixed_frame(n_rows: int = 150, seed: int = 0) -> pd.DataFrame:
    """Measurements, whole numbers, labels, weights, and gaps everywhere; labels that turn up late."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    frame = pd.DataFrame(
        {
            "measured": np.round(rng.normal(size=n_rows) + y, 2),
            "few": rng.integers(0, 4, n_rows),
            "many": rng.integers(-30, 60, n_rows) + 5 * y,
            "label": rng.choice(["b", "a", "10", "9"], n_rows),
            "late": [*map(str, rng.integers(0, 30, n_rows - 20)), *["x"] * 20],
            "marked": [*map(str, rng.normal(size=n_rows - 20).round(1)), *["-", " NA "] * 10],
            "constant": 7,
            "empty": None,
            "y": np.array(["no", "yes", " yes"])[y],
            "w": rng.integers(0, 3, n_rows),
        }
    ).astype(object)
    for name in ("measured", "few", "many", "label", "y"):
        frame.loc[rng.random(n_rows) < 0.1, name] = None
    return frame


METHODS = [None, EqualFrequency(4), EqualWidth(3), AtMean()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("method", METHODS)
def test_a_csv_file_in_blocks_is_the_file_in_memory(tmp_path, small_blocks, method, weights):
    path = tmp_path / "rows.csv"
    mixed_frame().to_csv(path, index=False)
    cuts = {} if method is None else {"many": [0, 20]}
    cutting = Discretization(method, cuts)
    census = infer_variables(path, "y", discretization=cutting, weights=weights)
    whole = make_dataset(read_table(path), "y", discretization=cutting, weights=weights)
    joined = join_datasets(list(read_coded(census)))
    assert census.variables == whole.variables
    assert joined.codes.tolist() == whole.codes.tolist()
    assert joined.weights.tolist() == whole.weights.tolist()
    assert census.n_rows == whole.n_rows
    position = whole.index("y")
    for state, weight in enumerate(census.class_weights.tolist()):
        assert weight == whole.weights[whole.codes[:, position] == state].sum()


@pytest.mark.parametrize("learn", [learn_naive_bayes, learn_tan])
def test_networks_of_parquet_files_and_datasets_are_those_of_frames(tmp_path, monkeypatch, learn):
    from pyarrow import dataset

    monkeypatch.setattr("unswayed.model.data.row_source.BLOCK_ROWS", 13)
    frame = mixed_frame()[["measured", "few", "many", "label", "y", "w"]]
    frame = frame.astype({"measured": float, "few": float, "many": float, "w": float})
    frame.to_parquet(tmp_path / "rows.parquet")
    expected = learn(frame, "y", weights="w")
    assert learn(tmp_path / "rows.parquet", "y", weights="w") == expected
    assert learn(dataset.dataset(tmp_path / "rows.parquet"), "y", weights="w") == expected


def test_a_target_of_measurements_is_cut_where_it_is_told_to_be(tmp_path, small_blocks):
    path = tmp_path / "rows.csv"
    rng = np.random.default_rng(3)
    pd.DataFrame({"x": rng.normal(size=90), "y": rng.normal(size=90)}).to_csv(path, index=False)
    cutting = Discretization(cuts_by_column={"y": [0.0, 0.5]})
    whole = make_dataset(read_table(path), "y", discretization=cutting)
    assert infer_variables(path, "y", discretization=cutting).variables == whole.variables
    with pytest.raises(ModelError, match="holds measurements such as"):
        infer_variables(path, "y")


def sampled(path, monkeypatch, block_rows=1000):
    monkeypatch.setattr("unswayed.model.data.census.MOST_PAIRS", 2 * 400)
    monkeypatch.setattr("unswayed.model.data.row_source.BLOCK_ROWS", block_rows)
    monkeypatch.setattr("unswayed.model.data.value_tally.FEWEST", 50)
    with pytest.warns(UnswayedWarning, match="too many different numbers to count each .* in 'x'"):
        return infer_variables(path, "y")


def test_beyond_the_bound_cuts_lie_next_to_a_sample_and_counts_stay_exact(tmp_path, monkeypatch):
    """x is uniform, and the class changes at 0.3: the cut is at most a gap of the sample away."""
    rng = np.random.default_rng(1)
    x = rng.random(20_000)
    path = tmp_path / "rows.csv"
    pd.DataFrame({"x": x, "y": np.where(x < 0.3, "low", "high")}).to_csv(path, index=False)
    census = sampled(path, monkeypatch)
    assert census.sampled == ("x",)
    first = census.variables[0].states[0]
    cut = float(first.removeprefix("<="))
    # Of some hundreds of evenly spread values, one lies nearer than 0.05 to any place.
    assert abs(cut - 0.3) < 0.05
    coded = join_datasets(list(read_coded(census)))
    assert (coded.codes[:, 0] == 0).sum() == (x <= cut).sum()


def test_a_sample_depends_neither_on_blocks_nor_on_the_order_of_rows(tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    x = rng.normal(size=5_000)
    frame = pd.DataFrame({"x": x, "y": np.where(x + rng.normal(size=5_000) > 0.4, "p", "n")})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.sort_values("x", ignore_index=True).to_parquet(tmp_path / "sorted.parquet")
    variables = [
        sampled(tmp_path / name, monkeypatch, rows).variables
        for name, rows in (("rows.csv", 1000), ("rows.csv", 77), ("sorted.parquet", 300))
    ]
    assert variables[0] == variables[1] == variables[2]


def test_ids_are_suspected_whether_or_not_each_is_counted(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    pd.DataFrame({"x": np.arange(3_000), "y": ["a", "b"] * 1_500}).to_csv(path, index=False)
    words = "x: the whole numbers 0 to 2999, one a row; an id? Leave it out with --ignore"
    assert list(list_column_warnings(infer_variables(path, "y").seen, "y")) == [words]
    assert list(list_column_warnings(sampled(path, monkeypatch).seen, "y")) == [words]


def test_what_cannot_be_learned_from_is_refused(tmp_path, small_blocks, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "1,a\n" * 30 + "inf,b\n")
    with pytest.raises(FormatError, match=r"rows\.csv, line 32: column 'x': inf is not finite"):
        infer_variables(path, "y")
    path.write_text("x,y,w\n" + "1,a,0\n" * 30)
    with pytest.raises(ModelError, match="all rows have weight 0"):
        infer_variables(path, "y", weights="w")
    path.write_text("x,y,w\n" + "1,a,1\n" * 30 + "1,a,-2\n")
    with pytest.raises(ModelError, match=r"weight of row 30 is -2\.0"):
        infer_variables(path, "y", weights="w")
    monkeypatch.setattr("unswayed.model.data.census.MOST_TEXTS", 20)
    path.write_text("x,y\n" + "".join(f"t{i},a\n" for i in range(30)))
    with pytest.raises(LimitError, match="column 'x' has more than 20 different texts"):
        infer_variables(path, "y")
    path.write_text("x,y\n")
    with pytest.raises(FormatError, match="no rows"):
        infer_variables(path, "y")


MEMORY = """
import sys
from unswayed.learning import learn_naive_bayes
learn_naive_bayes(sys.argv[1], "y")
# getrusage would count what the process that started this one took.
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the most memory of a process")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    """Ten times the rows, in a process of their own: more by what is read ahead, not by the rows.

    The columns of the larger table alone would take 160 MB more; pyarrow reads some tens of megabytes ahead.
    """
    import pyarrow
    from pyarrow import csv

    rng = np.random.default_rng(0)
    taken = []
    for n_rows in (400_000, 4_000_000):
        path = tmp_path / f"{n_rows}.csv"
        y = rng.integers(0, 2, n_rows)
        csv.write_csv(
            pyarrow.table({**{f"x{j}": rng.integers(0, 500, n_rows) + y for j in range(4)}, "y": y}), path
        )
        found = subprocess.run(
            [sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=True, timeout=240
        )
        taken.append(float(found.stdout))
    assert taken[1] < taken[0] + 80_000, taken


def pointed_file(path: Path, numbers: list[int]) -> Path:
    """Whole numbers with points between thousands, gaps among them, beside a class."""
    cells = [f"{number:,}".replace(",", ".") for number in numbers]
    cells[5] = cells[20] = ""
    rows = [f"{cell},{'no' if number < 6000 else 'yes'}" for cell, number in zip(cells, numbers, strict=True)]
    path.write_text("\n".join(["x,y", *rows]))
    return path


def test_decimals_that_may_be_thousands_are_counted_in_all_blocks(tmp_path, monkeypatch, small_blocks):
    monkeypatch.setattr("unswayed.model.data.csv.BLOCK_ROWS", 13)
    path = pointed_file(tmp_path / "x.csv", list(range(203, 12_203, 200)))
    with pytest.warns(UnswayedWarning, match=r"column 'x': '1\.003' and 53 others are read as decimals"):
        infer_variables(path, "y")


def test_one_cell_beyond_the_pattern_settles_it(tmp_path, monkeypatch, small_blocks):
    """The last of many blocks holds 5.1: these are measurements."""
    monkeypatch.setattr("unswayed.model.data.csv.BLOCK_ROWS", 13)
    path = tmp_path / "x.csv"
    cells = [*(f"{1.001 + i:.3f}" for i in range(60)), "5.1"]
    path.write_text("\n".join(["x,y", *(f"{cell},{i % 2}" for i, cell in enumerate(cells))]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        infer_variables(path, "y")


def test_named_thousands_are_the_numbers_without_points(tmp_path, small_blocks):
    numbers = [203, 950, 7_100, 1_234_567, *range(1003, 12_003, 200)]
    path = pointed_file(tmp_path / "x.csv", numbers)
    plain = pd.DataFrame(
        {"x": np.array(numbers, dtype=float), "y": np.where(np.array(numbers) < 6000, "no", "yes")}
    )
    plain.loc[[5, 20], "x"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        file = open_csv(path, thousands=["x"])
        assert learn_naive_bayes(file, "y") == learn_naive_bayes(plain, "y")
        np.testing.assert_array_equal(read_table(file).column("x").values, plain["x"])
    classifier = Classifier(learn_naive_bayes(plain, "y"), "y", ["x"], MostProbable())
    assert list(classifier.predict(file)) == list(classifier.predict(plain))
    assert make_dataset(file, "y").codes.tolist() == make_dataset(plain, "y").codes.tolist()


def test_thousands_are_named_for_csv_files_alone(tmp_path):
    with pytest.raises(QueryError, match="CSV files alone"):
        open_csv(tmp_path / "x.parquet", thousands=["x"])
