"""Good subsets without proof: features added one by one with swaps, and features by what each says alone.

`greedy` needs a table; information gain is the usual way to choose, to compare with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from unswayed.core.anytime import tick
from unswayed.decisions.problem import Problem
from unswayed.decisions.rewards import NegativeEntropy, expected_reward
from unswayed.inference.posteriors import joint_table
from unswayed.search.lattice import keep_only
from unswayed.search.task import SLACK, Found, Incumbent, Task, units_of_pass


def greedy(task: Task) -> Iterator[Found]:
    """Features added one by one, each the best gain for its cost, then swapped while that helps.

    The upper bound is the ceiling of all features: nothing is proven beyond it.
    """
    incumbent = Incumbent(task)
    incumbent.offer_nothing()
    incumbent.bound = task.objective.ceiling(task.root.table)
    yield incumbent.found()
    for _ in _grow_and_swap(task, incumbent):
        yield incumbent.found()


def _grow_and_swap(task: Task, incumbent: Incumbent) -> Iterator[None]:
    kept: frozenset[int] = frozenset()
    value = incumbent.value
    while fitting := [f for f in task.root.features if f not in kept and _fits(task, kept | {f})]:
        values = {}
        for feature in fitting:
            values[feature] = _offer(task, kept | {feature}, incumbent)
            yield
        best = min(fitting, key=lambda f: (-(values[f] - value) / task.costs[f], task.names[f]))
        kept, value = kept | {best}, values[best]
    improved = True
    while improved:
        improved = False
        for changed in list(_neighbours(task, kept)):
            before = incumbent.value
            if _offer(task, changed, incumbent) > before + SLACK:
                kept, improved = changed, True
            yield
            if improved:
                break


def _neighbours(task: Task, kept: frozenset[int]) -> Iterator[frozenset[int]]:
    """Subsets within the budget that have one feature in the place of another."""
    for out in sorted(kept):
        for into in task.root.features:
            changed = kept - {out} | {into}
            if into not in kept and _fits(task, changed):
                yield changed


def _fits(task: Task, kept: frozenset[int]) -> bool:
    return task.affordable(task.cost(kept))


def _offer(task: Task, kept: frozenset[int], incumbent: Incumbent) -> float:
    tick(units_of_pass(task.root), "the search")
    value = task.objective.value(keep_only(task.root, kept, task.sizes).table)
    incumbent.evaluations += 1
    incumbent.offer(kept, value)
    return value


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
