"""Which features to keep: selection, trimming, and the frontier of what each budget buys."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Unpack

from unswayed.api.choices import (
    Costs,
    Frontier,
    Method,
    Objective,
    SameDecision,
    SearchOptions,
    Selection,
    Trimming,
    check_jobs,
    task_terms,
)
from unswayed.api.networks import Evidence
from unswayed.api.observations import SameDecisionGain
from unswayed.api.searches import searched, searched_by_maxdr
from unswayed.api.searching import is_naive, patient, prepared, reward_lens, same_decision_lens
from unswayed.api.trimmings import (
    Purchase,
    by_samples,
    needs_samples,
    with_table_of_decisions,
    with_threshold,
)
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rewards import expected_reward
from unswayed.decisions.rules import ThresholdRule

__all__ = [
    "Costs",
    "Frontier",
    "Method",
    "Objective",
    "SameDecision",
    "SearchOptions",
    "Selection",
    "Trimming",
    "frontier",
    "select_features",
    "trim",
]


def select_features(
    classifier: Classifier,
    costs: Costs | None,
    budget: float,
    objective: Objective | None = None,
    evidence: Evidence | None = None,
    **options: Unpack[SearchOptions],
) -> Selection:
    """The features within the budget that serve the objective best, proven optimal.

    Without an objective: the expected same-decision probability [choi2017, section 5]. One feature of
    the review network is best spent on the area chair:

    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> chosen = select_features(papers, None, 1)
    >>> chosen.kept, round(chosen.value, 2), chosen.optimal
    (('AC',), 0.92, True)
    """
    started = time.perf_counter()
    check_jobs(options)
    if options.get("method") is Method.MAXDR:
        return _by_maxdr(classifier, evidence, Purchase(costs, budget), (objective, options))
    if options.get("method") is Method.FS_SDD:
        from unswayed.api.circuits import select_by_circuit

        return select_by_circuit(classifier, costs, budget, objective, evidence, options)
    by_decisions = objective is None or isinstance(objective, SameDecision | SameDecisionGain)
    if by_decisions and needs_samples(classifier, evidence, options):
        return by_samples(classifier, evidence, Purchase(costs, budget), options).selection
    ready = prepared(classifier, evidence, options.get("limits", DEFAULT_LIMITS))
    terms = task_terms(ready.problem, costs, budget)
    if objective is None or isinstance(objective, SameDecision | SameDecisionGain):
        return searched(ready, same_decision_lens(ready), terms, options, started)
    found = searched(ready, reward_lens(ready, objective), terms, options, started)
    target = ready.problem.network.variables[ready.problem.target]
    # A value of information is the gain over the reward without observing.
    now = expected_reward(ready.problem.prior[None], objective, target)
    return replace(found, value=found.value - now, upper_bound=found.upper_bound - now)


def trim(
    classifier: Classifier,
    costs: Costs | None,
    budget: float,
    evidence: Evidence | None = None,
    *,
    potential: bool = False,
    **options: Unpack[SearchOptions],
) -> Trimming:
    """The features and the threshold within the budget that agree best with the full classifier.

    [choi2018, sections 3 to 5]. For rules without a threshold the rule is kept. With `potential` the kept
    features decide by the best table there is instead, a `TableClassifier`, and the agreement is the
    maximum potential one; for naive Bayes a threshold does as well [choi2018, Prop. 3] and is what comes
    back.

    >>> from unswayed.model.zoo import disease_tests
    >>> tests = Classifier(disease_tests(), "Disease", None, ThresholdRule("+", 0.5))
    >>> trimmed = trim(tests, None, 2)
    >>> trimmed.selection.kept, round(trimmed.selection.value, 3)
    (('T4', 'T5'), 0.991)
    """
    started = time.perf_counter()
    check_jobs(options)
    if needs_samples(classifier, evidence, options):
        purchase = Purchase(costs, budget, adapts_threshold=isinstance(classifier.rule, ThresholdRule))
        return by_samples(classifier, evidence, purchase, options)
    ready = prepared(classifier, evidence, options.get("limits", DEFAULT_LIMITS))
    trimmed = with_table_of_decisions if potential and not is_naive(ready.problem) else with_threshold
    return trimmed(ready, task_terms(ready.problem, costs, budget), options, started)


def frontier(
    classifier: Classifier,
    costs: Costs | None = None,
    evidence: Evidence | None = None,
    *,
    potential: bool = False,
    **options: Unpack[SearchOptions],
) -> Frontier:
    """The best trimming for every budget, in one run over one table.

    The budget is lowered step by step to just below the cost of the best trimming found, so every point
    where a larger budget buys more agreement is found, whatever the costs. A limit on time is for all points
    together; points found after it is over are the best at once to be had, with their gaps. `potential` is
    as in `trim`.
    """
    check_jobs(options)
    limits = options.get("limits", DEFAULT_LIMITS)
    ready = prepared(classifier, evidence, limits)
    limits = patient(ready, limits)
    deadline = limits.deadline()
    terms = task_terms(ready.problem, costs, math.inf)
    trimmed = with_table_of_decisions if potential and not is_naive(ready.problem) else with_threshold
    points: list[Trimming] = []
    budget = math.fsum(terms.costs.values())
    while budget >= 0:
        if limits.max_seconds is not None:
            # A search on a grid may not end by itself: each point that may be to come gets its share of time.
            n_left = len(points[-1].selection.kept) if points and ready.many is not None else 1
            left = (deadline - time.monotonic()) / max(n_left, 1)
            options["limits"] = replace(limits, max_seconds=max(left, 1e-3))
        found = trimmed(ready, terms.with_budget(budget), options, time.perf_counter())
        if points and found.selection.value >= points[-1].selection.value - 1e-13:
            points.pop()
        points.append(found)
        if found.selection.interrupted:
            break
        budget = found.selection.cost * (1 - 1e-9) - 1e-9
    return Frontier(tuple(reversed(points)))


def _by_maxdr(
    classifier: Classifier,
    evidence: Evidence | None,
    purchase: Purchase,
    asked: tuple[Objective | None, SearchOptions],
) -> Selection:
    objective, options = asked
    if objective is not None and not isinstance(objective, SameDecision | SameDecisionGain):
        raise QueryError(
            "MAXDR selects by expected same-decision probability; use another method for rewards"
        )
    started = time.perf_counter()
    problem = make_problem(classifier, evidence, limits=options.get("limits", DEFAULT_LIMITS))
    return searched_by_maxdr(problem, task_terms(problem, purchase.costs, purchase.budget), options, started)
