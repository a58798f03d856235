"""`paths` and `rankings` as a user types them."""

from __future__ import annotations

import json

import pytest


def test_paths_of_a_grid(unswayed):
    done = unswayed("paths", "grid:4x4", "--from", "0,0", "--to", "3,3")
    assert done.code == 0
    assert done.out.startswith("184 simple paths from 0,0 to 3,3\nvariables   24\n")


def test_only_the_number(unswayed):
    assert unswayed("paths", "grid:8x8", "--from", "0,0", "--to", "7,7", "--count").out == "789360053252\n"
    assert unswayed("rankings", "9", "--count").out == "362880\n"
    assert unswayed("rankings", "9", "--top", "2", "--count").out == "72\n"


def test_paths_of_a_file(unswayed, tmp_path):
    path = tmp_path / "roads.csv"
    path.write_text("from,to\na,b\nb,c\na,c\n", encoding="utf-8")
    assert json.loads(unswayed("paths", path, "--from", "a", "--to", "c", "--json").out)["count"] == 2


def test_rankings_have_the_printed_parameters(unswayed):
    answer = json.loads(unswayed("rankings", "9", "--json").out)
    assert answer["parameters"] == 1793
    assert answer["count"] == 362_880


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("paths", "nowhere.csv", "--from", "a", "--to", "b"), "no such file"),
        (("paths", "grid:3x3", "--from", "0,0", "--to", "9,9"), "unknown node '9,9'"),
        (("paths", "grid:1x1", "--from", "0,0", "--to", "0,0"), "has no edges"),
        (
            ("paths", "grid:9x9", "--from", "0,0", "--to", "8,8", "--max-seconds", "1e-6"),
            "raise --max-seconds",
        ),
        (("rankings", "40"), "raise --max-memory"),
        (("rankings", "0"), "at least one item"),
        (("rankings", "3", "--top", "4"), "the first 4 of 3 items"),
    ],
    ids=["file", "node", "grid", "time", "memory", "items", "top"],
)
def test_questions_without_an_answer(unswayed, arguments, reason):
    done = unswayed(*arguments)
    assert done.code == 2
    assert reason in done.err
    assert done.out == ""
