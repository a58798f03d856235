"""How much memory and time an answer may take, checked before and while it is computed.

An answer is made of many parts, and each part is given `Limits` of its own. So that the parts together keep
to the time of the whole, a verb puts one clock over all of them: within `one_clock(limits)` no deadline lies
later than that of `limits`, and `check_clock` raises once it is over. `until` sets a moment for a part that
others still come after.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from unswayed.core.arguments import check_named
from unswayed.core.errors import LimitError, QueryError, expect, expect_number

P = ParamSpec("P")
R = TypeVar("R")

GIBIBYTE = 2**30

_clock: Final[ContextVar[float]] = ContextVar("clock", default=math.inf)
_grace: Final[ContextVar[list[float] | None]] = ContextVar("grace", default=None)
"""Seconds of grace that the whole answer still has; None where no clock was put over it."""
GRACE: Final = 0.3
"""Seconds of grace that an answer has, all its parts together."""


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
        """The moment of `time.monotonic()` at which the time is over; infinity without a limit.

        Never later than the clock that was put over the whole answer.
        """
        own = math.inf if self.max_seconds is None else time.monotonic() + self.max_seconds
        return min(own, _clock.get())


DEFAULT_LIMITS = Limits()


@contextmanager
def until(moment: float) -> Iterator[None]:
    """Within this context the time is over at a moment of `time.monotonic()`, or earlier if it was before."""
    token = _clock.set(min(moment, _clock.get()))
    try:
        yield
    finally:
        _clock.reset(token)


@contextmanager
def one_clock(limits: Limits) -> Iterator[None]:
    """Within this context everything shares the time of `limits`, whatever limits its parts are given."""
    token = _grace.set(_grace.get() or [GRACE])
    try:
        with until(limits.deadline()):
            yield
    finally:
        _grace.reset(token)


@contextmanager
def grace() -> Iterator[None]:
    """Within this context `GRACE` seconds are left at least: for the least that makes an answer at all.

    What one part of an answer takes of it after its time, the parts after it have no more.
    """
    left, ends = _grace.get() or [GRACE], max(_clock.get(), time.monotonic())
    token = _clock.set(max(_clock.get(), time.monotonic() + left[0]))
    try:
        yield
    finally:
        _clock.reset(token)
        left[0] = max(left[0] - max(time.monotonic() - ends, 0.0), 0.0)


@contextmanager
def unhurried() -> Iterator[None]:
    """Within this context no clock runs: for what is whole or nothing, and takes the time it needs."""
    token = _clock.set(math.inf)
    try:
        yield
    finally:
        _clock.reset(token)


def checked(verb: Callable[P, R]) -> Callable[P, R]:
    """The verb behind a door: keyword arguments that are not what their names ask for raise `QueryError`."""

    @wraps(verb)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        _limits_in(kwargs)
        return verb(*args, **kwargs)

    return guarded


def keep_time(verb: Callable[P, R]) -> Callable[P, R]:
    """The verb behind the same door, with one clock over all it does: the time of its `limits`."""

    @wraps(verb)
    def timed(*args: P.args, **kwargs: P.kwargs) -> R:
        with one_clock(_limits_in(kwargs)):
            return verb(*args, **kwargs)

    return timed


def _limits_in(arguments: Mapping[str, object]) -> Limits:
    check_named(arguments)
    limits = arguments.get("limits", DEFAULT_LIMITS)
    expect(limits, Limits, "limits")
    assert isinstance(limits, Limits)
    return limits


def seconds_left() -> float:
    """How long the clock over this answer still runs, in seconds; infinity where none was put over it."""
    return _clock.get() - time.monotonic()


def moment_at(share: float) -> float:
    """The moment at which a share of the time left on the clock is over; infinity without a clock."""
    left = seconds_left()
    return math.inf if math.isinf(left) else time.monotonic() + share * left


def check_clock(what: str) -> None:
    """Raise `LimitError` once the clock over this answer has run out while doing `what`."""
    if time.monotonic() > _clock.get():
        raise LimitError(f"the time was over before {what} was done; raise Limits(max_seconds=...)")


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
