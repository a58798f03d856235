"""How robust is the decision? The verbs that compare what some features decide with what all would."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from unswayed.api.models import takes_cases
from unswayed.api.questions import Options, RoutedQuestion, answer, problem_of
from unswayed.api.shown import Framed, Plotted
from unswayed.api.structured import agreement_in, case_of, decision_in
from unswayed.core.anytime import bounded
from unswayed.core.arrays import Floats
from unswayed.core.errors import QueryError
from unswayed.core.measurement import Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.constant import always_decide
from unswayed.decisions.oracle import (
    SingleFeature,
    find_achievable,
    find_agreement,
    find_potential,
    find_singles,
)
from unswayed.decisions.problem import Problem
from unswayed.decisions.readings import Missing, find_readings, read_missing
from unswayed.decisions.rules import Decider, Rule, ThresholdRule, UtilityRule
from unswayed.engines.protocol import Needs, Question
from unswayed.model.evidence import Evidence
from unswayed.model.nodes.predictor import PredictorCpt

if TYPE_CHECKING:
    from unswayed.spaces.decisions.classifier import StructuredClassifier


@dataclass(frozen=True, slots=True)
class MissingReading:
    """What is decided when missing inputs are read in one of the ways there are."""

    missing: str
    """"expected", "native" or "impute", as `decide(missing=...)` takes them."""
    action: str
    posterior: dict[str, float]


@dataclass(frozen=True, slots=True, repr=False)
class Decision(Plotted, Framed):
    """What is decided now, and on which posterior."""

    action: str
    """What the rule decides."""
    posterior: dict[str, float]
    """Pr(target | evidence), a probability for each state."""
    threshold: tuple[str, float] | None = None
    """The positive state, and the probability from which on it is decided for; None for other rules."""
    doubt: float = 0.0
    """How far a probability may be off, at 99% confidence, where a person's own model has so many inputs
    missing that its expected prediction is estimated."""
    possible: tuple[str, ...] = ()
    """Where that doubt straddles a threshold: every action that it leaves possible, the decided one first."""
    readings: tuple[MissingReading, ...] = ()
    """Where inputs of a person's own model are missing: what each reading of them decides."""

    @property
    def disagreeing(self) -> tuple[MissingReading, ...]:
        """The readings of missing inputs that decide otherwise."""
        return tuple(each for each in self.readings if each.action != self.action)


@bounded
@takes_cases
def decide(
    classifier: Classifier | StructuredClassifier,
    evidence: Evidence | None = None,
    *,
    missing: str = "expected",
    **options: Unpack[Options],
) -> Decision:
    """The decision on this evidence.

    Where inputs of a person's own model are missing, it is by the expected prediction; `missing="native"`
    decides by the model's own path for gaps, `missing="impute"` by a row of medians. `readings` holds all
    that the model has, `disagreeing` those that decide otherwise.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> decide(papers, {"AC": "+"}).action
    '+'
    """
    if not isinstance(classifier, Classifier):
        return Decision(*decision_in(case_of(classifier, evidence, options)))
    problem, wanted = problem_of(classifier, evidence, options), read_missing(missing)
    readings = {reading: _decide(problem, share) for reading, share in find_readings(problem).items()}
    told = tuple(MissingReading(reading.value, *each) for reading, each in readings.items())
    if wanted is Missing.EXPECTED:
        return replace(decision_of(problem), readings=told if len(told) > 1 else ())
    _expect_reading(problem, wanted, readings)
    decided = readings.get(wanted, readings[Missing.EXPECTED])  # where nothing is missing, all are one
    return Decision(*decided, _threshold(problem.classifier.rule), readings=told)


def decision_of(problem: Problem) -> Decision:
    """The decision of a problem as it stands."""
    decided, doubt = _decide(problem, problem.prior), problem.prior_doubt
    possible = _actions_within(problem, doubt) if doubt else ()
    threshold = _threshold(problem.classifier.rule)
    return Decision(*decided, threshold, doubt, possible if len(possible) > 1 else ())


def _decide(problem: Problem, shares: Floats) -> tuple[str, dict[str, float]]:
    """The action on probabilities of the classes, and these by name."""
    action = int(problem.decider.decide(shares[np.newaxis])[0])
    states = problem.network.variables[problem.target].states
    return problem.decider.actions[action], dict(zip(states, shares.tolist(), strict=True))


def _actions_within(problem: Problem, doubt: float) -> tuple[str, ...]:
    """The actions where one class is more or less probable by the doubt, and the others share the rest."""
    prior, found = problem.prior, [_decide(problem, problem.prior)[0]]
    for state, moved in itertools.product(range(len(prior)), (-doubt, doubt)):
        share = min(max(float(prior[state]) + moved, 0.0), 1.0)
        rest = max(1.0 - float(prior[state]), 1e-300)
        shares = prior * ((1.0 - share) / rest)
        shares[state] = share
        found.append(_decide(problem, shares)[0])
    return tuple(dict.fromkeys(found))


def _expect_reading(problem: Problem, wanted: Missing, readings: Mapping[Missing, object]) -> None:
    """`QueryError` where a reading of missing inputs is asked for that the model has not."""
    model = problem.network.cpts[problem.target]
    if wanted in readings:
        return
    if not isinstance(model, PredictorCpt):
        raise QueryError(
            f"missing={wanted.value!r} is for a model of one's own (wrap); a network has the expected one"
        )
    if set(problem.network.parents[problem.target]) <= problem.evidence.keys():
        return
    raise QueryError(
        "this model has no path of its own for missing inputs, or none is known; leave missing out, or pass "
        "missing='impute'"
    )


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
@takes_cases
def sdp(
    classifier: Classifier | StructuredClassifier,
    evidence: Evidence | None = None,
    *,
    missing: str = "expected",
    **options: Unpack[Options],
) -> Measurement:
    """Same-decision probability (SDP): that observing all other features leaves the decision as it is.

        SDP = sum_x [C_T(x e) = C_T(e)] Pr(x | e)

    [chen2014, Def. 1; choi2018, Def. 5]. For a person's own model, `missing` says which decision is meant
    where inputs are missing (see `decide`). After the area chair's vote in the review network:

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> round(sdp(papers, {"AC": "-"}).value, 2)
    0.99
    """
    if not isinstance(classifier, Classifier):
        return agreement_in(case_of(classifier, evidence, options), (), options)
    problem, wanted = problem_of(classifier, evidence, options), read_missing(missing)
    if wanted is Missing.EXPECTED:
        return agreement_of(problem, frozenset(), problem.decider, options)
    readings = find_readings(problem)
    _expect_reading(problem, wanted, readings)
    shares = readings.get(wanted, problem.prior)
    action = int(problem.decider.decide(shares[np.newaxis])[0])
    return agreement_of(problem, frozenset(), always_decide(problem.decider, action), options)


@bounded
@takes_cases
def esdp(
    classifier: Classifier | StructuredClassifier,
    evidence: Evidence | None = None,
    *,
    kept: Iterable[str],
    **options: Unpack[Options],
) -> Measurement:
    """Expected same-decision probability (E-SDP): that the decision on `kept` is the one on all features.

        SDP(X | Y, e) = sum_y SDP(X | y e) Pr(y | e)

    [choi2017, Def. 2]. One reviewer repeats the full decision on 90% of papers:

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> round(esdp(papers, kept=["R1"]).value, 2)
    0.9
    """
    if not isinstance(classifier, Classifier):
        return agreement_in(case_of(classifier, evidence, options), kept, options)
    problem = problem_of(classifier, evidence, options)
    return agreement_of(problem, problem.kept(kept), problem.decider, options)


@bounded
@takes_cases
def eca(
    classifier: Classifier,
    evidence: Evidence | None = None,
    *,
    kept: Iterable[str],
    new_threshold: float,
    **options: Unpack[Options],
) -> Measurement:
    """Expected classification agreement (ECA) with a classifier on `kept` that uses `new_threshold`.

        ECA = sum_f [C_T(f) = C_T'(f')] Pr(f | e)

    where f' is the part of f on the kept features [choi2018, Def. 2].
    """
    problem = problem_of(classifier, evidence, options)
    rule = _threshold_rule(classifier)
    decider = ThresholdRule(rule.positive, new_threshold).bind(problem.network.variables[problem.target])
    return agreement_of(problem, problem.kept(kept), decider, options)


@bounded
@takes_cases
def maa(
    classifier: Classifier,
    evidence: Evidence | None = None,
    *,
    kept: Iterable[str],
    **options: Unpack[Options],
) -> Measurement:
    """Maximum achievable agreement (MAA): the best that a threshold on `kept` alone achieves, and which do.

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
@takes_cases
def mpa(
    classifier: Classifier,
    evidence: Evidence | None = None,
    *,
    kept: Iterable[str],
    **options: Unpack[Options],
) -> Measurement:
    """Maximum potential agreement (MPA): of the best decision for each instantiation of `kept`.

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


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredSingle:
    """What one feature tells by itself."""

    agreement: Measurement
    """How often the decision on it alone is the one on all features."""
    rows: SingleFeature | None = None
    """The same state by state; None where it is not known."""
    gain: Measurement | None = None
    """How much more often than with nothing seen; None where the difference of the two tells as much."""

    def chance_settled(self, level: float) -> float | None:
        """Probability that the SDP after it is at least `level`; None where no engine tells."""
        return None if self.rows is None else self.rows.chance_settled(level)


def singles_of(problem: Problem, decider: Decider, options: Options) -> dict[int, MeasuredSingle]:
    """For every free feature, how often `decider` on it alone repeats the full decision."""

    def solve(asked: RoutedQuestion) -> dict[int, MeasuredSingle]:
        found = find_singles(asked.oracle(), problem.free, decider, asked.question.tolerance)
        return {
            f: MeasuredSingle(
                asked.measurement(each.agreement),
                each,
                None if each.gain is None else asked.measurement(each.gain),
            )
            for f, each in found.items()
        }

    return answer(problem, Question(frozenset(), Needs.SINGLES), options, solve)


def _threshold_rule(classifier: Classifier) -> ThresholdRule:
    if not isinstance(classifier.rule, ThresholdRule):
        raise QueryError(
            "agreement under another threshold is for threshold rules; this classifier's rule is "
            f"{type(classifier.rule).__name__}"
        )
    return classifier.rule
