"""The errors unswayed raises, one tree.

UnswayedError
  FormatError(ValueError)     a file cannot be read: path, line, what was expected
  ModelError(ValueError)      a network, table or classifier contradicts itself
  QueryError(ValueError)      the question does not fit the model
    ImpossibleEvidence        Pr(evidence) = 0
  LimitError                  the answer exists but not within these limits
  SolverError                 an external solver failed or is not installed
  MissingLibrary(ImportError) an optional library is not installed: which, and how to install it

UnswayedWarning(UserWarning)  the answer stands, but something about the input should be known

A message says what was found, where, and what to do. The command line prints it and exits with 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")
MAX_MESSAGE = 600
"""Most characters of a complaint about a file; longer ones are cut in the middle."""


class UnswayedError(Exception):
    """Base of every error this library raises on purpose."""


class FormatError(UnswayedError, ValueError):
    """A file cannot be read or written; knows the path and, where it makes sense, the line."""

    def __init__(self, message: str, path: str | Path | None = None, line: int | None = None) -> None:
        if len(message) > MAX_MESSAGE:  # a name in the file may be the whole file
            message = f"{message[: MAX_MESSAGE // 2]} ... {message[-MAX_MESSAGE // 2 :]}"
        self.path = None if path is None else Path(path)
        self.line = line
        self.reason = message
        where = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(where + message)


class ModelError(UnswayedError, ValueError):
    """A network, table or classifier contradicts itself."""


class QueryError(UnswayedError, ValueError):
    """The question does not fit the model: an unknown name, a state that does not exist."""


class ImpossibleEvidence(QueryError):  # noqa: N818 - reads as what happened
    """The evidence has probability zero, so nothing can be conditioned on it."""


class LimitError(UnswayedError):
    """The answer exists, but not within the limits on memory or time that were given."""


class SolverError(UnswayedError):
    """An external solver failed or is not installed."""


class MissingLibrary(UnswayedError, ImportError):  # noqa: N818 - reads as what happened
    """An optional library, for pictures, tables, the page or other programs, is not installed."""


class UnswayedWarning(UserWarning):
    """The answer stands, but something about the input should be known."""


def expect(value: object, kind: type | tuple[type, ...], what: str) -> None:
    """Raise `QueryError` unless `value` is of a kind; `what` says what it is for.

    >>> expect("7", int, "the number of samples")
    Traceback (most recent call last):
    ...
    unswayed.core.errors.QueryError: the number of samples must be of type int, not '7'
    """
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        raise QueryError(f"{what} must be of type {' or '.join(k.__name__ for k in kinds)}, not {value!r}")


def expect_number(value: object, what: str) -> None:
    """Raise `QueryError` unless `value` is one number; `what` says what it is for.

    >>> expect_number("0.6", "the threshold")
    Traceback (most recent call last):
    ...
    unswayed.core.errors.QueryError: the threshold must be a number, not '0.6'
    """
    is_number = hasattr(value, "__float__") and getattr(value, "shape", ()) == ()
    is_truth = isinstance(value, bool) or str(getattr(value, "dtype", "")) == "bool"
    # Decimals do not mix with what is calculated with.
    if not is_number or is_truth or isinstance(value, Decimal):
        raise QueryError(f"{what} must be a number, not {value!r}")


def expect_list(values: Iterable[Item], what: str) -> tuple[Item, ...]:
    """The values one after another; `QueryError` where they are none, `what` says what they are.

    >>> expect_list(3, "the features")
    Traceback (most recent call last):
    ...
    unswayed.core.errors.QueryError: the features must be a list, not 3
    """
    try:
        found = iter(values)
    except TypeError:
        raise QueryError(f"{what} must be a list, not {values!r}") from None
    return tuple(found)
