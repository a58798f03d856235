"""All about one classifier: what a report tells, cheap answers first, each part on its own.

A part that is refused, or for which no time is left, is left out with a note; the others stay. Where nothing
certain is possible, an estimate answers unless it is unwanted, and the note says so.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np

from unswayed.api.compare import Comparison, compare_decisions, compares_all
from unswayed.api.decisions import Decision, decide
from unswayed.api.observations import (
    Stopping,
    should_stop,
    start_case,
)
from unswayed.api.questions import Options
from unswayed.api.ranking import ObservationRanking, rank_observations
from unswayed.api.reasons import explain_decision
from unswayed.api.results.outcomes import Finding, measure_findings, outcomes_of
from unswayed.api.results.reasons import Reasons
from unswayed.api.selection import Costs, Frontier, Selection, Trimming, frontier
from unswayed.api.values import Criterion
from unswayed.core.anytime import deadline, keep_time, until
from unswayed.core.errors import LimitError, QueryError, expect_number
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.purchase import purchase_of
from unswayed.decisions.rewards import Margin, NegativeEntropy
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.model.evidence import Evidence, list_open, read_evidence

TOLERANCES = 1e-3, 0.02
"""Widths of intervals that rank features; the second where there is no time for the first."""
PATIENCE = 45.0
"""Seconds for a report where no limit was given."""
MOST_MEASURED = 40
"""Single findings whose same-decision probability is computed: those of the largest effect."""

T = TypeVar("T")
Tell = Callable[[str], None]
"""Called with the name of each part when it begins."""


@dataclass(frozen=True, slots=True)
class Examination:
    """What is known about a classifier; a part is None where it was left out, and `notes` says why."""

    classifier: Classifier
    evidence: dict[str, str]
    at_least: float
    """The same-decision probability, and the agreement, that is asked for."""
    costs: dict[str, float]
    """What features cost, those left out 1."""
    decision: Decision
    """What is decided now."""
    stopping: Stopping | None
    ranking: ObservationRanking | None
    findings: tuple[Finding, ...]
    """Every single finding, those first that change the decision, then by effect."""
    frontier: Frontier | None
    recommended: int | None
    """Number of the cheapest point of the frontier that agrees often enough; None when none does."""
    comparison: Comparison | None
    """The recommended trimming compared with the full classifier."""
    notes: tuple[str, ...]
    why: Reasons | None = None
    """What led to the decision, where something was observed."""

    @property
    def free(self) -> tuple[str, ...]:
        """Features that are not observed yet."""
        return list_open(self.classifier.network, self.classifier.features, self.evidence)

    @property
    def trimming(self) -> Trimming | None:
        """The recommended trimming."""
        if self.frontier is None or self.recommended is None:
            return None
        return self.frontier.points[self.recommended]

    @property
    def first(self) -> str | None:
        """The feature worth observing first, for its cost where costs are given; None when none gains."""
        return None if self.ranking is None else self.ranking.best


@keep_time
def examine(
    classifier: Classifier,
    evidence: Evidence | None = None,
    *,
    costs: Costs | None = None,
    at_least: float = 0.95,
    held_out: Any = None,
    allow_estimates: bool = True,
    limits: Limits = DEFAULT_LIMITS,
    tell: Tell | None = None,
) -> Examination:
    """How robust the classifier's decisions are, what matters, and what it could do without.

    What cannot be found within the limits is left out, with a note; so is what an interrupt from the keyboard
    ends. The limit on time is for all parts together; without one, a report takes up to a minute. `held_out`
    are rows that took no part in learning, on which the agreement of each trimming is counted. Where nothing
    certain is possible, samples answer; without `allow_estimates` those parts are left out.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> found = examine(papers, at_least=0.91)
    >>> found.stopping.stop, found.trimming.kept
    (False, ('AC',))
    """
    expect_number(at_least, "the level")
    if not 0.0 < at_least <= 1.0:
        raise QueryError(f"the level must lie between 0 and 1; got {at_least!r}")
    decision = decide(classifier, evidence)
    ends = deadline() if deadline() < math.inf else time.monotonic() + PATIENCE
    parts = _Parts(ends, tell or (lambda _: None), allow_estimates)
    findings = parts.answer(
        "the list of single findings", 0.5, lambda: _list_findings(classifier, evidence, decision)
    )
    stopping = parts.certain_or_not(
        "the same-decision probability",
        0.3,
        lambda options: should_stop(classifier, evidence, at_least, **options),
        (Options(), Options(tolerance=TOLERANCES[-1])),
    )
    why = None
    if evidence:
        why = parts.answer(
            "the reason for the decision",
            0.3,
            lambda: explain_decision(classifier, evidence=evidence, at_least=at_least),
        )
    ranking = _rank(parts, classifier, evidence, costs, at_least)
    estimated = stopping is not None and stopping.sdp.certainty is Certainty.ESTIMATE
    measured = parts.answer(
        "the safety of single findings",
        0.3,
        lambda: _measure(classifier, evidence, findings or (), Options(allow_estimates=estimated)),
    )
    curve = parts.certain_or_not(
        "the frontier",
        0.8,
        lambda options: frontier(
            classifier,
            costs=costs,
            evidence=evidence,
            held_out=held_out,
            allow_estimates=options.get("allow_estimates", False),
        ),
    )
    recommended = None if curve is None else _cheapest(curve, at_least)
    comparison = None
    if curve is not None and recommended is not None:
        trimmed = curve.points[recommended].classifier
        comparison = parts.answer(
            "the comparison with the trimmed classifier",
            1.0,
            lambda: _compare((classifier, trimmed), evidence, allow_estimates=allow_estimates),
        )
    return Examination(
        classifier=classifier,
        evidence=read_evidence(classifier.network, evidence),
        at_least=at_least,
        costs=dict(purchase_of(costs).costs),
        decision=decision,
        stopping=stopping,
        ranking=ranking,
        findings=measured or findings or (),
        frontier=curve,
        recommended=recommended,
        comparison=comparison,
        notes=tuple(parts.notes),
        why=why,
    )


@dataclass(slots=True)
class _Parts:
    """Asks for one part after the other within what is left of the time, and takes down what was left out."""

    deadline: float
    tell: Tell
    allow_estimates: bool = True
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False

    def answer(self, what: str, share: float, ask: Callable[[], T]) -> T | None:
        """The answer, given a share of the time that is left; None where it was refused."""
        left = self.deadline - time.monotonic()
        if self.interrupted or left <= 0:
            why = "the report was interrupted" if self.interrupted else "no time was left"
            self.notes.append(f"{_begin(what)} is left out: {why}.")
            return None
        try:
            self.tell(what)
            with until(time.monotonic() + left * share):
                return ask()
        except LimitError as error:
            self.notes.append(f"{_begin(what)} is left out: {error}.")
        except KeyboardInterrupt:
            self.interrupted = True
            self.notes.append(f"{_begin(what)} is left out: the report was interrupted.")
        return None

    def certain_or_not(
        self,
        what: str,
        share: float,
        ask: Callable[[Options], T],
        attempts: Sequence[Options] = (Options(),),
    ) -> T | None:
        """The first certain answer of some attempts, else, if allowed, an estimate with a note."""
        certain = len(self.notes)
        for options in (*attempts, *[Options(allow_estimates=True)] * self.allow_estimates):
            # What an attempt was refused for matters only if the next one is refused, too.
            del self.notes[certain:]
            found = self.answer(what, share, partial(ask, options))
            if found is None and not self.interrupted:
                continue
            if found is not None and options.get("allow_estimates"):
                why = "nothing certain was found within the limits"
                self.notes.append(f"{_begin(what)} is an estimate from samples: {why}.")
            return found
        return None


def _begin(what: str) -> str:
    return what[0].upper() + what[1:]


def _rank(
    parts: _Parts, classifier: Classifier, evidence: Evidence | None, costs: Costs | None, at_least: float
) -> ObservationRanking | None:
    """The ranking by all criteria, or by those that need posteriors alone."""

    def rank(criteria: Sequence[Criterion] | None, options: Options) -> ObservationRanking:
        return rank_observations(classifier, evidence, criteria, costs=costs, at_least=at_least, **options)

    # A narrow interval ranks as well as the exact value, and all features at once cost far less.
    ranking = parts.certain_or_not(
        "the gain in same-decision probability",
        0.4,
        partial(rank, None),
        [Options(tolerance=tolerance) for tolerance in TOLERANCES],
    )
    if ranking is not None or parts.interrupted:
        return ranking
    cheap = NegativeEntropy(), Margin()
    return parts.answer("the ranking", 0.5, lambda: rank(cheap, Options()))


def _compare(
    classifiers: tuple[Classifier, Classifier | TableClassifier],
    evidence: Evidence | None,
    *,
    allow_estimates: bool,
) -> Comparison:
    """How two classifiers decide, on all instances or on some that are drawn."""
    full, trimmed = classifiers
    if not allow_estimates and not compares_all(make_problem(full, evidence)):
        raise LimitError(
            "there are too many instances to compare each; ways out: observe more features; "
            "or allow estimates (allow_estimates=True)"
        )
    return compare_decisions(full, trimmed, evidence, rng=np.random.default_rng(0))


def _cheapest(curve: Frontier, at_least: float) -> int | None:
    enough = (i for i, p in enumerate(curve.points) if _surely(p.selection) >= at_least - 1e-12)
    return next(enough, None)


def _surely(selection: Selection) -> float:
    """What is known of an agreement: its lower end where that is certified."""
    return selection.measurement.low if selection.certainty is Certainty.BOUND else selection.value


def _list_findings(classifier: Classifier, evidence: Evidence | None, now: Decision) -> tuple[Finding, ...]:
    """Every state of every free feature that has several, from one small table each.

    Those that turn the decision come first, then those of the largest effect.
    """
    problem = make_problem(classifier, evidence)
    found: list[Finding] = []
    for position in (p for p in problem.free if len(problem.network.variables[p]) > 1):
        found += outcomes_of(problem, position)
    found.sort(key=lambda each: (each.decision.action == now.action, -round(each.effect, 12)))
    return tuple(found)


def _measure(
    classifier: Classifier, evidence: Evidence | None, findings: tuple[Finding, ...], options: Options
) -> tuple[Finding, ...]:
    """The findings with the same-decision probability of the first ones, as many as the time allows."""
    case = start_case(classifier, evidence, **options)
    measured = measure_findings(case, findings[:MOST_MEASURED])
    return (*measured, *findings[MOST_MEASURED:])
