"""From a classifier to the ground that a search walks on: a table, or a grid for naive Bayes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from unswayed.api.networks import Evidence
from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits, readable_bytes
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.rewards import CustomReward, Margin, Reward
from unswayed.decisions.rules import LogOddsIntervals, ThresholdRule
from unswayed.engines.dense import DenseEngine, DenseOracle
from unswayed.engines.groups import independent_groups
from unswayed.engines.naive_bayes import Agreement, ManyFeatures, many_features, search_grid
from unswayed.engines.protocol import Cost, Question
from unswayed.search.dropping import DroppingTask, bytes_needed, load_kernels, search_by_dropping
from unswayed.search.lattice import Node
from unswayed.search.lenses import AchievableLens, Lens, PotentialLens, RewardLens, SameDecisionLens
from unswayed.search.progress import Found, Report

LARGEST_TABLE = 2.0**24
"""Instantiations of all features beyond which a table is too slow to search."""
QUICK_TABLE = 2.0**18
"""Instantiations up to which a table is searched before a grid is."""
PATIENCE = 60.0
"""Seconds that a search on a grid takes at most when no limit was given."""


@dataclass(frozen=True, slots=True, eq=False)
class Searchable:
    """A problem ready to be searched."""

    problem: Problem
    """The classifier at its evidence."""
    engine: str
    """Name of the engine behind the values."""
    table: DenseOracle | None = field(repr=False)
    """All features in one table, where it is searched."""
    many: ManyFeatures | None = field(repr=False)
    """The features on a grid, where no table is."""
    limits: Limits = field(repr=False)
    """On memory."""

    @property
    def features(self) -> tuple[int, ...]:
        """Positions of the features that are searched."""
        return self.problem.free

    @property
    def sizes(self) -> dict[int, int]:
        """Numbers of states by position."""
        return {f: len(self.problem.network.variables[f]) for f in self.features}


def prepared(classifier: Classifier, evidence: Evidence | None, limits: Limits) -> Searchable:
    """The problem with the ground that its searches walk on; `LimitError` when there is none.

    The limit on time is for the search, which has an answer at any moment; before this step there is none.
    """
    limits = Limits(max_bytes=limits.max_bytes)
    problem = make_problem(classifier, evidence, limits=limits)
    price = _table_price(problem)
    fits = _fits(problem, price, limits)
    if is_naive(problem) and not (fits and _cells(problem) <= QUICK_TABLE):
        many = many_features(problem, limits)
        return Searchable(problem, "bounds" if many.exact is None else "log_odds", None, many, limits)
    if fits:
        return Searchable(problem, "dense", DenseEngine().prepare(problem, limits), None, limits)
    raise LimitError(
        f"searching {len(problem.free)} features that depend on each other needs a table of about "
        f"{readable_bytes(price.n_bytes)}, over what is allowed; name fewer candidate features, or pass "
        "allow_estimates=True to choose by samples"
    )


def with_table(ready: Searchable, lens: Lens) -> Searchable:
    """The same problem in a table, which is what all searches but one need; `LimitError` when too large."""
    if ready.table is not None:
        return ready
    n_features = len(ready.problem.free)
    if not _fits(ready.problem, _table_price(ready.problem), ready.limits):
        if isinstance(lens, RewardLens):
            raise LimitError(
                f"selecting by {lens.reward.name} among {n_features} features needs a table over "
                "all of them, too large here; name fewer candidate features, or select for decisions"
            )
        raise LimitError(
            f"looking at all subsets of {n_features} features needs a table over all of them, too large "
            "here; search by branch and bound, or name fewer candidate features"
        )
    return replace(ready, engine="dense", table=DenseEngine().prepare(ready.problem, ready.limits), many=None)


def patient(ready: Searchable, limits: Limits) -> Limits:
    """The limits, with one on time for searches on a grid: these may take too long to wait for."""
    if ready.many is None or limits.max_seconds is not None:
        return limits
    return replace(limits, max_seconds=PATIENCE)


def search_on_grid(
    ready: Searchable,
    lens: Lens,
    *,
    costs: Mapping[int, float],
    budget: float,
    limits: Limits,
    report: Report | None,
    prove: bool,
) -> Found:
    """The best features among many, and how much better others can be; without `prove`, some good ones."""
    many = ready.many
    assert many is not None
    agreement = Agreement(many, own_rule=isinstance(lens, SameDecisionLens))
    variables = ready.problem.network.variables
    most_bytes = 0.5 * ready.limits.max_bytes
    steps = search_grid(many, lambda steps: bytes_needed(costs.values(), budget, steps.width) <= most_bytes)
    load_kernels(steps.grid)
    agreement.between(frozenset())
    task = DroppingTask(
        grid=steps.grid,
        disagreement=steps.disagreement,
        width=steps.width,
        features=many.features,
        kinds=many.kinds,
        costs=costs,
        budget=budget,
        names={f: variables[f].name for f in many.features},
        own_rule=agreement.own_rule,
        between=agreement.between,
        closer=agreement.closer,
        deadline=patient(ready, limits).deadline(),
        report=report,
    )
    return search_by_dropping(task, prove=prove)


def is_searchable(problem: Problem, limits: Limits) -> bool:
    """Whether `prepared` finds ground for a search."""
    return _fits(problem, _table_price(problem), limits) or is_naive(problem)


def _table_price(problem: Problem) -> Cost:
    price = DenseEngine().cost(problem, Question(frozenset()))
    assert isinstance(price, Cost)
    return price


def _fits(problem: Problem, price: Cost, limits: Limits) -> bool:
    return price.n_bytes <= limits.max_bytes and _cells(problem) <= LARGEST_TABLE


def _cells(problem: Problem) -> float:
    return math.prod(map(float, problem.sizes(problem.free)))


def is_naive(problem: Problem) -> bool:
    """Whether the features are independent given a target of two states, and one cut decides."""
    decider = problem.decider
    if not isinstance(decider, LogOddsIntervals) or len(decider.regions) != 2:
        return False
    return all(len(group) == 1 for group in independent_groups(problem))


def same_decision_lens(ready: Searchable) -> Lens:
    """Subsets valued by how often their own decision is the full one."""
    return SameDecisionLens(len(ready.problem.prior), ready.problem.decider)


def trimming_lens(ready: Searchable) -> Lens:
    """Subsets valued by the agreement of their best threshold; for naive Bayes that is the potential one."""
    n_classes = len(ready.problem.prior)
    if is_naive(ready.problem):
        return PotentialLens(n_classes)
    rule = ready.problem.classifier.rule
    assert isinstance(rule, ThresholdRule)
    positive = ready.problem.network.variables[ready.problem.target].index(rule.positive)
    return AchievableLens(n_classes, positive)


def reward_lens(ready: Searchable, reward: Reward) -> Lens:
    """Subsets valued by the expected reward after observing them."""
    problem = ready.problem
    n_classes = len(problem.prior)
    unknown = isinstance(reward, CustomReward) or (isinstance(reward, Margin) and n_classes > 2)
    target = problem.network.variables[problem.target]
    return RewardLens(n_classes, reward, target, convex=not unknown)


def root_of(ready: Searchable, lens: Lens) -> Node:
    """All features that are searched, with the masses the lens needs."""
    return Node(ready.features, lens.columns(masses_of(ready)))


def masses_of(ready: Searchable) -> Floats:
    """Class and decision masses of every instantiation."""
    assert ready.table is not None
    return ready.table.masses
