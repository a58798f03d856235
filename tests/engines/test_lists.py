"""Two lists that meet at a separator give what enumeration and the full table give."""

from __future__ import annotations

import numpy as np
import pytest

from dependent_cases import random_problem, random_tree
from oracles.enumerate_profile import enumerate_profile
from tolerances import ENGINE
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import expected_agreement, maximum_potential_agreement
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import MostProbable, ThresholdRule, UtilityRule
from unswayed.engines.dense import DenseEngine
from unswayed.engines.protocol import Needs, Question, Refusal
from unswayed.engines.weights.separator import SeparatorWay, find_split
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

PAYING = UtilityRule({f"a{i}": {f"c{k}": float(i == k) * (1 + i) for k in range(3)} for i in range(3)})
WORTHLESS_THIRD = UtilityRule(
    {"one": {"c0": 1.0, "c1": 0.0, "c2": 0.0}, "two": {"c0": 0.0, "c1": 1.0, "c2": 0.0}}
)
WEIGHED = UtilityRule({"go": {"c0": 3.0, "c1": 1.0, "c2": -2.0}, "stay": {"c0": 0.0, "c1": 0.0, "c2": 0.0}})


def naive(rng, n, classes):
    """A naive Bayes network of two-state features, in tenths, which tie, or in any numbers."""
    target = Variable("C", [f"c{i}" for i in range(classes)])
    cpts = [Cpt(target, [], [[1.0 / classes] * classes])]
    for i in range(n):
        chances = rng.integers(0, 11, classes) / 10 if n < 10 else rng.random(classes)
        cpts.append(Cpt(Variable(f"F{i}", ["a", "b"]), [target], np.stack([chances, 1 - chances], axis=1)))
    return BayesianNetwork(cpts)


@pytest.mark.parametrize("seed", range(120))
def test_profiles_as_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 7)
    kept = frozenset(f for f in problem.free if rng.random() < 0.3)
    if isinstance(SeparatorWay().cost(problem, Question(kept)), Refusal):
        return
    found, exact = SeparatorWay().prepare(problem).profile(kept), enumerate_profile(problem, kept)
    for measure in (maximum_potential_agreement, lambda p: expected_agreement(p, problem.decider)):
        assert measure(found) == pytest.approx(measure(exact), abs=ENGINE)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    "rule", [MostProbable(), PAYING, WORTHLESS_THIRD], ids=["most", "paying", "worthless"]
)
def test_ties_and_zeros_of_three_classes(rule, seed):
    network = naive(np.random.default_rng(seed), 7, 3)
    problem = make_problem(Classifier(network, "C", network.names[1:], rule))
    found, exact = (
        SeparatorWay().prepare(problem).profile(frozenset()),
        enumerate_profile(problem, frozenset()),
    )
    assert found.decision_mass == pytest.approx(exact.decision_mass, abs=ENGINE)


@pytest.mark.parametrize(
    ("classes", "rule"), [(2, ThresholdRule("c1", 0.3)), (3, MostProbable()), (3, PAYING)]
)
def test_long_lists_as_by_the_full_table(classes, rule):
    network = random_tree(np.random.default_rng(classes), 17, sizes=(2, 3), classes=classes)
    problem = make_problem(Classifier(network, "C", network.names[1:], rule))
    dense, lists = (engine.prepare(problem) for engine in (DenseEngine(), SeparatorWay()))
    for kept in (frozenset(), frozenset(problem.free[3:5])):
        exact, found = dense.profile(kept), lists.profile(kept)
        assert found.decision_mass == pytest.approx(exact.decision_mass, abs=ENGINE)


def test_a_separator_splits_a_chain_in_the_middle():
    target = Variable("C", ["c0", "c1"])
    cpts, before = [Cpt(target, [], [[0.5, 0.5]])], []
    for i in range(21):
        feature = Variable(f"F{i:02}", ["a", "b"])
        cpts.append(Cpt(feature, [target, *before], np.full((2 * 2 ** len(before), 2), 0.5)))
        before = [feature]
    network = BayesianNetwork(cpts)
    problem = make_problem(Classifier(network, "C", network.names[1:], MostProbable()))
    split = find_split(problem, frozenset())
    assert [network.names[v] for v in split.outer] == ["F10"]
    assert len(split.left) == len(split.right) == 10


@pytest.mark.parametrize(
    ("classes", "rule", "reason"),
    [
        (4, MostProbable(), "up to three classes; this target has 4"),
        (3, WEIGHED, "compare classes two by two"),
        (3, ThresholdRule("c0", 0.5), "compare classes two by two"),
    ],
)
def test_what_cannot_be_counted_is_refused(classes, rule, reason):
    network = naive(np.random.default_rng(0), 12, classes)
    problem = make_problem(Classifier(network, "C", network.names[1:], rule))
    price = SeparatorWay().cost(problem, Question(frozenset()))
    assert isinstance(price, Refusal)
    assert reason in price.reason


def test_long_work_gives_way_to_intervals():
    network = naive(np.random.default_rng(0), 48, 3)
    problem = make_problem(Classifier(network, "C", network.names[1:], MostProbable()))
    for needs in (Needs.AGREEMENT, Needs.SINGLES):
        price = SeparatorWay().cost(problem, Question(frozenset(), needs))
        assert isinstance(price, Refusal)
        assert "evenly enough" in price.reason


def test_time_ends_the_lists():
    network = random_tree(np.random.default_rng(0), 14)
    problem = make_problem(Classifier(network, "C", network.names[1:], MostProbable()))
    oracle = SeparatorWay().prepare(problem)
    with pytest.raises(LimitError, match="before two lists was done"), within(Limits(max_seconds=1e-9)):
        oracle.profile(frozenset())
