"""The command `predict`: what is decided on every row of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from unswayed.cli.case import CaseOptions, resolve, with_case
from unswayed.cli.commands.audit import TableFile, showing_rows, with_evidence
from unswayed.cli.options import Thousands, limits_of, output_file, rows_in
from unswayed.cli.output import check_rows, say
from unswayed.core.anytime import within
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.api.audits.predictions import PredictedFile
    from unswayed.decisions.classifier import Classifier
    from unswayed.decisions.table_classifier import TableClassifier
    from unswayed.model.data.csv import CsvFile

MOST_LINES = 20


@with_case
def predict(
    case: CaseOptions,
    *,
    table: TableFile,
    thousands: Thousands = None,
    output: Annotated[
        Path | None,
        output_file(
            "FILE",
            "Where the rows go, with the columns decision and posterior: .csv or .parquet. Rows are "
            "written as they are decided; the same command resumes after a stop.",
        ),
    ] = None,
) -> None:
    """What is decided on each row of a table?

    Each row is a case; empty cells were not observed. NETWORK may be a classifier that `trim -o` or
    save_classifier wrote, which knows its target, features and rule.
    """
    from unswayed.api.audits.predictions import predict_file

    check_rows(output)
    classifier = _classifier(case)
    described, rows = _describe(classifier), rows_in(table, thousands)
    limits = limits_of(case.max_memory, case.max_seconds)
    if output is not None:
        with showing_rows() as report:
            found = predict_file(classifier, rows, output, report=report, limits=limits)
        lines = [_counts_line(found.by_decision), *_left_out_lines(found), f"wrote {output}"]
        say({**described, **found.summary(), "output": str(output)}, lines, as_json=case.as_json)
        return
    with within(limits):
        columns = _decide_rows(classifier, rows)
    say({**described, **columns}, _row_lines(columns), as_json=case.as_json)


def _describe(classifier: Classifier | TableClassifier) -> dict[str, Any]:
    from unswayed.decisions.classifier import Classifier
    from unswayed.view.describe import Asked
    from unswayed.view.json import question_of

    if isinstance(classifier, Classifier):
        return question_of(Asked(classifier, dict(classifier.given)))
    return {"target": classifier.target, "features": list(classifier.features)}


def _classifier(case: CaseOptions) -> Classifier | TableClassifier:
    """The classifier on the line, or the saved one; evidence holds for every row."""
    from unswayed.api.saving import is_saved_classifier, load_classifier
    from unswayed.decisions.classifier import Classifier
    from unswayed.decisions.table_classifier import TableClassifier

    if not is_saved_classifier(case.network):
        return with_evidence(resolve(case))
    if any(word is not None for word in (case.target, case.threshold, case.utilities, case.features)):
        raise QueryError("a saved classifier knows its target, rule and features; leave these options out")
    saved = load_classifier(case.network)
    assert isinstance(saved, Classifier | TableClassifier)
    if case.evidence:
        raise QueryError("a saved classifier knows its evidence; put what was observed into the table")
    return saved


def _decide_rows(classifier: Classifier | TableClassifier, table: Path | CsvFile) -> dict[str, list[Any]]:
    from unswayed.api.audits.predictions import predicted_columns
    from unswayed.model.data.chunks import read_chunks

    found: dict[str, list[Any]] = {}
    for chunk in read_chunks(table):
        for name, values in predicted_columns(classifier, chunk).items():
            # A posterior that is not known has no number, in JSON neither.
            found.setdefault(name, []).extend(None if cell != cell else cell for cell in values.tolist())
    return found


def _counts_line(by_decision: Mapping[str, int]) -> str:
    rows = sum(by_decision.values())
    counts = ", ".join(f"{action} {count:,}" for action, count in by_decision.items())
    return f"{rows:,} rows: {counts}"


def _left_out_lines(found: PredictedFile) -> list[str]:
    """What was not decided before the time was over, and how to go on."""
    if not found.left_out:
        return []
    more = ", and all rows after these" if found.goes_on else ""
    return [
        f"left out: {found.left_out:,} rows{more}, for want of time or memory; their cells are empty: "
        "ask for the same again to go on"
    ]


def _row_lines(columns: dict[str, list[Any]]) -> list[str]:
    """How many rows there are of each decision, and the first of them."""
    decisions = columns["decision"]
    posteriors = columns.get("posterior", [])
    decided = Counter(decisions)
    left_out = decided.pop(None, 0)
    lines = [_counts_line(dict(sorted(decided.items())))]
    if left_out:
        lines.append(f"left out: {left_out:,} rows, for want of time or memory; allow more")
    width = max(map(len, decided))
    for row, decision in enumerate(decisions[:MOST_LINES]):
        posterior = f"  {posteriors[row]:.4f}" if posteriors and decision is not None else ""
        lines.append(f"{row + 1:>4}  {decision or 'left out':{width}}{posterior}")
    if len(decisions) > MOST_LINES:
        lines.append(f"... and {len(decisions) - MOST_LINES:,} more; all of them with -o FILE")
    return lines
