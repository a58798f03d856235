"""What other ways to test cost: everything, the best fixed sets, and plans that look one test ahead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Bools
from unswayed.decisions.catalogue import cost_together, spent_table
from unswayed.decisions.measures import LEVEL_SLACK
from unswayed.plans.goals import Goal, PlanObjective, SameDecisionLevel, is_met
from unswayed.plans.greedy import Greed
from unswayed.plans.ground import Ground
from unswayed.plans.programme import Programme
from unswayed.plans.terrain import Terrain
from unswayed.plans.tree import (
    PlanNode,
    chance_reached,
    expected_cost,
    expected_tests,
    worst_cost,
)

UNTIL_SAFE = "until it is safe"
"""The way to test that a plan of few tests stands in for."""


@dataclass(frozen=True, slots=True)
class PlanComparison:
    """What another way to test costs, to see what the plan is worth."""

    name: str
    """Which way: everything, a fixed set, or a greedy plan."""
    expected_cost: float
    """What it costs on average."""
    worst_cost: float
    """What it costs at most."""
    expected_tests: float
    """How many tests it takes on average."""
    chance_reached: float = 1.0
    """Probability that it ends where the stopping rule is met."""
    tests: tuple[str, ...] = ()
    """The tests of a fixed set."""


def compare_everything(ground: Terrain, goal: Goal, *, reached: float = 1.0) -> PlanComparison:
    """What it costs to do all tests, and how often the stopping rule is then met."""
    offers = ground.catalogue.offers
    cost = cost_together(ground.catalogue, range(len(offers)))
    names = tuple(offer.name for offer in offers)
    return PlanComparison(
        "everything", cost, cost, len(offers), reached if goal.stops_by_rule else 1.0, names
    )


def reached_by_everything(ground: Ground, goal: Goal) -> float:
    """Probability that the stopping rule is met once all tests are done."""
    if not goal.stops_by_rule:
        return 1.0
    known = ground.known(ground.masses.reshape(len(ground.masses), -1))
    met = is_met(ground.problem, goal, known.class_mass, known.least)
    return max(0.0, 1.0 - float(known.class_mass[~met].sum()))


def compare_fixed(programme: Programme) -> list[PlanComparison]:
    """The cheapest fixed sets of tests: one that always meets the stopping rule, one that does on average.

    The first gives what the plan gives, without looking at results on the way; the second agrees with the
    full decision with the level's probability, over all its results.
    """
    goal, fixed = programme.goal, programme.fixed
    if programme.ground.catalogue.has_conditions or not goal.seeks_cost:
        return []
    found = [_cheapest_set(programme, "a fixed set, always", fixed.loss <= LEVEL_SLACK)]
    if isinstance(goal.stop, SameDecisionLevel):
        good = fixed.agreement >= goal.stop.level - LEVEL_SLACK
        found.append(_cheapest_set(programme, "a fixed set, on average", good))
    return [each for each in found if each is not None]


def _cheapest_set(programme: Programme, name: str, good: Bools) -> PlanComparison | None:
    """The cheapest of the good sets of tests, of equal ones the smallest; None where none is good."""
    offers, rules = programme.ground.catalogue.offers, programme.rules
    sets = np.flatnonzero(good & rules.reached & rules.may_stop)
    if not len(sets):
        return None
    costs = spent_table(programme.ground.catalogue)[sets]
    first = np.lexsort((np.bitwise_count(sets), np.round(costs, 12)))[0]
    tests = tuple(offer.name for test, offer in enumerate(offers) if sets[first] >> test & 1)
    reached = 1.0 - min(1.0, float(programme.fixed.loss[sets[first]]))
    return PlanComparison(name, float(costs[first]), float(costs[first]), len(tests), reached, tests)


def greeds_for(goal: Goal) -> tuple[Greed, ...]:
    """The gains that greedy plans for a goal can go by: they know no utilities."""
    return tuple(Greed) if goal.stops_by_rule or goal.objective is PlanObjective.SAME_DECISION else ()


def comparison_of(name: str, tree: PlanNode) -> PlanComparison:
    """What a plan costs."""
    return PlanComparison(
        name, expected_cost(tree), worst_cost(tree), expected_tests(tree), chance_reached(tree)
    )
