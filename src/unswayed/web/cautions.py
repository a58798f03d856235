"""Warnings of computations, handed to whoever asked for the answer.

Python's `warnings.catch_warnings` is for one thread. Here one listener serves all: `listen` installs it, and
`hear` collects what is warned of inside a block, in the thread that runs it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from unswayed.core.errors import UnswayedWarning

_heard: ContextVar[list[str] | None] = ContextVar("heard", default=None)


def listen() -> None:
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
        if _heard.get() is not None and issubclass(category, UnswayedWarning):
            repeat([str(message)])
        else:
            before(message, category, filename, lineno, file, line)

    warnings.showwarning = show
    warnings.simplefilter("always", UnswayedWarning)


@contextmanager
def hear() -> Iterator[list[str]]:
    """What is warned of inside the block, each warning once; a block around this one hears it too."""
    heard: list[str] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)
        repeat(heard)


def repeat(messages: Iterable[str]) -> None:
    """Let the block that runs hear warnings of an answer that was computed before."""
    heard = _heard.get()
    if heard is not None:
        heard.extend(each for each in dict.fromkeys(messages) if each not in heard)
