"""All about one classifier: what a report tells, cheap answers first, each part on its own.

A part that is refused, or for which no time is left, is left out with a note; the others stay. Where nothing
certain is possible, an estimate answers unless it is unwanted, and the note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from unswayed.api.comparison import Comparison, compare, compares_all
from unswayed.api.decisions import Decision, decide
from unswayed.api.history import follow
from unswayed.api.information import voi
from unswayed.api.models import takes_cases
from unswayed.api.observations import Stopping, should_stop
from unswayed.api.questions import Options
from unswayed.api.ranking import ObservationRanking
from unswayed.api.reasons import why
from unswayed.api.results.outcomes import Finding, measure_findings, outcomes_of
from unswayed.api.results.reasons import Reasons
from unswayed.api.selection import Costs, Frontier, Selection, Trimming, frontier
from unswayed.api.shown import Shown
from unswayed.api.values import Criterion
from unswayed.core.anytime import UNITS_PER_SECOND, bounded, portion, settle
from unswayed.core.errors import LimitError, QueryError, expect, expect_number
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
PATIENCE = 45.0 * UNITS_PER_SECOND
"""Work for a report where nobody gave seconds."""
MOST_MEASURED = 40
"""Single findings whose same-decision probability is computed: those of the largest effect."""

THE_REST = "what comes next"
"""Left out where the report ends between two parts."""

T = TypeVar("T")
Tell = Callable[[str], None]
"""Called with the name of each part when it begins."""


@dataclass(frozen=True, slots=True, repr=False)
class Examination(Shown):
    """What is known about a classifier; a part is None where it was left out, and `notes` says why."""

    classifier: Classifier
    evidence: dict[str, str]
    at_least: float
    """The same-decision probability, and the agreement, that is asked for."""
    costs: dict[str, float]
    """What features cost, those left out 1."""
    decision: Decision
    """What is decided now."""
    stopping: Stopping | None = None
    ranking: ObservationRanking | None = None
    findings: tuple[Finding, ...] = ()
    """Every single finding, those first that change the decision, then by effect."""
    frontier: Frontier | None = None
    recommended: int | None = None
    """Number of the cheapest point of the frontier that agrees often enough; None when none does."""
    comparison: Comparison | None = None
    """The recommended trimming compared with the full classifier."""
    notes: tuple[str, ...] = ()
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


@bounded
@takes_cases
def report(
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
    >>> found = report(papers, at_least=0.91)
    >>> found.stopping.stop, found.trimming.kept
    (False, ('AC',))
    """
    expect(classifier, Classifier, "the classifier")
    expect_number(at_least, "the level")
    if not 0.0 < at_least <= 1.0:
        raise QueryError(f"the level must lie between 0 and 1; got {at_least!r}")
    parts = _Parts(classifier, evidence, at_least, costs, allow_estimates, tell or (lambda _: None))
    draft = Examination(
        classifier=classifier,
        evidence=read_evidence(classifier.network, evidence),
        at_least=at_least,
        costs=dict(purchase_of(costs).costs),
        decision=decide(classifier, evidence),
    )
    settled = settle(_examine(parts, draft, held_out), units=PATIENCE, heeds_interrupts=True)
    if settled.cut:
        cause = "the report was interrupted" if settled.interrupted else "no time was left"
        parts.notes.append(f"{_begin(parts.begun)} is left out: {cause}.")
        if parts.begun != THE_REST:
            parts.notes.append("What comes after it is left out for the same reason.")
    return replace(settled.last, notes=tuple(parts.notes))


def _examine(parts: _Parts, draft: Examination, held_out: Any) -> Iterator[Examination]:
    """The report, part by part: cheap ones first, each with a share of what is left."""
    yield draft
    classifier, evidence, at_least = parts.classifier, parts.evidence, parts.at_least
    findings = parts.answer(
        "the list of single findings", 0.5, lambda: _list_findings(classifier, evidence, draft.decision)
    )
    yield (draft := replace(draft, findings=findings or ()))
    stopping = parts.certain_or_not(
        "the same-decision probability",
        0.3,
        lambda options: should_stop(classifier, evidence, at_least=at_least, **options),
        (Options(), Options(tolerance=TOLERANCES[-1])),
    )
    yield (draft := replace(draft, stopping=stopping))
    if evidence:
        reasons = parts.answer(
            "the reason for the decision",
            0.3,
            lambda: why(classifier, evidence, at_least=at_least),
        )
        yield (draft := replace(draft, why=reasons))
    yield (draft := replace(draft, ranking=_rank(parts)))
    estimated = stopping is not None and stopping.sdp.certainty is Certainty.ESTIMATE
    measured = parts.answer(
        "the safety of single findings",
        0.3,
        lambda: _measure(classifier, evidence, draft.findings, Options(allow_estimates=estimated)),
    )
    yield (draft := replace(draft, findings=measured or draft.findings))
    curve = parts.certain_or_not(
        "the frontier",
        0.8,
        lambda options: frontier(
            classifier,
            costs=parts.costs,
            evidence=evidence,
            held_out=held_out,
            allow_estimates=options.get("allow_estimates", False),
        ),
    )
    recommended = None if curve is None else _cheapest(curve, at_least)
    yield (draft := replace(draft, frontier=curve, recommended=recommended))
    if draft.trimming is not None:
        trimmed = draft.trimming.classifier
        comparison = parts.answer(
            "the comparison with the trimmed classifier",
            1.0,
            lambda: _compare(classifier, trimmed, evidence, allow_estimates=parts.allow_estimates),
        )
        yield replace(draft, comparison=comparison)


@dataclass(slots=True)
class _Parts:
    """Asks for one part after the other, and takes down what was left out."""

    classifier: Classifier
    evidence: Evidence | None
    at_least: float
    costs: Costs | None
    allow_estimates: bool
    tell: Tell
    notes: list[str] = field(default_factory=list)
    begun: str = THE_REST
    """The part that is asked for now."""

    def answer(self, what: str, share: float, ask: Callable[[], T]) -> T | None:
        """The answer, given a share of what is left; None where that is too little."""
        self.begun, found = what, None
        self.tell(what)
        try:
            with portion(share):
                found = ask()
        except LimitError as error:
            self.notes.append(f"{_begin(what)} is left out: {error}.")
        self.begun = THE_REST
        return found

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
            if found is None:
                continue
            if options.get("allow_estimates"):
                cause = "nothing certain was found within the limits"
                self.notes.append(f"{_begin(what)} is an estimate from samples: {cause}.")
            return found
        return None


def _begin(what: str) -> str:
    return what[0].upper() + what[1:]


def _rank(parts: _Parts) -> ObservationRanking | None:
    """The ranking by all criteria, or by those that need posteriors alone."""

    def rank(criteria: Sequence[Criterion] | None, options: Options) -> ObservationRanking:
        return voi(
            parts.classifier,
            parts.evidence,
            reward=criteria,
            costs=parts.costs,
            at_least=parts.at_least,
            **options,
        )

    # A narrow interval ranks as well as the exact value, and all features at once cost far less.
    ranking = parts.certain_or_not(
        "the gain in same-decision probability",
        0.4,
        partial(rank, None),
        [Options(tolerance=tolerance) for tolerance in TOLERANCES],
    )
    if ranking is not None:
        return ranking
    cheap = NegativeEntropy(), Margin()
    return parts.answer("the ranking", 0.5, lambda: rank(cheap, Options()))


def _compare(
    full: Classifier,
    trimmed: Classifier | TableClassifier,
    evidence: Evidence | None,
    *,
    allow_estimates: bool,
) -> Comparison:
    """How two classifiers decide, on all instances or on some that are drawn."""
    if not allow_estimates and not compares_all(make_problem(full, evidence)):
        raise LimitError(
            "there are too many instances to compare each; ways out: observe more features; "
            "or allow estimates (allow_estimates=True)"
        )
    return compare(full, trimmed, evidence, rng=np.random.default_rng(0))


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
    case = follow(classifier, evidence, **options)
    measured = measure_findings(case, findings[:MOST_MEASURED])
    return (*measured, *findings[MOST_MEASURED:])
