"""What libsdd saves, as arrays: the quick way out of it, with no loop over nodes.

Only for text that libsdd itself has just written, one blank between numbers, children before parents;
files of unknown origin are read by `sdd_files.py`, which is slower and says what is wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.vtree import NOTHING, Vtree
from unswayed.core.arrays import Ints

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
    return _arranged(words, first, number)


def _first_words(body: bytes, n_words: int) -> Ints:
    """Position of the first word of each line."""
    characters = np.frombuffer(body, dtype=np.uint8)
    is_end = characters == _NEWLINE
    words_so_far = np.cumsum(is_end | (characters == _BLANK))
    if words_so_far[-1] != n_words:
        raise ValueError("libsdd has saved a circuit in an unknown layout")
    ends: Ints = words_so_far[is_end]
    return np.concatenate([[0], ends[:-1]])


def _arranged(words: Ints, first: Ints, number: Ints) -> CircuitArrays:
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
