"""Printing answers: lines for people, or one JSON object for programs."""

from __future__ import annotations

import io
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from unswayed.cli.outcome import print_wrapped
from unswayed.core.errors import FormatError

if TYPE_CHECKING:
    from rich.text import Text

_ASCII = str.maketrans(
    {"±": "~", "█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "#", "▍": "-", "▎": "-", "▏": "-"}
)


_NOTES: list[str] = []
"""What is said below the answer."""


def note_later(text: str) -> None:
    """Say this below the answer, once there is one."""
    _NOTES.append(text)


@contextmanager
def noting() -> Iterator[None]:
    """Print on stderr what was noted inside, unless an error ended it."""
    _NOTES.clear()
    yield
    sys.stdout.flush()
    for note in filter(None, _NOTES):
        print_wrapped(note)


def show(lines: Iterable[Text], *, file: TextIO | None = None) -> None:
    """Print lines, on stdout by default: coloured, wrapped at words in a terminal, as they are elsewhere."""
    from rich.console import Console
    from rich.text import Text

    file = sys.stdout if file is None else file
    if isinstance(file, io.TextIOWrapper):
        # A name that the terminal's encoding lacks is shown by its code point; it must not end the command.
        file.reconfigure(errors="backslashreplace")
    # Who reads a pipe or a file wants each line whole; who wants no colour, as a rule, wants plain text.
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    console = Console(
        file=file,
        color_system=colours,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=not file.isatty(),
    )
    for line in lines:
        if console.options.ascii_only:
            line = Text(line.plain.translate(_ASCII))
        console.print(line)


def show_json(answer: Mapping[str, Any]) -> None:
    """Print one JSON object, in UTF-8 whatever the terminal's encoding, numbers finite."""
    sys.stdout.flush()
    sys.stdout.buffer.write(json_text(answer).encode())


def json_text(answer: Mapping[str, Any]) -> str:
    """One JSON object as lines of text, numbers finite."""
    return json.dumps(_finite(answer), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def check_output(path: Path) -> None:
    """`FormatError` when no file can be written under this name; asked before the work."""
    if path.is_dir():
        raise FormatError("is a folder; name a file in it", path)
    if not path.parent.is_dir():
        raise FormatError(
            f"cannot be written, since there is no folder {str(path.parent)!r}; make it first", path
        )


def write_text(text: str, path: Path) -> None:
    """Write a file; `FormatError` when that is not possible."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FormatError(f"cannot be written ({error.strerror or error})", path) from None


def _finite(value: Any) -> Any:
    """The value with numbers that JSON does not know replaced by null."""
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
