"""Claims of [chen2014] that can be checked in words; the copy at hand has lost its printed numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from tolerances import ENGINE, EXACT
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import MostProbable, ThresholdRule, UtilityRule
from unswayed.engines.groups import independent_groups
from unswayed.engines.log_odds import LogOddsEngine
from unswayed.model.zoo import binary_network, random_naive_bayes
from unswayed.papers.chen2014.brute_force import BruteForceEngine
from unswayed.papers.chen2014.depth_first import DepthFirstEngine

ENGINES = [DepthFirstEngine(), BruteForceEngine(), LogOddsEngine()]
NOTHING = frozenset()
every_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)


def naive_bayes(true_positive, false_positive, prior=0.5):
    """A hypothesis D and sensors S1, S2, ... with Pr(S = + | D = +) and Pr(S = + | D = -)."""
    rates = zip(true_positive, false_positive, strict=True)
    sensors = {f"S{i}": (("D",), list(pair)) for i, pair in enumerate(rates, start=1)}
    return binary_network({"D": ((), [prior]), **sensors})


def sdp(problem, engine):
    """The same-decision probability."""
    return engine.prepare(problem).agreement(NOTHING, problem.decider, 0.0).low


def asked(network, threshold, evidence=None):
    return make_problem(Classifier(network, "D", None, ThresholdRule("+", threshold)), evidence)


@every_engine
def test_sensors_too_weak_to_reverse_a_decision_make_it_certain(engine):
    """Section 4.1: both scenarios pass the threshold, but only one decision can still change."""
    network = naive_bayes([0.7, 0.7, 0.95, 0.95], [0.3, 0.3, 0.05, 0.05])
    weak_seen = asked(network, 0.55, {"S1": "+", "S2": "+"})
    strong_seen = asked(network, 0.55, {"S3": "+", "S4": "+"})
    assert min(float(weak_seen.prior[0]), float(strong_seen.prior[0])) > 0.55
    assert sdp(weak_seen, engine) < 0.95
    assert sdp(strong_seen, engine) == pytest.approx(1.0)


def test_a_decision_that_cannot_change_takes_one_node():
    """Section 6: after the extreme weights of H are computed, nothing is left to search."""
    network = naive_bayes([0.7, 0.7, 0.95, 0.95], [0.3, 0.3, 0.05, 0.05])
    problem = asked(network, 0.55, {"S3": "+", "S4": "+"})
    assert DepthFirstEngine().prepare(problem).n_explored == 1


@every_engine
def test_a_larger_margin_is_not_a_more_robust_decision(engine):
    """Section 4.1: of two cases the one further above the threshold has the lower SDP."""
    further = asked(naive_bayes([0.9, 0.95, 0.95], [0.2, 0.05, 0.05]), 0.5, {"S1": "+"})
    nearer = asked(naive_bayes([0.8, 0.55, 0.55], [0.3, 0.45, 0.45]), 0.5, {"S1": "+"})
    assert further.prior[0] > nearer.prior[0] > 0.5
    assert sdp(further, engine) < sdp(nearer, engine)


def test_the_reduced_search_tree():
    """Figures 5 and 6: five leaves of eight decide positively; seven of fifteen nodes are visited.

    H1 = + settles all its leaves from below, H1 = -, H2 = - both of its from above, so what is left are the
    root, both values of H1, of H2 under H1 = -, and of H3 under H2 = +.
    """
    problem = asked(naive_bayes([0.9, 0.8, 0.7], [0.1, 0.25, 0.35], prior=0.7), 0.5)
    oracle = DepthFirstEngine().prepare(problem)
    assert oracle.n_explored == 7
    leaves = [
        math.log(0.7 / 0.3) + sum(w[s] for w, s in zip(weights_of_evidence(problem), signs, strict=True))
        for signs in itertools.product((0, 1), repeat=3)
    ]
    assert sum(leaf >= 0 for leaf in leaves) == 5


def weights_of_evidence(problem):
    """Log-ratios of the two rows of each sensor's table."""
    tables = [problem.network.cpts[feature].table.reshape(2, 2) for feature in problem.free]
    return [np.log(table[0]) - np.log(table[1]) for table in tables]


def test_the_partition_of_figure_7():
    """Section 5.2.1: cut the arcs out of evidence and hypothesis; the pieces hold {H1-H3}, {H4}, {H5, H6}."""
    network = binary_network(
        {
            "D": ((), [0.4]),
            "X1": (("D",), [0.3, 0.6]),
            "X2": (("X1",), [0.2, 0.7]),
            "X3": (("D",), [0.8, 0.1]),
            "E1": (("X1",), [0.5, 0.9]),
            "E2": (("D",), [0.7, 0.4]),
            "H1": (("X1",), [0.1, 0.8]),
            "H2": (("X2",), [0.3, 0.6]),
            "H3": (("X2", "E1"), [0.2, 0.5, 0.6, 0.9]),
            "H4": (("D", "E2"), [0.9, 0.6, 0.3, 0.2]),
            "H5": (("X3",), [0.75, 0.15]),
            "H6": (("X3",), [0.25, 0.55]),
        }
    )
    hidden = [f"H{i}" for i in range(1, 7)]
    rule = ThresholdRule("+", 0.5)
    problem = make_problem(Classifier(network, "D", hidden, rule), {"E1": "+", "E2": "-"})
    names = [{network.names[v] for v in group} for group in independent_groups(problem)]
    assert names == [{"H1", "H2", "H3"}, {"H4"}, {"H5", "H6"}]
    expected = sdp(problem, LogOddsEngine())
    assert sdp(problem, DepthFirstEngine()) == pytest.approx(expected, abs=ENGINE)


@every_engine
@given(st.lists(st.integers(1, 8), min_size=1, max_size=8))
def test_number_partition_by_the_same_decision_probability(engine, numbers):
    """Section 7.1: SDP > 1/2 exactly when the numbers can be split into two of equal sum.

    Weights of evidence are the numbers and their negatives, the threshold is 1/2, and a partition is a tie,
    which counts as positive. Logarithms are to base 2 here; base e would do as well.
    """
    network = naive_bayes([2**c / (2**c + 1) for c in numbers], [1 / (2**c + 1) for c in numbers])
    sums = {0}
    for c in numbers:
        sums = {s + sign * c for s in sums for sign in (-1, 1)}
    value = sdp(asked(network, 0.5), engine)
    # Numbers that sum to at most 64 give a partition a probability of at least 1e-11.
    assert (value > 0.5 + EXACT) == (0 in sums)
    assert value >= 0.5 - ENGINE


def test_two_investments_of_equal_value_of_information_differ_in_robustness():
    """Appendix A.2: a lottery and an even chance promise the same gain, but not the same decision.

    Observing C tells all there is to know about success. In both scenarios waiting is best now by 1, and
    observing is worth 2 on average: either by one half times 4, or by one hundredth times 200.
    """
    robustness = []
    for chance, gain in ((0.5, 4.0), (0.01, 200.0)):
        network = binary_network({"S": ((), [chance]), "C": (("S",), [1.0, 0.0])})
        loss = -(1.0 + chance * gain) / (1.0 - chance)
        worth = {"wait": {"+": 0.0, "-": 0.0}, "invest": {"+": gain, "-": loss}}
        problem = make_problem(Classifier(network, "S", ["C"], UtilityRule(worth)))
        assert chance * gain + (1 - chance) * loss == pytest.approx(-1.0)
        values = {engine.name: sdp(problem, engine) for engine in ENGINES}
        assert all(value == pytest.approx(1.0 - chance) for value in values.values())
        robustness.append(values["depth_first"])
    assert robustness == sorted(robustness)


@given(st.integers(0, 10_000))
def test_a_threshold_beyond_reach_takes_one_node(seed):
    """Figure 9, at its end: no instantiation reaches the threshold, and the root tells."""
    network = random_naive_bayes(7, np.random.default_rng(seed))
    problem = make_problem(Classifier(network, "C", None, ThresholdRule("s0", 1 - 1e-15)))
    highest = sum(float(np.max(weights)) for weights in weights_of_evidence(problem))
    assume(highest + math.log(problem.prior[0] / problem.prior[1]) < 30)
    assert DepthFirstEngine().prepare(problem).n_explored == 1
    assert sdp(problem, DepthFirstEngine()) == 1.0


@every_engine
def test_the_most_probable_class_is_the_threshold_of_one_half(engine):
    """Appendix A.2: the decision function of classification, for two classes."""
    network = random_naive_bayes(8, np.random.default_rng(8))
    chosen = make_problem(Classifier(network, "C", None, MostProbable()))
    half = make_problem(Classifier(network, "C", None, ThresholdRule("s0", 0.5)))
    assert sdp(chosen, engine) == pytest.approx(sdp(half, engine), abs=ENGINE)
