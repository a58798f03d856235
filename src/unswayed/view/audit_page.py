"""A table of decisions on one page: HTML that needs nothing else (`templates/audit.html`)."""

from __future__ import annotations

from importlib.metadata import version

from unswayed.api.audits.result import AuditSum
from unswayed.view.audit_lines import left_out_text, share_text
from unswayed.view.numbers import counted
from unswayed.view.plotting import plot_result
from unswayed.view.templating import read_style, render, show_drawing

MOST_FEATURES = 20
"""Missing features in the table."""


def audit_page(audit: AuditSum) -> str:
    """An HTML page about an audited table that needs no other file and no network."""
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
