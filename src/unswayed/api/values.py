"""What observations are worth: the value of information by any criterion."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from unswayed.api.decisions import agreement_of
from unswayed.api.questions import Options, problem_of
from unswayed.api.structured import agreement_in, case_of, value_in
from unswayed.core.anytime import bounded
from unswayed.core.arrays import Floats
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem
from unswayed.decisions.rewards import ExpectedUtility, Margin, NegativeEntropy, Reward, expected_reward
from unswayed.decisions.rules import UtilityRule
from unswayed.inference.posteriors import joint_table
from unswayed.model.evidence import Evidence

if TYPE_CHECKING:
    from unswayed.spaces.decisions.classifier import StructuredCase, StructuredClassifier


@dataclass(frozen=True, slots=True)
class SameDecisionGain:
    """The criterion of [chen2014]: by how much observing raises the same-decision probability."""

    name: str = "sdp"


Criterion = Reward | SameDecisionGain
"""What an observation is valued by."""
NO_VALUE = 1e-12
"""Values up to this are rounding."""


@bounded
def value_of_information(
    classifier: Classifier | StructuredClassifier,
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
    if not isinstance(classifier, Classifier):
        return value_of_objects(case_of(classifier, evidence, options), kept, reward, options)
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
        now = agreement_of(problem, frozenset(), problem.decider, options)
        return gain_between(now, agreement_of(problem, kept, problem.decider, options))
    started = time.perf_counter()
    return reward_gain(problem, class_mass_of(problem, kept), reward, started)


def reward_gain(problem: Problem, class_mass: Floats, reward: Reward, started: float) -> Measurement:
    """Expected reward once features are known, less the reward now; `class_mass` has their masses."""
    target = problem.network.variables[problem.target]
    after = expected_reward(class_mass, reward, target)
    before = expected_reward(problem.prior[None], reward, target)
    return Measurement.exact(after - before, engine="inference", seconds=time.perf_counter() - started)


def value_of_objects(
    case: StructuredCase, kept: Iterable[str], reward: Criterion, options: Options
) -> Measurement:
    """The value of observing attributes of a structured case."""
    if isinstance(reward, SameDecisionGain):
        return gain_between(agreement_in(case, (), options), agreement_in(case, kept, options))
    return value_in(case, kept, reward)


def gain_between(now: Measurement, after: Measurement) -> Measurement:
    """The expected same-decision probability after observing, less the one now."""
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


def class_mass_of(problem: Problem, kept: frozenset[int]) -> Floats:
    """Pr(target, kept | evidence), a row for each instantiation of the kept features."""
    order = sorted(kept)
    table = joint_table(problem.network, [*order, problem.target], problem.evidence)
    return table.reshape(-1, len(problem.prior))


def default_criteria(classifier: Classifier) -> tuple[Criterion, ...]:
    """All criteria that fit the classifier's rule."""
    criteria: list[Criterion] = [SameDecisionGain(), NegativeEntropy(), Margin()]
    if isinstance(classifier.rule, UtilityRule):
        criteria.append(ExpectedUtility(classifier.rule))
    return tuple(criteria)
