"""Posteriors that nearly tie: no exact answer hides them, and true ties stay exact.

Thresholds are put less than the tolerance of ties above a posterior, but farther than rounding reaches.
Rational arithmetic knows that the posterior is below; an answer that counts it as a tie must say what that
may change.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import unswayed
from oracles.rational_decisions import RationalNaiveBayes, by_probability, by_threshold, in_thousandths
from tolerances import ENGINE
from unswayed import (
    BayesianNetwork,
    Classifier,
    Cpt,
    MostProbable,
    ThresholdRule,
    UtilityRule,
    Variable,
    trim,
)
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.rules import TIE
from unswayed.engines.log_odds import LogOddsEngine
from unswayed.engines.weights.separator import SeparatorWay
from unswayed.view.numbers import certainty_text

EXACT_ENGINES = ["dense", LogOddsEngine(), SeparatorWay(), "circuit"]
OFFSETS = st.sampled_from([3e-13, 5e-13, 9e-13])
SHARES = st.integers(1, 999)


@st.composite
def near_ties(draw: st.DrawFn) -> tuple[RationalNaiveBayes, Classifier]:
    """Two classes, and a threshold that one posterior misses by less than the tolerance of ties."""
    n = draw(st.integers(2, 5))
    shares = draw(st.lists(st.tuples(SHARES, SHARES), min_size=n, max_size=n))
    bayes = in_thousandths((share := draw(SHARES), 1000 - share), tuple(shares))
    upper, lower = bayes.masses(draw(st.tuples(*[st.integers(0, 1)] * n)))
    log_odds = math.log(upper / lower) + draw(OFFSETS)
    threshold = 1.0 / (1.0 + math.exp(-log_odds))
    assume(0.01 < threshold < 0.99)  # where neighbouring thresholds are closer than the offset
    return bayes, Classifier(bayes.network(), "C", None, ThresholdRule("c0", threshold))


def assert_holds(found: Measurement, truth: float) -> None:
    assert found.low - ENGINE <= truth <= found.high + ENGINE
    assert (found.certainty is Certainty.EXACT) == (found.low == found.high)


def decide_of(classifier: Classifier):
    rule = classifier.rule
    return by_threshold(rule.threshold) if isinstance(rule, ThresholdRule) else by_probability


@pytest.mark.parametrize("engine", [*EXACT_ENGINES, "brute_force", "depth_first"])
@settings(max_examples=60)
@given(case=near_ties())
def test_the_same_decision_probability_holds_the_rational_one(engine, case):
    bayes, classifier = case
    truth = bayes.agreement(frozenset(), decide_of(classifier))
    assert_holds(unswayed.sdp(classifier, engine=engine), float(truth))


@pytest.mark.parametrize("engine", EXACT_ENGINES)
@settings(max_examples=60)
@given(case=near_ties(), data=st.data())
def test_what_some_features_decide_holds_the_rational_agreement(engine, case, data):
    bayes, classifier = case
    kept = data.draw(st.sets(st.integers(0, len(bayes.tables) - 1), max_size=3))
    names = [f"F{i}" for i in sorted(kept)]
    decide = decide_of(classifier)
    truth = bayes.agreement(frozenset(kept), decide)
    assert_holds(unswayed.esdp(classifier, kept=names, engine=engine), float(truth))
    potential = bayes.potential(frozenset(kept), decide)
    assert_holds(unswayed.mpa(classifier, kept=names, engine=engine), float(potential))


@settings(max_examples=60)
@given(case=near_ties(), budget=st.integers(1, 3))
def test_searches_hold_the_rational_agreement_of_what_they_keep(case, budget):
    bayes, classifier = case
    decide = decide_of(classifier)
    chosen = unswayed.select(classifier, budget=budget)
    kept = frozenset(int(name[1:]) for name in chosen.kept)
    assert_holds(chosen.measurement, float(bayes.agreement(kept, decide)))
    # The features of a naive Bayes classifier lose nothing to the best threshold [choi2018, Prop. 3].
    trimmed = trim(classifier, budget=budget)
    kept = frozenset(int(name[1:]) for name in trimmed.kept)
    assert_holds(trimmed.agreement, float(bayes.potential(kept, decide)))
    assert trimmed.optimal == (trimmed.agreement.certainty is Certainty.EXACT)


@pytest.mark.parametrize("engine", ["dense", SeparatorWay(), "circuit"])
@settings(max_examples=60)
@given(shares=st.lists(st.tuples(SHARES, SHARES, SHARES), min_size=2, max_size=4))
def test_three_classes_hold_the_rational_agreement(engine, shares):
    bayes = in_thousandths((334, 333, 333), tuple(shares))
    classifier = Classifier(bayes.network(), "C", None, MostProbable())
    truth = float(bayes.agreement(frozenset(), by_probability))
    assert_holds(unswayed.sdp(classifier, engine=engine), truth)


@pytest.mark.parametrize("engine", [*EXACT_ENGINES, "brute_force", "depth_first"])
@settings(max_examples=40)
@given(shares=st.lists(SHARES, min_size=1, max_size=4))
def test_true_ties_stay_exact(engine, shares):
    """Every feature has a twin with the classes exchanged: where both are seen alike, they cancel."""
    twins = [pair for share in shares for pair in ((share, 1000 - share), (1000 - share, share))]
    bayes = in_thousandths((500, 500), tuple(twins))
    classifier = Classifier(bayes.network(), "C", None, MostProbable())
    found = unswayed.sdp(classifier, engine=engine)
    assert found.certainty is Certainty.EXACT
    assert found.value == pytest.approx(float(bayes.agreement(frozenset(), by_probability)), abs=ENGINE)


@pytest.mark.parametrize("engine", EXACT_ENGINES)
def test_a_near_tie_is_bounded_and_not_hidden(engine):
    """One posterior misses the threshold by half the tolerance, and one instantiation in eight has it."""
    bayes = in_thousandths((500, 500), ((300, 600), (700, 200), (450, 550)))
    upper, lower = bayes.masses((0, 0, 0))
    threshold = 1.0 / (1.0 + math.exp(-math.log(upper / lower) - TIE / 2))
    classifier = Classifier(bayes.network(), "C", None, ThresholdRule("c0", threshold))
    found = unswayed.sdp(classifier, engine=engine)
    assert found.certainty is Certainty.BOUND
    assert found.high - found.low == pytest.approx(2 * float(upper + lower), abs=ENGINE)


@pytest.mark.parametrize("engine", ["dense", SeparatorWay(), "circuit"])
def test_a_near_tie_of_three_classes_is_bounded(engine):
    """c0 is decided now; seeing F0 = yes, which 28% do, leaves c1 ahead of c0 by 4e-13."""
    target, share = Variable("C", ["c0", "c1", "c2"]), 0.6 * (1 + 4e-13)
    rows = [[0.3, 0.7], [share, 1 - share], [0.1, 0.9]]
    network = BayesianNetwork(
        [
            Cpt(target, [], [0.4, 0.2, 0.4]),
            Cpt(Variable("F0", ["yes", "no"]), [target], rows),
            Cpt(Variable("F1", ["yes", "no"]), [target], [[0.5, 0.5], [0.5, 0.5], [0.01, 0.99]]),
        ]
    )
    classifier = Classifier(network, "C", None, MostProbable())
    found = unswayed.sdp(classifier, {"F1": "yes"}, engine=engine)
    assert found.certainty is Certainty.BOUND
    alone = 0.4 * 0.3 * 0.5 + 0.2 * 0.6 * 0.5 + 0.4 * 0.1 * 0.01
    truth = 1 - alone / (0.4 * 0.5 + 0.2 * 0.5 + 0.4 * 0.01)
    assert_holds(found, truth)


def test_doubts_of_several_classes_are_found_row_by_row():
    """Rows within the tolerance count as ties; only those within rounding are."""
    gaps = np.array([0.0, 1e-15, 1e-13, 5e-13, 5e-12, 1e-3])
    doubted = [False, False, True, True, False, False]
    rows = np.stack([np.full(6, 0.4), 0.4 * np.exp(-gaps), np.full(6, 0.1)], axis=1)
    target = Variable("C", ["c0", "c1", "c2"])
    worth = {f"a{i}": {f"c{j}": float(i == j) for j in range(3)} for i in range(3)}
    for rule in (MostProbable(), UtilityRule(worth)):
        assert rule.bind(target).is_doubtful(rows, 3e-14).tolist() == doubted, rule
    shifted = np.array([[0.4 * math.exp(-gap), 0.5, 0.1] for gap in gaps])
    assert ThresholdRule("c0", 0.4).bind(target).is_doubtful(shifted, 3e-14).tolist() == doubted


def test_a_person_is_told_why_an_exact_engine_gives_bounds():
    bayes = in_thousandths((500, 500), ((300, 600), (700, 200)))
    upper, lower = bayes.masses((0, 0))
    threshold = 1.0 / (1.0 + math.exp(-math.log(upper / lower) - TIE / 2))
    classifier = Classifier(bayes.network(), "C", None, ThresholdRule("c0", threshold))
    assert "too near the threshold" in certainty_text(unswayed.sdp(classifier))
    certified = unswayed.sdp(classifier, engine="sums")
    assert certainty_text(certified) == "certified"
