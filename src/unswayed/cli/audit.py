"""The command `audit`: every decision of a table, how safe it is, and what they add up to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unswayed.cli.case import QuestionOptions, resolve_question, with_case
from unswayed.cli.costs import plain_costs_of
from unswayed.cli.options import Cost, CostsFile
from unswayed.cli.output import check_output, show, show_json
from unswayed.core.errors import FormatError

TableFile = Annotated[
    Path, typer.Argument(metavar="TABLE", help="A CSV file with a row for each case.", show_default=False)
]


@with_case
def audit(
    case: QuestionOptions,
    *,
    table: TableFile,
    at_least: Annotated[
        float, typer.Option(metavar="P", help="A decision is safe when its SDP is this high.")
    ] = 0.95,
    next_test: Annotated[
        bool, typer.Option("--next", help="Name the test to ask next where a decision is not safe.")
    ] = False,
    why: Annotated[
        bool, typer.Option("--why", help="Name the fewest findings that keep each decision.")
    ] = False,
    outcome: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="What turned out to be true, to count confirmed decisions."),
    ] = None,
    cost: Cost = None,
    costs: CostsFile = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="Processes that may work at once.")] = 1,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where the rows go, with the columns decision, posterior, sdp, sdp_low, sdp_high and safe: "
            ".csv or .parquet.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Which decisions of a table were safe, and which would probably have turned?

    Each row is a case; empty cells were not observed. Rows that observe the same features share their work.
    """
    from unswayed import api
    from unswayed.view.audit_lines import audit_lines

    if output is not None:
        if output.suffix.lower() not in (".csv", ".parquet"):
            raise FormatError("an audit is written to a .csv or .parquet file; name it so", output)
        check_output(output)
    found = resolve_question(case)
    if found.evidence:
        from unswayed.decisions.classifier import Classifier

        full = found.classifier
        classifier = Classifier(full.network, full.target, full.features, full.rule, given=found.evidence)
    else:
        classifier = found.classifier
    audited = api.audit(
        classifier,
        table,
        at_least=at_least,
        next_test=next_test,
        reason=why,
        outcome=outcome,
        costs=plain_costs_of(cost, costs),
        n_jobs=jobs,
        **found.options,
    )
    if output is not None:
        audited.write(output)
    if case.as_json:
        written = {} if output is None else {"output": str(output)}
        show_json({**found.described(), **audited.summary(), **written})
    else:
        show(audit_lines(audited, output))
