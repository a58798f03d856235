"""What is said about an audited table: in sentences, and on a page (`audit_page`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.text import Text

from unswayed.api.audits.files import AuditedFile
from unswayed.api.audits.predictions import PredictedFile, Predictions
from unswayed.api.audits.result import AuditSum
from unswayed.view.describe import Asked, Figure, Heading, Part, Row, TextTable
from unswayed.view.numbers import counted

MOST_MISSING = 5
"""Missing features that are named."""
MOST_ROWS = 20
"""Rows of a table whose decisions are listed."""
MOST_FEATURES = 20
"""Missing features in the table of a page."""


SAVINGS = (
    "A rule that asks no further test once the same-decision probability reaches a level leaves out these "
    "tests."
)
DISCS = (
    "Share of decisions that the recorded outcome confirmed, by their same-decision probability; larger "
    "discs stand for more rows."
)
LEVELS = {
    "at_least": ("level", "g"),
    "rows": ("rows that reach it", ","),
    "saved_cost": ("cost of the tests left out", ",.6g"),
}
WANTING = {
    "feature": ("feature", ""),
    "missing": ("rows without it", ","),
    "missing_where_fragile": ("fragile rows without it", ","),
}
BANDS = {
    "sdp_from": ("from", "g"),
    "sdp_to": ("to", "g"),
    "rows": ("rows", ","),
    "mean_sdp": ("mean", ".4f"),
    "confirmed": ("confirmed", ".1%"),
}
"""The headings of columns, and how their numbers are written."""


def describe_audit(audit: AuditSum, asked: Asked) -> list[Any]:
    """How many decisions are safe, where the others are, and for want of what."""
    found = audit.summary()
    rows, level = found["rows"], f"{audit.at_least:g}"
    open_rows, of = rows - found["complete"], " rows that miss something" if found["complete"] else ""
    wanting = [row for row in found["missing"] if row["missing_where_fragile"]][:MOST_MISSING]
    names = ", ".join(f"{row['feature']} ({row['missing_where_fragile']:,})" for row in wanting)
    return [
        f"{counted(rows, 'decision')} on {counted(found['patterns'], 'pattern')} of observed features, "
        f"{found['seconds']:.2g} s",
        *([Text(left_out_text(audit), style="bold")] if audit.left_out else []),
        Text(f"safe at {level}: {share_text(found['safe_of_incomplete'], open_rows)}{of}", style="bold"),
        f"fragile: {share_text(found['fragile'], open_rows)}{of}",
        *([complete_text(found)] if found["complete"] else []),
        *(
            f"  {action}: {share_text(count['fragile'], count['rows'])} of its decisions are fragile"
            for action, count in found["by_decision"].items()
            if count["rows"]
        ),
        *([f"most often missing where a decision is fragile: {names}"] if wanting else []),
        *([f"stopping at {level} saves tests worth {found['saved_cost']:,.6g}"] * bool(found["saved_cost"])),
        *(
            f"SDP {band['sdp_from']:g} to {band['sdp_to']:g}: {band['confirmed']:.1%} of "
            f"{band['rows']:,} decisions confirmed"
            for band in found.get("confirmed", ())
        ),
        *(outcome_texts(found["outcomes"]) if found.get("confirmed") else ()),
        Figure(audit),
    ]


def complete_text(found: Mapping[str, Any]) -> str:
    """The rows that are safe whatever the classifier is worth."""
    return f"nothing missing: {share_text(found['complete'], found['rows'])} rows, safe by that alone"


def outcome_texts(outcomes: Mapping[str, Any]) -> list[str]:
    """How often decisions were right, and what posteriors were worth: safe is neither."""
    texts = [f"right: {share_text(outcomes['right'], outcomes['rows'])} decisions whose outcome is known"]
    if (calibration := outcomes["calibration"]) is not None:
        texts.append(
            f"posteriors: {calibration['mean_posterior']:.3f} on average, {calibration['came_true']:.3f} of "
            f"them true; calibration error {calibration['error']:.3f}, Brier score {calibration['brier']:.3f}"
        )
    return texts


def left_out_text(audit: AuditSum) -> str:
    """How many rows have no answer, and how to go on."""
    return _left_out(audit, share_text(audit.left_out, audit.left_out + len(audit)))


def _left_out(found: AuditSum | PredictedFile | Predictions, count: str) -> str:
    if not isinstance(found, AuditedFile | PredictedFile):
        return f"left out: {count} rows, for want of time or memory; allow more"
    more = ", and all rows after these" if found.goes_on else ""
    return (
        f"left out: {count} rows{more}, for want of time or memory; their cells are empty: ask for the same "
        "again to go on"
    )


def describe_predictions(found: Predictions, asked: Asked) -> list[Any]:
    """How many rows there are of each decision, and the first of them."""
    posteriors = found.posterior or (None,) * len(found)
    first = zip(range(1, MOST_ROWS + 1), found.decision, posteriors, strict=False)
    rows: list[Row] = [
        (f"{row:>4}", decision or "left out", "" if posterior is None else f"{posterior:.4f}")
        for row, decision, posterior in first
    ]
    if len(found) > MOST_ROWS:
        rows.append((f"... and {len(found) - MOST_ROWS:,} more; all of them with -o FILE (output=FILE)",))
    return [*describe_predicted_file(found, asked), TextTable(rows)]


def describe_predicted_file(found: Predictions | PredictedFile, asked: Asked) -> list[Any]:
    """How many rows there are of each decision, and how many of none."""
    counts = ", ".join(f"{action} {count:,}" for action, count in found.by_decision.items())
    left_out = [_left_out(found, f"{found.left_out:,}")] if found.left_out else []
    return [f"{sum(found.by_decision.values()):,} rows: {counts}", *left_out]


def share_text(part: int, whole: int) -> str:
    """Some of a number, and which share that is.

    >>> share_text(3, 12)
    '3 of 12 (25.0%)'
    """
    return f"{part:,} of {whole:,} ({part / whole:.1%})" if whole else f"{part:,} of {whole:,}"


def _tile(part: int, whole: int, of: str) -> tuple[str, str]:
    """A share for a tile of the page, and what it is of."""
    return f"{part / whole:.1%}" if whole else "-", share_text(part, whole) + of


def audit_page(audit: AuditSum) -> str:
    """An HTML page about an audited table that needs no other file and no network."""
    from unswayed.view.templating import render_sheet

    found = audit.summary()
    right = found["outcomes"] if found.get("confirmed") else None
    rows, level = found["rows"], f"{found['at_least']:g}"
    open_rows, of = rows - found["complete"], " that miss something" if found["complete"] else ""
    return render_sheet(
        f"{rows:,} decisions about {audit.classifier.target}",
        "How many would stand if everything else became known, and what is missing where they would not.",
        [
            ("decisions", f"{rows:,}", f"on {counted(found['patterns'], 'pattern')} of observed features"),
            (f"safe at {level}", *_tile(found["safe_of_incomplete"], open_rows, of)),
            ("fragile", *_tile(found["fragile"], open_rows, of)),
            *([("nothing missing", *_tile(found["complete"], rows, ", safe by that alone"))] * bool(of)),
            *([("right", *_tile(right["right"], right["rows"], " with a known outcome"))] if right else []),
        ],
        [
            ("safety", "How safe are the decisions?", _describe_safety(audit, found)),
            ("missing", "What is missing where they are not safe?", _describe_missing(found)),
            ("stopping", "What would stopping have saved?", [SAVINGS, _table(found["stopping"], LEVELS)]),
            ("outcomes", "Were they confirmed?", _describe_outcomes(audit, found)),
        ],
    )


def _table(records: Iterable[Mapping[str, Any]], columns: Mapping[str, tuple[str, str]]) -> TextTable:
    """A row for each record; of each column its heading, and how its numbers are written."""
    rows = [tuple(format(each[name], spec) for name, (_, spec) in columns.items()) for each in records]
    right = [place for place, (_, spec) in enumerate(columns.values()) if spec]
    return TextTable(rows, [heading for heading, _ in columns.values()], right=right)


def _describe_safety(audit: AuditSum, found: dict[str, Any]) -> list[Part]:
    decisions = [{"action": action, **count} for action, count in found["by_decision"].items()]
    return [
        *([Text(f"{left_out_text(audit).capitalize()}.", style="bold")] if audit.left_out else []),
        Figure(audit, caption="Rows by the probability that their decision stays as it is."),
        _table(decisions, {"action": ("decision", ""), "rows": ("rows", ","), "fragile": ("fragile", ",")}),
    ]


def _describe_missing(found: dict[str, Any]) -> list[Part]:
    missing = [row for row in found["missing"] if row["missing"]][:MOST_FEATURES]
    patterns = [{**row, "missing": ", ".join(row["missing"]) or "nothing"} for row in found["by_pattern"]]
    return [
        _table(missing, WANTING),
        Heading("Patterns with most fragile decisions"),
        _table(patterns, {"missing": ("missing", ""), "rows": ("rows", ","), "fragile": ("fragile", ",")}),
    ]


def _describe_outcomes(audit: AuditSum, found: dict[str, Any]) -> list[Part]:
    from unswayed.view.plotting import plot_result

    if not (bands := found.get("confirmed")):
        return []
    return [Figure(plot_result(audit, calibration=True).drawing, caption=DISCS), _table(bands, BANDS)]
