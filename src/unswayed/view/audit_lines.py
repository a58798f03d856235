"""An audited table in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from unswayed.api.audits.files import AuditedFile
from unswayed.api.audits.result import AuditSum
from unswayed.view.numbers import counted

MOST_MISSING = 5
"""Missing features that are named."""


def audit_lines(audit: AuditSum, outputs: Sequence[str] = ()) -> list[Text]:
    """How many decisions are safe, where the others are, and for want of what."""
    found = audit.summary()
    lines = [
        Text(
            f"{counted(found['rows'], 'decision')} on {counted(found['patterns'], 'pattern')} "
            f"of observed features, {found['seconds']:.2g} s"
        ),
        Text(f"safe at {audit.at_least:g}: {share_text(found['safe'], found['rows'])}", style="bold"),
        Text(f"fragile: {share_text(found['fragile'], found['rows'])}"),
    ]
    if audit.left_out:
        lines.insert(1, Text(left_out_text(audit), style="bold"))
    for action, count in found["by_decision"].items():
        if count["rows"]:
            lines.append(
                Text(
                    f"  {action}: {share_text(count['fragile'], count['rows'])} of its decisions are fragile"
                )
            )
    wanting = [row for row in found["missing"] if row["missing_where_fragile"]][:MOST_MISSING]
    if wanting:
        names = ", ".join(f"{row['feature']} ({row['missing_where_fragile']:,})" for row in wanting)
        lines.append(Text(f"most often missing where a decision is fragile: {names}"))
    if found["saved_cost"]:
        lines.append(Text(f"stopping at {audit.at_least:g} saves tests worth {found['saved_cost']:,.6g}"))
    lines += [
        Text(
            f"SDP {band['sdp_from']:g} to {band['sdp_to']:g}: {band['confirmed']:.1%} of "
            f"{band['rows']:,} decisions confirmed"
        )
        for band in found.get("confirmed", ())
    ]
    return [*lines, *(Text(f"wrote {path}") for path in outputs)]


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
