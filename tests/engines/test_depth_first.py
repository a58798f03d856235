"""The engines that [chen2014] describes: depth-first search, brute force, and the Chebyshev bound."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from benchmarks.papers.chen2014.chebyshev import chebyshev_bound, posterior_variance
from hypothesis import assume, given, strategies as st

from oracles.enumerate_profile import enumerate_profile, feature_table
from strategies import classifiers
from tolerances import ENGINE
from unswayed.core.anytime import within
from unswayed.core.errors import ImpossibleEvidence, LimitError, QueryError
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import expected_agreement, maximum_potential_agreement
from unswayed.decisions.oracle import AgreementOracle
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import LogOddsIntervals, MostProbable, ThresholdRule, UtilityRule
from unswayed.engines.log_odds import LogOddsEngine
from unswayed.engines.protocol import Cost, Question, Refusal
from unswayed.model.zoo import random_bounded_treewidth, random_naive_bayes, random_polytree
from unswayed.papers.chen2014.brute_force import BruteForceEngine
from unswayed.papers.chen2014.depth_first import DepthFirstEngine

ENGINES = [DepthFirstEngine(), BruteForceEngine()]
NOTHING = frozenset()
every_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)


@st.composite
def problems(draw, n_classes=None):
    """A classifier with one or two observations, zeros and ties among its numbers."""
    classifier = draw(classifiers(n_classes=n_classes))
    network = classifier.network
    observable = [name for name in network.names if name != "C"]
    observed = draw(st.sets(st.sampled_from(observable), max_size=2))
    evidence = {name: draw(st.sampled_from(network.variable(name).states)) for name in sorted(observed)}
    try:
        return make_problem(classifier, evidence)
    except ImpossibleEvidence:
        return assume(False)


def naive_problem(n_features, seed, threshold=0.5):
    network = random_naive_bayes(n_features, np.random.default_rng(seed))
    return make_problem(Classifier(network, "C", None, ThresholdRule("s0", threshold)))


@every_engine
@given(problems())
def test_answers_are_those_of_enumeration(engine, problem):
    if isinstance(engine.cost(problem, Question(NOTHING)), Refusal):
        return
    expected = enumerate_profile(problem, NOTHING)
    oracle = engine.prepare(problem)
    assert isinstance(oracle, AgreementOracle)
    found = oracle.agreement(NOTHING, problem.decider, 0.0)
    assert found.low == found.high
    assert found.low == pytest.approx(expected_agreement(expected, problem.decider), abs=ENGINE)
    assert oracle.potential(NOTHING, 0.0).low == pytest.approx(
        maximum_potential_agreement(expected), abs=ENGINE
    )
    profile = oracle.profile(NOTHING)
    np.testing.assert_allclose(profile.class_mass, expected.class_mass, atol=ENGINE)
    np.testing.assert_allclose(profile.decision_mass, expected.decision_mass, atol=ENGINE)


@given(problems(n_classes=2), st.floats(0.05, 0.95))
def test_another_rule_may_decide_now(problem, threshold):
    """The agreement of a decision taken with another threshold [choi2018, Def. 2]."""
    target = problem.network.variables[problem.target]
    other = ThresholdRule(target.states[0], threshold).bind(target)
    rule = problem.classifier.rule
    if not isinstance(rule, ThresholdRule) or rule.positive != target.states[0]:
        return
    expected = expected_agreement(enumerate_profile(problem, NOTHING), other)
    for engine in ENGINES:
        found = engine.prepare(problem).agreement(NOTHING, other, 0.0)
        assert found.low == pytest.approx(expected, abs=ENGINE)


@every_engine
@pytest.mark.parametrize("n_features", [20, 22])
@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.9])
def test_naive_bayes_of_many_features_as_by_log_odds(engine, n_features, threshold):
    problem = naive_problem(n_features, n_features, threshold)
    expected = LogOddsEngine().prepare(problem).agreement(NOTHING, problem.decider, 0.0).low
    oracle = engine.prepare(problem)
    assert oracle.agreement(NOTHING, problem.decider, 0.0).low == pytest.approx(expected, abs=ENGINE)


@pytest.mark.parametrize("seed", range(5))
def test_a_general_network_as_by_log_odds(seed):
    """Aggregate attributes: groups of features that depend on each other [chen2014, section 5.2]."""
    rng = np.random.default_rng(seed)
    network = random_bounded_treewidth(30, 3, rng)
    chosen = [network.names[i] for i in rng.permutation(30)]
    rule = ThresholdRule("s0", 0.4)
    problem = make_problem(Classifier(network, chosen[0], chosen[1:13], rule), {chosen[13]: "s1"})
    expected = LogOddsEngine().prepare(problem).agreement(NOTHING, problem.decider, 0.0).low
    for engine in ENGINES:
        found = engine.prepare(problem).agreement(NOTHING, problem.decider, 0.0).low
        assert found == pytest.approx(expected, abs=ENGINE)


def test_brute_force_lists_every_instantiation():
    assert BruteForceEngine().prepare(naive_problem(18, 1)).n_explored == 2**18


@pytest.mark.parametrize("seed", range(5))
def test_the_search_never_visits_more_than_the_whole_tree(seed):
    problem = naive_problem(14, seed)
    assert DepthFirstEngine().prepare(problem).n_explored <= 2**15 - 1


@every_engine
def test_kept_features_are_refused(engine):
    problem = naive_problem(3, 0)
    refusal = engine.cost(problem, Question(frozenset(problem.free[:1])))
    assert isinstance(refusal, Refusal)
    assert "nothing kept" in refusal.reason
    oracle = engine.prepare(problem)
    with pytest.raises(QueryError, match="use another engine"):
        oracle.potential(frozenset(problem.free[:1]), 0.0)


@every_engine
def test_three_classes_are_refused(engine):
    network = random_naive_bayes(3, np.random.default_rng(0), n_classes=3)
    problem = make_problem(Classifier(network, "C", None, MostProbable()))
    assert isinstance(engine.cost(problem, Question(NOTHING)), Refusal)


def test_the_search_refuses_several_intervals():
    """Three actions cut the line of log-odds twice; brute force does not mind."""
    worth = {"a": {"s0": 10, "s1": 0}, "b": {"s0": 6, "s1": 6}, "c": {"s0": 0, "s1": 10}}
    network = random_naive_bayes(4, np.random.default_rng(0))
    problem = make_problem(Classifier(network, "C", None, UtilityRule(worth)))
    assert isinstance(problem.decider, LogOddsIntervals)
    assert len(problem.decider.cuts) == 2
    assert isinstance(DepthFirstEngine().cost(problem, Question(NOTHING)), Refusal)
    assert isinstance(BruteForceEngine().cost(problem, Question(NOTHING)), Cost)


@every_engine
def test_too_large_a_group_is_refused(engine):
    network = random_polytree(60, np.random.default_rng(3))
    others = [name for name in network.names if name != "X59"]
    problem = make_problem(Classifier(network, "X59", others, ThresholdRule("s0", 0.5)))
    refusal = engine.cost(problem, Question(NOTHING))
    assert isinstance(refusal, Refusal)
    assert "depend on each other" in refusal.reason


@every_engine
def test_time_limits_are_kept(engine):
    problem = naive_problem(60, 60)
    with pytest.raises(LimitError, match="raise Limits"), within(Limits(max_seconds=0.2)):
        engine.prepare(problem)


@every_engine
def test_costs_are_upper_bounds_that_grow(engine):
    costs = [engine.cost(naive_problem(n, 1), Question(NOTHING)).seconds for n in (10, 20, 40)]
    assert costs == sorted(costs)
    assert costs[-1] > 1000


def test_a_small_search_does_not_load_the_compiler():
    code = (
        "import sys, numpy as np\n"
        "from unswayed.decisions.classifier import Classifier\n"
        "from unswayed.decisions.problem import make_problem\n"
        "from unswayed.decisions.rules import ThresholdRule\n"
        "from unswayed.papers.chen2014.depth_first import DepthFirstEngine\n"
        "from unswayed.model.zoo import disease_tests\n"
        "rule = ThresholdRule('+', 0.5)\n"
        "problem = make_problem(Classifier(disease_tests(), 'Disease', None, rule))\n"
        "DepthFirstEngine().prepare(problem)\n"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=240
    )
    assert done.stdout.strip() == "False"


@given(problems(n_classes=2))
def test_the_chebyshev_bound_is_never_violated(problem):
    assert isinstance(problem.decider, LogOddsIntervals)
    if len(problem.decider.cuts) != 1:
        with pytest.raises(QueryError, match="one threshold"):
            chebyshev_bound(problem)
        return
    bound = chebyshev_bound(problem)
    assert bound.certainty is Certainty.BOUND
    sdp = expected_agreement(enumerate_profile(problem, NOTHING), problem.decider)
    assert bound.low <= sdp + ENGINE
    assert sdp <= bound.high + ENGINE


@given(problems(n_classes=2))
def test_the_variance_is_that_of_the_posterior(problem):
    """E[Q^2] - E[Q]^2 over all instantiations, as [choi2012] defines it."""
    assert isinstance(problem.decider, LogOddsIntervals)
    upper = problem.decider.upper
    rows = [masses for masses in feature_table(problem).values() if masses.sum() > 0]
    square = sum(float(masses[upper] ** 2 / masses.sum()) for masses in rows)
    mean = sum(float(masses[upper]) for masses in rows)
    assert posterior_variance(problem) == pytest.approx(square - mean**2, abs=ENGINE)
