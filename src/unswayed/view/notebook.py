"""Results as notebook cells: what `_repr_html_` of each result shows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from unswayed.api.decisions import Decision
from unswayed.api.explained import Reasons
from unswayed.api.history import Course
from unswayed.api.observations import Monitor, Ranking, Stopping
from unswayed.api.plan_result import TestPlan
from unswayed.api.selection import Frontier, Selection, Trimming
from unswayed.api.thresholds import ThresholdSweep
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.plans.nested import nested_plan
from unswayed.view.cards import bar, card, framed, sentence, table
from unswayed.view.colours import GREEN, VERMILLION
from unswayed.view.flow_chart import flow_chart_svg
from unswayed.view.frontier_svg import frontier_svg
from unswayed.view.graph import MOST_NODES
from unswayed.view.markup import escaped
from unswayed.view.network_svg import network_svg
from unswayed.view.plotting import offers_of, trimming_graph
from unswayed.view.reason_lines import (
    finding_text,
    note_sentences,
    number_text,
    reason_sentences,
    turning_sentences,
)

MOST_ROWS = 20
"""Rows of a table before it is cut."""


def decision_card(decision: Decision) -> str:
    """The decision and the posterior it rests on."""
    return card(f"decision: {decision.action}", _posterior_table(decision))


def stopping_card(stopping: Stopping) -> str:
    """The decision, how safe it is, and whether to stop."""
    level = f"{stopping.at_least:g}"
    advice = f"stop: at least {level}" if stopping.stop else f"go on: below {level}"
    if not stopping.certain:
        advice = f"open: {level} lies within the interval"
    rows = [["same-decision probability", measured_text(stopping.sdp), bar(stopping.sdp.value, GREEN)]]
    return card(
        f"decision: {stopping.decision.action}",
        _posterior_table(stopping.decision),
        table([], rows),
        sentence(advice),
    )


def _posterior_table(decision: Decision) -> str:
    rows = [[escaped(state), f"{p:.4f}", bar(p)] for state, p in decision.posterior.items()]
    return table([], _cut(rows))


def ranking_card(ranking: Ranking) -> str:
    """The features by what observing them is worth."""
    rows = []
    tops = [max((v[i].value for v in ranking.values), default=0.0) for i in range(len(ranking.criteria))]
    for feature, values in zip(ranking.features, ranking.values, strict=True):
        cells = [
            f"{each.value:.4f} {bar(each.value / top) if top > 0 and each.value > 0 else ''}"
            for each, top in zip(values, tops, strict=True)
        ]
        rows.append([escaped(feature), *cells])
    best = ranking.best
    heading = (
        "nothing left to observe" if not ranking.features else f"observe next: {best or 'nothing gains'}"
    )
    return card(heading, table(["feature", *ranking.criteria], _cut(rows)))


def monitor_card(monitor: Monitor) -> str:
    """What was observed so far, and what would be decided."""
    problem = monitor.problem
    variables = problem.network.variables
    observed = ", ".join(f"{variables[v].name}={variables[v].states[s]}" for v, s in problem.evidence.items())
    return card(
        f"a case of {problem.classifier.target}",
        sentence(f"observed: {observed or 'nothing yet'}"),
        sentence(f"would decide: {monitor.decision.action}"),
        _posterior_table(monitor.decision),
    )


def selection_card(selection: Selection) -> str:
    """The features chosen, and what is proven."""
    proof = (
        "proven optimal" if selection.optimal else f"within {selection.gap:.4f} of the best there could be"
    )
    rows = [
        ["value", f"{selection.value:.4f}"],
        ["cost", f"{selection.cost:g}"],
        ["proof", f"{proof}, {selection.evaluations:,} subsets, {selection.seconds:.2g} s"],
    ]
    return card(f"keep {_names(selection.kept)}", table([], rows))


def trimming_card(trimming: Trimming) -> str:
    """The features kept, the threshold, the agreement, and the network."""
    selection, trimmed = trimming.selection, trimming.classifier
    rows = [["agreement with the full classifier", f"{selection.value:.4f}", bar(selection.value, GREEN)]]
    if (
        isinstance(trimmed, Classifier)
        and isinstance(trimmed.rule, ThresholdRule)
        and trimming.threshold_interval
    ):
        low, high = trimming.threshold_interval
        words = f"{trimmed.rule.threshold:.4g} (any above {low:.4g}, up to {high:.4g})"
        rows.append(["threshold", words, ""])
    rows.append(["cost", f"{selection.cost:g}", "" if selection.optimal else "not proven optimal"])
    parts = [table([], rows)]
    if len(trimmed.network) <= MOST_NODES // 10:
        parts.append(framed(network_svg(trimming_graph(trimming))))
    return card(f"keep {_names(selection.kept)}", *parts)


def frontier_card(frontier: Frontier) -> str:
    """Agreement over the budget, as curve and table."""
    rows = [
        [f"{s.cost:g}", f"{s.value:.4f}{'' if s.optimal else '*'}", escaped(_names(s.kept))]
        for s in (point.selection for point in frontier.points)
    ]
    parts = [framed(frontier_svg(offers_of(frontier))), table(["cost", "agreement", "keep"], _cut(rows))]
    if any(not point.selection.optimal for point in frontier.points):
        parts.append(sentence("* not proven to be the best"))
    return card("what each budget buys", *parts)


def course_card(course: Course) -> str:
    """The decision and its safety after each observation."""
    rows = []
    for step in course.steps:
        observed = "nothing yet" if step.observed is None else "=".join(step.observed)
        sdp = f"{measured_text(step.sdp)} {bar(step.sdp.value, GREEN)}"
        rows.append([escaped(observed), escaped(step.decision.action), sdp])
    headings = ["observed", "decision", "same-decision probability"]
    return card(f"a case of {course.classifier.target}", table(headings, rows))


def sweep_card(sweep: ThresholdSweep) -> str:
    """The best features at each threshold."""
    rows = [
        [f"{t:g}", f"{s.value:.4f}", escaped(_names(s.kept))]
        for t, s in zip(sweep.thresholds, sweep.selections, strict=True)
    ]
    headings = ["threshold", "agreement", "keep"]
    return card(f"the best features within a budget of {sweep.budget:g}", table(headings, rows))


def reasons_card(why: Reasons) -> str:
    """Why this decision, what would turn it, and what each finding added."""
    finite = [abs(each.weight) for each in why.contributions if math.isfinite(each.weight)]
    longest = max(finite, default=0.0) or 1.0
    rows = [
        [
            escaped(finding_text(each.feature, each.state)),
            number_text(each.weight),
            bar(abs(each.weight) / longest, GREEN if each.weight >= 0 else VERMILLION),
            escaped(each.decision_without),
        ]
        for each in why.contributions
    ]
    told = [*reason_sentences(why), *turning_sentences(why), *note_sentences(why)]
    headings = ["finding", "weight", "", "decision without it"]
    return card(f"decision: {why.decision.action}", *map(sentence, told), table(headings, _cut(rows)))


def measured_text(measured: Measurement) -> str:
    """A probability, or the interval it lies in.

    >>> measured_text(Measurement.exact(0.92, engine="dense"))
    '0.9200'
    """
    if measured.certainty is Certainty.EXACT:
        return f"{measured.value:.4f}"
    return f"{measured.low:.4f} to {measured.high:.4f}"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "nothing"


def _cut(rows: list[list[str]]) -> list[list[str]]:
    if len(rows) <= MOST_ROWS:
        return rows
    return [*rows[:MOST_ROWS], [f"and {len(rows) - MOST_ROWS:,} more"]]


def plan_card(plan: TestPlan) -> str:
    """The plan as a flow chart, with what it costs."""
    proof = "proven best" if plan.optimal else f"best within {plan.gap:.4g}"
    heading = f"plan for {plan.target}: expected cost {plan.expected_cost:.4g}, {proof}"
    return card(heading, framed(flow_chart_svg(nested_plan(plan.tree), label=heading)))


_CARD_BY_TYPE: dict[type, Callable[..., str]] = {
    Decision: decision_card,
    Stopping: stopping_card,
    Ranking: ranking_card,
    Monitor: monitor_card,
    Selection: selection_card,
    Trimming: trimming_card,
    Frontier: frontier_card,
    Course: course_card,
    TestPlan: plan_card,
    ThresholdSweep: sweep_card,
    Reasons: reasons_card,
}


def make_card(result: Any) -> str:
    """The card of a result, by its type."""
    return _CARD_BY_TYPE[type(result)](result)
