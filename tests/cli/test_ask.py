"""`unswayed ask`: an interview typed line by line."""

from __future__ import annotations

import io
import json
import sys

import pytest

PAPERS = ["--target", "D=+", "--threshold", "0.6", "--features", "R1,R2,AC"]


@pytest.fixture
def ask(unswayed, monkeypatch):
    """Run `ask` with answers typed in."""

    def call(source, *answers, options=PAPERS):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{each}\n" for each in answers)))
        return unswayed("ask", source, *options)

    return call


def test_the_plan_is_followed(ask, review):
    outcome = ask(review, "+", "-")
    assert outcome.code == 0
    assert [line for line in outcome.out.splitlines() if "?" in line] == ["R2? [+, -]", "R1? [+, -]"]
    assert outcome.out.endswith("Decide not + (SDP 1.0000, safe).\n2 answered, cost 2.\n")


def test_an_answer_can_be_taken_back(ask, review):
    outcome = ask(review, "+", "undo", "-")
    assert "1 answered, cost 1." in outcome.out
    assert "nothing was answered yet" in ask(review, "undo", "stop").err


def test_a_test_that_cannot_be_done_is_planned_around(ask, review):
    answer = json.loads(ask(review, "skip", "+", "+", options=[*PAPERS, "--json"]).out)
    assert "R2" not in answer["answers"]
    assert answer["skipped"] == ["R2"]
    assert answer["safe"] is True


def test_why_tells_what_may_follow(ask, review):
    outcome = ask(review, "why", "stop")
    assert "+ (20%): then R1 (SDP 0.5000)" in outcome.out
    assert "Decide not + (SDP 0.9000, not safe yet)." in outcome.out


def test_a_saved_plan_needs_no_network(ask, unswayed, review, tmp_path):
    path = tmp_path / "plan.json"
    unswayed("plan", review, *PAPERS, "-o", path)
    assert "Decide not + (SDP 1.0000, safe)." in ask(path, "-", options=[]).out
    answer = json.loads(ask(path, "+", "skip", "+", options=["--json"]).out)
    assert answer["skipped"] == ["R1"]
    assert (answer["answers"], answer["safe"]) == ({"R2": "+", "AC": "+"}, True), "planned anew from the file"


def test_a_saved_plan_that_lost_its_network_ends_where_a_test_cannot_be_done(ask, unswayed, review, tmp_path):
    path = tmp_path / "plan.json"
    unswayed("plan", review, *PAPERS, "-o", path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "origin": None}))
    answer = json.loads(ask(path, "+", "skip", options=["--json"]).out)
    assert (answer["safe"], answer["skipped"]) == (False, ["R1"]), "nobody can plan anew"


def test_mistakes_are_told_and_asked_again(ask, review):
    outcome = ask(review, "perhaps", "-")
    assert "unknown answer to 'R2' 'perhaps'; known: '+', '-'" in outcome.err
    assert "Decide not +" in outcome.out


def test_what_is_no_plan_is_refused(ask, tmp_path):
    (tmp_path / "a.json").write_text("{}", encoding="utf-8")
    for source, message in ((tmp_path / "a.json", "not a plan"), (tmp_path / "b.json", "no such file")):
        outcome = ask(source, options=[])
        assert outcome.code == 2
        assert message in outcome.err


def test_certain_is_taken_and_changes_nothing(ask, review):
    assert ask(review, "+", "-", options=[*PAPERS, "--certain"]) == ask(review, "+", "-")
