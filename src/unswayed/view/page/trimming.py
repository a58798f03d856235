"""The parts of the page about fewer features: what each budget buys, and what would change."""

from __future__ import annotations

from unswayed.api.compare import Comparison, Difference
from unswayed.api.report import Examination
from unswayed.api.selection import Trimming
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.view.decision_lines import names_text
from unswayed.view.frontier_svg import frontier_svg
from unswayed.view.markup import element, escaped
from unswayed.view.page.pieces import chips, paragraph, percent, row, section, table
from unswayed.view.plotting import offers_of
from unswayed.view.probabilities import probability_text
from unswayed.view.selection_lines import threshold_texts, trimming_lines

MOST_POINTS = 24


def frontier_part(found: Examination) -> str:
    """Agreement over the budget, as curve and table, and the trimming that is recommended."""
    title = "How few features are enough?"
    if found.frontier is None:
        return section(title, paragraph("This is out of reach; see the notes at the end."), name="frontier")
    figure = element(
        "figure",
        frontier_svg(offers_of(found.frontier), marked=found.recommended)
        + element(
            "figcaption",
            "Each point is the best choice of features for its cost; the ring marks the cheapest one that "
            f"agrees often enough ({found.at_least:g}). Hollow points are not proven to be the best.",
        ),
    )
    parts = [paragraph(_recommendation(found)), figure, _points(found)]
    return section(title, *parts, name="frontier")


def _recommendation(found: Examination) -> str:
    trimming = found.trimming
    if trimming is None:
        return (
            f"No choice of features is known to agree with all of them with probability {found.at_least:g}."
        )
    if len(trimming.selection.kept) == len(found.free):
        return f"To agree with probability {found.at_least:g}, all features are needed."
    said = [line.plain for line in trimming_lines(trimming, found.free, {})]
    return "Recommended: " + " ".join([said[0][0].lower() + said[0][1:], *said[1:]])


def _points(found: Examination) -> str:
    assert found.frontier is not None
    rows = [
        _point_row(point, found, is_marked=number == found.recommended)
        for number, point in enumerate(found.frontier.points[:MOST_POINTS])
    ]
    return table(["cost", "agreement", "threshold", "features kept"], rows, numbers=(0, 1, 2))


def _point_row(point: Trimming, found: Examination, *, is_marked: bool) -> str:
    chosen = point.selection
    threshold = "-"
    if isinstance(point.classifier, Classifier) and isinstance(point.classifier.rule, ThresholdRule):
        interval = point.threshold_interval
        rule = point.classifier.rule
        threshold = (
            f"{rule.threshold:g}" if interval is None else threshold_texts(rule.threshold, interval)[0]
        )
    star = "" if chosen.optimal else "*"
    value = 1.0 if chosen.value > 1.0 - 1e-12 else chosen.value
    cells = [
        f"{chosen.cost:g}",
        probability_text(value) + star,
        threshold,
        chips([(name, True) for name in chosen.kept]) if chosen.kept else "nothing",
    ]
    return row(cells, numbers=(0, 1, 2), names=(3,), class_="marked" if is_marked else None)


def differences_part(found: Examination) -> str:
    """What the recommended trimming decides differently, how often, and on which instances."""
    title = "What would the trimmed classifier do differently?"
    comparison, trimming = found.comparison, found.trimming
    if comparison is None or trimming is None:
        return ""
    if not comparison.differences:
        return section(title, paragraph("Nothing: it decides alike on every instance."), name="differences")
    parts = [paragraph(sentence) for sentence in difference_sentences(comparison)]
    rows = [_difference_row(each, trimming, found) for each in comparison.differences]
    headings = ["instance", "how often", _posterior_heading(found), "all features", "trimmed"]
    parts.append(element("h3", "The most frequent cases that are decided differently"))
    parts.append(table(headings, rows, numbers=(1, 2)))
    parts.append(paragraph("Findings that the trimmed classifier sees stand out."))
    return section(title, *parts, name="differences")


def difference_sentences(comparison: Comparison) -> list[str]:
    """How often the two disagree and which way, in words."""
    about = "about " if comparison.certainty is Certainty.ESTIMATE else ""
    ways = [
        f"on {about}{percent(share)} it decides {other!r} where all features lead to {full!r}"
        for (full, other), share in sorted(comparison.mass.items(), key=lambda item: -item[1])
        if full != other
    ]
    first = (
        f"It decides differently on {about}{percent(1 - comparison.agreement)} of cases: {names_text(ways)}."
    )
    if comparison.certainty is not Certainty.ESTIMATE:
        return [first]
    return [first, "There are too many instances to go through, so these shares are from a random sample."]


def _posterior_heading(found: Examination) -> str:
    rule = found.classifier.rule
    return f"Pr({rule.positive})" if isinstance(rule, ThresholdRule) else "posterior"


def _difference_row(each: Difference, trimming: Trimming, found: Examination) -> str:
    kept = trimming.selection.kept
    ordered = sorted(each.states, key=lambda name: name not in kept)
    rule = found.classifier.rule
    posterior = each.posterior
    value = posterior[rule.positive] if isinstance(rule, ThresholdRule) else max(posterior.values())
    cells = [
        chips([(f"{name} = {each.states[name]}", name in kept) for name in ordered]),
        percent(each.probability),
        probability_text(value),
        escaped(each.full),
        escaped(each.other),
    ]
    return row(cells, numbers=(1, 2), names=(0,))
