"""From a goal to a plan: dynamic programming where its table fits, bounded search where it does not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits
from unswayed.plans.bounded import BoundedSearch, search_bounded
from unswayed.plans.comparisons import PlanComparison, compare_everything, compare_fixed, compare_greedy
from unswayed.plans.goals import Goal
from unswayed.plans.ground import Ground
from unswayed.plans.moves import check_goal
from unswayed.plans.pages import run_pages
from unswayed.plans.programme import MOST_TESTS, Programme, price_programme, run_programme
from unswayed.plans.tree import PlanNode, grow_tree, plan_value

PATIENCE = 30.0
"""Seconds that a bounded search takes at most when no limit was given."""
PROVEN = 1e-9
"""A gap up to this is rounding."""
NO_PLAN = (
    "no plan meets the stopping rule on every path, so none has a least worst cost; allow what is forbidden, "
    "raise the budget or the depth, or plan by expected cost"
)

Report = Callable[[str], None]
"""Told now and then how far the work is, in words."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A plan, and what is known about better ones."""

    tree: PlanNode
    """What to do."""
    method: str
    """How it was found."""
    gap: float
    """How much better another plan could be at most, as the objective counts it."""
    comparisons: tuple[PlanComparison, ...]
    """What other ways to test cost."""


def solve(ground: Ground, goal: Goal, limits: Limits, report: Report | None = None) -> Solution:
    """The best plan; where time runs out, the best found so far with its bound."""
    check_goal(ground.catalogue, goal)
    deadline = limits.deadline()
    if goal.max_leaves is not None:
        tree = grow_tree(ground, goal, run_pages(ground, goal, goal.max_leaves, limits))
        return Solution(tree, "dynamic programming", 0.0, (compare_everything(ground, goal),))
    try:
        programme = _programme(ground, goal, limits, report)
    except KeyboardInterrupt:  # somebody wants the best so far, at once
        programme, deadline = None, time.monotonic()
    if programme is not None:
        if not math.isfinite(programme.values.first[-1]):
            raise QueryError(NO_PLAN)
        tree = grow_tree(ground, goal, programme)
        others = compare_fixed(programme) + [each for each, _ in compare_greedy(ground, goal, deadline)]
        return Solution(tree, "dynamic programming", 0.0, (compare_everything(ground, goal), *others))
    until = min(deadline, time.monotonic() + PATIENCE)
    search = search_bounded(ground, goal, until, _bounds_report(report))
    return _best_found(search, compare_greedy(ground, goal))


def _programme(ground: Ground, goal: Goal, limits: Limits, report: Report | None) -> Programme | None:
    """The values of all states; None where their table is too large for the limits, or time ran out."""
    price = price_programme(ground.sizes, len(ground.masses))
    too_long = limits.max_seconds is not None and price.seconds > limits.max_seconds
    if len(ground.sizes) > MOST_TESTS or price.n_bytes > limits.max_bytes or too_long:
        return None

    def tell(share: float) -> None:
        if report is not None:
            report(f"{share:.0%} of {ground.n_states:,} partial observations valued")

    return run_programme(ground, goal, limits, tell)


def _bounds_report(report: Report | None) -> Callable[[float, float, int], None] | None:
    """How a bounded search tells of itself."""
    if report is None:
        return None
    return lambda upper, lower, count: report(f"{count:,} states, value {lower:.4g} to {upper:.4g}")


def _best_found(search: BoundedSearch, others: list[tuple[PlanComparison, PlanNode]]) -> Solution:
    """The plan of a bounded search, or a greedy one where that is better."""
    ground, goal = search.ground, search.goal
    lower, upper = search.bounds
    if not math.isfinite(lower[0]):
        raise QueryError(NO_PLAN)
    trees = [
        (grow_tree(ground, goal, search), "bounded search"),
        *((tree, each.name) for each, tree in others),
    ]
    values = [plan_value(tree, goal, forced=search.forced) for tree, _ in trees]
    best = min(range(len(trees)), key=lambda k: (values[k], k))
    comparisons = (compare_everything(ground, goal), *(each for each, _ in others))
    return Solution(*trees[best], _gap(lower, min(values[best], upper)), comparisons)


def _gap(lower: tuple[float, float], value: tuple[float, float]) -> float:
    """The distance of what counts first; where that is closed, of what counts second."""
    for least, found in zip(lower, value, strict=True):
        if found - least > PROVEN * (1.0 + abs(found)):
            return found - least
    return 0.0
