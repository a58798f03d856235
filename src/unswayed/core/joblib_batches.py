"""Blocks of a table spread over processes, threads or a cluster by joblib, as a stream of what they come to.

`joblib.parallel_config(backend="loky" | "threading" | "dask" | "ray")` says where. Calls cross the border as
those of `parallel.py` do: with what is left of the budget, in numbers.
"""

from __future__ import annotations

import queue
import threading
import warnings
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextvars import copy_context
from dataclasses import replace
from typing import Any

from unswayed.core.anytime import tick
from unswayed.core.errors import SolverError
from unswayed.core.parallel import KILL_SECONDS, POLL_SECONDS, TRIES, Allowance, Made, allowance, make_call
from unswayed.core.processes import later

HAND_BACK_SECONDS = 0.5
"""How long before the end of the time workers hand back the part of a block that they have, at most."""


def count_jobs(n_jobs: int | None) -> int:
    """How many calls joblib makes at once when it is asked for so many jobs."""
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def run_batches(calls: Sequence[Sequence[Any]], n_jobs: int | None) -> Iterator[Any]:
    """What calls (a function, then its arguments) come to, in their order, as joblib makes them.

    `joblib.parallel_config` says where. The calls of a worker that dies are made again. None is in place of
    what a call came to whose allowance was spent.
    """
    n_done = n_lost = 0
    while n_done < len(calls):
        batch = _JoblibBatch(calls[n_done:], n_jobs)
        try:
            while n_done < len(calls):
                made = batch.next()
                n_done += 1
                yield made.result
                tick(made.units, "a block of rows")
        except (BrokenExecutor, CancelledError):  # loky's word for a worker that died, and Dask's
            n_lost += 1
            if n_lost > TRIES:
                raise SolverError(
                    f"workers were killed {n_lost} times over; they may need more memory than there is: use "
                    "fewer jobs"
                ) from None
        finally:
            batch.leave(is_over=n_done == len(calls))


class _JoblibBatch:
    """Calls that joblib makes, followed by a thread of their own: joblib's own waits hear of no budget."""

    def __init__(self, calls: Sequence[Sequence[Any]], n_jobs: int | None) -> None:
        from joblib import Parallel, delayed
        from joblib.parallel import get_active_backend

        is_stream = get_active_backend()[0].supports_return_generator
        # Made here, since `parallel_config` holds for one thread.
        self._parallel = Parallel(n_jobs=n_jobs, return_as="generator" if is_stream else "list")
        context = copy_context()
        # A task is made when a worker is free for it, and then knows how much is left.
        self._tasks = (delayed(make_call)(context.run(_to_hand_back), *call) for call in calls)
        self._found: queue.SimpleQueue[Made | BaseException] = queue.SimpleQueue()
        self._is_left = False
        self._thread = threading.Thread(target=self._follow, name="unswayed-batch", daemon=True)
        self._thread.start()

    def next(self) -> Made:
        """What the next call came to; raises what it raised."""
        while True:
            try:
                made = self._found.get(timeout=POLL_SECONDS)
            except queue.Empty:
                tick(what="a block of rows")
                continue
            if isinstance(made, BaseException):
                raise made
            return made

    def leave(self, *, is_over: bool) -> None:
        """Let nothing more be computed; what is computed now is killed where it goes on, on this machine."""
        self._is_left = True
        if is_over or type(self._parallel._backend).__name__ != "LokyBackend":
            return
        backend, thread = self._parallel._backend, self._thread
        later(KILL_SECONDS, lambda: thread.is_alive() and backend.abort_everything(ensure_ready=False))

    def _follow(self) -> None:
        try:
            with warnings.catch_warnings():
                # joblib warns of a worker that stopped; what it left is asked again.
                warnings.filterwarnings("ignore", "A worker stopped", UserWarning)
                # It also warns of calls that nobody waits for, which are left on purpose.
                warnings.filterwarnings("ignore", r"\d+ tasks (have been|which were)", UserWarning)
                stream = iter(self._parallel(self._tasks))
                for made in stream:
                    self._found.put(made)
                    if self._is_left:
                        break
                if isinstance(stream, Generator):
                    # Here, where the warning is silent: the collector would close it in any later line.
                    stream.close()
        except BaseException as error:  # noqa: BLE001 - raised where somebody waits
            self._found.put(error)


def _to_hand_back() -> Allowance:
    """What is left but for a moment in which workers hand back what they have."""
    left = allowance()
    return replace(left, seconds=left.seconds - min(HAND_BACK_SECONDS, 0.1 * max(left.seconds, 0.0)))
