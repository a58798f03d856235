"""Probabilities down to the smallest numbers there are: no engine settles what products of them have lost.

Most rules do not notice: a class that underflowed is too improbable to matter. Rules that ask whether a class
is possible at all do, and so do thresholds that are as small as what was lost.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest

import unswayed
from oracles.rational_decisions import (
    Decide,
    Masses,
    RationalNaiveBayes,
    by_probability,
    by_threshold,
    by_utility,
)
from tolerances import ENGINE
from unswayed import (
    BayesianNetwork,
    Classifier,
    Cpt,
    LimitError,
    MostProbable,
    ThresholdRule,
    UtilityRule,
    Variable,
)
from unswayed.core.measurement import Certainty
from unswayed.decisions.rules import Rule
from unswayed.engines.log_odds import LogOddsEngine
from unswayed.engines.sums.grid_bounds import GridWay
from unswayed.engines.weights.separator import SeparatorWay

WAYS = LogOddsEngine(), SeparatorWay(), GridWay()
ENGINES = ["dense", "weights", "circuit", "brute_force", "depth_first", "sums", *WAYS]
SMALL = (1e-300, 2e-300, 1e-308, 5e-324, 1e-150, 1e-30, 1e-12, 1e-6, 0.1, 0.3, 0.5)
THRESHOLDS = (0.5, 0.1, 1e-6, 1e-20, 1e-100, 1e-300)


def random_bayes(chance: random.Random, n_features: int) -> RationalNaiveBayes:
    """Entries of any size, as they are stored."""

    def row() -> Masses:
        small = chance.choice(SMALL)
        return tuple(map(Fraction, chance.sample([small, 1.0 - small], 2)))

    n_classes = chance.choice([2, 2, 3])
    rest = [chance.choice(SMALL) / 2 for _ in range(n_classes - 1)]
    prior = chance.sample([1.0 - sum(rest), *rest], n_classes)
    tables = tuple(tuple(row() for _ in prior) for _ in range(n_features))
    return RationalNaiveBayes(tuple(map(Fraction, prior)), tables)


def random_rule(chance: random.Random, n_classes: int) -> tuple[Rule, Decide]:
    kind = chance.choice(["threshold", "most probable", "possible"])
    if kind == "threshold":
        threshold = chance.choice(THRESHOLDS)
        return ThresholdRule("c0", threshold), by_threshold(threshold)
    if kind == "most probable":
        return MostProbable(), by_probability
    worth = [[0.0] * n_classes, [float(c == 0) for c in range(n_classes)]]
    names = [f"c{c}" for c in range(n_classes)]
    rule = UtilityRule({f"a{i}": dict(zip(names, row, strict=True)) for i, row in enumerate(worth)})
    return rule, by_utility([list(map(Fraction, row)) for row in worth])


def has_ties(masses: Masses) -> bool:
    """Whether a threshold or two classes nearly tie, where rounding and tolerance have their say."""
    shares = [mass / sum(masses) for mass in masses]
    of_first = [Fraction(threshold) for threshold in THRESHOLDS]
    pairs = [(shares[0], each) for each in of_first] + [
        (a, b) for i, a in enumerate(shares) for b in shares[:i]
    ]
    return any(abs(a - b) <= Fraction(1, 10**11) * max(a, b) > 0 for a, b in pairs)


def check(seed: int) -> int:
    """How many engines answer about one case, if nothing ties; every answer holds the rational one."""
    chance = random.Random(seed)
    n_free, n_seen = chance.randint(1, 3), chance.randint(0, 3)
    bayes = random_bayes(chance, n_free + n_seen)
    rule, decide = random_rule(chance, len(bayes.prior))
    seen = [chance.randrange(2) for _ in range(n_seen)]
    now = bayes.masses([None] * n_free + seen)
    cases = [bayes.masses([*free, *seen]) for free in product((0, 1), repeat=n_free)]
    cases = [masses for masses in cases if any(masses)]
    if not any(now) or has_ties(now) or any(map(has_ties, cases)):
        return 0
    truth = float(sum((sum(m) for m in cases if decide(m) == decide(now)), Fraction(0)) / sum(now))
    classifier = Classifier(bayes.network(), "C", None, rule)
    evidence = {f"F{n_free + i}": ("yes", "no")[state] for i, state in enumerate(seen)}
    answered = 0
    for engine in ENGINES:
        asked = {"tolerance": 1e-3} if engine in ("sums", GridWay()) else {}
        try:
            found = unswayed.sdp(classifier, evidence, engine=engine, **asked)
        except LimitError:
            continue
        assert found.low - ENGINE <= truth <= found.high + ENGINE, (seed, engine)
        answered += 1
    return answered


def test_no_engine_settles_what_was_lost():
    assert sum(check(seed) for seed in range(100)) > 150


@pytest.mark.slow
def test_no_engine_settles_what_was_lost_in_many_cases():
    assert sum(check(100 + seed) for seed in range(3000)) > 5000


@pytest.mark.parametrize("engine", ["dense", "circuit", "weights", LogOddsEngine()])
def test_a_class_that_underflowed_is_not_impossible(engine):
    """Acting pays whenever p is possible; after F = y, on one case in a million, it has 1e-330."""
    target = Variable("C", ["p", "q"])
    feature = Cpt(Variable("F", ["y", "n"]), [target], [[1e-300, 1.0], [1e-6, 1.0 - 1e-6]])
    network = BayesianNetwork([Cpt(target, [], [1e-30, 1.0]), feature])
    rule = UtilityRule({"wait": {"p": 0.0, "q": 0.0}, "act": {"p": 1.0, "q": 0.0}})
    found = unswayed.sdp(Classifier(network, "C", None, rule), engine=engine)
    assert found.high == 1.0
    assert found.low == 1.0 or found.certainty is Certainty.BOUND


def test_a_class_that_a_table_excludes_stays_excluded():
    target = Variable("C", ["p", "q"])
    feature = Cpt(Variable("F", ["y", "n"]), [target], [[0.0, 1.0], [0.25, 0.75]])
    network = BayesianNetwork([Cpt(target, [], [0.5, 0.5]), feature])
    rule = UtilityRule({"wait": {"p": 0.0, "q": 0.0}, "act": {"p": 1.0, "q": 0.0}})
    found = unswayed.sdp(Classifier(network, "C", None, rule))
    assert (found.value, found.certainty) == (0.875, Certainty.EXACT)
