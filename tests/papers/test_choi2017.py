"""The worked example of [choi2017], section 2: two reviewers, an area chair and a threshold of 60%."""

from __future__ import annotations

import pytest

import unswayed
from tolerances import paper
from unswayed.model.zoo import review

PAPERS = unswayed.Classifier(review(), "D", ["R1", "R2", "AC"], unswayed.ThresholdRule("+", 0.6))
PRIOR_ENTROPY = 0.7219280948873623  # h(0.2) in bits


@pytest.mark.parametrize(("feature", "printed"), [("R1", 0.90), ("R2", 0.90), ("AC", 0.92)])
def test_expected_same_decision_probability(feature, printed):
    found = unswayed.esdp(PAPERS, kept=[feature])
    assert found.value == pytest.approx(printed, abs=paper(2))


@pytest.mark.parametrize(("feature", "printed"), [("R1", 0.59), ("R2", 0.57), ("AC", 0.60)])
def test_conditional_entropy(feature, printed):
    gain = unswayed.voi(PAPERS, kept=[feature], reward=unswayed.NegativeEntropy())
    assert PRIOR_ENTROPY - gain.value == pytest.approx(printed, abs=paper(2))


@pytest.mark.parametrize(("vote", "printed"), [("-", 0.99), ("+", 0.56)])
def test_same_decision_probability_after_the_chair(vote, printed):
    found = unswayed.sdp(PAPERS, {"AC": vote})
    assert found.value == pytest.approx(printed, abs=paper(2))


@pytest.mark.parametrize(
    ("evidence", "printed", "action"),
    [
        ({"R1": "+", "R2": "+"}, 0.84, "+"),
        ({"R1": "+"}, 0.47, "not +"),
        ({"R1": "-"}, 0.09, "not +"),
        ({"R2": "+"}, 0.60, "+"),  # a tie with the threshold, decided for the positive state
        ({"R2": "-"}, 0.10, "not +"),
        ({"AC": "+"}, 0.61, "+"),
        ({"AC": "-"}, 0.12, "not +"),
    ],
)
def test_decisions_on_each_vote(evidence, printed, action):
    decision = unswayed.decide(PAPERS, evidence)
    assert decision.posterior["+"] == pytest.approx(printed, abs=paper(2))
    assert decision.action == action


def test_the_chair_is_ranked_first_by_decisions_and_last_by_information():
    by_decision = unswayed.voi(PAPERS)
    by_entropy = unswayed.voi(PAPERS, reward=unswayed.NegativeEntropy())
    assert by_decision.best == "AC"
    assert by_entropy.features == ("R2", "R1", "AC")
