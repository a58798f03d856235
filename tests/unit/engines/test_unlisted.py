"""Bounds on kept sets too large to list hold what enumeration gives, whichever way they come from."""

from __future__ import annotations

import numpy as np
import pytest

from dependent_cases import random_problem, random_tree
from engines.test_sums import assert_holds
from oracles.enumerate_profile import enumerate_profile, feature_table
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import expected_agreement
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.engines.sums import engine as sums_engine
from unswayed.engines.sums.engine import SumsEngine
from unswayed.engines.sums.unlisted import hide_others, order_by_information, score_kept

WAYS = {"listed": {}, "hidden": {"MOST_MASSES": 0}, "scored": {"MOST_MASSES": 0, "COARSE_SHARE": 0.0}}


def force(monkeypatch, way: str) -> None:
    """List nothing but rows of small parts, and take the decisions of kept features from one source."""
    monkeypatch.setattr(sums_engine, "MOST_ROWS", 0)
    monkeypatch.setattr(sums_engine, "PART_ROWS", 4)
    for name, value in WAYS[way].items():
        monkeypatch.setattr(sums_engine, name, value)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(30))
def test_bounds_hold_what_enumeration_gives(seed, way, monkeypatch):
    """Two to five classes, many-valued features, zeros, ties, hidden variables and evidence."""
    rng = np.random.default_rng([2, seed])
    problem = random_problem(rng, 6)
    kept = frozenset(f for f in problem.free if rng.random() < 0.6)
    exact = expected_agreement(enumerate_profile(problem, kept), problem.decider)
    force(monkeypatch, way)
    assert_holds(SumsEngine().prepare(problem).agreement(kept, problem.decider, 1e-2), exact)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_bounds_hold_in_many_cases(way, monkeypatch):
    force(monkeypatch, way)
    for seed in range(1500):
        rng = np.random.default_rng([3, seed])
        problem = random_problem(rng, 7)
        kept = frozenset(f for f in problem.free if rng.random() < 0.6)
        exact = expected_agreement(enumerate_profile(problem, kept), problem.decider)
        assert_holds(SumsEngine().prepare(problem).agreement(kept, problem.decider, 1e-2), exact)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("way", WAYS)
def test_bounds_are_close_where_a_part_says_most(way, classes, monkeypatch):
    """Features that hardly leave a doubt: what all decide and what most decide is nearly always the same."""
    rng = np.random.default_rng(5)
    network = random_tree(rng, 9, classes=classes)
    rule = ThresholdRule("c0", 0.4) if classes == 2 else MostProbable()
    problem = make_problem(Classifier(network, "C", network.names[1:], rule))
    oracle = SumsEngine().prepare(problem)
    kept = frozenset(order_by_information(problem, oracle.factors, frozenset(problem.free))[:7])
    exact = expected_agreement(enumerate_profile(problem, kept), problem.decider)
    force(monkeypatch, way)
    monkeypatch.setattr(sums_engine, "PART_ROWS", 64)
    found = oracle.agreement(kept, problem.decider, 1e-3)
    assert_holds(found, exact)
    assert found.low > 0.4
    assert found.high < 1.0 or way == "scored"


@pytest.mark.parametrize("seed", range(10))
def test_scores_of_all_features_are_their_distribution(seed):
    """With nothing hidden the scores multiply to Pr(class, features) itself."""
    rng = np.random.default_rng([4, seed])
    network = random_tree(rng, 5, classes=3)
    problem = make_problem(Classifier(network, "C", network.names[1:], MostProbable()))
    factors = SumsEngine().prepare(problem).factors
    scores = score_kept(problem, factors, frozenset(problem.free))
    for states, masses in feature_table(problem).items():
        state = dict(zip(problem.free, states, strict=True))
        product = np.prod(
            [score.mass[(slice(None), *(state[v] for v in score.scope))] for score in scores], axis=0
        )
        np.testing.assert_allclose(product, masses, rtol=1e-9)


def test_hiding_others_keeps_evidence_and_prior():
    problem = random_problem(np.random.default_rng(11), 6)
    hidden = hide_others(problem, frozenset(problem.free[:1]))
    assert hidden.free == problem.free[:1]
    assert hidden.evidence == problem.evidence
    np.testing.assert_array_equal(hidden.prior, problem.prior)
