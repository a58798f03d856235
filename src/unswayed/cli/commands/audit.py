"""The command `audit`: every decision of a table, how safe it is, and what they add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unswayed.cli.case import QuestionOptions, ResolvedCase, resolve_question, with_case
from unswayed.cli.costs import plain_costs_of
from unswayed.cli.options import Cost, CostsFile, Thousands, argument, flag, option, output_file, rows_in
from unswayed.cli.output import check_page, check_rows, emit, write_text
from unswayed.cli.progress import showing_words

if TYPE_CHECKING:
    from unswayed.decisions.classifier import Classifier
    from unswayed.model.data.parts import FileProgress

TableFile = Annotated[
    Path,
    argument("TABLE", "A CSV, Parquet or Arrow file with a row for each case, or a folder of Parquet files."),
]


@with_case
def audit(
    case: QuestionOptions,
    *,
    table: TableFile,
    at_least: Annotated[float, option("P", "A decision is safe when its SDP is this high.")] = 0.95,
    next_test: Annotated[
        bool, flag("--next", "Name the test to ask next where a decision is not safe.")
    ] = False,
    why: Annotated[bool, flag("--why", "Name the fewest findings that keep each decision.")] = False,
    outcome: Annotated[
        str | None, option("COLUMN", "The column with the true outcome, to count confirmed decisions.")
    ] = None,
    thousands: Thousands = None,
    cost: Cost = None,
    costs: CostsFile = None,
    jobs: Annotated[int, option("N", "Processes that may work at once.")] = 1,
    output: Annotated[
        Path | None,
        output_file(
            "FILE",
            "Where the rows go, with the columns decision, posterior, sdp, sdp_low, sdp_high and safe: "
            ".csv or .parquet. Rows are written as they are audited; the same command resumes after a stop.",
        ),
    ] = None,
    summary: Annotated[Path | None, option("FILE.html", "Where a page about all rows goes.")] = None,
) -> None:
    """Which decisions of a table were safe?

    And which would probably have turned? Each row is a case; empty cells were not observed. Rows that observe
    the same features share their work.
    """
    from unswayed import api
    from unswayed.view.audits import audit_page

    check_rows(output)
    if summary is not None:
        check_page(summary, "summary")
    found, rows = resolve_question(case), rows_in(table, thousands)
    options: dict[str, Any] = {
        "at_least": at_least,
        "next_test": next_test,
        "reason": why,
        "outcome": outcome,
        "costs": plain_costs_of(cost, costs),
        "n_jobs": jobs,
        **found.options,
    }
    if output is None:
        audited: Any = api.audit(with_evidence(found), rows, **options)
    else:
        with showing_rows() as report:
            audited = api.audit(with_evidence(found), rows, output=output, report=report, **options)
    if summary is not None:
        write_text(audit_page(audited), summary)
    written = {
        name: str(path) for name, path in (("output", output), ("summary", summary)) if path is not None
    }
    emit(audited, found.asked(**written), as_json=case.as_json)
    if not case.as_json:
        for path in written.values():
            typer.echo(f"wrote {path}")


def with_evidence(found: ResolvedCase) -> Classifier:
    """The classifier, with evidence that holds for every row."""
    full = found.classifier
    if not found.evidence:
        return full
    from unswayed.decisions.classifier import Classifier

    return Classifier(full.network, full.target, full.features, full.rule, given=found.evidence)


@contextmanager
def showing_rows() -> Iterator[Callable[[FileProgress], None] | None]:
    """A function that shows how many rows are done, where stderr is a terminal."""
    with showing_words() as show_words:
        yield None if show_words is None else lambda progress: show_words(progress_text(progress))


def progress_text(progress: FileProgress) -> str:
    """Rows done, how fast, and how long the rest takes.

    >>> from unswayed.model.data.parts import FileProgress
    >>> progress_text(FileProgress(200_000, 1_000_000, 2.0))
    '200,000 of about 1,000,000 rows, 100,000 rows/s, 8 s left'
    """
    whole = "" if progress.total is None else f" of about {max(progress.total, progress.n_rows):,}"
    text = f"{progress.n_rows:,}{whole} rows, {progress.rows_per_second:,.0f} rows/s"
    left = progress.seconds_left
    return text if left is None else f"{text}, {left:.0f} s left"
