"""Pictures on the command line: `-o FILE` of commands that have something to show."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from unswayed.cli.output import check_output
from unswayed.core.errors import FormatError

if TYPE_CHECKING:
    from unswayed.decisions.classifier import Classifier
    from unswayed.view.figure import Picture

PictureFile = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Draw it here: .png, .svg or .pdf.", show_default=False
    ),
]


class Asked(Protocol):
    """What a command was asked about."""

    @property
    def classifier(self) -> Classifier:
        """What decides."""

    @property
    def evidence(self) -> Mapping[str, str]:
        """What is known."""


def check_picture(path: Path) -> None:
    """`FormatError` for a name that no picture can be saved under; asked before the work."""
    from unswayed.view.figure import check_suffix

    check_suffix(path)
    check_output(path)


def plot_answer(result: Any, found: Asked, *, at_any_threshold: bool = False, **options: Any) -> Picture:
    """The picture of a result, with what was asked below its title."""
    from unswayed.view.sentences import question_text

    asked = question_text(found.classifier, found.evidence, at_any_threshold=at_any_threshold)
    return result.plot(subtitle=asked, **options)  # type: ignore[no-any-return]


def check_picture_or_json(path: Path) -> None:
    """`FormatError` for a name that neither a picture nor JSON can be saved under; asked before the work."""
    from unswayed.view.figure import SUFFIXES, is_picture

    if not is_picture(path) and path.suffix.lower() != ".json":
        raise FormatError(
            f"pictures are saved as {', '.join(SUFFIXES)}, numbers as .json, not {path.suffix!r}", path
        )
    check_output(path)


def save_picture(picture: Picture, path: Path, *, quiet: bool) -> None:
    """Write a picture and say so, unless the output is for a program."""
    picture.save(path)
    if not quiet:
        typer.echo(f"wrote {path}")
