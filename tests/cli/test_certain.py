"""`--certain`: every command that may answer with an estimate can be told not to."""

from __future__ import annotations

import json

import pytest

from dependent_cases import tied_by_a_hidden_variable
from unswayed.model.formats.files import write_network

ESTIMATING = (
    *("decide", "sdp", "why", "esdp", "eca", "voi", "follow", "plan", "ask", "audit"),
    *("select", "trim", "frontier", "thresholds", "report", "serve"),
)


@pytest.fixture(scope="module")
def tied(tmp_path_factory):
    """Options about a classifier that only samples can answer for."""
    path = tmp_path_factory.mktemp("networks") / "tied.bif"
    write_network(tied_by_a_hidden_variable().network, path)
    return [path, "--target", "T", "--features", ",".join(f"F{i}" for i in range(45))]


@pytest.mark.parametrize("command", ESTIMATING)
def test_the_option_is_there(unswayed, command):
    assert "--certain" in unswayed(command, "--help").out


def test_a_report_leaves_estimates_out(unswayed, tied, tmp_path):
    page = tmp_path / "page.html"
    asked = ["report", *tied, "-o", page, "--max-seconds", "8", "--json"]
    certain = json.loads(unswayed(*asked, "--certain").out)["notes"]
    assert not any("estimate from samples" in note for note in certain)
    assert any("The same-decision probability is left out" in note for note in certain)
    assert any("leaving out --certain" in note for note in certain)
    assert "an estimate from" not in page.read_text(encoding="utf-8")
    notes = json.loads(unswayed(*asked).out)["notes"]
    assert any("The same-decision probability is an estimate from samples" in note for note in notes)
