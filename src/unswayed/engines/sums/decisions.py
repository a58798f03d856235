"""What a rule asks of pairs of classes, and what bounds on pairs say about its decisions.

With two classes a rule cuts the line of log-odds, and each action is one or more intervals of it. With more,
an action is a conjunction of linear tests of the posterior (`rules.TestedDecider`), each bounded by pairs:

    sum_A a_c p_c >= sum_B b_k p_k
        holds where some c of A has  share_k a_c p_c >= b_k p_k  for all k of B,
        and only where for each k of B some c of A has  a_c p_c >= share_c b_k p_k

with any shares that sum to 1. For the most probable class A and B are single and nothing is lost. A
conjunction is bounded, under each class apart, by how often its tests fail, alone and two together
(`unions.py`). One class against all others, and utilities that several classes carry, get true bounds that
close only as the posterior does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.decisions.rounding import find_doubtful
from unswayed.decisions.rules import Decider, LinearTest, LogOddsIntervals, TestedDecider
from unswayed.engines.sums.unions import Bounds, Corner, bound_conjunction

SMALL = 1e-8
"""Weights of a test below this share of the largest stand for ties alone,"""
SMALL_SHARE = 1e-3
"""and get this share together."""
Cut = tuple[int, int, float]
"""Class, other class, and the log-odds that the one must have against the other."""


class PairBounds(Protocol):
    """Bounds on how much of each class and row reaches a cut, and how much of it misses two."""

    def reached(self, cut: Cut) -> Bounds:
        """Mass of outcomes that allow the class and, unless they exclude the other, reach the cut."""

    def corner(self, cut: Cut, other: Cut) -> Corner | None:
        """Mass of outcomes that reach neither cut, and both, where it was bounded."""


@dataclass(frozen=True, slots=True)
class _Conjunction:
    """Cuts all of which are reached where a test holds, or one of which is where it may."""

    cuts: tuple[Cut, ...]


def doubt_cut(decider: Decider, odds: float, rounding: float) -> tuple[float, float]:
    """How far below and above a cut the tolerance of ties decides; tests have versions for it instead."""
    if not isinstance(decider, LogOddsIntervals):
        return 0.0, 0.0
    start, end = decider.doubts(rounding)[decider.cuts.tolist().index(odds)] - odds
    return float(start), float(end)


def needed_cuts(decider: Decider, actions: Iterable[int]) -> tuple[Cut, ...]:
    """Every cut that bounds on these actions read."""
    if isinstance(decider, LogOddsIntervals):
        return tuple((decider.upper, 1 - decider.upper, float(cut)) for cut in decider.cuts)
    assert isinstance(decider, TestedDecider)
    found: dict[Cut, None] = {}
    for action in actions:
        for test in decider.tests(action):
            for group in (*_sufficient(test), *_necessary(test)):
                found.update(dict.fromkeys(group.cuts))
    return tuple(found)


def bound_actions(
    decider: Decider, actions: Sequence[int], pairs: PairBounds, mass: Floats
) -> Mapping[int, Bounds]:
    """For each action, bounds on the mass of each class and row (classes, rows) that it is decided on."""
    if isinstance(decider, LogOddsIntervals):
        return {action: _bound_intervals(decider, action, pairs, mass) for action in actions}
    assert isinstance(decider, TestedDecider)
    return {action: _bound_tests(decider.tests(action), pairs, mass) for action in actions}


def _bound_intervals(decider: LogOddsIntervals, action: int, pairs: PairBounds, mass: Floats) -> Bounds:
    """The intervals of log-odds that lead to the action; what reaches one end less what reaches the next."""
    upper, other = decider.upper, 1 - decider.upper
    tails = [(mass, mass)]
    tails += [pairs.reached((upper, other, float(cut))) for cut in decider.cuts]
    tails.append((np.zeros_like(mass), np.zeros_like(mass)))
    low, high = np.zeros_like(mass), np.zeros_like(mass)
    for region, taken in enumerate(decider.regions):
        if taken == action:
            low += np.maximum(tails[region][0] - tails[region + 1][1], 0.0)
            high += np.maximum(tails[region][1] - tails[region + 1][0], 0.0)
    return low, np.minimum(high, mass)


def _bound_tests(tests: Sequence[LinearTest], pairs: PairBounds, mass: Floats) -> Bounds:
    """Bounds on the mass where all tests hold."""
    corners = {}
    for (i, one), (j, other) in itertools.combinations(enumerate(map(sole_cut, tests)), 2):
        corner = None if one is None or other is None else pairs.corner(one, other)
        if corner is not None:
            corners[i, j] = corner
    return bound_conjunction([_bound_test(test, pairs, mass) for test in tests], corners, mass)


def sole_cut(test: LinearTest) -> Cut | None:
    """The one cut that the test asks for, if it compares two classes; missing it fails the test for sure."""
    groups = _sufficient(test)
    return groups[0].cuts[0] if len(groups) == 1 and len(groups[0].cuts) == 1 else None


def odds_of(weights: Floats, cut: Cut) -> float:
    """The log-odds of the cut in another version of its test; minus infinity for no such cut."""
    one, other = weights[cut[0]], -weights[cut[1]]
    return math.log(other / one) if one > 0.0 and other > 0.0 else -math.inf


def _bound_test(test: LinearTest, pairs: PairBounds, mass: Floats) -> Bounds:
    low, high = np.zeros_like(mass), mass
    for group in _sufficient(test):
        failing = sum((mass - pairs.reached(cut)[0] for cut in group.cuts), np.zeros_like(mass))
        low = np.maximum(low, mass - failing)
    for group in _necessary(test):
        holding = sum((pairs.reached(cut)[1] for cut in group.cuts), np.zeros_like(mass))
        high = np.minimum(high, holding)
    return low, high


def _sufficient(test: LinearTest) -> list[_Conjunction]:
    """Any one of these, with all its cuts reached, makes the test hold."""
    ours, theirs = np.flatnonzero(test.sure > 0), np.flatnonzero(test.sure < 0)
    if not len(theirs):
        return [_Conjunction(())]
    shares = _shares(-test.sure[theirs])
    return [
        _Conjunction(
            tuple(
                (int(c), int(k), math.log(-test.sure[k] / (share * test.sure[c])))
                for k, share in zip(theirs, shares, strict=True)
            )
        )
        for c in ours
        if test.sure[c] > SMALL * np.abs(test.sure).max()
    ]


def _necessary(test: LinearTest) -> list[_Conjunction]:
    """In each of these at least one cut is reached wherever the test holds."""
    ours, theirs = np.flatnonzero(test.possible > 0), np.flatnonzero(test.possible < 0)
    if not len(ours):
        return []
    shares = _shares(test.possible[ours])
    return [
        _Conjunction(
            tuple(
                (int(c), int(k), math.log(share * -test.possible[k] / test.possible[c]))
                for c, share in zip(ours, shares, strict=True)
            )
        )
        for k in theirs
        if -test.possible[k] > SMALL * np.abs(test.possible).max()
    ]


def _shares(weights: Floats) -> Floats:
    """Shares that sum to 1, equal but for weights that stand for ties alone."""
    large = weights > SMALL * weights.max()
    n_large, n_small = int(large.sum()), int((~large).sum())
    for_large = (1.0 - (SMALL_SHARE if n_small else 0.0)) / n_large
    shares: Floats = np.where(large, for_large, SMALL_SHARE / max(n_small, 1))
    return shares


def doubtful_rows(decider: Decider, class_mass: Floats, rounding: float) -> Ints:  # (rows, classes)
    """The rows with mass that the tolerance of ties decides."""
    rows = np.flatnonzero(class_mass.sum(axis=1) > 0)
    return rows[find_doubtful(decider, class_mass[rows], rounding)] if len(rows) else rows


def decide_rows(decider: Decider, class_mass: Floats) -> Ints:  # (rows, classes)
    """The action for each row; rows without mass get the first."""
    decisions = np.zeros(len(class_mass), dtype=np.int64)
    rows = np.flatnonzero(class_mass.sum(axis=1) > 0)
    if len(rows):
        decisions[rows] = decider.decide(class_mass[rows])
    return decisions
