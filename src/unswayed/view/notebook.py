"""Results as notebook cells: what `_repr_html_` of each result shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from unswayed.api.decisions import Decision
from unswayed.api.history import CaseHistory
from unswayed.api.observations import Case, Stopping
from unswayed.api.ranking import ObservationRanking
from unswayed.api.results.plan import TestPlan
from unswayed.api.results.reasons import Reasons
from unswayed.api.selection import Frontier, Selection, Trimming
from unswayed.api.thresholds import ThresholdSweep
from unswayed.core.measurement import Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.plans.nested import nested_plan
from unswayed.view.charts.curves import draw_frontier
from unswayed.view.charts.networks import draw_graph
from unswayed.view.charts.plans import draw_plan
from unswayed.view.drawing import PALETTE, Drawing
from unswayed.view.numbers import (
    NOISE,
    gain_text,
    measurement_text,
    names_text,
    seconds_text,
    share_text,
    threshold_texts,
)
from unswayed.view.plotting import list_findings, list_offers, make_trimmed_graph
from unswayed.view.reason_lines import (
    finding_text,
    note_sentences,
    number_text,
    reason_sentences,
    turning_sentences,
)
from unswayed.view.sentences import BROKEN_PROMISE, advice_text, next_text
from unswayed.view.svg import to_svg
from unswayed.view.templating import render

MOST_ROWS = 20
"""Rows of a table before it is cut."""
MOST_NODES = 40
"""Variables of a network that is drawn in a card."""
BLUE, GREEN, ORANGE = PALETTE["blue"][0], PALETTE["green"][0], PALETTE["orange"][0]


@dataclass(frozen=True, slots=True)
class BarCell:
    """A number with a bar beside it."""

    text: str
    share: float
    colour: str = BLUE


Row = Sequence[str | BarCell]


def make_card(result: Any) -> str:
    """The card of a result, by its type."""
    return _CARD_BY_TYPE[type(result)](result)


def _card(
    heading: str,
    *,
    rows: Sequence[Row] = (),
    headings: Sequence[str] = (),
    sentences: Sequence[str] = (),
    drawings: Sequence[Drawing] = (),
) -> str:
    shown = list(rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        shown.append([f"and {len(rows) - MOST_ROWS:,} more"])
    svgs = [Markup(to_svg(each, fixed=True)) for each in drawings]
    return render(
        "card.html", heading=heading, rows=shown, headings=headings, sentences=sentences, drawings=svgs
    )


def _posterior_rows(decision: Decision) -> list[Row]:
    return [[state, BarCell(f"{p:.4f}", p)] for state, p in decision.posterior.items()]


def _bar(measured: Measurement) -> BarCell:
    """A probability, with the confidence of its interval where it is an estimate."""
    return BarCell(measurement_text(measured), measured.value, GREEN)


def _decision_card(decision: Decision) -> str:
    return _card(f"decision: {decision.action}", rows=_posterior_rows(decision))


def _stopping_card(stopping: Stopping) -> str:
    rows: list[Row] = [*_posterior_rows(stopping.decision), ["same-decision probability", _bar(stopping.sdp)]]
    return _card(f"decision: {stopping.decision.action}", rows=rows, sentences=[advice_text(stopping)])


def _ranking_card(ranking: ObservationRanking) -> str:
    if not ranking.features:
        return _card("nothing left to observe")
    tops = [max(v[i].value for v in ranking.values) for i in range(len(ranking.criteria))]
    rows = [
        [feature, *(_gain_cell(each, top) for each, top in zip(values, tops, strict=True))]
        for feature, values in zip(ranking.features, ranking.values, strict=True)
    ]
    heading = f"observe next: {ranking.best or 'nothing gains by ' + ranking.criteria[0]}"
    return _card(heading, rows=rows, headings=["feature", *ranking.criteria], sentences=[next_text(ranking)])


def _gain_cell(gain: Measurement, top: float) -> str | BarCell:
    share = gain.value / top if top > NOISE and gain.value > NOISE else 0.0
    return BarCell(gain_text(gain), share) if share else gain_text(gain)


def _case_card(case: Case) -> str:
    findings = ", ".join(f"{name}={state}" for name, state in list_findings(case).items())
    sentences = [f"observed: {findings or 'nothing yet'}", f"would decide: {case.decision.action}"]
    target = case.problem.classifier.target
    return _card(f"a case of {target}", rows=_posterior_rows(case.decision), sentences=sentences)


def _selection_card(selection: Selection) -> str:
    proof = (
        "proven optimal" if selection.optimal else f"within {selection.gap:.4f} of the best there could be"
    )
    work = f"{selection.evaluations:,} subsets, {seconds_text(selection.seconds)}"
    rows = [
        ["value", f"{selection.value:.4f}"],
        ["cost", f"{selection.cost:g}"],
        ["proof", f"{proof}, {work}"],
    ]
    return _card(f"keep {_names(selection)}", rows=rows)


def _trimming_card(trimming: Trimming) -> str:
    selection, trimmed = trimming.selection, trimming.classifier
    agreement = BarCell(measurement_text(selection.measurement), selection.value, GREEN)
    rows: list[Row] = [["agreement with the full classifier", agreement]]
    counted = trimming.held_out
    if counted is not None:
        share = f"{share_text(counted.share)} ({counted.n_agreeing:,} of {counted.n_rows:,} rows)"
        rows.append(["counted on held-out rows", BarCell(share, counted.share, GREEN)])
    rule = trimmed.rule if isinstance(trimmed, Classifier) else None
    if isinstance(rule, ThresholdRule) and trimming.threshold_interval:
        threshold, reach = threshold_texts(rule.threshold, trimming.threshold_interval)
        rows.append(["threshold", f"{threshold} ({reach})"])
    rows.append(["cost", f"{selection.cost:g}" + ("" if selection.optimal else ", not proven optimal")])
    small = len(trimmed.network) <= MOST_NODES
    drawings = [draw_graph(make_trimmed_graph(trimming))] if small else []
    sentences = [] if trimming.keeps_promise is not False else [BROKEN_PROMISE]
    return _card(f"keep {_names(selection)}", rows=rows, sentences=sentences, drawings=drawings)


def _frontier_card(frontier: Frontier) -> str:
    chosen = [point.selection for point in frontier.points]
    rows = [[f"{s.cost:g}", f"{s.value:.4f}{'' if s.optimal else '*'}", _names(s)] for s in chosen]
    sentences = [] if all(s.optimal for s in chosen) else ["* not proven to be the best"]
    return _card(
        "what each budget buys",
        rows=rows,
        headings=["cost", "agreement", "keep"],
        sentences=sentences,
        drawings=[draw_frontier(list_offers(frontier))],
    )


def _history_card(history: CaseHistory) -> str:
    rows: list[Row] = [
        [
            "nothing yet" if step.observed is None else "=".join(step.observed),
            step.decision.action,
            _bar(step.sdp),
        ]
        for step in history.steps
    ]
    headings = ["observed", "decision", "same-decision probability"]
    return _card(f"a case of {history.classifier.target}", rows=rows, headings=headings)


def _sweep_card(sweep: ThresholdSweep) -> str:
    pairs = zip(sweep.thresholds, sweep.selections, strict=True)
    rows = [[f"{threshold:g}", f"{s.value:.4f}", _names(s)] for threshold, s in pairs]
    heading = f"the best features within a budget of {sweep.budget:g}"
    return _card(heading, rows=rows, headings=["threshold", "agreement", "keep"])


def _reasons_card(why: Reasons) -> str:
    finite = [abs(each.weight) for each in why.contributions if math.isfinite(each.weight)]
    longest = max(finite, default=0.0) or 1.0
    rows: list[Row] = [
        [
            finding_text(each.feature, each.state),
            BarCell(
                number_text(each.weight),
                min(abs(each.weight) / longest, 1.0),
                GREEN if each.weight >= 0 else ORANGE,
            ),
            each.decision_without,
        ]
        for each in why.contributions
    ]
    told = [*reason_sentences(why), *turning_sentences(why), *note_sentences(why)]
    headings = ["finding", "weight", "decision without it"]
    return _card(f"decision: {why.decision.action}", rows=rows, headings=headings, sentences=told)


def _plan_card(plan: TestPlan) -> str:
    proof = "proven best" if plan.optimal else f"best within {plan.gap:.4g}"
    heading = f"plan for {plan.target}: expected cost {plan.expected_cost:.4g}, {proof}"
    return _card(heading, drawings=[draw_plan(nested_plan(plan.tree))])


def _names(selection: Selection) -> str:
    return names_text(selection.kept, at_most=len(selection.kept))


_CARD_BY_TYPE: dict[type, Callable[..., str]] = {
    Decision: _decision_card,
    Stopping: _stopping_card,
    ObservationRanking: _ranking_card,
    Case: _case_card,
    Selection: _selection_card,
    Trimming: _trimming_card,
    Frontier: _frontier_card,
    CaseHistory: _history_card,
    ThresholdSweep: _sweep_card,
    Reasons: _reasons_card,
    TestPlan: _plan_card,
}
