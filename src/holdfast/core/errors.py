"""The errors holdfast raises, one tree.

HoldfastError
  FormatError(ValueError)     a file cannot be read: path, line, what was expected
  ModelError(ValueError)      a network, table or classifier contradicts itself
  QueryError(ValueError)      the question does not fit the model
    ImpossibleEvidence        Pr(evidence) = 0
  LimitError                  the answer exists but not within these limits
  SolverError                 an external solver failed or is not installed

HoldfastWarning(UserWarning)  the answer stands, but something about the input should be known

A message says what was found, where, and what to do. The command line prints it and exits with 2.
"""

from __future__ import annotations

from pathlib import Path


class HoldfastError(Exception):
    """Base of every error this library raises on purpose."""


class FormatError(HoldfastError, ValueError):
    """A file cannot be read or written; knows the path and, where it makes sense, the line."""

    def __init__(self, message: str, path: str | Path | None = None, line: int | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.line = line
        self.reason = message
        where = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(where + message)


class ModelError(HoldfastError, ValueError):
    """A network, table or classifier contradicts itself."""


class QueryError(HoldfastError, ValueError):
    """The question does not fit the model: an unknown name, a state that does not exist."""


class ImpossibleEvidence(QueryError):  # noqa: N818 - reads as what happened
    """The evidence has probability zero, so nothing can be conditioned on it."""


class LimitError(HoldfastError):
    """The answer exists, but not within the limits on memory or time that were given."""


class SolverError(HoldfastError):
    """An external solver failed or is not installed."""


class HoldfastWarning(UserWarning):
    """The answer stands, but something about the input should be known."""
