"""Explanations whose time ends before all of it is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import unswayed
from dependent_cases import random_tree
from unswayed import Classifier, LimitError, ThresholdRule, decide
from unswayed.core.anytime import portion
from unswayed.model.zoo import disease_tests


def test_what_moved_numbers_change_is_left_out_when_its_time_is_over(monkeypatch):
    """Posteriors of a moved network take time like everything else; the rest of an explanation stands."""
    tests = Classifier(disease_tests(), "Disease", threshold=0.5, positive="+")
    whole = unswayed.why(tests, {"T1": "+"})

    def late(*asked, **options):
        raise LimitError("the time is over")

    monkeypatch.setattr("unswayed.api.reasons.make_problem", late)
    cut = unswayed.why(tests, {"T1": "+"})
    assert [each.low for each in cut.parameters] == [each.low for each in whole.parameters]
    assert any(each.sdp_at_low is not None for each in whole.parameters)
    assert all(each.sdp_at_low is None and each.sdp_at_high is None for each in cut.parameters)
    assert any("An SDP at the end of a range" in note for note in cut.notes)


def tree_case():
    """A decision on 20 of 40 dependent features: no table holds its subsets."""
    network = random_tree(np.random.default_rng(7), 40)
    classifier = Classifier(network, "C", None, ThresholdRule(network.variable("C").states[0], 0.5))
    return classifier, {name: network.variable(name).states[0] for name in classifier.features[:20]}


def test_an_interrupted_search_gives_its_best_and_the_other_parts_follow():
    classifier, evidence = tree_case()
    whole = unswayed.why(classifier, evidence)
    told = []

    def interrupt(*state):
        told.append(state)
        if len(told) == 9:
            raise KeyboardInterrupt

    why = unswayed.why(classifier, evidence, watch=interrupt)
    assert len(told) == 9
    assert why.evaluations == 9
    assert why.cost_bound <= whole.cost_bound
    assert (why.flips, why.contributions) == (whole.flips, whole.contributions)


def test_what_is_left_out_for_want_of_work_is_the_same_every_time():
    classifier, evidence = tree_case()
    asked = []
    for _ in range(2):
        with portion(units=3e5):
            asked.append(unswayed.why(classifier, evidence))
    first, second = (replace(why, seconds=0.0) for why in asked)
    assert len(first.contributions) == 20
    assert first.notes
    assert str(first) == str(second)


def test_the_decision_is_said_however_little_is_left():
    classifier, evidence = tree_case()
    with portion(seconds=-1.0):
        why = unswayed.why(classifier, evidence)
    assert why.decision == decide(classifier, evidence)
    assert (why.reasons, why.proven, why.cost_bound, why.flips_bound) == ((), False, 0.0, 0.0)
    assert len(why.notes) == 1
