"""What to observe next, as a table: a row for each feature, a column for each criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from unswayed.api.observations import Ranking
from unswayed.core.measurement import Measurement
from unswayed.view.decision_lines import names_text
from unswayed.view.measurements import NOISE, gain_text
from unswayed.view.posterior_lines import given_line
from unswayed.view.probabilities import padded, widest

MOST_FEATURES = 20
"""Features listed before the list is cut."""
PHRASE_BY_CRITERION = {
    "sdp": "to change the same-decision probability by {gain}",
    "entropy": "to lower the entropy of {target} by {gain} bits",
    "margin": "to change the margin of the most probable state over the second by {gain}",
    "utility": "to change the expected utility by {gain}",
}


def ranking_lines(
    ranking: Ranking, evidence: Mapping[str, str], *, at_most: int = MOST_FEATURES
) -> list[Text]:
    """The features in order, their gains by each criterion, and which to observe next."""
    lines = [given_line(evidence)] if evidence else []
    if not ranking.features:
        return [*lines, Text("All features are observed.")]
    shown = ranking.features[:at_most]
    names = ["feature", *shown]
    columns = [
        [criterion, *(gain_text(values[i]) for values in ranking.values[:at_most])]
        for i, criterion in enumerate(ranking.criteria)
    ]
    header, *rows = _aligned(names, columns)
    lines.extend([Text(header, style="bold"), *map(Text, rows)])
    if len(ranking.features) > at_most:
        lines.append(Text(f"and {len(ranking.features) - at_most:,} more"))
    return [*lines, Text(), Text(next_text(ranking))]


def _aligned(names: list[str], columns: list[list[str]]) -> list[str]:
    width, widths = widest(names), [widest(column) for column in columns]
    return [
        padded(name, width)
        + "".join(f"  {column[row]:>{size}}" for column, size in zip(columns, widths, strict=True))
        for row, name in enumerate(names)
    ]


def next_text(ranking: Ranking) -> str:
    """Which feature each criterion would observe next, in one sentence."""
    criteria_by_best: dict[str | None, list[str]] = {}
    for i, criterion in enumerate(ranking.criteria):
        criteria_by_best.setdefault(_best(ranking, i), []).append(criterion)
    nothing = criteria_by_best.pop(None, [])
    parts = [f"{best} by {names_text(criteria)}" for best, criteria in criteria_by_best.items()]
    if nothing:
        parts.append(f"no single feature gains by {names_text(nothing)}")
    return f"Observe next: {'; '.join(parts)}."


def _best(ranking: Ranking, criterion: int) -> str | None:
    """The first feature of highest gain; None when none gains anything."""
    gains = [values[criterion].value for values in ranking.values]
    # Gains a rounding error apart are equal, and the order of the ranking decides.
    first = next(i for i, gain in enumerate(gains) if gain >= max(gains) - NOISE)
    return ranking.features[first] if gains[first] > NOISE else None


def value_lines(
    measured: Measurement, criterion: str, kept: Sequence[str], target: str, evidence: Mapping[str, str]
) -> list[Text]:
    """What observing some features together is worth."""
    phrase = PHRASE_BY_CRITERION[criterion].format(target=target, gain=gain_text(measured))
    return [
        *([given_line(evidence)] if evidence else []),
        Text(f"Observing {names_text(kept)} is expected {phrase}."),
    ]
