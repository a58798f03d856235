"""Pictures on the command line: the command `draw`, and `-o FILE` of commands that have something to show."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from unswayed.cli.classifiers import classifier_of
from unswayed.cli.evidence import evidence_of, names_in
from unswayed.cli.options import AsJson, Evidence, Features, Format, NetworkFile, Normalize, network_in
from unswayed.cli.output import check_output, show_json
from unswayed.core.errors import FormatError, QueryError

if TYPE_CHECKING:
    from unswayed.decisions.classifier import Classifier
    from unswayed.model.network import BayesianNetwork
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


def draw(
    network: NetworkFile,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The picture: .svg, .png or .pdf.", show_default=False
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(metavar="D", help="What is decided about.", show_default=False),
    ] = None,
    features: Features = None,
    evidence: Evidence = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="A,B",
            help="Features that are kept; the others are dropped.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="A title; the network's name by default.", show_default=False),
    ] = None,
    normalize: Normalize = False,
    format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Draw a network, and what its variables are to a question.

    The target, the features, what was observed, what is kept and what is dropped.
    """
    check_picture(output)
    found = network_in(network, normalize=normalize, format=format)
    observed = evidence_of(evidence, found)
    kept = None if keep is None else tuple(names_in(keep))
    model = _model(found, target, features)
    heading = found.name if title is None else title
    from unswayed.view.plotting import draw_network

    draw_network(model, observed, kept, title=heading).save(output)
    if as_json:
        show_json({"network": found.name, "evidence": observed, "output": str(output)})
    else:
        typer.echo(f"wrote {output}")


def _model(
    network: BayesianNetwork, target: str | None, features: list[str] | None
) -> BayesianNetwork | Classifier:
    if target is not None:
        return classifier_of(network, target, features, threshold=None, utilities=None)
    if features is not None:
        raise QueryError("--features belong to a target; name it with --target")
    return network


def check_picture(path: Path) -> None:
    """`FormatError` for a name that no picture can be saved under; asked before the work."""
    from unswayed.view.figure import check_suffix

    check_suffix(path)
    check_output(path)


def plot_answer(result: Any, found: Asked, **options: Any) -> Picture:
    """The picture of a result, with what was asked below its title."""
    from unswayed.view.sentences import question_text

    return result.plot(subtitle=question_text(found.classifier, found.evidence), **options)  # type: ignore[no-any-return]


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
