"""The command `audit` when its time is over: what it has, what it lacks, and how to go on."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from unswayed import LimitError
from unswayed.api.decisions import agreement_of

PAPERS = Path(__file__).resolve().parents[2] / "examples" / "papers.csv"
ASKED = [
    "--target",
    "D=+",
    "--threshold",
    "0.6",
    "--features",
    "all",
    "--engine",
    "dense",
    "--max-seconds",
    "600",
]


@pytest.fixture
def few_answers(monkeypatch):
    """Lets two questions be answered, then the time is over."""
    left = [2]

    def ask(*asked):
        left[0] -= 1
        if left[0] < 0:
            raise LimitError("the time is over")
        return agreement_of(*asked)

    monkeypatch.setattr("unswayed.api.audits.rows.agreement_of", ask)


def test_the_words_say_what_is_left_out(unswayed, few_answers):
    said = unswayed("audit", "review", PAPERS, *ASKED).out
    assert "2 decisions on 2 patterns" in said
    assert "left out: 4 of 6 (66.7%) rows, for want of time or memory; allow more" in said


def test_a_file_has_empty_cells_and_is_gone_on_with(unswayed, few_answers, tmp_path, monkeypatch):
    output, page = tmp_path / "audited.csv", tmp_path / "page.html"
    asked = ["audit", "review", PAPERS, *ASKED, "-o", str(output), "--json"]
    told = json.loads(unswayed(*asked, "--summary", str(page)).out)
    assert (told["rows"], told["left_out"], told["goes_on"]) == (2, 4, False)
    decisions = read_decisions(output)
    assert len(decisions) == 6
    assert decisions.count("") == 4
    assert "Left out: 4 of 6 (66.7%) rows" in page.read_text()
    monkeypatch.setattr("unswayed.api.audits.rows.agreement_of", agreement_of)
    told = json.loads(unswayed(*asked).out)
    assert told["rows"] == 6
    assert told["left_out"] == 0
    assert "" not in read_decisions(output)


def read_decisions(path):
    with path.open() as file:
        return [row["decision"] for row in csv.DictReader(file)]
