"""Features by what each says about the target on its own: the usual way to choose, to compare with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unswayed.decisions.problem import Problem
from unswayed.decisions.rewards import NegativeEntropy, expected_reward
from unswayed.inference.posteriors import joint_table
from unswayed.search.task import Task


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
