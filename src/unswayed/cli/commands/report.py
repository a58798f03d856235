"""The command `report`: everything about one classifier on one page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from unswayed.cli.case import PricedOptions, resolve, with_case
from unswayed.cli.commands.selection import HeldOut
from unswayed.cli.costs import costs_of
from unswayed.cli.options import flag, option, output_file
from unswayed.cli.outcome import with_options
from unswayed.cli.output import check_page, say, write_text
from unswayed.cli.progress import showing_words


@with_case
def report(
    case: PricedOptions,
    *,
    output: Annotated[Path, output_file("FILE.html", "Where the page goes.")],
    at_least: Annotated[
        float, option("P", "The SDP of a safe decision, and the agreement wanted of a trimming.")
    ] = 0.95,
    held_out: HeldOut = None,
    title: Annotated[str | None, option("TEXT", "A title of your own.")] = None,
    certain: Annotated[
        bool, flag("--certain", "Leave out the parts where only samples could answer, instead of estimating.")
    ] = False,
) -> None:
    """All about a classifier on one page, for a browser or to print.

    How robust its decisions are, which features matter by which criterion, what each budget buys, and what
    the recommended trimming would decide differently.
    """
    from unswayed import api
    from unswayed.view.json import question_of
    from unswayed.view.numbers import counted
    from unswayed.view.page import report_page

    check_page(output, "report")
    asked = resolve(case)
    costs = costs_of(case.cost, case.costs)
    with showing_words() as tell:
        found = api.report(
            asked.classifier,
            asked.evidence,
            costs=costs,
            at_least=at_least,
            held_out=held_out,
            allow_estimates=not certain,
            limits=asked.limits,
            tell=tell,
        )
    found = replace(found, notes=tuple(map(with_options, found.notes)))
    write_text(report_page(found, title=title or ""), output)
    lines = [f"wrote {output}"]
    if found.notes:
        lines.append(f"{counted(len(found.notes), 'part')} left out or estimated; the page says why")
    answer = {**question_of(asked.asked()), "output": str(output), "notes": list(found.notes)}
    say(answer, lines, as_json=case.as_json)
