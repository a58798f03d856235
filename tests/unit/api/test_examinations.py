"""What a report tells where nothing certain is possible."""

from __future__ import annotations

import numpy as np
import pytest

import unswayed
from clocks import time_running_out
from dependent_cases import tied_by_a_hidden_variable
from unswayed.api.decisions import decide
from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.model.zoo import random_naive_bayes, review
from unswayed.view.page import report_page


def test_a_report_without_estimates_leaves_out_what_would_be_one():
    limits = Limits(max_seconds=12)
    with time_running_out(stride=1e-4):  # what is missing is so for want of an answer, never for want of time
        found = unswayed.report(tied_by_a_hidden_variable(), limits=limits, allow_estimates=False)
    assert found.stopping is None
    assert found.frontier is None
    assert found.comparison is None
    assert all(v.certainty is not Certainty.ESTIMATE for row in found.ranking.values for v in row)
    assert all(each.sdp is None for each in found.findings)
    left_out = [note for note in found.notes if "is left out" in note]
    assert [note for note in found.notes if "estimate from samples" in note] == []
    assert any(note.startswith("The same-decision probability is left out") for note in left_out)
    assert any("allow estimates (allow_estimates=True)" in note for note in left_out)
    assert report_page(found)


def test_instances_that_would_be_drawn_are_not_compared():
    network = random_naive_bayes(21, np.random.default_rng(0))
    many = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    options = {"at_least": 0.6, "limits": Limits(max_seconds=20)}
    certain = unswayed.report(many, **options, allow_estimates=False)
    assert certain.trimming is not None
    assert certain.comparison is None
    assert any(
        note.startswith("The comparison with the trimmed classifier is left out") for note in certain.notes
    )
    assert unswayed.report(many, **options).comparison.certainty is Certainty.ESTIMATE


def test_the_same_report_may_estimate():
    found = unswayed.report(tied_by_a_hidden_variable(), limits=Limits(max_seconds=12))
    assert found.stopping.sdp.certainty is Certainty.ESTIMATE


def test_what_is_observed_comes_second_as_everywhere():
    papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    found = unswayed.report(papers, {"R1": "+"}, costs={"AC": 3.0})
    assert (found.evidence, found.costs) == ({"R1": "+"}, {"AC": 3.0})
    assert found.decision == decide(papers, {"R1": "+"})


def test_a_level_out_of_range_is_refused():
    with pytest.raises(QueryError, match="between 0 and 1"):
        unswayed.report(tied_by_a_hidden_variable(), at_least=1.5)
