"""`unswayed why`: numbers by hand, and what people read.

With threshold 0.6 the full decision about a paper is positive when both reviewers vote +. So given R1 = +
alone it is positive with probability 1/3, given R2 = + alone 1/2, given nothing 0.1 (see the guide).
"""

from __future__ import annotations

import json

import pytest

from tolerances import ENGINE

PAPERS = ["--target", "D=+", "--threshold", "0.6", "--features", "R1,R2,AC"]


@pytest.fixture
def answer(unswayed, review):
    """The JSON about a paper."""

    def call(*options):
        outcome = unswayed("why", review, *PAPERS, *options, "--json")
        assert (outcome.code, outcome.err) == (0, "")
        return json.loads(outcome.out)

    return call


def test_both_reviewers_are_the_reason(answer):
    found = answer("-e", "R1=+,R2=+")
    assert (found["decision"], found["reason"], found["sdp"], found["proven"]) == (
        "+",
        ["R1=+", "R2=+"],
        1.0,
        True,
    )
    assert found["necessary"] == found["in_every_reason"] == ["R1=+", "R2=+"]
    assert found["flips"] == [["R2=-"], ["R1=-"]]
    assert found["flips_if_observed"] == []
    alone = {each["finding"]: each["sdp_without"] for each in found["contributions"]}
    assert alone == pytest.approx({"R2=+": 1 / 3, "R1=+": 1 / 2}, abs=ENGINE)


def test_a_lower_level_needs_one_reviewer(answer):
    found = answer("-e", "R1=+,R2=+", "--at-least", "0.5")
    assert found["reasons"] == [["R2=+"]]
    assert found["sdp"] == pytest.approx(0.5, abs=ENGINE)


def test_costs_and_fixed_findings_are_respected(answer):
    found = answer("-e", "R1=+,R2=+,AC=+", "--cost", "R1=3", "--fixed", "R2")
    assert found["cost"] == 4
    assert found["flips"] == [["R1=-"]]


def test_findings_that_suffice_for_nothing_say_what_comes_closest(unswayed, review):
    outcome = unswayed("why", review, *PAPERS, "-e", "AC=+")
    assert outcome.code == 0
    first, second, *_ = outcome.out.splitlines()
    assert first == "+, since Pr(D = +) is 0.6100, at least 0.6."
    assert second == (
        "No set of these findings keeps the decision with probability 0.95. "
        "Nearest comes AC = +, with probability 0.5625."
    )


def test_a_picture_is_written(unswayed, review, tmp_path):
    outcome = unswayed("why", review, *PAPERS, "-e", "R1=+,R2=-", "-o", tmp_path / "why.svg")
    assert outcome.code == 0
    assert outcome.out.endswith(f"wrote {tmp_path / 'why.svg'}\n")
    assert "<svg" in (tmp_path / "why.svg").read_text()
