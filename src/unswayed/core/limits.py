"""How much memory and time an answer may take, checked before and while it is computed."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from unswayed.core.errors import LimitError, QueryError, expect_number

GIBIBYTE = 2**30


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one answer; `None` seconds means no limit on time.

    >>> Limits(max_bytes=1000).check_bytes(8e9, "a table over 30 variables")
    Traceback (most recent call last):
    ...
    unswayed.core.errors.LimitError: a table over 30 variables needs about 8 GB, over the limit of \
1 kB; ask for fewer variables at once, add evidence, or raise Limits(max_bytes=...)
    """

    max_bytes: int = 4 * GIBIBYTE
    """Largest amount of memory that one answer may plan to use."""
    max_seconds: float | None = None
    """Longest time that one answer may take."""

    def __post_init__(self) -> None:
        expect_number(self.max_bytes, "max_bytes")
        expect_number(1.0 if self.max_seconds is None else self.max_seconds, "max_seconds")
        if not self.max_bytes > 0:
            raise QueryError(f"max_bytes must be positive, not {self.max_bytes!r}")
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise QueryError(f"max_seconds must be positive or None, not {self.max_seconds!r}")

    def check_bytes(self, predicted: float, what: str) -> None:
        """Raise `LimitError` when `what` is predicted to need more memory than allowed."""
        if predicted > self.max_bytes:
            raise LimitError(
                f"{what} needs about {readable_bytes(predicted)}, over the limit of "
                f"{readable_bytes(self.max_bytes)}; ask for fewer variables at once, add evidence, "
                "or raise Limits(max_bytes=...)"
            )

    def check_seconds(self, predicted: float, what: str) -> None:
        """Raise `LimitError` when `what` is predicted to take longer than allowed."""
        if self.max_seconds is not None and predicted > self.max_seconds:
            raise LimitError(
                f"{what} takes about {predicted:.2g} s, over the limit of {self.max_seconds:.3g} s; raise "
                "Limits(max_seconds=...), or let another engine answer"
            )

    def deadline(self) -> float:
        """The moment of `time.monotonic()` at which the time is over; infinity without a limit."""
        return math.inf if self.max_seconds is None else time.monotonic() + self.max_seconds


DEFAULT_LIMITS = Limits()


def readable_bytes(count: float) -> str:
    """`count` bytes with a decimal unit.

    >>> readable_bytes(12_345_678)
    '12.3 MB'
    """
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} PB"
