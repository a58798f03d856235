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
    from unswayed.api.interview import Interview
    from unswayed.api.observations import Stopping
    from unswayed.api.promises import Counted, Promise, SafeLevel
    from unswayed.api.ranking import ObservationRanking
    from unswayed.api.results.reasons import Contribution, ParameterRange, Reason, Reasons
    from unswayed.api.scores import ScoreAssessment
    from unswayed.api.selection import Frontier, Selection, Trimming
    from unswayed.api.sweeps import ThresholdSweep

Json = dict[str, Any]


def to_json(result: Any, asked: Asked | None = None) -> Json:
    """A result as one object, after what was asked where that is known."""
    maker: Any = _MAKER_BY_TYPE[type(result).__name__]
    return {**({} if asked is None else question_of(asked)), **maker(result)}


def question_of(asked: Asked) -> Json:
    """What was asked about: the same fields in every answer about decisions."""
    classifier = asked.classifier
    if not isinstance(classifier, Classifier):
        return {**asked.words, "evidence": asked.evidence}
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
    answer: Json = {"decision": decision.action, "posterior": decision.posterior}
    if decision.doubt:
        answer |= {"doubt": decision.doubt, "possible": decision.possible or (decision.action,)}
    if decision.readings:
        answer["readings"] = {
            each.missing: {"decision": each.action, "posterior": each.posterior} for each in decision.readings
        }
    return answer


def pick(result: Any, *names: str) -> Json:
    """What a result calls by these names; of certainties the word."""
    found = {name: getattr(result, name) for name in names}
    return {name: each.value if isinstance(each, Certainty) else each for name, each in found.items()}


def _measurement(measured: Measurement) -> Json:
    answer = pick(measured, "value", "low", "high", "certainty", "engine", "seconds")
    if measured.certainty is Certainty.ESTIMATE:
        answer["confidence"] = measured.confidence
    if measured.thresholds is not None:
        answer |= pick(measured, "thresholds", "other_thresholds")
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
            "rank": rank,
            **_measurement(values[0]),
            "values": {name: each.value for name, each in zip(ranking.criteria, values, strict=True)},
        }
        for feature, rank, values in zip(ranking.features, ranking.ranks, ranking.values, strict=True)
    ]
    priced = zip(ranked, ranking.costs, ranking.per_cost, ranking.done, strict=False)
    for each, cost, per_cost, done in priced:
        each |= {"cost": cost, "per_cost": per_cost, "done": done}
    bundle = ranking.bundle and {
        **pick(ranking.bundle, "tests", "cost"),
        **_measurement(ranking.bundle.value),
    }
    told = {"reward": ranking.criteria[0], "at_least": ranking.at_least}
    return {**told, "ranking": ranked, "bundle": bundle}


def _selection(selection: Selection, threshold: Json | None = None) -> Json:
    """A choice of features; without a `threshold` of its own it decides by the one that the question says."""
    return {
        **pick(selection, "kept", "cost", "value"),
        **(threshold or {"threshold_interval": None}),
        **pick(selection, "upper_bound", "gap", "certainty"),
        "confidence_interval": selection.interval,
        **pick(selection, "optimal", "evaluations", "engine", "seconds"),
    }


def _trimming(trimming: Trimming) -> Json:
    threshold = pick(trimming, "threshold", "threshold_interval")
    held_out = None if trimming.held_out is None else trimming.held_out.as_dict()
    return {**_selection(trimming.selection, threshold), "held_out": held_out}


def _frontier(frontier: Frontier) -> Json:
    return {"points": [_trimming(point) for point in frontier.points]}


def _sweep(sweep: ThresholdSweep) -> Json:
    chosen = zip(sweep.thresholds, sweep.selections, strict=True)
    points = [{"threshold": t, **pick(s, "kept", "value", "cost", "optimal")} for t, s in chosen]
    return {"budget": sweep.budget, "points": points, "left_out": sweep.left_out}


def _findings(states: Mapping[str, str]) -> list[str]:
    """Findings as `FEATURE=state`, for programs."""
    return [f"{feature}={state}" for feature, state in states.items()]


def _reasons(why: Reasons) -> Json:
    reason, closest = why.reason, why.closest
    nothing = dict.fromkeys(("findings", "sdp", "sdp_interval"))
    told = nothing if reason is None else _reason(reason)
    bounds = {"sdp_bound": why.closest_bound, "proven": why.closest_proven}
    return {
        **_decision(why.decision),
        "at_least": why.at_least,
        "reason": told["findings"],
        "sdp": told["sdp"],
        "sdp_interval": told["sdp_interval"],
        "proven": why.proven,
        "cost": None if reason is None else reason.cost,
        "cost_bound": why.cost_bound,
        "closest": None if closest is None else {**_reason(closest), **bounds},
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
        **pick(why, "leaning", "conflict", "threshold_interval"),
        "parameters": [_range(each) for each in why.parameters],
        "notes": list(why.notes),
    }


def _reason(reason: Reason) -> Json:
    ends = [reason.sdp.low, reason.sdp.high]
    return {"findings": _findings(reason.findings), "sdp": reason.sdp.value, "sdp_interval": ends}


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


def _score(found: ScoreAssessment) -> Json:
    plans = found.plans
    return {
        "score": found.score.title,
        "answers": dict(found.answers),
        "band": None if found.band is None else found.band.name,
        "certain": found.is_certain,
        "bands": [band.name for band in found.bands],
        "points": list(found.points),
        "probabilities": None if found.probabilities is None else dict(found.probabilities),
        **pick(found, "expected_points", "sdp", "at_least"),
        "stop": found.is_safe,
        "deciding": list(found.deciding),
        "next": found.next_item,
        "plans": None if plans is None else [asdict(each) for each in plans.policies],
        "bound": None if plans is None else plans.bound,
        "disclaimer": found.score.disclaimer,
    }


def _counted(each: Counted) -> Json:
    return {**asdict(each), "kept": each.kept if each.n_rows else None, "broken": each.is_broken}


def _promise(found: Promise) -> Json:
    return {
        "rows": _counted(found.every),
        "safe": _counted(found.safe),
        **pick(found, "at_least", "confidence"),
        "hidden": found.n_hidden,
        "accuracy": None if found.right is None else found.accuracy,
        "bands": [{"sdp_from": low, "sdp_to": high, **_counted(each)} for low, high, each in found.bands],
    }


def _safe_level(found: SafeLevel) -> Json:
    return {**pick(found, "at_most", "confidence", "level"), "rows": _counted(found.counted)}


def _interview(found: Interview) -> Json:
    return {
        "target": found.plan.target,
        **pick(found.node, "decision", "sdp"),
        "safe": found.is_safe,
        "cost": found.spent,
        "answers": found.all_answers,
        "skipped": found.skipped,
    }


_MAKER_BY_TYPE = {
    "Interview": _interview,
    "Promise": _promise,
    "SafeLevel": _safe_level,
    "ScoreAssessment": _score,
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
