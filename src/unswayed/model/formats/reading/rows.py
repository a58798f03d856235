"""Tables given row by row, as BIF and DSC write them.

    table = "probability" "(" child ["|" parent ("," parent)*] ")" "{" entry* "}"
    entry = [label] [":"] number* [";"]
    label = "(" state ("," state)* ")" | "table" | "default" | ...

The commas may be blanks. An entry ends at its semicolon or, where a program forgot it, at the next label.
`entries` splits a table's body; `fill_rows` puts labelled rows where they belong and `default` in the rest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import NamedTuple

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import FormatError
from unswayed.model.cpt import configuration_of
from unswayed.model.formats.reading.draft import NetworkDraft
from unswayed.model.formats.reading.tokens import BLANKS, WORD, Span, name_of, numbers, shown

MAX_WORD = 1000
"""Most characters of a number and the blanks after it; a longer row is checked before it is divided."""

_LABEL = r"[^();{}]*(?:\([^();{}]*\)[^();{}]*){0,1000}"
_ENTRY = re.compile(rf"(?:\(({_LABEL})\)|([A-Za-z_]+))?[{BLANKS}]*:?([^();{{}}]*);?")
_PLAIN_ROW = re.compile(rf"([{BLANKS}]*)\(([^();{{}}]*)\)([-+.0-9eE{BLANKS},]*);")
_BETWEEN = re.compile(rf"[{BLANKS};]+")


class Entry(NamedTuple):
    """One labelled run of numbers, not yet converted."""

    label: str | None
    """What stands between the parentheses, sealed; `None` without parentheses."""
    keyword: str
    """`table`, `default` or another word in place of a label, in lower case; may be empty."""
    values: Span
    """The numbers."""
    start: int
    """Where the entry begins."""

    @property
    def is_unlabelled(self) -> bool:
        """Whether the numbers stand alone."""
        return self.label is None and not self.keyword


@dataclass(frozen=True, slots=True)
class TableHead:
    """Whose table it is, and given what."""

    child: str
    parents: tuple[str, ...]
    sizes: tuple[int, ...]
    """Numbers of states of the parents, then of the child."""
    span: Span
    """Where it was found."""

    @property
    def n_rows(self) -> int:
        """How many configurations the parents have."""
        return math.prod(self.sizes[:-1])


def table_head(draft: NetworkDraft, span: Span, known: Container[str]) -> TableHead:
    """The names in `( child | parents )`; without the bar the first name is the child.

    `known` are the declared names: one of them may hold blanks that are not in quotes.
    """
    text = span.text
    if not (text.startswith("(") and text.endswith(")")):
        span.fail(f"expected '(child | parents)', found {shown(text)}")
    left, bar, right = text[1:-1].partition("|")
    before, after = _names_in(left, known), _names_in(right, known)
    if not before:
        span.fail("expected the name of a variable after '('")
    if bar and len(before) > 1:
        span.fail(f"a table for several variables at once ({', '.join(before)}); expected one before '|'")
    child, parents = before[0], [*before[1:], *after]
    sizes = draft.sizes([*parents, child], span.start)
    return TableHead(child, tuple(parents), tuple(sizes), span)


def _names_in(text: str, known: Container[str]) -> list[str]:
    names = list[str]()
    for piece in text.replace("|", ",").split(","):
        name = piece.strip(BLANKS)
        names += [name] if name in known else map(name_of, WORD.findall(name))
    return names


def entries(body: Span) -> Iterator[Entry]:
    """The entries of a table's body, one after the other."""
    position = body.start
    while position < body.end:
        found = _ENTRY.match(body.sealed, position, body.end)
        if found is None or found.end() == position:
            here = body.within(position, body.end)
            here.fail(f"expected '(states) numbers;', found {shown(here.text)}")
        label, keyword, values = found.groups()
        if label is not None or keyword or values.strip(BLANKS):
            span = Span(body.source, body.sealed, found.start(3), found.end(3))
            yield Entry(label, (keyword or "").lower(), span, position)
        blank = _BETWEEN.match(body.sealed, found.end(), body.end)
        position = blank.end() if blank else found.end()


def plain_rows(body: Span, head: TableHead, states: Sequence[Sequence[str]]) -> Floats | None:
    """The table, where every configuration has one row `(a, b) numbers;` in the spelling most programs write.

    None for all else, right or wrong: `entries` and `fill_rows` read it row by row, and name what is wrong.
    Nearly all tables are plain, and are read three times faster so.
    """
    found = _PLAIN_ROW.findall(body.sealed, body.start, body.end)
    if len(found) != head.n_rows or sum(map(len, chain(*found))) + 3 * len(found) != body.end - body.start:
        return None
    place = {", ".join(each): row for row, each in enumerate(product(*states))}
    rows = [place.get(label.strip(BLANKS), -1) for _, label, _ in found]
    texts = [values.replace(",", " ").split() for _, _, values in found]
    width = head.sizes[-1]
    if -1 in rows or len(set(rows)) < len(rows) or any(len(text) != width for text in texts):
        return None
    try:
        values = np.array([list(map(float, text)) for text in texts])
    except ValueError:
        return None
    table = np.empty_like(values)
    table[rows] = values
    return table if np.isfinite(table).all() else None


def fill_rows(draft: NetworkDraft, head: TableHead, found: Iterable[tuple[int | None, Entry]]) -> Floats:
    """The table whose rows were found, each with its number; `None` marks the default row."""
    rows = np.full((head.n_rows, head.sizes[-1]), np.nan)
    seen = bytearray(head.n_rows)
    default: Floats | None = None
    order, texts, kept = list[int](), list[list[str]](), list[Entry]()
    for row, entry in found:
        if row is None:
            default = _checked(head, entry, numbers(entry.values, at_most=head.sizes[-1]))
            continue
        if seen[row]:
            draft.source.fail(
                f"row {_row_name(draft, head, row)} of {head.child!r} is given twice", entry.start
            )
        seen[row] = 1
        order.append(row)
        if entry.values.end - entry.values.start > MAX_WORD * head.sizes[-1]:
            _checked(head, entry, numbers(entry.values, at_most=head.sizes[-1]))
        texts.append(entry.values.text.replace(",", " ").split())
        kept.append(entry)
    rows[order] = _converted(head, texts, kept)
    missing = np.flatnonzero(np.frombuffer(seen, dtype=np.uint8) == 0)
    if missing.size and default is None:
        _refuse_missing(draft, head, missing.tolist())
    rows[missing] = default if default is not None else np.nan
    return rows


def _converted(head: TableHead, texts: list[list[str]], kept: list[Entry]) -> Floats:
    width = head.sizes[-1]
    for text, entry in zip(texts, kept, strict=True):
        if len(text) != width:
            _checked(head, entry, numbers(entry.values))
    flat = " ".join([word for text in texts for word in text])
    whole = Span(head.span.source, flat, 0, len(flat))
    try:
        values = numbers(whole)
    except FormatError:
        for entry in kept:  # one of these knows the line
            numbers(entry.values)
        raise
    return values.reshape(len(texts), width)


def _checked(head: TableHead, entry: Entry, values: Floats) -> Floats:
    if values.size != head.sizes[-1]:
        entry.values.source.fail(
            f"a row of {head.child!r} has {values.size} numbers, expected {head.sizes[-1]}, "
            "one for each of its states",
            entry.start,
        )
    return values


def _refuse_missing(draft: NetworkDraft, head: TableHead, missing: Sequence[int]) -> None:
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    head.span.fail(f"table of {head.child!r}: no row for {_row_name(draft, head, missing[0])}{more}")


def _row_name(draft: NetworkDraft, head: TableHead, row: int) -> str:
    states = configuration_of(row, head.sizes[:-1])
    pairs = zip(head.parents, states, strict=True)
    return f"({', '.join(f'{p}={draft.states(p, head.span.start)[s]}' for p, s in pairs)})"


def split_label(label: str, count: int) -> list[str]:
    """The states in a label, sealed: between commas, or between blanks where that gives `count` of them."""
    pieces = [piece.strip(BLANKS) for piece in label.split(",")]
    if len(pieces) != count:
        blank_separated = label.replace(",", " ").split()
        if len(blank_separated) == count:
            return blank_separated
    return pieces


def certain_table(states: Sequence[int], sizes: Sequence[int], span: Span) -> Floats:  # (rows, states)
    """Row r has all its mass on `states[r]`; `sizes` are those of the parents, then of the child.

    Raises `FormatError` at `span` unless there is one state for each configuration of the parents.
    """
    n_rows = math.prod(sizes[:-1])
    if len(states) != n_rows:
        span.fail(f"{len(states)} states found, expected {n_rows}, one for each configuration of the parents")
    table = np.zeros((n_rows, sizes[-1]))
    table[np.arange(n_rows), list(states)] = 1.0
    return table
