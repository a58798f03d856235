"""Explanations whose time ends before all of it is found."""

from __future__ import annotations

from unswayed import Classifier, LimitError, explain_decision
from unswayed.model.zoo import disease_tests


def test_what_moved_numbers_change_is_left_out_when_its_time_is_over(monkeypatch):
    """Posteriors of a moved network take time like everything else; the rest of an explanation stands."""
    tests = Classifier(disease_tests(), "Disease", threshold=0.5, positive="+")
    whole = explain_decision(tests, evidence={"T1": "+"})

    def late(*asked, **options):
        raise LimitError("the time is over")

    monkeypatch.setattr("unswayed.api.reasons.make_problem", late)
    cut = explain_decision(tests, evidence={"T1": "+"})
    assert [each.low for each in cut.parameters] == [each.low for each in whole.parameters]
    assert any(each.sdp_at_low is not None for each in whole.parameters)
    assert all(each.sdp_at_low is None and each.sdp_at_high is None for each in cut.parameters)
    assert any("An SDP at the end of a range" in note for note in cut.notes)
