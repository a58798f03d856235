"""Results as pictures: names and numbers taken out of a result and handed to the charts.

Results offer `plot_result` as their `.plot()`. Models are drawn from here too: `draw_network`,
`draw_circuit` and `draw_vtree`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from unswayed.api.audits.files import AuditedFile
from unswayed.api.audits.result import Audit, AuditSum
from unswayed.api.audits.tally import confirmed_bands
from unswayed.api.decisions import Decision
from unswayed.api.history import CaseHistory
from unswayed.api.observations import Case, Stopping
from unswayed.api.ranking import ObservationRanking
from unswayed.api.results.plan import TestPlan
from unswayed.api.results.reasons import Reasons
from unswayed.api.results.recording import SearchRecord
from unswayed.api.selection import Frontier, Selection, Trimming
from unswayed.api.thresholds import ThresholdSweep
from unswayed.circuits.psdd.psdd import Psdd
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import Vtree
from unswayed.core.errors import QueryError
from unswayed.core.measurement import Measurement
from unswayed.core.names import unknown_name
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.model.evidence import Evidence, observe
from unswayed.model.network import BayesianNetwork
from unswayed.plans.nested import nested_plan
from unswayed.view.charts.audits import ConfirmedBand, draw_calibration, draw_sdp_histogram
from unswayed.view.charts.choices import Worth, draw_ranking, draw_selection
from unswayed.view.charts.curves import (
    BestAt,
    Instant,
    OfferPoint,
    draw_frontier,
    draw_progress,
    draw_thresholds,
)
from unswayed.view.charts.decisions import Gauge, Moment, draw_decision, draw_history, draw_posterior
from unswayed.view.charts.networks import BoxRole, NetworkGraph, VariableBox, draw_graph
from unswayed.view.charts.plans import DEEPEST, draw_plan
from unswayed.view.charts.reasons import Leeway, Push, draw_contributions, draw_leeways
from unswayed.view.drawing import Drawing
from unswayed.view.figure import Picture
from unswayed.view.sentences import question_text


def draw_network(
    model: BayesianNetwork | Classifier,
    evidence: Evidence | None = None,
    kept: Iterable[str] | None = None,
    *,
    title: str = "",
    subtitle: str = "",
    posteriors: Mapping[str, Mapping[str, float]] | None = None,
    whole: bool = False,
) -> Picture:
    """The network of a model, and of a classifier what is decided about, observed, kept and dropped.

    Variables named in `posteriors` hold a bar for each state. Of more than 100 variables, those nearest to
    what a classifier decides about are drawn, unless the `whole` is wanted. `unswayed draw` does the same on
    the command line.
    """
    graph = make_graph(model, evidence, kept, posteriors=posteriors)
    return Picture(draw_graph(graph, title=title, subtitle=subtitle, whole=whole))


def make_graph(
    model: BayesianNetwork | Classifier,
    evidence: Evidence | None = None,
    kept: Iterable[str] | None = None,
    *,
    posteriors: Mapping[str, Mapping[str, float]] | None = None,
) -> NetworkGraph:
    """What there is to draw of a model; `QueryError` for names it does not have."""
    network = model.network if isinstance(model, Classifier) else model
    features = model.features if isinstance(model, Classifier) else model.names
    observed = dict(evidence or {})
    observe(network, observed)  # raises where a name or state is not known
    chosen = None if kept is None else frozenset(kept)
    for name in sorted(chosen or ()):
        if name not in features:
            raise QueryError(unknown_name("feature", name, features))
    role_by_name = dict.fromkeys(network.names, BoxRole.HIDDEN)
    for name in features:
        is_kept = chosen is not None and name in chosen
        role_by_name[name] = (
            BoxRole.FEATURE if chosen is None else BoxRole.KEPT if is_kept else BoxRole.DROPPED
        )
    role_by_name.update(dict.fromkeys(observed, BoxRole.EVIDENCE))
    if isinstance(model, Classifier):
        role_by_name[model.target] = BoxRole.TARGET
    shares = posteriors or {}
    boxes = tuple(
        VariableBox(name, role_by_name[name], observed.get(name, ""), shares.get(name))
        for name in network.names
    )
    return NetworkGraph(
        boxes, tuple((p, child) for child, above in enumerate(network.parents) for p in above)
    )


def draw_circuit(circuit: Sdd | Psdd, *, title: str = "") -> Picture:
    """A small circuit; `LimitError` when it has too many elements to be read."""
    from unswayed.view.charts.circuits import draw_gates, list_psdd_gates, list_sdd_gates

    gates = list_psdd_gates(circuit) if isinstance(circuit, Psdd) else list_sdd_gates(circuit)
    if not gates:
        raise QueryError("this circuit has no decision node: it is a constant or a literal")
    return Picture(draw_gates(gates, title=title))


def draw_vtree(vtree: Vtree, *, title: str = "") -> Picture:
    """A vtree."""
    from unswayed.view.charts.circuits import draw_tree

    return Picture(draw_tree(vtree, title=title))


def _plot_decision(decision: Decision, *, title: str, subtitle: str) -> Drawing:
    threshold = decision.threshold
    return draw_posterior(
        decision.posterior, decision.action, threshold=threshold, title=title, subtitle=subtitle
    )


def _plot_stopping(stopping: Stopping, *, title: str, subtitle: str) -> Drawing:
    decision, gauge = stopping.decision, make_gauge(stopping.sdp, stopping.at_least)
    threshold = decision.threshold
    return draw_decision(
        decision.posterior, decision.action, gauge, threshold=threshold, title=title, subtitle=subtitle
    )


def make_gauge(sdp: Measurement, at_least: float) -> Gauge:
    """What a gauge shows of a same-decision probability."""
    return Gauge(sdp.value, sdp.low, sdp.high, at_least)


def _plot_ranking(ranking: ObservationRanking, *, title: str, subtitle: str) -> Drawing:
    worth = {
        criterion: [Worth(v[i].value, v[i].low, v[i].high) for v in ranking.values]
        for i, criterion in enumerate(ranking.criteria)
    }
    heading = title or "What is worth observing next?"
    return draw_ranking(ranking.features, worth, title=heading, subtitle=subtitle)


def _plot_case(case: Case, *, title: str, subtitle: str) -> Drawing:
    """The network with what was observed so far."""
    classifier, observed = case.problem.classifier, list_findings(case)
    below = subtitle or question_text(classifier, observed)
    return draw_graph(make_graph(classifier, observed), title=title, subtitle=below)


def list_findings(case: Case) -> dict[str, str]:
    """What was observed in a case so far."""
    variables = case.problem.network.variables
    return {variables[v].name: variables[v].states[s] for v, s in case.problem.evidence.items()}


def _plot_selection(selection: Selection, *, title: str, subtitle: str) -> Drawing:
    bound, cost = selection.upper_bound, selection.cost
    return draw_selection(selection.kept, selection.value, bound, cost=cost, title=title, subtitle=subtitle)


def _plot_trimming(trimming: Trimming, *, title: str, subtitle: str) -> Drawing:
    return draw_graph(make_trimmed_graph(trimming), title=title, subtitle=subtitle)


def make_trimmed_graph(trimming: Trimming) -> NetworkGraph:
    """The network of a trimmed classifier, its features kept."""
    trimmed = trimming.classifier
    roles = {**dict.fromkeys(trimmed.features, BoxRole.KEPT), trimmed.target: BoxRole.TARGET}
    network = trimmed.network
    boxes = tuple(VariableBox(name, roles.get(name, BoxRole.HIDDEN)) for name in network.names)
    return NetworkGraph(
        boxes, tuple((p, child) for child, above in enumerate(network.parents) for p in above)
    )


def list_offers(frontier: Frontier) -> list[OfferPoint]:
    """The points of a frontier, to be drawn."""
    found = [point.selection for point in frontier.points]
    return [OfferPoint(s.cost, s.value, s.kept, s.optimal, s.gap) for s in found]


def _plot_frontier(frontier: Frontier, *, title: str, subtitle: str) -> Drawing:
    return draw_frontier(list_offers(frontier), title=title or "What each budget buys", subtitle=subtitle)


def _plot_history(
    history: CaseHistory, *, title: str, subtitle: str, at_least: float | None = 0.95
) -> Drawing:
    rule, target = history.classifier.rule, history.classifier.target
    moments = [
        Moment(
            "" if step.observed is None else "=".join(step.observed),
            step.decision.posterior,
            step.decision.action,
            step.sdp.value,
            step.sdp.low,
            step.sdp.high,
        )
        for step in history.steps
    ]
    threshold = (rule.positive, rule.threshold) if isinstance(rule, ThresholdRule) else None
    heading = title or f"{target} as evidence arrives"
    return draw_history(moments, title=heading, subtitle=subtitle, threshold=threshold, at_least=at_least)


def _plot_sweep(sweep: ThresholdSweep, *, title: str, subtitle: str) -> Drawing:
    points = [BestAt(t, s.value, s.kept) for t, s in zip(sweep.thresholds, sweep.selections, strict=True)]
    heading = title or f"The best features within a budget of {sweep.budget:g}"
    return draw_thresholds(points, title=heading, subtitle=subtitle)


def _plot_record(record: SearchRecord, *, title: str, subtitle: str) -> Drawing:
    if not record.reports:
        raise QueryError("the search reported nothing; it was over at once")
    instants = [Instant(r.seconds, r.incumbent, r.bound, r.evaluations) for r in record.reports]
    return draw_progress(instants, title=title or "How the search went", subtitle=subtitle)


def _plot_reasons(why: Reasons, *, title: str, subtitle: str, parameters: bool = False) -> Drawing:
    """What each finding added; with `parameters`, how far numbers of the network may move (a tornado)."""
    decided = f"the decision {why.decision.action!r}"
    if parameters:
        leeways = [Leeway(each.name, each.value, each.low, each.high) for each in why.parameters]
        heading = title or f"How far numbers may move and keep {decided}"
        return draw_leeways(leeways, title=heading, subtitle=subtitle)
    unit = f"{why.leaning}: to the right for the decision, to the left against it"
    heading = title or f"What drove {decided}"
    return draw_contributions(list_pushes(why), title=heading, subtitle=subtitle, unit=unit)


def list_pushes(why: Reasons) -> list[Push]:
    """The contributions of an explanation, to be drawn."""
    return [Push(f"{each.feature} = {each.state}", each.weight) for each in why.contributions]


def _plot_plan(plan: TestPlan, *, title: str, subtitle: str, deepest: int = DEEPEST) -> Drawing:
    """The plan as a flow chart; tests deeper than `deepest` are folded."""
    heading = title or f"Tests for {plan.target}: expected cost {plan.expected_cost:.4g}"
    return draw_plan(nested_plan(plan.tree), title=heading, subtitle=subtitle, deepest=deepest)


def _plot_audit(audit: AuditSum, *, title: str, subtitle: str, calibration: bool = False) -> Drawing:
    """Rows over their SDP by decision; with `calibration`, how often outcomes confirmed the decisions."""
    if not calibration:
        counts = dict(zip(audit.classifier.actions, audit.tally.histogram, strict=True))
        heading = title or f"How safe {len(audit):,} decisions are"
        return draw_sdp_histogram(counts, audit.at_least, title=heading, subtitle=subtitle)
    if audit.outcome is None:
        raise QueryError("calibration compares with recorded outcomes; pass outcome= to the audit")
    bands = [
        ConfirmedBand(b["sdp_from"], b["sdp_to"], b["mean_sdp"], b["confirmed"], b["rows"])
        for b in confirmed_bands(audit.tally)
    ]
    heading = title or "How often outcomes confirmed the decisions"
    return draw_calibration(bands, title=heading, subtitle=subtitle)


_PLOT_BY_TYPE: dict[type, Callable[..., Drawing]] = {
    Decision: _plot_decision,
    Stopping: _plot_stopping,
    ObservationRanking: _plot_ranking,
    Case: _plot_case,
    Selection: _plot_selection,
    Trimming: _plot_trimming,
    Frontier: _plot_frontier,
    CaseHistory: _plot_history,
    ThresholdSweep: _plot_sweep,
    SearchRecord: _plot_record,
    Reasons: _plot_reasons,
    TestPlan: _plot_plan,
    Audit: _plot_audit,
    AuditedFile: _plot_audit,
}


def plot_result(result: Any, *, title: str = "", subtitle: str = "", **options: Any) -> Picture:
    """The picture of a result, by its type; `title` replaces its own, `subtitle` says what it is about."""
    return Picture(_PLOT_BY_TYPE[type(result)](result, title=title, subtitle=subtitle, **options))
