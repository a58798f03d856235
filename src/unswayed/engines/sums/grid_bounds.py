"""Certified intervals from sums on a grid: two classes, independent groups, kept features of any number.

For two classes and independent groups, exact agreement needs lists that double with every two features. On a
grid (`grid.py`) the distributions of the kept and of the hidden weights take memory and time proportional to
features times grid points. A pair of sums whose tests come out the same wherever within their reach the true
sums lie counts for certain; one that might come out either way counts to the upper bound only. The grid is
refined until the interval is within the tolerance, or no more may be spent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.anytime import UNITS_PER_SECOND, settle, tick, units_left
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.decisions.measures import AchievableAgreement
from unswayed.decisions.oracle import Interval
from unswayed.decisions.problem import Problem
from unswayed.decisions.rounding import LISTING
from unswayed.decisions.rules import TIE, Decider, LogOddsIntervals
from unswayed.engines.groups import Group, group_tables, independent_groups
from unswayed.engines.naive_bayes import Agreement, best_threshold_of, many_features
from unswayed.engines.parts import (
    Parts,
    Region,
    Span,
    base_log_odds,
    intervals_of,
    refuse_groups,
    region_of,
    settled,
    split_groups,
)
from unswayed.engines.protocol import Cost, Needs, Question, Refusal
from unswayed.engines.singles import price_one_by_one
from unswayed.engines.sums.certified_tests import Sums, agreement_bounds, potential_bounds
from unswayed.engines.sums.grid import Blocks, Rounded, fitting_step, make_blocks, rounded, window
from unswayed.engines.weights.outcomes import combined

FIRST_GRID = 2**13
FINEST_GRID = 2**21
SECONDS_PER_CELL = 1.5e-7
"""Measured for one block's transform, forth and back, for both classes, coarser grids included."""
LEAST_PRICED = 2**17
"""Points that take as long as making the blocks and their windows does."""
WIDTH_TIMES_POINTS = 0.25
"""Measured for 40 to 400 groups: width of the interval times points of the grid, for each group."""
STALLED = 0.9
"""A grid four times as fine should narrow the interval by more than this factor."""
MOST_STALLS = 3
SECONDS_PER_TABLED = 5e-7
"""Measured for one instantiation of a group of dependent features."""
THRESHOLD_SECONDS = 1.0
"""Measured for the best threshold on the finest grid."""
NO_THRESHOLDS = "knows the best threshold only of features that are independent given two classes"
MOST_MIXED = 64
"""Most outcomes of partly kept groups that are listed one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridWay:
    """Certified intervals from sums of weights on a grid."""

    name: str = "sums"
    certainty: Certainty = Certainty.BOUND
    least_seconds: float = 0.005

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """Proportional to blocks of features times grid points; exact questions are refused."""
        if question.needs is Needs.SINGLES:
            return price_one_by_one(self, problem, question)
        refusal = refuse_groups(problem)
        if refusal:
            return refusal
        if question.needs is Needs.ROWS:
            return Refusal("gives intervals for agreements, not rows")
        if question.tolerance <= 0:
            return Refusal("gives intervals, and an exact value was asked for; pass a tolerance")
        assert isinstance(problem.decider, LogOddsIntervals)
        if question.needs is Needs.POTENTIAL and len(problem.decider.regions) != 2:
            return Refusal("bounds the potential agreement only of rules that decide between two actions")
        groups = independent_groups(problem)
        if question.needs is Needs.ACHIEVABLE:
            return _price_thresholds(problem, groups)
        partly = [g for g in groups if question.kept.intersection(g) and not question.kept.issuperset(g)]
        mixed = math.prod(math.prod(map(float, problem.sizes(group))) for group in partly)
        if partly and question.needs is Needs.POTENTIAL:
            return Refusal("kept and hidden features depend on each other, so no threshold need be best")
        if mixed > MOST_MIXED:
            return Refusal(f"partly kept groups of features have {mixed:.3g} outcomes together, too many")
        sizes = [math.prod(map(float, problem.sizes(group))) for group in groups]
        n_blocks = 2 + sum(math.log2(size + 1) for size in sizes) / 14
        tabled = sum(size for group, size in zip(groups, sizes, strict=True) if len(group) > 1)
        n_points = min(max(WIDTH_TIMES_POINTS * len(groups) / question.tolerance, LEAST_PRICED), FINEST_GRID)
        seconds = 5e-3 + SECONDS_PER_CELL * n_points * mixed * n_blocks + 2e-5 * len(groups)
        reach = WIDTH_TIMES_POINTS * len(groups) / FINEST_GRID
        return Cost(seconds + SECONDS_PER_TABLED * tabled, 100.0 * n_points + 16.0 * tabled, reach)

    def prepare(self, problem: Problem) -> GridOracle:
        """Make the groups' tables."""
        return GridOracle(problem, tuple(group_tables(problem)))


@dataclass(frozen=True, slots=True, eq=False)
class GridOracle:
    """The groups' tables; grids are made for each question."""

    problem: Problem
    groups: tuple[Group, ...] = field(repr=False)

    def agreement(self, kept: frozenset[int], decider: Decider, tolerance: float) -> Interval:
        """Bounds on how often `decider` on the kept features repeats the full decision."""
        assert isinstance(decider, LogOddsIntervals)
        parts = split_groups(self.problem, self.groups, kept)
        same = settled(self.problem, parts, decider)
        if same is not None:
            return Interval(float(same), float(same), Certainty.BOUND)
        mixed = combined(parts.mixed)

        def bounds(classes: list[Sums]) -> Span:
            low = high = 0.0
            for sums in classes:
                masses = mixed.upper if sums.upper else mixed.lower
                for i in np.flatnonzero(masses > 0):
                    moved = float(mixed.full[i]), float(mixed.kept[i])
                    one = self._class_bounds(sums, decider, moved)
                    low += sums.share * masses[i] * one[0]
                    high += sums.share * masses[i] * one[1]
            return low, high

        return self._refined(parts, bounds, tolerance)

    def potential(self, kept: frozenset[int], tolerance: float) -> Interval:
        """Bounds on the maximum potential agreement."""
        parts = split_groups(self.problem, self.groups, kept)
        if parts.mixed or len(intervals_of(self.problem).regions) != 2:
            raise LimitError(
                "bounds on the potential agreement need kept and hidden features that are independent given "
                "the class, and a rule with one threshold; use an exact engine"
            )
        base = base_log_odds(self.problem)

        def bounds(classes: list[Sums]) -> Span:
            sides = [(self._full_region(sums, 0), self._full_region(sums, 1)) for sums in classes]
            return potential_bounds(classes, sides, base)

        return self._refined(parts, bounds, tolerance)

    def achievable(
        self, kept: frozenset[int], positive: int, tolerance: float
    ) -> tuple[Interval, AchievableAgreement]:
        """Bounds on the maximum achievable agreement, which for naive Bayes is the potential one."""
        decider = intervals_of(self.problem)
        if _not_naive(self.problem, [group.features for group in self.groups]) or positive != decider.upper:
            raise LimitError(f"{NO_THRESHOLDS}; use another engine")
        many = many_features(self.problem)
        best, doubt = best_threshold_of(many, kept)
        low, high = max(best.value - doubt, 0.0), Agreement(many, own_rule=False).closer(kept)[1]
        return Interval(low, max(high, low), Certainty.BOUND), best

    def _class_bounds(self, sums: Sums, decider: LogOddsIntervals, moved: Span) -> Span:
        """Agreement under one class when partly kept groups add `moved` to the full and the kept sum."""
        base, rounding = base_log_odds(self.problem), self._rounding(sums.kept)
        regions = []
        for region, action in enumerate(intervals_of(self.problem).regions):
            if action in decider.regions:
                kept = region_of(decider, decider.regions.index(action), base, rounding)
                regions.append((self._full_region(sums, region).less(moved[0]), kept.less(moved[1])))
        end = -1 if sums.upper else 0
        return agreement_bounds(
            sums, regions, infinite_agrees=intervals_of(self.problem).regions[end] == decider.regions[end]
        )

    def _full_region(self, sums: Sums, region: int) -> Region:
        """The full sums that lead to a region of the full decision."""
        base, rounding = base_log_odds(self.problem), self._rounding(sums.kept, sums.hidden)
        return region_of(intervals_of(self.problem), region, base, rounding)

    def _rounding(self, *rounded: Rounded) -> float:
        """How far from a tie a sum on the grid may be that is one; the tolerance itself reaches as far."""
        tables = self.problem.rounding + LISTING
        return max(tables, min(tables + 2.0 * sum(each.floating for each in rounded), TIE))

    def _refined(self, parts: Parts, bounds: Callable[[list[Sums]], Span], tolerance: float) -> Interval:
        """Bounds on finer and finer grids, until narrow enough or no more may be spent."""
        states = self._narrow(parts, bounds)
        low, high = settle(states, enough=lambda span: span[1] - span[0] <= tolerance).last
        return Interval(low, max(low, high), Certainty.BOUND)

    def _narrow(self, parts: Parts, bounds: Callable[[list[Sums]], Span]) -> Iterator[Span]:
        """Bounds on finer and finer grids, intersected."""
        kept, hidden = make_blocks(parts.kept), make_blocks(parts.hidden)
        n_mixed = math.prod(len(each.full) for each in parts.mixed)
        each = SECONDS_PER_CELL * UNITS_PER_SECOND * n_mixed * (len(kept.groups) + len(hidden.groups) + 2)
        low, high, n_points, stalls = 0.0, 1.0, FIRST_GRID, 0
        # Sums that tie with the cut stay undecided on any grid: then refining stops helping.
        while stalls < MOST_STALLS and n_points <= FINEST_GRID:
            width = high - low
            found = bounds(self._sums(kept, hidden, n_points))
            low, high = max(low, found[0]), min(high, found[1])
            stalls = stalls + 1 if high - low > STALLED * width else 0
            yield low, high
            n_points *= 4
            if each * n_points > units_left():
                return
            tick(each * n_points, "a finer grid")

    def _sums(self, kept: Blocks, hidden: Blocks, n_points: int) -> list[Sums]:
        """Both sums under both classes, the wider one on a grid of about `n_points`."""
        sides = {}
        for is_upper in (True, False):
            for name, blocks in (("kept", kept), ("hidden", hidden)):
                sides[name, is_upper] = window(blocks, upper=is_upper)
        spans = {
            name: (
                min(sides[name, True][0], sides[name, False][0]),
                max(sides[name, True][1], sides[name, False][1]),
            )
            for name in ("kept", "hidden")
        }
        widest = max(high - low for low, high in spans.values())
        step = fitting_step([*kept.groups, *hidden.groups], max(widest / n_points, 1e-12))
        upper = intervals_of(self.problem).upper
        made = []
        for is_upper in (True, False):
            share = float(self.problem.prior[upper if is_upper else 1 - upper])
            one, other = (
                rounded(blocks, step, spans[name], sides[name, is_upper][2], upper=is_upper)
                for name, blocks in (("kept", kept), ("hidden", hidden))
            )
            made.append(Sums(share, is_upper, one, other, step))
        return made


def _not_naive(problem: Problem, groups: Sequence[Sequence[int]]) -> bool:
    """Whether features depend on each other, or more than one cut decides."""
    return len(intervals_of(problem).regions) != 2 or any(len(group) != 1 for group in groups)


def _price_thresholds(problem: Problem, groups: Sequence[Sequence[int]]) -> Cost | Refusal:
    """The price of the best threshold, or why it is not known."""
    if _not_naive(problem, groups):
        return Refusal(NO_THRESHOLDS)
    return Cost(THRESHOLD_SECONDS, 100.0 * FINEST_GRID)
