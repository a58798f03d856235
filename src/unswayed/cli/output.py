"""Showing answers: lines for people or one JSON object for programs, and pictures in files (`-o FILE`).

`emit` ends every command about decisions: it describes a result, prints it, and writes what `-o` names.
"""

from __future__ import annotations

import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from unswayed.cli.options import output_file
from unswayed.cli.outcome import print_wrapped, with_options
from unswayed.core.errors import FormatError

if TYPE_CHECKING:
    from rich.text import Text

    from unswayed.view.describe import Asked
    from unswayed.view.figure import Picture

PictureFile = Annotated[Path | None, output_file("FILE", "Draw it here: .png, .svg or .pdf.")]

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


def emit(
    result: Any,
    asked: Asked | None = None,
    *,
    as_json: bool,
    explain: bool = False,
    output: Path | None = None,
    draw: Callable[[], Picture] | None = None,
    save: Callable[[Path], None] | None = None,
) -> None:
    """Print what a result says, or its JSON; then write `output`, and say so unless a program listens.

    With `explain`, what every engine would have needed follows: beside JSON, on stderr. A picture is what
    `draw` makes, by default that of the result; `save` writes other files, by default the JSON.
    """
    from unswayed.view.describe import describe
    from unswayed.view.figure import is_picture
    from unswayed.view.json import to_json
    from unswayed.view.terminal import to_lines

    if as_json:
        show_json(to_json(result, asked))
    else:
        show(to_lines(describe(result, asked)))
    if explain:
        _explain(result, sys.stderr if as_json else sys.stdout)
    if output is None:
        return
    if is_picture(output):
        assert asked is not None
        (plot_answer(result, asked) if draw is None else draw()).save(output)
    elif save is not None:
        save(output)
    else:
        write_text(json_text(to_json(result, asked)), output)
    if not as_json:
        typer.echo(f"wrote {output}")


def _explain(result: Any, file: TextIO) -> None:
    from rich.text import Text

    from unswayed.view.decisions import bid_lines

    show((Text(with_options(line), style="dim") for line in bid_lines(result)), file=file)


def plot_answer(result: Any, asked: Asked, *, at_any_threshold: bool = False, **options: Any) -> Picture:
    """The picture of a result, with what was asked below its title."""
    from unswayed.decisions.classifier import Classifier
    from unswayed.view.sentences import question_text

    assert isinstance(asked.classifier, Classifier)
    below = question_text(asked.classifier, asked.evidence, at_any_threshold=at_any_threshold)
    return result.plot(subtitle=below, **options)  # type: ignore[no-any-return]


def say(answer: Mapping[str, Any], lines: Iterable[str | Text], *, as_json: bool) -> None:
    """Print an answer that is no result of a verb: an object for programs, or lines for people."""
    if as_json:
        show_json(answer)
    else:
        show(lines)


def show(lines: Iterable[str | Text], *, file: TextIO | None = None) -> None:
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
        console.print(Text(str(line).translate(_ASCII)) if console.options.ascii_only else line)


def show_json(answer: Mapping[str, Any]) -> None:
    """Print one JSON object, in UTF-8 whatever the terminal's encoding, numbers finite."""
    sys.stdout.flush()
    sys.stdout.buffer.write(json_text(answer).encode())


def json_text(answer: Mapping[str, Any]) -> str:
    """One JSON object as lines of text, numbers finite."""
    return json.dumps(_finite(answer), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def check_picture(path: Path | None, *, or_json: bool = False) -> None:
    """`FormatError` for a name that no picture (or JSON) can be saved under; asked before the work."""
    from unswayed.view.figure import SUFFIXES, check_suffix, is_picture

    if path is None:
        return
    if not or_json:
        check_suffix(path)
    elif not is_picture(path) and path.suffix.lower() != ".json":
        raise FormatError(
            f"pictures are saved as {', '.join(SUFFIXES)}, numbers as .json, not {path.suffix!r}", path
        )
    check_output(path)


def check_rows(path: Path | None) -> None:
    """`FormatError` for a name that rows cannot be written under; asked before the work."""
    from unswayed.model.data.row_files import check_row_file

    if path is not None:
        check_row_file(path)
        check_output(path)


def check_page(path: Path, what: str) -> None:
    """`FormatError` for a name that is none of a page; asked before the work."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise FormatError(f"a {what} is an .html file; name it so", path)
    check_output(path)


def check_output(path: Path | None) -> None:
    """`FormatError` when no file can be written under this name; asked before the work."""
    if path is None:
        return
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
