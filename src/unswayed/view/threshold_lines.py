"""The best features for one threshold after another, as a table."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from unswayed.api.thresholds import ThresholdSweep
from unswayed.view.decision_lines import names_text
from unswayed.view.posterior_lines import given_line
from unswayed.view.probabilities import padded, probability_text, widest


def sweep_lines(sweep: ThresholdSweep, evidence: Mapping[str, str]) -> list[Text]:
    """A row for each threshold; below, where other features become the best."""
    rows = [("threshold", "agreement", "keep")]
    for threshold, chosen in zip(sweep.thresholds, sweep.selections, strict=True):
        star = "" if chosen.optimal else "*"
        kept = names_text(chosen.kept, at_most=len(chosen.kept))
        rows.append((f"{threshold:.4g}", probability_text(chosen.value) + star, kept))
    widths = [widest([row[i] for row in rows]) for i in range(2)]
    table = [f"{padded(row[0], widths[0])}  {padded(row[1], widths[1])}  {row[2]}" for row in rows]
    lines = [given_line(evidence)] if evidence else []
    lines.extend([Text(table[0], style="bold"), *map(Text, table[1:]), Text()])
    if any(not chosen.optimal for chosen in sweep.selections):
        lines.append(Text("Rows with a star are not proven to be the best."))
    return [*lines, Text(changes_text(sweep))]


def changes_text(sweep: ThresholdSweep) -> str:
    """At which thresholds the best features change, in a sentence."""
    if not sweep.changes:
        return "The same features are the best at every threshold."
    at = names_text([f"{threshold:.4g}" for threshold in sweep.changes], at_most=len(sweep.changes))
    return f"Other features become the best at {at}."
