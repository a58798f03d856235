"""Ctrl-C on the command line: the first asks for the best so far, the second ends the command.

The first one stops the budget, so that whatever is computed ends at its next step and the command prints what
it has. What does not hear of that (a table that is being read, say) is interrupted the ordinary way a moment
later, and so is a question that waits for a person's answer, at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from unswayed.core.anytime import Budget, stoppable

PATIENT_SECONDS = 1.5
"""How long after the first Ctrl-C a command may go on."""


@contextmanager
def heeding_interrupts() -> Iterator[Budget]:
    """Within this context the first Ctrl-C stops the budget; where it is ignored it stays so."""
    with stoppable() as budget:
        if threading.current_thread() is not threading.main_thread() or _is_ignored():
            yield budget
            return

        def stop(*_: object) -> None:
            budget.stopped = True
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if hasattr(signal, "setitimer"):
                signal.signal(signal.SIGALRM, _interrupt)
                signal.setitimer(signal.ITIMER_REAL, PATIENT_SECONDS)

        before = signal.signal(signal.SIGINT, stop)
        try:
            yield budget
        finally:
            if hasattr(signal, "setitimer"):
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGINT, before)


@contextmanager
def waiting_for_a_person() -> Iterator[None]:
    """Within this context Ctrl-C interrupts at once: there is nothing to finish."""
    if threading.current_thread() is not threading.main_thread() or _is_ignored():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _is_ignored() -> bool:
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt
