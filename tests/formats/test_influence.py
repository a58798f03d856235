"""Influence diagrams: one story in four formats, and the diagrams that are refused.

An oil wildcatter decides whether to drill after seeing a seismic report. Drilling costs 70; a wet well brings
120, a soaking one 270.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unswayed
from tolerances import EXACT
from unswayed.api.decisions import decide
from unswayed.core.errors import FormatError, QueryError
from unswayed.decisions.influence import classifier_of_diagram
from unswayed.decisions.rules import UtilityRule
from unswayed.model.formats import dne, net, xdsl, xmlbif
from unswayed.model.formats.reading.source import Source
from unswayed.model.network import BayesianNetwork

OIL = {"dry": 0.5, "wet": 0.3, "soaking": 0.2}
REPORT = {"dry": (0.6, 0.4), "wet": (0.3, 0.7), "soaking": (0.1, 0.9)}
"""Pr(report = closed or open | oil)."""
WORTH = {"dry": -70.0, "wet": 50.0, "soaking": 200.0}

XDSL = """<smile version="1.0" id="Oil"><nodes>
<cpt id="Oil"><state id="dry"/><state id="wet"/><state id="soaking"/>
<probabilities>0.5 0.3 0.2</probabilities></cpt>
<cpt id="Report"><state id="closed"/><state id="open"/><parents>Oil</parents>
<probabilities>0.6 0.4 0.3 0.7 0.1 0.9</probabilities></cpt>
<decision id="Drill"><state id="yes"/><state id="no"/><parents>Report</parents></decision>
<utility id="Gain"><parents>Oil Drill</parents><utilities>0 0 120 0 270 0</utilities></utility>
<utility id="Cost"><parents>Drill</parents><utilities>-70 0</utilities></utility>
<mau id="Total"><parents>Gain Cost</parents><weights>1 1</weights></mau>
</nodes></smile>"""

NET = """net {}
node Oil { states = ("dry" "wet" "soaking"); }
node Report { label = "Seismic report"; states = ("closed" "open"); }
decision Drill { states = ("yes" "no"); }
utility Gain { }
utility Cost { }
potential (Oil) { data = (0.5 0.3 0.2); }
potential (Report | Oil) { data = ((0.6 0.4)(0.3 0.7)(0.1 0.9)); }
potential (Drill | Report) { }
potential (Gain | Drill Oil) { data = ((0 120 270)(0 0 0)); }
potential (Cost | Drill) { data = (-70 0); }
"""

XMLBIF = """<?xml version="1.0"?><BIF VERSION="0.3"><NETWORK><NAME>Oil</NAME>
<VARIABLE TYPE="nature"><NAME>Oil</NAME><OUTCOME>dry</OUTCOME><OUTCOME>wet</OUTCOME>
<OUTCOME>soaking</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>Report</NAME><OUTCOME>closed</OUTCOME><OUTCOME>open</OUTCOME></VARIABLE>
<VARIABLE TYPE="decision"><NAME>Drill</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE TYPE="utility"><NAME>Worth</NAME></VARIABLE>
<DEFINITION><FOR>Oil</FOR><TABLE>0.5 0.3 0.2</TABLE></DEFINITION>
<DEFINITION><FOR>Report</FOR><GIVEN>Oil</GIVEN><TABLE>0.6 0.4 0.3 0.7 0.1 0.9</TABLE></DEFINITION>
<DEFINITION><FOR>Drill</FOR><GIVEN>Report</GIVEN></DEFINITION>
<DEFINITION><FOR>Worth</FOR><GIVEN>Drill</GIVEN><GIVEN>Oil</GIVEN>
<TABLE>-70 50 200 0 0 0</TABLE></DEFINITION>
</NETWORK></BIF>"""

DNE = """// ~->[DNET-1]->~
bnet Oil {
node Oil { kind = NATURE; discrete = TRUE; states = (dry, wet, soaking); parents = ();
  probs = (0.5, 0.3, 0.2); };
node Report { kind = NATURE; discrete = TRUE; states = (closed, open); parents = (Oil);
  title = "Seismic report";
  probs = ((0.6, 0.4), (0.3, 0.7), (0.1, 0.9)); };
node Drill { kind = DECISION; discrete = TRUE; states = (yes, no); parents = (Report); };
node Worth { kind = UTILITY; discrete = FALSE; parents = (Oil, Drill);
  functable = ((-70, 0), (50, 0), (200, 0)); };
};
"""


def read(module, text: str) -> BayesianNetwork:
    return module.read(Source(Path("oil.file"), text)).finish()


@pytest.mark.parametrize(("module", "text"), [(xdsl, XDSL), (net, NET), (xmlbif, XMLBIF), (dne, DNE)])
def test_a_diagram_decides_by_expected_utility(module, text):
    network = read(module, text)
    assert set(network.names) == {"Oil", "Report"}
    classifier = classifier_of_diagram(network)
    assert (classifier.target, classifier.features) == ("Oil", ("Report",))
    assert isinstance(classifier.rule, UtilityRule)
    for action, worth in (("yes", WORTH), ("no", dict.fromkeys(OIL, 0.0))):
        assert classifier.rule.utilities[action] == worth
    expected = {}
    for report, position in (("closed", 0), ("open", 1)):
        weights = {oil: OIL[oil] * REPORT[oil][position] for oil in OIL}
        worth = sum(weights[oil] * WORTH[oil] for oil in OIL)
        expected[report] = "yes" if worth > 0 else "no"
        assert decide(classifier, {"Report": report}).action == expected[report]
    assert expected == {"closed": "no", "open": "yes"}
    now = "yes" if sum(OIL[oil] * WORTH[oil] for oil in OIL) > 0 else "no"
    share = sum(
        OIL[oil] * REPORT[oil][["closed", "open"].index(r)]
        for oil in OIL
        for r in expected
        if expected[r] == now
    )
    assert unswayed.sdp(classifier).value == pytest.approx(share, abs=EXACT)


def test_utilities_of_several_variables_make_a_joint_target():
    """U1(D, A) and U2(D, B) with A and B dependent: the best action by the definition of expected utility."""
    text = """net {}
    node A { states = ("a0" "a1"); } node B { states = ("b0" "b1"); } node F { states = ("f0" "f1"); }
    decision D { states = ("d0" "d1"); } utility U1 { } utility U2 { }
    potential (A) { data = (0.4 0.6); }
    potential (B | A) { data = ((0.9 0.1)(0.3 0.7)); }
    potential (F | B) { data = ((0.8 0.2)(0.1 0.9)); }
    potential (D | F) { }
    potential (U1 | D A) { data = ((5 -3)(0 1)); }
    potential (U2 | B D) { data = ((1 4)(2 -6)); }
    """
    classifier = classifier_of_diagram(read(net, text))
    assert classifier.target == "A, B"
    one = np.array([[5, -3], [0, 1]], dtype=float)  # (D, A)
    two = np.array([[1, 4], [2, -6]], dtype=float)  # (B, D)
    joint = np.array([[0.4 * 0.9, 0.4 * 0.1], [0.6 * 0.3, 0.6 * 0.7]])  # (A, B)
    seen = np.array([[0.8, 0.2], [0.1, 0.9]])  # (B, F)
    for f in (0, 1):
        weights = joint * seen[:, f]
        worth = [(weights * (one[d][:, np.newaxis] + two[:, d])).sum() for d in (0, 1)]
        assert decide(classifier, {"F": f"f{f}"}).action == f"d{int(np.argmax(worth))}"


ON_THE_DECISION = NET.replace("(Report | Oil)", "(Report | Oil Drill)").replace(
    "(0.6 0.4)(0.3 0.7)(0.1 0.9)", "0.5 0.5 " * 6
)


@pytest.mark.parametrize(
    ("module", "text", "message"),
    [
        (net, ON_THE_DECISION, "'Report' depends on the decision 'Drill'"),
        (net, NET + 'decision Wait { states = ("w" "n"); }', "the decisions 'Drill', 'Wait'"),
        (net, NET.replace("(-70 0)", "(-70 0 1)"), "utility 'Cost': 3 numbers found, expected 2"),
        (net, NET.replace("(Report | Oil)", "(Report | Cost)"), "'Report' depends on the utility 'Cost'"),
        (xdsl, XDSL.replace("<weights>1 1<", "<weights>1<"), "'Total' is a <mau> of 2 utilities with 1"),
        (xdsl, XDSL.replace("weights>", "expressions>"), "no <weights>"),
        (dne, DNE.replace("(-70, 0)", "(@undef, 0)"), "entry @undef"),
    ],
)  # fmt: skip
def test_other_diagrams_are_refused_by_name(module, text, message):
    with pytest.raises(FormatError, match=message):
        read(module, text)


def test_a_plain_network_is_no_diagram():
    network = read(net, 'net {} node A { states = ("x" "y"); } potential (A) { data = (0.5 0.5); }')
    with pytest.raises(QueryError, match="not read from an influence diagram"):
        classifier_of_diagram(network)


def test_weights_of_a_mau_scale_utilities():
    classifier = classifier_of_diagram(
        read(xdsl, XDSL.replace("<weights>1 1</weights>", "<weights>0.5 2</weights>"))
    )
    assert classifier.rule.utilities["yes"] == {"dry": -140.0, "wet": -80.0, "soaking": -5.0}
