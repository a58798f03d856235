"""From a goal to a plan: dynamic programming where its table fits, bounded search where it does not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from uuid import uuid4

from unswayed.core.anytime import bytes_allowed, deadline, seconds_left
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.workers import Team, Workers
from unswayed.decisions.checkpoint import Checkpoint
from unswayed.plans.ahead import Scouts, visit_state
from unswayed.plans.bounded import BoundedSearch, search_bounded
from unswayed.plans.comparisons import (
    PlanComparison,
    compare_everything,
    compare_fixed,
    compare_greedy,
    reached_by_everything,
)
from unswayed.plans.goals import Goal
from unswayed.plans.ground import Ground
from unswayed.plans.growth import GrownPlan, grow_plan, grow_tree, least_of
from unswayed.plans.moves import check_goal, without_idle_bounds
from unswayed.plans.pages import run_pages
from unswayed.plans.programme import MOST_TESTS, Programme, price_programme, run_programme
from unswayed.plans.saved import PlanNotes
from unswayed.plans.tree import PlanNode

SEARCHED = 0.7
"""Share of the time left that the search takes; greedy plans and the tree take the rest."""
GROWN, ANY_NUMBER = 0.5, 2**62
"""Share of that rest in which the tree is written down, cut where time is over; and its leaves, at most."""
PATIENCE = 30.0
"""Seconds that a bounded search takes at most when no limit was given."""
PROVEN = 1e-9
"""A gap up to this is rounding."""
NO_PLAN = (
    "no plan meets the stopping rule on every path, so none has a least worst cost; allow what is forbidden, "
    "raise the budget or the depth, or plan by expected cost"
)
NONE_FOUND = (
    "no plan was found in this time that goes on for as long as it must; raise the limit on time, the budget "
    "or the depth"
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


def solve(
    ground: Ground,
    goal: Goal,
    report: Report | None = None,
    *,
    team: Team | None = None,
    checkpoint: Checkpoint | None = None,
) -> Solution:
    """The best plan; where time runs out, the best found so far with its bound."""
    goal = without_idle_bounds(ground.catalogue, goal)
    check_goal(ground.catalogue, goal)
    team = team or Team()
    ends = deadline()
    everything = compare_everything(ground, goal, reached=reached_by_everything(ground, goal))
    if goal.max_leaves is not None:
        if checkpoint is not None or not team.is_alone:
            raise QueryError(
                "a plan with a number of leaves is made in one process, and without a checkpoint; leave out "
                "jobs, executor and checkpoint, or the number of leaves"
            )
        tree = grow_tree(ground, goal, run_pages(ground, goal, goal.max_leaves))
        return Solution(tree, "dynamic programming", 0.0, (everything,))
    try:
        programme = _programme(ground, goal, report, (team, checkpoint))
    except KeyboardInterrupt:  # somebody wants the best so far, at once
        programme, ends = None, time.monotonic()
    if programme is not None:
        if not math.isfinite(programme.values.first[-1]):
            raise QueryError(NO_PLAN)
        tree = grow_tree(ground, goal, programme)
        others = compare_fixed(programme) + [each for each, _ in compare_greedy(ground, goal, ends)]
        return Solution(tree, "dynamic programming", 0.0, (everything, *others))
    now = time.monotonic()
    until = now + min(SEARCHED * max(ends - now, 0.0), PATIENCE)
    with (
        PlanNotes(checkpoint) as notes,
        Workers[Hashable](team, visit_state, uuid4().hex, ground.to_send()) as workers,
    ):
        scouts = Scouts(ground, workers)
        search = search_bounded(ground, goal, until, report_bounds(report), scouts=scouts, notes=notes)
    now = time.monotonic()
    greedy = compare_greedy(ground, goal, now + (1.0 - GROWN) * max(ends - now, 0.0))
    grown = grow_plan(ground, goal, search, forced=search.forced, deadline=deadline(), most_leaves=ANY_NUMBER)
    plans = [(grown, "bounded search"), *((other, one.name) for one, other in greedy)]
    return best_of(search, plans, (everything, *(one for one, _ in greedy)))


def _programme(
    ground: Ground, goal: Goal, report: Report | None, aids: tuple[Team, Checkpoint | None]
) -> Programme | None:
    """The values of all states; None where their table is too large for the limits, or time ran out."""
    if math.isfinite(goal.budget) and ground.catalogue.has_conditions:
        return None  # what was spent then depends on the order, which the table does not know
    price = price_programme(ground.sizes, len(ground.masses))
    too_long = price.seconds > seconds_left()
    if len(ground.sizes) > MOST_TESTS or price.n_bytes > bytes_allowed() or too_long:
        return None

    def tell(share: float) -> None:
        if report is not None:
            report(f"{share:.0%} of {ground.n_states:,} partial observations valued")

    team, checkpoint = aids
    return run_programme(ground, goal, tell, team=team, checkpoint=checkpoint)


def report_bounds(report: Report | None) -> Callable[[float, float, int], None] | None:
    """How a bounded search tells of itself."""
    if report is None:
        return None
    return lambda upper, lower, count: report(f"{count:,} states, value {lower:.4g} to {upper:.4g}")


def best_of(
    search: BoundedSearch, plans: list[tuple[GrownPlan, str]], comparisons: tuple[PlanComparison, ...]
) -> Solution:
    """The best of some plans, each with the method that found it, and its distance from the bound."""
    lower, _ = search.bounds
    if not math.isfinite(lower[0]):
        raise QueryError(NO_PLAN)
    (first, _), best = least_of([grown.value for grown, _ in plans], mass=1.0)
    if not math.isfinite(first):
        raise LimitError(NONE_FOUND)
    grown, method = plans[best]
    return Solution(grown.tree, method, _gap(lower, grown.value), comparisons)


def _gap(lower: tuple[float, float], value: tuple[float, float]) -> float:
    """The distance of what counts first; where that is closed, of what counts second."""
    for least, found in zip(lower, value, strict=True):
        if found - least > PROVEN * (1.0 + abs(found)):
            return found - least
    return 0.0
