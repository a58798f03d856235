"""Many cases at once: rows that observe the same features share the work of their same-decision probability.

A *pattern* is the set of features that a row observes. What the other features may still say depends on the
pattern alone, or is one table for all rows of it:

- Independent features and two classes: what the missing features add to the log-odds does not depend on the
  values observed. One sorted list of their sums serves a pattern, and a row is two binary searches in it.
- Otherwise, where one table holds all features: the table summed down to the observed ones has, for every
  instantiation of these, the mass of each class and of each full decision; a row is one look-up in it.

Where neither fits, `ways_for` gives None and rows are asked one by one (`api/audit.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unswayed.core.arrays import Codes, Floats, Ints
from unswayed.core.limits import Limits
from unswayed.decisions.prediction import row_numbers
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import LogOddsIntervals
from unswayed.engines.dense import DenseEngine, DenseOracle
from unswayed.engines.groups import Group, group_tables, independent_groups
from unswayed.engines.protocol import Cost, Question
from unswayed.engines.weights import WeightList, combined, group_weights, predicted_bits

MOST_BITS = 20.0
"""Logarithm to base 2 of the longest list of sums; longer ones take more memory than rows are worth."""
LARGEST_TABLE = 2.0**22
"""Instantiations of all features beyond which no table is made."""


@dataclass(frozen=True, slots=True, eq=False)
class PatternAnswers:
    """What holds for each row of one pattern; a row of probability zero has no mass."""

    class_mass: Floats  # (rows, classes)
    """Pr(class, row), up to a factor for each row."""
    decisions: Ints  # (rows,)
    """Position of the action decided on the row."""
    same: Floats  # (rows,)
    """The same-decision probability."""


class PatternWay(Protocol):
    """A way to answer all rows of a pattern."""

    @property
    def name(self) -> str:
        """The engine that gives the same answers."""

    def fits(self, observed: Sequence[int]) -> bool:
        """Whether the pattern is small enough for this way."""

    def answer(self, observed: tuple[int, ...], codes: Codes) -> PatternAnswers:
        """The answers for rows (rows, observed features) of states."""


def ways_for(problem: Problem, limits: Limits) -> list[PatternWay]:
    """The ways that fit this classifier, the quicker first; none where rows must be asked one by one."""
    ways: list[PatternWay] = []
    is_naive = isinstance(problem.decider, LogOddsIntervals) and all(
        len(group) == 1 for group in independent_groups(problem)
    )
    if is_naive:
        ways.append(SortedSums(problem, tuple(group_tables(problem, limits))))
    price = DenseEngine().cost(problem, Question(frozenset()))
    cells = float(np.prod(problem.sizes(problem.free), dtype=float))
    if isinstance(price, Cost) and price.n_bytes <= limits.max_bytes and cells <= LARGEST_TABLE:
        ways.append(SummedTable(problem, DenseEngine().prepare(problem, limits)))
    return ways


@dataclass(frozen=True, slots=True, eq=False)
class SortedSums:
    """One sorted list of what the missing features add to the log-odds, for each pattern."""

    problem: Problem
    groups: tuple[Group, ...]
    name: str = "log_odds"

    def fits(self, observed: Sequence[int]) -> bool:
        """Whether the list of the missing features' sums is short enough."""
        return predicted_bits(self._missing(observed)) <= MOST_BITS

    def answer(self, observed: tuple[int, ...], codes: Codes) -> PatternAnswers:
        """Two binary searches a row."""
        likelihoods = {group.features[0]: group.likelihood for group in self.groups}
        with np.errstate(divide="ignore"):
            logs = np.log(self.problem.prior)[np.newaxis] + sum(
                (np.log(likelihoods[f])[codes[:, j]] for j, f in enumerate(observed)),
                start=np.zeros((len(codes), 2)),
            )
        class_mass = _from_logs(logs)
        decisions = _decide(self.problem, class_mass)
        return PatternAnswers(class_mass, decisions, self._same(observed, logs, class_mass, decisions))

    def _missing(self, observed: Sequence[int]) -> list[WeightList]:
        """Weights of the features that a pattern leaves out."""
        decider, seen = self.problem.decider, set(observed)
        assert isinstance(decider, LogOddsIntervals)
        return [
            group_weights(group, self.problem.sizes(group.features), frozenset(), decider.upper)
            for group in self.groups
            if group.features[0] not in seen
        ]

    def _same(self, observed: tuple[int, ...], logs: Floats, class_mass: Floats, decisions: Ints) -> Floats:
        decider = self.problem.decider
        assert isinstance(decider, LogOddsIntervals)
        upper, sums = decider.upper, combined(self._missing(observed))
        with np.errstate(invalid="ignore"):
            odds = np.nan_to_num(logs[:, upper] - logs[:, 1 - upper], nan=0.0, posinf=np.inf, neginf=-np.inf)
        # Masses below each cut, then between neighbouring cuts: (regions, classes, rows).
        places = [np.searchsorted(sums.full, cut - odds, side="left") for cut in decider.cuts]
        edges = [np.zeros(len(odds), dtype=np.int64), *places, np.full(len(odds), len(sums.full))]
        total = class_mass.sum(axis=1)
        same = np.zeros(len(odds))
        for column, mass in ((upper, sums.upper), (1 - upper, sums.lower)):
            reached = np.concatenate([[0.0], np.cumsum(mass)])
            share = class_mass[:, column] / np.where(total > 0, total, 1.0)
            for region, action in enumerate(decider.regions):
                inside = reached[edges[region + 1]] - reached[edges[region]]
                same += np.where(decisions == action, share * inside, 0.0)
        return np.clip(same, 0.0, 1.0)


def _decide(problem: Problem, class_mass: Floats) -> Ints:
    """The decision of each row; rows without mass are not shown to the rule."""
    decisions: Ints = np.zeros(len(class_mass), dtype=np.int64)
    possible = np.flatnonzero(class_mass.sum(axis=1))
    decisions[possible] = problem.decider.decide(class_mass[possible])
    return decisions


def _from_logs(logs: Floats) -> Floats:
    """Masses in proportion, the largest of a row 1; all 0 where the row is impossible."""
    largest = logs.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        masses: Floats = np.where(np.isfinite(largest), np.exp(logs - largest), 0.0)
    return masses


@dataclass(frozen=True, slots=True, eq=False)
class SummedTable:
    """One table over all features, summed down to the observed ones for each pattern."""

    problem: Problem
    oracle: DenseOracle
    name: str = "dense"

    def fits(self, observed: Sequence[int]) -> bool:
        """Always: a pattern's table is part of the one over all features."""
        return True

    def answer(self, observed: tuple[int, ...], codes: Codes) -> PatternAnswers:
        """One look-up a row."""
        # The table has its axes in the order of the free features.
        axes = [f for f in self.problem.free if f in set(observed)]
        columns = codes[:, [observed.index(f) for f in axes]]
        masses = self.oracle.masses_of(frozenset(observed))[:, row_numbers(columns, self.problem.sizes(axes))]
        n_classes = len(self.problem.prior)
        class_mass, decision_mass = masses[:n_classes].T, masses[n_classes:].T
        decisions, total = _decide(self.problem, class_mass), class_mass.sum(axis=1)
        chosen = np.take_along_axis(decision_mass, decisions[:, np.newaxis], axis=1)[:, 0]
        same = np.clip(chosen / np.where(total > 0, total, 1.0), 0.0, 1.0)
        return PatternAnswers(class_mass, decisions, same)
