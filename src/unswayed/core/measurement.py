"""A number with what is known about it: bounds, how certain, who computed it, how long it took."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import SupportsFloat

from unswayed.core.errors import ModelError

POSTERIORS = "inference"
"""The engine of what posteriors tell by themselves."""


class Certainty(Enum):
    """What `low` and `high` of a measurement promise."""

    EXACT = "exact"
    """The value is right to floating-point accuracy; low = value = high."""
    BOUND = "bound"
    """The true value lies between low and high for certain."""
    ESTIMATE = "estimate"
    """The true value lies between low and high with the stated confidence."""


@dataclass(frozen=True, slots=True)
class Bid:
    """What one engine would need for a question, or why it cannot answer it."""

    engine: str
    """The engine's name."""
    seconds: float | None
    """Predicted time; None when it cannot answer."""
    n_bytes: float | None
    """Predicted memory; None when it cannot answer."""
    note: str = ""
    """Why not, or what makes it dear."""


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """One answered question; compares, rounds, formats and calculates like the number it holds.

    >>> sdp = Measurement.exact(0.92, engine="dense")
    >>> sdp
    Measurement(0.92, exact, engine='dense')
    >>> sdp > 0.9, round(sdp, 1), f"{sdp:.0%}", 1 - sdp < 0.1
    (True, 0.9, '92%', True)
    """

    value: float
    """The answer; for a bound the middle of the interval."""
    low: float
    """Lower end of the interval that holds the true value."""
    high: float
    """Upper end of it."""
    certainty: Certainty
    """What the interval promises."""
    engine: str
    """Name of the engine that computed it."""
    seconds: float = 0.0
    """How long it took, preparation included."""
    confidence: float = 1.0
    """Probability that the interval holds the true value: below 1 for estimates only."""
    bids: tuple[Bid, ...] = ()
    """What every engine would have needed; empty when the engine was given."""
    thresholds: tuple[float, float] | None = None
    """For achievable agreement: thresholds above the first, up to the second, achieve it."""
    other_thresholds: tuple[tuple[float, float], ...] = ()
    """Further intervals of thresholds that achieve it too, ascending, none adjacent to another."""

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ModelError(f"a measurement of {self.value} outside its bounds {self.low}, {self.high}")

    def __repr__(self) -> str:
        if self.certainty is Certainty.EXACT:
            return f"Measurement({self.value:.6g}, exact, engine={self.engine!r})"
        return (
            f"Measurement({self.value:.6g}, {self.certainty.value} [{self.low:.6g}, {self.high:.6g}], "
            f"engine={self.engine!r})"
        )

    def __float__(self) -> float:
        return self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        number = _number(other)
        return NotImplemented if number is None else self.value == number

    def __lt__(self, other: Number) -> bool:
        return self.value < float(other)

    def __le__(self, other: Number) -> bool:
        return self.value <= float(other)

    def __gt__(self, other: Number) -> bool:
        return self.value > float(other)

    def __ge__(self, other: Number) -> bool:
        return self.value >= float(other)

    def __add__(self, other: Number) -> float:
        return self.value + float(other)

    def __radd__(self, other: float) -> float:
        return other + self.value

    def __sub__(self, other: Number) -> float:
        return self.value - float(other)

    def __rsub__(self, other: float) -> float:
        return other - self.value

    def __mul__(self, other: Number) -> float:
        return self.value * float(other)

    def __rmul__(self, other: float) -> float:
        return other * self.value

    def __truediv__(self, other: Number) -> float:
        return self.value / float(other)

    def __rtruediv__(self, other: float) -> float:
        return other / self.value

    def __neg__(self) -> float:
        return -self.value

    def __abs__(self) -> float:
        return abs(self.value)

    def __round__(self, n_digits: int | None = None) -> float:
        return round(self.value, n_digits)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else repr(self)

    def _repr_html_(self) -> str:
        """What a notebook shows; engines' names are ours, so there is nothing to escape."""
        interval = "" if self.low == self.high else f", between {self.low:.6g} and {self.high:.6g}"
        if self.confidence < 1.0:
            interval += f" with confidence {self.confidence:.4g}"
        return f"<b>{self.value:.4f}</b> ({self.certainty.value}{interval}; engine {self.engine})"

    @staticmethod
    def exact(value: float, *, engine: str, seconds: float = 0.0) -> Measurement:
        """A measurement whose value is right to floating-point accuracy."""
        return Measurement(value, value, value, Certainty.EXACT, engine, seconds)


Number = float | Measurement
"""What a measurement compares and calculates with."""


def _number(other: object) -> float | None:
    """The number in `other`; None where there is none."""
    return float(other) if isinstance(other, SupportsFloat) else None
