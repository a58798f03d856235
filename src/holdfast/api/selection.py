"""Which features to keep: selection, trimming, and the frontier of what each budget buys."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from holdfast.api.estimated import Wanted, estimated_choice
from holdfast.api.networks import Evidence
from holdfast.api.observations import SameDecisionGain
from holdfast.api.searching import (
    Searchable,
    is_naive,
    is_searchable,
    masses_of,
    patient,
    prepared,
    reward_lens,
    root_of,
    same_decision_lens,
    search_on_grid,
    trimming_lens,
    with_table,
)
from holdfast.core.errors import QueryError
from holdfast.core.limits import DEFAULT_LIMITS, Limits
from holdfast.core.names import unknown_name
from holdfast.decisions.classifier import Classifier
from holdfast.decisions.measures import AchievableAgreement, maximum_achievable_agreement
from holdfast.decisions.problem import Problem, make_problem
from holdfast.decisions.rewards import Reward, expected_reward
from holdfast.decisions.rules import ThresholdRule
from holdfast.decisions.table_classifier import TableClassifier
from holdfast.engines.many_features import best_threshold_of
from holdfast.engines.sampling import SamplingEngine
from holdfast.search.branch_and_bound import branch_and_bound
from holdfast.search.exhaustive import exhaustive
from holdfast.search.greedy import greedy
from holdfast.search.lattice import Node, keep_only
from holdfast.search.lenses import Lens, PotentialLens, RewardLens
from holdfast.search.progress import SLACK, Found, Report, Task

if TYPE_CHECKING:
    from holdfast.api.circuits import CircuitVariant
    from holdfast.pictures.canvas import Picture

Costs = Mapping[str, float]
"""What observing each feature costs; features left out cost 1."""


class Method(Enum):
    """How subsets are searched."""

    BRANCH_AND_BOUND = "branch-and-bound"
    """Proven best."""
    EXHAUSTIVE = "exhaustive"
    """Every subset, to compare with."""
    GREEDY = "greedy"
    """One feature at a time, then swaps; not proven."""
    FS_SDD = "fs-sdd"
    """Every subset, valued by circuits alone [choi2017, Algorithm 2]; selection by expected SDP only."""


class SearchOptions(TypedDict, total=False):
    """What every search may be told, by keyword."""

    method: Method
    """How to search; branch and bound unless told otherwise."""
    limits: Limits
    """Bounds on memory and time; when time is over, the best so far comes with its gap."""
    report: Report
    """Called now and then with incumbent, bound and number of evaluations."""
    variant: CircuitVariant
    """For FS-SDD: where its circuits come from; constrained to the features unless told otherwise."""
    jobs: int
    """Threads that may search at once where it takes long; 1 unless told otherwise. The answer is the same."""
    allow_estimates: bool
    """Whether to choose and measure by samples where no table holds the features."""


@dataclass(frozen=True, slots=True)
class SameDecision:
    """Decide as all features would, by the same rule: expected same-decision probability."""

    name: str = "esdp"


Objective = SameDecision | SameDecisionGain | Reward
"""What features are selected for."""

_SEARCH_BY_METHOD: dict[Method, Callable[[Task], Found]] = {
    Method.BRANCH_AND_BOUND: branch_and_bound,
    Method.EXHAUSTIVE: exhaustive,
    Method.GREEDY: greedy,
}


@dataclass(frozen=True, slots=True)
class Selection:
    """Features chosen within a budget, and how good the choice is known to be."""

    kept: tuple[str, ...]
    """The features to keep, in the classifier's order."""
    value: float
    """The objective with these features."""
    upper_bound: float
    """What no choice within the budget exceeds."""
    cost: float
    """What the kept features cost together."""
    evaluations: int
    """Subsets valued or bounded."""
    engine: str
    """Name of the engine behind the values."""
    seconds: float
    """How long it took."""
    optimal: bool
    """Whether it is proven that nothing better exists."""
    interrupted: bool = False
    """Whether Ctrl-C ended the search."""
    interval: tuple[float, float] | None = None
    """Where the value is an estimate: what holds the true one with the engine's confidence."""

    @property
    def gap(self) -> float:
        """How much better another choice could be at most."""
        return 0.0 if self.optimal else max(0.0, self.upper_bound - self.value)

    def plot(self, *, title: str = "") -> Picture:
        """The value found, and what is not excluded."""
        from holdfast.api.plotting import plot_selection

        return plot_selection(self, title=title)

    def _repr_html_(self) -> str:
        from holdfast.api.cards import selection_card

        return selection_card(self)


@dataclass(frozen=True, slots=True)
class Trimming:
    """A classifier on fewer features that decides as the full one does as often as possible."""

    classifier: Classifier | TableClassifier
    """The trimmed classifier: kept features and a threshold inside the interval, the rule, or a table."""
    selection: Selection
    """The features kept, and the agreement they achieve."""
    threshold_interval: tuple[float, float] | None
    """Thresholds above the first, up to the second, achieve the agreement; None when the rule was kept."""

    def plot(self, *, title: str = "") -> Picture:
        """The network with the features that were kept."""
        from holdfast.api.plotting import plot_trimming

        return plot_trimming(self, title=title)

    def _repr_html_(self) -> str:
        from holdfast.api.cards import trimming_card

        return trimming_card(self)


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

    >>> from holdfast.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> chosen = select_features(papers, None, 1)
    >>> chosen.kept, round(chosen.value, 2), chosen.optimal
    (('AC',), 0.92, True)
    """
    started = time.perf_counter()
    _check_jobs(options)
    if options.get("method") is Method.FS_SDD:
        from holdfast.api.circuits import select_by_circuit

        return select_by_circuit(classifier, costs, budget, objective, evidence, options)
    by_decisions = objective is None or isinstance(objective, SameDecision | SameDecisionGain)
    if by_decisions and _needs_samples(classifier, evidence, options):
        return _sampled(classifier, evidence, _Purchase(costs, budget), options).selection
    ready = prepared(classifier, evidence, options.get("limits", DEFAULT_LIMITS))
    terms = _task_terms(ready.problem, costs, budget)
    if objective is None or isinstance(objective, SameDecision | SameDecisionGain):
        return _searched(ready, same_decision_lens(ready), terms, options, started)
    found = _searched(ready, reward_lens(ready, objective), terms, options, started)
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

    >>> from holdfast.model.zoo import disease_tests
    >>> tests = Classifier(disease_tests(), "Disease", None, ThresholdRule("+", 0.5))
    >>> trimmed = trim(tests, None, 2)
    >>> trimmed.selection.kept, round(trimmed.selection.value, 3)
    (('T4', 'T5'), 0.991)
    """
    started = time.perf_counter()
    _check_jobs(options)
    if _needs_samples(classifier, evidence, options):
        purchase = _Purchase(costs, budget, adapts_threshold=isinstance(classifier.rule, ThresholdRule))
        return _sampled(classifier, evidence, purchase, options)
    ready = prepared(classifier, evidence, options.get("limits", DEFAULT_LIMITS))
    trimmed = _by_table if potential and not is_naive(ready.problem) else _trimmed
    return trimmed(ready, _task_terms(ready.problem, costs, budget), options, started)


@dataclass(frozen=True, slots=True)
class Frontier:
    """What each budget buys: points of growing cost and agreement."""

    points: tuple[Trimming, ...]
    """The best trimming for every budget: each is the best until the cost of the next."""

    def plot(self, *, title: str = "") -> Picture:
        """Agreement over the budget."""
        from holdfast.api.plotting import plot_frontier

        return plot_frontier(self, title=title)

    def _repr_html_(self) -> str:
        from holdfast.api.cards import frontier_card

        return frontier_card(self)


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
    _check_jobs(options)
    limits = options.get("limits", DEFAULT_LIMITS)
    ready = prepared(classifier, evidence, limits)
    limits = patient(ready, limits)
    deadline = limits.deadline()
    terms = _task_terms(ready.problem, costs, math.inf)
    trimmed = _by_table if potential and not is_naive(ready.problem) else _trimmed
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


@dataclass(frozen=True, slots=True)
class _Terms:
    """Costs by position and the budget; and what searches with other budgets share."""

    costs: dict[int, float]
    budget: float
    shared: dict[str, Any] = field(default_factory=dict, repr=False)

    def with_budget(self, budget: float) -> _Terms:
        return replace(self, budget=budget)


def _check_jobs(options: SearchOptions) -> None:
    jobs = options.get("jobs", 1)
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise QueryError(f"jobs must be a whole number, at least 1, not {jobs!r}")


def _task_terms(problem: Problem, costs: Costs | None, budget: float) -> _Terms:
    features = problem.classifier.features
    for name, cost in (costs or {}).items():
        if name not in features:
            raise QueryError(f"a cost is given for {name!r}: {unknown_name('feature', name, features)}")
        if not (math.isfinite(cost) and cost > 0):
            raise QueryError(f"the cost of {name!r} must be a positive number, not {cost!r}")
    if math.isnan(budget) or budget < 0:
        raise QueryError(f"the budget must be at least 0, not {budget!r}")
    names = {f: problem.network.variables[f].name for f in problem.free}
    return _Terms({f: float((costs or {}).get(name, 1.0)) for f, name in names.items()}, budget)


def _trimmed(ready: Searchable, terms: _Terms, options: SearchOptions, started: float) -> Trimming:
    rule = ready.problem.classifier.rule
    network, target = ready.problem.network, ready.problem.classifier.target
    if not isinstance(rule, ThresholdRule):
        selection = _searched(ready, same_decision_lens(ready), terms, options, started)
        return Trimming(Classifier(network, target, selection.kept, rule), selection, None)
    selection = _searched(ready, trimming_lens(ready), terms, options, started)
    best = _best_threshold(ready, frozenset(map(network.index, selection.kept)), rule)
    threshold = min(max(best.threshold, 1e-300), 1.0 - 2**-53)
    trimmed = Classifier(network, target, selection.kept, ThresholdRule(rule.positive, threshold))
    selection = replace(selection, value=best.value, seconds=time.perf_counter() - started)
    return Trimming(trimmed, selection, (best.threshold_low, best.threshold_high))


def _by_table(ready: Searchable, terms: _Terms, options: SearchOptions, started: float) -> Trimming:
    """Trimmed to the features whose best table of decisions agrees most."""
    problem = ready.problem
    n_classes = len(problem.prior)
    selection = _searched(ready, PotentialLens(n_classes), terms, options, started)
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


def _searched(
    ready: Searchable, lens: Lens, terms: _Terms, options: SearchOptions, started: float
) -> Selection:
    method = options.get("method", Method.BRANCH_AND_BOUND)
    if method not in _SEARCH_BY_METHOD:
        raise QueryError(f"method {method.value!r} selects by expected SDP only; use another one to trim")
    if ready.many is None or isinstance(lens, RewardLens) or method is Method.EXHAUSTIVE:
        ready, found = _searched_table(ready, lens, terms, options)
    else:
        found = search_on_grid(
            ready,
            lens,
            costs=terms.costs,
            budget=terms.budget,
            limits=options.get("limits", DEFAULT_LIMITS),
            report=options.get("report"),
            prove=method is Method.BRANCH_AND_BOUND,
        )
    variables = ready.problem.network.variables
    return Selection(
        kept=tuple(variables[f].name for f in ready.features if f in found.kept),
        value=found.value,
        upper_bound=found.upper_bound,
        cost=math.fsum(terms.costs[f] for f in found.kept),
        evaluations=found.evaluations,
        engine=ready.engine,
        seconds=time.perf_counter() - started,
        optimal=found.upper_bound <= found.value + SLACK,
        interrupted=found.interrupted,
    )


def _searched_table(
    ready: Searchable, lens: Lens, terms: _Terms, options: SearchOptions
) -> tuple[Searchable, Found]:
    """The search in a table over all features, and what it found."""
    ready = terms.shared.setdefault("table", None) or with_table(ready, lens)
    terms.shared["table"] = ready
    variables = ready.problem.network.variables
    if "root" not in terms.shared:
        terms.shared["root"] = root_of(ready, lens)
    task = Task(
        root=terms.shared["root"],
        sizes=ready.sizes,
        costs=terms.costs,
        budget=terms.budget,
        lens=lens,
        names={f: variables[f].name for f in ready.features},
        deadline=options.get("limits", DEFAULT_LIMITS).deadline(),
        report=options.get("report"),
        jobs=options.get("jobs", 1),
        memo=terms.shared,
    )
    return ready, _SEARCH_BY_METHOD[options.get("method", Method.BRANCH_AND_BOUND)](task)


@dataclass(frozen=True, slots=True)
class _Purchase:
    """Costs by name, the budget, and whether the threshold may change."""

    costs: Costs | None
    budget: float
    adapts_threshold: bool = False


def _needs_samples(classifier: Classifier, evidence: Evidence | None, options: SearchOptions) -> bool:
    """Whether estimates are allowed and nothing certain is in reach."""
    if not options.get("allow_estimates", False):
        return False
    return not is_searchable(make_problem(classifier, evidence), options.get("limits", DEFAULT_LIMITS))


def _sampled(
    classifier: Classifier, evidence: Evidence | None, purchase: _Purchase, options: SearchOptions
) -> Trimming:
    """Chosen and measured by samples."""
    started = time.perf_counter()
    limits = options.get("limits", DEFAULT_LIMITS)
    problem = make_problem(classifier, evidence, limits=limits)
    terms = _task_terms(problem, purchase.costs, purchase.budget)
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
