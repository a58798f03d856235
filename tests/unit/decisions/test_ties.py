"""Ties, rare disasters, and thresholds that the rule itself confirms."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import unswayed
from unswayed import (
    BayesianNetwork,
    Classifier,
    Cpt,
    MostProbable,
    ThresholdRule,
    UtilityRule,
    Variable,
    decide,
)
from unswayed.decisions.margins import keeping_tests
from unswayed.decisions.measures import best_threshold, chance_settled, largest_threshold
from unswayed.decisions.profile import DecisionProfile
from unswayed.engines.weights.separator import SeparatorWay

TARGET = Variable("D", ["+", "-"])


def test_a_rare_disaster_is_insured_against():
    """Two disasters of probability .75e-9 cost 1e9 each: 1.5 expected, and the premium is 1."""
    loss = -1e9
    rule = UtilityRule(
        {
            "save the premium": {"fire": loss, "flood": loss, "none": 0.0},
            "insure": {"fire": -1.0, "flood": -1.0, "none": -1.0},
        }
    )
    decider = rule.bind(Variable("D", ["fire", "flood", "none"]))
    posterior = np.array([[0.75e-9, 0.75e-9, 1 - 1.5e-9]])
    assert decider.actions[decider.decide(posterior)[0]] == "insure"


def test_equal_expected_utilities_go_to_the_first_action():
    rule = UtilityRule({"one": {"a": 0.3, "b": 0.1, "c": 0.2}, "two": {"a": 0.1, "b": 0.3, "c": 0.2}})
    decider = rule.bind(Variable("D", ["a", "b", "c"]))
    assert decider.decide(np.array([[0.35, 0.35, 0.3]]))[0] == 0


def test_products_of_three_decimals_that_nearly_tie_are_told_apart():
    """All four findings together leave odds of 1 - 4e-10: the second state is ahead, by that much."""
    shares = [(478, 595), (303, 375), (261, 419), (737, 298)]
    cpts = [Cpt(c := Variable("C", ["first", "second"]), [], [0.5, 0.5])]
    for i, rows in enumerate(shares):
        tables = [[share / 1000, 1 - share / 1000] for share in rows]
        cpts.append(Cpt(Variable(f"F{i}", ["yes", "no"]), [c], tables))
    classifier = Classifier(BayesianNetwork(cpts), "C", None, MostProbable())
    second = Fraction(0)
    for seen in product([True, False], repeat=4):
        masses = [
            math.prod(
                (Fraction(row[k], 1000) if yes else 1 - Fraction(row[k], 1000))
                for row, yes in zip(shares, seen, strict=True)
            )
            for k in (0, 1)
        ]
        second += sum(masses) / 2 if masses[1] > masses[0] else 0
    assert decide(classifier, {f"F{i}": "yes" for i in range(4)}).action == "second"
    for engine in (None, "dense", "weights", SeparatorWay()):
        found = unswayed.sdp(classifier, engine=engine)
        assert found.value == pytest.approx(float(1 - second), abs=1e-12)


@pytest.mark.parametrize("odds", [-800.0, -40.0, -1.0, 0.0, 1e-13, 3.0, 27.631, 36.0, 36.8, 60.0, math.inf])
def test_the_largest_threshold_is_the_last_that_decides_positive(odds):
    found = largest_threshold(odds)
    assert found == 0 or decide_positive(odds, found)
    above = math.nextafter(found, 1.0)
    assert not 0 < above < 1 or not decide_positive(odds, above)


def decide_positive(odds: float, threshold: float) -> bool:
    """Whether the rule decides positive at these log-odds, by the rule itself."""
    return bool(ThresholdRule("+", threshold).bind(TARGET).decide_log_odds(np.array([odds]))[0] == 0)


MASSES = st.sampled_from([0.0, 1e-300, 1e-17, 1e-12, 0.1, 0.3, 0.5, 1.0])
ROWS = st.tuples(MASSES, MASSES, st.floats(0.0, 1.0)).filter(lambda row: row[0] + row[1] > 0)


@settings(max_examples=300)
@given(st.lists(ROWS, min_size=1, max_size=6))
def test_every_threshold_of_every_interval_achieves_the_best_agreement(rows):
    """Checked by deciding at the ends, just outside them, and at many thresholds between.

    They do so in every engine, however it rounds; what only rounding decides is left out of the intervals.
    """
    class_mass = np.array([[a, b] for a, b, _ in rows])
    totals = class_mass.sum(axis=1) / class_mass.sum()
    shares = np.array([s for _, _, s in rows])
    decision_mass = np.stack([totals * shares, totals * (1 - shares)], axis=1)
    best = best_threshold(class_mass, decision_mass, 0)

    def agreement(threshold: float, error: float = 0.0) -> float:
        """What the threshold agrees on where every posterior is rounded by so much."""
        decided = ThresholdRule("+", threshold).bind(TARGET).decide(class_mass * [1.0 + error, 1.0])
        return float(np.take_along_axis(decision_mass, decided[:, np.newaxis], axis=1).sum())

    tried = {5e-324, 1e-300, 1e-17, 1e-12, 0.1, 0.25, 0.5, 0.75, 0.9, 1 - 1e-12, math.nextafter(1.0, 0.0)}
    for low, high in [(best.threshold_low, best.threshold_high), *best.others]:
        assert low < high
        tried |= {low, high, math.nextafter(low, 1.0), math.nextafter(high, 0.0), math.nextafter(high, 1.0)}
    with np.errstate(divide="ignore"):
        odds = np.log(class_mass[:, 0]) - np.log(class_mass[:, 1])
    for threshold in sorted(t for t in tried if 0.0 < t < 1.0):
        reached = agreement(threshold)
        ties = (np.abs(odds - math.log(threshold) + math.log1p(-threshold)) < 2e-12).any()
        assert ties or reached <= best.value + 1e-12
        if abs(reached - best.value) < 1e-15 or abs(reached - best.value) > 1e-12:
            assert (best.value - reached <= 1e-12) == best.has_threshold(threshold) or ties
        if best.has_threshold(threshold):
            for error in (-2e-13, 0.0, 2e-13):
                assert agreement(threshold, error) >= best.value - 1e-12
    assert agreement(min(max(best.threshold, 5e-324), math.nextafter(1.0, 0.0))) == pytest.approx(best.value)


def test_of_actions_that_tie_only_at_certainty_the_first_is_taken_there():
    worth = {"a": (0.0, 1.0), "b": (0.0, 2.0), "c": (0.0, 0.0)}
    rule = UtilityRule({name: {"yes": yes, "no": no} for name, (yes, no) in worth.items()})
    decider = rule.bind(Variable("D", ["yes", "no"]))
    assert decider.decide(np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])).tolist() == [0, 1, 1]


WORTHS = st.lists(st.sampled_from([-2.0, 0.0, 0.0, 1.0, 5.0]), min_size=3, max_size=3)
PRESENCE = st.lists(st.sampled_from([0.0, 0.0, 1e-9, 0.2, 0.5]), min_size=3, max_size=3).filter(any)


@settings(max_examples=300)
@given(st.lists(WORTHS, min_size=2, max_size=3), PRESENCE)
def test_tests_of_an_action_say_what_the_rule_decides(worths, masses):
    """Where all sure versions hold the action is taken; where it is taken all possible ones hold."""
    states = ["a", "b", "c"]
    rule = UtilityRule({f"action {i}": dict(zip(states, each, strict=True)) for i, each in enumerate(worths)})
    decider = rule.bind(Variable("D", states))
    mass = np.array(masses)
    taken = int(decider.decide(mass[np.newaxis])[0])
    for action in range(len(worths)):
        tests = decider.tests(action)
        if all(mass @ test.sure >= 0 for test in tests):
            assert action == taken
    assert all(mass @ test.possible >= 0 for test in decider.tests(taken))


@pytest.mark.parametrize("loss", [1e3, 1e9, 1e13, 1e15])
def test_keeping_tests_say_what_the_rule_decides_however_rare_the_disaster(loss):
    """The disaster costs 1.5 or 0.5 expected, and the premium is 1."""
    worths = {"insure": {"fire": -1.0, "none": -1.0}, "save": {"fire": -loss, "none": 0.0}}
    target = Variable("D", ["fire", "none"])
    network = BayesianNetwork([Cpt(target, [], [[0.5, 0.5]])])
    for rule in (UtilityRule(worths), UtilityRule(dict(reversed(worths.items())))):
        classifier = Classifier(network, "D", [], rule)
        for expected, action in ((1.5, "insure"), (0.5, "save")):
            posterior = np.array([expected / loss, 1 - expected / loss])
            kept = [(keeping_tests(classifier, a) @ posterior >= 0).all() for a in range(2)]
            assert [name for name, keeps in zip(rule.utilities, kept, strict=True) if keeps] == [action]


@pytest.mark.parametrize(("others", "settled"), [(0.0, 0.5), (5e-13, 0.0), (1e-15, 0.5)])
def test_what_is_decided_otherwise_is_seen_however_rare(others, settled):
    """One row leaves a little to the other decision; only what rounding explains counts as certainty."""
    class_mass = np.array([[0.4, 0.1], [0.25, 0.25]])
    decided = np.array([[0.5 * (1.0 - others), 0.5 * others], [0.25, 0.25]])
    profile = DecisionProfile(class_mass, decided, 0.0, 3e-14)
    assert chance_settled(profile, ThresholdRule("+", 0.5).bind(TARGET), 1.0) == settled
