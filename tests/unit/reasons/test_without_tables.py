"""Reasons and flips where no table is made: by covers, sums on grids, and engines asked one by one."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

import unswayed
from dependent_cases import random_tree
from oracles.enumerate_reasons import WrittenOut
from oracles.log_linear_reasons import smallest_reason
from reason_cases import random_case
from unswayed.api.decisions import agreement_of
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.reasons import additive as additive_room, oracle as oracle_room
from unswayed.reasons.additive import (
    additive_changes,
    additive_observations,
    certain_reasons,
    make_additive,
    useful_findings,
)
from unswayed.reasons.case import explained_decision
from unswayed.reasons.contributions import finding_weights, make_leaning
from unswayed.reasons.covers import Pickable, cheapest_covers
from unswayed.reasons.flips import turns_of
from unswayed.reasons.oracle import find_reasons, make_subset_oracle
from unswayed.reasons.search import Effort
from unswayed.reasons.size_bound import fewest_findings
from unswayed.reasons.worst_case import fewest_certain, make_worst_case, smallest_change


def naive_case(seed, n_features, *, observed=0.8, n_states=(2, 4), spread=2.0):
    """A naive Bayes classifier without zeros, and findings on some of its features."""
    rng = np.random.default_rng(seed)
    target = Variable("C", ["+", "-"])
    cpts = [Cpt(target, [], rng.dirichlet([3, 3]))]
    for i in range(n_features):
        size = int(rng.integers(*n_states))
        variable = Variable(f"F{i}", [f"s{k}" for k in range(size)])
        cpts.append(Cpt(variable, [target], rng.dirichlet(np.full(size, spread), size=2)))
    network = BayesianNetwork(cpts)
    rule = ThresholdRule("+", float(rng.choice([0.2, 0.5, 0.5, 0.8])))
    names = [f"F{i}" for i in range(n_features)]
    seen = [name for name in names if rng.random() < observed]
    evidence = {name: str(rng.choice(network.variable(name).states)) for name in seen}
    return Classifier(network, "C", names, rule), evidence


def both(seed, n_features=6, **options):
    classifier, evidence = naive_case(seed, n_features, **options)
    explained = explained_decision(make_problem(classifier, evidence))
    found = make_additive(explained)
    assert found is not None
    return found, WrittenOut(classifier, evidence)


def random_costs(seed, variables):
    rng = np.random.default_rng(seed)
    return {v: 1.0 if seed % 2 else float(rng.integers(1, 9)) / 4 for v in variables}


def total(costs, variables):
    return math.fsum(costs[v] for v in variables)


@pytest.mark.parametrize("seed", range(60))
def test_covers_are_the_certain_reasons(seed):
    found, written = both(seed)
    costs = random_costs(seed, written.all)
    reasons = certain_reasons(found, costs, most=10**6)
    expected = written.reasons(1.0)
    lowest = min((total(costs, each) for each in expected), default=math.inf)
    cheapest = {each for each in expected if total(costs, each) <= lowest + 1e-9}
    assert {frozenset(each.findings) for each in reasons.reasons} == cheapest
    assert reasons.proven
    assert reasons.in_every == (frozenset.intersection(*expected) if expected else frozenset())


@pytest.mark.parametrize("seed", range(60))
def test_covers_are_the_cheapest_flips(seed):
    found, written = both(seed, n_features=5)
    costs = random_costs(seed, written.all)
    fixed = frozenset(written.findings[:1])
    movable = [v for v in written.findings if v not in fixed]
    for turns, expected in (
        (additive_changes(found, fixed, costs, 10**6), written.changes(movable)),
        (additive_observations(found, costs, 10**6), [states for states, _ in written.observations()]),
    ):
        lowest = min((total(costs, each) for each in expected), default=math.inf)
        cheapest = [each for each in expected if total(costs, each) <= lowest + 1e-9]
        shown = {frozenset(each.states.items()) for each in turns.turns}
        assert shown == {frozenset(each.items()) for each in cheapest}
        assert turns.proven
    chances = {frozenset(states.items()): p for states, p in written.observations()}
    for turn in additive_observations(found, costs, 10**6).turns:
        assert turn.probability == pytest.approx(chances[frozenset(turn.states.items())], abs=1e-12)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("listed", [1, 2**12])
def test_sums_of_weights_bound_the_sdp_of_every_subset(monkeypatch, seed, listed):
    monkeypatch.setattr(additive_room, "LISTED", listed)
    found, written = both(seed)
    for subset in written.subsets(written.findings):
        interval = found.sdp(frozenset(subset))
        assert interval.low - 1e-12 <= written.sdp(subset) <= interval.high + 1e-12
        # Few weights may tie with the cut, and a grid leaves ties open: then it is wide, but right.
        asked = found.sdp(frozenset(subset), 0.9)
        assert asked.low - 1e-12 <= written.sdp(subset) <= asked.high + 1e-12


@pytest.mark.parametrize("seed", range(60))
def test_no_reason_is_smaller_than_the_bound_on_its_size(seed):
    found, written = both(seed, n_features=7, observed=1.0, spread=4.0)
    for level in (0.95, 0.8, 0.6):
        reasons = written.reasons(level)
        smallest = min(map(len, reasons), default=math.inf)
        assert fewest_findings(found, level, most=len(written.findings)) <= smallest
        useful = set(useful_findings(found))
        assert any(each <= useful for each in reasons if len(each) == smallest) or not reasons


def tree_case(seed, n_features, *, observed):
    """A classifier whose features depend on the target and on one feature before them, without zeros."""
    rng = np.random.default_rng(seed)
    target = Variable("C", ["+", "-"])
    cpts, features = [Cpt(target, [], rng.dirichlet([3, 3]))], []
    for i in range(n_features):
        variable = Variable(f"F{i}", [f"s{k}" for k in range(rng.integers(2, 4))])
        parents = [target] if i == 0 else [target, features[int(rng.integers(0, i))]]
        n_rows = math.prod(map(len, parents))
        cpts.append(Cpt(variable, parents, rng.dirichlet(np.full(len(variable), 2.0), size=n_rows)))
        features.append(variable)
    network = BayesianNetwork(cpts)
    rule = ThresholdRule(str(rng.choice(["+", "-"])), float(rng.choice([0.3, 0.5, 0.7])))
    seen = [v for v in features if rng.random() < observed]
    evidence = {v.name: str(rng.choice(v.states)) for v in seen}
    return Classifier(network, "C", [v.name for v in features], rule), evidence


@pytest.mark.parametrize("seed", range(40))
def test_the_worst_case_tells_which_subsets_are_certain(seed):
    classifier, evidence = tree_case(seed, 6, observed=0.7 if seed % 2 else 1.0)
    explained, written = (
        explained_decision(make_problem(classifier, evidence)),
        WrittenOut(classifier, evidence),
    )
    worst = make_worst_case(explained)
    reasons = set(written.reasons(1.0))
    for subset in map(frozenset, written.subsets(written.findings)):
        assert worst.is_certain(subset) == (subset in reasons)
    assert fewest_certain(worst) <= min(map(len, reasons), default=math.inf)


@pytest.mark.parametrize("seed", range(40))
def test_the_worst_case_finds_a_cheapest_change(seed):
    classifier, evidence = tree_case(seed, 6, observed=1.0)
    explained, written = (
        explained_decision(make_problem(classifier, evidence)),
        WrittenOut(classifier, evidence),
    )
    costs = random_costs(seed, written.all)
    movable = frozenset(written.findings[1:])
    changed, bound = smallest_change(make_worst_case(explained), movable, costs)
    expected = written.changes(sorted(movable))
    assert bound == pytest.approx(min((total(costs, each) for each in expected), default=math.inf))
    found = turns_of(explained, changed, costs, 10, bound)
    assert bool(found.turns) == bool(expected)
    assert all(turn.states in expected for turn in found.turns)


def test_hidden_variables_and_zeros_have_no_worst_case_without_a_table():
    classifier, evidence = tree_case(1, 4, observed=1.0)
    fewer = Classifier(classifier.network, "C", ["F0", "F1"], classifier.rule)
    known = {name: evidence[name] for name in ("F0", "F1")}
    hidden = explained_decision(make_problem(fewer, known))
    children = [v for v in classifier.network.names if v not in ("C", "F0", "F1")]
    explained = explained_decision(
        make_problem(Classifier(classifier.network, "C", children, fewer.rule), {})
    )
    assert make_worst_case(hidden) is not None  # F2 and F3 lie below: they change nothing
    assert make_worst_case(explained) is None


def without_tables(explained):
    """An oracle that asks engines only."""

    def ask(problem, decider, tolerance):
        return agreement_of(problem, frozenset(), decider, {})

    return make_subset_oracle(explained, ask, engine_only=True)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("level", [1.0, 0.9])
def test_a_search_by_engine_finds_the_cheapest_reasons(seed, level):
    classifier, evidence = random_case(seed, max_features=4)
    explained, written = (
        explained_decision(make_problem(classifier, evidence)),
        WrittenOut(classifier, evidence),
    )
    costs = random_costs(seed, written.all)
    weights = finding_weights(explained, make_leaning(explained))
    oracle = without_tables(explained)
    found = find_reasons(oracle, costs, level, 10**6, weights=weights, effort=Effort())
    expected = written.reasons(level)
    lowest = min((total(costs, each) for each in expected), default=math.inf)
    assert found.proven
    assert found.cost_bound == pytest.approx(lowest)
    assert bool(found.reasons) == bool(expected)
    assert {frozenset(each.findings) for each in found.reasons} <= set(expected)
    assert all(each.cost == pytest.approx(lowest) for each in found.reasons)


@pytest.mark.parametrize("seed", range(20))
def test_smallest_reasons_of_naive_bayes_are_those_of_the_published_algorithm(seed):
    classifier, evidence = naive_case(seed, 40, spread=3.0)
    why = unswayed.why(classifier, evidence, at_least=1)
    rule = classifier.rule
    cut = math.log(rule.threshold / (1 - rule.threshold))
    positive = why.decision.action == "+"
    expected = smallest_reason(
        classifier.network, "C", evidence, cut if positive else -cut, 0 if positive else 1
    )
    if expected is None:
        assert why.reason is None
        assert why.proven
    else:
        assert len(why.reason.findings) == len(expected)
        assert why.proven


def test_a_search_that_is_stopped_gives_its_best_and_a_bound():
    classifier, evidence = naive_case(5, 60, n_states=(2, 3), spread=8.0, observed=1.0)
    explained = explained_decision(make_problem(classifier, evidence))
    found = make_additive(explained)
    weights = finding_weights(explained, make_leaning(explained))
    oracle = oracle_room.SubsetOracle(explained, None, None, found, None, np.zeros((0, 2)))
    told = []
    effort = Effort(evaluations=60, watch=lambda *state: told.append(state))
    answer = find_reasons(
        oracle, dict.fromkeys(explained.findings, 1.0), 0.95, 5, weights=weights, effort=effort
    )
    assert answer.evaluations <= 60
    assert told
    assert answer.reasons
    assert 0 < answer.cost_bound <= answer.reasons[0].cost
    assert answer.reasons[0].sdp.low >= 0.95


def test_covers_of_equal_gain_are_listed_until_there_are_too_many():
    choices = [Pickable(i, 1.0, ((1.0, 0),)) for i in range(8)]
    covers = cheapest_covers(choices, 3.0, most=100)
    assert (len(covers.picks), covers.cost_bound, covers.cut) == (56, 3.0, False)
    assert cheapest_covers(choices, 3.0, most=10).cut
    assert cheapest_covers(choices, 9.0, most=10).picks == ()


def test_the_limit_on_time_holds_for_the_whole_answer_and_cheap_parts_are_kept():
    network = random_tree(np.random.default_rng(7), 40)
    classifier = Classifier(network, "C", None, ThresholdRule(network.variable("C").states[0], 0.5))
    evidence = {name: network.variable(name).states[0] for name in classifier.features[:20]}
    unswayed.why(classifier, dict(list(evidence.items())[:2]))  # loads what is loaded once
    started = time.monotonic()
    why = unswayed.why(classifier, evidence, limits=Limits(max_seconds=0.4))
    assert time.monotonic() - started < 4.0
    assert len(why.contributions) == 20
    assert any("the time was over" in note or "within the limits" in note for note in why.notes)
    assert len(why.notes) == len({note.split(" left out")[0] for note in why.notes}), "each is said once"
