"""What is said about a points score with gaps: the band, what can still change it, what to ask next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unswayed.view.describe import Asked, TextTable
from unswayed.view.numbers import counted, names_text, probability_text

if TYPE_CHECKING:
    from unswayed.api.scores import ScoreAssessment
    from unswayed.model.score import ScoreBand
    from unswayed.plans.scores import AskingPlans

NOTHING_ASSUMED = "Nothing is assumed about the items that are not answered, so no probabilities are given."


def describe_score(found: ScoreAssessment, asked: Asked) -> list[Any]:
    """The band as far as it is known, the probabilities, the next item, and what the score is not."""
    told: list[Any] = [_headline(found), _points_text(found)]
    if found.is_certain:
        told += _meaning(found.bands[0])
        if unknown := len(found.score.items) - len(found.answers):
            told.append(f"{counted(unknown, 'item')} left unanswered cannot change it.")
    else:
        told += ["", _band_table(found), "", *_next_texts(found)]
    return [*told, "", found.score.disclaimer]


def _headline(found: ScoreAssessment) -> str:
    title = found.score.title
    if found.is_certain:
        return f"{title}: {found.bands[0].name}, whatever the rest is."
    names = [band.name for band in found.bands]
    if found.band is None or found.sdp is None:
        return f"{title}: {' or '.join(names)}; not certain yet."
    safe = "safe" if found.is_safe else "not safe"
    return (
        f"{title}: {found.band.name} with probability {probability_text(found.sdp)}, "
        f"{safe} at {found.at_least:g}; not certain yet."
    )


def _points_text(found: ScoreAssessment) -> str:
    low, high = found.points
    text = f"{low:g} points" if low == high else f"{low:g} to {high:g} points"
    if found.expected_points is not None and low < high:
        text += f", {found.expected_points:.2f} expected"
    return f"{text}; {len(found.answers)} of {counted(len(found.score.items), 'item')} answered."


def _meaning(band: ScoreBand) -> list[str]:
    texts = (band.means, band.advice)
    return [f"{text[0].upper()}{text[1:]}." for text in texts if text]


def _band_table(found: ScoreAssessment) -> TextTable:
    """The bands that are possible, with their probabilities where these are known."""
    shares = found.probabilities
    headings = ["band", *(["probability"] if shares is not None else []), "means", "what to do"]
    rows: list[Sequence[str]] = [
        [
            band.name,
            *([probability_text(shares[band.name])] if shares is not None else []),
            band.means,
            band.advice,
        ]
        for band in found.bands
    ]
    return TextTable(rows, headings)


def _next_texts(found: ScoreAssessment) -> list[str]:
    told = [f"Can still change it: {names_text(found.deciding)}.", f"Ask next: {found.next_item}."]
    if found.probabilities is None:
        return [*told, NOTHING_ASSUMED]
    return told if found.plans is None else [*told, _plan_text(found.plans)]


def _plan_text(plans: AskingPlans) -> str:
    best = plans.best
    proof = (
        "no way to ask costs less"
        if plans.is_proven
        else f"at most {plans.ratio:.2f} times what the best way costs"
    )
    return (
        f"Until the band is certain: {best.expected_items:.2f} items on average, at a cost of "
        f"{best.expected_cost:.2f} ({proof})."
    )
