"""Threads that compute answers: few at once, a short queue, and none for a client that has gone.

The event loop only talks; whatever computes goes through `run_limited`. Jobs start in the order in which they
came. A full queue answers 503 at once, so that memory stays flat however many ask. When the client goes
away, or the time is over, the budget of the job is stopped: the thread hears of it before its next step, and
is free again.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar, cast

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Receive

from unswayed.core.anytime import Budget, limits, tick
from unswayed.core.errors import LimitError
from unswayed.core.parallel import is_spent

Answer = TypeVar("Answer")

N_THREADS = 2
"""Jobs at once. Most of an answer holds Python's lock, so more threads only take turns more often."""
MOST_WAITING = 64
"""Jobs in the queue. A page asks for about ten answers at once, so this is half a dozen pages."""
MOST_SECONDS = 60.0
"""No answer takes longer, whatever limits it has of its own."""
RETRY_SECONDS = 2
"""When a client that was sent away should come back."""
IDLE_POLL = 0.01
"""How often to look whether all threads are idle, in seconds."""
CLIENT_GONE = 499
"""The status that nobody reads any more."""


class Stopped(Exception):  # noqa: N818 - reads as what happened
    """A job ended because nobody waits for it."""


class Job:
    """One computation: waiting, running in one thread, or done."""

    def __init__(self, function: Callable[[], Any], max_seconds: float = MOST_SECONDS) -> None:
        self.future: Future[Any] = Future()
        self._function = function
        self._max_seconds = max_seconds
        self._is_stopped = False
        self._budget: Budget | None = None

    def run(self) -> None:
        """Compute in this thread, unless nobody waits any more."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self._compute())
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            self.future.set_exception(self._ending(error))

    def stop(self) -> None:
        """Take the job out of the queue, or stop its budget."""
        self._is_stopped = True
        self.future.cancel()
        if self._budget is not None:
            self._budget.stopped = True

    def _ending(self, error: BaseException) -> BaseException:
        if self._is_stopped:
            return Stopped()
        is_late = isinstance(error, LimitError) and self._budget is not None and is_spent(self._budget)
        return _too_long(self._max_seconds) if is_late else error

    def _compute(self) -> Any:
        with limits(max_seconds=self._max_seconds) as self._budget:
            # Whoever stops the job after this finds the budget, whoever stopped it before is heard here.
            self._budget.stopped = self._is_stopped
            answer = self._function()
            tick()  # what was made of a part of the work is no answer
            return answer


class TooMany(Exception):  # noqa: N818 - reads as what happened
    """The queue is full."""


class Threads:
    """A few threads and the queue before them; they start with the first job."""

    def __init__(self, *, n_threads: int = N_THREADS, most_waiting: int = MOST_WAITING) -> None:
        self._n_threads = n_threads
        self._most_waiting = most_waiting
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._running: dict[int, Job] = {}

    def submit(self, function: Callable[[], Any], max_seconds: float = MOST_SECONDS) -> Job:
        """Put a job in the queue; `TooMany` when there is no room."""
        job = Job(function, max_seconds)
        with self._changed:
            if len(self._waiting) >= self._most_waiting:
                # Those whose clients have gone keep no place.
                self._waiting = deque(each for each in self._waiting if not each.future.cancelled())
            if len(self._waiting) >= self._most_waiting:
                raise TooMany
            self._waiting.append(job)
            self._changed.notify()
        if len(self._threads) < self._n_threads:
            # Daemons: the process may end while a compiled loop still runs.
            thread = threading.Thread(target=self._work, name="unswayed-answers", daemon=True)
            self._threads.append(thread)
            thread.start()
        return job

    def stop(self) -> None:
        """Stop what runs and forget what waits."""
        with self._changed:
            jobs = [*self._waiting, *self._running.values()]
            self._waiting.clear()
        for job in jobs:
            job.stop()

    def wait_until_idle(self, seconds: float) -> bool:
        """Whether nothing runs any more, at the latest after this time."""
        for _ in range(math.ceil(seconds / IDLE_POLL)):
            if not self._running:
                break
            time.sleep(IDLE_POLL)
        return not self._running

    def _work(self) -> None:
        while True:
            job = self._next_job()
            self._running[threading.get_ident()] = job
            job.run()
            del self._running[threading.get_ident()]

    def _next_job(self) -> Job:
        with self._changed:
            while not self._waiting:
                self._changed.wait()
            return self._waiting.popleft()


async def run_limited(
    request: Request,
    function: Callable[[], Answer],
    *,
    max_seconds: float = MOST_SECONDS,
    workers: Threads | None = None,
) -> Answer:
    """What `function` returns, computed by `workers`, or by those of the app.

    Raises what it raises; `LimitError` when the time is over; `HTTPException` with 503 when too many wait,
    and with 499 when the client has gone.
    """
    workers = workers or cast(Threads, request.app.state.workers)
    try:
        job = workers.submit(function, max_seconds)
    except TooMany:
        advice = {"Retry-After": str(RETRY_SECONDS)}
        raise HTTPException(503, "Too many questions at once; ask again in a moment.", advice) from None
    answer = asyncio.wrap_future(job.future)
    gone = asyncio.ensure_future(_wait_until_gone(request.receive))
    try:
        await asyncio.wait({answer, gone}, timeout=max_seconds, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return _result_of(answer)  # type: ignore[no-any-return]
        if gone.done():
            gone.result()  # raises where the rest of the request was refused
            raise HTTPException(CLIENT_GONE, "The client has gone.")
        raise _too_long(max_seconds)
    finally:
        gone.cancel()
        if not answer.done():
            job.stop()
            answer.add_done_callback(_forget)


def _too_long(seconds: float) -> LimitError:
    return LimitError(
        f"the answer takes longer than {seconds:g} s; observe more, or ask about fewer features"
    )


def _result_of(answer: asyncio.Future[Any]) -> Any:
    try:
        return answer.result()
    except (Stopped, asyncio.CancelledError):  # not by this request, so by `Threads.stop`
        raise HTTPException(503, "The server is ending.") from None


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _forget(answer: asyncio.Future[Any]) -> None:
    """Look at how an unwanted answer ended, or asyncio complains that nobody did."""
    if not answer.cancelled():
        answer.exception()
