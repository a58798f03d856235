"""The command `report`: everything about one classifier on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.case import with_case
from holdfast.cli.output import write_text
from holdfast.cli.search_case import SearchCase, opened_search
from holdfast.core.errors import FormatError


@with_case
def report(
    case: SearchCase,
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE.html", help="Where the page goes.", show_default=False),
    ],
    at_least: Annotated[
        float,
        typer.Option(
            metavar="P", help="How safe a decision, and how often in agreement a trimming, should be."
        ),
    ] = 0.95,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A title of your own.", show_default=False)
    ] = None,
) -> None:
    """Write a page about a classifier, to be read in a browser or printed.

    How robust its decisions are, which features matter by which criterion, what each budget buys, and what
    the recommended trimming would decide differently.
    """
    from holdfast.api.examining import examine
    from holdfast.report.page import report_page

    if output.suffix.lower() not in (".html", ".htm"):
        raise FormatError("a report is an .html file", output)
    found = opened_search(case)
    examined = examine(
        found.classifier, found.costs, found.evidence, at_least=at_least, limits=found.options["limits"]
    )
    write_text(report_page(examined, title=title or ""), output)
    typer.echo(f"wrote {output}")
