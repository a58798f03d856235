"""From numbers to places: a linear scale, and round numbers to mark on it."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from `low` to `high` on a line from `start` to `end`.

    >>> Scale(0, 10, 100, 200).at(2.5)
    125.0
    """

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a number."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def ticks(low: float, high: float, count: int = 5, *, whole: bool = False) -> list[float]:
    """About `count` round numbers between two.

    >>> ticks(0.87, 1.0, 4), ticks(0, 15, 5, whole=True)
    ([0.9, 0.95, 1.0], [0.0, 5.0, 10.0, 15.0])
    """
    raw = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(nice * power for nice in (1, 2, 5, 10) if nice * power >= raw * 0.99)
    if whole:
        step = max(1.0, float(round(step)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]
