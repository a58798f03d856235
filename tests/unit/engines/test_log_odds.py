"""What the log-odds engine refuses before it starts."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.log_odds import LogOddsEngine
from unswayed.engines.protocol import Cost, Needs, Question, Refusal
from unswayed.model.zoo import binary_network


@pytest.mark.parametrize("needs", [Needs.ROWS, Needs.POTENTIAL])
def test_too_many_rows_of_dependent_features_are_refused_by_the_bid(needs):
    """24 pairs of dependent features, one of each pair kept: 2^24 rows that no threshold sums up."""
    rng = np.random.default_rng(0)
    tables = {"C": ((), [0.4])}
    for i in range(24):
        tables[f"A{i}"] = (("C",), rng.random(2).tolist())
        tables[f"B{i}"] = (("C", f"A{i}"), rng.random(4).tolist())
    features = [name for name in tables if name != "C"]
    problem = make_problem(Classifier(binary_network(tables), "C", features, ThresholdRule("+", 0.5)))
    kept = frozenset(problem.network.index(f"A{i}") for i in range(24))
    answer = LogOddsEngine().cost(problem, Question(kept, needs))
    assert isinstance(answer, Refusal)
    assert "2^24 rows" in answer.reason
    few = frozenset(problem.network.index(f"A{i}") for i in range(10))
    assert isinstance(LogOddsEngine().cost(problem, Question(few, needs)), Cost)
