"""The papers' own ways to choose features, to compare with: adding one by one, and by information gain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits
from unswayed.decisions.problem import Problem
from unswayed.decisions.rewards import NegativeEntropy, expected_reward
from unswayed.decisions.rules import Decider
from unswayed.engines.log_odds import LogOddsEngine, LogOddsOracle
from unswayed.engines.parts import refuse_groups
from unswayed.inference.posteriors import joint_table
from unswayed.search.growing import growing
from unswayed.search.progress import Found, Task


@dataclass(frozen=True, slots=True, eq=False)
class _SameDecision:
    """Expected same-decision probability and potential agreement, each subset from scratch."""

    oracle: LogOddsOracle
    decider: Decider

    def value(self, kept: frozenset[int]) -> float:
        """How often the kept features decide as all do, by the same rule."""
        return self.oracle.agreement(kept, self.decider, 0.0).low

    def ceiling(self, kept: frozenset[int]) -> float:
        """What no rule on the kept features exceeds."""
        return self.oracle.potential(kept, 0.0).high


def maxdr(problem: Problem, task: Task, limits: Limits) -> Found:
    """The best features for the expected same-decision probability of a naive Bayes classifier.

    Features must be independent given a target of two states, as in naive Bayes.
    """
    refusal = refuse_groups(problem)
    if refusal is not None:
        raise QueryError(f"MAXDR is for naive Bayes classifiers: {refusal.reason}; use branch and bound")
    oracle = LogOddsEngine().prepare(problem, limits)
    return growing(task, _SameDecision(oracle, problem.decider))


def information_by_feature(problem: Problem) -> dict[int, float]:
    """How much each free feature alone is expected to lower the entropy of the target, in nats."""
    target = problem.network.variables[problem.target]
    now = expected_reward(problem.prior[np.newaxis], NegativeEntropy(), target)
    gains = {}
    for feature in problem.free:
        masses = joint_table(problem.network, [feature, problem.target], problem.evidence)
        gains[feature] = expected_reward(masses.reshape(-1, len(target)), NegativeEntropy(), target) - now
    return gains


def most_informative(task: Task, gains: Mapping[int, float]) -> tuple[int, ...]:
    """Features taken by information gain for their cost, one after the other, while the budget allows."""
    kept: tuple[int, ...] = ()
    for feature in sorted(gains, key=lambda f: (-gains[f] / task.costs[f], task.names[f])):
        if task.affordable(task.cost((*kept, feature))):
            kept = (*kept, feature)
    return kept
