"""Results as cards: what `_repr_html_` of each result shows in a notebook, and `print` in a terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from markupsafe import Markup

from unswayed.api.audits.files import AuditedFile
from unswayed.api.audits.result import Audit, AuditSum
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
from unswayed.view.audit_lines import audit_lines
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
from unswayed.view.plotting import list_findings, list_offers, make_trimmed_graph, plot_result
from unswayed.view.reason_lines import (
    finding_text,
    note_sentences,
    number_text,
    reason_sentences,
    turning_sentences,
)
from unswayed.view.sentences import BROKEN_PROMISE, advice_text, further_texts, next_text
from unswayed.view.svg import to_svg
from unswayed.view.tables import table_lines
from unswayed.view.templating import render

MOST_ROWS = 20
"""Rows of a table before it is cut."""
TEXT_WIDTH = 100
"""Characters of a line of text."""
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


@dataclass(frozen=True, slots=True)
class Card:
    """What there is to say about a result."""

    heading: str
    rows: Sequence[Row] = ()
    headings: Sequence[str] = ()
    sentences: Sequence[str] = ()
    drawings: Sequence[Drawing] = ()


def make_card(result: Any) -> str:
    """The card of a result as HTML."""
    card: Card = _CARD_BY_TYPE[type(result)](result)
    svgs = [Markup(to_svg(each, fixed=True)) for each in card.drawings]
    return render(
        "card.html",
        heading=card.heading,
        rows=_first_rows(card),
        headings=card.headings,
        sentences=card.sentences,
        drawings=svgs,
    )


def make_text(result: Any) -> str:
    """The card of a result as plain text, without its pictures."""
    card: Card = _CARD_BY_TYPE[type(result)](result)
    rows = [[cell if isinstance(cell, str) else cell.text for cell in row] for row in _first_rows(card)]
    table = [list(card.headings), *rows] if card.headings else rows
    columns = [line.plain for line in table_lines(table)] if rows else []
    sentences = [line for each in card.sentences for line in wrap(each, TEXT_WIDTH)]
    return "\n".join([*wrap(card.heading, TEXT_WIDTH), *columns, *sentences])


def _first_rows(card: Card) -> list[Row]:
    more = len(card.rows) - MOST_ROWS
    return [*card.rows[:MOST_ROWS], *([[f"and {more:,} more"]] if more > 0 else [])]


def _posterior_rows(decision: Decision) -> list[Row]:
    return [[state, BarCell(f"{p:.4f}", p)] for state, p in decision.posterior.items()]


def _bar(measured: Measurement) -> BarCell:
    """A probability, with the confidence of its interval where it is an estimate."""
    return BarCell(measurement_text(measured), measured.value, GREEN)


def _decision_card(decision: Decision) -> Card:
    return Card(f"decision: {decision.action}", rows=_posterior_rows(decision))


def _stopping_card(stopping: Stopping) -> Card:
    rows: list[Row] = [*_posterior_rows(stopping.decision), ["same-decision probability", _bar(stopping.sdp)]]
    return Card(f"decision: {stopping.decision.action}", rows=rows, sentences=[advice_text(stopping)])


def _ranking_card(ranking: ObservationRanking) -> Card:
    if not ranking.features:
        return Card("nothing left to observe")
    tops = [max(v[i].value for v in ranking.values) for i in range(len(ranking.criteria))]
    rows = [
        [feature, *(_gain_cell(each, top) for each, top in zip(values, tops, strict=True))]
        for feature, values in zip(ranking.features, ranking.values, strict=True)
    ]
    heading = f"observe next: {ranking.best or 'nothing gains by ' + ranking.criteria[0]}"
    priced = any(cost != 1.0 for cost in ranking.costs)
    sentences = [next_text(ranking), *(further_texts(ranking, priced=priced) if ranking.done else ())]
    return Card(heading, rows=rows, headings=["feature", *ranking.criteria], sentences=sentences)


def _gain_cell(gain: Measurement, top: float) -> str | BarCell:
    share = gain.value / top if top > NOISE and gain.value > NOISE else 0.0
    return BarCell(gain_text(gain), share) if share else gain_text(gain)


def _case_card(case: Case) -> Card:
    findings = ", ".join(f"{name}={state}" for name, state in list_findings(case).items())
    sentences = [f"observed: {findings or 'nothing yet'}", f"would decide: {case.decision.action}"]
    target = case.problem.classifier.target
    return Card(f"a case of {target}", rows=_posterior_rows(case.decision), sentences=sentences)


def _selection_card(selection: Selection) -> Card:
    proof = (
        "proven optimal" if selection.optimal else f"within {selection.gap:.4f} of the best there could be"
    )
    work = f"{selection.evaluations:,} subsets, {seconds_text(selection.seconds)}"
    rows = [
        ["value", f"{selection.value:.4f}"],
        ["cost", f"{selection.cost:g}"],
        ["proof", f"{proof}, {work}"],
    ]
    return Card(f"keep {_names(selection)}", rows=rows)


def _trimming_card(trimming: Trimming) -> Card:
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
    return Card(f"keep {_names(selection)}", rows=rows, sentences=sentences, drawings=drawings)


def _frontier_card(frontier: Frontier) -> Card:
    chosen = [point.selection for point in frontier.points]
    rows = [[f"{s.cost:g}", f"{s.value:.4f}{'' if s.optimal else '*'}", _names(s)] for s in chosen]
    sentences = [] if all(s.optimal for s in chosen) else ["* not proven to be the best"]
    return Card(
        "what each budget buys",
        rows=rows,
        headings=["cost", "agreement", "keep"],
        sentences=sentences,
        drawings=[draw_frontier(list_offers(frontier))],
    )


def _history_card(history: CaseHistory) -> Card:
    rows: list[Row] = [
        [
            "nothing yet" if step.observed is None else "=".join(step.observed),
            step.decision.action,
            _bar(step.sdp),
        ]
        for step in history.steps
    ]
    headings = ["observed", "decision", "same-decision probability"]
    return Card(f"a case of {history.classifier.target}", rows=rows, headings=headings)


def _sweep_card(sweep: ThresholdSweep) -> Card:
    pairs = zip(sweep.thresholds, sweep.selections, strict=True)
    rows = [[f"{threshold:g}", f"{s.value:.4f}", _names(s)] for threshold, s in pairs]
    heading = f"the best features within a budget of {sweep.budget:g}"
    return Card(heading, rows=rows, headings=["threshold", "agreement", "keep"])


def _reasons_card(why: Reasons) -> Card:
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
    return Card(f"decision: {why.decision.action}", rows=rows, headings=headings, sentences=told)


def _plan_card(plan: TestPlan) -> Card:
    proof = "proven best" if plan.optimal else f"best within {plan.gap:.4g}"
    heading = f"plan for {plan.target}: expected cost {plan.expected_cost:.4g}, {proof}"
    return Card(heading, drawings=[draw_plan(nested_plan(plan.tree))])


def _audit_card(audit: AuditSum) -> Card:
    heading, *lines = [line.plain.strip() for line in audit_lines(audit)]
    return Card(heading, sentences=lines, drawings=[plot_result(audit).drawing])


def _names(selection: Selection) -> str:
    return names_text(selection.kept, at_most=len(selection.kept))


_CARD_BY_TYPE: dict[type, Callable[..., Card]] = {
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
    Audit: _audit_card,
    AuditedFile: _audit_card,
}
