"""What a person hands to a verb, checked at the door: one check for each kind of value, by its name.

An argument has one name in all verbs, so its name tells what it takes. `check_named` looks at those that are
counts, flags, functions and paths; what is particular to a verb is checked there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from unswayed.core.errors import FormatError, QueryError
from unswayed.core.numerics import is_whole

MOST: Final = 2**31
"""Counts beyond this are mistakes."""


def expect_count(value: Any, what: str, least: int = 0) -> int:
    """The whole number; `QueryError` where it is none, or out of reason.

    >>> expect_count(2.5, "max_leaves", 1)
    Traceback (most recent call last):
    ...
    unswayed.core.errors.QueryError: max_leaves must be a whole number, at least 1, not 2.5
    """
    if not is_whole(value) or not least <= value < MOST:
        raise QueryError(f"{what} must be a whole number, at least {least}, not {value!r}")
    return int(value)


def expect_flag(value: object, what: str) -> None:
    """Raise `QueryError` unless the value is true or false."""
    if not isinstance(value, bool | np.bool_):
        raise QueryError(f"{what} must be True or False, not {value!r}")


def expect_function(value: object, what: str) -> None:
    """Raise `QueryError` unless the value can be called."""
    if not callable(value):
        raise QueryError(f"{what} must be a function, not {value!r}")


def expect_path(value: object, what: str) -> Path:
    """The path; `QueryError` where it is none, `FormatError` where no file can have it.

    >>> expect_path("plan.json", "the file").suffix
    '.json'
    """
    if not isinstance(value, str | os.PathLike):
        raise QueryError(f"{what} must be a path, not {value!r}")
    path = Path(value)
    if "\0" in str(path):
        raise FormatError(f"no file can be called {str(path)!r}; name another")
    return path


def _expect_jobs(value: Any, _: str) -> None:
    if not is_whole(value) or value == 0 or abs(value) >= MOST:
        raise QueryError(f"jobs must be a whole number, or -1 for one for each processor, not {value!r}")


_FLAGS = ("allow_estimates", "all_bids", "exact", "explain", "next_test", "potential", "reason")
_FUNCTIONS = ("progress", "report", "tell", "watch")
_LEAST_BY_COUNT = {"chunk_rows": 1, "max_depth": 0, "max_leaves": 1, "most": 1}
_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(_FLAGS, expect_flag),
    **dict.fromkeys(_FUNCTIONS, expect_function),
    "checkpoint": expect_path,
    "n_jobs": _expect_jobs,
}
OPTIONAL: Final = frozenset({*_FUNCTIONS, "checkpoint", "max_depth", "max_leaves", "n_jobs"})
"""Arguments that may be None."""


def check_named(arguments: Mapping[str, Any]) -> None:
    """Raise `QueryError` for an argument that is not what its name asks for."""
    for name, value in arguments.items():
        if value is None and name in OPTIONAL:
            continue
        if name in _LEAST_BY_COUNT:
            expect_count(value, name, _LEAST_BY_COUNT[name])
        elif name in _CHECKS:
            _CHECKS[name](value, name)
