"""Warnings of computations, handed to whoever asked for the answer.

Python's `warnings.catch_warnings` is for one thread. Here one listener serves all: `install` sets it up, and
`capture` collects what is warned of inside a block, in the thread that runs it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from unswayed.core.errors import UnswayedWarning

_captured: ContextVar[list[str] | None] = ContextVar("captured", default=None)


def install() -> None:
    """From now on, keep each `UnswayedWarning` for the block that gives it; others go where they went."""
    before = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if _captured.get() is not None and issubclass(category, UnswayedWarning):
            replay([str(message)])
        else:
            before(message, category, filename, lineno, file, line)

    warnings.showwarning = show
    warnings.simplefilter("always", UnswayedWarning)


@contextmanager
def capture() -> Iterator[list[str]]:
    """What is warned of inside the block, each warning once; a block around this one captures it too."""
    captured: list[str] = []
    token = _captured.set(captured)
    try:
        yield captured
    finally:
        _captured.reset(token)
        replay(captured)


def replay(messages: Iterable[str]) -> None:
    """Give the block that runs the warnings of an answer that was computed before."""
    captured = _captured.get()
    if captured is not None:
        captured.extend(each for each in dict.fromkeys(messages) if each not in captured)
