"""Servers that get a signal at one moment after another of their start, each in a process of its own.

    python ended_servers.py SIGTERM 40 once

starts 40 of them, and prints for each after how many calls of Python functions the signal came, and how it
ended: `7 0` with exit code 0, `7 -15` by the signal itself, `7 None` where it lives on. With `twice`, the
signal comes a second time a few calls later.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType

from unswayed.web.server import run_server, take_place
from unswayed.web.workspace import Workspace

PATIENCE = 60.0
AT_ONCE = 8
BETWEEN = 30
"""Calls between a signal and the second."""


def serve_watched(is_time: Callable[[int, str], bool], number: signal.Signals) -> int:
    """Serve, and send this process a signal whenever it is time, by calls so far and the function called.

    Gives the number of calls until the first signal.
    """
    n_calls, sent_at = 0, 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal n_calls, sent_at
        n_calls += event == "call"
        if event == "call" and is_time(n_calls, frame.f_code.co_name):
            sent_at = sent_at or n_calls
            os.kill(os.getpid(), number)

    place = take_place(port=0)
    sys.setprofile(count)
    try:
        run_server(Workspace(), place)
    finally:
        sys.setprofile(None)
    return sent_at


def start(number: signal.Signals, moments: tuple[int, ...]) -> int:
    """The id of a process that serves, and gets its signals."""
    if child := os.fork():
        return child
    code = 1
    try:
        serve_watched(lambda n_calls, _: n_calls in moments, number)
        code = 0
    except KeyboardInterrupt:
        code = 130
    finally:
        os._exit(code)


def wait(child: int, deadline: float) -> int | None:
    """How a process ended; None where it does not, and is killed."""
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


if __name__ == "__main__":
    word, n_servers, times = sys.argv[1:]
    sent = signal.Signals[word]
    # Until the first turn of its loop; the second time, when everything is loaded, as in the children.
    _, n_calls = (serve_watched(lambda _, name: name == "on_tick", signal.SIGTERM) for _ in range(2))
    moments = [1 + n_calls * i // int(n_servers) for i in range(int(n_servers))]
    for first in range(0, len(moments), AT_ONCE):
        some = moments[first : first + AT_ONCE]
        children = [start(sent, (each, each + BETWEEN) if times == "twice" else (each,)) for each in some]
        deadline = time.monotonic() + PATIENCE
        for moment, child in zip(some, children, strict=True):
            print(moment, wait(child, deadline), flush=True)
