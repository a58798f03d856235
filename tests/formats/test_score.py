"""Score files: a golden one, round trips, broken ones with their lines, damaged ones refused."""

from __future__ import annotations

import random
import re

import pytest

from formats.test_fuzzed_files import damage
from score_cases import random_score
from unswayed.core.errors import FormatError
from unswayed.model.formats.score import is_score, read_score, write, write_score
from unswayed.model.number_range import parse_range
from unswayed.model.score import (
    BandRule,
    ItemAnswer,
    PointsLimit,
    Score,
    ScoreBand,
    ScoreItem,
    yes_no,
)
from unswayed.model.scores import FOLDER, NAMES, example_score

GOLDEN = """# A form with everything that a form can have.
title = "Everything"
about = "For tests."
sources = ["Nobody, 2001.", "Nobody else, 2002."]
disclaimer = "Not for use."
base = 2
minimum = 0
maximum = 9.5

[[items]]
name = "cough"
question = "Do you cough?"
points = 1
prevalence = 0.25
cost = 2

[[items]]
name = "age"
answers = [
  { when = "< 40", points = 0 },
  { when = "age >= 40 and age < 65.5", points = 1.5 },
  { when = ">= 65.5", points = 3, name = "old" },
]

[[items]]
name = "pain"
answers = [
  { name = "none", points = 0, prevalence = 0.5 },
  { name = "some", points = 1, prevalence = 0.3 },
  { name = "much", points = 2, prevalence = 0.2 },
]

[[items]]
name = "fever"
points = -1

[[exclusive]]
items = ["cough", "fever"]

[[limits]]
items = ["pain", "cough"]
maximum = 2

[[rules]]
when = [["age"], ["pain", "cough"]]
points = 2
band = "at once"

[[bands]]
name = "low"
to = 3

[[bands]]
name = "high"
from = 3.5
means = "much"
advice = "see somebody"

[[bands]]
name = "at once"
"""
EVERYTHING = Score(
    "Everything",
    (
        yes_no("cough", 1, prevalence=0.25, question="Do you cough?", cost=2),
        ScoreItem(
            "age",
            (
                ItemAnswer("< 40", 0, parse_range("< 40")),
                ItemAnswer(">= 40 and < 65.5", 1.5, parse_range(">= 40 and < 65.5")),
                ItemAnswer("old", 3, parse_range(">= 65.5")),
            ),
        ),
        ScoreItem(
            "pain",
            (
                ItemAnswer("none", 0, None, 0.5),
                ItemAnswer("some", 1, None, 0.3),
                ItemAnswer("much", 2, None, 0.2),
            ),
        ),
        yes_no("fever", -1),
    ),
    (
        ScoreBand("low", high=3),
        ScoreBand("high", 3.5, means="much", advice="see somebody"),
        ScoreBand("at once"),
    ),
    about="For tests.",
    sources=("Nobody, 2001.", "Nobody else, 2002."),
    disclaimer="Not for use.",
    exclusive=(("cough", "fever"),),
    limits=(PointsLimit(("pain", "cough"), maximum=2),),
    rules=(BandRule("at once", (("age",), ("pain", "cough")), 2),),
    base=2,
    minimum=0,
    maximum=9.5,
)


def saved(tmp_path, text):
    path = tmp_path / "score.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_golden_file(tmp_path):
    path = saved(tmp_path, GOLDEN)
    assert read_score(path) == EVERYTHING
    assert is_score(path)


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "again.toml"
    for score in (EVERYTHING, *map(example_score, NAMES), *(random_score(seed) for seed in range(40))):
        write_score(score, path)
        assert read_score(path) == score
        assert write(read_score(path)) == write(score)


def test_names_with_strange_characters_survive(tmp_path):
    names = ['quo"te', "back\\slash", "é ü 漢", "a = [b]", "# no comment", "it's"]
    items = tuple(yes_no(name, 1, question='say "yes"\nor\tno\x7f') for name in names)
    score = Score("T", items, (ScoreBand("all"),), sources=("two\nlines",))
    path = tmp_path / "strange.toml"
    write_score(score, path)
    assert read_score(path) == score


# What is broken in the golden file, how the line begins that is named, what is said.
BROKEN = [
    ('title = "Everything"', "title = 3", "title", "title is 3; give a text in quotes"),
    ('title = "Everything"\n', "", None, "title is missing"),
    ("base = 2", "bass = 2", "bass", "unknown key 'bass'; did you mean 'base'"),
    ("base = 2", 'base = "2"', "base", "base is '2'; give a number"),
    ("base = 2", "base = nan", "base", "base is nan; give a number"),
    ("base = 2", "base = ", "base", "not TOML"),
    ("points = 1\n", "point = 1\n", "point =", "unknown key of [[items]] 'point'; did you mean 'points'"),
    ("points = 1\n", "", "[[items]]", "points is missing"),
    ("points = 1\n", "points = true\n", "points = true", "points is True; give a number"),
    ("points = 1\n", "points = 0.12345678\n", None, "at most 6 decimal places"),
    ("prevalence = 0.25", "prevalence = 1.25", "prevalence = 1.25", "must be at least 0 and add up to 1"),
    ("cost = 2", "cost = -2", "cost = -2", "the cost of 'cough' is -2; give 0 or more"),
    ('when = "< 40"', 'when = "younger"', "[[items]]", "the condition 'younger' cannot be read"),
    ('when = "< 40"', 'when = "< 50"', "[[items]]", "a number meets two of"),
    ('when = "< 40"', 'wen = "< 40"', "answers", "unknown key 'wen'; did you mean 'when'"),
    ('{ name = "some", points = 1, prevalence = 0.3 }', '{ name = "some", points = 1 }', "answers", "every"),
    ('{ name = "some"', '{ name = "none"', "answers", "different"),
    ('name = "fever"', 'name = "cough"', 'name = "cough"', "stands twice: 'cough'"),
    ('["cough", "fever"]', '["cough", "fevr"]', 'items = ["cough", "fevr"]', "did you mean 'fever'"),
    ('items = ["cough", "fever"]', "items = 3", "items = 3", "items must be a list of names"),
    ('when = [["age"], ["pain", "cough"]]', 'when = ["age"]', "when", "a list of lists of items"),
    ('band = "at once"', 'band = "at one"', 'band = "at one"', "did you mean 'at once'"),
    ("from = 3.5", "from = 2", 'name = "high"', "begins at 2, but 'low' before it ends at 3"),
    ("from = 3.5", "from = 5", None, "no band holds '3.5', '4', '4.5' points"),
    ("[[exclusive]]", "[exclusive]", "[exclusive]", "write [[exclusive]] above each"),
    ("[[limits]]", "[[limit]]", "[[limit]]", "unknown key 'limit'; did you mean 'limits'"),
]


@pytest.mark.parametrize(("found", "put", "line", "told"), BROKEN)
def test_broken_files_name_the_line(found, put, line, told, tmp_path):
    assert found in GOLDEN
    path = saved(tmp_path, GOLDEN.replace(found, put, 1))
    with pytest.raises(FormatError, match=re.escape(told)) as caught:
        read_score(path)
    assert str(path) in str(caught.value)
    if line is not None:
        assert path.read_text().splitlines()[caught.value.line - 1].startswith(line)


def test_an_empty_file_and_a_missing_one_are_refused(tmp_path):
    with pytest.raises(FormatError, match="the file is empty; expected a points score"):
        read_score(saved(tmp_path, " \n"))
    with pytest.raises(FormatError, match="no such file"):
        read_score(tmp_path / "nowhere.toml")
    with pytest.raises(FormatError, match="binary"):
        read_score(saved(tmp_path, "title\0"))


def test_files_of_costs_are_no_scores(tmp_path):
    assert not is_score(saved(tmp_path, "[costs]\nage = 2\n"))
    assert all(is_score(FOLDER / f"{name}.toml") for name in NAMES)


@pytest.mark.parametrize(
    "text",
    [
        'title = "T"\n' + "[[items]]\n" * 5000,
        'title = "T"\nabout = ' + "[" * 5000,
        'title = "T"\nbase = 1e400\n',
        'title = "' + "x" * 10**6 + '"\n',
        f"base = {'9' * 5000}\n",
    ],
)
def test_hostile_files_are_refused(text, tmp_path):
    with pytest.raises(FormatError) as caught:
        read_score(saved(tmp_path, text))
    assert len(str(caught.value)) < 2000


@pytest.mark.slow
def test_damaged_files_are_read_or_refused(tmp_path):
    """500 of them: the golden file and the bundled ones with pieces cut, doubled, swapped or replaced."""
    rng = random.Random(31)
    texts = [GOLDEN.encode(), *((FOLDER / f"{name}.toml").read_bytes() for name in NAMES)]
    path, refused = tmp_path / "damaged.toml", 0
    for number in range(500):
        path.write_bytes(damage(texts[number % len(texts)], rng))
        try:
            read_score(path)
        except FormatError:
            refused += 1
    assert refused > 300
