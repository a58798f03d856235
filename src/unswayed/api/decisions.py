"""How robust is the decision? The verbs that compare what some features decide with what all would."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from unswayed.api import shown
from unswayed.api.questions import Options, RoutedQuestion, answer, problem_of
from unswayed.api.structured import agreement_in, case_of, decision_in
from unswayed.core.anytime import bounded
from unswayed.core.errors import QueryError
from unswayed.core.measurement import Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.oracle import (
    find_achievable,
    find_agreement,
    find_potential,
    find_single_agreements,
)
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import Decider, Rule, ThresholdRule, UtilityRule
from unswayed.engines.protocol import Needs, Question
from unswayed.model.evidence import Evidence

if TYPE_CHECKING:
    from unswayed.spaces.decisions.classifier import StructuredClassifier


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided now, and on which posterior."""

    action: str
    """What the rule decides."""
    posterior: dict[str, float]
    """Pr(target | evidence), a probability for each state."""
    threshold: tuple[str, float] | None = None
    """The positive state, and the probability from which on it is decided for; None for other rules."""

    plot = shown.plot
    to_frame = shown.to_frame
    _repr_html_ = shown.to_html
    __str__ = shown.to_text


@bounded
def decide(
    classifier: Classifier | StructuredClassifier,
    evidence: Evidence | None = None,
    **options: Unpack[Options],
) -> Decision:
    """The decision on this evidence.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> decide(papers, {"AC": "+"}).action
    '+'
    """
    if not isinstance(classifier, Classifier):
        return Decision(*decision_in(case_of(classifier, evidence, options)))
    return decision_of(problem_of(classifier, evidence, options))


def decision_of(problem: Problem) -> Decision:
    """The decision of a problem as it stands."""
    action = int(problem.decider.decide(problem.prior[np.newaxis])[0])
    states = problem.network.variables[problem.target].states
    posterior = dict(zip(states, problem.prior.tolist(), strict=True))
    return Decision(problem.decider.actions[action], posterior, _threshold(problem.classifier.rule))


def _threshold(rule: Rule) -> tuple[str, float] | None:
    return (rule.positive, rule.threshold) if isinstance(rule, ThresholdRule) else None


def expected_utilities(classifier: Classifier, decision: Decision) -> dict[str, float]:
    """What each action is worth on average, given the posterior of a decision; for utility rules only.

    >>> from unswayed.decisions.rules import UtilityRule
    >>> from unswayed.model.zoo import review
    >>> rule = UtilityRule({"print": {"+": 5.0, "-": -2.0}, "return": {"+": 0.0, "-": 0.0}})
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], rule)
    >>> {action: round(worth, 2) for action, worth in expected_utilities(papers, decide(papers)).items()}
    {'print': -0.6, 'return': 0.0}
    """
    rule = classifier.rule
    if not isinstance(rule, UtilityRule):
        raise QueryError(f"expected utilities are for utility rules; this one is {type(rule).__name__}")
    target = classifier.network.variables[classifier.target_index]
    worth = rule.matrix(target) @ np.array([decision.posterior[state] for state in target.states])
    return dict(zip(classifier.actions, worth.tolist(), strict=True))


@bounded
def same_decision_probability(
    classifier: Classifier | StructuredClassifier,
    evidence: Evidence | None = None,
    **options: Unpack[Options],
) -> Measurement:
    """Probability that observing all other features leaves the decision as it is now (SDP).

        SDP = sum_x [C_T(x e) = C_T(e)] Pr(x | e)

    [chen2014, Def. 1; choi2018, Def. 5]. After the area chair's vote in the review network:

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> round(same_decision_probability(papers, {"AC": "-"}).value, 2)
    0.99
    """
    if not isinstance(classifier, Classifier):
        return agreement_in(case_of(classifier, evidence, options), (), options)
    problem = problem_of(classifier, evidence, options)
    return agreement_of(problem, frozenset(), problem.decider, options)


@bounded
def expected_same_decision_probability(
    classifier: Classifier | StructuredClassifier,
    kept: Iterable[str],
    evidence: Evidence | None = None,
    **options: Unpack[Options],
) -> Measurement:
    """Probability that the decision after observing `kept` is the one that all features lead to (E-SDP).

        SDP(X | Y, e) = sum_y SDP(X | y e) Pr(y | e)

    [choi2017, Def. 2]. One reviewer repeats the full decision on 90% of papers:

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> round(expected_same_decision_probability(papers, ["R1"]).value, 2)
    0.9
    """
    if not isinstance(classifier, Classifier):
        return agreement_in(case_of(classifier, evidence, options), kept, options)
    problem = problem_of(classifier, evidence, options)
    return agreement_of(problem, problem.kept(kept), problem.decider, options)


@bounded
def expected_classification_agreement(
    classifier: Classifier,
    kept: Iterable[str],
    new_threshold: float,
    evidence: Evidence | None = None,
    **options: Unpack[Options],
) -> Measurement:
    """Agreement of the classifier with one on `kept` alone that uses `new_threshold` (ECA).

        ECA = sum_f [C_T(f) = C_T'(f')] Pr(f | e)

    where f' is the part of f on the kept features [choi2018, Def. 2].
    """
    problem = problem_of(classifier, evidence, options)
    rule = _threshold_rule(classifier)
    decider = ThresholdRule(rule.positive, new_threshold).bind(problem.network.variables[problem.target])
    return agreement_of(problem, problem.kept(kept), decider, options)


@bounded
def maximum_achievable_agreement(
    classifier: Classifier,
    kept: Iterable[str],
    evidence: Evidence | None = None,
    **options: Unpack[Options],
) -> Measurement:
    """The best agreement that a threshold on `kept` alone achieves, with the thresholds that do (MAA).

    [choi2018, Def. 3 and Algorithm 2]. The result's `thresholds` are the ends of the interval: above
    the first, up to and including the second. Where thresholds elsewhere do as well, it is the lowest
    interval, and `other_thresholds` has the rest. For threshold rules only.
    """
    problem = problem_of(classifier, evidence, options)
    rule = _threshold_rule(classifier)
    chosen = problem.kept(kept)
    positive = problem.network.variables[problem.target].index(rule.positive)

    def solve(asked: RoutedQuestion) -> Measurement:
        value, best = find_achievable(asked.oracle(), chosen, positive, asked.question.tolerance)
        return asked.measurement(value, best=best)

    return answer(problem, Question(chosen, Needs.ACHIEVABLE), options, solve)


@bounded
def maximum_potential_agreement(
    classifier: Classifier,
    kept: Iterable[str],
    evidence: Evidence | None = None,
    **options: Unpack[Options],
) -> Measurement:
    """The agreement of the best decision for each instantiation of `kept`: no rule does better (MPA).

        MPA(F') = sum_f' max_a Pr(the full classifier decides a, f' | e)

    [choi2018, Def. 4].
    """
    problem = problem_of(classifier, evidence, options)
    chosen = problem.kept(kept)

    def solve(asked: RoutedQuestion) -> Measurement:
        return asked.measurement(find_potential(asked.oracle(), chosen, asked.question.tolerance))

    return answer(problem, Question(chosen, Needs.POTENTIAL), options, solve)


def agreement_of(problem: Problem, kept: frozenset[int], decider: Decider, options: Options) -> Measurement:
    """How often `decider` on the kept features repeats the full decision."""

    def solve(asked: RoutedQuestion) -> Measurement:
        return asked.measurement(find_agreement(asked.oracle(), kept, decider, asked.question.tolerance))

    return answer(problem, Question(kept), options, solve)


def single_agreements_of(problem: Problem, decider: Decider, options: Options) -> dict[int, Measurement]:
    """For every free feature, how often `decider` on it alone repeats the full decision."""

    def solve(asked: RoutedQuestion) -> dict[int, Measurement]:
        found = find_single_agreements(asked.oracle(), problem.free, decider, asked.question.tolerance)
        return {feature: asked.measurement(interval) for feature, interval in found.items()}

    return answer(problem, Question(frozenset(), Needs.SINGLES), options, solve)


def _threshold_rule(classifier: Classifier) -> ThresholdRule:
    if not isinstance(classifier.rule, ThresholdRule):
        raise QueryError(
            "agreement under another threshold is for threshold rules; this classifier's rule is "
            f"{type(classifier.rule).__name__}"
        )
    return classifier.rule
