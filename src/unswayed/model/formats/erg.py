"""ERGO files of Noetic Systems (.erg).

    N                        number of nodes
    SIZE ...                 number of states of each
    K PARENT ...             for each node the number of its parents, then these
    /* Probabilities */
    COUNT NUMBER ...         for each node its numbers, the child fastest, the last parent next
    /* Names */
    NAME                     for each node, a line each or together
    /* Labels */
    STATE ...                for each node its states, a line each or together
    /* Centers */            of the nodes in a drawing, which are skipped

White space and line breaks mean nothing before the names. Names and labels may be missing: then variables are
called V0, V1, ... and states s0, s1, ... Some programs number the nodes from 0, others from 1; the numbering
is the one under which every table has the size it announces and the arcs form no cycle. A file that fits both
is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.model.formats.reading.draft import NetworkDraft
from unswayed.model.formats.reading.source import Source
from unswayed.model.formats.reading.tokens import decimal_number

MAX_NODES = 100_000
"""Most nodes read."""
MAX_STATES = 1_000_000
"""Most states read, of all nodes together."""

_SECTION = re.compile(r"/\*\s*(.*?)\s*\*/", re.DOTALL)
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class _Sections:
    """The parts of a file: where each begins and ends."""

    structure: tuple[int, int]
    probabilities: tuple[int, int]
    names: tuple[int, int]
    labels: tuple[int, int]


def read(source: Source) -> NetworkDraft:
    """The network in an ERGO file, to be finished."""
    sections = _sections(source)
    words = _Integers(source, *sections.structure)
    sizes = [
        words.next("a number of states", MAX_STATES)
        for _ in range(words.next("the number of nodes", MAX_NODES))
    ]
    if sum(sizes) > MAX_STATES:
        source.fail(f"{sum(sizes):,} states in all; unswayed reads at most {MAX_STATES:,}")
    parents = [
        [
            words.next("a parent", MAX_NODES, low=0)
            for _ in range(words.next("a number of parents", 1000, low=0))
        ]
        for _ in sizes
    ]
    draft = NetworkDraft(source)
    names = _names(source, sections.names, len(sizes))
    for name, states in zip(names, _states(source, sections.labels, sizes), strict=True):
        draft.add_variable(name, states, sections.labels[0])
    _read_tables(draft, names, sizes, parents, sections.probabilities)
    return draft


class _Integers:
    """The whole numbers of a section one after another."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source, self.offset = source, start
        self._found = _WORD.finditer(source.text, start, end)

    def next(self, expected: str, high: int, *, low: int = 1) -> int:
        """The next word as a number from `low` to `high`."""
        found = next(self._found, None)
        if found is None:
            self.source.fail(f"the file ends where {expected} was expected; it may be cut off", self.offset)
        self.offset, word = found.start(), found[0]
        if len(word) > 20 or not word.isascii() or not word.isdigit() or not low <= int(word) <= high:
            self.source.fail(f"{word[:40]!r} found, expected {expected} from {low} to {high:,}", self.offset)
        return int(word)


def _sections(source: Source) -> _Sections:
    """Where the parts stand, by the comments that announce them."""
    place_by_title: dict[str, tuple[int, int]] = {}
    found = list(_SECTION.finditer(source.text))
    ends = [*(match.start() for match in found[1:]), len(source.text)]
    for match, end in zip(found, ends, strict=False):
        place_by_title.setdefault(match[1].lower(), (match.end(), end))
    if "probabilities" not in place_by_title:
        source.fail("no comment /* Probabilities */; expected an ERGO file", 0)
    nothing = (len(source.text), len(source.text))
    return _Sections(
        (0, found[0].start()),
        place_by_title["probabilities"],
        place_by_title.get("names", nothing),
        place_by_title.get("labels", nothing),
    )


def _names(source: Source, section: tuple[int, int], count: int) -> list[str]:
    return _list_words(source, section, count, "names") or [f"V{i}" for i in range(count)]


def _states(source: Source, section: tuple[int, int], sizes: Sequence[int]) -> Iterator[list[str]]:
    """The states of each node."""
    words = _list_words(source, section, sum(sizes), "labels")
    start = 0
    for size in sizes:
        yield words[start : start + size] or [f"s{i}" for i in range(size)]
        start += size


def _list_words(source: Source, section: tuple[int, int], count: int, what: str) -> list[str]:
    """The lines of a section where there are so many, else its words; none where it is missing."""
    lines = [line.strip() for line in source.text[slice(*section)].splitlines() if line.strip()]
    if lines and len(lines) != count:
        lines = [word for line in lines for word in line.split()]
        if len(lines) != count:
            source.fail(f"{len(lines):,} {what} found, expected {count:,}", section[0])
    return lines


def _read_tables(
    draft: NetworkDraft,
    names: Sequence[str],
    sizes: Sequence[int],
    parents: list[list[int]],
    section: tuple[int, int],
) -> None:
    tables = list(_tables(draft.source, section, _counts(sizes, parents)))
    first = _first_number(draft.source, sizes, parents, [len(values) for values, _ in tables])
    for child, (name, (values, offset)) in enumerate(zip(names, tables, strict=True)):
        given = [names[parent - first] for parent in parents[child]]
        draft.sizes([*given, name], offset)
        draft.add_table(name, given, values, offset)


def _counts(sizes: Sequence[int], parents: list[list[int]]) -> Iterator[set[int]]:
    """How many numbers each node may have, its parents counted from 0 or from 1."""
    for size, each in zip(sizes, parents, strict=True):
        shifts = [[parent - first for parent in each] for first in (0, 1)]
        fitting = [shifted for shifted in shifts if all(0 <= parent < len(sizes) for parent in shifted)]
        yield {math.prod([size, *(sizes[parent] for parent in shifted)]) for shifted in fitting}


def _tables(
    source: Source, section: tuple[int, int], counts: Iterable[set[int]]
) -> Iterator[tuple[Floats, int]]:
    """The numbers of each node and where they begin."""
    words = _WORD.finditer(source.text, *section)
    for node, expected in enumerate(counts, start=1):
        head = next(words, None)
        if head is None or not head[0].isdigit() or len(head[0]) > 9:
            source.fail(
                "expected the number of probabilities of the next node",
                section[0] if head is None else head.start(),
            )
        if int(head[0]) not in expected:  # before they are read: there may be millions
            source.fail(
                "the tables fit neither parents counted from 0 nor from 1; "
                f"look at node {node}, which announces {head[0]} numbers",
                head.start(),
            )
        values = np.empty(min(int(head[0]), section[1] - section[0]))
        for i in range(int(head[0])):
            word = next(words, None)
            if word is None:
                source.fail(f"{i} of {head[0]} probabilities found; the file may be cut off", head.start())
            try:
                values[i] = decimal_number(word[0])
            except ValueError as error:
                source.fail(str(error), word.start())
        yield values, head.start()


def _first_number(
    source: Source, sizes: Sequence[int], parents: list[list[int]], counts: Sequence[int]
) -> int:
    """Whether nodes are counted from 0 or from 1."""
    fitting = [first for first in (0, 1) if _fits(sizes, parents, counts, first)]
    if not fitting:
        source.fail(
            "the tables fit neither parents counted from 0 nor from 1; "
            "the arcs may form a cycle, or the file may be damaged"
        )
    if len(fitting) > 1 and any(parents):
        source.fail(
            "parents may be counted from 0 or from 1 here, and both fit; convert the file to another format"
        )
    return fitting[0]


def _fits(sizes: Sequence[int], parents: list[list[int]], counts: Sequence[int], first: int) -> bool:
    shifted = [[parent - first for parent in each] for each in parents]
    if any(not 0 <= parent < len(sizes) for each in shifted for parent in each):
        return False
    expected = [math.prod([sizes[child], *(sizes[p] for p in each)]) for child, each in enumerate(shifted)]
    return expected == list(counts) and _is_acyclic(shifted)


def _is_acyclic(parents: list[list[int]]) -> bool:
    waiting = [len(each) for each in parents]
    children: list[list[int]] = [[] for _ in parents]
    for child, each in enumerate(parents):
        for parent in each:
            children[parent].append(child)
    ready = [node for node, count in enumerate(waiting) if not count]
    for node in ready:
        for child in children[node]:
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return len(ready) == len(parents)
