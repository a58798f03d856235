"""Laws of agreement on random classifiers: states, classes, rules, evidence and hidden variables drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import unswayed
from engines.test_contract import problems
from oracles.enumerate_profile import enumerate_profile
from strategies import classifiers
from tolerances import ENGINE, EXACT
from unswayed.core.errors import ImpossibleEvidence
from unswayed.decisions.measures import (
    expected_agreement,
    maximum_achievable_agreement,
    maximum_potential_agreement,
)
from unswayed.decisions.problem import make_problem
from unswayed.decisions.profile import DecisionProfile
from unswayed.decisions.rewards import Margin, NegativeEntropy, expected_reward
from unswayed.decisions.rules import ThresholdRule


def names_of(problem, positions):
    return [problem.network.variables[p].name for p in sorted(positions)]


def named_evidence(problem):
    variables = problem.network.variables
    return {variables[v].name: variables[v].states[s] for v, s in problem.evidence.items()}


@given(problems())
def test_agreements_are_ordered(asked):
    """E-SDP <= MAA <= MPA [choi2018, Prop. 1]."""
    problem, kept = asked
    profile = enumerate_profile(problem, kept)
    own = expected_agreement(profile, problem.decider)
    potential = maximum_potential_agreement(profile)
    assert own <= potential + EXACT
    rule = problem.classifier.rule
    if isinstance(rule, ThresholdRule):
        positive = problem.network.variables[problem.target].index(rule.positive)
        achievable = maximum_achievable_agreement(profile, positive).value
        assert own <= achievable + EXACT
        assert achievable <= potential + EXACT


@given(problems())
def test_potential_grows_with_the_kept_set(asked):
    """MPA(F1) <= MPA(F2) for F1 within F2 [choi2018, Prop. 2]."""
    problem, kept = asked
    smaller = maximum_potential_agreement(enumerate_profile(problem, kept))
    for feature in problem.free:
        larger = maximum_potential_agreement(enumerate_profile(problem, kept | {feature}))
        assert smaller <= larger + EXACT


@given(problems())
def test_keeping_everything_agrees_always(asked):
    problem, _ = asked
    profile = enumerate_profile(problem, frozenset(problem.free))
    assert expected_agreement(profile, problem.decider) == pytest.approx(1.0, abs=EXACT)


@given(problems())
def test_verbs_agree_with_enumeration(asked):
    """SDP, E-SDP and MPA through the public verbs, whatever engine they choose."""
    problem, kept = asked
    classifier, evidence = problem.classifier, named_evidence(problem)
    nothing = enumerate_profile(problem, frozenset())
    profile = enumerate_profile(problem, kept)
    names = names_of(problem, kept)
    sdp = unswayed.sdp(classifier, evidence)
    assert sdp.value == pytest.approx(expected_agreement(nothing, problem.decider), abs=ENGINE)
    esdp = unswayed.esdp(classifier, evidence, kept=names)
    assert esdp.value == pytest.approx(expected_agreement(profile, problem.decider), abs=ENGINE)
    potential = unswayed.mpa(classifier, evidence, kept=names)
    assert potential.value == pytest.approx(maximum_potential_agreement(profile), abs=ENGINE)
    gain = unswayed.api.voi(classifier, evidence, kept=names)
    assert gain.value == pytest.approx(esdp.value - sdp.value, abs=ENGINE)


@given(problems())
def test_achievable_agreement_is_the_best_threshold(asked):
    """MAA equals the best of all thresholds tried between and at the posteriors of the kept features."""
    problem, kept = asked
    rule = problem.classifier.rule
    assume(isinstance(rule, ThresholdRule))
    target = problem.network.variables[problem.target]
    profile = enumerate_profile(problem, kept)
    posteriors = profile.class_mass[:, target.index(rule.positive)] / profile.class_mass.sum(axis=1)
    tried = np.unique(np.concatenate([posteriors, posteriors + 1e-7, [1e-9, 1 - 1e-9]]))
    best = max(
        expected_agreement(profile, ThresholdRule(rule.positive, t).bind(target)) for t in tried if 0 < t < 1
    )
    found = unswayed.maa(problem.classifier, named_evidence(problem), kept=names_of(problem, kept))
    assert found.value == pytest.approx(best, abs=ENGINE)


@given(classifiers(n_classes=2), st.data())
def test_achievable_equals_potential_for_naive_bayes(classifier, data):
    """MAA = MPA where kept and hidden features are independent given the class [choi2018, Prop. 3]."""
    target = classifier.network.index("C")
    naive = all(parents == (target,) for v, parents in enumerate(classifier.network.parents) if v != target)
    assume(naive and isinstance(classifier.rule, ThresholdRule))
    problem = make_problem(classifier)
    kept = frozenset(data.draw(st.sets(st.sampled_from(problem.free))) if problem.free else ())
    profile = enumerate_profile(problem, kept)
    positive = classifier.network.variables[target].index(classifier.rule.positive)
    achievable = maximum_achievable_agreement(profile, positive).value
    assert achievable == pytest.approx(maximum_potential_agreement(profile), abs=EXACT)


@given(problems(), st.integers(0, 2**32))
def test_splitting_a_row_changes_no_measure(asked, seed):
    problem, kept = asked
    profile = enumerate_profile(problem, kept)
    part = np.random.default_rng(seed).random((profile.n_rows, 1))
    split = DecisionProfile(
        np.vstack([profile.class_mass * part, profile.class_mass * (1 - part)]),
        np.vstack([profile.decision_mass * part, profile.decision_mass * (1 - part)]),
    )
    assert expected_agreement(split, problem.decider) == pytest.approx(
        expected_agreement(profile, problem.decider), abs=EXACT
    )
    assert maximum_potential_agreement(split) == pytest.approx(
        maximum_potential_agreement(profile), abs=EXACT
    )


@given(problems())
def test_information_never_hurts(asked):
    """Negative entropy, and the margin of two classes, are convex: observing has value at least 0."""
    problem, kept = asked
    target = problem.network.variables[problem.target]
    profile = enumerate_profile(problem, kept)
    for reward in (NegativeEntropy(), Margin()):
        now = expected_reward(problem.prior[np.newaxis], reward, target)
        after = expected_reward(profile.class_mass, reward, target)
        if len(target) == 2 or isinstance(reward, NegativeEntropy):
            assert after >= now - EXACT
        found = unswayed.voi(
            problem.classifier, named_evidence(problem), kept=names_of(problem, kept), reward=reward
        )
        assert found.value == pytest.approx(after - now, abs=ENGINE)


@given(problems(), st.data())
def test_following_a_case_equals_asking_anew(asked, data):
    """What a case carries over to the next observation gives the answers of a fresh start."""
    problem, _ = asked
    evidence = named_evidence(problem)
    case = unswayed.follow(problem.classifier, evidence)
    case.sdp()
    case.ranking()
    for feature in problem.free:
        variable = problem.network.variables[feature]
        evidence = {**evidence, variable.name: data.draw(st.sampled_from(variable.states))}
        try:
            case = case.observe(variable.name, evidence[variable.name])
        except ImpossibleEvidence:
            return
        fresh = unswayed.sdp(problem.classifier, evidence)
        assert case.sdp().value == pytest.approx(fresh.value, abs=ENGINE)
        assert case.ranking().features == unswayed.voi(problem.classifier, evidence).features
