"""Limits on time hold for a whole answer: real networks whose exact answers take minutes."""

from __future__ import annotations

import time

import pytest

import unswayed
from shared_data import SHARED, needs_shared_data
from unswayed import Limits, api
from unswayed.core.measurement import Certainty

pytestmark = [needs_shared_data, pytest.mark.slow]

SECONDS, LATEST = 3.0, 30.0
"""The limit, and what a slow machine with other work may take; without a limit it is minutes."""
FINDINGS = {"TRY13": "true", "TRY14": "true", "SNode_68": "false", "HORIZ53": "true", "SNode_120": "false"}


@pytest.fixture(scope="module", params=["andes", "barley"])
def case(request):
    """A classifier on the leaves of a large network, and some findings."""
    if request.param == "andes":
        network = unswayed.read_network(SHARED / "networks" / "andes.bif")
        positive, findings = ("GOAL_2", "true"), FINDINGS
    else:
        network = unswayed.read_network(SHARED / "networks" / "barley.bif.gz")
        positive, findings = ("saatid", "x_26_3"), {"slt22": "x3_5", "bgbyg": "x3_5_4_0"}
    leaves = [name for i, name in enumerate(network.names) if not network.children[i]]
    return unswayed.Classifier(network, positive[0], leaves, threshold=0.5, positive=positive[1]), findings


def timed(verb, *args, **options):
    began = time.monotonic()
    found = verb(*args, limits=Limits(max_seconds=SECONDS), allow_estimates=True, **options)
    assert time.monotonic() - began < LATEST
    return found


def test_agreements_are_estimated_when_the_time_is_over(case):
    classifier, findings = case
    kept = [name for name in classifier.features if name not in findings][:6]
    for found in (
        timed(unswayed.sdp, classifier, findings),
        timed(unswayed.esdp, classifier, kept, findings),
        timed(unswayed.eca, classifier, kept, 0.4, findings),
        timed(unswayed.maa, classifier, kept, findings),
    ):
        assert found.certainty is Certainty.ESTIMATE
        assert 0.0 <= found.low <= found.value <= found.high <= 1.0


def test_a_ranking_ends_in_time(case):
    classifier, findings = case
    ranking = timed(unswayed.voi, classifier, findings)
    assert set(ranking.features) == set(classifier.features) - set(findings)


def test_an_explanation_ends_in_time_and_says_what_is_missing(case):
    classifier, findings = case
    why = timed(unswayed.why, classifier, evidence=findings)
    assert why.decision == unswayed.decide(classifier, findings)
    assert why.notes


def test_a_history_ends_in_time(case):
    classifier, findings = case
    history = timed(api.follow, classifier, list(findings.items()))
    assert len(history.steps) == len(findings) + 1


def test_choices_end_in_time(case):
    classifier, findings = case
    trimmed = timed(unswayed.trim, classifier, 3, evidence=findings)
    chosen = timed(unswayed.select, classifier, 3, evidence=findings)
    swept = timed(api.thresholds, classifier, 3, [0.2, 0.5, 0.8], evidence=findings)
    for selection in (trimmed.selection, chosen, *swept.selections):
        assert len(selection.kept) <= 3
        assert selection.certainty is not Certainty.EXACT
        assert not selection.optimal


def test_a_plan_ends_in_time(case):
    classifier, findings = case
    began = time.monotonic()
    plan = unswayed.plan(classifier, findings, limits=Limits(max_seconds=SECONDS))
    assert time.monotonic() - began < LATEST
    assert plan.expected_cost <= len(classifier.features) - len(findings)


def test_a_report_ends_in_time_and_says_what_is_missing(case):
    classifier, findings = case
    found = timed(unswayed.report, classifier, findings)
    assert found.decision == unswayed.decide(classifier, findings)
    assert found.notes
