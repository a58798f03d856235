"""Without a limit on time the speed of a machine changes no interval, whichever engine gives it."""

from __future__ import annotations

import numpy as np
import pytest

from clocks import hurried_clock
from dependent_cases import random_tree
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.engines.choice import ENGINES
from unswayed.engines.protocol import Cost, Question
from unswayed.model.zoo import random_naive_bayes

TOLERANCE = 1e-4
WIDE = 0.02
"""For samples."""


def naive_bayes() -> Problem:
    network = random_naive_bayes(11, np.random.default_rng(3))
    return make_problem(Classifier(network, "C", None, ThresholdRule("s0", 0.5)))


def tree(classes: int, n_features: int = 9) -> Problem:
    network = random_tree(np.random.default_rng(2), n_features, classes=classes)
    rule = ThresholdRule("c0", 0.4) if classes == 2 else MostProbable()
    return make_problem(Classifier(network, "C", network.names[1:], rule))


CASES = {
    "naive Bayes": naive_bayes,
    "tree": lambda: tree(2),
    "three classes": lambda: tree(3),
    "four classes": lambda: tree(4),
}


@pytest.mark.parametrize("n_kept", [0, 2])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_a_slow_machine_changes_no_interval(engine, case, n_kept):
    kept = frozenset(CASES[case]().free[:n_kept])
    tolerance = WIDE if engine.certainty is Certainty.ESTIMATE else TOLERANCE
    if not isinstance(engine.cost(CASES[case](), Question(kept, tolerance=tolerance)), Cost):
        pytest.skip("the engine does not answer this question")

    def ask() -> list[object]:
        problem = CASES[case]()
        oracle = engine.prepare(problem)
        if not hasattr(oracle, "agreement"):
            return [oracle.profile(kept).decision_mass.tolist()]
        return [oracle.agreement(kept, problem.decider, tolerance)]

    expected = ask()
    with hurried_clock(50.0):
        assert ask() == expected


def test_a_slow_machine_changes_no_bounds_on_what_is_not_listed(monkeypatch):
    """Kept features with too many instantiations to list, where most is left to budgets."""
    monkeypatch.setattr("unswayed.engines.sums.engine.MOST_ROWS", 0)
    kept = frozenset(tree(3).free[:6])

    def ask() -> object:
        problem = tree(3)
        sums = next(engine for engine in ENGINES if engine.name == "sums")
        return sums.prepare(problem).agreement(kept, problem.decider, TOLERANCE)

    expected = ask()
    with hurried_clock(50.0):
        assert ask() == expected
