"""What goes between unswayed and its worker process: jobs, reports, circuits, and how they are framed.

A message is its length in eight bytes, then a pickle. The worker is a child started by us from our own
code, so neither side reads what a stranger wrote. Circuits come as the arrays of the text that libsdd saves,
read without a loop over nodes; that works for text that libsdd itself has just written, one blank between
numbers, children before parents. `io/sdd.py` reads files of unknown origin, and says what is wrong with them.
"""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any, NamedTuple

import numpy as np

from unswayed.circuits.libsdd.program import CircuitProgram
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.vtree import NOTHING, Vtree
from unswayed.core.arrays import Ints

_LENGTH = struct.Struct("<Q")


class CircuitJob(NamedTuple):
    """A program to run over libsdd."""

    program: CircuitProgram
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


class JobResult(NamedTuple):
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


_KIND_BY_LETTER = bytes.maketrans(b"FTLD", b"0123")
_BLANK, _NEWLINE = 32, 10


class CircuitArrays(NamedTuple):
    """The fields of an `Sdd` but for its vtree."""

    kind: Ints
    vtree_node: Ints
    literal: Ints
    starts: Ints
    primes: Ints
    subs: Ints
    root: int

    def with_vtree(self, vtree: Vtree) -> Sdd:
        """The circuit, checked."""
        return Sdd(vtree, *self)


def arrays_from_saved(text: bytes) -> CircuitArrays:
    """The circuit whose root is the last node of the text."""
    header = text.index(b"\nsdd ") + 1 if not text.startswith(b"sdd ") else 0
    body = text[text.index(b"\n", header) + 1 :].rstrip() + b"\n"
    body = body.translate(_KIND_BY_LETTER)
    words: Ints = np.fromstring(body, dtype=np.int64, sep=" ")
    first = _first_words(body, len(words))
    kind, ident = words[first], words[first + 1]
    inner = kind >= LITERAL
    number = np.empty(int(ident.max()) + 1, dtype=np.int64)
    number[ident[inner]] = 2 + np.arange(np.count_nonzero(inner))
    number[ident[~inner]] = kind[~inner]
    return _arrange(words, first, number)


def _first_words(body: bytes, n_words: int) -> Ints:
    """Position of the first word of each line."""
    characters = np.frombuffer(body, dtype=np.uint8)
    is_end = characters == _NEWLINE
    words_so_far = np.cumsum(is_end | (characters == _BLANK))
    if words_so_far[-1] != n_words:
        raise ValueError("libsdd has saved a circuit in an unknown layout")
    ends: Ints = words_so_far[is_end]
    return np.concatenate([[0], ends[:-1]])


def _arrange(words: Ints, first: Ints, number: Ints) -> CircuitArrays:
    """Nodes in the order of their lines, the two constants moved to the front."""
    kind = words[first]
    lines = first[kind >= LITERAL]
    is_literal = words[lines] == LITERAL
    counts = np.where(is_literal, 0, words[np.where(is_literal, lines, lines + 3)])
    starts = np.concatenate([[0, 0, 0], np.cumsum(counts)])
    within = np.arange(starts[-1]) - np.repeat(starts[2:-1], counts)
    places = np.repeat(lines + 4, counts) + 2 * within
    literal = np.where(is_literal, words[np.where(is_literal, lines + 3, lines)], 0)
    return CircuitArrays(
        kind=np.concatenate([[FALSE, TRUE], np.where(is_literal, LITERAL, DECISION)]),
        vtree_node=np.concatenate([[NOTHING, NOTHING], words[lines + 2] if len(lines) else lines]),
        literal=np.concatenate([[0, 0], literal]),
        starts=starts,
        primes=number[words[places]],
        subs=number[words[places + 1]],
        root=int(number[words[first[-1] + 1]]),
    )
