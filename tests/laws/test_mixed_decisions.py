"""Reasons, plans, audits, rankings, trimmings and reports on networks with nodes of every kind.

Each answer is compared with the definition, written out on the same network as tables.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import unswayed
from mixed_strategies import mixed_networks
from oracles.enumerate_profile import enumerate_profile
from oracles.enumerate_reasons import WrittenOut
from oracles.plan_by_definition import Case, best_cost
from tolerances import ENGINE
from unswayed.core.errors import ImpossibleEvidence
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import expected_agreement, maximum_achievable_agreement
from unswayed.decisions.problem import make_problem
from unswayed.decisions.purchase import Purchase
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.inference import factors
from unswayed.model.network import to_tables

EXAMPLES = settings(max_examples=25)


@pytest.fixture(params=[0, factors.TABLE_CELLS], ids=["chains", "tables"], autouse=True, scope="module")
def table_cells(request):
    """Whether functions become chains always, or small tables where they can."""
    before, factors.TABLE_CELLS = factors.TABLE_CELLS, request.param
    yield
    factors.TABLE_CELLS = before


@st.composite
def mixed_cases(draw):
    """A classifier on a mixed network, the same on tables, and possible evidence on some features."""
    network = draw(mixed_networks(max_variables=6))
    target, *others = draw(st.permutations(network.names))
    features = others[: draw(st.integers(1, min(len(others), 4)))]
    observed = draw(st.sets(st.sampled_from(features), max_size=3))
    evidence = {name: draw(st.sampled_from(network.variable(name).states)) for name in sorted(observed)}
    assume(unswayed.probability(network, evidence) > 0)
    positive, threshold = draw(st.sampled_from(network.variable(target).states)), draw(st.floats(0.05, 0.95))
    rule = draw(st.sampled_from([MostProbable(), ThresholdRule(positive, threshold)]))
    return (
        Classifier(network, target, features, rule),
        Classifier(to_tables(network), target, features, rule),
        evidence,
    )


@EXAMPLES
@given(mixed_cases(), st.sampled_from([1.0, 0.95, 0.75]))
def test_reasons_are_those_of_the_definition(case, level):
    classifier, written, evidence = case
    assume(evidence)
    why = unswayed.why(classifier, evidence, at_least=level, most=100)
    out = WrittenOut(written, evidence)
    reasons = out.reasons(level)
    names = {frozenset(out.network.variables[v].name for v in each) for each in reasons}
    smallest = {each for each in names if len(each) == min(map(len, names))}
    assert {frozenset(each.findings) for each in why.reasons} == smallest
    for each in why.contributions:
        left = [v for v in out.findings if out.network.variables[v].name != each.feature]
        assert each.sdp_without.value == pytest.approx(out.sdp(left), abs=ENGINE)


@EXAMPLES
@given(mixed_cases(), st.sampled_from([0.8, 0.95, 1.0]))
def test_plans_cost_as_little_as_the_recursion_says(case, level):
    classifier, written, evidence = case
    plan = unswayed.plan(classifier, at_least=level, evidence=evidence)
    best = best_cost(Case(make_problem(written, evidence), Purchase(), level), False)
    assert plan.expected_cost == pytest.approx(best, abs=ENGINE)


@EXAMPLES
@given(mixed_cases(), st.integers(0, 2**32 - 1))
def test_audits_are_single_questions_by_enumeration(case, seed):
    classifier, written, _ = case
    rng = np.random.default_rng(seed)
    columns = {
        name: [
            None if rng.random() < 0.4 else str(rng.choice(classifier.network.variable(name).states))
            for _ in range(5)
        ]
        for name in classifier.features
    }
    rows = [{name: cells[i] for name, cells in columns.items() if cells[i] is not None} for i in range(5)]
    if any(unswayed.probability(written.network, row) == 0 for row in rows):
        with pytest.raises(ImpossibleEvidence):
            unswayed.audit(classifier, columns)
        return
    found = unswayed.audit(classifier, columns)
    for i, row in enumerate(rows):
        problem = make_problem(written, row)
        profile = enumerate_profile(problem, frozenset())
        assert found.sdp[i] == pytest.approx(expected_agreement(profile, problem.decider), abs=ENGINE)


@EXAMPLES
@given(mixed_cases())
def test_rankings_value_each_observation_by_the_definition(case):
    classifier, written, evidence = case
    problem = make_problem(written, evidence)
    ranking = unswayed.voi(classifier, evidence)
    now = expected_agreement(enumerate_profile(problem, frozenset()), problem.decider)
    for feature, values in zip(ranking.features, ranking.values, strict=True):
        profile = enumerate_profile(problem, frozenset({written.network.index(feature)}))
        gain = expected_agreement(profile, problem.decider) - now
        assert values[0].value == pytest.approx(gain, abs=ENGINE)


@EXAMPLES
@given(mixed_cases(), st.integers(0, 3))
def test_no_features_within_the_budget_agree_more_than_a_trimming(case, budget):
    classifier, written, evidence = case
    problem = make_problem(written, evidence)
    found = unswayed.trim(classifier, budget=budget, evidence=evidence)
    best = 0.0
    for size in range(min(budget, len(problem.free)) + 1):
        for kept in combinations(problem.free, size):
            profile = enumerate_profile(problem, frozenset(kept))
            best = max(best, _agreement(profile, problem))
    assert found.agreement.value == pytest.approx(best, abs=ENGINE)


def _agreement(profile, problem):
    rule = problem.classifier.rule
    if not isinstance(rule, ThresholdRule):
        return expected_agreement(profile, problem.decider)
    positive = problem.network.variables[problem.target].index(rule.positive)
    return maximum_achievable_agreement(profile, positive).value


@EXAMPLES
@given(mixed_cases())
def test_reports_tell_what_the_single_verbs_tell(case):
    classifier, written, evidence = case
    problem = make_problem(written, evidence)
    told = unswayed.report(classifier, evidence=evidence)
    profile = enumerate_profile(problem, frozenset())
    assert told.stopping.sdp.value == pytest.approx(expected_agreement(profile, problem.decider), abs=ENGINE)
    for finding in told.findings:
        seen = {**evidence, finding.feature: finding.state}
        share = unswayed.probability(written.network, seen) / unswayed.probability(written.network, evidence)
        assert finding.probability == pytest.approx(share, abs=ENGINE)
