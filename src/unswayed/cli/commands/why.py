"""The command `why`: what led to a decision, and what would turn it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated

from unswayed.cli.case import QuestionOptions, resolve_question, with_case
from unswayed.cli.costs import plain_costs_of
from unswayed.cli.evidence import names_in
from unswayed.cli.options import Cost, CostsFile, option
from unswayed.cli.outcome import with_options
from unswayed.cli.output import PictureFile, check_picture, emit
from unswayed.cli.progress import showing_words


@with_case
def why(
    case: QuestionOptions,
    *,
    at_least: Annotated[
        float, option("P", "How safely a reason must keep the decision; 1 means always.")
    ] = 0.95,
    fixed: Annotated[list[str] | None, option("A,B", "Findings that cannot change, such as age.")] = None,
    cost: Cost = None,
    costs: CostsFile = None,
    most: Annotated[int, option("N", "How many reasons and flips to list.")] = 10,
    output: PictureFile = None,
) -> None:
    """Why this decision, and what would turn it?

    The fewest findings that alone keep the decision (a reason), the changes and further observations that
    would turn it, what each finding contributed, and how far the numbers of the network may move.
    """
    from unswayed import api

    check_picture(output)
    found = resolve_question(case)
    with showing_words() as tell:

        def watch(best: float, bound: float, evaluations: int) -> None:
            held = "none yet" if math.isinf(best) else f"{best:g}"
            assert tell is not None
            tell(f"{evaluations:,} subsets, cheapest reason {held}, bound {bound:g}")

        reasons = api.why(
            found.classifier,
            evidence=found.evidence,
            at_least=at_least,
            costs=plain_costs_of(cost, costs),
            fixed=names_in(fixed or ()),
            most=most,
            watch=None if tell is None else watch,
            **found.options,
        )
    reasons = replace(reasons, notes=tuple(map(with_options, reasons.notes)))
    emit(reasons, found.asked(), as_json=case.as_json, output=output)
