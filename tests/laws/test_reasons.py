"""Explanations of random decisions against everything written out."""

from __future__ import annotations

import math

import numpy as np
import pytest

import unswayed
from oracles.enumerate_reasons import WrittenOut, masses_of
from reason_cases import random_case
from tolerances import ENGINE
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule, UtilityRule
from unswayed.reasons.case import explained_decision
from unswayed.reasons.sensitivity import all_intervals, network_at

LEVELS = (1.0, 0.95, 0.9, 0.75, 0.5)
FEW, MANY = range(250), range(10_000)


def check_everything(seed, max_features):
    rng = np.random.default_rng(seed)
    classifier, evidence = random_case(seed, max_features)
    names = sorted({*classifier.features, *evidence})
    level = float(rng.choice(LEVELS))
    costs = None if rng.random() < 0.5 else {name: float(rng.integers(1, 13)) / 4 for name in names}
    fixed = [name for name in evidence if rng.random() < 0.2]
    why = unswayed.why(classifier, evidence, at_least=level, costs=costs, fixed=fixed, most=10**6)
    written = WrittenOut(classifier, evidence)
    check_reasons(why, written, level, costs or {})
    check_flips(why, written, fixed, costs or {})
    check_weights(why, written, level)


def positions(written, names):
    return frozenset(written.network.index(name) for name in names)


def cost_of(written, variables, costs):
    return math.fsum(costs.get(written.network.variables[v].name, 1.0) for v in variables)


def check_reasons(why, written, level, costs):
    reasons = written.reasons(level)
    assert why.decision.action == written_action(written, why)
    assert why.proven
    if not reasons:
        assert why.reason is None
        assert why.in_every_reason == ()
        best = max(written.sdp(s) for s in written.subsets(written.findings))
        assert why.closest is not None
        assert why.closest.sdp.value == pytest.approx(best, abs=ENGINE)
        return
    lowest = min(cost_of(written, each, costs) for each in reasons)
    smallest = {each for each in reasons if cost_of(written, each, costs) <= lowest + 1e-9}
    assert {positions(written, each.findings) for each in why.reasons} == smallest
    assert why.reason.cost == pytest.approx(lowest)
    for each in why.reasons:
        assert each.sdp.value == pytest.approx(written.sdp(positions(written, each.findings)), abs=ENGINE)
    assert positions(written, why.in_every_reason) == frozenset.intersection(*reasons)


def written_action(written, why):
    return why.classifier.actions[written.action]


def check_flips(why, written, fixed, costs):
    held = positions(written, fixed)
    changes = written.changes([v for v in written.findings if v not in held])
    expected = cheapest(written, changes, costs)
    assert {named(written, each) for each in expected} == {frozenset(f.states.items()) for f in why.flips}
    seen = [states for states, _ in written.observations()]
    expected = cheapest(written, seen, costs)
    found = {frozenset(f.states.items()): f for f in why.flips_if_observed}
    assert {named(written, each) for each in expected} == set(found)
    for states, probability in written.observations():
        if named(written, states) in found:
            assert found[named(written, states)].probability == pytest.approx(probability, abs=ENGINE)
    for flip in (*why.flips, *why.flips_if_observed):
        changed = {**written.evidence, **written.network.evidence(flip.states)}
        assert flip.decision == why.classifier.actions[written.decision(changed)]


def cheapest(written, found, costs):
    lowest = min((cost_of(written, each, costs) for each in found), default=math.inf)
    return [each for each in found if cost_of(written, each, costs) <= lowest + 1e-9]


def named(written, states):
    variables = written.network.variables
    return frozenset((variables[v].name, variables[v].states[s]) for v, s in states.items())


def check_weights(why, written, level):
    enough = written.is_reason(written.findings, level)
    needed = set()
    for each in why.contributions:
        [finding] = positions(written, [each.feature])
        others = [v for v in written.findings if v != finding]
        rest = {v: written.evidence[v] for v in others}
        assert each.decision_without == why.classifier.actions[written.decision(rest)]
        assert each.sdp_without.value == pytest.approx(written.sdp(others), abs=ENGINE)
        masses = written.masses(rest)
        assert list(each.posterior_without.values()) == pytest.approx(masses / masses.sum(), abs=ENGINE)
        if written.decision(rest) != written.action or (enough and not written.is_reason(others, level)):
            needed.add(each.feature)
    assert set(why.necessary) == needed


def test_explanations_are_those_of_the_definitions():
    for seed in FEW:
        check_everything(seed, max_features=6)


@pytest.mark.slow
def test_explanations_of_ten_thousand_classifiers():
    for seed in MANY:
        check_everything(seed, max_features=8)


def leaning_of(written, masses):
    """How far masses lean towards the decision, by the words of the documentation."""
    shares = masses / masses.sum()
    rule, states = written.rule, written.target.states
    if isinstance(rule, UtilityRule):
        worth = [
            sum(row[s] * p for s, p in zip(states, shares, strict=True)) for row in rule.utilities.values()
        ]
        others = [w for action, w in enumerate(worth) if action != written.action]
        return worth[written.action] - max(others, default=0.0)
    upper = states.index(rule.positive) if isinstance(rule, ThresholdRule) else written.action
    with np.errstate(divide="ignore"):
        odds = np.log(shares[upper]) - np.log(np.delete(shares, upper).sum())
    return -odds if isinstance(rule, ThresholdRule) and written.action == 1 else odds


def test_shapley_values_are_means_over_all_orders():
    shared = 0
    for seed in range(120):
        classifier, evidence = random_case(seed, max_features=5)
        written = WrittenOut(classifier, evidence)
        why = unswayed.why(classifier, evidence)
        subsets = [{v: written.evidence[v] for v in s} for s in written.subsets(written.findings)]
        if not np.isfinite([leaning_of(written, written.masses(each)) for each in subsets]).all():
            assert all(each.shapley is None for each in why.contributions)
            continue
        expected = written.shapley(lambda masses, w=written: leaning_of(w, masses))
        found = {each.feature: each.shapley for each in why.contributions}
        assert [found[name] for name in evidence] == pytest.approx(expected, abs=1e-8)
        shared += len(evidence) > 1
    assert shared > 20


def check_parameters(seed, max_features):
    """Just inside its interval a parameter keeps the decision, just outside it turns it."""
    classifier, evidence = random_case(seed, max_features)
    explained = explained_decision(make_problem(classifier, evidence))
    written = WrittenOut(classifier, evidence)

    def decided(each, value):
        masses = masses_of(network_at(classifier.network, each, value), classifier.target, evidence)
        return None if masses.sum() <= 0 else written.decided(masses)

    for each in all_intervals(explained):
        assert 0.0 <= each.low <= each.value <= each.high <= 1.0
        inside = [each.low + f * (each.high - each.low) for f in (1e-4, 0.5, 1 - 1e-4)]
        if each.high - each.low <= 1e-9:
            inside = [each.value]  # the decision is a tie, and stays one for as long as it counts as one
        assert {decided(each, value) for value in inside} <= {written.action, None}, (seed, each)
        for outside in (each.low - 1e-5, each.high + 1e-5):
            if 0.0 < outside < 1.0:
                assert decided(each, outside) != written.action, (seed, each)


def test_parameters_keep_the_decision_inside_their_interval_and_turn_it_outside():
    for seed in range(60):
        check_parameters(seed, max_features=4)


@pytest.mark.slow
def test_parameters_of_ten_thousand_classifiers():
    for seed in MANY:
        check_parameters(seed, max_features=4)
