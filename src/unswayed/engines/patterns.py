"""Many cases at once: rows that observe the same features share the work of their same-decision probability.

A *pattern* is the set of features that a row observes. What the other features may still say depends on the
pattern and on few of the values observed, or is one table for all rows of it:

- Two classes: what the missing features add to the log-odds is a sum over the components in which they hang
  together (`components.py`). Two sorted lists of sums serve all rows that agree around the components; a row
  is one walk up one list and down the other. For naive Bayes the components are single features, and one
  call walks for all patterns of a block (`SumsOfFeatures`).
- Where one table holds all features: summed down to the observed ones it has, for every instantiation of
  these, the mass of each class and of each full decision; a row is one look-up in it.

Where neither fits, rows are asked one by one (`api/audit.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from unswayed.core.anytime import bytes_allowed, tick, units_left
from unswayed.core.arrays import Bools, Codes, Floats, Ints
from unswayed.decisions.prediction import distinct_patterns, row_numbers, unique_rows
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import LogOddsIntervals
from unswayed.engines.components import Component, OutcomeLists, components_beside
from unswayed.engines.dense import LARGEST_KEPT, MOST_KEPT, DenseEngine, DenseOracle
from unswayed.engines.groups import independent_groups
from unswayed.engines.protocol import Cost, Question
from unswayed.engines.weights.outcomes import alike_bits
from unswayed.kernels.meeting import GroupLists, MeetingOutcomes, compiled_tails_of_rows

MOST_BITS = 18.0
"""Logarithm to base 2 of the longer of two lists: a row is then half a millisecond."""
MOST_PATTERNS = 2**14
"""Patterns whose components are remembered."""
LARGEST_TABLE = 2.0**22
"""Instantiations of all features beyond which no table is made,"""
SMALL_TABLE = 2.0**16
"""and up to which a table is quicker than sums over components."""
UNITS_PER_STEP = 2e-3
"""Estimated for a step of the walk, one for each sum of a list."""
PARTS_IN_TIME = 500.0
"""Rows are walked in parts of this share of what is left, so that even a plain walk leaves time."""


@dataclass(frozen=True, slots=True, eq=False)
class PatternRows:
    """Possible rows that observe the same features, and what is decided on them."""

    observed: tuple[int, ...]
    """Positions of the features."""
    codes: Codes  # (rows, observed features)
    """Their states."""
    log_posteriors: Floats  # (rows, classes)
    decisions: Ints  # (rows,)
    """Position of the action decided on each row."""


class PatternWay(Protocol):
    """A way to answer all rows of a pattern."""

    @property
    def name(self) -> str:
        """The engine that gives the same answers."""

    def fits(self, observed: tuple[int, ...]) -> bool:
        """Whether the pattern can be answered in this way."""

    def same(self, rows: PatternRows) -> Floats:
        """The same-decision probability of each row."""


def ways_for(problem: Problem) -> list[PatternWay]:
    """The ways that fit this classifier, the quicker first; none where rows must be asked one by one."""
    ways: list[PatternWay] = []
    price = DenseEngine().cost(problem, Question(frozenset()))
    cells = float(np.prod(problem.sizes(problem.free), dtype=float))
    if isinstance(price, Cost) and price.n_bytes <= bytes_allowed() and cells <= LARGEST_TABLE:
        ways.append(SummedTable(problem))
    if isinstance(problem.decider, LogOddsIntervals):
        is_naive = all(len(group) == 1 for group in independent_groups(problem))
        sums = SumsOfComponents(problem, OutcomeLists(problem, problem.decider.upper))
        ways.insert(0 if is_naive or cells > SMALL_TABLE else len(ways), sums)
    return ways


@dataclass(frozen=True, slots=True)
class Meeting:
    """The components of a pattern in two halves, and how long the lists of their sums are at most."""

    components: tuple[Component, ...]
    middle: int
    """How many of them make the first half."""
    bits: float
    """Logarithm to base 2 of the longer list."""


@dataclass(frozen=True, slots=True, eq=False)
class SumsOfComponents:
    """Sums of what the components of missing features add to the log-odds, met in the middle."""

    problem: Problem
    lists: OutcomeLists
    name: str = "weights"
    _meetings: dict[tuple[int, ...], Meeting] = field(default_factory=dict, repr=False)

    def fits(self, observed: tuple[int, ...]) -> bool:
        """Whether the components are small, and half of them have few different sums."""
        return self._meeting(observed).bits <= MOST_BITS

    def same(self, rows: PatternRows) -> Floats:
        """One walk a row, rows with equal log-odds and lists being one."""
        decider, meeting = self.problem.decider, self._meeting(rows.observed)
        assert isinstance(decider, LogOddsIntervals)
        outcomes, chosen = self.lists.choose(meeting.components, rows.observed, rows.codes)
        varying = [place for place, component in enumerate(meeting.components) if component.boundary]
        first_of_list, list_of_row = unique_rows(chosen[:, varying].astype(np.uint64))
        logs = rows.log_posteriors
        odds = logs[:, decider.upper] - logs[:, 1 - decider.upper]
        first, which = unique_rows(np.stack([list_of_row.astype(np.uint64), odds.view(np.uint64)], axis=1))
        cuts = decider.cuts[np.newaxis] - odds[first, np.newaxis]
        starts = np.arange(len(first_of_list) + 1) * len(meeting.components)
        lists = GroupLists(chosen[first_of_list].reshape(-1), starts, starts[:-1] + meeting.middle)
        tails = _walk_parts(outcomes, lists, list_of_row[first], cuts, 2.0**meeting.bits)
        return _same(decider, tails[which], logs, rows.decisions)

    def _meeting(self, observed: tuple[int, ...]) -> Meeting:
        if observed not in self._meetings:
            if len(self._meetings) >= MOST_PATTERNS:
                self._meetings.clear()
            self._meetings[observed] = self._meet(components_beside(self.problem, observed))
        return self._meetings[observed]

    def _meet(self, components: Sequence[Component]) -> Meeting:
        if not all(component.is_small(self.problem) for component in components):
            return Meeting(tuple(components), 0, math.inf)
        kinds = [(self.lists.kind(c), int(c.n_outcomes(self.problem))) for c in components]
        before, after = _running_bits(kinds), _running_bits(kinds[::-1])[::-1]
        longer = np.maximum(before, after)
        middle = int(np.argmin(longer))
        return Meeting(tuple(components), middle, float(longer[middle]))


def _walk_parts(
    outcomes: MeetingOutcomes, lists: GroupLists, list_of_row: Ints, cuts: Floats, n_sums: float
) -> Floats:  # (rows, cuts, 2)
    """The tails of all rows, of some at a time where time is short; a list is made again for each part."""
    units = UNITS_PER_STEP * n_sums * (cuts.shape[1] + 2)
    most = units_left() / PARTS_IN_TIME / units
    n_rows = len(cuts) if math.isinf(most) else max(1, int(most))
    tails = np.empty((*cuts.shape, 2))
    for start in range(0, len(cuts), max(n_rows, 1)):
        part = slice(start, start + n_rows)
        tick(units * len(cuts[part]), "the rows")
        with np.errstate(invalid="ignore"):  # opposite infinities, which have no probability
            tails[part] = compiled_tails_of_rows.run(
                units * len(cuts[part]), outcomes, lists, list_of_row[part], cuts[part]
            )
    return tails


def _running_bits(kinds: Sequence[tuple[Hashable, int]]) -> Floats:  # (groups + 1,)
    """Logarithm to base 2 of how many sums the first 0, 1, ... groups have at most; alike ones have few."""
    counts: Counter[Hashable] = Counter()
    bits = [0.0]
    for kind, size in kinds:
        counts[kind] += 1
        bits.append(bits[-1] + alike_bits(counts[kind], size) - alike_bits(counts[kind] - 1, size))
    return np.array(bits)


def _same(decider: LogOddsIntervals, tails: Floats, logs: Floats, decisions: Ints) -> Floats:
    """Probability of the regions that have each row's decision; `tails` is (rows, cuts, 2), upper first."""
    posteriors = np.exp(logs)
    shares = np.stack([posteriors[:, decider.upper], posteriors[:, 1 - decider.upper]], axis=1)
    reached = (tails * shares[:, np.newaxis]).sum(axis=2)  # Pr(the log-odds come to at least a cut)
    ends = np.concatenate([np.ones((len(reached), 1)), reached, np.zeros((len(reached), 1))], axis=1)
    inside = ends[:, :-1] - ends[:, 1:]
    wanted = np.asarray(decider.regions)[np.newaxis] == decisions[:, np.newaxis]
    same: Floats = np.clip(np.where(wanted, inside, 0.0).sum(axis=1), 0.0, 1.0)
    return same


@dataclass(frozen=True, slots=True, eq=False)
class SumsOfFeatures:
    """What missing features add where they are independent given the class: all patterns in one walk."""

    sums: SumsOfComponents
    """What answers one pattern at a time."""
    outcomes: MeetingOutcomes
    """The outcomes of each free feature."""
    bits: Floats  # (features,)
    """Logarithm to base 2 of how many there are."""

    def same(self, codes: Codes, logs: Floats, decisions: Ints) -> Floats:
        """The same-decision probability of each row, NaN where the lists of its pattern are too long."""
        decider = self.sums.problem.decider
        assert isinstance(decider, LogOddsIntervals)
        missing, pattern = distinct_patterns(codes)
        lists, bits = self._lists(missing)
        short = np.flatnonzero(bits[pattern] <= MOST_BITS)
        same = np.full(len(codes), np.nan)
        if not len(short):
            return same
        logs, decisions, pattern = logs[short], decisions[short], pattern[short]
        odds = logs[:, decider.upper] - logs[:, 1 - decider.upper]
        first, which = unique_rows(np.stack([pattern.astype(np.uint64), odds.view(np.uint64)], axis=1))
        cuts = decider.cuts[np.newaxis] - odds[first, np.newaxis]
        longest = float(2.0 ** bits[pattern[first]].max())
        tails = _walk_parts(self.outcomes, lists, pattern[first], cuts, longest)
        same[short] = _same(decider, tails[which], logs, decisions)
        return same

    def _lists(self, missing: Bools) -> tuple[GroupLists, Floats]:
        """The features that each pattern misses, in halves; and how long the lists of their sums may be."""
        before = np.zeros((len(missing), missing.shape[1] + 1))
        np.cumsum(missing * self.bits, axis=1, out=before[:, 1:])
        longer = np.maximum(before, before[:, -1:] - before)
        half = np.argmin(longer, axis=1)
        starts = np.zeros(len(missing) + 1, dtype=np.int64)
        np.cumsum(missing.sum(axis=1), out=starts[1:])
        n_first = (missing & (np.arange(missing.shape[1]) < half[:, np.newaxis])).sum(axis=1)
        lists = GroupLists(np.nonzero(missing)[1], starts, starts[:-1] + n_first)
        return lists, np.take_along_axis(longer, half[:, np.newaxis], axis=1)[:, 0]


def sums_of_features(problem: Problem) -> SumsOfFeatures | None:
    """What answers all patterns at once; None unless features are independent given two classes."""
    if not isinstance(problem.decider, LogOddsIntervals):
        return None
    if any(len(group) > 1 for group in independent_groups(problem)):
        return None
    lists = OutcomeLists(problem, problem.decider.upper)
    alone = [Component((feature,), ()) for feature in problem.free]
    outcomes, _ = lists.choose(alone, (), np.empty((0, 0), dtype=np.int8))
    sizes = np.array([component.n_outcomes(problem) for component in alone])
    return SumsOfFeatures(SumsOfComponents(problem, lists), outcomes, np.log2(sizes))


@dataclass(frozen=True, slots=True, eq=False)
class SummedTable:
    """One table over all features, made when first needed, summed down to what a pattern observes."""

    problem: Problem
    name: str = "dense"
    _oracles: list[DenseOracle] = field(default_factory=list, repr=False)
    _made: dict[tuple[int, ...], Floats] = field(default_factory=dict, repr=False)

    def fits(self, observed: tuple[int, ...]) -> bool:
        """Always: a pattern's table is part of the one over all features."""
        return True

    def same(self, rows: PatternRows) -> Floats:
        """One look-up a row."""
        # The table has its axes in the order of the free features.
        axes = [f for f in self.problem.free if f in set(rows.observed)]
        columns = rows.codes[:, [rows.observed.index(f) for f in axes]]
        masses = self._without(tuple(f for f in self.problem.free if f not in axes))
        of_rows = masses[:, row_numbers(columns, self.problem.sizes(axes))]
        decision_mass = np.ascontiguousarray(of_rows[len(self.problem.prior) :].T)
        chosen = np.take_along_axis(decision_mass, rows.decisions[:, np.newaxis], axis=1)[:, 0]
        same: Floats = np.clip(chosen / decision_mass.sum(axis=1), 0.0, 1.0)
        return same

    def _without(
        self, missing: tuple[int, ...]
    ) -> Floats:  # (classes + actions, instantiations of the others)
        """The masses without some features.

        Summed out one after the other, whatever was asked before: a row has the same answer, to the last bit,
        in every company.
        """
        if not self._oracles:
            self._oracles.append(DenseEngine().prepare(self.problem))
        if not missing:
            return self._oracles[0].masses
        if missing not in self._made:
            scope = frozenset(self.problem.free).difference(missing[:-1])
            made = self._oracles[0].sum_to(self._without(missing[:-1]), scope, scope.difference(missing))
            if made.nbytes > LARGEST_KEPT:
                return made
            if len(self._made) >= MOST_KEPT:
                self._made.pop(next(iter(self._made)))
            self._made[missing] = made
        return self._made[missing]
