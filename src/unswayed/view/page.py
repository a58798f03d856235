"""One classifier on one page: HTML that needs nothing else, to be read, sent and printed.

What `unswayed.api.reports` found becomes sections of sentences, tables and figures, as every description has
them; `templates/sheet.html` sets them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from unswayed.api.comparison import Difference
from unswayed.api.observations import Stopping
from unswayed.api.ranking import ObservationRanking
from unswayed.api.reports import Examination
from unswayed.api.results.outcomes import Finding
from unswayed.api.results.reasons import Reasons
from unswayed.api.selection import Trimming
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.view.charts.curves import draw_frontier
from unswayed.view.charts.networks import draw_graph
from unswayed.view.charts.reasons import draw_contributions
from unswayed.view.choices import agreement_cell, fold_points
from unswayed.view.describe import Asked, Bar, Chips, Figure, Fold, Heading, Meter, Part, Row, TextTable
from unswayed.view.numbers import (
    NOISE,
    counted,
    gain_text,
    measurement_text,
    names_text,
    narrow_text,
    percent,
    percent_text,
    probability_text,
)
from unswayed.view.plotting import list_offers, list_pushes, make_gauge, make_graph
from unswayed.view.reasons import note_sentences, range_sentences, reason_sentences, turning_sentences
from unswayed.view.sentences import (
    MEANING_BY_CRITERION,
    agreement_text,
    criteria_for,
    difference_texts,
    held_out_text,
    kept_text,
    next_text,
    proof_text,
    reason_text,
    rule_text,
    threshold_text,
    told_state,
    trimmed_rule_text,
)
from unswayed.view.templating import render_sheet

MOST_FINDINGS = 24
"""Single findings in the table; those that change the decision are all there."""
MOST_FEATURES = 30
"""Features in the ranking; those that gain nothing in four digits are left out."""
MOST_VALUES = 8
"""Feature values that summarise the differences."""
MOST_CASES = 5
LEFT_OUT = "This was left out; the notes at the end say why."


def describe_examination(found: Examination, asked: Asked) -> list[Any]:
    """The numbers that matter most, and what was left out."""
    tiles = [f"{what}: {value} ({more})" for what, value, more, *_ in _list_tiles(found)]
    return [*tiles, *found.notes]


def report_page(found: Examination, *, title: str = "") -> str:
    """An HTML page about a classifier that needs no other file and no network."""
    name, target = found.classifier.network.name, found.classifier.target
    return render_sheet(
        title or (f"{name}: deciding about {target}" if name else f"Deciding about {target}"),
        "How robust its decisions are, which features matter, and which it can do without.",
        _list_tiles(found),
        [
            ("classifier", "The classifier", _describe_classifier(found)),
            ("robustness", "How robust is the decision?", _describe_robustness(found)),
            ("why", "Why this decision?", [] if found.why is None else _describe_reasons(found.why)),
            ("features", "Which features matter?", _describe_worth(found)),
            ("frontier", "How few features are enough?", _describe_frontier(found)),
            (
                "differences",
                "What would the trimmed classifier do differently?",
                _describe_differences(found),
            ),
            ("notes", "Notes", [Text(note, style="note") for note in found.notes]),
        ],
    )


def _list_tiles(found: Examination) -> list[tuple[str, ...]]:
    """Up to four numbers that matter most: what, value, more, and the verdict that colours it."""
    tiles: list[tuple[str, ...]] = [("decision now", found.decision.action, _posterior_text(found))]
    if found.stopping is not None:
        verdict = make_gauge(found.stopping.sdp, found.at_least).verdict
        words = {"safe": "safe to", "unsafe": "not safe to", "open": "not known to be safe to"}[verdict]
        more = f"{words} {found.at_least:g}"
        more += ", an estimate" if found.stopping.sdp.certainty is Certainty.ESTIMATE else ""
        tiles.append(("it survives all other features", percent_text(found.stopping.sdp), more, verdict))
    if found.ranking is not None and found.first is not None:
        criteria = "sdp" if found.ranking.bundle else names_text(criteria_for(found.ranking, found.first))
        criterion = f"{found.ranking.criteria[0]} for its cost" if found.costs else criteria
        more = f"by {criterion}, of {counted(len(found.ranking.features), 'feature')}"
        tiles.append(("worth observing first", found.first, more))
    if found.trimming is not None:
        more = f"agree on {percent_text(found.trimming.selection.measurement)} of cases"
        value = f"{len(found.trimming.kept)} of {len(found.free)}"
        tiles.append(("features that are enough", value, more, "safe"))
    return tiles


def _posterior_text(found: Examination) -> str:
    rule, posterior = found.classifier.rule, _told(found, found.decision.posterior)
    if isinstance(rule, ThresholdRule):
        return f"Pr({rule.positive}) is {posterior}, threshold {rule.threshold:g}"
    return f"with probability {posterior}" if isinstance(rule, MostProbable) else "by expected utility"


def _told(found: Examination, posterior: Mapping[str, float]) -> str:
    return probability_text(posterior[told_state(found.classifier.rule, posterior)])


def _describe_classifier(found: Examination) -> list[Part]:
    """What decides, about what, by which rule, from which features."""
    classifier = found.classifier
    network = classifier.network
    states = names_text(network.variables[classifier.target_index].states)
    known = ", ".join(f"{name} = {state}" for name, state in found.evidence.items())
    kept = found.trimming.kept if found.trimming is not None else None
    drawing = draw_graph(make_graph(classifier, found.evidence, kept))
    caption = "The network" + ("." if kept is None else ", with the features that are enough (see below).")
    return [
        f"It decides about {classifier.target}, which is one of {states}. {rule_text(classifier)}",
        f"It may observe {names_text(classifier.features)} ({len(classifier.features)} in all). "
        f"The network has {counted(len(network), 'variable')}.",
        *([f"Everything on this page is given {known}."] if known else []),
        Figure(drawing, caption=caption, scale=1.15, wide=True),
    ]


def _describe_robustness(found: Examination) -> list[Part]:
    """The decision now, whether it would last, and what one finding would do to it."""
    stopping = found.stopping
    when = "With what is known" if found.evidence else "Before anything is observed"
    reason = reason_text(found.classifier, found.decision)
    parts: list[Part] = [f"{when}, the decision is {found.decision.action!r}, {reason}."]
    if stopping is None:
        parts.append(f"Would it survive what is not observed yet? {LEFT_OUT}")
    elif found.free:
        words = f"same-decision probability {measurement_text(stopping.sdp)}"
        meter = Meter(make_gauge(stopping.sdp, found.at_least), words)
        parts += [_survival_text(found, stopping), meter]
    return [*parts, *_describe_findings(found)]


def _describe_findings(found: Examination) -> list[Part]:
    """What single findings do, those of the largest effect first."""
    shown, now = _list_shown(found), found.decision.action
    if not shown:
        return []
    rows = [_finding_row(each, found) for each in shown]
    headings = ["finding", "how often", _posterior_heading(found), "decision", "survives the rest"]
    if all(each.sdp is None for each in shown):
        rows, headings = [row[:-1] for row in rows], headings[:-1]
    turned = {i: "turned" for i, each in enumerate(shown) if each.decision.action != now}
    digits = max(len(narrow_text(each.sdp)) if each.sdp else 0 for each in shown)
    return [
        Heading("What a single finding does"),
        _flips_text(found),
        TextTable(rows, headings, right=(1, 2), marked=turned, digits=digits),
        Text(_left_out_text(found, shown), style="more"),
    ]


def _posterior_heading(found: Examination) -> str:
    rule = found.classifier.rule
    return f"Pr({rule.positive})" if isinstance(rule, ThresholdRule) else "posterior"


def _describe_reasons(why: Reasons) -> list[Part]:
    """What led to the decision, what would turn it, and what each finding added."""
    parts: list[Part] = [*reason_sentences(why), *turning_sentences(why), *note_sentences(why)]
    if why.contributions:
        drawing = draw_contributions(list_pushes(why), title="", unit=f"in {why.leaning}")
        caption = "What each finding added: to the right for the decision, to the left against it."
        parts.append(Figure(drawing, caption=caption))
    return [*parts, Heading("How wrong may the network be?"), *range_sentences(why)]


def _survival_text(found: Examination, stopping: Stopping) -> str:
    advice = "there is little left to learn" if stopping.stop else "more should be observed"
    if not stopping.certain:
        advice = "whether to observe more is open"
    return (
        f"With probability {measurement_text(stopping.sdp)}, it survives observing {names_text(found.free)}: "
        "that is its same-decision probability (SDP). "
        f"The level asked for is {found.at_least:g}, so {advice}."
    )


def _list_shown(found: Examination) -> tuple[Finding, ...]:
    """The findings that change the decision, and those that move the posterior most, if in four digits."""
    flips = sum(each.decision.action != found.decision.action for each in found.findings)
    telling = sum(each.effect >= 5e-5 for each in found.findings)
    return found.findings[: max(flips, min(telling, MOST_FINDINGS), 1)]


def _flips_text(found: Examination) -> str:
    now = found.decision.action
    flips = [f"{each.feature} = {each.state}" for each in found.findings if each.decision.action != now]
    if flips:
        return f"These findings alone change the decision: {names_text(flips)}."
    return "No single finding changes the decision."


def _left_out_text(found: Examination, shown: tuple[Finding, ...]) -> str:
    rest, n_unknown = found.findings[len(shown) :], sum(each.sdp is None for each in shown)
    text = "All single findings are here, those of the largest effect first."
    if rest:
        most = max(each.effect for each in rest)
        moved = probability_text(most) + " at most" if most >= 5e-5 else "less than 0.0001"
        text = (
            f"Those of the largest effect come first. {counted(len(rest), 'finding')} more do not change the "
            f"decision, and move the posterior by {moved}."
        )
    if n_unknown == len(shown):
        return f"{text} Whether the decision then survives the rest was not found within the limits."
    return f"{text} A dash: not found within the limits." if n_unknown else text


def _finding_row(each: Finding, found: Examination) -> Row:
    action, sdp = each.decision.action, each.sdp
    return (
        f"{each.feature} = {each.state}",
        percent(each.probability),
        _told(found, each.decision.posterior),
        Text(action) if action != found.decision.action else action,
        "-" if sdp is None else Bar(narrow_text(sdp), sdp.value, make_gauge(sdp, found.at_least).verdict),
    )


def _describe_worth(found: Examination) -> list[Part]:
    """Each feature's value by each criterion, in words and bars."""
    ranking = found.ranking
    if ranking is None or not ranking.features:
        return [LEFT_OUT if ranking is None else "All features are observed."]
    shown = _list_telling(ranking)
    tops = [max(values[i].value for values in ranking.values) for i in range(len(ranking.criteria))]
    rows = [(ranking.features[i], *map(_gain_bar, ranking.values[i], tops)) for i in shown]
    is_priced = found.costs and found.first is not None
    first = f"For its cost, {found.first} gains most by {ranking.criteria[0]}."
    untold = _untold_text(ranking, shown)
    return [
        "What observing one feature is worth, the best by each criterion in orange.",
        next_text(ranking),
        *([first] if is_priced else []),
        TextTable(rows, ("feature", *ranking.criteria)),
        *([Text(untold, style="more")] if untold else []),
        *(
            Text(f"{name}: {MEANING_BY_CRITERION[name]}", style="more")
            for name in ranking.criteria
            if name in MEANING_BY_CRITERION
        ),
    ]


def _gain_bar(gain: Measurement, top: float) -> Bar:
    share = gain.value / top if top > NOISE and gain.value > NOISE else 0.0
    return Bar(gain_text(gain), share, "best" if share >= 1 - NOISE else "")


def _list_telling(ranking: ObservationRanking) -> list[int]:
    """Places of the features that gain something in four digits, as far as intervals tell; or the first."""
    telling = [i for i, values in enumerate(ranking.values) if any(map(_tells, values))]
    return (telling or [0])[:MOST_FEATURES]


def _tells(gain: Measurement) -> bool:
    return abs(gain.value) >= 5e-5 and (gain.low > 0.0 or gain.high < 0.0)


def _untold_text(ranking: ObservationRanking, shown: list[int]) -> str:
    """Words on the features that the table leaves out."""
    n_left = len(ranking.features) - len(shown)
    if not n_left:
        return ""
    if len(shown) == MOST_FEATURES:
        return f"Left out: {counted(n_left, 'feature')}, worth less by {ranking.criteria[0]}, or nothing."
    exact = all(v.certainty is Certainty.EXACT for values in ranking.values for v in values)
    worth = "worth less than 0.0001 by every criterion" if exact else "not known to gain by any criterion"
    return f"Left out: {counted(n_left, 'feature')}, {worth}."


def _describe_frontier(found: Examination) -> list[Part]:
    """Agreement over the budget, as curve and table, and the trimming that is recommended."""
    if found.frontier is None:
        return [LEFT_OUT]
    points = found.frontier.points
    drawing = draw_frontier(list_offers(found.frontier), marked=found.recommended)
    by_samples = any(point.selection.certainty is Certainty.ESTIMATE for point in points)
    found_how = "a choice of features found on samples" if by_samples else "the best choice of features"
    caption = (
        f"Each point is {found_how} for its cost; the ring marks the cheapest one that "
        f"agrees often enough ({found.at_least:g}). Hollow points are not proven to be the best."
    )
    cells = [_point_row(found, point) for point in points]
    rows = fold_points(found.frontier, cells)
    best = None if found.recommended is None else cells[found.recommended]
    marked = {i: "marked" for i, row in enumerate(rows) if row is best}
    headings = ("cost", "agreement", "threshold", "features kept")
    return [
        _recommendation(found),
        Figure(drawing, caption=caption, scale=1.2),
        TextTable(rows, headings, right=(0, 1, 2), marked=marked),
    ]


def _recommendation(found: Examination) -> str:
    trimming = found.trimming
    if trimming is None:
        return (
            f"No choice of features is known to agree with all of them with probability {found.at_least:g}."
        )
    if len(trimming.kept) == len(found.free):
        return f"To agree with probability {found.at_least:g}, all features are needed."
    names, rest = kept_text(trimming.selection, found.free)
    agreement = agreement_text(trimming.selection, found.free, trimmed_rule_text(trimming))
    told = [f"Recommended: keep {names}{rest}", agreement, proof_text(trimming.selection)]
    return " ".join([*told, held_out_text(trimming)]).rstrip()


def _point_row(found: Examination, point: Trimming) -> Row:
    n_kept = len(point.kept)
    kept: str | Chips = f"all {counted(n_kept, 'feature')}" if n_kept else "nothing"
    if 0 < n_kept < len(found.free):
        kept = Chips([(name, True) for name in point.kept])
    return f"{point.cost:g}", agreement_cell(point.selection), threshold_text(point), kept


def _describe_differences(found: Examination) -> list[Part]:
    """What the recommended trimming decides differently: how often, and which feature values tell."""
    comparison, trimming = found.comparison, found.trimming
    if comparison is None or trimming is None:
        return []
    parts: list[Part] = [*difference_texts(comparison)]
    if not comparison.differences:
        return parts
    if values := comparison.values[:MOST_VALUES]:
        rows = [
            (
                Chips([(f"{each.feature} = {each.state}", each.feature in trimming.kept)]),
                Bar(percent(each.among), each.among, "best"),
                Bar(percent(each.overall), each.overall, "plain"),
            )
            for each in values
        ]
        parts += [
            "What is more frequent in these cases than in all, the most telling findings first:",
            TextTable(rows, ("finding", "among these cases", "among all cases")),
        ]
    headings = ("instance", "how often", _posterior_heading(found), "all features", "trimmed")
    cases = [_case_row(each, trimming, found) for each in comparison.differences[:MOST_CASES]]
    told = Text("Findings that the trimmed classifier sees stand out.", style="more")
    table = TextTable(cases, headings, right=(1, 2))
    return [*parts, Fold("The most frequent of these cases", [table, told])]


def _case_row(each: Difference, trimming: Trimming, found: Examination) -> Row:
    ordered = sorted(each.states, key=lambda name: name not in trimming.kept)
    chips = Chips([(f"{name} = {each.states[name]}", name in trimming.kept) for name in ordered])
    return chips, percent(each.probability), _told(found, each.posterior), each.full, each.other
