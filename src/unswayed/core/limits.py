"""The limits that a person gives on memory and time; `anytime.py` keeps to them."""

from __future__ import annotations

from dataclasses import dataclass

from unswayed.core.errors import QueryError, expect_number

GIBIBYTE = 2**30


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one answer; `None` seconds means no limit on time.

    >>> Limits(max_seconds=10.0).max_bytes == 4 * GIBIBYTE
    True
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
