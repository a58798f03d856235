"""The dense engine: the joint table over the target and all features, summed down to any subset.

For any network, any number of classes and states, any rule. The table has one number for each
instantiation of the features and the target, so about 24 two-state features are the limit; up to there it
is exact, and after the table is made, any subset costs one summation.

**After an observation** what was prepared before it still serves. An observed feature does not change what
the full classifier decides on any instantiation, so a dense table is cut at the observed state and scaled.
Groups stay independent given the class: the observed feature's group is cut and scaled for each class, the
others stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from unswayed.core.anytime import bytes_allowed
from unswayed.core.arrays import Floats, Ints, read_only
from unswayed.core.measurement import Certainty
from unswayed.core.memo import Topic
from unswayed.decisions.oracle import ORACLES
from unswayed.decisions.problem import Problem
from unswayed.decisions.profile import DecisionProfile, profile_from_masses
from unswayed.decisions.rounding import find_doubtful
from unswayed.decisions.rules import Decider, MostProbable, ThresholdRule
from unswayed.engines.groups import GROUPS, Group
from unswayed.engines.protocol import Cost, Needs, Question, Refusal, refuse_model
from unswayed.engines.singles import profile_singles, sum_to_each
from unswayed.inference.posteriors import joint_table
from unswayed.inference.problem import contraction
from unswayed.inference.relevance import tables_for

SECONDS_PER_CELL = 8e-9
"""Measured for one column of the table: made, decided, and summed once."""
SECONDS_PER_OPERATION = 5e-9
"""Measured for one multiplication of the elimination of hidden variables."""
SINGLE_SUMS = 0.3
"""What the sums down to every single feature take beside that."""
BYTES_PER_CELL = 20.0
MOST_KEPT = 32
"""Marginals that are kept to make others from; to look at more would take longer than it saves."""
REMEMBERED_CELLS = 2**14
"""Instantiations of a table that a network remembers; with their marginals four tables take some ten MB."""
DECIDED: Topic[DenseOracle] = Topic("dense tables", most=4)
JOINT: Topic[Floats] = Topic("joint tables", most=4)
LARGEST_KEPT = 2**23
"""Bytes of a marginal that is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseEngine:
    """Fills profiles from one table over all features."""

    name: str = "dense"
    certainty: Certainty = Certainty.EXACT
    least_seconds: float = 0.0001

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """Proportional to the number of instantiations of all features."""
        if refusal := refuse_model(problem):
            return refusal
        cells = math.prod(map(float, problem.sizes(problem.free)))
        columns, n_free = len(problem.prior) + len(problem.decider.actions), len(problem.free)
        sums = 1.0 + SINGLE_SUMS if question.needs is Needs.SINGLES else 1.0
        seconds = 1e-4 + 1e-5 * n_free + SECONDS_PER_CELL * cells * columns * sums
        n_bytes = BYTES_PER_CELL * cells * columns
        if n_bytes > bytes_allowed():
            return Cost(seconds, n_bytes)
        operations, peak_bytes = _price_elimination(problem)
        return Cost(seconds + SECONDS_PER_OPERATION * operations, max(n_bytes, peak_bytes))

    def prepare(self, problem: Problem) -> DenseOracle:
        """The table, made or, where it is small and was asked for before, remembered with the network."""
        rule = problem.classifier.rule
        if not _is_small(problem) or not isinstance(rule, ThresholdRule | MostProbable):
            return _decide_all(problem)
        make, key = partial(_decide_all, problem), (*_case(problem), rule)
        return problem.network.memo.get(DECIDED, key, make)


def _price_elimination(problem: Problem) -> tuple[float, float]:
    """Operations and bytes to sum out the hidden variables; nothing where there are none.

    The plan is kept with the network, so that the table is made by the same one.
    """
    free, evidence = [problem.target, *problem.free], problem.evidence
    if len(problem.network) <= len(free) + len(evidence):
        return 0.0, 0.0
    tables = tables_for(problem.network, free, evidence, evidence)
    if len(tables) <= len(free) + len(evidence):
        return 0.0, 0.0
    plan = contraction(problem.network, tables, evidence, free).plan
    return plan.operations, plan.peak_bytes


def _is_small(problem: Problem) -> bool:
    """Whether the network remembers tables of this size."""
    return math.prod(problem.sizes(problem.free)) <= REMEMBERED_CELLS


def _case(problem: Problem) -> tuple[object, ...]:
    """What the joint table depends on beside the network."""
    return problem.target, problem.free, tuple(sorted(problem.evidence.items()))


def _find_joint(problem: Problem) -> Floats:  # (classes, instantiations of all features)
    """Pr(target, free features | evidence); other rules about the same case find it remembered."""

    def make() -> Floats:
        variables = [problem.target, *problem.free]
        joint = joint_table(problem.network, variables, problem.evidence)
        joint.setflags(write=False)
        return joint.reshape(len(problem.prior), -1)

    if not _is_small(problem):
        return make()
    return problem.network.memo.get(JOINT, _case(problem), make)


def _decide_all(problem: Problem) -> DenseOracle:
    """Make the table and decide each of its instantiations."""
    class_mass, n_actions = _find_joint(problem), len(problem.decider.actions)
    n_classes, n_cells = class_mass.shape
    masses = np.empty((n_classes + n_actions, n_cells))
    masses[:n_classes] = class_mass
    totals = class_mass.sum(axis=0)
    rows = None if totals.all() else np.flatnonzero(totals)
    decisions = _decisions(problem.decider, class_mass, rows)
    for action in range(n_actions):
        np.multiply(totals, decisions == action, out=masses[n_classes + action])
    return DenseOracle(problem, masses, _doubt(problem, class_mass, rows))


def _decisions(decider: Decider, class_mass: Floats, rows: Ints | None) -> Ints:
    """The full decision on each instantiation; those without mass are not shown to the rule."""
    if rows is None:
        return decider.decide(class_mass.T)
    decisions = np.zeros(class_mass.shape[1], dtype=np.int64)
    decisions[rows] = decider.decide(class_mass[:, rows].T)
    return decisions


def _doubt(problem: Problem, class_mass: Floats, rows: Ints | None) -> float:
    """Mass of the instantiations that the tolerance for ties decides."""
    possible = class_mass if rows is None else class_mass[:, rows]
    doubtful = find_doubtful(problem.decider, possible.T, problem.rounding, problem.lost_share)
    return float(possible[:, doubtful].sum()) if len(doubtful) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class DenseOracle:
    """The table of class and decision masses, with the marginals made so far."""

    problem: Problem
    masses: Floats = field(repr=False)  # (classes + actions, instantiations of all features)
    doubt: float = 0.0
    """Mass of the instantiations that the tolerance for ties decides, not the posterior."""
    _made: dict[frozenset[int], Floats] = field(default_factory=dict, repr=False)
    searched: dict[object, Any] = field(default_factory=dict, repr=False)
    """What searches have laid out, by what they seek: used again for other budgets, never in an answer."""

    def profile(self, kept: frozenset[int]) -> DecisionProfile:
        """Sum the smallest table that holds the kept features down to them."""
        masses = self.masses_of(kept).T
        n_classes = len(self.problem.prior)
        return profile_from_masses(
            masses[:, :n_classes], masses[:, n_classes:], doubt=self.doubt, rounding=self.problem.rounding
        )

    def single_profiles(self) -> dict[int, DecisionProfile]:
        """The profile of every free feature alone, from two sums of the table."""
        free = self.problem.free
        masses = dict(zip(free, sum_to_each(self.masses, self.problem.sizes(free)), strict=True))
        found = profile_singles(self.problem, masses, rounding=self.problem.rounding)
        return {feature: replace(profile, doubt=self.doubt) for feature, profile in found.items()}

    def masses_of(self, kept: frozenset[int]) -> Floats:  # (classes + actions, instantiations of the kept)
        """Class and decision masses of every instantiation of the kept features, impossible ones included."""
        if kept in self._made:
            return self._made[kept]
        scope, table = frozenset(self.problem.free), self.masses
        # A table that the network remembers is summed whole: its answers, to the last bit, must not depend on
        # what was asked before. A larger one serves one problem alone, and is summed from what there is.
        reused = {} if table.shape[1] <= REMEMBERED_CELLS else self._made
        for other, made in tuple(reused.items()):
            if kept <= other and made.size < table.size:
                scope, table = other, made
        summed = self.sum_to(table, scope, kept)
        if summed.nbytes <= LARGEST_KEPT:
            if len(self._made) >= MOST_KEPT:
                self._made.pop(next(iter(self._made)), None)
            self._made[kept] = summed
        return summed

    def sum_to(self, table: Floats, scope: frozenset[int], kept: frozenset[int]) -> Floats:
        """A table over the features of a scope summed down to those that are kept."""
        columns = len(table)
        for before, run, after in self._summed_axes(scope, kept):
            table = table.reshape(columns * before, run, after).sum(axis=1)
        return table.reshape(columns, -1)

    def _summed_axes(self, scope: frozenset[int], kept: frozenset[int]) -> Iterable[tuple[int, int, int]]:
        """Runs of neighbouring axes to sum, as sizes (before, run, after), the first run first.

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


def carry_over(before: Problem, after: Problem, feature: int) -> None:
    """Give `after`, which knows one more feature, what was prepared for `before`."""
    if feature not in before.free or feature not in after.evidence:
        return
    state = after.evidence[feature]
    for groups in before.memo.all(GROUPS).values():
        cut = [kept for group in groups if (kept := _cut(before, group, feature, state)) is not None]
        after.memo.put(GROUPS, None, cut)
    for key, oracle in before.memo.all(ORACLES).items():
        if isinstance(oracle, DenseOracle):
            after.memo.put(ORACLES, key, _cut_table(oracle, after, feature, state))


def _cut(problem: Problem, group: Group, feature: int, state: int) -> Group | None:
    """The group given the observation; None when nothing of it is left."""
    if feature not in group.features:
        return group
    if len(group.features) == 1:
        return None
    axis = group.features.index(feature)
    n_classes = group.likelihood.shape[1]
    table = group.likelihood.reshape([*problem.sizes(group.features), n_classes])
    rows = table.take(state, axis=axis).reshape(-1, n_classes)
    totals = rows.sum(axis=0)
    # A class that the observation excludes has no distribution left; it is weighted by zero from here on.
    scaled = np.divide(rows, totals, out=np.full_like(rows, 1.0 / len(rows)), where=totals > 0)
    return Group(tuple(f for f in group.features if f != feature), read_only(scaled))


def _cut_table(oracle: DenseOracle, after: Problem, feature: int, state: int) -> DenseOracle:
    free = oracle.problem.free
    axis = free.index(feature)
    sizes = oracle.problem.sizes(free)
    before, behind = int(np.prod(sizes[:axis], dtype=int)), int(np.prod(sizes[axis + 1 :], dtype=int))
    columns = len(oracle.masses)
    cut = oracle.masses.reshape(columns * before, sizes[axis], behind)[:, state]
    masses = cut.reshape(columns, -1)
    return DenseOracle(after, masses / masses[: len(after.prior)].sum())
