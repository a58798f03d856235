"""Decisions that rest on objects, compared with every object looked at one by one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import unswayed
from tolerances import ENGINE
from unswayed.api.decisions import decide
from unswayed.api.observations import should_stop
from unswayed.circuits.psdd.query import log_likelihoods
from unswayed.core.anytime import within
from unswayed.core.errors import ImpossibleEvidence, LimitError, QueryError
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty
from unswayed.decisions.rewards import NegativeEntropy
from unswayed.decisions.rules import MostProbable, ThresholdRule, UtilityRule
from unswayed.engines.dense import DenseEngine
from unswayed.spaces.classifier.anomaly import StructuredAnomalyDetector
from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
from unswayed.spaces.decisions.classifier import (
    StructuredClassifier,
    structured_case,
    structured_classifier,
)
from unswayed.spaces.decisions.measures import certified_agreement, normal_share
from unswayed.spaces.graphs import grid
from unswayed.spaces.paths import path_space
from unswayed.spaces.rankings import ranking_space
from unswayed.spaces.space import Partial, Space

RANKINGS = ranking_space(5)
EVERY_RANKING = list(permutations(range(1, 6)))
PATHS = path_space(grid(3, 3), (0, 0), (2, 2))
HATS = ("cap", "none", "top")


def every_path() -> list[tuple]:
    rows = [row for row in product([False, True], repeat=len(PATHS.names)) if sum(row) in (4, 6, 8)]
    from unswayed.circuits.sdd.evaluate import evaluate

    return PATHS.decode_many([row for row in rows if evaluate(PATHS.sdd, np.array(row))])


EVERY_PATH = every_path()


def learned(
    space: Space, everything: list, n_classes: int, seed: int, smoothing: float
) -> StructuredNaiveBayes:
    """A classifier of objects and hats, from rows drawn with a taste for each class."""
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for c in range(n_classes):
        taste = rng.dirichlet(np.full(len(everything), 0.3))
        hats = rng.dirichlet(np.ones(3))
        for _ in range(12):
            rows.append([everything[rng.choice(len(everything), p=taste)], HATS[rng.choice(3, p=hats)]])
            labels.append("abc"[c])
    return StructuredNaiveBayes([(space, 0)], smoothing=smoothing).fit(rows, labels)


def enumerated(
    classifier: StructuredClassifier, everything: list, known: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Joint mass of class, object and hat (objects, hats, classes) and the decision on each pair.

    `known` says which objects are still possible.
    """
    objects, hats = classifier.model.conditionals
    space = classifier.model.attributes[0].space
    scores = log_likelihoods(objects.psdds, space.encode_many(everything))  # (objects, classes)
    mass = np.exp(classifier.model.log_prior + scores[:, None, :] + hats.log_shares.T[None, :, :])
    mass = mass * np.array([known(each) for each in everything])[:, None, None]
    mass = mass / mass.sum()
    flat = mass.reshape(-1, mass.shape[2])
    decided = np.full(len(flat), -1)
    alive = flat.sum(axis=1) > 0
    decided[alive] = classifier.decider.decide(flat[alive])
    return mass, decided.reshape(mass.shape[:2])


def agreement(
    classifier: StructuredClassifier, mass: np.ndarray, decided: np.ndarray, axis: int | None
) -> float:
    """How often the decision on one axis alone (none: on nothing) is the full one, by definition."""
    total = mass.sum(axis=2)
    if axis is None:
        now = classifier.decider.decide(mass.sum(axis=(0, 1))[None, :])[0]
        return float(total[decided == now].sum())
    rows = mass.sum(axis=1 - axis)
    alive = rows.sum(axis=1) > 0
    first = np.full(len(rows), -2)
    first[alive] = classifier.decider.decide(rows[alive])
    return float(total[decided == np.expand_dims(first, 1 - axis)].sum())


CASES = [
    (RANKINGS, EVERY_RANKING, Partial([2]), lambda r: r[0] == 2),
    (RANKINGS, EVERY_RANKING, Partial([(1, 4)]), lambda r: set(r[:2]) == {1, 4}),
    (PATHS, EVERY_PATH, Partial([(0, 0), (0, 1)]), lambda p: p[1] == (0, 1)),
    (PATHS, EVERY_PATH, Partial({"(1, 1)-(1, 2)": False}), lambda p: not uses(p, (1, 1), (1, 2))),
    (PATHS, EVERY_PATH, None, lambda p: True),
]


def uses(path: tuple, one: tuple, other: tuple) -> bool:
    return any({a, b} == {one, other} for a, b in pairwise(path))


RULES = {
    "likeliest": MostProbable(),
    "threshold": ThresholdRule("a", 0.6),
    "utilities": UtilityRule(
        {"go": {"a": 3.0, "b": -1.0}, "ask": {"a": 0.5, "b": 0.5}, "stay": {"a": -1.0, "b": 2.0}}
    ),
}


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(CASES), st.sampled_from(list(RULES)), st.integers(0, 1000), st.sampled_from([0.0, 0.5])
)
def test_listed_answers_are_those_of_enumeration(chosen, rule, seed, smoothing):
    space, everything, evidence, known = chosen
    n_classes = 2 if rule == "utilities" else 2 + seed % 2
    model = learned(space, everything, n_classes, seed, smoothing)
    classifier = structured_classifier(model, RULES[rule])
    observed = {"x0": evidence}
    try:
        sdp = unswayed.sdp(classifier, observed)
    except ImpossibleEvidence:
        assert smoothing == 0.0
        return
    mass, decided = enumerated(classifier, everything, known)
    assert sdp.certainty is Certainty.EXACT
    assert sdp.value == pytest.approx(agreement(classifier, mass, decided, None), abs=ENGINE)
    for axis, name in enumerate(["x0", "x1"]):
        found = unswayed.esdp(classifier, observed, kept=[name])
        assert found.value == pytest.approx(agreement(classifier, mass, decided, axis), abs=ENGINE)
    posterior = decide(classifier, observed).posterior
    assert list(posterior.values()) == pytest.approx(mass.sum(axis=(0, 1)).tolist(), abs=ENGINE)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(CASES), st.sampled_from(list(RULES)), st.integers(0, 1000), st.sampled_from([0.0, 0.5])
)
def test_certified_bounds_hold_what_enumeration_finds(chosen, rule, seed, smoothing):
    space, everything, evidence, known = chosen
    n_classes = 2 if rule == "utilities" else 2 + seed % 2
    model = learned(space, everything, n_classes, seed, smoothing)
    classifier = structured_classifier(model, RULES[rule])
    try:
        case = structured_case(classifier, {"x0": evidence})
    except ImpossibleEvidence:
        return
    mass, decided = enumerated(classifier, everything, known)
    for names, axis in zip([[], ["x0"], ["x1"]], [None, 0, 1], strict=True):
        found = certified_agreement(case, names, tolerance=1e-2)
        truth = agreement(classifier, mass, decided, axis)
        assert found.low - ENGINE <= truth <= found.high + ENGINE


def test_objects_beyond_any_list_are_bounded_as_closely_as_asked():
    """Rankings of 8 with distinct parameters everywhere: 40,320 sums, which enumeration can still add up."""
    space = ranking_space(8)
    rng = np.random.default_rng(4)
    rows = [
        tuple((1 + np.argsort(rng.gumbel(size=8) + 0.2 * c * np.arange(8))).tolist()) for c in (0, 1) * 80
    ]
    model = StructuredNaiveBayes(space, smoothing=0.37).fit(rows, ["a", "b"] * 80)
    classifier = structured_classifier(model, ThresholdRule("a", 0.55))
    case = structured_case(classifier)
    everything = np.array(list(permutations(range(1, 9))))
    mass = np.exp(
        log_likelihoods(model.model_.conditionals[0].psdds, space.encode_many(everything))
        + model.model_.log_prior
    )
    truth = mass.sum(axis=1)[classifier.decider.decide(mass) == case.action].sum()
    found = certified_agreement(case, [], tolerance=1e-3)
    assert found.high - found.low <= 1e-3
    assert found.low <= truth <= found.high
    with within(Limits(max_seconds=0.01)):
        hasty = certified_agreement(case, [], tolerance=1e-6)
    assert hasty.low <= truth <= hasty.high


def test_numbers_beside_objects_are_bounded_and_hold_what_samples_find():
    rng = np.random.default_rng(0)
    labels = ["a", "b"] * 60
    rows = [
        [
            EVERY_RANKING[rng.integers(60) + 60 * (c == "a")],
            rng.normal(0.4 * (c == "a"), 1.0 + 0.5 * (c == "a")),
        ]
        for c in labels
    ]
    model = StructuredNaiveBayes([(RANKINGS, 0)], max_categories=0).fit(rows, labels)
    classifier = structured_classifier(model)
    found = unswayed.sdp(classifier)
    ranked = unswayed.voi(classifier)
    assert found.certainty is Certainty.BOUND
    objects, numbers = model.model_.conditionals
    n = 40_000
    scores = log_likelihoods(objects.psdds, RANKINGS.encode_many(EVERY_RANKING))
    drawn = rng.integers(0, 2, n)
    first = np.empty((n, 2))
    for c in (0, 1):
        chosen = rng.choice(len(scores), (drawn == c).sum(), p=np.exp(scores[:, c]))
        first[drawn == c] = scores[chosen]
    x = rng.normal(numbers.mean[drawn], np.sqrt(numbers.variance[drawn]))
    second = numbers.log_likelihoods(x)
    full = np.argmax(first + second, axis=1)
    now = ["a", "b"].index(decide(classifier).action)
    noise = 4 * 0.5 / np.sqrt(n)
    assert found.low - noise <= (full == now).mean() <= found.high + noise
    for name, alone in (("x0", first), ("x1", second)):
        after = unswayed.esdp(classifier, kept=[name])
        sampled = (np.argmax(alone, axis=1) == full).mean()
        assert after.low - noise <= sampled <= after.high + noise
    assert set(ranked.features) == {"x0", "x1"}


def test_what_to_observe_next_and_when_to_stop():
    model = learned(RANKINGS, EVERY_RANKING, 2, 7, 0.5)
    classifier = structured_classifier(model)
    ranked = unswayed.voi(classifier)
    mass, decided = enumerated(classifier, EVERY_RANKING, lambda r: True)
    now = agreement(classifier, mass, decided, None)
    gains = {name: agreement(classifier, mass, decided, axis) - now for axis, name in enumerate(["x0", "x1"])}
    assert ranked.features[0] == max(gains, key=lambda name: gains[name])
    entropies = [-(p * np.log2(p)).sum() for p in (mass.sum(axis=(0, 1)),)]
    rows = mass.sum(axis=1)
    after = -(rows * np.log2(rows / rows.sum(axis=1, keepdims=True))).sum()
    information = unswayed.voi(classifier, kept=["x0"], reward=NegativeEntropy())
    assert information.value == pytest.approx(entropies[0] - after, abs=ENGINE)
    whole = {"x0": EVERY_RANKING[3], "x1": "cap"}
    assert should_stop(classifier, whole).stop
    assert unswayed.sdp(classifier, whole).value == 1.0


def test_a_detector_is_a_decision_too():
    trips = [path for path in EVERY_PATH if len(path) == 5] * 3
    detector = StructuredAnomalyDetector(PATHS).fit(trips)
    classifier = structured_classifier(detector)
    for path in EVERY_PATH:
        expected = "normal" if detector.predict([path])[0] == 1 else "not normal"
        assert decide(classifier, {"object": path}).action == expected
    scores = detector.score_samples(EVERY_PATH)
    chances = np.exp(log_likelihoods([detector.psdd_], PATHS.encode_many(EVERY_PATH))[:, 0])
    for path, score in zip(EVERY_PATH, scores, strict=True):
        share = chances[scores <= score + 1e-12].sum()
        assert normal_share(detector, path).value == pytest.approx(share, abs=ENGINE)
    begun = {"object": Partial([(0, 0), (0, 1)])}
    sdp = unswayed.sdp(classifier, begun)
    here = np.array([path[1] == (0, 1) for path in EVERY_PATH])
    even = np.where(here, 0.5 * chances + 0.5 / len(EVERY_PATH), 0.0)
    is_normal = detector.predict(EVERY_PATH) == 1
    now = decide(classifier, begun).action == "normal"
    assert sdp.value == pytest.approx(even[is_normal == now].sum() / even.sum(), abs=ENGINE)
    with pytest.raises(QueryError, match="seen in part"):
        normal_share(detector, Partial([(0, 0), (0, 1)]))


def test_questions_that_do_not_fit_are_refused():
    model = learned(RANKINGS, EVERY_RANKING, 2, 1, 1.0)
    classifier = structured_classifier(model)
    with pytest.raises(QueryError, match="attribute 'hat'"):
        unswayed.sdp(classifier, {"hat": "cap"})
    with pytest.raises(QueryError, match="value of 'x1'"):
        unswayed.sdp(classifier, {"x1": "crown"})
    with pytest.raises(QueryError, match="observed already"):
        unswayed.esdp(classifier, {"x1": "cap"}, kept=["x1"])
    assert unswayed.sdp(model).value == unswayed.sdp(classifier).value  # an estimator is taken as it is
    with pytest.raises(QueryError, match="no choice of engine"):
        unswayed.sdp(classifier, engine=DenseEngine())
    three = structured_classifier(learned(ranking_space(9), [tuple(range(1, 10))] * 2, 3, 0, 0.5))
    assert unswayed.sdp(three).value > 0


def test_rules_on_three_classes_are_bounded_beyond_lists():
    space = ranking_space(8)
    rng = np.random.default_rng(2)
    rows = [tuple((1 + rng.permutation(8)).tolist()) for _ in range(300)]
    model = StructuredNaiveBayes(space, smoothing=0.31).fit(rows, ["a", "b", "c"] * 100)
    everything = space.encode_many(np.array(list(permutations(range(1, 9)))))
    mass = np.exp(log_likelihoods(model.model_.conditionals[0].psdds, everything) + model.model_.log_prior)
    for rule in (ThresholdRule("a", 0.4), MostProbable()):
        classifier = structured_classifier(model, rule)
        case = structured_case(classifier)
        found = certified_agreement(case, [], tolerance=1e-3)
        truth = mass.sum(axis=1)[classifier.decider.decide(mass) == case.action].sum()
        assert found.low - ENGINE <= truth <= found.high + ENGINE
        assert 0.0 < found.low < found.high < 1.0
        assert found.certainty is Certainty.BOUND


@dataclass(frozen=True)
class _OddActions:
    """A rule of somebody's own that is no test of pairs of classes."""

    actions: tuple[str, ...] = ("odd", "even")

    def bind(self, target: Any) -> _OddActions:
        return self

    def decide(self, class_mass: np.ndarray) -> np.ndarray:
        return (np.round(100 * class_mass.max(axis=1) / class_mass.sum(axis=1)) % 2).astype(np.int64)


def test_rules_that_no_pair_decides_are_refused_beyond_lists():
    rng = np.random.default_rng(2)
    rows = [tuple((1 + rng.permutation(9)).tolist()) for _ in range(300)]
    model = StructuredNaiveBayes(ranking_space(9), smoothing=0.31).fit(rows, ["a", "b", "c"] * 100)
    with pytest.raises(LimitError, match="too many outcomes"):
        unswayed.sdp(structured_classifier(model, _OddActions()))
