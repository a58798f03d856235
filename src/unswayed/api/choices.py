"""What searches for features are told, and what they find: methods, options, selections, trimmings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypedDict

from unswayed.api import shown
from unswayed.api.observations import SameDecisionGain
from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits
from unswayed.core.names import unknown_name
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem
from unswayed.decisions.rewards import Reward
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.search.progress import Report

if TYPE_CHECKING:
    from unswayed.api.circuits import CircuitVariant

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
    INFORMATION_GAIN = "information-gain"
    """The features that say most about the target for their cost, each on its own; not proven."""
    MAXDR = "maxdr"
    """Features added one by one, each subset valued from scratch [chen2015]; as FS-SDD, for naive Bayes."""
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
    """Threads that may search at once where it takes long; 1 unless told otherwise, the answer the same."""
    allow_estimates: bool
    """Whether to choose and measure by samples where no table holds the features."""


@dataclass(frozen=True, slots=True)
class SameDecision:
    """Decide as all features would, by the same rule: expected same-decision probability."""

    name: str = "esdp"


Objective = SameDecision | SameDecisionGain | Reward
"""What features are selected for."""


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

    plot = shown.plot
    _repr_html_ = shown.to_html


@dataclass(frozen=True, slots=True)
class Trimming:
    """A classifier on fewer features that decides as the full one does as often as possible."""

    classifier: Classifier | TableClassifier
    """The trimmed classifier: kept features and a threshold inside the interval, the rule, or a table."""
    selection: Selection
    """The features kept, and the agreement they achieve."""
    threshold_interval: tuple[float, float] | None
    """Thresholds above the first, up to the second, achieve the agreement; None when the rule was kept."""

    plot = shown.plot
    _repr_html_ = shown.to_html


@dataclass(frozen=True, slots=True)
class Frontier:
    """What each budget buys: points of growing cost and agreement."""

    points: tuple[Trimming, ...]
    """The best trimming for every budget: each is the best until the cost of the next."""

    plot = shown.plot
    _repr_html_ = shown.to_html


@dataclass(frozen=True, slots=True)
class Terms:
    """Costs by position and the budget; and what searches with other budgets share."""

    costs: dict[int, float]
    """What each free feature costs."""
    budget: float
    """What the kept features may cost together."""
    shared: dict[str, Any] = field(default_factory=dict, repr=False)
    """Tables and roots that searches with other budgets use again."""

    def with_budget(self, budget: float) -> Terms:
        """The same with another budget."""
        return replace(self, budget=budget)


def check_jobs(options: SearchOptions) -> None:
    """`QueryError` unless the number of threads is one."""
    jobs = options.get("jobs", 1)
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise QueryError(f"jobs must be a whole number, at least 1, not {jobs!r}")


def task_terms(problem: Problem, costs: Costs | None, budget: float) -> Terms:
    """Costs of the free features and the budget, checked."""
    features = problem.classifier.features
    for name, cost in (costs or {}).items():
        if name not in features:
            raise QueryError(f"a cost is given for {name!r}: {unknown_name('feature', name, features)}")
        if not (math.isfinite(cost) and cost > 0):
            raise QueryError(f"the cost of {name!r} must be a positive number, not {cost!r}")
    if math.isnan(budget) or budget < 0:
        raise QueryError(f"the budget must be at least 0, not {budget!r}")
    names = {f: problem.network.variables[f].name for f in problem.free}
    return Terms({f: float((costs or {}).get(name, 1.0)) for f, name in names.items()}, budget)
