"""The best plan with at most so many leaves: dynamic programming over observations and numbers of leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from unswayed.core.anytime import check_bytes, tick
from unswayed.core.errors import QueryError
from unswayed.kernels.plan_leaves import IMPOSSIBLE, compiled_fill_leaf_values
from unswayed.kernels.plan_values import STOP, Block, Rules, Values
from unswayed.plans.goals import Goal, PlanObjective, judge
from unswayed.plans.ground import Ground, blocks
from unswayed.plans.moves import Situation, may_stop, moves_in
from unswayed.plans.parts import LARGEST_BLOCK
from unswayed.plans.programme import price_programme, rules_of
from unswayed.plans.terrain import State

UNITS_PER_SHARE = 2e-3
"""To share leaves among the outcomes of a test, for each pair of numbers of leaves; measured, compiled."""
LONGEST_BLOCK = 2e5
"""Units between two looks at the budget."""


@dataclass(frozen=True, slots=True, eq=False)
class LeafLimitedProgramme:
    """The value of every partial observation, for every number of leaves."""

    ground: Ground
    goal: Goal
    rules: Rules = field(repr=False)
    values: Values = field(repr=False)
    n_leaves: int
    shares: dict[State, int] = field(default_factory=dict, repr=False)
    """How many leaves each state may have that the plan comes to; filled as it is written down."""

    def choose(self, where: Situation) -> int:
        """The test to do, or `STOP`; shares the state's leaves among the test's outcomes."""
        state, mass, loss = where.state, where.mass, where.loss
        own = self.shares.get(state, self.n_leaves)
        catalogue = self.ground.catalogue
        best, held = STOP, ((loss, 0.0) if may_stop(catalogue, state) else (math.inf, 0.0))
        shares: dict[State, int] = {}
        if loss > 0.0 or not may_stop(catalogue, state):
            for test, price in moves_in(catalogue, self.goal, state, where.spent):
                value, given = self._split(state, test, own)
                paid = price * mass
                value = (value[0] + paid if self.rules.counts_cost else value[0], value[1] + paid)
                if _is_less(value, held, mass):
                    best, held, shares = test, value, given
        self.shares.update(shares)
        return best

    def _split(self, state: State, test: int, own: int) -> tuple[tuple[float, float], dict[State, int]]:
        """The least value of a test's outcomes with so many leaves, and how these are shared."""
        after = [(*state[:test], x, *state[test + 1 :]) for x in range(self.ground.sizes[test])]
        rows = {each: self._row(each) for each in after}
        possible = [each for each in after if rows[each][0][0] != IMPOSSIBLE]
        # The best sums with so many leaves for the outcomes so far, and how they came about.
        best: dict[int, tuple[tuple[float, float], tuple[int, ...]]] = {0: ((0.0, 0.0), ())}
        for each in possible:
            longer: dict[int, tuple[tuple[float, float], tuple[int, ...]]] = {}
            for (used, (value, given)), more in product(best.items(), range(1, own + 1)):
                if used + more <= own:
                    first, second = rows[each][0][more - 1], rows[each][1][more - 1]
                    sums = (value[0] + float(first), value[1] + float(second))
                    if used + more not in longer or _is_less(sums, longer[used + more][0], 0.0):
                        longer[used + more] = (sums, (*given, more))
            best = longer
        if not best:
            return (math.inf, 0.0), {}
        value, given = best[max(best)]
        return value, dict(zip(possible, given, strict=True))

    def _row(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        digits = [size if x < 0 else x for x, size in zip(state, self.ground.sizes, strict=True)]
        start = int(np.array(digits, dtype=np.int64) @ self.rules.strides) * self.n_leaves
        return self.values.first[start : start + self.n_leaves], self.values.second[
            start : start + self.n_leaves
        ]


def run_leaf_limited(ground: Ground, goal: Goal, n_leaves: int) -> LeafLimitedProgramme:
    """Value all partial observations for all numbers of leaves; `LimitError` beyond the limits."""
    if goal.objective is PlanObjective.WORST_COST:
        raise QueryError(
            "a plan of few leaves cannot be safe on every path; leave out the worst cost or the leaves"
        )
    if math.isfinite(goal.budget) and ground.catalogue.has_conditions:
        raise QueryError(
            "prices that depend on what was done before go with a budget or with few leaves, not with both"
        )
    price = price_programme(ground.sizes, len(ground.masses))
    check_bytes(price.n_bytes * n_leaves, f"a plan with at most {n_leaves} leaves")
    rules = rules_of(ground, goal)._replace(
        forced=False, counts_cost=goal.objective is PlanObjective.NET_UTILITY
    )
    n_values = ground.n_states * n_leaves
    values = Values(np.empty(n_values), np.empty(n_values))
    units = UNITS_PER_SHARE * (1 + len(ground.sizes)) * n_leaves**2
    start = 0
    for columns in blocks(ground, max(1, int(min(LARGEST_BLOCK, LONGEST_BLOCK / units)))):
        tick(units * columns.shape[1], f"a plan with at most {n_leaves} leaves")
        standing = judge(ground.problem, goal, ground.known(columns))
        block = Block(start, standing.mass, standing.loss, standing.agreement)
        compiled_fill_leaf_values.run(units * columns.shape[1], rules, values, block, n_leaves)
        start += columns.shape[1]
    if not math.isfinite(values.first[-1]):
        raise QueryError(f"the mandatory tests need more than {n_leaves} leaves; allow for them")
    return LeafLimitedProgramme(ground, goal, rules, values, n_leaves)


def _is_less(one: tuple[float, float], other: tuple[float, float], mass: float) -> bool:
    """Whether a value is less than another by more than rounding."""
    if one[0] == math.inf:
        return False
    slack = 1e-12 * (mass + abs(one[0]))
    return one[0] < other[0] - slack or (one[0] <= other[0] + slack and one[1] < other[1] - 1e-12 * one[1])
