"""Networks on the command line: influence diagrams, formats by name, standard input, targets in files."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest

from shared_data import SHARED, needs_shared_data
from unswayed.model import zoo
from unswayed.model.formats import bif, net

OIL = """net {}
node Oil { states = ("dry" "wet" "soaking"); }
node Report { states = ("closed" "open"); }
decision Drill { states = ("yes" "no"); }
utility Worth { }
potential (Oil) { data = (0.5 0.3 0.2); }
potential (Report | Oil) { data = ((0.6 0.4)(0.3 0.7)(0.1 0.9)); }
potential (Drill | Report) { }
potential (Worth | Drill Oil) { data = ((-70 50 200)(0 0 0)); }
"""


@pytest.fixture
def diagram(tmp_path):
    path = tmp_path / "oil.net"
    path.write_text(OIL)
    return path


def test_an_influence_diagram_needs_no_target(unswayed, diagram):
    for report, action in (("closed", "no"), ("open", "yes")):
        outcome = unswayed("decide", diagram, "-e", f"Report={report}", "--json")
        assert (outcome.code, outcome.err) == (0, "")
        assert json.loads(outcome.out)["decision"] == action
    outcome = unswayed("posterior", diagram, "--of", "Oil")
    assert outcome.code == 0


def test_a_target_named_by_hand_wins_over_the_diagram(unswayed, diagram):
    outcome = unswayed("decide", diagram, "--target", "Oil", "--json")
    assert json.loads(outcome.out)["decision"] == "dry"


def test_a_network_through_a_pipe(unswayed, monkeypatch):
    text = io.TextIOWrapper(io.BytesIO(bif.write(zoo.review()).encode()))
    monkeypatch.setattr(sys, "stdin", text)
    outcome = unswayed("posterior", "-", "--format", "bif", "--of", "D", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out)["posteriors"]["D"]["+"] == pytest.approx(0.2)


def test_a_pipe_needs_its_format(unswayed):
    outcome = unswayed("posterior", "-")
    assert outcome.code == 2
    assert outcome.err.startswith("error: name the format of what comes through standard input with --format")


def test_an_odd_suffix_with_a_format(unswayed, tmp_path):
    path = tmp_path / "network.backup"
    path.write_text(net.write(zoo.review()))
    assert unswayed("info", path, "--format", "net").code == 0
    outcome = unswayed("info", path, "--format", "hugo")
    assert outcome.code == 2
    assert "unknown format 'hugo'" in outcome.err


def test_a_target_that_nothing_tells_must_be_named(unswayed, review):
    outcome = unswayed("sdp", review)
    assert outcome.code == 2
    assert outcome.err.startswith("error: name what is decided about")
    assert outcome.err.endswith("use --target\n")


@needs_shared_data
def test_a_diagnostic_file_needs_no_options(unswayed):
    outcome = unswayed("decide", SHARED / "networks" / "formats" / "xdsl" / "hepar2_genie.xdsl", "--json")
    assert (outcome.code, outcome.err) == (0, "")


LABELLED = """<smile version="1.0" id="Clinic"><nodes>
<cpt id="d1"><state id="s0" label="Ill"/><state id="s1" label="Well"/>
<probabilities>0.2 0.8</probabilities></cpt>
<cpt id="t1"><state id="pos"/><state id="neg"/><parents>d1</parents>
<probabilities>0.9 0.1 0.2 0.8</probabilities></cpt>
</nodes><extensions><genie><node id="d1"><name>Flu disease</name></node>
<node id="t1"><name>Blood test</name></node></genie></extensions></smile>
"""


@pytest.mark.parametrize("command", ["decide", "sdp", "report", "trim"])
def test_labels_ask_as_names_do(command, unswayed, tmp_path):
    path = tmp_path / "clinic.xdsl"
    path.write_text(LABELLED)
    more = ["--budget", "1"] if command == "trim" else []
    more += ["--output", tmp_path / "page.html"] if command == "report" else []
    named = unswayed(command, path, "--target", "d1=s0", *more)
    labelled = unswayed(command, path, "--target", "Flu disease=Ill", *more)
    assert labelled.code == named.code == 0
    in_seconds = re.compile(r"in [\d.]+ s\b")
    assert in_seconds.sub("", labelled.out) == in_seconds.sub("", named.out)
    if command == "decide":
        with_names = unswayed(command, path, "--target", "d1=s0", "--evidence", "t1=pos")
        assert (
            unswayed(command, path, "--target", "Flu disease=Ill", "--evidence", "Blood test=pos")
            == with_names
        )
