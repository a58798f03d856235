"""Which features to keep: selection, trimming, and the frontier of what each budget buys."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypedDict, Unpack

from holdfast.api.networks import Evidence
from holdfast.api.observations import SameDecisionGain
from holdfast.core.errors import LimitError, QueryError
from holdfast.core.limits import DEFAULT_LIMITS, Limits, readable_bytes
from holdfast.core.names import unknown_name
from holdfast.decisions.classifier import Classifier
from holdfast.decisions.measures import maximum_achievable_agreement
from holdfast.decisions.problem import Problem, make_problem
from holdfast.decisions.rewards import CustomReward, Margin, Reward, expected_reward
from holdfast.decisions.rules import LogOddsIntervals, ThresholdRule
from holdfast.engines.dense import DenseEngine, DenseOracle
from holdfast.engines.groups import independent_groups
from holdfast.engines.protocol import Cost, Question
from holdfast.search.branch_and_bound import branch_and_bound
from holdfast.search.exhaustive import exhaustive
from holdfast.search.greedy import greedy
from holdfast.search.lattice import Node
from holdfast.search.lenses import AchievableLens, Lens, PotentialLens, RewardLens, SameDecisionLens
from holdfast.search.progress import Found, Report, Task

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


class SearchOptions(TypedDict, total=False):
    """What every search may be told, by keyword."""

    method: Method
    """How to search; branch and bound unless told otherwise."""
    limits: Limits
    """Bounds on memory and time; when time is over, the best so far comes with its gap."""
    report: Report
    """Called now and then with incumbent, bound and number of evaluations."""


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
    seconds: float
    """How long it took."""
    optimal: bool
    """Whether it is proven that nothing better exists."""

    @property
    def gap(self) -> float:
        """How much better another choice could be at most."""
        return max(0.0, self.upper_bound - self.value)


@dataclass(frozen=True, slots=True)
class Trimming:
    """A classifier on fewer features that decides as the full one does as often as possible."""

    classifier: Classifier
    """The trimmed classifier: kept features and a threshold inside the interval."""
    selection: Selection
    """The features kept, and the agreement they achieve."""
    threshold_interval: tuple[float, float] | None
    """Thresholds above the first, up to the second, achieve the agreement; None when the rule was kept."""


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
    problem, oracle = _prepared(classifier, evidence, options)
    lens = _lens(problem, objective or SameDecision())
    return _searched(oracle, lens, _task_terms(problem, costs, budget), options, started)


def trim(
    classifier: Classifier,
    costs: Costs | None,
    budget: float,
    evidence: Evidence | None = None,
    **options: Unpack[SearchOptions],
) -> Trimming:
    """The features and the threshold within the budget that agree best with the full classifier.

    [choi2018, sections 3 to 5]. For rules without a threshold the rule is kept.

    >>> from holdfast.model.zoo import disease_tests
    >>> tests = Classifier(disease_tests(), "Disease", None, ThresholdRule("+", 0.5))
    >>> trimmed = trim(tests, None, 2)
    >>> trimmed.selection.kept, round(trimmed.selection.value, 3)
    (('T4', 'T5'), 0.991)
    """
    started = time.perf_counter()
    problem, oracle = _prepared(classifier, evidence, options)
    terms = _task_terms(problem, costs, budget)
    return _trimmed(oracle, terms, options, started)


@dataclass(frozen=True, slots=True)
class Frontier:
    """What each budget buys: points of growing cost and agreement."""

    points: tuple[Trimming, ...]
    """The best trimming for every budget: each is the best until the cost of the next."""


def frontier(
    classifier: Classifier,
    costs: Costs | None = None,
    evidence: Evidence | None = None,
    **options: Unpack[SearchOptions],
) -> Frontier:
    """The best trimming for every budget, in one run over one table.

    The budget is lowered step by step to just below the cost of the best trimming found, so every point
    where a larger budget buys more agreement is found, whatever the costs.
    """
    problem, oracle = _prepared(classifier, evidence, options)
    terms = _task_terms(problem, costs, math.inf)
    points: list[Trimming] = []
    budget = math.fsum(terms.costs.values())
    while budget >= 0:
        found = _trimmed(oracle, terms.with_budget(budget), options, time.perf_counter())
        if points and found.selection.value >= points[-1].selection.value - 1e-13:
            points.pop()
        points.append(found)
        budget = found.selection.cost * (1 - 1e-9) - 1e-9
    return Frontier(tuple(reversed(points)))


@dataclass(frozen=True, slots=True)
class _Terms:
    """Costs by position and the budget."""

    costs: dict[int, float]
    budget: float

    def with_budget(self, budget: float) -> _Terms:
        return _Terms(self.costs, budget)


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


def _prepared(
    classifier: Classifier, evidence: Evidence | None, options: SearchOptions
) -> tuple[Problem, DenseOracle]:
    """The table that all subsets come from; `LimitError` when there are too many features for one.

    The limit on time is for the search, which has an answer at any moment; without the table there is none.
    """
    limits = Limits(max_bytes=options.get("limits", DEFAULT_LIMITS).max_bytes)
    problem = make_problem(classifier, evidence, limits=limits)
    price = DenseEngine().cost(problem, Question(frozenset()))
    assert isinstance(price, Cost)
    if price.n_bytes > limits.max_bytes:
        raise LimitError(
            f"searching {len(problem.free)} features needs a table of about {readable_bytes(price.n_bytes)}, "
            f"over the limit of {readable_bytes(limits.max_bytes)}; name fewer candidate features, or raise "
            "Limits(max_bytes=...)"
        )
    return problem, DenseEngine().prepare(problem, limits)


def _lens(problem: Problem, objective: Objective) -> Lens:
    n_classes = len(problem.prior)
    if isinstance(objective, SameDecision | SameDecisionGain):
        return SameDecisionLens(n_classes, problem.decider)
    target = problem.network.variables[problem.target]
    unknown = isinstance(objective, CustomReward) or (isinstance(objective, Margin) and n_classes > 2)
    return RewardLens(n_classes, objective, target, convex=not unknown)


def _trimmed(oracle: DenseOracle, terms: _Terms, options: SearchOptions, started: float) -> Trimming:
    problem = oracle.problem
    rule = problem.classifier.rule
    network, target = problem.network, problem.classifier.target
    if not isinstance(rule, ThresholdRule):
        lens: Lens = SameDecisionLens(len(problem.prior), problem.decider)
        selection = _searched(oracle, lens, terms, options, started)
        return Trimming(Classifier(network, target, selection.kept, rule), selection, None)
    positive = network.variables[problem.target].index(rule.positive)
    selection = _searched(oracle, _trimming_lens(problem, positive), terms, options, started)
    kept = frozenset(network.index(name) for name in selection.kept)
    best = maximum_achievable_agreement(oracle.profile(kept), positive)
    threshold = min(max(best.threshold, 1e-300), 1.0 - 2**-53)
    trimmed = Classifier(network, target, selection.kept, ThresholdRule(rule.positive, threshold))
    return Trimming(trimmed, selection, (best.threshold_low, best.threshold_high))


def _trimming_lens(problem: Problem, positive: int) -> Lens:
    """Achievable agreement; for naive Bayes it equals the potential one, which is cheaper."""
    alone = all(len(group) == 1 for group in independent_groups(problem))
    if alone and isinstance(problem.decider, LogOddsIntervals):
        return PotentialLens(len(problem.prior))
    return AchievableLens(len(problem.prior), positive)


def _searched(
    oracle: DenseOracle, lens: Lens, terms: _Terms, options: SearchOptions, started: float
) -> Selection:
    problem = oracle.problem
    variables = problem.network.variables
    limits = options.get("limits", DEFAULT_LIMITS)
    task = Task(
        root=Node(problem.free, lens.columns(oracle.masses)),
        sizes={f: len(variables[f]) for f in problem.free},
        costs=terms.costs,
        budget=terms.budget,
        lens=lens,
        names={f: variables[f].name for f in problem.free},
        deadline=limits.deadline(),
        report=options.get("report"),
    )
    found = _SEARCH_BY_METHOD[options.get("method", Method.BRANCH_AND_BOUND)](task)
    return Selection(
        kept=tuple(variables[f].name for f in problem.free if f in found.kept),
        value=found.value - _reward_now(problem, lens),
        upper_bound=found.upper_bound - _reward_now(problem, lens),
        cost=task.cost(found.kept),
        evaluations=found.evaluations,
        seconds=time.perf_counter() - started,
        optimal=found.optimal,
    )


def _reward_now(problem: Problem, lens: Lens) -> float:
    """What a reward is without observing: values of information are differences from it."""
    if not isinstance(lens, RewardLens):
        return 0.0
    return expected_reward(problem.prior[None], lens.reward, lens.target)
