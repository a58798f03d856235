"""What to observe next, and when to stop: value of information, ranking, stopping, and following a case."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Unpack

from unswayed.api import shown
from unswayed.api.decisions import Decision, agreement_of, decision_of
from unswayed.api.networks import Evidence
from unswayed.api.questions import Options, problem_of
from unswayed.core.arrays import Floats
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem
from unswayed.decisions.rewards import ExpectedUtility, Margin, NegativeEntropy, Reward, expected_reward
from unswayed.decisions.rules import UtilityRule
from unswayed.engines.observed import carry_over
from unswayed.inference.posteriors import joint_table


@dataclass(frozen=True, slots=True)
class SameDecisionGain:
    """The criterion of [chen2014]: by how much observing raises the same-decision probability."""

    name: str = "sdp"


Criterion = Reward | SameDecisionGain
"""What an observation is valued by."""
NO_VALUE = 1e-12
"""Values up to this are rounding."""


def value_of_information(
    classifier: Classifier,
    kept: Iterable[str],
    reward: Criterion,
    evidence: Evidence | None = None,
    **options: Unpack[Options],
) -> Measurement:
    """Expected reward after observing `kept`, less the reward now [chen2014, Eq. 3].

        V(H) = sum_h R(Pr(D | h, e)) Pr(h | e) - R(Pr(D | e))

    `kept` may be one feature (myopic) or a set. With `NegativeEntropy()` it is the mutual information:

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> now = 0.7219                          # H(D) in bits
    >>> round(now - value_of_information(papers, ["R2"], NegativeEntropy()).value, 2)
    0.57
    """
    problem = problem_of(classifier, evidence, options)
    return value_at(problem, problem.kept(kept), reward, options)


def sdp_gain(
    classifier: Classifier,
    kept: Iterable[str],
    evidence: Evidence | None = None,
    **options: Unpack[Options],
) -> Measurement:
    """By how much observing `kept` is expected to raise the same-decision probability [chen2014, Def. 2]."""
    return value_of_information(classifier, kept, SameDecisionGain(), evidence, **options)


def value_at(problem: Problem, kept: frozenset[int], reward: Criterion, options: Options) -> Measurement:
    """The value of observing features, for a problem as it stands."""
    if isinstance(reward, SameDecisionGain):
        return _gain(agreement_of(problem, frozenset(), problem.decider, options), problem, kept, options)
    started = time.perf_counter()
    target = problem.network.variables[problem.target]
    after = expected_reward(_class_mass(problem, kept, options), reward, target)
    now = expected_reward(problem.prior[None], reward, target)
    return Measurement.exact(after - now, engine="inference", seconds=time.perf_counter() - started)


def _gain(now: Measurement, problem: Problem, kept: frozenset[int], options: Options) -> Measurement:
    """The expected same-decision probability after observing, less the one now."""
    after = agreement_of(problem, kept, problem.decider, options)
    certainties = {after.certainty, now.certainty}
    certainty = next(c for c in reversed(Certainty) if c in certainties)
    return Measurement(
        value=after.value - now.value,
        low=after.low - now.high,
        high=after.high - now.low,
        certainty=certainty,
        engine=after.engine,
        seconds=after.seconds + now.seconds,
        confidence=max(0.0, after.confidence + now.confidence - 1.0),
        bids=after.bids,
    )


def _class_mass(problem: Problem, kept: frozenset[int], options: Options) -> Floats:
    """Pr(target, kept | evidence), a row for each instantiation of the kept features."""
    order = sorted(kept)
    limits = options.get("limits", DEFAULT_LIMITS)
    table = joint_table(problem.network, [*order, problem.target], problem.evidence, limits=limits)
    return table.reshape(-1, len(problem.prior))


@dataclass(frozen=True, slots=True)
class Ranking:
    """Features not observed yet, valued one by one, the best by the first criterion first."""

    criteria: tuple[str, ...]
    """Names of the criteria, the one ranked by first."""
    features: tuple[str, ...]
    """The features, best first."""
    values: tuple[tuple[Measurement, ...], ...]
    """For each feature its value by each criterion."""

    @property
    def best(self) -> str | None:
        """The feature to observe next; None when none is left or none has any value by itself."""
        if not self.features or self.values[0][0].high <= NO_VALUE:
            return None
        return self.features[0]

    plot = shown.plot
    _repr_html_ = shown.to_html


def rank_observations(
    classifier: Classifier,
    evidence: Evidence | None = None,
    reward: Criterion | Sequence[Criterion] | None = None,
    **options: Unpack[Options],
) -> Ranking:
    """The next single features, valued side by side; ranked by the first criterion.

    Without `reward`: gain in same-decision probability, entropy, margin, and utility where the rule has
    utilities. Ties go to the feature named first in the classifier.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> rank_observations(papers).best
    'AC'
    """
    return ranking_of(problem_of(classifier, evidence, options), reward, options)


def ranking_of(problem: Problem, reward: Criterion | Sequence[Criterion] | None, options: Options) -> Ranking:
    """The ranking for a problem as it stands."""
    if reward is None:
        criteria = default_criteria(problem.classifier)
    else:
        criteria = tuple(reward) if isinstance(reward, Sequence) else (reward,)
    now = _now(problem, criteria, options)
    rows = []
    for feature in problem.free:
        kept = frozenset({feature})
        values = tuple(
            _gain(now, problem, kept, options)
            if isinstance(each, SameDecisionGain) and now
            else value_at(problem, kept, each, options)
            for each in criteria
        )
        rows.append((problem.network.variables[feature].name, values))
    # Values a rounding error apart are ties; sorting is stable, so the classifier's order decides them.
    rows.sort(key=lambda row: -round(row[1][0].value, 12))
    return Ranking(
        tuple(each.name for each in criteria), tuple(name for name, _ in rows), tuple(v for _, v in rows)
    )


def _now(problem: Problem, criteria: Sequence[Criterion], options: Options) -> Measurement | None:
    """The same-decision probability now, once for all features; None when no criterion asks for it."""
    if not any(isinstance(each, SameDecisionGain) for each in criteria):
        return None
    return agreement_of(problem, frozenset(), problem.decider, options)


def default_criteria(classifier: Classifier) -> tuple[Criterion, ...]:
    """All criteria that fit the classifier's rule."""
    criteria: list[Criterion] = [SameDecisionGain(), NegativeEntropy(), Margin()]
    if isinstance(classifier.rule, UtilityRule):
        criteria.append(ExpectedUtility(classifier.rule))
    return tuple(criteria)


@dataclass(frozen=True, slots=True)
class Stopping:
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

    plot = shown.plot
    _repr_html_ = shown.to_html


def should_stop(
    classifier: Classifier,
    evidence: Evidence | None = None,
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
    return stopping_of(problem_of(classifier, evidence, options), at_least, options)


def stopping_of(problem: Problem, at_least: float, options: Options) -> Stopping:
    """The stopping rule for a problem as it stands; an interval that straddles the level is narrowed."""
    if not 0.0 < at_least <= 1.0:
        raise QueryError(f"the level must lie between 0 and 1; got {at_least!r}")
    sdp = agreement_of(problem, frozenset(), problem.decider, options)
    for tolerance in (1e-4, 1e-5, 1e-6):
        if sdp.certainty is not Certainty.BOUND or not sdp.low < at_least <= sdp.high:
            break
        narrower = Options(**{**options, "tolerance": tolerance})
        sdp = agreement_of(problem, frozenset(), problem.decider, narrower)
    # The sum of millions of masses may miss a level that it equals.
    reached = sdp.low >= at_least or math.isclose(sdp.low, at_least, abs_tol=1e-12)
    return Stopping(
        stop=reached,
        certain=reached or sdp.high < at_least,
        decision=decision_of(problem),
        sdp=sdp,
        at_least=at_least,
    )


@dataclass(frozen=True, slots=True)
class Monitor:
    """A case being followed: each observation gives a new monitor that reuses what was prepared."""

    problem: Problem
    """The classifier at the evidence so far."""
    options: Options

    @property
    def decision(self) -> Decision:
        """What would be decided now."""
        return decision_of(self.problem)

    def observe(self, feature: str, state: str) -> Monitor:
        """The case with one more observation."""
        network = self.problem.network
        position = network.index(feature)
        if position in self.problem.evidence:
            raise QueryError(f"{feature!r} is observed already; start again with follow() to change it")
        evidence = {**_named(self.problem), feature: state}
        later = problem_of(self.problem.classifier, evidence, self.options)
        carry_over(self.problem, later, position)
        return Monitor(later, self.options)

    def sdp(self) -> Measurement:
        """The same-decision probability."""
        return agreement_of(self.problem, frozenset(), self.problem.decider, self.options)

    def should_stop(self, at_least: float = 0.95) -> Stopping:
        """Whether to stop observing."""
        return stopping_of(self.problem, at_least, self.options)

    def ranking(self, reward: Criterion | Sequence[Criterion] | None = None) -> Ranking:
        """The next features, valued."""
        return ranking_of(self.problem, reward, self.options)

    plot = shown.plot
    _repr_html_ = shown.to_html


def follow(classifier: Classifier, evidence: Evidence | None = None, **options: Unpack[Options]) -> Monitor:
    """A monitor to follow one case, observation by observation.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> paper = follow(Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6)))
    >>> round(paper.sdp().value, 2), round(paper.observe("AC", "-").sdp().value, 2)
    (0.9, 0.99)
    """
    return Monitor(problem_of(classifier, evidence, options), options)


def _named(problem: Problem) -> dict[str, str]:
    variables = problem.network.variables
    return {variables[v].name: variables[v].states[s] for v, s in problem.evidence.items()}
