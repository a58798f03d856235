"""Blocks and statements: the punctuation that all brace-and-semicolon formats have in common.

    part      = statement ";" | header "{" part* "}" [";"]
    attribute = name "=" value ";" | name "=" "{" part* "}" [";"]

`parts` walks through a stretch of sealed text part by part and looks neither into statements nor into
blocks: what a table costs is decided by the reader that wants it. A last statement may lack its semicolon.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count as count_from
from typing import NamedTuple

from unswayed.model.formats.reading.tokens import BLANKS, Span, name_of, shown, words

MAX_DEPTH = 40
"""Deepest nesting of blocks; real files have five levels."""
MAX_PARTS = 300_000
"""Most statements and blocks in one block; munin, with 1041 variables, has 2083."""
MAX_HEADER = 100_000
"""Most characters before a `{`; a thousand parents with long names fit."""

_EMPTY = re.compile(rf"[{BLANKS};]*")
_STOP = re.compile("[;{}]")
# Text and blocks without inner blocks, then the brace that opens or closes a level. No possessive repeats:
# early releases of Python 3.11 lose groups after them. A plain repeat takes 176 bytes a round, so rounds are
# limited.
_NEXT_LEVEL = re.compile(r"[^{}]*(?:\{[^{}]*\}[^{}]*){0,1000}([{}]?)")
_KEYWORD = re.compile("[A-Za-z_][A-Za-z0-9_]*")


class Part(NamedTuple):
    """A statement, or a block with its header."""

    head: Span
    """The statement, or what stands before the `{`."""
    body: Span | None
    """What stands between the braces of a block; `None` for a statement."""
    keyword: str
    """The first word of the head in lower case; empty when there is none."""

    def after_keyword(self) -> Span:
        """The head without its first word."""
        return self.head.within(self.head.start + len(self.keyword), self.head.end)


def parts(span: Span) -> Iterator[Part]:
    """The statements and blocks of a stretch, one after the other."""
    sealed, position = span.sealed, span.start
    for count in count_from(1):
        found = _EMPTY.match(sealed, position, span.end)
        position = found.end() if found else position
        if position >= span.end:
            return
        if count > MAX_PARTS:
            span.fail(f"more than {MAX_PARTS:,} statements in one block; this is no network")
        stop = _STOP.search(sealed, position, span.end)
        if stop is None:
            yield _part(span.within(position, span.end), None)
            return
        if stop.group() == "}":
            span.source.fail("'}' without a '{' before it", stop.start())
        head, body, end = span.within(position, stop.start()), None, stop.end()
        if stop.group() == "{":
            end = _closing_brace(span, head, stop.start()) + 1
            body = span.within(stop.end(), end - 1)
        yield _part(head, body)
        position = end


def _part(head: Span, body: Span | None) -> Part:
    found = _KEYWORD.match(head.sealed, head.start, head.end)
    return Part(head, body, found.group().lower() if found else "")


def _closing_brace(span: Span, head: Span, start: int) -> int:
    if head.end - head.start > MAX_HEADER:
        head.fail(f"expected the header of a block, found {shown(head.text)}")
    depth, position = 1, start + 1
    while depth > 0:
        found = _NEXT_LEVEL.match(span.sealed, position, span.end)
        if found is None or not found[1]:
            span.source.fail("'{' is never closed; expected a '}' (is the file cut off?)", start)
        depth += 1 if found[1] == "{" else -1
        position = found.end()
        if depth > MAX_DEPTH:
            span.source.fail(f"blocks nested deeper than {MAX_DEPTH}", position - 1)
    return position - 1


def only_block(text: Span, keyword: str) -> tuple[Span, Span]:
    """Name and body of the one block that a file consists of."""
    found: tuple[Span, Span] | None = None
    for part in parts(text):
        if part.body is None or part.keyword != keyword or found is not None:
            part.head.fail(f"expected one block '{keyword} name {{ ... }}', found {shown(part.head.text)}")
        found = part.after_keyword(), part.body
    if found is None:
        text.fail(f"the file is empty; expected a block '{keyword} name {{ ... }}'")
    return found


def attributes(span: Span, wanted: frozenset[str]) -> dict[str, Span]:
    """The values of the attributes that are wanted, by name in lower case.

    The value of an attribute that is a block is what stands between the braces.
    """
    found: dict[str, Span] = {}
    for part in parts(span):
        equals = part.head.sealed.find("=", part.head.start, part.head.end)
        if equals < 0:
            if part.body is None:
                part.head.fail(f"expected 'name = value;', found {shown(part.head.text)}")
            continue
        name = part.head.within(part.head.start, equals).text.lower()
        if name in wanted:
            if name in found:
                part.head.fail(f"attribute {name!r} is given twice in one block")
            value = part.head.within(equals + 1, part.head.end)
            found[name] = value if part.body is None else part.body
    return found


def list_items(value: Span) -> list[Span]:
    """The words of a list in parentheses, `(a, b)` or `("a" "b")`."""
    return words(unwrapped(value))


def list_names(value: Span) -> list[str]:
    """The names in a list in parentheses, quotes removed."""
    return [name_of(item.text) for item in list_items(value)]


def unwrapped(value: Span) -> Span:
    """What stands between the parentheses of a list; inner ones must come in pairs."""
    sealed = value.sealed
    if value.end - value.start < 2 or sealed[value.start] != "(" or sealed[value.end - 1] != ")":
        value.fail(f"expected a list in parentheses, found {shown(value.text)}")
    opened, closed = (sealed.count(each, value.start, value.end) for each in "()")
    if opened != closed:
        value.fail(f"the list opens {opened} parentheses and closes {closed}")
    return value.within(value.start + 1, value.end - 1)
