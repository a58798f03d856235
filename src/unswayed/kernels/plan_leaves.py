"""The values of partial observations when the plan may have so many leaves: a plan that fits on a page.

As in `plan_values.py`, with one value for each number of leaves j = 1, 2, ... that the plan from a state on
may have. A test shares its leaves among its outcomes; the best share is found outcome by outcome:

    best(s, j)  =  min of stopping and, over tests, c p + min over j_1 + ... + j_m = j of sum_x best(s_x, j_x)

An outcome without mass needs no leaf. `fill_leaf_values` is plain Python; `compiled_fill_leaf_values` is the
same, compiled.
"""

from __future__ import annotations

import numpy as np

from unswayed.kernels.jit import Kernel
from unswayed.kernels.plan_values import (
    SLACK,
    Block,
    Floats,
    Rules,
    Values,
    digits_of,
    extra_price,
    next_state,
)

IMPOSSIBLE = -1.0
"""First value of a state without mass."""


def fill_leaf_values(rules: Rules, values: Values, block: Block, n_leaves: int) -> None:
    """Value the states of a block for 1 to `n_leaves` leaves; `values` has a row of so many a state."""
    digits = np.empty(len(rules.radices), dtype=np.int64)
    shared = np.empty((4, n_leaves + 1))
    done = digits_of(rules, block.start, digits)
    for i in range(len(block.mass)):
        if i > 0:
            done = next_state(rules, digits, done)
        row = (block.start + i) * n_leaves
        first, second = values.first[row : row + n_leaves], values.second[row : row + n_leaves]
        first[:] = IMPOSSIBLE
        second[:] = 0.0
        if block.mass[i] <= 0.0 or not rules.reached[done]:
            continue
        first[:] = block.loss[i] if rules.may_stop[done] else np.inf
        if block.loss[i] <= 0.0 and rules.may_stop[done]:
            continue
        for test in range(len(rules.radices)):
            price = rules.prices[done, test]
            if digits[test] == rules.radices[test] and price < np.inf:
                price = (price + extra_price(rules, digits, test)) * block.mass[i]
                share_leaves(rules, values, block.start + i, test, shared)
                _take_better(shared, price, rules.counts_cost, first, second)


def share_leaves(rules: Rules, values: Values, state: int, test: int, shared: Floats) -> None:
    """The best sums over a test's outcomes for 0, 1, ... leaves, in the first two rows of `shared`."""
    n_leaves = shared.shape[1] - 1
    shared[0, :] = np.inf
    shared[1, :] = 0.0
    shared[0, 0] = 0.0
    child = state
    for _ in range(rules.radices[test]):
        child -= rules.strides[test]
        row = child * n_leaves
        if values.first[row] == IMPOSSIBLE:
            continue
        shared[2, :] = np.inf
        shared[3, :] = 0.0
        for total in range(1, n_leaves + 1):
            for own in range(1, total + 1):
                first = shared[0, total - own] + values.first[row + own - 1]
                second = shared[1, total - own] + values.second[row + own - 1]
                if _is_better(first, second, shared[2, total], shared[3, total]):
                    shared[2, total], shared[3, total] = first, second
        shared[0, :], shared[1, :] = shared[2, :], shared[3, :]


def _take_better(shared: Floats, price: float, counts_cost: bool, first: Floats, second: Floats) -> None:
    """Take a test for every number of leaves for which it is better than what is known."""
    for own in range(len(first)):
        lost = shared[0, own + 1] + (price if counts_cost else 0.0)
        cost = shared[1, own + 1] + price
        if _is_better(lost, cost, first[own], second[own]):
            first[own], second[own] = lost, cost


def _is_better(first: float, second: float, held_first: float, held_second: float) -> bool:
    """Whether a pair of values is less than another by more than rounding."""
    if first == np.inf:
        return False
    slack = SLACK * first
    return first < held_first - slack or (
        first <= held_first + slack and second < held_second - SLACK * second
    )


compiled_fill_leaf_values = Kernel(
    fill_leaf_values, (share_leaves, _take_better, _is_better, digits_of, extra_price, next_state)
)
