"""The value of information: of every test by itself, or of some features together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Unpack, overload

from unswayed.api.models import takes_cases
from unswayed.api.questions import Options, problem_of
from unswayed.api.ranking import ObservationRanking, find_ranks, ranking_of
from unswayed.api.structured import case_of
from unswayed.api.values import (
    Criterion,
    SameDecisionGain,
    value_at,
    value_of_objects,
)
from unswayed.core.anytime import bounded
from unswayed.core.errors import QueryError
from unswayed.core.measurement import Measurement
from unswayed.decisions.binding import leave_out_skipped
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.purchase import Costs, purchase_for
from unswayed.model.evidence import Evidence

if TYPE_CHECKING:
    from unswayed.spaces.decisions.classifier import StructuredCase, StructuredClassifier


@overload
def voi(
    classifier: Classifier | StructuredClassifier,
    evidence: Evidence | None = None,
    *,
    kept: None = None,
    reward: Criterion | Sequence[Criterion] | None = None,
    costs: Costs | None = None,
    at_least: float = 0.95,
    **options: Unpack[Options],
) -> ObservationRanking: ...
@overload
def voi(
    classifier: Classifier | StructuredClassifier,
    evidence: Evidence | None = None,
    *,
    kept: Iterable[str],
    reward: Criterion | None = None,
    **options: Unpack[Options],
) -> Measurement: ...
@bounded
@takes_cases
def voi(
    classifier: Classifier | StructuredClassifier,
    evidence: Evidence | None = None,
    *,
    kept: Iterable[str] | None = None,
    reward: Criterion | Sequence[Criterion] | None = None,
    costs: Costs | None = None,
    at_least: float = 0.95,
    **options: Unpack[Options],
) -> ObservationRanking | Measurement:
    """Value of information (VOI) of the next tests, the best first; with `kept`, of these features together.

        V(H) = sum_h R(Pr(D | h, e)) Pr(h | e) - R(Pr(D | e))

    [chen2014, Eq. 3]. Without `reward`: gain in same-decision probability, entropy, margin, and utility where
    the rule has utilities. Tests are ranked by the first criterion, per cost where costs are given; ties go
    to the test that tells most about the target, then to the one named first. Features with one state tell
    nothing and are left out. `done` is the chance that the decision is safe after a test: that its
    same-decision probability is at least `at_least`. Where no test gains anything alone, `bundle` holds the
    two or three that gain most together, or more where it takes more. A structured classifier's attributes
    are ranked by the gain in same-decision probability alone, unless `reward` says otherwise, and have no
    costs.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> voi(papers).best
    'AC'

    With `kept`, the value by one `reward`: the gain in same-decision probability [chen2014, Def. 2] where
    none is given, and the mutual information with `NegativeEntropy()`:

    >>> from unswayed.decisions import NegativeEntropy
    >>> now = 0.7219                          # H(D) in bits
    >>> round(now - voi(papers, kept=["R2"], reward=NegativeEntropy()).value, 2)
    0.57
    """
    if kept is not None:
        if costs is not None:
            raise QueryError("costs are for ranking single tests; leave them out, or leave out kept")
        return _value_together(classifier, evidence, kept, _one(reward), options)
    if not isinstance(classifier, Classifier):
        if costs is not None:
            raise QueryError("costs are for features of networks; rank structured attributes without them")
        return _rank_objects(case_of(classifier, evidence, options), reward, at_least, options)
    purchase = purchase_for(classifier, costs)
    classifier, purchase = leave_out_skipped(classifier, purchase)
    terms = None if costs is None and purchase.is_plain and not purchase.costs else purchase
    problem = problem_of(classifier, evidence, options)
    return ranking_of(problem, reward, costs=terms, at_least=at_least, options=options)


def _value_together(
    classifier: Classifier | StructuredClassifier,
    evidence: Evidence | None,
    kept: Iterable[str],
    reward: Criterion,
    options: Options,
) -> Measurement:
    """What observing some features together is worth."""
    if not isinstance(classifier, Classifier):
        return value_of_objects(case_of(classifier, evidence, options), kept, reward, options)
    problem = problem_of(classifier, evidence, options)
    return value_at(problem, problem.kept(kept), reward, options)


def _one(reward: Criterion | Sequence[Criterion] | None) -> Criterion:
    """The criterion that features are valued by together."""
    if reward is None:
        return SameDecisionGain()
    if isinstance(reward, Sequence):
        raise QueryError(f"features are valued together by one reward, not by several: {reward!r}")
    return reward


def _rank_objects(
    case: StructuredCase, reward: Criterion | Sequence[Criterion] | None, at_least: float, options: Options
) -> ObservationRanking:
    """The open attributes of a structured case, valued one by one."""
    wanted = SameDecisionGain() if reward is None else reward
    criteria = tuple(wanted) if isinstance(wanted, Sequence) else (wanted,)
    values = {
        name: tuple(value_of_objects(case, [name], each, options) for each in criteria)
        for name in case.open_terms
    }
    ranks = find_ranks({name: values[name][0] for name in values}, {})
    names = sorted(values, key=lambda name: (ranks[name], -round(values[name][0].value, 12)))
    return ObservationRanking(
        tuple(each.name for each in criteria),
        tuple(names),
        tuple(values[name] for name in names),
        (1.0,) * len(names),
        (None,) * len(names),
        at_least,
        ranks=tuple(ranks[name] for name in names),
    )
