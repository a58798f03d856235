"""Where nothing certain is possible: labelled estimates, the cheap half, and advice that works."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

import unswayed
from shared_data import SHARED, needs_shared_data
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.view.page import report_page
from unswayed.view.sentences import frontier_proof_text

pytestmark = needs_shared_data


def diagnosis(name, target, rule, *, leaves=True):
    network = unswayed.read_network(SHARED / "networks/hrl_uai08" / f"{name}.bif")
    parents = {parent for above in network.parents for parent in above}
    names = [n for i, n in enumerate(network.names) if n != target and not (leaves and i in parents)]
    return Classifier(network, target, names, rule)


def tied():
    """Sixty-two symptoms that hidden causes tie together."""
    return diagnosis("tcc4e", "var_0", ThresholdRule("s0", 0.05))


def test_a_frontier_by_samples_begins_with_few_features_and_keeps_its_time():
    classifier = tied()
    began = time.process_time()
    found = unswayed.frontier(classifier, limits=Limits(max_seconds=6), allow_estimates=True)
    assert time.process_time() - began < 9
    assert found.points[0].kept == ()
    costs = [point.cost for point in found.points]
    values = [point.selection.value for point in found.points]
    assert costs == sorted(costs)
    assert values == sorted(values)
    assert {p.selection.certainty for p in found.points} == {Certainty.ESTIMATE}
    sentence = frontier_proof_text(found)
    assert "measured by samples" in sentence
    assert "99% confidence" in sentence
    # Rows of the joint, classified one by one, agree as often as the intervals say.
    rows = unswayed.sample(classifier.network, 1500, rng=np.random.default_rng(7))
    rows = {v.name: np.array(v.states)[rows.codes[:, i]] for i, v in enumerate(rows.variables)}
    full = classifier.predict(rows)
    for point in found.points[:3]:
        share = np.mean(np.asarray(point.classifier.predict(rows)) == np.asarray(full))
        measured = point.selection.measurement
        assert measured.low - 0.01 <= share <= measured.high + 0.01


@pytest.mark.slow
def test_a_report_estimates_what_is_not_certain_and_says_so():
    found = unswayed.report(tied(), limits=Limits(max_seconds=15))
    assert found.stopping.sdp.certainty is Certainty.ESTIMATE
    assert found.ranking.criteria[0] == "sdp"
    assert found.frontier.points[0].kept == ()
    page = re.sub(r"<[^>]*>", " ", report_page(found))
    assert "with confidence 0.99" in page
    assert "an estimate" in page
    estimated = [note for note in found.notes if "is an estimate from samples" in note]
    assert len(estimated) == 3
    assert "allow_estimates" not in page
    # Findings that move nothing are counted, not listed.
    telling = sum(each.effect >= 5e-5 for each in found.findings)
    assert telling < len(found.findings)
    assert f"{len(found.findings) - telling} findings more do not change the decision" in page
    assert "e-17" not in page


@pytest.mark.slow
def test_each_way_out_leads_to_an_answer():
    """The advice names a tolerance, a time and estimates: each of them answers."""
    classifier = diagnosis("diagnose_a", "var_1", MostProbable(), leaves=False)
    with pytest.raises(LimitError) as caught:
        unswayed.voi(classifier)
    advice = str(caught.value).splitlines()[-1]
    tolerance = float(re.search(r"tolerance=([0-9.]+)", advice)[1])
    seconds = int(re.search(r"\(max_seconds\) to (\d+) s", advice)[1])
    assert "reward=NegativeEntropy()" in advice
    assert "max_bytes" not in advice
    found = unswayed.voi(classifier, tolerance=tolerance)
    assert all(v[0].certainty is Certainty.BOUND for v in found.values)
    found = unswayed.voi(classifier, limits=Limits(max_seconds=seconds))
    assert all(v[0].certainty is Certainty.BOUND for v in found.values)
    assert unswayed.voi(classifier, reward=unswayed.NegativeEntropy()).best == "var_0"


def test_no_way_out_is_named_that_leads_nowhere():
    with pytest.raises(LimitError) as caught:
        unswayed.sdp(tied())
    advice = str(caught.value).splitlines()[-1]
    assert advice == "ways out: observe or keep fewer features; or allow estimates (allow_estimates=True)"
    assert "over the fixed cap of 2^22" in str(caught.value)


def test_samples_that_a_tolerance_needs_too_many_of_lead_to_a_wider_one():
    options = {"allow_estimates": True, "limits": Limits(max_bytes=10**9)}
    with pytest.raises(LimitError) as caught:
        unswayed.sdp(tied(), tolerance=1e-3, **options)
    tolerance = float(re.search(r"\(tolerance=([0-9.]+)\)", str(caught.value))[1])
    found = unswayed.sdp(tied(), tolerance=tolerance, **options)
    assert found.certainty is Certainty.ESTIMATE
    assert found.high - found.low <= tolerance


def test_reasons_name_a_refusal_once_and_in_a_line():
    why = unswayed.why(tied(), evidence={"var_82": "s0"})
    assert all("\n" not in note for note in why.notes)
    assert sum("ways out" in note for note in why.notes) == 1
