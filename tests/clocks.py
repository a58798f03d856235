"""Ends put in the place of the machine's: a budget spent at a tick, a clock that runs out or runs fast.

The only file of the tests that knows how time and work are told.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from unswayed.core.anytime import Budget, BudgetSpent, stoppable

BEYOND = 1e9
"""Seconds beyond every limit."""


@dataclass(slots=True)
class Looks:
    """How often the time was looked at."""

    count: int = 0


@contextmanager
def time_running_out(at: float = math.inf, *, stride: float = 1e-3) -> Iterator[Looks]:
    """Within this context the time is over for good at the look with this number, counted from 1.

    Until then `stride` seconds pass from look to look, on every machine: what happens depends on these two
    numbers alone.
    """
    looks, began = Looks(), time.monotonic()

    def tell() -> float:
        looks.count += 1
        return began + stride * looks.count + (BEYOND if looks.count >= at else 0.0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", tell)
        yield looks


@contextmanager
def hurried_clock(factor: float) -> Iterator[None]:
    """Within this context the clock runs `factor` times as fast."""
    began, told = time.monotonic(), time.monotonic
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: began + factor * (told() - began))
        yield


@contextmanager
def budget_spent_at(at: float) -> Iterator[Looks]:
    """Within this context the whole budget of a verb is spent for good at the tick with this number.

    Whatever is made in a reserve is not cut. The verb must have been given limits: without, nobody counts.
    """
    looks = Looks()
    with stoppable() as probe:
        root = probe.outer

    def cut(budget: Budget, units: float, what: str) -> None:
        chain = [budget]
        while chain[-1].outer is not None:
            chain.append(chain[-1].outer)
        if chain[-1] is root:  # else a reserve
            looks.count += 1
            if looks.count >= at:
                raise BudgetSpent(chain[-2], what)
        for each in reversed(chain):  # no clock is looked at
            each.units -= units
            if each.units < 0:
                raise BudgetSpent(each, what)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Budget, "spend", cut)
        yield looks
