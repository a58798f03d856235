"""The dense engine: the joint table over the target and all features, summed down to any subset.

For any network, any number of classes and states, any rule. The table has one number for each
instantiation of the features and the target, so about 24 two-state features are the limit; up to there it
is usually the fastest and always exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from holdfast.core.arrays import Floats
from holdfast.core.limits import Limits
from holdfast.core.measurement import Certainty
from holdfast.decisions.problem import Problem
from holdfast.decisions.profile import DecisionProfile, profile_from_masses
from holdfast.engines.protocol import Cost, Question, Refusal
from holdfast.inference.posteriors import joint_table

SECONDS_PER_CELL = 1.5e-8
"""Measured: making the table, deciding each row, and one marginalisation."""
MOST_CACHED_BYTES = 2**28


@dataclass(frozen=True, slots=True)
class DenseEngine:
    """Fills profiles from one table over all features."""

    name: str = "dense"
    certainty: Certainty = Certainty.EXACT

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """Proportional to the number of instantiations of all features."""
        cells = math.prod(map(float, problem.sizes(problem.free)))
        columns = len(problem.prior) + len(problem.decider.actions)
        return Cost(2e-3 + SECONDS_PER_CELL * cells * columns, 24.0 * cells * columns)

    def prepare(self, problem: Problem, limits: Limits) -> DenseOracle:
        """Make the table and decide each of its rows."""
        classes = len(problem.prior)
        joint = joint_table(problem.network, [*problem.free, problem.target], problem.evidence, limits=limits)
        class_mass = joint.reshape(-1, classes)
        actions = len(problem.decider.actions)
        masses = np.zeros((len(class_mass), classes + actions))
        masses[:, :classes] = class_mass
        rows = np.flatnonzero(class_mass.any(axis=1))
        decisions = problem.decider.decide(class_mass[rows])
        masses[rows, classes + decisions] = class_mass[rows].sum(axis=1)
        return DenseOracle(problem, masses)


@dataclass(frozen=True, slots=True)
class DenseOracle:
    """The table of class and decision masses, with the marginals made so far."""

    problem: Problem
    masses: Floats = field(repr=False)  # (instantiations of all features, classes + actions)
    _made: dict[frozenset[int], Floats] = field(default_factory=dict, repr=False)

    def profile(self, kept: frozenset[int]) -> DecisionProfile:
        """Sum the smallest table that holds the kept features down to them."""
        masses = self._marginal(kept)
        classes = len(self.problem.prior)
        return profile_from_masses(masses[:, :classes], masses[:, classes:])

    def _marginal(self, kept: frozenset[int]) -> Floats:
        if kept in self._made:
            return self._made[kept]
        scope, table = frozenset(self.problem.free), self.masses
        for other, made in self._made.items():
            if kept <= other and len(made) < len(table):
                scope, table = other, made
        summed = self._sum(table, scope, kept)
        if sum(made.nbytes for made in self._made.values()) + summed.nbytes <= MOST_CACHED_BYTES:
            self._made[kept] = summed
        return summed

    def _sum(self, table: Floats, scope: frozenset[int], kept: frozenset[int]) -> Floats:
        columns = table.shape[1]
        for size_before, size, size_after in self._summed_axes(scope, kept):
            table = table.reshape(size_before, size, size_after * columns).sum(axis=1)
        return table.reshape(-1, columns)

    def _summed_axes(self, scope: frozenset[int], kept: frozenset[int]) -> Iterable[tuple[int, int, int]]:
        """Runs of neighbouring axes to sum, as (before, run, after) sizes, the first run first.

        Three axes at a time keep numpy's loops long, however many variables there are.
        """
        order = [v for v in self.problem.free if v in scope]
        sizes = self.problem.sizes(order)
        before, position = 1, 0
        while position < len(order):
            end = position
            while end < len(order) and order[end] not in kept:
                end += 1
            if end > position:
                yield before, math.prod(sizes[position:end]), math.prod(sizes[end:])
                position = end
            else:
                before *= sizes[position]
                position += 1
