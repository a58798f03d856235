"""Findings that are not one state, as they are typed."""

from __future__ import annotations

import json

import pytest

from tolerances import EXACT

PAPERS = ["--target", "D=+", "--threshold", "0.6", "--features", "R1,R2,AC"]


def test_likelihoods_weigh_the_states(unswayed, review):
    """Pr(D=+, AC=+) = 0.0976 and Pr(AC=+) = 0.16 [choi2017, Figure 1], weighed 4 to 1 with the rest."""
    outcome = unswayed("posterior", review, "--of", "D", "-e", "AC=+:0.8|-:0.2", "--json")
    answer = json.loads(outcome.out)
    assert answer["evidence"] == {"AC": "+:0.8|-:0.2"}
    expected = (0.8 * 0.0976 + 0.2 * (0.2 - 0.0976)) / (0.8 * 0.16 + 0.2 * 0.84)
    assert answer["posteriors"]["D"]["+"] == pytest.approx(expected, abs=EXACT)


def test_what_leaves_one_state_is_a_plain_finding(unswayed, review):
    plain = unswayed("sdp", review, *PAPERS, "-e", "AC=+").out
    assert unswayed("sdp", review, *PAPERS, "-e", "AC=!-").out == plain
    assert unswayed("sdp", review, *PAPERS, "-e", "AC=+:3").out == plain


def test_a_soft_finding_leaves_the_feature_open(unswayed, review):
    outcome = unswayed("sdp", review, *PAPERS, "-e", "AC=+:0.8|-:0.2,R1=+")
    assert (outcome.code, outcome.err) == (0, "")
    assert "given AC=+:0.8|-:0.2" in outcome.out
    assert "observing R2 and AC" in outcome.out


@pytest.mark.parametrize("command", ["decide", "sdp", "voi", "trim", "frontier", "report"])
def test_every_command_takes_soft_findings(unswayed, review, tmp_path, command):
    options = {"trim": ["--budget", "1"], "report": ["-o", tmp_path / "report.html"]}.get(command, [])
    outcome = unswayed(command, review, *PAPERS, *options, "-e", "AC=+:0.8|-:0.2")
    assert (outcome.code, outcome.err) == (0, "")


def test_findings_that_make_no_sense_are_refused(unswayed, review):
    outcome = unswayed("posterior", review, "-e", "AC=+:0.8|-")
    assert outcome.code == 2
    assert outcome.err.startswith("error: AC=+:0.8|-: give every state a likelihood")
