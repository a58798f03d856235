"""The best plan by dynamic programming over partial observations.

Every partial observation is valued once, from full observations back to none (`kernels/plan_values.py`). With
n tests of two outcomes there are 3^n of them, so 16 to 18 tests are the limit; up to there the plan is proven
to be the best. States that stop at once, have no mass or cannot be reached are passed over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from uuid import uuid4

import numpy as np

from unswayed.core.anytime import UNITS_PER_SECOND, check_bytes, settle
from unswayed.core.arrays import Floats, Ints
from unswayed.core.numerics import spendable
from unswayed.core.parallel import Team, Workers
from unswayed.decisions.catalogue import (
    Catalogue,
    price_table,
    reachable_sets,
    spent_table,
)
from unswayed.decisions.checkpoint import Checkpoint
from unswayed.engines.protocol import Cost
from unswayed.kernels.plan_values import STOP, FixedSets, Rules, Values, choose_test
from unswayed.plans.goals import Goal, PlanObjective
from unswayed.plans.ground import Ground
from unswayed.plans.moves import Situation, check_goal, is_forced
from unswayed.plans.parts import (
    LARGEST_BLOCK,
    LARGEST_PART,
    UNITS_PER_STATE,
    FilledParts,
    PartedGround,
    Prefix,
    add_up,
    empty_values,
    fill_parts,
    run_part,
    share_parts,
)
from unswayed.plans.saved import PartFile
from unswayed.plans.terrain import done_in

ALONE_SECONDS = 1.0
"""What takes less is not worth a team."""
MOST_TESTS = 24
"""Tests beyond which the table of prices alone is too large."""

Report = Callable[[float], None]
"""Hears now and then which share of the states is valued."""


@dataclass(frozen=True, slots=True, eq=False)
class Programme:
    """The value of every partial observation."""

    ground: Ground
    goal: Goal
    rules: Rules = field(repr=False)
    values: Values = field(repr=False)
    fixed: FixedSets = field(repr=False)

    def choose(self, where: Situation) -> int:
        """The test to do, or `STOP`."""
        pairs = zip(where.state, self.ground.sizes, strict=True)
        digits = np.array([size if x < 0 else x for x, size in pairs], dtype=np.int64)
        done = done_in(where.state)
        if where.mass <= 0.0 or (where.loss <= 0.0 and self.rules.may_stop[done]):
            return STOP
        place = int(digits @ self.rules.strides), done
        return choose_test(self.rules, self.values, place, digits, where.mass, where.loss)[2]


def price_programme(sizes: Sequence[int], n_columns: int) -> Cost:
    """Seconds and bytes for tests with so many outcomes: two values a state, the prices, one block."""
    states = math.prod(size + 1.0 for size in sizes)
    prices = 9.0 * 2.0 ** len(sizes) * (len(sizes) + 4)
    block = 32.0 * min(states, LARGEST_BLOCK) * n_columns
    seconds = UNITS_PER_STATE / UNITS_PER_SECOND * states * (1 + len(sizes) / 8)
    return Cost(1e-3 + seconds, 16.0 * states + prices + block)


def run_programme(
    ground: Ground,
    goal: Goal,
    report: Report | None = None,
    *,
    team: Team | None = None,
    checkpoint: Checkpoint | None = None,
    share: float = 1.0,
) -> Programme | None:
    """Value all partial observations, with a team where it takes long.

    None when a share of the budget is spent first: values of some states make no plan, but a checkpoint keeps
    them. Ctrl-C is raised after that was saved.
    """
    price = price_programme(ground.sizes, len(ground.masses))
    check_bytes(price.n_bytes, "a plan over all partial observations")
    parted = PartedGround(ground, goal, rules_of(ground, goal), LARGEST_PART)
    values, n_parts = empty_values(parted), len(parted.prefixes)

    def tell(filled: FilledParts) -> None:
        if report is not None:
            report(len(filled) / n_parts)

    with ExitStack() as stack:
        keeper = None if checkpoint is None else stack.enter_context(PartFile(checkpoint, parted))
        if team is None or team.is_serial or price.seconds < ALONE_SECONDS:
            parts = fill_parts(parted, values, keeper)
        else:
            sent = replace(parted, ground=ground.to_send())
            workers = Workers[Prefix](team, run_part, uuid4().hex, sent)
            parts = share_parts(parted, values, stack.enter_context(workers), keeper)
        filled = settle(parts, share=share, tell=tell).last
    if len(filled) < n_parts:
        return None
    return Programme(ground, goal, parted.rules, values, add_up(parted, filled))


def rules_of(ground: Ground, goal: Goal) -> Rules:
    """What may be done in each state and for how much, as the pass over the states reads it."""
    catalogue, sizes = ground.catalogue, ground.sizes
    check_goal(catalogue, goal)
    if math.isfinite(goal.budget):
        assert not catalogue.has_conditions  # what was spent then depends on the order
    prices = price_table(catalogue)
    _bound(catalogue, goal, prices)
    reached = reachable_sets(prices)
    done = np.arange(len(prices))
    may_stop = (catalogue.mandatory & ~done) == 0
    strides = np.cumprod([1, *[size + 1 for size in sizes[:0:-1]]])[::-1] if sizes else np.ones(0)
    given, extra, first_given = _conditions(catalogue)
    worst, forced = goal.objective is PlanObjective.WORST_COST, is_forced(ground, goal)
    return Rules(
        np.array(sizes, dtype=np.int64),
        strides.astype(np.int64),
        prices,
        reached,
        may_stop,
        forced,
        forced or goal.objective is PlanObjective.NET_UTILITY,
        worst,
        given,
        extra,
        first_given,
    )


def _bound(catalogue: Catalogue, goal: Goal, prices: Floats) -> None:
    """Make tests that exceed the budget or the depth infinitely dear."""
    if math.isfinite(goal.budget):
        spent = spent_table(catalogue)[:, None]
        prices[spent + prices > spendable(goal.budget)] = np.inf
    if goal.max_depth is not None:
        prices[np.bitwise_count(np.arange(len(prices))) >= goal.max_depth] = np.inf


def _conditions(catalogue: Catalogue) -> tuple[Ints, Floats, Ints]:
    """The conditional prices as arrays, a row for each outcome that one names."""
    given: list[tuple[int, int]] = []
    extra: list[float] = []
    first_given = [0]
    for offer in catalogue.offers:
        for each in offer.conditions:
            outcomes = [-1] if each.outcomes is None else sorted(each.outcomes)
            given += [(each.offer, outcome) for outcome in outcomes]
            extra += [each.price - offer.price] * len(outcomes)
        first_given.append(len(given))
    rows = np.array(given, dtype=np.int64).reshape(-1, 2)
    return rows, np.array(extra, dtype=np.float64), np.array(first_given, dtype=np.int64)
