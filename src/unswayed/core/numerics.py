"""Small pieces of arithmetic that several rooms need: log-odds, and sums of costs against a budget."""

from __future__ import annotations

import math
from numbers import Integral

ROUNDING = 2.0**-46
"""Relative error that adding up costs in any order may leave: a hundred sums need far less."""


def logit(probability: float) -> float:
    """log(p / (1 - p)).

    >>> logit(0.5)
    0.0
    """
    return math.log(probability) - math.log1p(-probability)


def spendable(budget: float) -> float:
    """The budget with what rounding may add to a cost within it; the same for every unit of costs.

    >>> sum([0.1] * 3) <= 0.3, sum([0.1] * 3) <= spendable(0.3)
    (False, True)
    """
    return budget * (1 + ROUNDING)


def largest_budget_excluding(cost: float) -> float:
    """The largest budget that certainly does not pay `cost`.

    >>> spendable(largest_budget_excluding(1e9 + 0.7)) < 1e9 + 0.7
    True
    """
    return cost * (1 - 4 * ROUNDING) if cost > 0 else -1.0


def is_cheaper(cost: float, other: float) -> bool:
    """Whether a cost is lower by more than rounding."""
    return cost < other * (1 - ROUNDING)


def is_whole(number: object) -> bool:
    """Whether something is a whole number, and no truth value.

    >>> is_whole(3), is_whole(1.5), is_whole(True)
    (True, False, False)
    """
    return isinstance(number, Integral) and not isinstance(number, bool)


def format_distinct(value: float, expected: float) -> str:
    """A number with as many digits as it takes to see that it is not the one expected.

    >>> format_distinct(1.1, 1.0), format_distinct(1.0000000052, 1.0)
    ('1.1', '1.00000001')
    """
    texts = [f"{value:.{digits}g}" for digits in (6, 9, 12, 17)]
    return next((text for text in texts if float(text) != expected), texts[-1])
