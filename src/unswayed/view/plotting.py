"""Results as pictures: names and numbers taken out of a result and handed to `unswayed.view`.

Results offer these functions as their `.plot()`. What is drawn of a network is here too: `draw_network`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from unswayed.api.decisions import Decision
from unswayed.api.explained import Reasons
from unswayed.api.history import Course
from unswayed.api.networks import Evidence
from unswayed.api.observations import Monitor, Ranking, Stopping
from unswayed.api.plan_result import TestPlan
from unswayed.api.recording import SearchRecord
from unswayed.api.selection import Frontier, Selection, Trimming
from unswayed.api.thresholds import ThresholdSweep
from unswayed.circuits.psdd.psdd import Psdd
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import Vtree
from unswayed.core.errors import QueryError
from unswayed.core.names import unknown_name
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.model.evidence import observe
from unswayed.model.network import BayesianNetwork
from unswayed.plans.nested import nested_plan
from unswayed.view.canvas import Picture
from unswayed.view.flow_chart import DEEPEST, flow_chart_picture
from unswayed.view.graph import Box, Graph, Role

if TYPE_CHECKING:
    from unswayed.view.frontier import Offer


def draw_network(
    model: BayesianNetwork | Classifier,
    evidence: Evidence | None = None,
    kept: Iterable[str] | None = None,
    *,
    title: str = "",
) -> Picture:
    """The network of a model, and of a classifier what is decided about, observed, kept and dropped.

    Needs matplotlib; `unswayed draw` does the same on the command line.
    """
    from unswayed.view.network import network_picture

    return network_picture(graph_of(model, evidence, kept), title=title)


def graph_of(
    model: BayesianNetwork | Classifier, evidence: Evidence | None = None, kept: Iterable[str] | None = None
) -> Graph:
    """What there is to draw of a model; `QueryError` for names it does not have."""
    observed = dict(evidence or {})
    if isinstance(model, Classifier):
        return _graph(model.network, model.target, model.features, observed=observed, kept=kept)
    return _graph(model, None, model.names, observed=observed, kept=kept)


def _graph(
    network: BayesianNetwork,
    target: str | None,
    features: tuple[str, ...],
    *,
    observed: dict[str, str],
    kept: Iterable[str] | None,
) -> Graph:
    observe(network, observed)  # raises where a name or state is not known
    chosen = None if kept is None else frozenset(kept)
    for name in sorted(chosen or ()):
        if name not in features:
            raise QueryError(unknown_name("feature", name, features))
    role_by_name = dict.fromkeys(network.names, Role.HIDDEN)
    for name in features:
        role_by_name[name] = Role.FEATURE if chosen is None else Role.KEPT if name in chosen else Role.DROPPED
    role_by_name.update(dict.fromkeys(observed, Role.EVIDENCE))
    if target is not None:
        role_by_name[target] = Role.TARGET
    boxes = tuple(Box(name, role_by_name[name], observed.get(name, "")) for name in network.names)
    arcs = tuple((p, child) for child, parents in enumerate(network.parents) for p in parents)
    return Graph(boxes, arcs)


def draw_circuit(circuit: Sdd | Psdd, *, title: str = "") -> Picture:
    """A small circuit; `LimitError` when it has too many elements to be read."""
    from unswayed.view.circuit import gates_of_psdd, gates_of_sdd
    from unswayed.view.circuit_drawing import circuit_picture

    gates = gates_of_psdd(circuit) if isinstance(circuit, Psdd) else gates_of_sdd(circuit)
    if not gates:
        raise QueryError("this circuit has no decision node: it is a constant or a literal")
    return circuit_picture(gates, title=title)


def draw_vtree(vtree: Vtree, *, title: str = "") -> Picture:
    """A vtree."""
    from unswayed.view.circuit_drawing import vtree_picture

    return vtree_picture(vtree, title=title)


def plot_decision(decision: Decision, *, title: str) -> Picture:
    """The posterior, the decision standing out."""
    from unswayed.view.decision import decision_picture

    return decision_picture(decision.posterior, decision.action, title=title)


def plot_stopping(stopping: Stopping, *, title: str) -> Picture:
    """The posterior, and the same-decision probability beside the level at which to stop."""
    from unswayed.view.decision import Gauge, decision_picture

    sdp, decision = stopping.sdp, stopping.decision
    gauge = Gauge(sdp.value, sdp.low, sdp.high, stopping.at_least)
    return decision_picture(decision.posterior, decision.action, title=title, gauge=gauge)


def plot_ranking(ranking: Ranking, *, title: str) -> Picture:
    """Bars for each criterion."""
    from unswayed.view.ranking import Worth, ranking_picture

    worth = {
        criterion: [Worth(v[i].value, v[i].low, v[i].high) for v in ranking.values]
        for i, criterion in enumerate(ranking.criteria)
    }
    return ranking_picture(ranking.features, worth, title=title or "What is worth observing next?")


def plot_monitor(monitor: Monitor, *, title: str) -> Picture:
    """The network with what was observed so far."""
    problem = monitor.problem
    variables = problem.network.variables
    observed = {variables[v].name: variables[v].states[s] for v, s in problem.evidence.items()}
    return draw_network(problem.classifier, observed, title=title)


def plot_selection(selection: Selection, *, title: str) -> Picture:
    """The value that was found below the bound on what is possible."""
    from unswayed.view.selection import selection_picture

    return selection_picture(
        selection.kept, (selection.value, selection.upper_bound), cost=selection.cost, title=title
    )


def plot_trimming(trimming: Trimming, *, title: str) -> Picture:
    """The network with the features that were kept."""
    from unswayed.view.network import network_picture

    return network_picture(trimming_graph(trimming), title=title)


def trimming_graph(trimming: Trimming) -> Graph:
    """The network of a trimmed classifier, its features kept."""
    trimmed = trimming.classifier
    return _graph(trimmed.network, trimmed.target, trimmed.features, observed={}, kept=trimmed.features)


def offers_of(frontier: Frontier) -> list[Offer]:
    """The points of a frontier, to be drawn."""
    from unswayed.view.frontier import Offer

    return [
        Offer(s.cost, s.value, s.kept, s.optimal, s.gap)
        for s in (point.selection for point in frontier.points)
    ]


def plot_frontier(frontier: Frontier, *, title: str = "") -> Picture:
    """Agreement over the budget."""
    from unswayed.view.frontier import frontier_picture

    return frontier_picture(offers_of(frontier), title=title or "What each budget buys")


def plot_course(course: Course, *, title: str, at_least: float | None = 0.95) -> Picture:
    """Posterior and same-decision probability as evidence arrived."""
    from unswayed.view.course import Moment, course_picture

    rule = course.classifier.rule
    moments = [
        Moment(
            "" if step.observed is None else "=".join(step.observed),
            step.decision.posterior,
            step.decision.action,
            step.sdp.value,
            step.sdp.low,
            step.sdp.high,
        )
        for step in course.steps
    ]
    threshold = (rule.positive, rule.threshold) if isinstance(rule, ThresholdRule) else None
    heading = title or f"{course.classifier.target} as evidence arrives"
    return course_picture(moments, title=heading, threshold=threshold, at_least=at_least)


def plot_sweep(sweep: ThresholdSweep, *, title: str) -> Picture:
    """The agreement of the best features over the threshold."""
    from unswayed.view.thresholds import BestAt, thresholds_picture

    points = [BestAt(t, s.value, s.kept) for t, s in zip(sweep.thresholds, sweep.selections, strict=True)]
    return thresholds_picture(points, title=title or f"The best features within a budget of {sweep.budget:g}")


def plot_record(record: SearchRecord, *, title: str) -> Picture:
    """Incumbent and bound over time; `QueryError` when nothing was reported."""
    if not record.reports:
        raise QueryError("the search reported nothing; it was over at once")
    from unswayed.view.progress import Instant, progress_picture

    instants = [Instant(r.seconds, r.incumbent, r.bound, r.evaluations) for r in record.reports]
    return progress_picture(instants, title=title or "How the search went")


def plot_reasons(why: Reasons, *, title: str, parameters: bool = False) -> Picture:
    """What each finding added; with `parameters`, how far numbers of the network may move (a tornado)."""
    from unswayed.view.reasons import Leeway, Push, contributions_picture, leeways_picture

    decided = f"the decision {why.decision.action!r}"
    if parameters:
        leeways = [Leeway(each.name, each.value, each.low, each.high) for each in why.parameters]
        return leeways_picture(leeways, title=title or f"How far numbers may move and keep {decided}")
    pushes = [Push(f"{each.feature} = {each.state}", each.weight) for each in why.contributions]
    return contributions_picture(pushes, leaning=why.leaning, title=title or f"What drove {decided}")


def plot_plan(plan: TestPlan, *, title: str = "", deepest: int = DEEPEST) -> Picture:
    """The plan as a flow chart; tests deeper than `deepest` are folded."""
    return flow_chart_picture(nested_plan(plan.tree), title=title, deepest=deepest)


_PLOT_BY_TYPE: dict[type, Callable[..., Picture]] = {
    Decision: plot_decision,
    Stopping: plot_stopping,
    Ranking: plot_ranking,
    Monitor: plot_monitor,
    Selection: plot_selection,
    Trimming: plot_trimming,
    Frontier: plot_frontier,
    Course: plot_course,
    TestPlan: plot_plan,
    ThresholdSweep: plot_sweep,
    Reasons: plot_reasons,
    SearchRecord: plot_record,
}


def plot_result(result: Any, *, title: str = "", **options: Any) -> Picture:
    """The picture of a result, by its type; `title` replaces its own."""
    return _PLOT_BY_TYPE[type(result)](result, title=title, **options)
