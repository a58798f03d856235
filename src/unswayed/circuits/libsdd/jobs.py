"""What goes between unswayed and its worker process: jobs, reports, and how they are framed.

A message is its length in eight bytes, then a pickle. The worker is a child started by us from our own
code, so neither side reads what a stranger wrote.
"""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any, NamedTuple

from unswayed.circuits.libsdd.program import Program
from unswayed.circuits.libsdd.saved import CircuitArrays

_LENGTH = struct.Struct("<Q")


class Job(NamedTuple):
    """A program to run over libsdd."""

    program: Program
    """Checked instructions."""
    vtree: bytes
    """The vtree to start with, as a file."""
    loaded: tuple[bytes, ...]
    """The circuits that the program loads, as files."""
    max_bytes: int
    """Memory that the worker may take for it."""
    max_seconds: float | None
    """Time after which nobody waits for the answer any more."""


class Report(NamedTuple):
    """How far the worker is."""

    done: int
    """Instructions carried out."""
    total: int
    """Instructions in all."""
    size: int
    """Elements of the circuits held at the moment."""


class Answer(NamedTuple):
    """What the program made."""

    circuits: tuple[CircuitArrays, ...]
    """The results."""
    vtree: bytes | None
    """The vtree they respect, as a file; None when it is the one given."""


class Failure(NamedTuple):
    """Why there is no answer."""

    reason: str
    """`memory`, or `missing` when PySDD is not installed."""
    message: str
    """What the worker saw."""


def send(stream: IO[bytes], message: Any) -> None:
    """Write one message."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next message; `EOFError` when the other side has gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)
