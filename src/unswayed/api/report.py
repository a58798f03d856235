"""One classifier looked at from all sides: what a report about it tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from unswayed.api.compare import Comparison, compare_decisions
from unswayed.api.decisions import Decision
from unswayed.api.networks import Evidence
from unswayed.api.observations import Ranking, Stopping, follow, rank_observations, should_stop
from unswayed.api.questions import Options
from unswayed.api.selection import Costs, Frontier, SearchOptions, Trimming, frontier
from unswayed.core.errors import ImpossibleEvidence, LimitError, QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.measurement import Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rewards import Margin, NegativeEntropy
from unswayed.model.evidence import list_open, read_evidence

MOST_FINDINGS = 16
"""Single findings that are looked at, those of the features worth most first."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one single observation would do."""

    feature: str
    state: str
    probability: float
    """Pr(feature = state | evidence)."""
    decision: Decision
    sdp: Measurement | None
    """None when no engine finds it within the limits."""


@dataclass(frozen=True, slots=True)
class Examination:
    """What is known about a classifier; a part is None where it is out of reach, and `notes` says why."""

    classifier: Classifier
    evidence: dict[str, str]
    at_least: float
    """The same-decision probability, and the agreement, that is asked for."""
    stopping: Stopping | None
    ranking: Ranking | None
    findings: tuple[Finding, ...]
    frontier: Frontier | None
    recommended: int | None
    """Number of the cheapest point of the frontier that agrees often enough; None when none does."""
    comparison: Comparison | None
    """The recommended trimming compared with the full classifier."""
    notes: tuple[str, ...]

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


def examine(
    classifier: Classifier,
    costs: Costs | None = None,
    evidence: Evidence | None = None,
    *,
    at_least: float = 0.95,
    limits: Limits = DEFAULT_LIMITS,
) -> Examination:
    """How robust the classifier's decisions are, what matters, and what it could do without.

    What cannot be found within the limits is left out, with a note.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> found = examine(papers, at_least=0.91)
    >>> found.stopping.stop, found.trimming.selection.kept
    (False, ('AC',))
    """
    if not 0.0 < at_least <= 1.0:
        raise QueryError(f"the level must lie between 0 and 1; got {at_least!r}")
    notes: list[str] = []
    options = Options(limits=limits)
    stopping = _unless_too_much(
        lambda: should_stop(classifier, evidence, at_least, **options), "The same-decision probability", notes
    )
    ranking = _ranked(classifier, evidence, options, notes)
    curve = _unless_too_much(
        lambda: frontier(classifier, costs=costs, evidence=evidence, **SearchOptions(limits=limits)),
        "The frontier",
        notes,
    )
    recommended = None if curve is None else _cheapest(curve, at_least)
    comparison = None
    if curve is not None and recommended is not None:
        trimmed = curve.points[recommended].classifier
        comparison = compare_decisions(
            classifier, trimmed, evidence, rng=np.random.default_rng(0), limits=limits
        )
    return Examination(
        classifier=classifier,
        evidence=read_evidence(classifier.network, evidence),
        at_least=at_least,
        stopping=stopping,
        ranking=ranking,
        findings=_findings(classifier, evidence, ranking, options),
        frontier=curve,
        recommended=recommended,
        comparison=comparison,
        notes=tuple(notes),
    )


def _unless_too_much(ask: Callable[[], T], what: str, notes: list[str]) -> T | None:
    try:
        return ask()
    except LimitError as error:
        notes.append(f"{what} is left out: {error}.")
        return None


def _ranked(
    classifier: Classifier, evidence: Evidence | None, options: Options, notes: list[str]
) -> Ranking | None:
    try:
        return rank_observations(classifier, evidence, **options)
    except LimitError as error:
        notes.append(f"The gain in same-decision probability is left out: {error}.")
    criteria = (NegativeEntropy(), Margin())
    return _unless_too_much(
        lambda: rank_observations(classifier, evidence, criteria, **options), "The ranking", notes
    )


def _cheapest(curve: Frontier, at_least: float) -> int | None:
    enough = (i for i, p in enumerate(curve.points) if p.selection.value >= at_least - 1e-12)
    return next(enough, None)


def _findings(
    classifier: Classifier, evidence: Evidence | None, ranking: Ranking | None, options: Options
) -> tuple[Finding, ...]:
    """What each state of the first features would do, as many as there is room for."""
    if ranking is None:
        return ()
    case = follow(classifier, evidence, **options)
    found: list[Finding] = []
    for name in ranking.features:
        variable = classifier.network.variable(name)
        if len(found) + len(variable) > MOST_FINDINGS:
            break
        shares = _shares(classifier, name, evidence, options)
        for state in variable.states:
            try:
                later = case.observe(name, state)
            except ImpossibleEvidence:
                continue
            try:
                sdp = later.sdp()
            except LimitError:
                sdp = None
            found.append(Finding(name, state, shares[state], later.decision, sdp))
    return tuple(found)


def _shares(
    classifier: Classifier, name: str, evidence: Evidence | None, options: Options
) -> dict[str, float]:
    from unswayed.api.networks import posterior

    return posterior(classifier.network, name, evidence, limits=options.get("limits", DEFAULT_LIMITS))
