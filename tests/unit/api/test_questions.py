"""Bad questions get clear errors; good ones get the engine, the certainty and the explanation they should."""

from __future__ import annotations

import numpy as np
import pytest

import unswayed
from dependent_cases import tied_by_a_hidden_variable
from unswayed import Classifier, LimitError, Limits, MostProbable, QueryError, ThresholdRule, UtilityRule
from unswayed.core.measurement import Certainty
from unswayed.engines import SamplingEngine
from unswayed.engines.sampling import clopper_pearson
from unswayed.model.zoo import (
    binary_network,
    printer,
    random_naive_bayes,
    review,
)
from unswayed.papers import DepthFirstEngine

PAPERS = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
SURE = binary_network({"C": ((), [0.5]), "A": (("C",), [1.0, 0.0]), "B": (("C",), [0.9, 0.2])})


def wide(n, seed=0, threshold=0.5):
    return Classifier(
        random_naive_bayes(n, np.random.default_rng(seed)), "C", None, ThresholdRule("s0", threshold)
    )


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: Classifier(review(), "Q", None, ThresholdRule("+", 0.6)), "unknown variable 'Q'"),
        (lambda: Classifier(review(), "D", ["R3"], ThresholdRule("+", 0.6)), "did you mean 'R1'|'R2'"),
        (
            lambda: Classifier(review(), "D", ["D", "R1"], ThresholdRule("+", 0.6)),
            "'D' is among the features",
        ),
        (lambda: Classifier(review(), "D", ["R1", "R1"], ThresholdRule("+", 0.6)), "more than once: 'R1'"),
        (lambda: Classifier(review(), "D", None, ThresholdRule("yes", 0.6)), "unknown state of 'D' 'yes'"),
        (lambda: ThresholdRule("+", 1.0), "between 0 and 1, both excluded; got 1.0"),
        (lambda: ThresholdRule("+", float("nan")), "between 0 and 1"),
        (lambda: UtilityRule({}), "at least one action"),
        (lambda: UtilityRule({"a": {"+": float("inf")}}), "give a number"),
        (
            lambda: Classifier(review(), "D", None, UtilityRule({"accept": {"+": 1.0}})),
            "leave out the state '-' of 'D'",
        ),
        (lambda: unswayed.sdp(PAPERS, {"AC": "maybe"}), "unknown state of 'AC'"),
        (
            lambda: unswayed.sdp(PAPERS, {"D": "+"}),
            "target 'D' is part of the evidence",
        ),
        (lambda: unswayed.esdp(PAPERS, kept=["D"]), "not among the features"),
        (
            lambda: unswayed.esdp(PAPERS, {"AC": "+"}, kept=["AC"]),
            "'AC' cannot be kept: observed already",
        ),
        (lambda: unswayed.eca(PAPERS, kept=["AC"], new_threshold=0.0), "between 0 and 1"),
        (
            lambda: unswayed.maa(Classifier(printer(), "Fault", None, MostProbable()), kept=["Light"]),
            "for threshold rules; this classifier's rule is MostProbable",
        ),
        (lambda: unswayed.sdp(PAPERS, tolerance=-1.0), "at least 0, not -1.0"),
        (lambda: unswayed.should_stop(PAPERS, at_least=1.5), "level must lie between 0 and 1"),
        (
            lambda: unswayed.sdp(PAPERS, engine=SamplingEngine()),
            "allow_estimates=True",
        ),
        (lambda: unswayed.follow(PAPERS).observe("AC", "+").observe("AC", "-"), "observed already"),
    ],
)
def test_bad_questions_say_what_is_wrong(ask, message):
    with pytest.raises(QueryError, match=message):
        ask()


def test_impossible_evidence_is_named():
    classifier = Classifier(SURE, "C", ["B"], ThresholdRule("+", 0.5))
    impossible = binary_network({"C": ((), [1.0]), "A": (("C",), [1.0, 0.5]), "B": (("C",), [0.5, 0.5])})
    with pytest.raises(unswayed.ImpossibleEvidence, match="A=-"):
        unswayed.decide(Classifier(impossible, "C", ["B"], classifier.rule), {"A": "-"})


def test_a_target_that_is_certain_never_changes_its_decision():
    classifier = Classifier(SURE, "C", ["B"], ThresholdRule("+", 0.5))
    assert unswayed.sdp(classifier, {"A": "+"}).value == 1.0


def test_certainty_is_not_reached_while_anything_may_turn_the_decision():
    """A state of probability 4e-10 shows itself in A, and nothing else would turn the decision."""
    network = binary_network({"C": ((), [4e-10]), "A": (("C",), [1.0, 0.0])})
    classifier = Classifier(network, "C", ["A"], ThresholdRule("+", 0.5))
    assert unswayed.should_stop(classifier, at_least=1 - 1e-9).stop
    assert not unswayed.should_stop(classifier, at_least=1.0).stop


def test_no_exact_engine_lists_the_bids_and_the_ways_out():
    """Forty-five features that depend on each other by a hidden variable, and a target of three states."""
    classifier = tied_by_a_hidden_variable()
    with pytest.raises(LimitError) as caught:
        unswayed.sdp(classifier)
    text = str(caught.value)
    for part in (
        "dense: about",
        "weights: needs a target of two states",
        "sums: hidden variables tie 45 features together",
        "ways out",
        "allow_estimates=True",
    ):
        assert part in text
    estimate = unswayed.sdp(classifier, allow_estimates=True)
    assert estimate.certainty is Certainty.ESTIMATE
    assert estimate.low < estimate.value < estimate.high
    assert estimate.confidence == 0.99


def test_an_estimate_without_a_limit_on_time_ends_all_the_same(monkeypatch):
    """Samples of a large network would take hours; those decided while we wait are enough for an interval."""
    classifier = tied_by_a_hidden_variable()
    whole = unswayed.sdp(classifier, allow_estimates=True)
    monkeypatch.setattr("unswayed.engines.sampling.MOST_UNITS", 1e-9)
    cut = unswayed.sdp(classifier, allow_estimates=True)
    assert cut.low < whole.value < cut.high
    assert cut.high - cut.low > 4 * (whole.high - whole.low)


def test_a_named_engine_that_cannot_answer_says_why():
    with pytest.raises(LimitError, match="needs a target of two states"):
        unswayed.sdp(Classifier(printer(), "Fault", None, MostProbable()), engine=DepthFirstEngine())


def test_hundreds_of_features_get_a_certified_interval_without_asking():
    found = unswayed.sdp(wide(300))
    assert found.certainty is Certainty.BOUND
    assert found.engine == "sums"
    assert found.high - found.low <= 1e-3


def test_exact_comes_before_bounds_unless_a_tolerance_makes_them_cheaper():
    assert unswayed.sdp(wide(38)).certainty is Certainty.EXACT
    loose = unswayed.sdp(wide(44), tolerance=0.01)
    assert loose.engine == "sums"
    exact = unswayed.sdp(wide(30))
    assert loose.certainty is Certainty.BOUND
    assert exact.low == exact.value == exact.high


def test_explain_prints_every_bid(capsys):
    unswayed.sdp(wide(30), explain=True)
    shown = capsys.readouterr().out
    assert "-> weights: about" in shown
    assert "dense: about" in shown
    assert "sums: about" in shown


def test_a_time_limit_is_part_of_the_choice():
    with pytest.raises(LimitError, match="over the limits"):
        unswayed.maa(wide(44), kept=[f"F{i}" for i in range(1, 20)], limits=Limits(max_seconds=1e-4))


def test_large_kept_sets_of_a_naive_bayes_need_no_rows():
    """30 of 36 features kept: MAA without 2^30 rows equals MPA, and its thresholds achieve it."""
    classifier = wide(36, seed=3, threshold=0.4)
    kept = [f"F{i}" for i in range(1, 31)]
    achievable = unswayed.maa(classifier, kept=kept)
    potential = unswayed.mpa(classifier, kept=kept)
    assert achievable.value == pytest.approx(potential.value, abs=1e-12)
    middle = sum(achievable.thresholds) / 2
    found = unswayed.eca(classifier, kept=kept, new_threshold=middle)
    assert found.value == pytest.approx(achievable.value, abs=1e-12)


def test_rewards_can_be_any_function():
    confidence = unswayed.decisions.CustomReward(lambda posteriors: posteriors.max(axis=1), name="confidence")
    value = unswayed.voi(PAPERS, kept=["R1", "R2"], reward=confidence)
    rows = unswayed.joint(review(), ["R1", "R2", "D"]).as_array().reshape(4, 2)
    assert value.value == pytest.approx(rows.max(axis=1).sum() - 0.8)
    broken = unswayed.decisions.CustomReward(lambda posteriors: posteriors, name="broken")
    with pytest.raises(QueryError, match="'broken' must give one finite number"):
        unswayed.voi(PAPERS, kept=["R1"], reward=broken)


def test_utilities_rank_by_what_they_gain():
    """An influence diagram with one decision [chen2014, A.2]: gains are differences of expected utilities."""
    rule = UtilityRule({"accept": {"+": 10.0, "-": -5.0}, "reject": {"+": 0.0, "-": 0.0}})
    classifier = Classifier(review(), "D", ["R1", "R2", "AC"], rule)
    assert unswayed.decide(classifier).action == "reject"
    ranking = unswayed.voi(classifier)
    assert ranking.criteria == ("sdp", "entropy", "margin", "utility")
    gains = {f: row[3].value for f, row in zip(ranking.features, ranking.values, strict=True)}
    # accept exactly after R1 = +: .14 * 10 - .16 * 5 = .6; R2 = +: .12 * 10 - .08 * 5 = .8
    assert gains["R1"] == pytest.approx(0.6)
    assert gains["R2"] == pytest.approx(0.8)


@pytest.mark.slow
def test_estimates_cover_the_truth_at_their_stated_rate():
    """Of 300 intervals at 90% confidence, at least 255 hold the exact value (binomial tail below 1e-3)."""
    classifier = wide(12, seed=2)
    kept = ["F1", "F2", "F3"]
    exact = unswayed.esdp(classifier, kept=kept).value
    covered = 0
    for seed in range(300):
        engine = SamplingEngine(n_samples=60, confidence=0.9, rng=np.random.default_rng(seed))
        found = unswayed.esdp(classifier, kept=kept, engine=engine, allow_estimates=True)
        covered += found.low <= exact <= found.high
    assert covered >= 255


def test_confidence_intervals_end_at_the_ends():
    assert clopper_pearson(0, 10, 0.95) == (0.0, pytest.approx(1 - 0.025**0.1))
    assert clopper_pearson(10, 10, 0.95) == (pytest.approx(0.025**0.1), 1.0)
