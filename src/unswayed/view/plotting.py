"""Results as pictures: names and numbers taken out of a result and handed to the charts.

Results offer `plot_result` as their `.plot()`. Models are drawn from here too: `draw`,
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
from unswayed.api.promises import Promise
from unswayed.api.ranking import ObservationRanking
from unswayed.api.results.plan import TestPlan
from unswayed.api.results.reasons import Reasons
from unswayed.api.results.recording import SearchRecord
from unswayed.api.selection import Frontier, Selection, Trimming
from unswayed.api.sweeps import ThresholdSweep
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
from unswayed.plans.outline import nested_plan
from unswayed.view.charts.audits import ConfirmedBand, draw_calibration, draw_sdp_histogram
from unswayed.view.charts.choices import Worth, draw_ranking, draw_selection
from unswayed.view.charts.curves import BestAt, OfferPoint, draw_frontier, draw_progress, draw_thresholds
from unswayed.view.charts.decisions import Gauge, Moment, draw_decision, draw_history, draw_posterior
from unswayed.view.charts.networks import BoxRole, NetworkGraph, VariableBox, draw_graph
from unswayed.view.charts.plans import DEEPEST, draw_plan
from unswayed.view.charts.reasons import Leeway, Push, draw_contributions, draw_leeways
from unswayed.view.drawing import Drawing
from unswayed.view.figure import Picture
from unswayed.view.sentences import question_text


def draw(
    model: BayesianNetwork | Classifier,
    evidence: Evidence | None = None,
    *,
    kept: Iterable[str] | None = None,
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
    boxes = [
        VariableBox(name, role_by_name[name], observed.get(name, ""), shares.get(name))
        for name in network.names
    ]
    return _graph_of(network, boxes)


def _graph_of(network: BayesianNetwork, boxes: Iterable[VariableBox]) -> NetworkGraph:
    arcs = tuple((p, child) for child, above in enumerate(network.parents) for p in above)
    return NetworkGraph(tuple(boxes), arcs)


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


Look = dict[str, str]
"""The title and the subtitle of a picture."""


def _titled(look: Look, title: str) -> Look:
    """The look with a title of its own where none was given."""
    return {**look, "title": look["title"] or title}


def _plot_decision(decision: Decision, **look: str) -> Drawing:
    return draw_posterior(decision.posterior, decision.action, threshold=decision.threshold, **look)


def _plot_stopping(stopping: Stopping, **look: str) -> Drawing:
    now, gauge = stopping.decision, make_gauge(stopping.sdp, stopping.at_least)
    return draw_decision(now.posterior, now.action, gauge, threshold=now.threshold, **look)


def make_gauge(sdp: Measurement, at_least: float) -> Gauge:
    """What a gauge shows of a same-decision probability."""
    return Gauge(sdp.value, sdp.low, sdp.high, at_least)


def _plot_ranking(ranking: ObservationRanking, **look: str) -> Drawing:
    worth = {
        criterion: [Worth(v[i].value, v[i].low, v[i].high) for v in ranking.values]
        for i, criterion in enumerate(ranking.criteria)
    }
    return draw_ranking(ranking.features, worth, **_titled(look, "What is worth observing next?"))


def _plot_case(case: Case, *, title: str, subtitle: str) -> Drawing:
    """The network with what was observed so far."""
    classifier, observed = case.problem.classifier, list_findings(case)
    below = subtitle or question_text(classifier, observed)
    return draw_graph(make_graph(classifier, observed), title=title, subtitle=below)


def list_findings(case: Case) -> dict[str, str]:
    """What was observed in a case so far."""
    variables = case.problem.network.variables
    return {variables[v].name: variables[v].states[s] for v, s in case.problem.evidence.items()}


def _plot_selection(selection: Selection, **look: str) -> Drawing:
    bound, cost = selection.upper_bound, selection.cost
    return draw_selection(selection.kept, selection.value, bound, cost=cost, **look)


def _plot_trimming(trimming: Trimming, **look: str) -> Drawing:
    """The network of a trimmed classifier, its features kept."""
    trimmed = trimming.classifier
    roles = {**dict.fromkeys(trimmed.features, BoxRole.KEPT), trimmed.target: BoxRole.TARGET}
    boxes = [VariableBox(name, roles.get(name, BoxRole.HIDDEN)) for name in trimmed.network.names]
    return draw_graph(_graph_of(trimmed.network, boxes), title=look["title"], subtitle=look["subtitle"])


def list_offers(frontier: Frontier) -> list[OfferPoint]:
    """The points of a frontier, to be drawn."""
    found = [point.selection for point in frontier.points]
    return [OfferPoint(s.cost, s.value, s.kept, s.optimal, s.gap) for s in found]


def _plot_frontier(frontier: Frontier, **look: str) -> Drawing:
    title = look["title"] or "What each budget buys"
    return draw_frontier(list_offers(frontier), title=title, subtitle=look["subtitle"])


def _plot_history(history: CaseHistory, *, at_least: float | None = 0.95, **look: str) -> Drawing:
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
    look = _titled(look, f"{target} as evidence arrives")
    return draw_history(moments, threshold=threshold, at_least=at_least, **look)


def _plot_sweep(sweep: ThresholdSweep, **look: str) -> Drawing:
    points = [BestAt(t, s.value, s.kept) for t, s in zip(sweep.thresholds, sweep.selections, strict=True)]
    return draw_thresholds(points, **_titled(look, f"The best features within a budget of {sweep.budget:g}"))


def _plot_record(record: SearchRecord, **look: str) -> Drawing:
    if not record.reports:
        raise QueryError("the search reported nothing; it was over at once")
    return draw_progress(record.reports, **_titled(look, "How the search went"))


def _plot_reasons(why: Reasons, *, parameters: bool = False, **look: str) -> Drawing:
    """What each finding added; with `parameters`, how far numbers of the network may move (a tornado)."""
    decided = f"the decision {why.decision.action!r}"
    if parameters:
        leeways = [Leeway(each.name, each.value, each.low, each.high) for each in why.parameters]
        return draw_leeways(leeways, **_titled(look, f"How far numbers may move and keep {decided}"))
    unit = f"{why.leaning}: to the right for the decision, to the left against it"
    return draw_contributions(list_pushes(why), unit=unit, **_titled(look, f"What drove {decided}"))


def list_pushes(why: Reasons) -> list[Push]:
    """The contributions of an explanation, to be drawn."""
    return [Push(f"{each.feature} = {each.state}", each.weight) for each in why.contributions]


def _plot_plan(plan: TestPlan, *, deepest: int = DEEPEST, **look: str) -> Drawing:
    """The plan as a flow chart; tests deeper than `deepest` are folded."""
    look = _titled(look, f"Tests for {plan.target}: expected cost {plan.expected_cost:.4g}")
    return draw_plan(nested_plan(plan.tree), deepest=deepest, **look)


def _plot_audit(audit: AuditSum, *, calibration: bool = False, **look: str) -> Drawing:
    """Rows over their SDP by decision; with `calibration`, how often outcomes confirmed the decisions."""
    if not calibration:
        counts = dict(zip(audit.classifier.actions, audit.tally.histogram, strict=True))
        look = _titled(look, f"How safe {len(audit):,} decisions are")
        return draw_sdp_histogram(counts, audit.at_least, **look)
    if audit.outcome is None:
        raise QueryError("calibration compares with recorded outcomes; pass outcome= to the audit")
    bands = [
        ConfirmedBand(b["sdp_from"], b["sdp_to"], b["mean_sdp"], b["confirmed"], b["rows"])
        for b in confirmed_bands(audit.tally)
    ]
    return draw_calibration(bands, **_titled(look, "How often outcomes confirmed the decisions"))


def _plot_promise(found: Promise, **look: str) -> Drawing:
    """The share of decisions that stayed over what was promised."""
    bands = [
        ConfirmedBand(low, high, each.promised, each.kept, each.n_rows) for low, high, each in found.bands
    ]
    look = _titled(look, f"What was promised of {len(found.sdp):,} decisions, and kept")
    return draw_calibration(bands, verb="kept", **look)


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
    Promise: _plot_promise,
}


def plot_result(result: Any, *, title: str = "", subtitle: str = "", **options: Any) -> Picture:
    """The picture of a result, by its type; `title` replaces its own, `subtitle` says what it is about."""
    return Picture(_PLOT_BY_TYPE[type(result)](result, title=title, subtitle=subtitle, **options))
