"""The values of partial observations, from the last test back to the first: one pass in ascending order.

A state says of each test how it came out, or that it was not done. It is a number in mixed radix: test t
has the digit x < m_t for outcome x and m_t for "not done", the first test slowest. Doing a test lowers a
digit, so in ascending order every state comes after all that its tests lead to: one pass is enough.

Values are weighted with the state's mass. With price c and mass p, a test leads to

    first(s)   =  c p [first counts costs]  +  sum_x first(s_x)     (in the worst case: c + max_x first(s_x))
    second(s)  =  c p  +  sum_x second(s_x)

and stopping to `loss`, 0. The least `first` is taken, of equal ones the least `second`, then the first test.

`fill_values` is plain Python, to be read and tested; `compiled_fill_values` is the same, compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

SLACK = 1e-12
"""Values closer than this share of the mass are rounding apart, and equal."""
STOP = -1
"""What is done in a state where no test is."""

UNITS_PER_CHOICE = 0.03
"""Measured for a state and a test, where a state is eight tests more: 14 to 16 tests of two outcomes."""


class Rules(NamedTuple):
    """What may be done, for how much, and what counts."""

    radices: Ints  # (tests,)
    """Number of outcomes of each test."""
    strides: Ints  # (tests,)
    """By how much a state falls when the digit of a test falls by one."""
    prices: Floats  # (sets of tests done, tests)
    """What each test costs when a set of tests is done; infinite where it may not be done."""
    reached: Bools  # (sets of tests done,)
    """Which sets can be done at all."""
    may_stop: Bools  # (sets of tests done,)
    """After which sets it is allowed to stop."""
    forced: bool
    """Whether to go on until the loss is 0."""
    counts_cost: bool
    """Whether the first value includes what tests cost."""
    worst: bool
    """Whether the first value is that of the worst case."""
    given: Ints  # (conditions, 2)
    """Conditions of other prices, test by test: the test that must be done, and its outcome or -1."""
    extra: Floats  # (conditions,)
    """What each condition adds to the price."""
    first_given: Ints  # (tests + 1,)
    """Where the conditions of each test begin."""


class Values(NamedTuple):
    """The values of all states; `second` is empty where the first value decides alone."""

    first: Floats  # (states,)
    second: Floats  # (states,) or (0,)


class Block(NamedTuple):
    """States that follow each other."""

    start: int
    """The first of them."""
    mass: Floats
    """The probability of each."""
    loss: Floats
    """What it loses to stop there, weighted with the mass; 0 where nothing better can come."""
    agreement: Floats
    """Probability of each, and that its decision is the full one."""


class FixedSets(NamedTuple):
    """What comes of buying a fixed set of tests, whatever they tell: sums over the states of each set."""

    loss: Floats  # (sets of tests done,)
    agreement: Floats  # (sets of tests done,)


def fill_values(rules: Rules, values: Values, block: Block, fixed: FixedSets) -> None:
    """Value the states of a block, which all come after those that are valued already."""
    digits = np.empty(len(rules.radices), dtype=np.int64)
    done = digits_of(rules, block.start, digits)
    for i in range(len(block.mass)):
        if i > 0:
            done = next_state(rules, digits, done)
        state = block.start + i
        values.first[state] = 0.0
        if len(values.second):
            values.second[state] = 0.0
        if block.mass[i] <= 0.0 or not rules.reached[done]:
            continue
        fixed.loss[done] += block.loss[i]
        fixed.agreement[done] += block.agreement[i]
        if block.loss[i] > 0.0 or not rules.may_stop[done]:
            first, second, _ = choose_test(rules, values, (state, done), digits, block.mass[i], block.loss[i])
            values.first[state] = first
            if len(values.second):
                values.second[state] = second


def choose_test(
    rules: Rules, values: Values, where: tuple[int, int], digits: Ints, mass: float, loss: float
) -> tuple[float, float, int]:
    """The two values of a state and the test to do, or `STOP`; `where` holds its number and what is done."""
    state, done = where
    allowed = rules.may_stop[done] and (loss <= 0.0 or not rules.forced)
    best_first, best_second, best = (loss if allowed else np.inf), 0.0, STOP
    for test in range(len(rules.radices)):
        if digits[test] < rules.radices[test]:
            continue
        price = rules.prices[done, test]
        if price == np.inf:
            continue
        price += extra_price(rules, digits, test)
        first, second = _value_after(rules, values, state, test)
        if rules.worst:
            first += price
        elif rules.counts_cost:
            first += price * mass
        second += price * mass
        if first == np.inf:
            continue
        slack = SLACK * (mass + abs(first))
        if first < best_first - slack or (
            len(values.second) > 0 and first <= best_first + slack and second < best_second - SLACK * second
        ):
            best_first, best_second, best = min(first, best_first), second, test
    return best_first, best_second, best


def _value_after(rules: Rules, values: Values, state: int, test: int) -> tuple[float, float]:
    """The values of the states that a test leads to: their sums, or the highest in the worst case."""
    first = second = 0.0
    child = state
    for _ in range(rules.radices[test]):
        child -= rules.strides[test]
        if rules.worst:
            first = max(first, values.first[child])
        else:
            first += values.first[child]
        if len(values.second):
            second += values.second[child]
    return first, second


def extra_price(rules: Rules, digits: Ints, test: int) -> float:
    """What the first condition that holds adds to the price of a test."""
    for k in range(rules.first_given[test], rules.first_given[test + 1]):
        other, outcome = rules.given[k, 0], rules.given[k, 1]
        digit = digits[other]
        if digit < rules.radices[other] and (outcome < 0 or digit == outcome):
            extra: float = rules.extra[k]
            return extra
    return 0.0


def digits_of(rules: Rules, state: int, digits: Ints) -> int:
    """Write the digits of a state; the set of tests done, as bits."""
    done = 0
    for test in range(len(digits)):
        digits[test] = (state // rules.strides[test]) % (rules.radices[test] + 1)
        if digits[test] < rules.radices[test]:
            done |= 1 << test
    return done


def next_state(rules: Rules, digits: Ints, done: int) -> int:
    """Go to the next state, the last test fastest; the set of tests done."""
    test = len(digits) - 1
    while digits[test] == rules.radices[test]:
        digits[test] = 0
        done |= 1 << test
        test -= 1
    digits[test] += 1
    if digits[test] == rules.radices[test]:
        done &= ~(1 << test)
    return done


PARTS = (choose_test, _value_after, extra_price, digits_of, next_state)


def _units(rules: Rules, values: Values, block: Block, fixed: FixedSets) -> float:
    return UNITS_PER_CHOICE * len(block.mass) * (8 + len(rules.radices))


compiled_fill_values = Kernel(fill_values, PARTS, price=_units)
