"""Findings that are not one state, as they are typed."""

from __future__ import annotations

import json

import pytest

from tolerances import EXACT
from unswayed import BayesianNetwork, Cpt, Variable, write_network
from unswayed.model import zoo

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


QUESTIONS = {
    "decide": [],
    "sdp": [],
    "esdp": ["--keep", "R1"],
    "eca": ["--keep", "R1", "--new-threshold", "0.4"],
    "voi": [],
    "plan": [],
    "select": ["--budget", "1"],
    "trim": ["--budget", "1"],
    "frontier": [],
    "thresholds": ["--budget", "1"],
    "follow": ["--observe", "R1=-", "--observe", "AC=-"],
}


def told(answer):
    """What a JSON answer says, without what names the network or the evidence, and without times."""
    if isinstance(answer, dict):
        return {key: told(answer[key]) for key in answer if key not in {"network", "evidence", "seconds"}}
    if isinstance(answer, list):
        return [told(value) for value in answer]
    return round(answer, 9) if isinstance(answer, float) else answer


@pytest.mark.parametrize(
    ("finding", "likelihoods"), [("AC=+:0.8|-:0.2", (0.8, 0.2)), ("R1=+:0.1|-:1", (0.1, 1.0))]
)
@pytest.mark.parametrize("command", QUESTIONS)
def test_a_soft_finding_is_a_virtual_child(unswayed, tmp_path, command, finding, likelihoods):
    """The same question on a network with the observed child written out by hand has the same answer."""
    network = zoo.review()
    parent = network.variables[network.index(finding.partition("=")[0])]
    rows = [[p, 1.0 - p] for p in (likelihoods if parent.states[0] == "+" else likelihoods[::-1])]
    written = BayesianNetwork([*network.cpts, Cpt(Variable("Seen", ["yes", "no"]), [parent], rows)])
    plain, virtual = tmp_path / "plain.bif", tmp_path / "virtual.bif"
    write_network(network, plain)
    write_network(written, virtual)
    words = [*PAPERS, *QUESTIONS[command], "--json"]
    soft = unswayed(command, plain, *words, "-e", finding)
    hard = unswayed(command, virtual, *words, "-e", "Seen=yes")
    assert (soft.code, hard.code) == (0, 0), soft.err + hard.err
    assert told(json.loads(soft.out)) == told(json.loads(hard.out))


def test_what_was_found_softly_may_be_observed_afterwards(unswayed, review):
    outcome = unswayed(
        "follow", review, *PAPERS, "--observe", "AC=+:0.8|-:0.2", "--observe", "AC=-", "--json"
    )
    last = json.loads(outcome.out)["steps"][-1]
    assert last["posterior"]["+"] == pytest.approx((0.2 - 0.0976) / 0.84, abs=EXACT)
    outcome = unswayed("follow", review, *PAPERS, "--observe", "AC=+", "--observe", "AC=-")
    assert (outcome.code, outcome.err) == (2, "error: 'AC' is observed already; leave one of them out\n")


def test_findings_that_make_no_sense_are_refused(unswayed, review):
    outcome = unswayed("posterior", review, "-e", "AC=+:0.8|-")
    assert outcome.code == 2
    assert outcome.err.startswith("error: AC=+:0.8|-: give every state a likelihood")
