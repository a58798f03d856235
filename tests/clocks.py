"""Clocks put in the place of the machine's: one that runs out at a chosen look, and one that runs fast.

The only file of the tests that knows how the time is told; whoever changes that changes these two functions.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

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
