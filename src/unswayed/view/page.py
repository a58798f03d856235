"""One classifier on one page: HTML that needs nothing else, to be read, sent and printed.

What `unswayed.api.report` found becomes plain texts and shares here; `templates/report.html` sets them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from unswayed.api.compare import Difference
from unswayed.api.observations import Stopping
from unswayed.api.ranking import ObservationRanking
from unswayed.api.report import Examination
from unswayed.api.results.outcomes import Finding
from unswayed.api.results.reasons import Reasons
from unswayed.api.selection import Trimming
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.view.charts.curves import draw_frontier
from unswayed.view.charts.networks import draw_graph
from unswayed.view.charts.reasons import draw_contributions
from unswayed.view.choices import agreement_cell, fold_points
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
from unswayed.view.reasons import (
    note_sentences,
    range_sentences,
    reason_sentences,
    turning_sentences,
)
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
    trimmed_rule_text,
)
from unswayed.view.templating import read_style, render, show_drawing

MOST_FINDINGS = 24
"""Single findings in the table; those that change the decision are all there."""
MOST_FEATURES = 30
"""Features in the ranking; those that gain nothing in four digits are left out."""
MOST_VALUES = 8
"""Feature values that summarise the differences."""
MOST_CASES = 5
LEFT_OUT = "This was left out; the notes at the end say why."


def report_page(found: Examination, *, title: str = "") -> str:
    """An HTML page about a classifier that needs no other file and no network."""
    name, target = found.classifier.network.name, found.classifier.target
    rule = found.classifier.rule
    return render(
        "report.html",
        title=title or (f"{name}: deciding about {target}" if name else f"Deciding about {target}"),
        style=read_style(),
        tiles=_list_tiles(found),
        classifier=_describe_classifier(found),
        robustness=_describe_robustness(found),
        why=None if found.why is None else _describe_reasons(found.why),
        worth=_describe_worth(found),
        frontier=_describe_frontier(found),
        differences=_describe_differences(found),
        posterior_heading=f"Pr({rule.positive})" if isinstance(rule, ThresholdRule) else "posterior",
        notes=found.notes,
        version=version("unswayed"),
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
    """The probability that is told of a posterior: of the positive state, or of the most probable one."""
    rule = found.classifier.rule
    value = posterior[rule.positive] if isinstance(rule, ThresholdRule) else max(posterior.values())
    return probability_text(value)


def _describe_classifier(found: Examination) -> dict[str, Any]:
    """What decides, about what, by which rule, from which features."""
    classifier = found.classifier
    network = classifier.network
    states = names_text(network.variables[classifier.target_index].states)
    sentences = [
        f"It decides about {classifier.target}, which is one of {states}. {rule_text(classifier)}",
        f"It may observe {names_text(classifier.features)} ({len(classifier.features)} in all). "
        f"The network has {counted(len(network), 'variable')}.",
    ]
    if found.evidence:
        known = ", ".join(f"{name} = {state}" for name, state in found.evidence.items())
        sentences.append(f"Everything on this page is given {known}.")
    kept = found.trimming.kept if found.trimming is not None else None
    drawing = show_drawing(draw_graph(make_graph(classifier, found.evidence, kept)), 1.15)
    caption = "The network" + ("." if kept is None else ", with the features that are enough (see below).")
    return {"sentences": sentences, "drawing": drawing, "caption": caption}


def _describe_robustness(found: Examination) -> dict[str, Any]:
    """The decision now, whether it would last, and what one finding would do to it."""
    stopping = found.stopping
    when = "With what is known" if found.evidence else "Before anything is observed"
    reason = reason_text(found.classifier, found.decision)
    sentences = [f"{when}, the decision is {found.decision.action!r}, {reason}."]
    if stopping is None:
        sentences.append(f"Would it survive what is not observed yet? {LEFT_OUT}")
    elif found.free:
        sentences.append(_survival_text(found, stopping))
    shown = _list_shown(found)
    return {
        "sentences": sentences,
        "gauge": make_gauge(stopping.sdp, found.at_least) if stopping is not None and found.free else None,
        "words": "" if stopping is None else f"same-decision probability {measurement_text(stopping.sdp)}",
        "flips": _flips_text(found),
        "findings": [_finding_row(each, found) for each in shown],
        "left_out": _left_out_text(found, shown),
        "measured": any(each.sdp is not None for each in shown),
    }


def _describe_reasons(why: Reasons) -> dict[str, Any]:
    """What led to the decision, what would turn it, and what each finding added."""
    drawing = None
    if why.contributions:
        drawing = show_drawing(draw_contributions(list_pushes(why), title="", unit=f"in {why.leaning}"))
    return {
        "sentences": [*reason_sentences(why), *turning_sentences(why), *note_sentences(why)],
        "drawing": drawing,
        "caption": "What each finding added: to the right for the decision, to the left against it.",
        "ranges": range_sentences(why),
    }


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
    if not shown:
        return ""
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


def _finding_row(each: Finding, found: Examination) -> dict[str, Any]:
    return {
        "finding": f"{each.feature} = {each.state}",
        "share": percent(each.probability),
        "posterior": _told(found, each.decision.posterior),
        "action": each.decision.action,
        "changed": each.decision.action != found.decision.action,
        "sdp": "" if each.sdp is None else narrow_text(each.sdp),
        "sdp_share": 0.0 if each.sdp is None else each.sdp.value,
        "kind": "" if each.sdp is None else make_gauge(each.sdp, found.at_least).verdict,
    }


def _describe_worth(found: Examination) -> dict[str, Any]:
    """Each feature's value by each criterion, in words and bars."""
    ranking = found.ranking
    if ranking is None or not ranking.features:
        return {"sentences": [LEFT_OUT if ranking is None else "All features are observed."], "rows": []}
    tops = [max(values[i].value for values in ranking.values) for i in range(len(ranking.criteria))]
    shown = _list_telling(ranking)
    rows = []
    for i in shown:
        cells = []
        for each, top in zip(ranking.values[i], tops, strict=True):
            share = each.value / top if top > NOISE and each.value > NOISE else 0.0
            cells.append((gain_text(each), share, "best" if share >= 1 - NOISE else ""))
        rows.append({"feature": ranking.features[i], "cells": cells})
    sentences = [
        "What observing one feature is worth, the best by each criterion in orange.",
        next_text(ranking),
    ]
    if found.costs and found.first is not None:
        sentences.append(f"For its cost, {found.first} gains most by {ranking.criteria[0]}.")
    return {
        "sentences": sentences,
        "headings": ranking.criteria,
        "rows": rows,
        "left_out": _untold_text(ranking, shown),
        "meanings": [
            (name, MEANING_BY_CRITERION[name]) for name in ranking.criteria if name in MEANING_BY_CRITERION
        ],
    }


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


def _describe_frontier(found: Examination) -> dict[str, Any]:
    """Agreement over the budget, as curve and table, and the trimming that is recommended."""
    if found.frontier is None:
        return {"sentences": [LEFT_OUT], "drawing": None}
    drawing = draw_frontier(list_offers(found.frontier), marked=found.recommended)
    by_samples = any(p.selection.certainty is Certainty.ESTIMATE for p in found.frontier.points)
    found_how = "a choice of features found on samples" if by_samples else "the best choice of features"
    return {
        "sentences": [_recommendation(found)],
        "drawing": show_drawing(drawing, 1.2),
        "caption": (
            f"Each point is {found_how} for its cost; the ring marks the cheapest one that "
            f"agrees often enough ({found.at_least:g}). Hollow points are not proven to be the best."
        ),
        "rows": _point_rows(found),
    }


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


def _point_rows(found: Examination) -> list[dict[str, Any]]:
    """The points of the frontier; of many that agree alike, the first and the last."""
    assert found.frontier is not None
    rows = [_point_row(found, number, point) for number, point in enumerate(found.frontier.points)]
    folded = fold_points(found.frontier, rows)
    return [row if isinstance(row, dict) else {"folded": row[0]} for row in folded]


def _point_row(found: Examination, number: int, point: Trimming) -> dict[str, Any]:
    n_kept = len(point.kept)
    return {
        "folded": "",
        "marked": number == found.recommended,
        "cost": f"{point.cost:g}",
        "agreement": agreement_cell(point.selection),
        "threshold": threshold_text(point),
        "kept": [(name, True) for name in point.kept] if n_kept < len(found.free) else [],
        "otherwise": f"all {counted(n_kept, 'feature')}" if n_kept else "nothing",
    }


def _describe_differences(found: Examination) -> dict[str, Any] | None:
    """What the recommended trimming decides differently: how often, and which feature values tell."""
    comparison, trimming = found.comparison, found.trimming
    if comparison is None or trimming is None:
        return None
    if not comparison.differences:
        return {"sentences": ["Nothing: it decides alike on every instance."], "telling": [], "cases": []}
    sentences = difference_texts(comparison)
    values = comparison.values[:MOST_VALUES]
    if values:
        sentences.append("What is more frequent in these cases than in all, the most telling findings first:")
    return {
        "sentences": sentences,
        "telling": [
            {
                "chip": (f"{each.feature} = {each.state}", each.feature in trimming.kept),
                "among": (percent(each.among), each.among, "best"),
                "overall": (percent(each.overall), each.overall, "plain"),
            }
            for each in values
        ],
        "cases": [_case_row(each, trimming, found) for each in comparison.differences[:MOST_CASES]],
    }


def _case_row(each: Difference, trimming: Trimming, found: Examination) -> dict[str, Any]:
    ordered = sorted(each.states, key=lambda name: name not in trimming.kept)
    return {
        "chips": [(f"{name} = {each.states[name]}", name in trimming.kept) for name in ordered],
        "share": percent(each.probability),
        "posterior": _told(found, each.posterior),
        "full": each.full,
        "other": each.other,
    }
