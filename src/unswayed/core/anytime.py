"""When to stop: what an answer may still spend, asked before every step, and the loop that settles a stream.

An answer is made of parts, and all of them share one `Budget`: the bytes it may plan to use, the seconds that
a person gave, the work that it may do. The budget is ambient, so that mathematics takes no limits and looks
at no clock: a computation says what its next step takes (`tick`, in units of about a microsecond) and is
stopped there when nothing is left. A part has a budget of its own inside that of the whole (`portion`).

A long computation is a stream of states, each better than the one before. `settle` follows it to its end, to
a state that is good enough, or until the budget is spent, and gives the last state. What is made of that
state (a tree, a threshold, a certificate) is made once, on a `reserve` that a spent budget cannot touch.

Work is counted by default, so that a question has the same answer on every machine and under every load; a
clock ends an answer where a person gave seconds, and nowhere else.

`BudgetSpent` names the budget that is spent. Who opened that budget makes an answer or a `LimitError` of it;
nobody between may take a cut of the whole for a failure of a part.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Final, Generic, ParamSpec, TypeVar

from unswayed.core.errors import LimitError, expect
from unswayed.core.limits import DEFAULT_LIMITS, Limits, readable_bytes
from unswayed.core.signatures import spelled_out

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")

UNITS_PER_SECOND: Final = 1e6
"""A unit is about a microsecond on a machine of 2024; prices in seconds become units by this."""
RESERVE: Final = 0.5
"""Seconds, at least, for what is made of the last state of a stream."""
TELL_SECONDS: Final = 0.1
"""How long at least between two reports of progress."""


@dataclass(slots=True, eq=False)
class Budget:
    """What is left for an answer or a part of it."""

    max_bytes: int = DEFAULT_LIMITS.max_bytes
    """Largest amount of memory that one step may plan to use."""
    ends: float = math.inf
    """Moment of `time.monotonic()` at which the time is over."""
    units: float = math.inf
    """Work that may still be done."""
    outer: Budget | None = None
    """What this is a part of; what is spent here is spent there."""
    stopped: bool = False
    """Set from any thread by whoever wants the best so far at once."""
    given: float = math.inf
    """Seconds that a person gave for the whole answer, for advice."""

    def spend(self, units: float, what: str) -> None:
        """Take units off; `BudgetSpent` where that is more than is left, of the outermost budget first."""
        if self.outer is not None:
            self.outer.spend(units, what)
        self.units -= units
        if self.stopped or self.units < 0 or time.monotonic() > self.ends:
            raise BudgetSpent(self, what)

    def part(self, max_bytes: int, ends: float, units: float = math.inf) -> Budget:
        """A budget inside this one."""
        return Budget(max_bytes, ends, units, self, given=self.given)


class BudgetSpent(BaseException):
    """Nothing is left of a budget; whoever opened it decides what that means.

    Not an `Exception`: who handles the failure of a part must not take the end of the whole for it.
    """

    def __init__(self, budget: Budget, what: str) -> None:
        super().__init__(f"the time was over before {what} was done; raise Limits(max_seconds=...)")
        self.budget = budget


_budget: Final[ContextVar[Budget]] = ContextVar("budget", default=Budget())  # noqa: B039 - never spent


def tick(units: float = 0.0, what: str = "the answer") -> None:
    """Say what the next step takes, before it and never in the middle of a change; `what` is being done.

    A step that would outlast the time of its own part is not begun, and costs the other parts nothing.
    """
    if is_counted():
        budget = _budget.get()
        budget.spend(units, what)
        if time.monotonic() + units / UNITS_PER_SECOND > budget.ends:
            raise BudgetSpent(budget, what)


def is_counted() -> bool:
    """Whether anything bounds this answer: where nothing does, what a step takes need not be worked out."""
    budget = _budget.get()
    return budget.outer is not None or budget.ends < math.inf


def bytes_allowed() -> int:
    """How much memory the next step may plan to use."""
    return _budget.get().max_bytes


def check_bytes(predicted: float, what: str) -> None:
    """Raise `LimitError` when `what` is predicted to need more memory than allowed."""
    allowed = bytes_allowed()
    if predicted > allowed:
        raise LimitError(
            f"{what} needs about {readable_bytes(predicted)}, over the limit of {readable_bytes(allowed)}; "
            "ask for fewer variables at once, add evidence, or raise Limits(max_bytes=...)"
        )


def check_seconds(predicted: float, what: str) -> None:
    """Raise `LimitError` when `what` is predicted to take longer than there is time."""
    left, given = seconds_left(), seconds_given()
    if predicted > left:
        over = (
            f"over the limit of {given:.3g} s"
            if predicted > given
            else f"and {max(left, 0.0):.2g} s are left"
        )
        raise LimitError(
            f"{what} takes about {predicted:.2g} s, {over}; raise Limits(max_seconds=...), or let another "
            "engine answer"
        )


def seconds_left() -> float:
    """How long this answer may still take; infinity where nobody gave a limit on time."""
    return _budget.get().ends - time.monotonic()


def has_deadline() -> bool:
    """Whether somebody gave seconds: a part without an answer may then lack time alone."""
    return _budget.get().ends < math.inf


def seconds_given() -> float:
    """The seconds that a person gave for the whole answer; infinity where nobody did."""
    return _budget.get().given


def seconds_affordable(patience: float) -> float:
    """What a predicted time may come to: what is left of the seconds given, or `patience` where none were."""
    return min(patience if math.isinf(seconds_given()) else math.inf, seconds_left())


def units_left() -> float:
    """How much work may still be done: what is counted, or what the seconds left suffice for, about."""
    budget: Budget | None = _budget.get()
    least = max(seconds_left(), 0.0) * UNITS_PER_SECOND
    while budget is not None:
        least, budget = min(least, budget.units), budget.outer
    return max(least, 0.0)


@contextmanager
def _open(budget: Budget) -> Iterator[Budget]:
    token = _budget.set(budget)
    try:
        yield budget
    except BudgetSpent as spent:
        if spent.budget is budget:
            raise LimitError(str(spent)) from None
        raise
    finally:
        _budget.reset(token)


@contextmanager
def stoppable() -> Iterator[Budget]:
    """Within this context everything ends at its next `tick` once somebody sets `stopped` on the budget."""
    whole = _budget.get()
    token = _budget.set(budget := whole.part(whole.max_bytes, whole.ends))
    try:
        yield budget
    finally:
        _budget.reset(token)


@contextmanager
def portion(
    share: float = 1.0,
    *,
    seconds: float = math.inf,
    units: float = math.inf,
    effort: float = math.inf,
    max_bytes: int | None = None,
) -> Iterator[Budget]:
    """A part of what is left: at most a share of it, so many seconds, so many bytes.

    `units` bound the work where nobody gave seconds; `effort` does so in any case, and is told in seconds
    where a person gave some. What is cut here raises `LimitError` here; the whole goes on with its other
    parts. Never `yield` within this context: the budget would stay with the caller.
    """
    whole = _budget.get()
    now = time.monotonic()
    units = min(units, effort)
    if whole.ends < math.inf:
        seconds = min(seconds, effort / UNITS_PER_SECOND)
    ends = min(now + share * (whole.ends - now), now + seconds, whole.ends)
    allowed = whole.max_bytes if max_bytes is None else min(max_bytes, whole.max_bytes)
    counted = min(units, share * units_left()) if math.isinf(whole.ends) else math.inf
    with _open(whole.part(allowed, ends, counted)) as part:
        yield part


@contextmanager
def reserve(seconds: float = RESERVE) -> Iterator[Budget]:
    """For what is made once of the last state: so many seconds are left at least, whatever was spent."""
    whole = _budget.get()
    with _open(Budget(whole.max_bytes, max(whole.ends, time.monotonic() + seconds))) as budget:
        yield budget


@contextmanager
def limits(max_seconds: float | None = None, max_bytes: int | None = None) -> Iterator[Budget]:
    """Within this context no answer takes longer or plans to use more memory; `LimitError` where it would.

    >>> with limits(max_bytes=1000):
    ...     check_bytes(8e9, "a table over 30 variables")
    Traceback (most recent call last):
    ...
    unswayed.core.errors.LimitError: a table over 30 variables needs about 8 GB, over the limit of \
1 kB; ask for fewer variables at once, add evidence, or raise Limits(max_bytes=...)
    """
    with within(Limits(bytes_allowed() if max_bytes is None else max_bytes, max_seconds)) as budget:
        yield budget


@contextmanager
def within(given: Limits | None) -> Iterator[Budget]:
    """Within this context everything shares the time and memory of some limits; None changes nothing."""
    whole = _budget.get()
    if given is None:
        yield whole
        return
    seconds = math.inf if given.max_seconds is None else given.max_seconds
    part = whole.part(given.max_bytes, min(time.monotonic() + seconds, whole.ends))
    part.given = min(whole.given, seconds)
    with _open(part) as budget:
        yield budget


def bounded(verb: Callable[P, R]) -> Callable[P, R]:
    """The verb behind a door, with one budget over all it does: that of its `limits`.

    Keyword arguments that are not what their names ask for raise `QueryError`.
    """

    @wraps(verb)
    def timed(*args: P.args, **kwargs: P.kwargs) -> R:
        given = _limits_in(kwargs)
        if given is None:
            return verb(*args, **kwargs)
        with within(given):
            return verb(*args, **kwargs)

    timed.__signature__ = spelled_out(verb)  # type: ignore[attr-defined]
    return timed


def _limits_in(arguments: Mapping[str, object]) -> Limits | None:
    from unswayed.core.arguments import check_named  # which needs numpy, and the command line starts without

    check_named(arguments)
    given = arguments.get("limits")
    if "limits" in arguments:
        expect(given, Limits, "limits")
    return given if isinstance(given, Limits) else None


@dataclass(frozen=True, slots=True)
class Settled(Generic[S]):
    """What a stream came to."""

    last: S
    """Its last state."""
    cut: str = ""
    """Why it went no further, in words; empty where it came to its end or to a state that is good enough."""
    interrupted: bool = False
    """Whether Ctrl-C ended it."""


def settle(
    states: Iterator[S],
    *,
    share: float = 1.0,
    seconds: float = math.inf,
    units: float = math.inf,
    effort: float = math.inf,
    enough: Callable[[S], bool] = lambda _: False,
    tell: Callable[[S], None] | None = None,
    heeds_interrupts: bool = False,
) -> Settled[S]:
    """The last state of a stream: when it ends, is good enough, or the budget is spent.

    The stream has a `portion` of what is left. Cut before its first state, it raises what cut it:
    `LimitError` for its own portion, `BudgetSpent` for the whole. States can be taken up again, so what is
    lost with a cut is one step. `tell` hears of states a few times a second. With `heeds_interrupts`, Ctrl-C
    ends the stream as a spent budget does.
    """
    found: list[S] = []
    told = -math.inf
    with portion(share, seconds=seconds, units=units, effort=effort):
        try:
            for state in states:
                found = [state]
                if enough(state):
                    break
                if tell is not None and time.monotonic() - told > TELL_SECONDS:
                    told = time.monotonic()
                    tell(state)
                tick()
        except BudgetSpent as end:
            if not found:
                raise
            return Settled(found[0], str(end))
        except KeyboardInterrupt:
            if not found or not heeds_interrupts:
                raise
            return Settled(found[0], "interrupted", interrupted=True)
    return Settled(found[0])
