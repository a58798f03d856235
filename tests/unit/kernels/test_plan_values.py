"""The compiled pass over partial observations equals the plain one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from plan_cases import plan_problems
from unswayed.decisions.binding import bind_purchase
from unswayed.kernels.plan_leaves import compiled_fill_leaf_values, fill_leaf_values
from unswayed.kernels.plan_values import Block, FixedSets, Values, compiled_fill_values, fill_values
from unswayed.plans.goals import Goal, PlanObjective, SameDecisionLevel, judge
from unswayed.plans.ground import blocks, lay_ground
from unswayed.plans.programme import rules_of


def values_by(fill, ground, goal, block_size):
    rules = rules_of(ground, goal)
    values = Values(np.full(ground.n_states, np.nan), np.full(ground.n_states, np.nan))
    fixed = FixedSets(np.zeros(len(rules.reached)), np.zeros(len(rules.reached)))
    start = 0
    for columns in blocks(ground, block_size):
        standing = judge(ground.problem, goal, ground.known(columns))
        fill(rules, values, Block(start, standing.mass, standing.loss, standing.agreement), fixed)
        start += columns.shape[1]
    assert start == ground.n_states
    return np.concatenate([*values, *fixed])


@settings(max_examples=15)
@given(
    plan_problems(max_features=4),
    st.sampled_from([PlanObjective.EXPECTED_COST, PlanObjective.WORST_COST, PlanObjective.SAME_DECISION]),
    st.sampled_from([None, 2]),
)
def test_compiled_equals_plain(case, objective, depth):
    problem, purchase, level = case
    ground = lay_ground(problem, bind_purchase(purchase, problem))
    goal = Goal(objective, SameDecisionLevel(level), max_depth=depth)
    if purchase.mandatory and depth is not None:
        goal = Goal(objective, SameDecisionLevel(level))
    plain = values_by(fill_values, ground, goal, 3**10)
    assert not np.isnan(plain).any()
    assert values_by(compiled_fill_values.compiled, ground, goal, 3**10) == pytest.approx(plain, abs=1e-14)
    assert values_by(fill_values, ground, goal, 4) == pytest.approx(plain, abs=1e-13), "blocks do not matter"


@settings(max_examples=10)
@given(plan_problems(max_features=4), st.integers(1, 5))
def test_compiled_equals_plain_with_leaves(case, n_leaves):
    problem, purchase, level = case
    ground = lay_ground(problem, bind_purchase(purchase, problem))
    goal = Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(level), max_leaves=n_leaves)
    rules = rules_of(ground, goal)
    found = []
    for fill in (fill_leaf_values, compiled_fill_leaf_values.compiled):
        values = Values(*(np.full(ground.n_states * n_leaves, np.nan) for _ in range(2)))
        start = 0
        for columns in blocks(ground, 3**10):
            standing = judge(ground.problem, goal, ground.known(columns))
            fill(rules, values, Block(start, standing.mass, standing.loss, standing.agreement), n_leaves)
            start += columns.shape[1]
        found.append(np.concatenate(values))
    assert not np.isnan(found[0]).any()
    assert found[1] == pytest.approx(found[0], abs=1e-14)
