"""Where a search takes place: in a table over all features, on a grid for naive Bayes, or on samples.

`plan_search` is the one place that picks. A table holds every objective and serves every method; the grid
of log-odds serves naive Bayes classifiers of any size. Beyond both, features are chosen on samples: sums over
the network then certify what the choice achieves, or, where they cannot and estimates are allowed, fresh
samples estimate it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from unswayed.core.anytime import UNITS_PER_SECOND, bytes_allowed, check_bytes, units_left
from unswayed.core.errors import LimitError
from unswayed.core.limits import readable_bytes
from unswayed.decisions.problem import Problem
from unswayed.decisions.rewards import CustomReward, Margin, Reward
from unswayed.decisions.rules import LogOddsIntervals, ThresholdRule
from unswayed.engines.dense import DenseEngine, DenseOracle
from unswayed.engines.groups import independent_groups
from unswayed.engines.naive_bayes import ManyFeatures, many_features
from unswayed.engines.protocol import Cost, Question
from unswayed.engines.sampling import SamplingEngine
from unswayed.engines.sums.engine import SumsEngine, SumsOracle
from unswayed.engines.sums.factors import find_pieces, refuse_pieces
from unswayed.search.lattice import Node, keep_only
from unswayed.search.objectives import (
    AchievableObjective,
    PotentialObjective,
    RewardObjective,
    SameDecisionObjective,
    SearchObjective,
)
from unswayed.search.sampled_choice import N_SAMPLES, SAMPLES_UNITS

LARGEST_TABLE = 2.0**24
"""Instantiations of all features beyond which a table is too slow to search."""
QUICK_TABLE = 2.0**18
"""Instantiations up to which a table is searched before a grid is."""
GRID_UNITS = 6e7
"""What a search on a grid takes at most when no limit was given."""
SHARED_SHARE = 0.25
"""Share of what choosing on samples may take for what all choices have in common."""


@dataclass(frozen=True, slots=True, eq=False)
class SearchPlan:
    """A problem ready to be searched: in `table`, on `grid`, or, with neither, on samples.

    With `sums` the choice on samples is certified.
    """

    problem: Problem
    """The classifier at its evidence."""
    engine: str
    """Name of the engine behind the values."""
    table: DenseOracle | None = field(default=None, repr=False)
    """All features in one table."""
    grid: ManyFeatures | None = field(default=None, repr=False)
    """The features on a grid of log-odds."""
    sums: SumsOracle | None = field(default=None, repr=False)
    """Bounds on the agreement of chosen features."""

    @property
    def on_samples(self) -> bool:
        """Whether features are chosen on samples."""
        return self.table is None and self.grid is None

    @property
    def sizes(self) -> dict[int, int]:
        """Numbers of states by position."""
        return {f: len(self.problem.network.variables[f]) for f in self.problem.free}

    @property
    def units(self) -> float:
        """What all searches for one answer take at most when no limit was given."""
        if self.table is not None:
            return math.inf
        return SAMPLES_UNITS if self.grid is None else GRID_UNITS

    def masses(self, kept: frozenset[int] | None = None) -> Node:
        """Class and decision masses of every instantiation of the kept features; of all by default."""
        assert self.table is not None
        everything = Node(self.problem.free, self.table.masses)
        return everything if kept is None else keep_only(everything, kept, self.sizes)


def plan_search(problem: Problem, *, allow_estimates: bool = False) -> SearchPlan:
    """The ground for the problem's searches; `LimitError` when there is none."""
    price = _price_table(problem)
    fits = _fits(problem, price)
    if is_naive(problem) and not (fits and _count_cells(problem) <= QUICK_TABLE):
        grid = many_features(problem)
        engine = "sums" if grid.exact is None else "weights"
        return SearchPlan(problem, engine, grid=grid)
    if fits:
        return SearchPlan(problem, "dense", table=DenseEngine().prepare(problem))
    try:
        sums = prepare_sums(problem)
    except LimitError as error:
        if allow_estimates:
            return plan_samples(problem)
        raise LimitError(
            f"searching {len(problem.free)} features that depend on each other needs a table of about "
            f"{readable_bytes(price.n_bytes)}, over what is allowed, and no sums over the network bound a "
            f"choice ({error}); name fewer candidate features, or let samples choose by allowing "
            "estimates (allow_estimates=True)"
        ) from None
    shared = SHARED_SHARE * min(units_left(), SAMPLES_UNITS) / UNITS_PER_SECOND
    sums = replace(sums, shared_seconds=min(sums.shared_seconds, shared))
    return SearchPlan(problem, SumsEngine().name, sums=sums)


def plan_samples(problem: Problem) -> SearchPlan:
    """The ground where nothing but samples is left; `LimitError` where memory holds too few of them."""
    drawn = SamplingEngine(n_samples=2 * N_SAMPLES).cost(problem, Question(frozenset()))
    assert isinstance(drawn, Cost)
    check_bytes(drawn.n_bytes, "choosing features on samples")
    return SearchPlan(problem, SamplingEngine().name)


def prepare_sums(problem: Problem) -> SumsOracle:
    """The oracle that bounds agreements by sums over the network; `LimitError` says why there is none."""
    refusal = refuse_pieces(problem, find_pieces(problem))
    if refusal is not None:
        raise LimitError(refusal.reason)
    return SumsEngine().prepare(problem)


def plan_table(plan: SearchPlan, objective: SearchObjective) -> SearchPlan:
    """The same problem in a table; `LimitError` when it is too large."""
    if plan.table is not None:
        return plan
    n_features = len(plan.problem.free)
    if not _fits(plan.problem, _price_table(plan.problem)):
        if isinstance(objective, RewardObjective):
            raise LimitError(
                f"selecting by {objective.reward.name} among {n_features} features needs a table over "
                "all of them, too large here; name fewer candidate features, or select for decisions"
            )
        raise LimitError(
            f"looking at all subsets of {n_features} features, or at groups of them, needs a table over all "
            "of them, too large here; search by branch and bound with one cost for each feature, or name "
            "fewer candidate features"
        )
    table = DenseEngine().prepare(plan.problem)
    return replace(plan, engine="dense", table=table, grid=None)


def is_naive(problem: Problem) -> bool:
    """Whether the features are independent given a target of two states, and one cut decides."""
    decider = problem.decider
    if not isinstance(decider, LogOddsIntervals) or len(decider.regions) != 2:
        return False
    return all(len(group) == 1 for group in independent_groups(problem))


def same_decision_objective(problem: Problem) -> SearchObjective:
    """Subsets valued by how often their own decision is the full one."""
    return SameDecisionObjective(len(problem.prior), problem.decider)


def trimming_objective(problem: Problem) -> SearchObjective:
    """Subsets valued by the agreement of their best threshold; for naive Bayes that is the potential one."""
    n_classes = len(problem.prior)
    if is_naive(problem):
        return PotentialObjective(n_classes)
    rule = problem.classifier.rule
    assert isinstance(rule, ThresholdRule)
    return AchievableObjective(n_classes, problem.network.variables[problem.target].index(rule.positive))


def reward_objective(problem: Problem, reward: Reward) -> SearchObjective:
    """Subsets valued by the expected reward after observing them."""
    n_classes = len(problem.prior)
    unknown = isinstance(reward, CustomReward) or (isinstance(reward, Margin) and n_classes > 2)
    target = problem.network.variables[problem.target]
    return RewardObjective(n_classes, reward, target, convex=not unknown)


def _price_table(problem: Problem) -> Cost:
    price = DenseEngine().cost(problem, Question(frozenset()))
    assert isinstance(price, Cost)
    return price


def _fits(problem: Problem, price: Cost) -> bool:
    return price.n_bytes <= bytes_allowed() and _count_cells(problem) <= LARGEST_TABLE


def _count_cells(problem: Problem) -> float:
    return math.prod(map(float, problem.sizes(problem.free)))
