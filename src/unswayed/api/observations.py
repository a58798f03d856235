"""When to stop observing, and following a case; what to observe next is in `ranking.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from unswayed.api.decisions import Decision, agreement_of, decision_of
from unswayed.api.models import takes_cases
from unswayed.api.questions import Options, problem_of, start_anew
from unswayed.api.shown import Plotted
from unswayed.api.structured import agreement_in, case_of, decision_in
from unswayed.core.anytime import bounded, settle, within
from unswayed.core.errors import LimitError, QueryError, expect_number
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import LEVEL_SLACK
from unswayed.decisions.problem import Problem
from unswayed.model.evidence import Evidence

if TYPE_CHECKING:
    from unswayed.api.ranking import ObservationRanking
    from unswayed.api.values import Criterion
    from unswayed.decisions.purchase import Costs
    from unswayed.spaces.decisions.classifier import StructuredClassifier


@dataclass(frozen=True, slots=True, repr=False)
class Stopping(Plotted):
    """Whether to stop observing, and why."""

    stop: bool
    """True when the same-decision probability is known to be at least the level asked for."""
    certain: bool
    """False when the interval known for it straddles the level; then `stop` is False."""
    decision: Decision
    """What would be decided now."""
    sdp: Measurement
    """The same-decision probability."""
    at_least: float
    """The level asked for."""


@bounded
@takes_cases
def should_stop(
    classifier: Classifier | StructuredClassifier,
    evidence: Evidence | None = None,
    *,
    at_least: float = 0.95,
    **options: Unpack[Options],
) -> Stopping:
    """Whether the decision would survive all further observations with probability `at_least`.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> should_stop(papers, {"AC": "-"}).stop, should_stop(papers, {"AC": "+"}).stop
    (True, False)
    """
    if not isinstance(classifier, Classifier):
        case = case_of(classifier, evidence, options)
        decision = Decision(*decision_in(case))
        return _stopping(decision, at_least, lambda some: agreement_in(case, (), some), options)
    return stopping_of(problem_of(classifier, evidence, options), at_least, options)


def stopping_of(problem: Problem, at_least: float, options: Options) -> Stopping:
    """The stopping rule for a problem as it stands."""

    def agreement(some: Options) -> Measurement:
        return agreement_of(problem, frozenset(), problem.decider, some)

    return _stopping(decision_of(problem), at_least, agreement, options)


def _stopping(
    decision: Decision, at_least: float, agreement: Callable[[Options], Measurement], options: Options
) -> Stopping:
    """Whether the same-decision probability reaches a level; an interval that straddles it is narrowed."""
    expect_number(at_least, "the level")
    if not 0.0 < at_least <= 1.0:
        raise QueryError(f"the level must lie between 0 and 1; got {at_least!r}")

    def narrowing() -> Iterator[Measurement]:
        yield (sdp := agreement(options))
        certain = Options(**{**options, "allow_estimates": False})
        with suppress(LimitError):  # use the interval we have
            for tolerance in (1e-4, 1e-5, 1e-6):
                if sdp.high - sdp.low > tolerance:
                    narrower = agreement(Options(**{**certain, "tolerance": tolerance}))
                    yield (sdp := narrower if narrower.high - narrower.low <= sdp.high - sdp.low else sdp)

    def is_settled(sdp: Measurement) -> bool:
        return sdp.certainty is not Certainty.BOUND or not sdp.low < at_least <= sdp.high

    sdp = settle(narrowing(), enough=is_settled).last
    # The sum of millions of masses may miss a level that it equals.
    reached = sdp.low >= at_least - LEVEL_SLACK
    return Stopping(
        stop=reached,
        certain=reached or sdp.high < at_least,
        decision=decision,
        sdp=sdp,
        at_least=at_least,
    )


@dataclass(frozen=True, slots=True, repr=False)
class Case(Plotted):
    """A case being followed: each observation gives a new case that reuses what was prepared."""

    problem: Problem
    """The classifier at the evidence so far."""
    options: Options

    @property
    def decision(self) -> Decision:
        """What would be decided now."""
        return decision_of(self.problem)

    def observe(self, feature: str, state: str) -> Case:
        """The case with one more observation."""
        from unswayed.engines.dense import carry_over

        network = self.problem.network
        position = network.index(feature)
        if position in self.problem.evidence:
            raise QueryError(f"{feature!r} is observed already; start again with follow() to change it")
        evidence = {**_named(self.problem), feature: state}
        with self._limited():
            later = problem_of(self.problem.classifier, evidence, self.options)
        carry_over(self.problem, later, position)
        return Case(later, self.options)

    def _limited(self) -> AbstractContextManager[object]:
        """Within this context the limits of the case hold: each question has all of them."""
        return within(self.options.get("limits"))

    def sdp(self) -> Measurement:
        """The same-decision probability."""
        start_anew(self.problem)
        with self._limited():
            return agreement_of(self.problem, frozenset(), self.problem.decider, self.options)

    def should_stop(self, at_least: float = 0.95) -> Stopping:
        """Whether to stop observing."""
        start_anew(self.problem)
        with self._limited():
            return stopping_of(self.problem, at_least, self.options)

    def ranking(
        self,
        reward: Criterion | Sequence[Criterion] | None = None,
        *,
        costs: Costs | None = None,
        at_least: float | None = 0.95,
    ) -> ObservationRanking:
        """The next tests, valued as `voi` does.

        `at_least=None` leaves out chances and bundles: with rewards that posteriors alone tell, such as
        `NegativeEntropy()`, that takes a few milliseconds.
        """
        from unswayed.api.ranking import ranking_of  # costs and rewards, which stopping does not need

        start_anew(self.problem)
        with self._limited():
            return ranking_of(self.problem, reward, costs=costs, at_least=at_least, options=self.options)


def _named(problem: Problem) -> dict[str, str]:
    variables = problem.network.variables
    return {variables[v].name: variables[v].states[s] for v, s in problem.evidence.items()}
