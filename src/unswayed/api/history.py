"""A case replayed: what would have been decided, and how safely, after each of its observations."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack, overload

from unswayed.api.decisions import Decision
from unswayed.api.models import takes_cases
from unswayed.api.observations import Case
from unswayed.api.questions import Options, problem_of
from unswayed.api.shown import Framed, Plotted
from unswayed.core.anytime import bounded, has_deadline, portion
from unswayed.core.errors import LimitError, QueryError, expect_list, expect_number
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.binding import bind_purchase
from unswayed.decisions.catalogue import cost_together
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem
from unswayed.decisions.purchase import Costs, Purchase, purchase_of
from unswayed.model.evidence import Evidence

NO_TIME = "no time"
"""In place of an engine, where there was no time for one."""
SDP_SHARE = 0.95
"""Of the time that is left, for all SDPs together; decisions have the rest."""


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """How things stood after one more observation."""

    observed: tuple[str, str] | None
    """The feature and its state; None at the beginning."""
    decision: Decision
    """What would have been decided."""
    sdp: Measurement
    """The probability that the decision survives all other features."""
    cost: float | None = None
    """What the observation cost; None where no costs are given."""


@dataclass(frozen=True, slots=True, repr=False)
class CaseHistory(Plotted, Framed):
    """A case from its first observation to its last."""

    classifier: Classifier
    """What decides."""
    steps: tuple[HistoryStep, ...]
    """How things stood at the beginning and after each observation."""

    @property
    def spent(self) -> tuple[float, ...]:
        """What the observations cost together, after each step."""
        return tuple(itertools.accumulate(step.cost or 0.0 for step in self.steps))

    def first_safe(self, at_least: float = 0.95) -> int | None:
        """How many observations it took until the decision was this safe; None when it never was."""
        expect_number(at_least, "the level")
        if not 0.0 < at_least <= 1.0:
            raise QueryError(f"the level must lie between 0 and 1; got {at_least!r}")
        return next((i for i, step in enumerate(self.steps) if step.sdp.low >= at_least - 1e-12), None)


@overload
def follow(
    classifier: Classifier,
    evidence: Evidence | None = None,
    *,
    observe: None = None,
    **options: Unpack[Options],
) -> Case: ...
@overload
def follow(
    classifier: Classifier,
    evidence: Evidence | None = None,
    *,
    observe: Iterable[tuple[str, str]],
    costs: Costs | None = None,
    **options: Unpack[Options],
) -> CaseHistory: ...
@bounded
@takes_cases
def follow(
    classifier: Classifier,
    evidence: Evidence | None = None,
    *,
    observe: Iterable[tuple[str, str]] | None = None,
    costs: Costs | None = None,
    **options: Unpack[Options],
) -> Case | CaseHistory:
    """One case, observation by observation: to go on with, or, with `observe`, as it went.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> paper = follow(papers)
    >>> round(paper.sdp().value, 2), round(paper.observe("AC", "-").sdp().value, 2)
    (0.9, 0.99)

    With `observe`, the decisions as these observations arrived, one after the other, and how safe each was. A
    limit on time is for all steps together: where a step's share does not suffice, its SDP is between 0
    and 1. With `costs`, each step also says what its observation cost: a group is paid with its first
    feature.

    >>> history = follow(papers, observe=[("AC", "-"), ("R1", "+")])
    >>> [round(step.sdp.value, 3) for step in history.steps]
    [0.9, 0.988, 0.941]
    """
    case = Case(problem_of(classifier, evidence, options), options)
    if observe is not None:
        return _replay(classifier, case, _pairs(observe), costs)
    if costs is not None:
        raise QueryError(
            "costs are for observations that were made; give them with observe, or leave them out"
        )
    return case


def _replay(
    classifier: Classifier, case: Case, pairs: list[tuple[str, str]], costs: Costs | None
) -> CaseHistory:
    """The case after each of its observations."""
    steps = [HistoryStep(None, case.decision, _sdp(case, len(pairs) + 1), None if costs is None else 0.0)]
    paid: set[str] = set()
    for place, (feature, state) in enumerate(pairs):
        cost = None if costs is None else _cost_now(case.problem, feature, purchase_of(costs), paid)
        case = case.observe(feature, state)
        sdp = _sdp(case, len(pairs) - place)
        steps.append(HistoryStep((feature, state), case.decision, sdp, cost))
    if all(step.sdp.engine == NO_TIME for step in steps):
        raise LimitError("the time does not suffice for any step of the case; raise Limits(max_seconds=...)")
    return CaseHistory(classifier, tuple(steps))


def _sdp(case: Case, n_left: int) -> Measurement:
    """The same-decision probability, in an equal share of the time for those that are left.

    Where that is too little, nothing is known of it, and the other steps stand.
    """
    try:
        with portion(SDP_SHARE / n_left):
            return case.sdp()
    except LimitError:
        if not has_deadline():
            raise
        return Measurement(0.5, 0.0, 1.0, Certainty.BOUND, engine=NO_TIME)


def _cost_now(problem: Problem, feature: str, purchase: Purchase, paid: set[str]) -> float:
    """What it costs to observe a feature next; notes the test that was paid for."""
    catalogue, position = bind_purchase(purchase, problem), problem.network.index(feature)
    for test, offer in enumerate(catalogue.offers):
        if position in offer.features:
            cost = 0.0 if offer.name in paid else cost_together(catalogue, [test])
            paid.add(offer.name)
            return cost
    return 0.0  # a variable that is no feature, or one that nobody buys, came for nothing


def _pairs(observations: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The observations; `QueryError` where one is no pair of a feature and a state."""
    pairs = (
        list(observations.items())
        if isinstance(observations, Mapping)
        else list(expect_list(observations, "the observations"))
    )
    for each in pairs:
        if isinstance(each, str) or not isinstance(each, Sequence) or len(each) != 2:
            raise QueryError(f"an observation is a feature and its state, such as ('AC', '+'), not {each!r}")
    return pairs
