"""The command `why`: what led to a decision, and what would turn it."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from unswayed.cli.case import QuestionOptions, resolve_question, with_case
from unswayed.cli.costs import plain_costs_of
from unswayed.cli.evidence import names_in
from unswayed.cli.options import Cost, CostsFile
from unswayed.cli.outcome import with_options
from unswayed.cli.output import PictureFile, check_picture, emit

if TYPE_CHECKING:
    from unswayed.reasons.search import Watch


@with_case
def why(
    case: QuestionOptions,
    *,
    at_least: Annotated[
        float, typer.Option(metavar="P", help="How safely a reason must keep the decision; 1 means always.")
    ] = 0.95,
    fixed: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Findings that cannot change, such as age.", show_default=False),
    ] = None,
    cost: Cost = None,
    costs: CostsFile = None,
    most: Annotated[int, typer.Option(metavar="N", help="How many reasons and flips to list.")] = 10,
    output: PictureFile = None,
) -> None:
    """Why this decision, and what would turn it?

    The fewest findings that alone keep the decision (a reason), the changes and further observations that
    would turn it, what each finding contributed, and how far the numbers of the network may move.
    """
    from unswayed import api

    check_picture(output)
    found = resolve_question(case)
    with _progress() as watch:
        reasons = api.explain_decision(
            found.classifier,
            evidence=found.evidence,
            at_least=at_least,
            costs=plain_costs_of(cost, costs),
            fixed=names_in(fixed or ()),
            most=most,
            watch=watch,
            **found.options,
        )
    reasons = replace(reasons, notes=tuple(map(with_options, reasons.notes)))
    emit(reasons, found.asked(), as_json=case.as_json, output=output)


@contextmanager
def _progress() -> Iterator[Watch | None]:
    """A line on stderr that tells how the search goes, where that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(bar_format="{desc} [{elapsed}]", leave=False, file=sys.stderr) as line:

        def watch(best: float, bound: float, evaluations: int) -> None:
            held = "none yet" if math.isinf(best) else f"{best:g}"
            line.set_description_str(f"{evaluations:,} subsets, cheapest reason {held}, bound {bound:g}")

        yield watch
