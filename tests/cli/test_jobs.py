"""`--jobs`: taken by every command that searches, without changing the answer."""

from __future__ import annotations

import json

import pytest

PAPERS = ["--target", "D=+", "--threshold", "0.6", "--features", "R1,R2,AC", "--json"]
COMMANDS = [("select", "--budget", "1"), ("trim", "--budget", "1"), ("frontier",)]


def timeless(text):
    found = json.loads(text, object_hook=lambda entry: {k: v for k, v in entry.items() if k != "seconds"})
    found.pop("evaluations", None)
    return found


def answered(text):
    found = timeless(text)
    return [{**point, "evaluations": None} for point in found["points"]] if "points" in found else found


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_jobs_do_not_change_the_answer(unswayed, review, command):
    outcomes = [unswayed(command[0], review, *PAPERS, *command[1:], "--jobs", n) for n in ("1", "2")]
    assert [outcome.code for outcome in outcomes] == [0, 0]
    assert timeless(outcomes[0].out) == timeless(outcomes[1].out)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_no_jobs_are_an_error(unswayed, review, command):
    outcome = unswayed(command[0], review, *PAPERS, *command[1:], "--jobs", "0")
    assert outcome.code == 2
    assert "jobs must be a whole number, at least 1, not 0" in outcome.err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_checkpoint_is_kept_and_serves_the_same_question(unswayed, review, command, tmp_path):
    file = str(tmp_path / "search.json")
    outcomes = [
        unswayed(command[0], review, *PAPERS, *command[1:], "--checkpoint", file, "--jobs", n)
        for n in ("1", "2")
    ]
    assert [outcome.code for outcome in outcomes] == [0, 0]
    assert answered(outcomes[0].out) == answered(outcomes[1].out)
    assert json.loads((tmp_path / "search.json").read_text())["format"] == "unswayed checkpoint"
    other = unswayed(command[0], review, *PAPERS, *command[1:], "--checkpoint", file, "--cost", "AC=2")
    assert other.code == 2
    assert "another classifier, evidence, costs or objective" in other.err
