"""What the log-odds engine refuses before it starts, and how it cuts groups into halves."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines import log_odds
from unswayed.engines.log_odds import LogOddsEngine, in_halves
from unswayed.engines.meet_in_the_middle import longest_list
from unswayed.engines.protocol import Cost, Needs, Question, Refusal
from unswayed.engines.weights.outcomes import list_outcomes
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


def chains(lengths, seed=0):
    """Independent chains of binary features given the class."""
    rng = np.random.default_rng(seed)
    tables = {"C": ((), [0.4])}
    for chain, length in enumerate(lengths):
        tables[f"V{chain}_0"] = (("C",), rng.random(2).tolist())
        for i in range(1, length):
            tables[f"V{chain}_{i}"] = (("C", f"V{chain}_{i - 1}"), rng.random(4).tolist())
    features = [name for name in tables if name != "C"]
    return make_problem(Classifier(binary_network(tables), "C", features, ThresholdRule("+", 0.5)))


@pytest.mark.parametrize("lengths", [(8, 14, 8), (3, 9, 10, 2), (1, 1, 12, 1, 1)])
def test_groups_of_any_order_are_cut_into_halves_that_are_about_even(lengths):
    problem = chains(lengths)
    groups = LogOddsEngine().prepare(problem).groups
    found = longest_list(list_outcomes(in_halves(groups), 0))
    assert np.log2(found) <= max(max(lengths), 0.5 * sum(lengths) + 0.5 * max(lengths)) + 1e-9


def test_uneven_halves_are_never_listed_in_full(monkeypatch):
    """In the order of the classifier one half would have 2^20 sums; in halves that are even, 2^14."""
    problem = chains((6, 14, 6))
    decider = problem.decider
    plain = LogOddsEngine().prepare(problem).agreement(frozenset(), decider, 0.0)
    monkeypatch.setattr(log_odds, "FEW_PLAIN", 2.0**10)
    made = []
    meet = log_odds.masses_at_least
    monkeypatch.setattr(
        log_odds, "masses_at_least", lambda outcomes, cuts: made.append(outcomes) or meet(outcomes, cuts)
    )
    even = LogOddsEngine().prepare(problem).agreement(frozenset(), decider, 0.0)
    assert even.value == pytest.approx(plain.value, abs=1e-12)
    assert [longest_list(each) for each in made] == [2.0**14]
