"""`unswayed learn`: the textbook's weather data, options, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tolerances import paper
from unswayed.model.formats.files import read_network

WEATHER = Path(__file__).resolve().parents[2] / "examples" / "weather.csv"


def test_naive_bayes_on_the_weather_data_gives_the_textbook_s_answer(unswayed, tmp_path):
    """Likelihoods .0053 of play and .0206 of none, so 20.5% and 79.5%: Witten and Frank, Data Mining, 4.2."""
    output = tmp_path / "weather.bif"
    outcome = unswayed("learn", WEATHER, "--target", "play", "--smoothing", "0", "-o", output)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (f"learned from 14 rows; play: no 5, yes 9\nwrote {output}: 5 variables, 4 arcs\n")
    day = "outlook=sunny,temperature=cool,humidity=high,windy=yes"
    answer = json.loads(unswayed("posterior", output, "--of", "play", "-e", day, "--json").out)
    assert answer["posteriors"]["play"]["yes"] == pytest.approx(0.205, abs=paper(3))


def test_tan_adds_a_tree_over_the_features(unswayed, tmp_path):
    output = tmp_path / "weather.net"
    outcome = unswayed("learn", WEATHER, "--target", "play", "--structure", "tan", "-o", output)
    assert outcome.out.endswith("5 variables, 7 arcs\n")
    assert read_network(output).name == "weather"


def test_json_tells_what_was_learned_from(unswayed, tmp_path):
    output = tmp_path / "weather.bif"
    outcome = unswayed("learn", WEATHER, "--target", "play", "-o", output, "--json")
    assert json.loads(outcome.out) == {
        "output": str(output),
        "structure": "naive",
        "target": "play",
        "n_rows": 14,
        "rows_by_class": {"no": 5.0, "yes": 9.0},
        "constant_columns": [],
        "sampled_columns": [],
        "rows_without_class": 0.0,
    }


@pytest.fixture
def measured(tmp_path):
    """Twelve rows: a number that tells the class, one that does not, and a row's own name."""
    path = tmp_path / "measured.csv"
    rows = [f"p{i},{i + 0.5},{i % 2 + 0.25},{'old' if i > 5 else 'young'}" for i in range(12)]
    path.write_text("\n".join(["id,years,noise,age", *rows]) + "\n")
    return path


def test_columns_that_say_nothing_are_named(unswayed, measured, tmp_path):
    output = tmp_path / "out.bif"
    outcome = unswayed("learn", measured, "--target", "age", "--ignore", "id", "-o", output)
    assert "of one state, so without influence: noise\n" in outcome.out
    assert read_network(output).variable("years").states == ("<=6", ">6")


@pytest.mark.parametrize(
    ("options", "states"),
    [
        (["--discretize", "mean"], ("<=6", ">6")),
        (["--discretize", "width", "--bins", "2"], ("<=6", ">6")),
        (["--discretize", "frequency", "--bins", "3"], ("<=3.5", "3.5..7.5", ">7.5")),
        (["--cut", "years=1.5,9"], ("<=1.5", "1.5..9", ">9")),
    ],
)
def test_words_choose_where_numbers_are_cut(unswayed, measured, tmp_path, options, states):
    output = tmp_path / "out.bif"
    assert unswayed("learn", measured, "--target", "age", "--ignore", "id", "-o", output, *options).code == 0
    assert read_network(output).variable("years").states == states


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "ages"], "error: unknown column 'ages'; did you mean 'age'?\n"),
        (["--target", "age", "--ignore", "idd"], "error: unknown column 'idd'; did you mean 'id'?\n"),
        (["--target", "age", "--cut", "yeers=3"], "error: unknown column 'yeers'; did you mean 'years'?\n"),
        (
            ["--target", "age", "--cut", "years=x"],
            "error: cannot read 'years=x'; expected COLUMN=NUMBER,NUMBER, such as age=30,45.5\n",
        ),
        (
            ["--target", "age", "--bins", "3"],
            "error: --bins goes with --discretize frequency or width; mdl chooses the number itself\n",
        ),
        (
            ["--target", "age", "--smoothing", "-1"],
            "error: --smoothing must be finite and at least 0, not -1.0\n",
        ),
        (
            ["--target", "years"],
            "error: the target 'years' holds measurements such as 0.5, not classes; "
            "give its cut points with --cut\n",
        ),
    ],
)
def test_what_cannot_be_learned_says_why(unswayed, measured, tmp_path, options, message):
    output = tmp_path / "out.bif"
    outcome = unswayed("learn", measured, "-o", output, *options)
    assert (outcome.code, outcome.out, outcome.err) == (2, "", message)
    assert not output.exists()


def test_columns_that_are_hardly_features_are_named(unswayed, tmp_path):
    path = tmp_path / "t.csv"
    rows = [f'{i},2024-01-{i:02d},"1,{i:03d}",text {i},{"ab"[i % 2]},same' for i in range(1, 29)]
    path.write_text("\n".join(["id,when,amount,note,kind,one", *rows]))
    outcome = unswayed("learn", path, "--target", "kind", "-o", tmp_path / "t.bif")
    assert outcome.code == 0
    assert outcome.err.splitlines() == [
        "warning: column 'amount': '1,001' is read as 1001 (commas between thousands)",
        "warning: id: the whole numbers 1 to 28, one a row; an id? Leave it out with --ignore",
        "warning: when: 28 dates in 28 rows; keep what matters of them, such as the weekday; "
        "leave it out with --ignore",
        "warning: amount: the whole numbers 1001 to 1028, one a row; an id? Leave it out with --ignore",
        "warning: note: 28 texts in 28 rows; missing marks, or an id? Leave it out with --ignore",
    ]
    outcome = unswayed("learn", path, "--target", "one", "-o", tmp_path / "t.bif")
    assert "warning: one: the class has one state, so there is nothing to tell apart\n" in outcome.err


def test_decimal_commas_are_numbers(unswayed, tmp_path):
    path = tmp_path / "d.csv"
    rows = [f"{i % 7},{i % 10};{'ab'[i % 7 > 3]}" for i in range(60)]
    path.write_text("\n".join(["x;c", *rows]))
    outcome = unswayed("learn", path, "--target", "c", "-o", tmp_path / "d.bif")
    assert outcome.err == "warning: column 'x': '0,0' is read as 0 (decimal commas)\n"
    assert read_network(tmp_path / "d.bif").variable("x").states == ("<=4", ">4")


@pytest.mark.parametrize("mark", ["NA", "N/A", "n/a", "NULL", "null", "?", "-", ".", "", "NaN", "None"])
def test_usual_marks_among_numbers_are_missing(unswayed, tmp_path, mark):
    """Ten cells of sixty are marked; the others are 0 to 98 and cut where the class changes."""
    path = tmp_path / "m.csv"
    cells = [*(str(2 * i) for i in range(50)), *[mark] * 10]
    path.write_text("x,c\n" + "".join(f"{cell},{'ab'[i % 50 > 20]}\n" for i, cell in enumerate(cells)))
    outcome = unswayed("learn", path, "--target", "c", "-o", tmp_path / "m.bif")
    assert (outcome.code, outcome.err) == (0, "")
    assert read_network(tmp_path / "m.bif").variable("x").states == ("<=41", ">41")


@pytest.mark.parametrize(
    ("spell", "words"),
    [
        (lambda n: f"{n:,}".replace(",", " "), "'1 020' is read as 1020 (marks between thousands)"),
        (lambda n: f"{n:,}".replace(",", "'"), '"1\'020" is read as 1020 (marks between thousands)'),
        (
            lambda n: f"{n:,}".replace(",", "\u202f"),
            "'1\\u202f020' is read as 1020 (marks between thousands)",
        ),
        (lambda n: f"{n:,}", "'1,020' is read as 1020 (commas between thousands)"),
        (lambda n: f"{n:,}".replace(",", ".") + ",0", "'0,0' is read as 0 (decimal commas)"),
    ],
)
def test_thousands_are_told_apart_by_any_usual_mark(unswayed, tmp_path, spell, words):
    path = tmp_path / "t.csv"
    numbers = range(0, 3060, 51)
    path.write_text("x;c\n" + "".join(f"{spell(n)};{'ab'[n >= 1581]}\n" for n in numbers))
    outcome = unswayed("learn", path, "--target", "c", "-o", tmp_path / "t.bif")
    assert outcome.err == f"warning: column 'x': {words}\n"
    assert read_network(tmp_path / "t.bif").variable("x").states == ("<=1555.5", ">1555.5")


def pointed(number: int) -> str:
    """A whole number with points between thousands."""
    return f"{number:,}".replace(",", ".")


def write_column(path, cells):
    """Cells beside the class b from the middle on."""
    half = len(cells) // 2
    path.write_text("x;c\n" + "".join(f"{cell};{'ab'[i >= half]}\n" for i, cell in enumerate(cells)))
    return path


def test_points_that_may_separate_thousands_are_warned_about(unswayed, tmp_path):
    """60 numbers from 203 to 12,003: the reading stays decimal, and the advice leads to the other one."""
    path = write_column(tmp_path / "t.csv", [pointed(n) for n in range(203, 12_203, 200)])
    learn = ["learn", path, "--target", "c", "-o", tmp_path / "t.bif"]
    outcome = unswayed(*learn)
    assert outcome.err == (
        "warning: column 'x': '1.003' and 55 others are read as decimals; if the point separates thousands, "
        "name the column with --thousands\n"
    )
    assert read_network(tmp_path / "t.bif").variable("x").states[-1].startswith(">")
    outcome = unswayed(*learn, "--thousands", "x")
    assert (outcome.code, outcome.err) == (0, "")
    assert read_network(tmp_path / "t.bif").variable("x").states == ("<=6103", ">6103")
    # The same words make the other commands that read rows agree.
    rows = write_column(tmp_path / "new.csv", ["950", "7.100"])
    asked = [tmp_path / "t.bif", rows, "--target", "c", "--features", "x", "--thousands", "x", "--json"]
    assert json.loads(unswayed("predict", *asked).out)["decision"] == ["a", "b"]
    written = tmp_path / "out.csv"
    assert unswayed("predict", *asked[:-1], "-o", written).code == 0
    assert [line.split(",")[0] for line in written.read_text().splitlines()] == ["x", "950", "7.100"]
    assert unswayed("audit", *asked[:-1], "-o", written).code == 0
    assert [line.split(",")[2] for line in written.read_text().splitlines()] == ["decision", "a", "b"]


@pytest.mark.parametrize(
    "cells",
    [
        [f"{0.123 + i / 100:.3f}" for i in range(200)],  # some begin with 0
        [f"{5 + i / 10:.1f}" for i in range(40)],
        [f"{5 + i / 1000:g}" for i in range(40)],  # 5.01 beside 5.011
        [f"{1000.5 + i / 1000:.3f}" for i in range(40)],  # four digits before the point
        ["1.234", "0.500", "2.345"] * 9,
        ["1.234", "1234", "2.345"] * 9,
        [str(i) for i in range(40)],
    ],
)
def test_three_digits_after_a_point_are_mostly_measured(unswayed, tmp_path, cells):
    path = write_column(tmp_path / "m.csv", cells)
    outcome = unswayed("learn", path, "--target", "c", "-o", tmp_path / "m.bif")
    assert "decimals" not in outcome.err


@pytest.mark.parametrize(
    ("cells", "column", "message"),
    [
        (["1.234", "8.7"], "x", "column 'x': '8.7' has no point between thousands"),
        (["1.234", "8.700"], "z", "unknown column 'z'"),
    ],
)
def test_thousands_that_are_none_are_refused(unswayed, tmp_path, cells, column, message):
    path = write_column(tmp_path / "m.csv", cells)
    outcome = unswayed("learn", path, "--target", "c", "-o", tmp_path / "m.bif", "--thousands", column)
    assert outcome.code == 2
    assert message in outcome.err


def test_decimal_commas_beside_decimal_points_are_no_numbers(unswayed, tmp_path):
    """1,5 and 2.5 in one column: whichever is meant, reading 2.5 as 25 would be wrong."""
    path = tmp_path / "b.csv"
    path.write_text("x;c\n" + "".join(f"{i}{',.'[i % 2]}5;{'ab'[i > 4]}\n" for i in range(9)))
    assert unswayed("learn", path, "--target", "c", "-o", tmp_path / "b.bif").code == 0
    assert "2,5" in read_network(tmp_path / "b.bif").variable("x").states


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (lambda i: f"{i * 1.5}" if i % 4 else "missing", "numbers but for 'missing'; missing marks? Empty "),
        (lambda i: "-xyz"[i % 4], "'-' counts as a state; a missing mark? Empty "),
        (lambda i: ("na", "x", "y", "z")[i % 4], "'na' counts as a state; a missing mark? Empty "),
        (lambda i: f"2024/1/{i + 1}", "28 dates in 28 rows; "),
        (lambda i: f"{i + 1}.01.2024", "28 dates in 28 rows; "),
        (lambda i: i * i + 1000, "28 numbers in 28 rows; an id? Leave it out with --ignore"),
        (lambda i: f"P{i}", "28 texts in 28 rows; missing marks, or an id? Leave it out with --ignore"),
    ],
)
def test_odd_columns_are_warned_about_by_name(unswayed, tmp_path, cell, words):
    path = tmp_path / "o.csv"
    path.write_text("patient_id|c\n" + "".join(f"{cell(i)}|{'ab'[i % 3 > 0]}\n" for i in range(28)))
    outcome = unswayed("learn", path, "--target", "c", "-o", tmp_path / "o.bif")
    assert outcome.err.startswith(f"warning: patient_id: {words}")
    assert outcome.err.count("warning:") == 1


@pytest.mark.parametrize("labels", ["+-", "ab", ("none", "mild", "severe"), ("1", "-")])
def test_signs_and_ordinary_labels_are_not_suspected(unswayed, tmp_path, labels):
    path = tmp_path / "s.csv"
    path.write_text("x,c\n" + "".join(f"{labels[i % len(labels)]},{'ab'[i % 5 > 2]}\n" for i in range(30)))
    assert unswayed("learn", path, "--target", "c", "-o", tmp_path / "s.bif").err == ""


def test_rows_without_a_class_are_counted(unswayed, tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("x,c\n" + "u,yes\nv,no\nu,NA\n" * 4)
    outcome = unswayed("learn", path, "--target", "c", "-o", tmp_path / "w.bif")
    assert outcome.out.startswith("learned from 12 rows; c: no 4, yes 4, missing 4\n")


def test_a_numeric_class_of_one_state_is_warned_about(unswayed, tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("x,c\n" + "u,1\nv,1\n" * 4)
    outcome = unswayed("learn", path, "--target", "c", "-o", tmp_path / "c.bif")
    assert outcome.err == "warning: c: the class has one state, so there is nothing to tell apart\n"
