"""Pure calls by many workers, on any executor; the blocks of a table are `joblib_batches.py`.

A call is `function(shared, *arguments)`, made in a thread, in a process or on another machine: wherever a
`concurrent.futures.Executor` makes it. `shared` may be large, so calls carry its key alone. A worker of this
machine finds it in memory (`shared_values.py`). Any other that does not hold it yet says so; the call is then
sent again with it, and the worker keeps it for the next one.

A budget crosses a border as numbers (`Allowance`): a worker opens what is left as a budget of its own, and
what it spent is taken off here. Who waits looks up every `POLL_SECONDS`, so that a budget that is spent or
stopped is heard though no worker answers.

Nothing is lost with a worker: its calls are made again. A pool of our own is started anew; where the executor
of a person breaks, or keeps failing at a call, the calls are made in this process, where errors are seen.
"""

from __future__ import annotations

import math
import os
import pickle
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Generic, TypeVar

from unswayed.core.anytime import Budget, BudgetSpent, bytes_allowed, portion, seconds_left, tick, units_left
from unswayed.core.errors import LimitError, QueryError, UnswayedWarning
from unswayed.core.numerics import is_whole
from unswayed.core.processes import kill_later, start_pool
from unswayed.core.shared_values import find_shared, share_value

T = TypeVar("T")

POLL_SECONDS = 0.1
"""How long to wait for workers before the budget is looked at."""
KEPT = 2
"""Shared values that a worker keeps: that of the call, and one more."""
TRIES = 3
"""How often a call is sent before it is made here, and a pool started before we do without."""
IN_FLIGHT = 2
"""Calls for each worker: one that it makes, one that waits for it."""
KILL_SECONDS, STARTING_SECONDS = 1.0, 10.0
"""How long a call of our own pool may outlive those who wanted it; longer while a worker may be starting."""


@dataclass(frozen=True, slots=True)
class Team:
    """Who makes the calls."""

    executor: Executor | None = None
    """Makes them; without one, processes of our own if there are to be several."""
    jobs: int | None = None
    """How many calls may be made at once; by default as many as the executor has workers, else one."""

    def __post_init__(self) -> None:
        if self.jobs is not None:
            check_jobs(self.jobs)
        if self.executor is not None and not callable(getattr(self.executor, "submit", None)):
            raise QueryError(
                f"executor must be a concurrent.futures.Executor, such as a ProcessPoolExecutor, "
                f"not {self.executor!r}"
            )

    @property
    def is_serial(self) -> bool:
        """Whether this process does everything itself."""
        return self.executor is None and self.jobs in (None, 1)

    @property
    def size(self) -> int:
        """How many calls may be made at once."""
        if self.jobs is not None or self.executor is None:
            return self.jobs or 1
        return _count_workers(self.executor)


def check_jobs(jobs: object) -> None:
    """`QueryError` unless it is a positive whole number."""
    if not is_whole(jobs) or not jobs >= 1:  # type: ignore[operator]
        raise QueryError(f"jobs must be a whole number, at least 1, not {jobs!r}")


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a call may spend, in numbers that mean the same on every machine."""

    seconds: float = math.inf
    units: float = math.inf
    max_bytes: int | None = None


def allowance() -> Allowance:
    """What is left of the budget of this context."""
    seconds = seconds_left()
    # Where a clock runs, units would be its seconds once more, and only about.
    return Allowance(seconds, units_left() if math.isinf(seconds) else math.inf, bytes_allowed())


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a call."""

    result: Any = None
    units: float = 0.0
    """The work it took."""
    is_cut: bool = False
    """Whether its allowance was spent, so that there is no result."""


def make_call(allowed: Allowance, function: Callable[..., Any], *arguments: Any) -> Made:
    """Make a call in a worker, within what is allowed."""
    result, is_cut = None, False
    try:
        with portion(seconds=allowed.seconds, units=allowed.units, max_bytes=allowed.max_bytes) as budget:
            result = function(*arguments)
    except LimitError:
        is_cut = is_spent(budget)
        if not is_cut:
            raise
    return Made(result, allowed.units - budget.units if allowed.units < math.inf else 0.0, is_cut)


def is_spent(budget: Budget) -> bool:
    """Whether nothing is left of a budget."""
    try:
        budget.spend(0.0, "a call")
    except BudgetSpent:
        return True
    return False


@dataclass(frozen=True, slots=True)
class _CacheMiss:
    """What a worker answers that does not hold the shared value."""


@dataclass(frozen=True, slots=True)
class _Carried:
    """What travels with a call beside its arguments."""

    allowed: Allowance
    place: str | None
    """Where a worker of this machine finds the shared value."""
    packed: bytes | None
    """The shared value itself, where a worker has said that it does not find it."""


@dataclass(frozen=True, slots=True, eq=False)
class _Call(Generic[T]):
    """A call that is to be made."""

    tag: T
    arguments: Sequence[Any]
    n_failed: int = 0


@dataclass(slots=True, eq=False)
class Workers(Generic[T]):
    """Calls of one function under way, each known by a tag; use it in a `with` statement."""

    team: Team
    function: Callable[..., Any]
    """A function of a module: makes a call from the shared value and the arguments, and changes neither."""
    key: str
    """Tells one shared value from another."""
    shared: Any = field(repr=False)
    _executor: Executor | None = None
    _running: dict[Future[Any], tuple[_Call[T], Executor]] = field(default_factory=dict)
    _here: deque[_Call[T]] = field(default_factory=deque)
    """Calls to be made in this process."""
    _made: deque[tuple[T, Any]] = field(default_factory=deque)
    """What `results` has still to give: until then the calls count as under way."""
    _units: float = 0.0
    """Work done elsewhere that is still to be taken off the budget."""
    _packed: bytes | None = field(default=None, repr=False)
    _place: str | None = None
    """Where workers of this machine find the shared value."""
    _open: ExitStack = field(default_factory=ExitStack, repr=False)
    _n_lost: int = 0
    """Executors that broke since a call was last made."""
    has_answered: bool = False
    """Whether a call was made elsewhere: before that, workers start, load code and get the shared value."""

    def __enter__(self) -> Workers[T]:
        _held()[self.key] = self.shared  # for threads of this process
        self._executor = self.team.executor
        if self._executor is None and not self.team.is_serial:
            self._executor = start_pool(self.team.size)
        if self._executor is not None and not isinstance(self._executor, ThreadPoolExecutor):
            self._place = self._open.enter_context(share_value(self.key, self.shared))
        return self

    def __exit__(self, *_: object) -> None:
        unwanted = [future for future in self._running if not future.cancel()]
        if unwanted and self.team.executor is None and self._executor is not None:
            kill_later(self._executor, unwanted, KILL_SECONDS if self.has_answered else STARTING_SECONDS)
        _held().pop(self.key, None)
        self._open.close()

    @property
    def size(self) -> int:
        """How many calls are made at once."""
        return 1 if self._executor is None else self.team.size

    @property
    def tags(self) -> list[T]:
        """The calls that are under way."""
        calls = [call for call, _ in self._running.values()] + [*self._here]
        return [call.tag for call in calls] + [tag for tag, _ in self._made]

    @property
    def n_free(self) -> int:
        """How many more calls keep all workers busy; one for each until the first is made elsewhere."""
        return (IN_FLIGHT if self.has_answered else 1) * self.size - len(self._running) - len(self._here)

    def submit(self, tag: T, arguments: Sequence[Any], *, here: bool = False) -> None:
        """Have a call made; `here` in this process, when the next ones are collected."""
        if here:
            self._here.append(_Call(tag, arguments))
        else:
            self._send(_Call(tag, arguments))

    def results(self) -> Iterator[tuple[T, Any]]:
        """What calls come to, as they end, until none is under way; more may be submitted in between."""
        while self.tags:
            if not self._made:
                units, self._units = self._units, 0.0
                tick(units, "a call of a worker")
                self._made.extend(self.collect(POLL_SECONDS))
            if self._made:
                yield self._made.popleft()

    def collect(self, seconds: float) -> list[tuple[T, Any]]:
        """What calls came to that ended, after waiting for one so long at most; a call here is made first."""
        collected: list[tuple[T, Any]] = []
        if self._here:
            # A call that is cut or ended by Ctrl-C stays under way, so that its tag is not lost.
            call = self._here[0]
            collected.append((call.tag, self.function(self.shared, *call.arguments)))
            self._here.popleft()
            seconds = 0.0
        for future in wait(self._running, max(seconds, 0.0), FIRST_COMPLETED).done:
            call, executor = self._running.pop(future)
            error = _error_of(future)
            if isinstance(error, BrokenExecutor):
                self._lose(executor, error)
            if error is not None:
                self._send(replace(call, n_failed=call.n_failed + 1))
            elif isinstance(made := future.result(), _CacheMiss):
                self._send(call, with_shared=True)
            else:
                self._n_lost, self.has_answered = 0, True
                self._units += made.units
                if made.is_cut:
                    self._here.append(call)  # our own budget is spent too; if not, the call is made here
                else:
                    collected.append((call.tag, made.result))
        return collected

    def _send(self, call: _Call[T], *, with_shared: bool = False) -> None:
        executor = self._executor
        if executor is None or call.n_failed >= TRIES:
            self._here.append(call)
            return
        try:
            carried = _Carried(allowance(), self._place, self._pack() if with_shared else None)
            future = executor.submit(call_with_shared, self.key, carried, self.function, call.arguments)
        except (BrokenExecutor, RuntimeError) as error:  # the latter where it was shut down
            self._lose(executor, error)
            self._send(call)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            self._do_without(error)
            self._send(call)
        else:
            self._running[future] = call, executor

    def _lose(self, executor: Executor, error: BaseException) -> None:
        """Start another pool where the one that broke was our own; else do without."""
        if executor is not self._executor:
            return  # an earlier call has replaced it already
        self._n_lost += 1
        if self.team.executor is None and self._n_lost < TRIES:
            self._executor = start_pool(self.team.size)
        else:
            self._do_without(error)

    def _do_without(self, error: BaseException) -> None:
        self._executor = None
        warnings.warn(
            f"the executor cannot be used ({type(error).__name__}: {error}); the work goes on in this "
            "process, and its answer is the same",
            UnswayedWarning,
            stacklevel=2,
        )

    def _pack(self) -> bytes:
        """The shared value to be sent, packed once; unpacked, its arrays can be written."""
        if self._packed is None:
            self._packed = pickle.dumps(self.shared)
        return self._packed


def call_with_shared(
    key: str, carried: _Carried, function: Callable[..., Any], arguments: Iterable[Any]
) -> Made | _CacheMiss:
    """Make a call in a worker; `_CacheMiss` where it does not have the shared value and cannot find it."""
    held = _held()
    if key not in held:
        found = None
        if carried.packed is not None:
            found = (pickle.loads(carried.packed),)
        elif carried.place is not None:
            found = find_shared(key, carried.place)
        if found is None:
            return _CacheMiss()
        (held[key],) = found
        while len(held) > KEPT:
            held.pop(next(iter(held)), None)
    return make_call(carried.allowed, function, held[key], *arguments)


@cache
def _held() -> dict[str, Any]:
    """The shared values that this process holds, by key."""
    return {}


def _error_of(future: Future[Any]) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError as error:
        return error


def _count_workers(executor: Executor) -> int:
    """How many calls an executor makes at once, as far as it can be known."""
    told: int | None = getattr(executor, "_max_workers", None)
    client = getattr(executor, "_client", None)
    if told is None and client is not None:  # Dask's
        told = sum(client.nthreads().values())
    return told or os.cpu_count() or 1
