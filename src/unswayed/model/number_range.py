"""Conditions on a number, as guidelines write them: `>= 75`, `< 40`, `>= 65 and < 75`, `= 3`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from unswayed.core.errors import ModelError
from unswayed.model.data.tables import text_of

_PART = re.compile(r"(?P<sign>>=|<=|=|>|<)\s*(?P<number>[-+]?\d{1,15}(?:\.\d{1,15})?)\s*$")
_SIGNS = {"≥": ">=", "≤": "<=", "==": "="}
MAX_CONDITION = 200
"""Most characters of a condition."""


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The numbers between two ends.

    >>> old = parse_range(">= 65 and < 75")
    >>> 65 in old, 74.9 in old, 75 in old
    (True, True, False)
    """

    low: float = -math.inf
    """The lower end."""
    high: float = math.inf
    """The upper end."""
    holds_low: bool = True
    """Whether the lower end belongs to it."""
    holds_high: bool = True
    """Whether the upper end belongs to it."""

    def __post_init__(self) -> None:
        is_point = self.low == self.high and self.holds_low and self.holds_high
        if not (self.low < self.high or is_point):
            raise ModelError(f"no number is {self}; turn the ends round")

    def __contains__(self, number: float) -> bool:
        above = number >= self.low if self.holds_low else number > self.low
        below = number <= self.high if self.holds_high else number < self.high
        return above and below

    def __str__(self) -> str:
        if self.low == self.high:
            return f"= {text_of(self.low)}"
        parts = []
        if self.low > -math.inf:
            parts.append(f"{'>=' if self.holds_low else '>'} {text_of(self.low)}")
        if self.high < math.inf:
            parts.append(f"{'<=' if self.holds_high else '<'} {text_of(self.high)}")
        return " and ".join(parts)

    def is_below(self, other: NumberRange) -> bool:
        """Whether every number here is less than every number of the other."""
        return self.high < other.low or (self.high == other.low and not (self.holds_high and other.holds_low))


def parse_range(text: str, name: str = "") -> NumberRange:
    """The numbers that meet a condition, which may begin with the name of what it is about.

    >>> str(parse_range("age >= 75", "age")), str(parse_range("< 3.5"))
    ('>= 75', '< 3.5')
    """
    low, high, holds_low, holds_high = -math.inf, math.inf, True, True
    words = text[: MAX_CONDITION + 1]
    for sign, plain in _SIGNS.items():
        words = words.replace(sign, plain)
    for part in re.split(r"\s+and\s+|&", words):
        stripped = part.strip()
        if name and stripped.startswith(name):
            stripped = stripped[len(name) :].strip()
        found = _PART.match(stripped)
        if found is None or len(text) > MAX_CONDITION:
            raise ModelError(
                f"the condition {text[:60]!r} cannot be read; write it like '>= 75' or '>= 65 and < 75'"
            )
        number, sign = float(found["number"]), found["sign"]
        if sign in (">=", ">", "="):
            low, holds_low = number, sign != ">"
        if sign in ("<=", "<", "="):
            high, holds_high = number, sign != "<"
    return NumberRange(low, high, holds_low, holds_high)
