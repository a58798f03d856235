"""Cases replayed within a limit on time."""

from __future__ import annotations

import pytest

import unswayed
from unswayed import Classifier, LimitError, Limits, ThresholdRule
from unswayed.api.observations import Case
from unswayed.core.measurement import Certainty
from unswayed.model.zoo import review

PAPERS = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
SEEN = [("AC", "-"), ("R1", "+")]


def let_answer(monkeypatch, answered):
    """Only the questions of these numbers find their time sufficient."""
    real, asked = Case.sdp, []

    def sdp(case):
        asked.append(case)
        if len(asked) - 1 not in answered:
            raise LimitError("no time")
        return real(case)

    monkeypatch.setattr(Case, "sdp", sdp)


def test_a_step_without_time_leaves_the_others_standing(monkeypatch):
    whole = unswayed.follow(PAPERS, observe=SEEN)
    let_answer(monkeypatch, {0, 2})
    cut = unswayed.follow(PAPERS, observe=SEEN, limits=Limits(max_seconds=600))
    assert [step.decision for step in cut.steps] == [step.decision for step in whole.steps]
    assert [cut.steps[i].sdp.value for i in (0, 2)] == [whole.steps[i].sdp.value for i in (0, 2)]
    unknown = cut.steps[1].sdp
    assert (unknown.low, unknown.high, unknown.certainty) == (0.0, 1.0, Certainty.BOUND)


@pytest.mark.parametrize(("answered", "limits"), [(set(), Limits(max_seconds=600)), ({0, 1}, Limits())])
def test_nothing_in_time_is_refused_and_so_are_other_limits(monkeypatch, answered, limits):
    let_answer(monkeypatch, answered)
    with pytest.raises(LimitError):
        unswayed.follow(PAPERS, observe=SEEN, limits=limits)
