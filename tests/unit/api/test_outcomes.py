"""What each result of a test would do: shares sum to one, and averages are those of the verbs."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import unswayed
from unswayed.api import decide, expected_utilities, list_outcomes
from unswayed.api.results.outcomes import measure_findings
from unswayed.core.anytime import portion
from unswayed.core.errors import QueryError
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import UtilityRule
from unswayed.model.zoo import printer, review

FAULTS = Classifier(printer(), "Fault", ["Light", "TestPage", "Ping"])
PAPERS = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")


@pytest.mark.parametrize(
    ("classifier", "evidence", "feature"),
    [
        (FAULTS, {}, "TestPage"),
        (FAULTS, {"Light": "red"}, "Ping"),
        (PAPERS, {"AC": "+"}, "R1"),
        (PAPERS, {}, "AC"),
    ],
)
def test_outcomes_average_to_what_the_verbs_say(classifier, evidence, feature):
    """Sums over results y of Pr(y), Pr(y) Pr(c | y) and Pr(y) SDP(y): 1, Pr(c), E-SDP [choi2017, Def. 2]."""
    found = list_outcomes(unswayed.follow(classifier, evidence), feature)
    assert math.fsum(each.probability for each in found) == pytest.approx(1.0)
    now = decide(classifier, evidence)
    for state, share in now.posterior.items():
        assert math.fsum(e.probability * e.decision.posterior[state] for e in found) == pytest.approx(share)
    average = math.fsum(each.probability * each.sdp.value for each in found)
    expected = unswayed.esdp(classifier, evidence, kept=[feature])
    assert average == pytest.approx(expected.value)


def test_impossible_results_are_left_out():
    found = list_outcomes(unswayed.follow(PAPERS, {"R1": "-", "R2": "-"}), "AC")
    assert [each.state for each in found] == ["-"]  # the chair never accepts what both reject


def test_without_time_results_stand_without_their_safety():
    case = unswayed.follow(FAULTS)
    found = measure_findings(case, list_outcomes(case, "Ping"))
    with portion(seconds=-1.0):
        late = measure_findings(case, [replace(each, sdp=None) for each in found])
    assert all(each.sdp is not None for each in found)
    assert all(each.sdp is None for each in late)


def test_expected_utilities_are_sums_over_the_posterior():
    worth = {"print": {"+": 5.0, "-": -2.0}, "return": {"+": -1.0, "-": 0.0}}
    papers = Classifier(review(), "D", ["R1", "R2", "AC"], UtilityRule(worth))
    decision = decide(papers, {"AC": "+"})
    found = expected_utilities(papers, decision)
    for action, row in worth.items():
        assert found[action] == pytest.approx(sum(decision.posterior[s] * row[s] for s in row))
    assert decision.action == max(found, key=lambda action: found[action])
    with pytest.raises(QueryError, match="utility rules"):
        expected_utilities(PAPERS, decide(PAPERS))
