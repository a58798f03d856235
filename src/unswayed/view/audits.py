"""What is said about an audited table: in sentences, and on a page (`templates/audit.html`)."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from rich.text import Text

from unswayed.api.audits.files import AuditedFile
from unswayed.api.audits.result import AuditSum
from unswayed.view.describe import Asked, Figure
from unswayed.view.numbers import counted

MOST_MISSING = 5
"""Missing features that are named."""
MOST_FEATURES = 20
"""Missing features in the table of a page."""


def describe_audit(audit: AuditSum, asked: Asked) -> list[Any]:
    """How many decisions are safe, where the others are, and for want of what."""
    found = audit.summary()
    rows, level = found["rows"], f"{audit.at_least:g}"
    wanting = [row for row in found["missing"] if row["missing_where_fragile"]][:MOST_MISSING]
    names = ", ".join(f"{row['feature']} ({row['missing_where_fragile']:,})" for row in wanting)
    return [
        f"{counted(rows, 'decision')} on {counted(found['patterns'], 'pattern')} of observed features, "
        f"{found['seconds']:.2g} s",
        *([Text(left_out_text(audit), style="bold")] if audit.left_out else []),
        Text(f"safe at {level}: {share_text(found['safe'], rows)}", style="bold"),
        f"fragile: {share_text(found['fragile'], rows)}",
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
        Figure(audit),
    ]


def left_out_text(audit: AuditSum) -> str:
    """How many rows have no answer, and how to go on."""
    whole = audit.left_out + len(audit)
    if not isinstance(audit, AuditedFile):
        return f"left out: {share_text(audit.left_out, whole)} rows, for want of time or memory; allow more"
    more = ", and all rows after these" if audit.goes_on else ""
    return (
        f"left out: {share_text(audit.left_out, whole)} rows{more}, for want of time or memory; their cells "
        "are empty: ask for the same again to go on"
    )


def share_text(part: int, whole: int) -> str:
    """Some of a number, and which share that is.

    >>> share_text(3, 12)
    '3 of 12 (25.0%)'
    """
    return f"{part:,} of {whole:,} ({part / whole:.1%})" if whole else f"{part:,} of {whole:,}"


def audit_page(audit: AuditSum) -> str:
    """An HTML page about an audited table that needs no other file and no network."""
    from unswayed.view.plotting import plot_result
    from unswayed.view.templating import read_style, render, show_drawing

    found = audit.summary()
    confirmed = found.get("confirmed", [])
    rows, level = found["rows"], f"{found['at_least']:g}"
    return render(
        "audit.html",
        title=f"{rows:,} decisions about {audit.classifier.target}",
        style=read_style(),
        tiles=[
            ("decisions", f"{rows:,}", f"on {counted(found['patterns'], 'pattern')} of observed features"),
            (f"safe at {level}", f"{found['safe'] / rows:.1%}", share_text(found["safe"], rows)),
            ("fragile", f"{found['fragile'] / rows:.1%}", share_text(found["fragile"], rows)),
        ],
        histogram=show_drawing(plot_result(audit).drawing),
        calibration=show_drawing(plot_result(audit, calibration=True).drawing) if confirmed else None,
        confirmed=confirmed,
        decisions=found["by_decision"],
        missing=[row for row in found["missing"] if row["missing"]][:MOST_FEATURES],
        patterns=found["by_pattern"],
        stopping=found["stopping"],
        left_out=left_out_text(audit) if audit.left_out else "",
        version=version("unswayed"),
    )
