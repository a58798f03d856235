"""Where nothing reaches the level, what comes closest: against all subsets written out, however asked."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import unswayed
from dependent_cases import random_tree
from oracles.enumerate_reasons import WrittenOut
from reason_cases import random_case, three_state_case
from unswayed.api.decisions import agreement_of
from unswayed.core.anytime import portion
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.reasons import additive as additive_room, oracle as oracle_room
from unswayed.reasons.case import explained_decision
from unswayed.reasons.closest import Patience
from unswayed.reasons.contributions import finding_weights, make_leaning
from unswayed.reasons.oracle import find_reasons, make_subset_oracle
from unswayed.reasons.search import Effort

LEVELS = (1.0, 0.999, 0.95, 0.8)


def ask(problem, decider, tolerance):
    return agreement_of(problem, frozenset(), decider, {"tolerance": tolerance} if tolerance else {})


def on_grids(monkeypatch):
    monkeypatch.setattr(oracle_room, "table_fits", lambda *_, **__: False)
    monkeypatch.setattr(additive_room, "LISTED", 1)


WAYS = {
    "tables": lambda _: None,
    "sums": lambda patch: patch.setattr(oracle_room, "table_fits", lambda *_, **__: False),
    "grids": on_grids,
    "engines": lambda _: None,
    "climbing": lambda patch: patch.setattr(oracle_room, "FOR_ENGINES", Patience(5, 1)),
}


def check_closest(seed, max_features, way, counts):
    draw = three_state_case if seed % 4 == 0 else random_case
    classifier, evidence = draw(seed, max_features)
    explained, written = explained_decision(make_problem(classifier, evidence)), None
    weights = finding_weights(explained, make_leaning(explained))
    for level in LEVELS:
        oracle = make_subset_oracle(explained, ask, engine_only=way in ("engines", "climbing"))
        costs = dict.fromkeys(explained.findings, 1.0)
        why = find_reasons(oracle, costs, level, 5, weights=weights, effort=Effort())
        if why.reasons:
            assert why.closest is None
            continue
        written = written or WrittenOut(classifier, evidence)
        best = max(written.sdp(s) for s in written.subsets(written.findings))
        assert best <= why.closest_bound + 1e-9
        if why.closest is None:  # a grid on which sums tie with the cut tells nothing
            assert way == "grids"
            assert not why.closest_proven
            continue
        found, sdp = written.sdp(why.closest.findings), why.closest.sdp
        assert sdp.low - 1e-9 <= found <= sdp.high + 1e-9
        counts[why.closest_proven] += 1
        if why.closest_proven:
            assert found == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_the_closest_set_is_the_closest_where_that_is_proven(way, monkeypatch):
    WAYS[way](monkeypatch)
    counts = Counter()
    for seed in range(100):
        check_closest(seed, 4, way, counts)
    assert sum(counts.values()) > 40
    assert way in ("grids", "climbing") or counts[True] > 0.9 * sum(counts.values())


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_the_closest_set_of_a_thousand_decisions(way, monkeypatch):
    WAYS[way](monkeypatch)
    for seed in range(1000):
        check_closest(seed, 5, way, Counter())


def tree_case(seed, n_features, n_seen):
    """Features that depend on each other, some not observed: nothing is certain."""
    network = random_tree(np.random.default_rng(seed), n_features)
    classifier = Classifier(network, "C", None, ThresholdRule(network.variable("C").states[0], 0.5))
    return classifier, {name: network.variable(name).states[0] for name in classifier.features[:n_seen]}


def test_level_one_names_no_set_that_is_further_away_than_a_level_below(monkeypatch):
    monkeypatch.setattr(oracle_room, "table_fits", lambda *_, **__: False)
    for seed in range(3):
        classifier, evidence = tree_case(seed, 9, 5)
        asked = [unswayed.why(classifier, evidence, at_least=p) for p in (1.0, 1 - 1e-9)]
        assert all(why.reason is None and why.proven and why.closest_proven for why in asked)
        certain, nearly = (why.closest.sdp for why in asked)
        assert (certain.low, certain.high) == pytest.approx((nearly.low, nearly.high), abs=1e-9)


def test_what_is_shown_of_a_bound_is_its_lower_end(monkeypatch):
    on_grids(monkeypatch)
    for seed in (0, 12, 24):
        classifier, evidence = three_state_case(seed, 5)
        why = unswayed.why(classifier, dict(list(evidence.items())[:2]), at_least=1.0)
        if why.closest is not None and why.closest.sdp.certainty is Certainty.BOUND:
            assert why.closest.sdp.value == why.closest.sdp.low
            assert "earest" in str(why)
            return
    raise AssertionError("no case had a bound")


def test_a_search_without_time_claims_nothing():
    explained = explained_decision(make_problem(*tree_case(3, 12, 8)))
    oracle = make_subset_oracle(explained, ask, engine_only=True)
    costs = dict.fromkeys(explained.findings, 1.0)
    with portion(seconds=-1.0):
        why = find_reasons(oracle, costs, 1.0, 5, weights=[], effort=Effort())
    assert (why.reasons, why.closest, why.closest_proven, why.closest_bound) == ((), None, False, 1.0)
