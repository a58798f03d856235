"""Plans where no table holds the features: greedy plans first, then a search that improves on them.

The time is shared out: greedy plans that only need posteriors come first, since they are cheap; then those
that ask engines about the few most informative tests; then the bounded search, which starts from what the
greedy plans are worth in their states. All share one terrain, which remembers what it was asked. Every tree
is cut to a size that can be written down; what is cut does all tests that are left: every plan is complete.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable
from functools import partial
from uuid import uuid4

from unswayed.core.anytime import seconds_left
from unswayed.core.workers import Team, Workers
from unswayed.decisions.checkpoint import Checkpoint
from unswayed.plans.ahead import Scouts, Visit, visit_state
from unswayed.plans.bounded import search_bounded
from unswayed.plans.comparisons import compare_everything, comparison_of, greeds_for
from unswayed.plans.goals import Goal
from unswayed.plans.greedy import Greed, GreedyPolicy, choose_there
from unswayed.plans.growth import GrownPlan, Spot, Value, grow_plan
from unswayed.plans.moves import Situation, check_goal, is_forced, without_idle_bounds
from unswayed.plans.saved import PlanNotes
from unswayed.plans.solution import PATIENCE, Report, Solution, best_of, report_bounds
from unswayed.plans.tree import leaves
from unswayed.plans.wide import WideGround

MOST_LEAVES = 2000
"""Leaves of a plan where nobody bounds them."""
MOST_COMPARED = 6
"""Tests, the most informative per cost, that greedy plans ask engines about."""
SHARES = {Greed.ENTROPY: 0.25, Greed.DONE: 0.4, Greed.SAME_DECISION: 0.5}
"""Which share of the time is over when each greedy plan must be written down."""
SEARCHED = 0.85
"""Which share is over when the search must end."""


def solve_anytime(
    ground: WideGround,
    goal: Goal,
    report: Report | None = None,
    *,
    team: Team | None = None,
    checkpoint: Checkpoint | None = None,
) -> Solution:
    """The best plan found in the time, with a bound on every other; a team asks engines ahead."""
    goal = without_idle_bounds(ground.catalogue, goal)
    check_goal(ground.catalogue, goal)
    with (
        PlanNotes(checkpoint, ground.answers) as notes,
        Workers[Hashable](team or Team(), visit_state, uuid4().hex, ground.to_send()) as workers,
    ):
        return _solve(ground, goal, report, (Scouts(ground, workers), notes))


def _solve(ground: WideGround, goal: Goal, report: Report | None, aids: tuple[Scouts, PlanNotes]) -> Solution:
    started = time.monotonic()
    seconds = seconds_left() if seconds_left() < math.inf else PATIENCE
    grow = partial(
        grow_plan,
        ground,
        goal,
        forced=is_forced(ground, goal),
        most_leaves=goal.max_leaves or MOST_LEAVES,
    )
    found: list[tuple[GrownPlan, str]] = []
    comparisons = [compare_everything(ground, goal)]
    ended = False
    try:
        for greed in sorted(greeds_for(goal), key=lambda each: SHARES[each]):
            if report is not None:
                report(f"looking one test ahead by {greed.value}")
            policy = GreedyPolicy(ground, goal, greed, None if greed is Greed.ENTROPY else MOST_COMPARED)
            deadline = started + SHARES[greed] * seconds
            grown = grow(policy, deadline=deadline, foretell=partial(_foretell, aids, policy, deadline))
            comparison = comparison_of(greed, grown.tree)
            found.append((grown, comparison.name))
            if not any(leaf.rest for leaf in leaves(grown.tree)):
                comparisons.append(comparison)
    except KeyboardInterrupt:
        ended = True
    until = -math.inf if ended else started + SEARCHED * seconds
    search = search_bounded(ground, goal, until, report_bounds(report), _best_steps(found), *aids)
    last = grow(search, deadline=started + seconds)
    return best_of(search, [(last, "bounded search, SDP by engines"), *found], tuple(comparisons))


def _best_steps(plans: list[tuple[GrownPlan, str]]) -> dict[Spot, tuple[Value, int]]:
    """What the best of some plans does in each state, and what that is worth."""
    best: dict[Spot, tuple[Value, int]] = {}
    for grown, _ in plans:
        for spot, step in grown.steps.items():
            if spot not in best or step < best[spot]:
                best[spot] = step
    return best


def _foretell(
    aids: tuple[Scouts, PlanNotes], policy: GreedyPolicy, deadline: float, choices: list[Situation]
) -> None:
    """Have others ask what a greedy plan is about to, and save what was answered."""
    scouts, notes = aids
    notes.note()
    asked = policy.goal, policy.greed, policy.most_compared
    visits = (
        Visit(each.state, partial(choose_there, each, *asked), (policy.greed, each.state, each.spent))
        for each in choices
    )
    scouts.go_ahead(next(visits), visits, deadline)
