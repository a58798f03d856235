"""Explanations by sums of weights against everything written out: no table, findings in middle states."""

from __future__ import annotations

import math

import pytest

import unswayed
from oracles.enumerate_reasons import WrittenOut
from reason_cases import three_state_case
from unswayed.api.decisions import agreement_of
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.reasons import additive as additive_room, oracle as oracle_room
from unswayed.reasons.additive import make_additive
from unswayed.reasons.case import decider_of, explained_decision

LEVELS = (1.0, 0.9, 0.6)


@pytest.fixture(autouse=True)
def only_sums_on_grids(monkeypatch):
    monkeypatch.setattr(oracle_room, "FEW_SECONDS", 0.0)
    monkeypatch.setattr(additive_room, "LISTED", 1)


def check_three_states(seed, n_features):
    classifier, evidence = three_state_case(seed, n_features)
    written = WrittenOut(classifier, evidence)
    for level in LEVELS:
        why = unswayed.why(classifier, evidence, at_least=level)
        found = math.inf if why.reason is None else len(why.reason.findings)
        smallest = min(map(len, written.reasons(level)), default=math.inf)
        assert why.cost_bound <= smallest <= found
        assert found == smallest or not why.proven
        if why.reason is not None:
            assert written.is_reason([written.network.index(name) for name in why.reason.findings], level)


def test_findings_in_middle_states_are_explained():
    for seed in range(100):
        check_three_states(seed, 4)


@pytest.mark.slow
def test_findings_in_middle_states_of_a_thousand_classifiers_are_explained():
    for seed in range(1000):
        check_three_states(seed, 5)


@pytest.mark.parametrize("n_features", [16, 40])
@pytest.mark.parametrize("seed", range(3))
def test_a_healthy_patient_is_explained(seed, n_features):
    classifier, _ = three_state_case(seed, n_features)
    evidence = dict.fromkeys(classifier.features, "normal")
    why = unswayed.why(classifier, evidence, at_least=0.95)
    explained = explained_decision(make_problem(classifier, evidence))
    reason = explained.at([classifier.network.index(name) for name in why.reason.findings])
    sdp = agreement_of(reason, frozenset(), decider_of(explained), {})
    assert sdp.high >= 0.95
    assert why.reason.sdp.low - 1e-9 <= sdp.high
    assert sdp.low <= why.reason.sdp.high + 1e-9


@pytest.mark.parametrize("n_features", [600, 1500])
def test_more_weights_than_points_of_a_grid_are_bounded(n_features):
    """Features that tell nothing change no sum, however many they are."""
    cpts = [Cpt(Variable("C", ["+", "-"]), [], [0.6, 0.4])]
    for i in range(n_features):
        rows = [[0.7, 0.3], [0.4, 0.6]] if i < 8 else [[0.5, 0.5], [0.5, 0.5]]
        cpts.append(Cpt(Variable(f"F{i}", ["a", "b"]), [cpts[0].child], rows))
    few, many = (
        Classifier(BayesianNetwork(some), "C", None, ThresholdRule("+", 0.5)) for some in (cpts[:9], cpts)
    )
    exact = unswayed.sdp(few).value
    found = make_additive(explained_decision(make_problem(many))).sdp(frozenset())
    assert found.low <= exact <= found.high
