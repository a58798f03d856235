"""From a classifier to the ground that a search walks on: a table where it fits, else an oracle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from holdfast.api.networks import Evidence
from holdfast.core.arrays import Floats
from holdfast.core.errors import LimitError
from holdfast.core.limits import Limits, readable_bytes
from holdfast.decisions.classifier import Classifier
from holdfast.decisions.problem import Problem, make_problem
from holdfast.decisions.rewards import CustomReward, Margin, NegativeEntropy, Reward, expected_reward
from holdfast.decisions.rules import LogOddsIntervals, ThresholdRule
from holdfast.engines.core_table import CoreTable, core_table
from holdfast.engines.dense import DenseEngine, DenseOracle
from holdfast.engines.groups import Group, group_tables, independent_groups
from holdfast.engines.protocol import Cost, Question
from holdfast.search.lattice import Node
from holdfast.search.lenses import (
    AchievableLens,
    CertifiedLens,
    Lens,
    PotentialLens,
    RewardLens,
    SameDecisionLens,
)

LARGEST_TABLE = 2.0**24
"""Instantiations of all features beyond which a table is too slow to search."""
CORE_TABLE = 2.0**18
"""Instantiations of the core features where a table of all is out of reach."""


@dataclass(frozen=True, slots=True, eq=False)
class Searchable:
    """A problem ready to be searched: over all its features, or over a core of them."""

    problem: Problem
    """The classifier at its evidence."""
    engine: str
    """Name of the engine behind the values."""
    table: DenseOracle | None = field(repr=False)
    """All features in one table, where it fits."""
    core: CoreTable | None = field(repr=False)
    """The most informative features, where it does not."""

    @property
    def features(self) -> tuple[int, ...]:
        """Positions of the features that are searched."""
        return self.problem.free if self.core is None else self.core.features

    @property
    def sizes(self) -> dict[int, int]:
        """Numbers of states by position."""
        return {f: len(self.problem.network.variables[f]) for f in self.features}


def prepared(
    classifier: Classifier, evidence: Evidence | None, costs: Mapping[str, float] | None, limits: Limits
) -> Searchable:
    """The problem with the table that its searches will use; `LimitError` when there is none.

    The limit on time is for the search, which has an answer at any moment; before this step there is none.
    """
    limits = Limits(max_bytes=limits.max_bytes)
    problem = make_problem(classifier, evidence, limits=limits)
    price = _table_price(problem)
    if _fits(problem, price, limits):
        return Searchable(problem, "dense", DenseEngine().prepare(problem, limits), None)
    if not is_naive(problem):
        raise LimitError(
            f"searching {len(problem.free)} features that depend on each other needs a table of about "
            f"{readable_bytes(price.n_bytes)}, over what is allowed; name fewer candidate features, or pass "
            "allow_estimates=True to choose by samples"
        )
    groups = group_tables(problem, limits)
    core = core_table(problem, groups, _most_informative(problem, groups, costs or {}))
    return Searchable(problem, "log_odds" if core.is_exact else "bounds", None, core)


def is_searchable(problem: Problem, limits: Limits) -> bool:
    """Whether `prepared` finds ground for a search."""
    return _fits(problem, _table_price(problem), limits) or is_naive(problem)


def _table_price(problem: Problem) -> Cost:
    price = DenseEngine().cost(problem, Question(frozenset()))
    assert isinstance(price, Cost)
    return price


def _fits(problem: Problem, price: Cost, limits: Limits) -> bool:
    cells = math.prod(map(float, problem.sizes(problem.free)))
    return price.n_bytes <= limits.max_bytes and cells <= LARGEST_TABLE


def is_naive(problem: Problem) -> bool:
    """Whether the features are independent given a target of two states, and one cut decides."""
    decider = problem.decider
    if not isinstance(decider, LogOddsIntervals) or len(decider.regions) != 2:
        return False
    return all(len(group) == 1 for group in independent_groups(problem))


def _most_informative(problem: Problem, groups: list[Group], costs: Mapping[str, float]) -> tuple[int, ...]:
    """The features that say most about the target for what they cost, as many as a table holds."""
    target, variables = problem.network.variables[problem.target], problem.network.variables
    worth = {}
    for group in groups:
        feature = group.features[0]
        gain = expected_reward(group.likelihood * problem.prior, NegativeEntropy(), target)
        now = expected_reward(problem.prior[np.newaxis], NegativeEntropy(), target)
        worth[feature] = (gain - now) / costs.get(variables[feature].name, 1.0)
    core: list[int] = []
    cells = 1.0
    for feature in sorted(worth, key=lambda f: (-worth[f], variables[f].name)):
        cells *= len(variables[feature])
        if cells > CORE_TABLE:
            break
        core.append(feature)
    return tuple(f for f in problem.free if f in core)


def same_decision_lens(ready: Searchable) -> Lens:
    """Subsets valued by how often their own decision is the full one."""
    n_classes, decider = len(ready.problem.prior), ready.problem.decider
    return SameDecisionLens(n_classes, decider) if ready.core is None else CertifiedLens(n_classes, decider)


def trimming_lens(ready: Searchable) -> Lens:
    """Subsets valued by the agreement of their best threshold; for naive Bayes that is the potential one."""
    n_classes = len(ready.problem.prior)
    if ready.core is not None:
        return CertifiedLens(n_classes, None)
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
    """Class and decision masses of every instantiation; of a core, the least and the most decided."""
    if ready.table is not None:
        return ready.table.masses
    assert ready.core is not None
    return np.concatenate([ready.core.class_mass, ready.core.least, ready.core.most])
