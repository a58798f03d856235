"""From a goal to a plan: better and better plans, and a bound on all others, for as long as the budget lasts.

Where a table holds the value of every partial observation, dynamic programming finds the best plan. Where it
does not, greedy plans come first, since they are cheap: by posteriors alone, then by what engines say of the
few most informative tests. Then the bounded search starts from what they are worth in their states. All share
one terrain, which remembers what it was asked. Every tree can be written down at any moment; where it is cut,
a plan that goes on until it is safe does all tests that are left: every plan is complete.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from uuid import uuid4

from unswayed.core.anytime import (
    RESERVE,
    UNITS_PER_SECOND,
    bytes_allowed,
    reserve,
    settle,
    units_left,
)
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.parallel import Team, Workers
from unswayed.decisions.checkpoint import Checkpoint
from unswayed.plans.bounded import BoundedSearch, FoundPlan, search_bounded
from unswayed.plans.comparisons import (
    PlanComparison,
    compare_everything,
    compare_fixed,
    comparison_of,
    greeds_for,
    reached_by_everything,
)
from unswayed.plans.engine_states import EngineTerrain
from unswayed.plans.first_tests import FirstTests, bound_first_tests
from unswayed.plans.goals import Goal
from unswayed.plans.greedy import Greed, GreedyPolicy, choose_there
from unswayed.plans.ground import Ground
from unswayed.plans.growth import GrownPlan, Spot, Value, grow, grow_tree, least_of, write_down
from unswayed.plans.leaf_limited import run_leaf_limited
from unswayed.plans.moves import Policy, Situation, check_goal, is_forced, without_idle_bounds
from unswayed.plans.prefetch import Prefetcher, Visit, visit_state
from unswayed.plans.programme import MOST_TESTS, Programme, price_programme, run_programme
from unswayed.plans.saved import PlanNotes
from unswayed.plans.tree import PlanNode

MOST_LEAVES = 2000
"""Leaves of a plan where engines are asked and nobody bounds them."""
MOST_COMPARED = 6
"""Tests, the most informative per cost, that greedy plans ask engines about."""
PATIENCE = 4e6
"""Units for a plan that is searched for where nobody gives seconds; its parts have shares of what is left."""
GREEDY_PARTS = {Greed.ENTROPY: 0.25, Greed.DONE: 0.2, Greed.SAME_DECISION: 1 / 6}
"""For each greedy plan, cheap ones first: its share of what is left where engines are asked,"""
GREEDY_PART = 0.05
"""and on a table, where it is there in a moment or very large;"""
FIRST_PART = 0.4
"""the share of a bound by first tests, and then of the plan that comes of it;"""
SEARCH_PART = 0.7
"""then the share of the search; its tree has the rest."""
VALUES_PART, TREE_PART = 0.7, 0.5
"""The share of the values of all states, and then of the tree that follows from them."""
COMPARED = 3e6
"""Units for a greedy plan that the best one is compared with."""
FINISHED = RESERVE * UNITS_PER_SECOND
"""Units to write down what a search has found when it was cut."""
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
    interrupted: bool = False
    """Whether Ctrl-C ended it."""


@dataclass(slots=True, eq=False)
class _Planning:
    """What planning has come to."""

    ground: Ground | EngineTerrain
    goal: Goal
    report: Report
    team: Team
    checkpoint: Checkpoint | None
    comparisons: list[PlanComparison]
    plans: list[tuple[GrownPlan, str]] = field(default_factory=list)
    """Trees, each with the method that found it."""
    programme: Programme | None = None
    search: BoundedSearch | None = None
    first_tests: FirstTests | None = None
    is_written: bool = False
    """Whether the whole tree of the search is among the plans."""
    scouts: Prefetcher | None = None
    notes: PlanNotes = field(default_factory=PlanNotes)

    @property
    def asks_engines(self) -> bool:
        """Whether there is no table."""
        return isinstance(self.ground, EngineTerrain)


def solve(
    ground: Ground | EngineTerrain,
    goal: Goal,
    report: Report | None = None,
    *,
    team: Team | None = None,
    checkpoint: Checkpoint | None = None,
) -> Solution:
    """The best plan; where the budget is spent or Ctrl-C comes first, the best so far with its bound."""
    goal = without_idle_bounds(ground.catalogue, goal)
    check_goal(ground.catalogue, goal)
    team = team or Team()
    reached = reached_by_everything(ground, goal) if isinstance(ground, Ground) else 1.0
    everything = compare_everything(ground, goal, reached=reached)
    if isinstance(ground, Ground) and goal.max_leaves is not None:
        return _solve_leaf_limited(ground, goal, everything, alone=team.is_serial and checkpoint is None)
    planning = _Planning(ground, goal, report or (lambda _: None), team, checkpoint, [everything])
    has_values = isinstance(ground, Ground) and _has_values(ground, goal)
    with ExitStack() as stack:
        stages = (_stages_by_values if has_values else _stages_by_search)(planning, stack)
        # On a table the search alone has the patience: all other parts take moments.
        units = PATIENCE if planning.asks_engines else PATIENCE / SEARCH_PART
        settled = settle(stages, units=math.inf if has_values else units, heeds_interrupts=True)
    with reserve():
        grown, method, lower = _finish(planning)
    gap, comparisons = gap_of(lower, grown.value), tuple(planning.comparisons)
    return Solution(grown.tree, method, gap, comparisons, settled.interrupted)


def _solve_leaf_limited(ground: Ground, goal: Goal, everything: PlanComparison, *, alone: bool) -> Solution:
    assert goal.max_leaves is not None
    if not alone:
        raise QueryError(
            "a plan with a number of leaves is made in one process, and without a checkpoint; leave out "
            "jobs, executor and checkpoint, or the number of leaves"
        )
    tree = grow_tree(ground, goal, run_leaf_limited(ground, goal, goal.max_leaves))
    return Solution(tree, "dynamic programming", 0.0, (everything,))


def _stages_by_values(planning: _Planning, stack: ExitStack) -> Iterator[_Planning]:
    """The best plan by a table of all values, and greedy ones beside it; by search where time is short."""
    yield planning
    planning.programme = _run_programme(planning)
    yield planning
    if planning.programme is None:
        yield from _stages_by_search(planning, stack)
        return
    _grow(planning, planning.programme, "dynamic programming", share=TREE_PART)
    yield planning
    planning.comparisons += compare_fixed(planning.programme)
    for greed in greeds_for(planning.goal):
        _grow_greedy(planning, greed, share=TREE_PART, units=COMPARED)
        yield planning


def _stages_by_search(planning: _Planning, stack: ExitStack) -> Iterator[_Planning]:
    """Better and better plans: greedy ones, then that of a search."""
    yield planning
    ground = planning.ground
    answers = ground.answers if isinstance(ground, EngineTerrain) else None
    planning.notes = stack.enter_context(PlanNotes(planning.checkpoint, answers))
    workers = Workers[Hashable](planning.team, visit_state, uuid4().hex, ground.to_send())
    planning.scouts = Prefetcher(ground, stack.enter_context(workers))
    for greed in sorted(greeds_for(planning.goal), key=list(GREEDY_PARTS).index):
        planning.report(f"looking one test ahead by {greed.value}")
        _grow_greedy(planning, greed, share=GREEDY_PARTS[greed] if planning.asks_engines else GREEDY_PART)
        yield planning
    _bound_first_tests(planning)
    yield planning
    _search(planning)
    yield planning
    assert planning.search is not None
    _grow_searched(planning, planning.search)
    yield planning


def _finish(planning: _Planning) -> tuple[GrownPlan, str, Value]:
    """What is made of the last state, once: the best plan, its method, and a bound on all plans."""
    if planning.programme is not None:
        values = planning.programme.values
        lower = float(values.first[-1]), float(values.second[-1]) if len(values.second) else 0.0
        if not planning.plans:
            _grow(planning, planning.programme, "dynamic programming", units=FINISHED)
        if planning.plans[0][0].is_whole:
            del planning.plans[1:]  # proven: no other is better by more than rounding
    else:
        search = planning.search or next(search_bounded(planning.ground, planning.goal))
        if not planning.plans or (planning.search is not None and not planning.is_written):
            policy = FoundPlan(search) if planning.plans else search
            _grow_searched(planning, policy, closely=False, units=FINISHED)
        lower, _ = search.bounds
        if planning.first_tests is not None:
            lower = max(lower[0], planning.first_tests.lower), lower[1]
    return *best_of(lower, planning.plans), lower


def _has_values(ground: Ground, goal: Goal) -> bool:
    """Whether the values of all states fit into the limits."""
    if math.isfinite(goal.budget) and ground.catalogue.has_conditions:
        return False  # what was spent then depends on the order, which the table does not know
    price = price_programme(ground.sizes, len(ground.masses))
    is_long = price.seconds * UNITS_PER_SECOND > units_left()
    return len(ground.sizes) <= MOST_TESTS and price.n_bytes <= bytes_allowed() and not is_long


def _run_programme(planning: _Planning) -> Programme | None:
    ground = planning.ground
    assert isinstance(ground, Ground)
    programme = run_programme(
        ground,
        planning.goal,
        lambda share: planning.report(f"{share:.0%} of {ground.n_states:,} partial observations valued"),
        team=planning.team,
        checkpoint=planning.checkpoint,
        share=VALUES_PART,
    )
    if programme is not None and not math.isfinite(programme.values.first[-1]):
        raise QueryError(NO_PLAN)
    return programme


def _grow(
    planning: _Planning,
    policy: Policy,
    name: str,
    *,
    closely: bool = True,
    share: float = 1.0,
    units: float = math.inf,
    foretell: Callable[[Iterator[Situation]], None] | None = None,
) -> GrownPlan:
    """Add the tree of a policy to the plans, as far as it grew."""
    ground, goal = planning.ground, planning.goal
    trees = grow(
        ground,
        goal,
        policy,
        forced=is_forced(ground, goal),
        closely=closely,
        most_leaves=goal.max_leaves or (MOST_LEAVES if planning.asks_engines else math.inf),
        foretell=foretell,
    )
    settled = settle(trees, share=share, units=units, heeds_interrupts=True)
    grown = write_down(settled.last)
    planning.plans.append((grown, name))
    if settled.interrupted:
        raise KeyboardInterrupt  # of the whole, which now has this plan
    return grown


def _grow_greedy(planning: _Planning, greed: Greed, *, share: float, units: float = math.inf) -> None:
    """Add a greedy plan, and what it costs where it is whole."""
    asks_engines = planning.asks_engines and greed is not Greed.ENTROPY
    policy = GreedyPolicy(planning.ground, planning.goal, greed, MOST_COMPARED if asks_engines else None)
    name = f"greedy by {greed.value} per cost"
    foretell = partial(_foretell, planning, policy)
    grown = _grow(planning, policy, name, share=share, units=units, foretell=foretell)
    if grown.is_whole:
        planning.comparisons.append(comparison_of(name, grown.tree))


def _foretell(planning: _Planning, policy: GreedyPolicy, choices: Iterator[Situation]) -> None:
    """Have others ask what a greedy plan is about to, and save what was answered."""
    planning.notes.note()
    if planning.scouts is None:
        return
    visits = (
        Visit(
            where.state,
            partial(choose_there, where, policy.goal, policy.greed, policy.most_compared),
            (policy.greed, where.state, where.spent),
        )
        for where in choices
    )
    planning.scouts.go_ahead(next(visits), visits)


def _bound_first_tests(planning: _Planning) -> None:
    """Bound all plans by their first few tests, where tests are independent; what that suggests is a plan."""
    planning.report("bounding all plans by their first tests")
    ground, goal = planning.ground, planning.goal
    then = GreedyPolicy(ground, goal, Greed.DONE, MOST_COMPARED if planning.asks_engines else None)
    bounds: Iterator[FirstTests | None] = chain([None], bound_first_tests(ground, goal, then))
    planning.first_tests = settle(bounds, share=FIRST_PART, heeds_interrupts=True).last
    if planning.first_tests is not None:
        _grow(planning, planning.first_tests, "first tests by dynamic programming", share=FIRST_PART)


def _search(planning: _Planning) -> None:
    """Search for a better plan than the greedy ones."""

    def tell(search: BoundedSearch) -> None:
        (lower, _), (upper, _) = search.bounds
        planning.report(f"{len(search.places):,} states, value {lower:.4g} to {upper:.4g}")

    states = search_bounded(
        planning.ground,
        planning.goal,
        known=_best_steps(planning.plans),
        scouts=planning.scouts,
        notes=planning.notes,
    )
    settled = settle(states, share=SEARCH_PART, tell=tell, heeds_interrupts=True)
    planning.search = settled.last
    if settled.interrupted:
        raise KeyboardInterrupt  # of the whole, which now has this search


def _grow_searched(
    planning: _Planning, policy: Policy, *, closely: bool = True, units: float = math.inf
) -> None:
    """Put the tree of the search before the other plans."""
    name = "bounded search, SDP by engines" if planning.asks_engines else "bounded search"
    grown = _grow(planning, policy, name, closely=closely, units=units)
    planning.is_written = grown.is_whole
    planning.plans.insert(0, planning.plans.pop())


def _best_steps(plans: list[tuple[GrownPlan, str]]) -> dict[Spot, tuple[Value, int]]:
    """What the best of some plans does in each state, and what that is worth."""
    best: dict[Spot, tuple[Value, int]] = {}
    for grown, _ in plans:
        for spot, step in grown.steps.items():
            if spot not in best or step < best[spot]:
                best[spot] = step
    return best


def best_of(lower: Value, plans: list[tuple[GrownPlan, str]]) -> tuple[GrownPlan, str]:
    """The best of some plans, each with the method that found it, where no plan is below a bound."""
    if not math.isfinite(lower[0]):
        raise QueryError(NO_PLAN)
    (first, _), best = least_of([grown.value for grown, _ in plans], mass=1.0)
    if not math.isfinite(first):
        raise LimitError(NONE_FOUND)
    return plans[best]


def gap_of(lower: Value, value: Value) -> float:
    """The distance of what counts first from its bound; where that is closed, of what counts second."""
    for least, found in zip(lower, value, strict=True):
        if found - least > PROVEN * (1.0 + abs(found)):
            return found - least
    return 0.0
