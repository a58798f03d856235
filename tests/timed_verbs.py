"""Every verb that takes time, each asked of classifiers small and middling; and what one answer claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import unswayed
from unswayed import Classifier, Limits, api
from unswayed.core.measurement import Certainty, Measurement
from unswayed.model.zoo import printer, random_bounded_treewidth, random_naive_bayes, review

CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class TimedCase:
    """A classifier, findings, and rows to audit."""

    classifier: Classifier
    findings: dict[str, str]
    table: dict[str, list[str | None]]


def _case(classifier: Classifier, n_findings: int) -> TimedCase:
    network = classifier.network
    drawn = unswayed.sample(network, 6, rng=np.random.default_rng(1))
    table: dict[str, list[str | None]] = {}
    for place, variable in enumerate(drawn.variables):
        if variable.name in classifier.features:
            names = [variable.states[code] for code in drawn.codes[:, place]]
            table[variable.name] = [None if (k + place) % 3 == 0 else name for k, name in enumerate(names)]
    findings = {name: str(drawn_state(drawn, name)) for name in classifier.features[:n_findings]}
    return TimedCase(classifier, findings, table)


def drawn_state(drawn: Any, name: str) -> str:
    """The state of a variable in the first row that was drawn."""
    place = [variable.name for variable in drawn.variables].index(name)
    state: str = drawn.variables[place].states[drawn.codes[0, place]]
    return state


@cache
def timed_case(name: str) -> TimedCase:
    """A case by its name."""
    rng = np.random.default_rng(5)
    if name == "review":
        return _case(Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+"), 1)
    if name == "printer":
        return _case(Classifier(printer(), "Fault"), 1)
    if name == "naive":
        network = random_naive_bayes(11, rng, max_states=3)
        return _case(Classifier(network, "C", threshold=0.4, positive="s0"), 4)
    if name == "classes":
        return _case(Classifier(random_naive_bayes(9, rng, n_classes=3, max_states=3), "C"), 3)
    # Too wide for tables, one with little memory: sums and samples answer.
    network = random_bounded_treewidth(36 if name == "tied" else 70, 3, rng, max_states=2)
    leaves = [v for i, v in enumerate(network.names) if not network.children[i] and v != "X0"]
    if name == "wide states":
        return _case(Classifier(network, "X0", leaves), 2)
    return _case(Classifier(network, "X0", leaves, threshold=0.5, positive="s0"), 2)


SMALL, LARGE = ("review", "printer", "naive", "classes"), ("tied", "wide", "wide states")
"""Cases whose answers take no time, and some for which there may be none."""
Verb = Callable[[TimedCase, Limits], Any]
"""Asks a case within limits."""


def _kept(case: TimedCase) -> list[str]:
    """Some features that are not observed."""
    return [name for name in case.classifier.features if name not in case.findings][:2]


def _both(
    verb: Callable[..., Any], *, called: str = "", keeps: bool = False, **options: Any
) -> dict[str, Verb]:
    """A verb about a case, without estimates and with them."""
    name = called or verb.__name__

    def ask(allow: bool) -> Verb:
        return lambda case, limits: verb(
            case.classifier,
            case.findings,
            limits=limits,
            allow_estimates=allow,
            **({"kept": _kept(case)} if keeps else {}),
            **options,
        )

    return {name: ask(False), f"{name} or estimate": ask(True)}


VERBS: dict[str, Verb] = {
    "posterior": lambda c, limits: unswayed.posterior(
        c.classifier.network, c.findings, of=c.classifier.target, limits=limits
    ),
    "posterior of all": lambda c, limits: unswayed.posterior(c.classifier.network, c.findings, limits=limits),
    "joint": lambda c, limits: (
        unswayed.joint(
            c.classifier.network, [c.classifier.target, *_kept(c)], c.findings, limits=limits
        ).probabilities
    ),
    "probability": lambda c, limits: unswayed.probability(c.classifier.network, c.findings, limits=limits),
    "mpe": lambda c, limits: unswayed.mpe(c.classifier.network, c.findings, limits=limits),
    "sample": lambda c, limits: (
        unswayed.sample(
            c.classifier.network, 50, c.findings, rng=np.random.default_rng(0), limits=limits
        ).codes
    ),
    "decide": lambda c, limits: unswayed.decide(c.classifier, c.findings, limits=limits),
    "predict": lambda c, limits: list(c.classifier.predict(c.table)),
    **_both(unswayed.eca, keeps=True, new_threshold=0.3),
    **_both(unswayed.sdp),
    **_both(unswayed.esdp, keeps=True),
    **_both(unswayed.maa, keeps=True),
    **_both(unswayed.mpa, keeps=True),
    **_both(unswayed.should_stop),
    **_both(unswayed.voi),
    **_both(unswayed.voi, called="voi together", keeps=True, reward=unswayed.NegativeEntropy()),
    **_both(unswayed.why),
    **_both(unswayed.select, budget=2),
    **_both(unswayed.trim, budget=2),
    **_both(unswayed.trim, budget=2, called="trim to a table", potential=True),
    **_both(unswayed.trim, budget=1000, called="trim nothing"),
    **_both(unswayed.frontier),
    **_both(unswayed.thresholds, budget=2, thresholds=[0.3, 0.6]),
    **_both(unswayed.report),
    "plan": lambda c, limits: unswayed.plan(c.classifier, evidence=c.findings, limits=limits),
    "plan within a budget": lambda c, limits: unswayed.plan(
        c.classifier, evidence=c.findings, budget=2, at_least=0.8, limits=limits
    ),
    "follow": lambda c, limits: unswayed.follow(
        c.classifier, observe=list(c.findings.items()), limits=limits
    ),
    "audit": lambda c, limits: unswayed.audit(c.classifier, c.table, limits=limits),
    "audit with reasons": lambda c, limits: unswayed.audit(
        c.classifier, c.table, limits=limits, reason=True, next_test=True, allow_estimates=True
    ),
    "compare": lambda c, limits: unswayed.compare(
        c.classifier,
        Classifier(c.classifier.network, c.classifier.target, _kept(c), c.classifier.rule),
        rng=np.random.default_rng(0),
        limits=limits,
    ),
}


def limits_of_case(case: str, seconds: float | None = None) -> Limits:
    """The limits of a case: little memory where tables are not to answer."""
    n_bytes = 2**31 if case in SMALL else 3 * 10**6 if case == "tied" else 10**8
    return Limits(max_bytes=n_bytes, max_seconds=seconds)


def check_claims(found: Any, truth: Any) -> None:
    """Fail where an answer promises what is not so, judged by an answer that had all the time there is."""
    for kind, check in CLAIMS.items():
        if isinstance(found, kind):
            assert isinstance(truth, kind), (found, truth)
            check(found, truth)
            return
    if isinstance(found, float):
        assert found == pytest.approx(truth, abs=CLOSE)
    elif isinstance(found, np.ndarray):
        np.testing.assert_allclose(found, truth, atol=CLOSE)
    elif isinstance(found, Mapping):
        assert found.keys() == truth.keys()
        for key, value in found.items():
            check_claims(value, truth[key])
    else:
        assert found == truth


UNLIKE = frozenset({"seconds", "bids", "origin", "classifier", "rows", "recipe", "evaluations", "tried"})
"""Fields that tell what an answer took, or what it is about."""


def check_same(found: Any, other: Any, where: str = "") -> None:
    """Fail where two answers differ by more than rounding, whatever they took."""
    assert type(found) is type(other), where
    if isinstance(found, float):
        assert found == pytest.approx(other, abs=CLOSE, nan_ok=True), where
    elif isinstance(found, np.ndarray):
        check_same(found.tolist(), other.tolist(), where)
    elif isinstance(found, Mapping):
        check_same([*found.items()], [*other.items()], where)
    elif isinstance(found, list | tuple):
        assert len(found) == len(other), where
        for place, pair in enumerate(zip(found, other, strict=True)):
            check_same(*pair, f"{where}[{place}]")
    elif is_dataclass(found):
        for each in fields(found):
            if each.name not in UNLIKE and not each.name.startswith("_"):
                check_same(getattr(found, each.name), getattr(other, each.name), f"{where}.{each.name}")
    else:
        assert found == other, where


def _check_measurement(found: Measurement, truth: Measurement) -> None:
    if Certainty.ESTIMATE not in (found.certainty, truth.certainty):
        assert found.low - CLOSE <= truth.high, (found, truth)
        assert truth.low <= found.high + CLOSE, (found, truth)
    if found.certainty is Certainty.EXACT:
        assert found.low == found.high


def _check_selection(found: api.Selection, truth: api.Selection) -> None:
    assert not (found.optimal and found.certainty is Certainty.ESTIMATE)
    if truth.optimal:
        assert found.upper_bound >= truth.value - CLOSE
        if found.certainty is not Certainty.ESTIMATE:
            assert found.measurement.low <= truth.value + CLOSE
        if found.optimal:
            # Of several sets with the best value, the cheapest is found by a search that ends.
            _check_measurement(found.measurement, truth.measurement)


def _check_trimming(found: api.Trimming, truth: api.Trimming) -> None:
    _check_selection(found.selection, truth.selection)


def _check_frontier(found: api.Frontier, truth: api.Frontier) -> None:
    for point in found.points:
        affordable = [each for each in truth.points if each.cost <= point.cost + CLOSE]
        best = max(affordable, key=lambda each: each.selection.value)
        if best.selection.optimal and point.selection.certainty is Certainty.EXACT:
            assert point.selection.value <= best.selection.value + CLOSE
            if point.selection.optimal:
                assert point.selection.value == pytest.approx(best.selection.value, abs=CLOSE)


def _check_sweep(found: Any, truth: Any) -> None:
    answers = dict(zip(truth.thresholds, truth.selections, strict=True))
    for threshold, selection in zip(found.thresholds, found.selections, strict=True):
        _check_selection(selection, answers[threshold])


def _check_ranking(found: api.ObservationRanking, truth: api.ObservationRanking) -> None:
    assert set(found.features) == set(truth.features)
    answers = dict(zip(truth.features, truth.values, strict=True))
    for feature, values in zip(found.features, found.values, strict=True):
        by_criterion = dict(zip(truth.criteria, answers[feature], strict=True))
        for criterion, value in zip(found.criteria, values, strict=True):
            if criterion in by_criterion:
                _check_measurement(value, by_criterion[criterion])


def _check_stopping(found: api.Stopping, truth: api.Stopping) -> None:
    check_claims(found.decision, truth.decision)
    _check_measurement(found.sdp, truth.sdp)
    if found.certain and truth.certain:
        assert found.stop == truth.stop


def _check_decision(found: api.Decision, truth: api.Decision) -> None:
    assert found.action == truth.action
    check_claims(found.posterior, truth.posterior)


def _check_plan(found: api.TestPlan, truth: api.TestPlan) -> None:
    """A gap counts in the first thing that plans differ in: the chance to reach the level, then the cost."""
    if not truth.optimal:
        return
    assert found.chance_reached <= truth.chance_reached + CLOSE
    if found.chance_reached < truth.chance_reached - CLOSE:
        assert found.gap >= truth.chance_reached - found.chance_reached - CLOSE
    else:
        assert truth.expected_cost - CLOSE <= found.expected_cost <= truth.expected_cost + found.gap + CLOSE


def _check_reasons(found: api.Reasons, truth: api.Reasons) -> None:
    _check_decision(found.decision, truth.decision)
    if found.sdp is not None and truth.sdp is not None:
        _check_measurement(found.sdp, truth.sdp)
    if truth.proven and truth.reasons:
        least = min(each.cost for each in truth.reasons)
        assert found.cost_bound <= least + CLOSE
        assert all(each.cost >= least - CLOSE for each in found.reasons)
        if found.proven:
            assert min(each.cost for each in found.reasons) == pytest.approx(least)
    least = min((each.cost for each in truth.flips), default=math.inf)
    assert found.flips_bound <= least + CLOSE
    assert all(each.cost >= truth.flips_bound - CLOSE for each in found.flips)


def _check_audit(found: api.Audit, truth: api.Audit) -> None:
    for row in np.flatnonzero(found.answered & truth.answered):
        assert found.decision[row] == truth.decision[row]
        assert found.posterior[row] == pytest.approx(truth.posterior[row], abs=CLOSE)
        if Certainty.ESTIMATE not in (found.certainty[row], truth.certainty[row]):
            assert found.columns.low[row] - CLOSE <= truth.columns.high[row]
            assert truth.columns.low[row] <= found.columns.high[row] + CLOSE


def _check_comparison(found: Any, truth: Any) -> None:
    if found.certainty is Certainty.EXACT:
        assert found.agreement == pytest.approx(truth.agreement, abs=CLOSE)


def _check_explanation(found: api.Explanation, truth: api.Explanation) -> None:
    assert found.log_probability <= truth.log_probability + CLOSE <= found.bound + 2 * CLOSE


def _check_history(found: api.CaseHistory, truth: api.CaseHistory) -> None:
    for step, other in zip(found.steps, truth.steps, strict=True):
        _check_decision(step.decision, other.decision)
        _check_measurement(step.sdp, other.sdp)


def _check_examination(found: Any, truth: Any) -> None:
    for part in ("decision", "stopping", "ranking", "why", "frontier"):
        if getattr(found, part) is not None and getattr(truth, part) is not None:
            check_claims(getattr(found, part), getattr(truth, part))


CLAIMS: dict[type[Any], Callable[[Any, Any], None]] = {
    Measurement: _check_measurement,
    api.Selection: _check_selection,
    api.Trimming: _check_trimming,
    api.Frontier: _check_frontier,
    api.ThresholdSweep: _check_sweep,
    api.ObservationRanking: _check_ranking,
    api.Stopping: _check_stopping,
    api.Decision: _check_decision,
    api.TestPlan: _check_plan,
    api.Reasons: _check_reasons,
    api.Audit: _check_audit,
    api.Comparison: _check_comparison,
    api.Explanation: _check_explanation,
    api.CaseHistory: _check_history,
    api.Examination: _check_examination,
}
