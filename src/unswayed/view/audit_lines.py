"""An audited table in sentences."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from unswayed.api.audited import Audit

MOST_MISSING = 5
"""Missing features that are named."""


def audit_lines(audit: Audit, output: Path | None = None) -> list[Text]:
    """How many decisions are safe, where the others are, and for want of what."""
    found = audit.summary()
    lines = [
        Text(
            f"{found['rows']:,} decisions on {found['patterns']:,} patterns of observed features, "
            f"{found['seconds']:.2g} s"
        ),
        Text(f"safe at {audit.at_least:g}: {_share(found['safe'], found['rows'])}", style="bold"),
        Text(f"fragile: {_share(found['fragile'], found['rows'])}"),
    ]
    for action, count in found["by_decision"].items():
        if count["rows"]:
            lines.append(
                Text(f"  {action}: {_share(count['fragile'], count['rows'])} of its decisions are fragile")
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
    return lines if output is None else [*lines, Text(f"wrote {output}")]


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({part / whole:.1%})" if whole else f"{part:,} of {whole:,}"
