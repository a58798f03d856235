"""MAXDR: features selected by expected same-decision probability, each subset valued from scratch.

MAXDR [chen2015, as described in choi2017, section 6] was the first exact search for the expected
same-decision probability, made for naive Bayes: it takes or leaves features in a fixed order, values every
subset within the budget from scratch, and leaves a branch that cannot beat the best subset known even with
all it may still take. It knows no tables and shares nothing between subsets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from unswayed.core.anytime import reserve, tick
from unswayed.core.errors import QueryError
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import Decider
from unswayed.engines.log_odds import LogOddsEngine, LogOddsOracle
from unswayed.engines.parts import refuse_groups
from unswayed.search.options import Method, SearchOptions
from unswayed.search.run import make_bare_task, settle_search
from unswayed.search.task import SLACK, Found, Incumbent, Task, Terms, check_method
from unswayed.search.trim import Chosen


@dataclass(frozen=True, slots=True, eq=False)
class _SameDecisionValues:
    """Expected same-decision probability and potential agreement, each subset from scratch."""

    oracle: LogOddsOracle
    decider: Decider

    def value(self, kept: frozenset[int]) -> float:
        """How often the kept features decide as all do, by the same rule."""
        return self.oracle.agreement(kept, self.decider, 0.0).value

    def ceiling(self, kept: frozenset[int]) -> float:
        """Upper bound on every rule on the kept features."""
        return self.oracle.potential(kept, 0.0).high


def choose_by_maxdr(problem: Problem, terms: Terms, options: SearchOptions) -> Chosen:
    """The best features for the expected same-decision probability of a naive Bayes classifier.

    Features must be independent given a target of two states, as in naive Bayes.
    """
    check_method(terms, Method.MAXDR)
    refusal = refuse_groups(problem)
    if refusal is not None:
        raise QueryError(f"MAXDR is for naive Bayes classifiers: {refusal.reason}; use branch and bound")
    values = _SameDecisionValues(LogOddsEngine().prepare(problem), problem.decider)
    states = search_by_adding(make_bare_task(problem, terms), values)
    return Chosen(settle_search(states, options), LogOddsEngine().name)


class SubsetValues(Protocol):
    """Answers about one subset of features after another."""

    def value(self, kept: frozenset[int]) -> float:
        """How good the subset is."""

    def ceiling(self, kept: frozenset[int]) -> float:
        """Upper bound on every part of the subset."""


@dataclass(frozen=True, slots=True)
class _Addition:
    """Features taken, and how many in the order are decided."""

    taken: frozenset[int]
    depth: int
    ceiling: float


def search_by_adding(task: Task, values: SubsetValues) -> Iterator[Found]:
    """The best subset so far with its bound; at the end it is proven."""
    incumbent = Incumbent(task)
    with reserve():  # the first state comes in any case
        incumbent.offer((), values.value(frozenset()))
    yield incumbent.found()
    alone = {}
    for feature in task.root.features:
        if task.affordable(task.costs[feature]):
            tick(what="MAXDR")
            alone[feature] = values.value(frozenset({feature}))
            incumbent.evaluations += 1
            incumbent.offer((feature,), alone[feature])
            yield incumbent.found()
    # The best on their own come first; ties by name.
    order = sorted(alone, key=lambda f: (-round(alone[f], 12), task.names[f]))
    waiting = [_Addition(frozenset(), 0, values.ceiling(frozenset(task.root.features)))]
    while waiting:
        incumbent.bound = max(branch.ceiling for branch in waiting)
        yield incumbent.found()
        tick(what="MAXDR")
        waiting += _open(task, values, order, waiting.pop(), incumbent)
    incumbent.bound = -math.inf
    yield incumbent.found()


def _open(
    task: Task, values: SubsetValues, order: list[int], branch: _Addition, incumbent: Incumbent
) -> list[_Addition]:
    """Decide the next feature of a branch: leave it, or take it if the budget allows."""
    if branch.ceiling <= incumbent.value + SLACK or branch.depth == len(order):
        return []
    feature, later = order[branch.depth], frozenset(order[branch.depth + 1 :])
    without = values.ceiling(branch.taken | later)
    taken = branch.taken | {feature}
    children = [_Addition(branch.taken, branch.depth + 1, min(without, branch.ceiling))]
    incumbent.evaluations += 1
    if task.affordable(task.cost(taken)):
        if len(taken) > 1:
            incumbent.evaluations += 1
            incumbent.offer(taken, values.value(taken))
        children.append(_Addition(taken, branch.depth + 1, branch.ceiling))
    return children
