"""Files of lines of words and numbers, as libsdd and DIMACS have them; complaints name the line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from unswayed.core.errors import FormatError
from unswayed.model.formats.files import replace_file
from unswayed.model.formats.reading.source import Source

_MOST_DIGITS = 10
_NAME = re.compile(r'c\s+name\s+([0-9]{1,9})\s+(".*")\s*$')


class Lines:
    """The lines of a file one after another, each with its words."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.text = ""
        self.number = 0
        # Not `splitlines`, which breaks at characters that other programs take for part of a comment.
        self._lines = source.text.split("\n")

    def __iter__(self) -> Iterator[list[str]]:
        """The words of each line that has any."""
        for number, text in enumerate(self._lines, start=1):
            self.number, self.text = number, text
            words = text.split()
            if words:
                yield words

    def numbers(self, words: list[str], expected: str, *, count: int | None = None) -> list[int]:
        """Whole numbers, as many as expected; `expected` is the line as it should look."""
        if count is not None and len(words) != count:
            self.fail(f"{self.text[:40]!r} found, expected {expected!r}")
        return [self.number_in(word, expected) for word in words]

    def number_in(self, word: str, expected: str) -> int:
        """One whole number."""
        digits = word[1:] if word[0] == "-" else word
        # The length is checked first: converting a million digits would take minutes.
        if len(digits) > _MOST_DIGITS or not (digits.isascii() and digits.isdigit()):
            self.fail(f"{word[:40]!r} found where {expected!r} has a whole number")
        return int(word)

    def named(self) -> tuple[int, str] | None:
        """The number and name of a variable, when the line is a comment that gives them."""
        match = _NAME.match(self.text)
        try:
            return None if match is None else (int(match[1]), str(json.loads(match[2])))
        except ValueError:
            return None  # somebody else's comment

    def fail(self, message: str) -> NoReturn:
        """Raise `FormatError` at the current line."""
        raise FormatError(message, self.path, self.number)


def name_lines(names: Sequence[str]) -> list[str]:
    """Comments that keep the names of variables, which these formats number from 1."""
    return [f"c name {i} {json.dumps(name)}" for i, name in enumerate(names, start=1)]


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole or not at all; `FormatError` when that is not possible."""
    replace_file(Path(path), text.encode("utf-8"))
