"""The part of the page about which features matter, by which criterion."""

from __future__ import annotations

from unswayed.api.report import Examination
from unswayed.view.markup import element, escaped
from unswayed.view.measurements import NOISE, gain_text
from unswayed.view.page.opening import next_sentence
from unswayed.view.page.pieces import number_with_bar, paragraph, row, section, table

MOST_FEATURES = 30
MEANING_BY_CRITERION = {
    "sdp": "by how much the same-decision probability is expected to rise (how much safer the decision gets)",
    "entropy": "how many bits the feature is expected to tell about the target",
    "margin": "by how much the lead of the most probable state is expected to grow",
    "utility": "by how much the expected utility is expected to rise",
}


def worth_part(found: Examination) -> str:
    """Each feature's value by each criterion, in words and bars."""
    title = "Which features matter?"
    ranking = found.ranking
    if ranking is None:
        return section(title, paragraph("This is out of reach; see the notes at the end."), name="features")
    if not ranking.features:
        return section(title, paragraph("All features are observed."), name="features")
    tops = [max(values[i].value for values in ranking.values) for i in range(len(ranking.criteria))]
    rows = []
    for feature, values in zip(ranking.features[:MOST_FEATURES], ranking.values, strict=False):
        cells = [escaped(feature)]
        for each, top in zip(values, tops, strict=True):
            share = each.value / top if top > NOISE else 0.0
            kind = "best" if top > NOISE and each.value >= top - NOISE else ""
            cells.append(number_with_bar(gain_text(each), share if each.value > NOISE else 0.0, kind))
        rows.append(row(cells, names=(0,)))
    parts = [
        paragraph("What observing one feature is worth, by several criteria, the best by each in orange:"),
        _meaning(ranking.criteria),
        paragraph(next_sentence(found)),
    ]
    parts.append(table(["feature", *ranking.criteria], rows))
    left_out = len(ranking.features) - MOST_FEATURES
    if left_out > 0:
        parts.append(paragraph(f"{left_out} more features follow, worth less by {ranking.criteria[0]}."))
    return section(title, *parts, name="features")


def _meaning(criteria: tuple[str, ...]) -> str:
    items = [
        element("li", element("strong", escaped(name)) + f": {MEANING_BY_CRITERION[name]}")
        for name in criteria
        if name in MEANING_BY_CRITERION
    ]
    return element("ul", "".join(items))
