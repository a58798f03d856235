"""XML text as a tree of elements that know where they stand, read safely.

A network file may come from anywhere, so the parser is closed to what XML offers an attacker: entity
declarations are refused (no expansion can blow up), nothing outside the file is ever fetched, and depth and
number of elements are bounded. Document types with element and attribute declarations, which XMLBIF files
carry, are accepted and ignored.

Tags and attribute names come out in lower case and without namespace prefix: XMLBIF is found in both cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn
from xml.parsers import expat

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.model.formats.reading.draft import MAX_ENTRIES
from unswayed.model.formats.reading.source import Source
from unswayed.model.formats.reading.tokens import decimal_number

MAX_DEPTH = 64
"""Deepest nesting read; GeNIe's submodels nest a few levels, everything else four."""
MAX_ELEMENTS = 300_000
"""Most elements read; munin, with 1041 variables, has 20,000 in XDSL."""
MAX_WORD = 1000
"""Most characters of a number."""
STRETCH = 2**20
"""Characters given to the parser at one time."""


@dataclass(frozen=True, slots=True)
class Element:
    """One element; filled while the parser runs, left alone afterwards."""

    tag: str
    """Its name, in lower case."""
    attributes: dict[str, str]
    """Values by lower-case name."""
    offset: int
    """Where it begins in the text of the file."""
    children: list[Element] = field(default_factory=list)
    """Elements directly inside, in order."""
    parts: list[str] = field(default_factory=list)
    """Pieces of text directly inside."""

    @property
    def text(self) -> str:
        """The text directly inside, without spaces around it; a comment separates words."""
        return "".join(self.parts).strip()

    def each(self, *tags: str) -> Iterator[Element]:
        """The children with one of these tags."""
        return (child for child in self.children if child.tag in tags)


def parse_xml(source: Source) -> Element:
    """The root element; `FormatError` with the line for anything that is not safe, well-formed XML."""
    return _TreeBuilder(source).build()


def numbers(source: Source, element: Element, *, at_most: int = MAX_ENTRIES) -> Floats:
    """The numbers in an element, separated by white space; `FormatError` when far more than `at_most`.

    The text comes in pieces of a few kilobytes and is converted piece by piece, so that a file of wrong
    numbers takes little memory to refuse.
    """
    found, count, rest = [], 0, ""
    for part in [*element.parts, " "]:
        words = (rest + part).split()
        # A piece may end in the middle of a word.
        rest = words.pop() if words and not part[-1:].isspace() and len(words[-1]) < MAX_WORD else ""
        found.append(_converted(source, element, words))
        count += len(words)
        if count > 2 * at_most + 1000:
            source.fail(
                f"more than {at_most:,} numbers in one <{element.tag}>, expected {at_most:,}", element.offset
            )
    return np.concatenate(found)


def _converted(source: Source, element: Element, words: list[str]) -> Floats:
    try:
        return np.fromiter(map(decimal_number, words), dtype=np.float64, count=len(words))
    except ValueError as error:
        source.fail(f"<{element.tag}>: {error}", element.offset)


def only_child(source: Source, element: Element, tag: str) -> Element:
    """The one child with this tag; `FormatError` when there is none or another."""
    found = list(element.each(tag))
    if len(found) != 1:
        count = "no" if not found else f"{len(found)} times"
        source.fail(f"{count} <{tag}> in <{element.tag}>; expected exactly one", element.offset)
    return found[0]


class _TreeBuilder:
    """The handlers of one parse; dies when the tree is made."""

    def __init__(self, source: Source) -> None:
        self.source = source
        # The text is decoded already, whatever encoding the file declares: naming one here overrides that.
        self.parser: Any = expat.ParserCreate("utf-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.CommentHandler = self._comment
        self.parser.EntityDeclHandler = self._refuse_entity
        self.parser.SkippedEntityHandler = self._refuse_entity
        self.document = Element("", {}, 0)
        self.open = [self.document]
        self.n_elements = 0
        # Blanks before the declaration, which XML does not allow, are left out.
        self.seen_characters = len(source.text) - len(source.text.lstrip())
        self.seen_bytes = 0
        self.data, self.n_passed = b"", 0  # what the parser was given last, and how much of it was seen

    def build(self) -> Element:
        """Run the parser over the whole text, a stretch at a time: encoded whole, it would double."""
        text = self.source.text
        try:
            for start in range(self.seen_characters, len(text), STRETCH):
                piece = text[start : start + STRETCH].encode("utf-8")
                self._here()
                self.data, self.n_passed = self.data[self.n_passed :] + piece, 0
                self.parser.Parse(piece, False)
            self.parser.Parse(b"", True)
        except expat.ExpatError as error:
            reason = expat.errors.messages.get(error.code, str(error))
            self.source.fail(
                f"not well-formed XML ({reason}); expected tags that open and close", self._here()
            )
        return self.document.children[0]

    def _here(self) -> int:
        # The parser counts bytes and Source characters; positions only grow, so each byte is decoded once.
        more = max(self.parser.CurrentByteIndex - self.seen_bytes, 0)
        passed = self.data[self.n_passed : self.n_passed + more]
        self.seen_characters += len(passed.decode("utf-8", "ignore"))
        self.seen_bytes += more
        self.n_passed += more
        return self.seen_characters

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.n_elements += 1
        if len(self.open) > MAX_DEPTH:
            self.source.fail(
                f"elements nested more than {MAX_DEPTH} deep; no network needs that", self._here()
            )
        if self.n_elements > MAX_ELEMENTS:
            self.source.fail(f"more than {MAX_ELEMENTS:,} elements; too large for a network", self._here())
        by_name = {_local(key): value for key, value in attributes.items()}
        element = Element(_local(name), by_name, self._here())
        self.open[-1].children.append(element)
        self.open.append(element)

    def _end(self, name: str) -> None:
        self.open.pop()

    def _text(self, text: str) -> None:
        self.open[-1].parts.append(text)

    def _comment(self, text: str) -> None:
        self.open[-1].parts.append(" ")

    def _refuse_entity(self, name: str, *details: object) -> NoReturn:
        self.source.fail(f"the entity {name!r} is declared or used; replace it by its text", self._here())


def _local(name: str) -> str:
    return name.rpartition(":")[2].lower()
