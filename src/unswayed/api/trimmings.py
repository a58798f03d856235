"""From the features found to a trimmed classifier: with a threshold, a table, or by samples."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from unswayed.api.choices import Costs, SearchOptions, Selection, Terms, Trimming, task_terms
from unswayed.api.estimated import Wanted, estimated_choice
from unswayed.api.networks import Evidence
from unswayed.api.searches import searched
from unswayed.api.searching import Searchable, is_searchable, masses_of, same_decision_lens, trimming_lens
from unswayed.core.limits import DEFAULT_LIMITS
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import AchievableAgreement, maximum_achievable_agreement
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.engines.naive_bayes import best_threshold_of
from unswayed.engines.sampling import SamplingEngine
from unswayed.search.lattice import Node, keep_only
from unswayed.search.lenses import PotentialLens


def with_threshold(ready: Searchable, terms: Terms, options: SearchOptions, started: float) -> Trimming:
    """Trimmed to the features and the threshold that agree most; a rule without threshold is kept."""
    rule = ready.problem.classifier.rule
    network, target = ready.problem.network, ready.problem.classifier.target
    if not isinstance(rule, ThresholdRule):
        selection = searched(ready, same_decision_lens(ready), terms, options, started)
        return Trimming(Classifier(network, target, selection.kept, rule), selection, None)
    selection = searched(ready, trimming_lens(ready), terms, options, started)
    best = _best_threshold(ready, frozenset(map(network.index, selection.kept)), rule)
    threshold = min(max(best.threshold, 1e-300), 1.0 - 2**-53)
    trimmed = Classifier(network, target, selection.kept, ThresholdRule(rule.positive, threshold))
    selection = replace(selection, value=best.value, seconds=time.perf_counter() - started)
    return Trimming(trimmed, selection, (best.threshold_low, best.threshold_high))


def with_table_of_decisions(
    ready: Searchable, terms: Terms, options: SearchOptions, started: float
) -> Trimming:
    """Trimmed to the features whose best table of decisions agrees most."""
    problem = ready.problem
    n_classes = len(problem.prior)
    selection = searched(ready, PotentialLens(n_classes), terms, options, started)
    kept = frozenset(map(problem.network.index, selection.kept))
    table = keep_only(Node(ready.features, masses_of(ready)), kept, ready.sizes).table[n_classes:].T
    actions = problem.decider.actions
    target = problem.classifier.target
    trimmed = TableClassifier(problem.network, target, selection.kept, actions, table / table.sum())
    return Trimming(trimmed, replace(selection, seconds=time.perf_counter() - started), None)


def _best_threshold(ready: Searchable, kept: frozenset[int], rule: ThresholdRule) -> AchievableAgreement:
    """The best threshold on the kept features; between bounds, by what is certain."""
    problem = ready.problem
    positive = problem.network.variables[problem.target].index(rule.positive)
    if ready.many is not None:
        return best_threshold_of(ready.many, kept)
    assert ready.table is not None
    return maximum_achievable_agreement(ready.table.profile(kept), positive)


@dataclass(frozen=True, slots=True)
class Purchase:
    """Costs by name, the budget, and whether the threshold may change."""

    costs: Costs | None
    """What features cost; those left out cost 1."""
    budget: float
    """What the kept features may cost together."""
    adapts_threshold: bool = False
    """Whether a new threshold is looked for."""


def needs_samples(classifier: Classifier, evidence: Evidence | None, options: SearchOptions) -> bool:
    """Whether estimates are allowed and nothing certain is in reach."""
    if not options.get("allow_estimates", False):
        return False
    return not is_searchable(make_problem(classifier, evidence), options.get("limits", DEFAULT_LIMITS))


def by_samples(
    classifier: Classifier, evidence: Evidence | None, purchase: Purchase, options: SearchOptions
) -> Trimming:
    """Chosen and measured by samples."""
    started = time.perf_counter()
    limits = options.get("limits", DEFAULT_LIMITS)
    problem = make_problem(classifier, evidence, limits=limits)
    terms = task_terms(problem, purchase.costs, purchase.budget)
    wanted = Wanted(terms.costs, terms.budget, purchase.adapts_threshold)
    found = estimated_choice(problem, wanted, limits=limits, report=options.get("report"))
    agreement, names = found.agreement, [problem.network.variables[f].name for f in found.kept]
    assert agreement.middle is not None
    selection = Selection(
        kept=tuple(name for name in classifier.features if name in names),
        value=agreement.middle,
        upper_bound=1.0,
        cost=math.fsum(terms.costs[f] for f in found.kept),
        evaluations=found.tried,
        engine=SamplingEngine().name,
        seconds=time.perf_counter() - started,
        optimal=False,
        interval=(agreement.low, agreement.high),
    )
    if found.threshold is None or not isinstance(classifier.rule, ThresholdRule):
        same = Classifier(classifier.network, classifier.target, selection.kept, classifier.rule)
        return Trimming(same, selection, None)
    threshold = min(max(found.threshold.threshold, 1e-300), 1.0 - 2**-53)
    rule = ThresholdRule(classifier.rule.positive, threshold)
    trimmed = Classifier(classifier.network, classifier.target, selection.kept, rule)
    return Trimming(trimmed, selection, (found.threshold.threshold_low, found.threshold.threshold_high))
