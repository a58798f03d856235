"""Certified bounds near ties: what fractions decide without any tolerance lies within them.

Either a posterior misses the threshold by less than the tolerance of ties, or all features together say less
than that. Engines that certify may leave such a case open; they may not settle it the wrong way.
"""

from __future__ import annotations

import math
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
    in_thousandths,
)
from tolerances import ENGINE
from unswayed import BayesianNetwork, Classifier, Cpt, MostProbable, ThresholdRule, Variable
from unswayed.core.measurement import Certainty, Measurement
from unswayed.engines.sums.grid_bounds import GridWay
from unswayed.engines.weights.separator import SeparatorWay

CERTIFYING = ["sums", GridWay()]
OFFSETS = (3e-13, 5e-13, 9e-13)
Case = tuple[RationalNaiveBayes, Classifier, Decide]


def near_tie(chance: random.Random, n_classes: int) -> Case:
    """A threshold that the posterior of some findings misses by less than the tolerance."""
    while True:
        shares = [[chance.randint(1, 999) for _ in range(n_classes)] for _ in range(chance.randint(1, 4))]
        first = chance.randint(100, 800)
        prior = (first, 1000 - first) if n_classes == 2 else (first, 150, 850 - first)
        bayes = in_thousandths(prior, shares)
        seen = [chance.choice([0, 1, None]) for _ in shares]
        masses = bayes.masses(seen)
        log_odds = math.log(masses[0] / sum(masses[1:])) + chance.choice(OFFSETS)
        threshold = 1.0 / (1.0 + math.exp(-log_odds))
        if 0.01 < threshold < 0.99 and min(prior) > 0:
            rule = ThresholdRule("c0", threshold)
            return bayes, Classifier(bayes.network(), "C", None, rule), by_threshold(threshold)


def faint(chance: random.Random, n_classes: int) -> Case:
    """Features that all together say less about the class than the tolerance of ties."""
    while True:
        prior = tuple(map(Fraction, [0.5, 0.5, 0.0][:n_classes]))
        tables = []
        for _ in range(chance.randint(1, 3)):
            shares = [Fraction(0.5 + chance.choice([0.0, 1e-13, 2e-13, -1e-13])) for _ in prior]
            tables.append(tuple((share, 1 - share) for share in shares))
        bayes = RationalNaiveBayes(prior, tuple(tables))
        if can_tell(bayes):
            break
    if chance.random() < 0.5:
        return bayes, Classifier(bayes.network(), "C", None, MostProbable()), by_probability
    return bayes, Classifier(bayes.network(), "C", None, ThresholdRule("c0", 0.5)), by_threshold(0.5)


def can_tell(bayes: RationalNaiveBayes) -> bool:
    """Whether nothing nearly ties that is within rounding of a tie: floating point takes it for one."""
    partly = product((None, 0, 1), repeat=len(bayes.tables))
    gaps = [abs(masses[0] / masses[1] - 1) for masses in map(bayes.masses, partly)]
    return not any(0 < gap < 1.5e-13 for gap in gaps)


def assert_holds(found: Measurement, truth: Fraction, where: object) -> None:
    assert found.low - ENGINE <= float(truth) <= found.high + ENGINE, where


def best_threshold(bayes: RationalNaiveBayes, kept: frozenset[int], decide: Decide) -> Fraction:
    """The agreement of the best threshold on the posterior of the kept features, by trying all."""
    rows: dict[Fraction, list[Fraction]] = {}
    for seen in bayes.instantiations():
        masses = bayes.masses(seen)
        partly: Masses = bayes.masses([state if i in kept else None for i, state in enumerate(seen)])
        if any(masses):
            row = rows.setdefault(partly[0] / sum(partly), [Fraction(0), Fraction(0)])
            row[decide(masses)] += sum(masses)
    return max(
        sum((mass[0] if at >= turn else mass[1] for at, mass in rows.items()), Fraction(0))
        for turn in (*rows, Fraction(2))
    )


def check(engine: str | GridWay, seed: int) -> int:
    """How many questions the engine answers about one case; every answer holds the rational one."""
    chance = random.Random(seed)
    n_classes = 3 if engine == "sums" and chance.random() < 0.3 else 2
    bayes, classifier, decide = chance.choice([near_tie, faint])(chance, n_classes)
    kept = frozenset(i for i in range(len(bayes.tables)) if chance.random() < 0.5)
    names, asked = [f"F{i}" for i in sorted(kept)], {"engine": engine, "tolerance": 1e-3}
    nothing: frozenset[int] = frozenset()
    assert_holds(unswayed.sdp(classifier, **asked), bayes.agreement(nothing, decide), seed)
    found = unswayed.esdp(classifier, kept=names, **asked)
    assert_holds(found, bayes.agreement(kept, decide), seed)
    found = unswayed.mpa(classifier, kept=names, **asked)
    assert_holds(found, bayes.potential(kept, decide), seed)
    if isinstance(classifier.rule, ThresholdRule):
        best = unswayed.maa(classifier, kept=names, **asked)
        assert_holds(best, best_threshold(bayes, kept, decide), seed)
    return 1


@pytest.mark.parametrize(("engine", "n_cases"), [("sums", 200), (GridWay(), 50)])
def test_certified_bounds_hold_what_fractions_decide(engine, n_cases):
    assert sum(check(engine, seed) for seed in range(n_cases)) == n_cases


@pytest.mark.slow
@pytest.mark.parametrize("engine", CERTIFYING)
def test_certified_bounds_hold_what_fractions_decide_in_many_cases(engine):
    assert sum(check(engine, 200 + seed) for seed in range(3000)) == 3000


@pytest.mark.parametrize(
    "engine", [*CERTIFYING, "depth_first", "brute_force", "weights", SeparatorWay(), "dense"]
)
def test_features_that_say_less_than_the_tolerance_are_not_settled(engine):
    """Either class is as probable; half of all findings make the second one more probable, by 1e-13."""
    target = Variable("C", ["p", "q"])
    tables = [[[0.5 + faint, 0.5 - faint], [0.5, 0.5]] for faint in (1e-13, 2e-13)]
    cpts = [Cpt(Variable(f"F{i}", ["y", "n"]), [target], table) for i, table in enumerate(tables)]
    network = BayesianNetwork([Cpt(target, [], [0.5, 0.5]), *cpts])
    classifier = Classifier(network, "C", None, ThresholdRule("p", 0.5))
    asked = {"tolerance": 1e-3} if engine in CERTIFYING else {}
    found = unswayed.sdp(classifier, engine=engine, **asked)
    assert found.certainty is Certainty.BOUND
    assert found.low - ENGINE <= 0.5 <= found.high
