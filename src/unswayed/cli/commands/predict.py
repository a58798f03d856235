"""The command `predict`: what is decided on every row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from unswayed.cli.case import CaseOptions, resolve, with_case
from unswayed.cli.commands.audit import TableFile, showing_rows, with_evidence
from unswayed.cli.options import Thousands, limits_of, output_file, rows_in
from unswayed.cli.output import check_rows, say
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from rich.text import Text

    from unswayed.decisions.classifier import Classifier
    from unswayed.decisions.table_classifier import TableClassifier


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
    from unswayed import api
    from unswayed.view.describe import describe
    from unswayed.view.terminal import to_lines

    check_rows(output)
    classifier = _classifier(case)
    described, rows = _describe(classifier), rows_in(table, thousands)
    limits = limits_of(case.max_memory, case.max_seconds)
    if output is not None:
        with showing_rows() as report:
            found = api.predict(classifier, rows, output=output, report=report, limits=limits)
        lines: list[str | Text] = [*to_lines(describe(found)), f"wrote {output}"]
        say({**described, **found.summary(), "output": str(output)}, lines, as_json=case.as_json)
        return
    decided = api.predict(classifier, rows, limits=limits)
    columns = {"decision": decided.decision, "posterior": decided.posterior}
    told = {name: values for name, values in columns.items() if values is not None}
    say({**described, **told}, to_lines(describe(decided)), as_json=case.as_json)


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
