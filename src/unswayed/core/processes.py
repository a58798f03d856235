"""Processes of our own: what a child needs to start, pools that searches share, and how they end."""

from __future__ import annotations

import atexit
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from functools import cache
from pathlib import Path
from typing import Any

IDLE_SECONDS = 60
"""How long processes of our own wait for the next search."""


def child_environment() -> dict[str, str]:
    """Variables for a child that finds our modules, and starts no threads that it has no use for."""
    path = os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path if folder)
    return {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def start_pool(n_workers: int) -> Executor:
    """Processes of our own; searches that follow soon use them again.

    They are of the kind that joblib starts, which need no guard around the main program of a person; but not
    the pool that joblib keeps for itself, which is set up otherwise.
    """
    from joblib.externals.loky import ProcessPoolExecutor

    pools = _pools()
    if n_workers not in pools or pools[n_workers]._flags.broken or pools[n_workers]._flags.shutdown:
        pools[n_workers] = ProcessPoolExecutor(n_workers, timeout=IDLE_SECONDS, initializer=_set_up_process)
    pool: Executor = pools[n_workers]
    return pool


@cache
def _pools() -> dict[int, Any]:
    """Our pools by the number of their processes, which end with this one."""
    pools: dict[int, Any] = {}

    def end() -> None:
        while pools:
            pools.popitem()[1].shutdown(kill_workers=True)

    atexit.register(end)
    return pools


def _set_up_process() -> None:
    """Leave Ctrl-C to the process that started this one, and do not take a large table for a leak."""
    from joblib.externals.loky import process_executor

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A worker that has grown by 300 MB would end itself after its call, and the next begin from nothing.
    process_executor._MAX_MEMORY_LEAK_SIZE = math.inf


def kill_later(pool: Any, calls: Sequence[Future[Any]], seconds: float) -> None:
    """End the processes of a pool of ours unless they have done with some calls by then."""

    def kill() -> None:
        if not all(call.done() for call in calls):
            pool.shutdown(wait=False, kill_workers=True)  # calls of others are made again in a new pool

    later(seconds, kill)


def later(seconds: float, function: Callable[[], object]) -> None:
    """Call a function after some time, in a thread that keeps no process alive."""
    timer = threading.Timer(seconds, function)
    timer.daemon = True
    timer.start()
