"""Results for programs: one JSON object for each, the same from every command.

Numbers that are infinite mean that there is no bound; they become null where the object is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.view.describe import Asked

if TYPE_CHECKING:
    from unswayed.api.decisions import Decision
    from unswayed.api.history import CaseHistory
    from unswayed.api.observations import Stopping
    from unswayed.api.ranking import ObservationRanking
    from unswayed.api.results.reasons import Contribution, ParameterRange, Reason, Reasons
    from unswayed.api.selection import Frontier, Selection, Trimming
    from unswayed.api.thresholds import ThresholdSweep

Json = dict[str, Any]


def to_json(result: Any, asked: Asked | None = None) -> Json:
    """A result as one object, after what was asked where that is known."""
    maker: Any = _MAKER_BY_TYPE[type(result).__name__]
    return {**({} if asked is None else question_of(asked)), **maker(result)}


def question_of(asked: Asked) -> Json:
    """What was asked about: the same fields in every answer about decisions."""
    classifier = asked.classifier
    if not isinstance(classifier, Classifier):
        return {"evidence": asked.evidence, **asked.words}
    rule = classifier.rule if isinstance(classifier.rule, ThresholdRule) else None
    return {
        "network": classifier.network.name,
        "target": classifier.target,
        "positive": rule.positive if rule else None,
        "threshold": rule.threshold if rule else None,
        "features": list(classifier.features),
        "evidence": asked.evidence,
        **asked.words,
    }


def _decision(decision: Decision) -> Json:
    return {"decision": decision.action, "posterior": decision.posterior}


def _measurement(measured: Measurement) -> Json:
    answer: Json = {
        "value": measured.value,
        "low": measured.low,
        "high": measured.high,
        "certainty": measured.certainty.value,
        "engine": measured.engine,
        "seconds": measured.seconds,
    }
    if measured.certainty is Certainty.ESTIMATE:
        answer["confidence"] = measured.confidence
    if measured.thresholds is not None:
        answer |= {"thresholds": measured.thresholds, "other_thresholds": measured.other_thresholds}
    return answer


def _stopping(stopping: Stopping) -> Json:
    stop = stopping.stop if stopping.certain else None
    decided = {**_decision(stopping.decision), "at_least": stopping.at_least, "stop": stop}
    return {**_measurement(stopping.sdp), **decided}


def _history(history: CaseHistory) -> Json:
    steps = [
        {
            "observed": None if step.observed is None else {step.observed[0]: step.observed[1]},
            **_decision(step.decision),
            "sdp": _measurement(step.sdp),
            **({} if step.cost is None else {"cost": step.cost, "spent": spent}),
        }
        for step, spent in zip(history.steps, history.spent, strict=True)
    ]
    return {"steps": steps}


def _ranking(ranking: ObservationRanking) -> Json:
    ranked: list[Json] = [
        {
            "feature": feature,
            **_measurement(values[0]),
            "values": {name: each.value for name, each in zip(ranking.criteria, values, strict=True)},
        }
        for feature, values in zip(ranking.features, ranking.values, strict=True)
    ]
    priced = zip(ranked, ranking.costs, ranking.per_cost, ranking.done, strict=False)
    for each, cost, per_cost, done in priced:
        each |= {"cost": cost, "per_cost": per_cost, "done": done}
    bundle = ranking.bundle and {
        "tests": ranking.bundle.tests,
        "cost": ranking.bundle.cost,
        **_measurement(ranking.bundle.value),
    }
    told = {"reward": ranking.criteria[0], "at_least": ranking.at_least}
    return {**told, "ranking": ranked, "bundle": bundle}


def _selection(selection: Selection, threshold: Json | None = None) -> Json:
    """A choice of features; without a `threshold` of its own it decides by the one that the question says."""
    return {
        "kept": selection.kept,
        "cost": selection.cost,
        "value": selection.value,
        **(threshold or {"threshold_interval": None}),
        "upper_bound": selection.upper_bound,
        "gap": selection.gap,
        "certainty": selection.certainty.value,
        "confidence_interval": selection.interval,
        "optimal": selection.optimal,
        "evaluations": selection.evaluations,
        "engine": selection.engine,
        "seconds": selection.seconds,
    }


def _trimming(trimming: Trimming) -> Json:
    threshold = {"threshold": trimming.threshold, "threshold_interval": trimming.threshold_interval}
    held_out = None if trimming.held_out is None else trimming.held_out.as_dict()
    return {**_selection(trimming.selection, threshold), "held_out": held_out}


def _frontier(frontier: Frontier) -> Json:
    return {"points": [_trimming(point) for point in frontier.points]}


def _sweep(sweep: ThresholdSweep) -> Json:
    return {
        "budget": sweep.budget,
        "points": [
            {"threshold": t, "kept": s.kept, "value": s.value, "cost": s.cost, "optimal": s.optimal}
            for t, s in zip(sweep.thresholds, sweep.selections, strict=True)
        ],
        "left_out": sweep.left_out,
    }


def _findings(states: Mapping[str, str]) -> list[str]:
    """Findings as `FEATURE=state`, for programs."""
    return [f"{feature}={state}" for feature, state in states.items()]


def _reasons(why: Reasons) -> Json:
    reason = why.reason
    return {
        **_decision(why.decision),
        "at_least": why.at_least,
        "reason": None if reason is None else _findings(reason.findings),
        "sdp": None if reason is None else reason.sdp.value,
        "sdp_interval": None if reason is None else [reason.sdp.low, reason.sdp.high],
        "proven": why.proven,
        "cost": None if reason is None else reason.cost,
        "cost_bound": why.cost_bound,
        "closest": None if why.closest is None else _nearest(why, why.closest),
        "reasons": [_findings(each.findings) for each in why.reasons],
        "more_reasons": why.more_reasons,
        "necessary": _pairs(why, why.necessary),
        "in_every_reason": None if why.in_every_reason is None else _pairs(why, why.in_every_reason),
        "flips": [_findings(each.states) for each in why.flips],
        "flips_if_observed": [
            {"states": _findings(each.states), **_numbers(each, "states", "cost")}
            for each in why.flips_if_observed
        ],
        "contributions": [_contribution(each) for each in why.contributions],
        "leaning": why.leaning,
        "conflict": why.conflict,
        "threshold_interval": why.threshold_interval,
        "parameters": [_range(each) for each in why.parameters],
        "notes": list(why.notes),
    }


def _nearest(why: Reasons, closest: Reason) -> Json:
    return {
        "findings": _findings(closest.findings),
        "sdp": closest.sdp.value,
        "sdp_interval": [closest.sdp.low, closest.sdp.high],
        "sdp_bound": why.closest_bound,
        "proven": why.closest_proven,
    }


def _pairs(why: Reasons, names: Sequence[str]) -> list[str]:
    return [f"{name}={why.evidence[name]}" for name in names]


def _contribution(each: Contribution) -> Json:
    return {"finding": f"{each.feature}={each.state}", **_numbers(each, "feature", "state")}


def _range(each: ParameterRange) -> Json:
    return {"parameter": each.name, **_numbers(each, "variable", "state", "given")}


def _numbers(each: Any, *others: str) -> Json:
    """The fields of a result but for some `others`; of measurements the values alone."""
    found = {field.name: getattr(each, field.name) for field in fields(each) if field.name not in others}
    return {name: v.value if isinstance(v, Measurement) else v for name, v in found.items()}


_MAKER_BY_TYPE = {
    "Decision": _decision,
    "Measurement": _measurement,
    "Stopping": _stopping,
    "CaseHistory": _history,
    "ObservationRanking": _ranking,
    "Selection": _selection,
    "Trimming": _trimming,
    "Frontier": _frontier,
    "ThresholdSweep": _sweep,
    "Reasons": _reasons,
    "Explanation": lambda found: {**asdict(found), "optimal": found.optimal},
    "TestPlan": lambda plan: plan.to_dict(),
    "Audit": lambda audit: audit.summary(),
    "AuditedFile": lambda audit: audit.summary(),
}
