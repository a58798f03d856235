"""How much of all pairs of two lists each action is decided on.

A pair of outcomes has the log-odds of the one plus those of the other. With two classes an action is one or
more intervals of that sum: the one list is sorted, and every outcome of the other finds the part of it that
reaches a cut. With three, an action is taken where its class is ahead of two rivals at once: a count of
points of the plane that dominate a corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.decisions.rules import TIE, Decider, LinearTest, LogOddsIntervals, TestedDecider
from unswayed.engines.sums.decisions import odds_of, sole_cut
from unswayed.kernels.dominance import compiled_sum_dominated
from unswayed.kernels.meeting import are_first

FEW_PAIRS = 2**12
"""Pairs of outcomes that are compared one by one as fast as they are counted by sorting."""
EXCLUDED, EXCLUDING = -3e6, 1e6
"""Log-odds of a class that an outcome excludes, whatever its rival, and of one whose rival it excludes."""


class PairCut(NamedTuple):
    """What the log-odds of one class against another must reach."""

    one: int
    other: int
    odds: float
    tie: float
    """Log-odds at which the two actions are as good, nearer to the cut than the tolerance of ties is."""


def find_cuts(decider: Decider) -> list[tuple[PairCut, ...]] | None:
    """The cuts that each action but the first must reach, for three classes; None where tests are others.

    What none of them is decided on goes to the first action, as ties do. Two actions part at one cut, half
    way from their tie to where the later one is surely taken: as far from the tie as the rule's tolerance.
    """
    if not isinstance(decider, TestedDecider):
        return None
    cuts: list[dict[tuple[int, int], PairCut]] = [{} for _ in decider.actions]
    for later in range(1, len(cuts)):
        for earlier, test in zip(range(later), decider.tests(later), strict=False):
            made = _part_actions(test)
            if made is None:
                return None
            _demand(cuts[later], made)
            _demand(cuts[earlier], PairCut(made.other, made.one, -made.odds, -made.tie))
    if any(len(each) > 2 for each in cuts[1:]):
        return None
    return [tuple(each.values()) for each in cuts[1:]]


def _part_actions(test: LinearTest) -> PairCut | None:
    """The cut of a test that compares two classes, all others being worth the same to both actions."""
    cut = sole_cut(replace(test, sure=np.where(test.even == 0.0, 0.0, test.sure)))
    if cut is None:
        return None
    tie = odds_of(test.even, cut)
    return None if tie == -np.inf else PairCut(cut[0], cut[1], 0.5 * (tie + cut[2]), tie)


def _demand(cuts: dict[tuple[int, int], PairCut], cut: PairCut) -> None:
    """Add a cut to those of an action; of two between the same classes the one that asks for more counts."""
    known = cuts.get(cut[:2], cut)
    cuts[cut[:2]] = PairCut(cut.one, cut.other, max(cut.odds, known.odds), max(cut.tie, known.tie))


def count_actions(
    decider: Decider, left: Floats, right: Floats, rounding: float
) -> tuple[Floats, float]:  # (classes, outcomes) each
    """The mass of all pairs that each action is decided on, and that the tolerance of ties decides."""
    total = float(left.sum(axis=1) @ right.sum(axis=1))
    if isinstance(decider, LogOddsIntervals):
        classes, spans = (decider.upper, 1 - decider.upper), decider.doubts(rounding)
        reached = _reach_ends(classes, spans, left, right)
        at_cuts = np.where(spans[:, 0] == decider.cuts, reached[:, 0], reached[:, 1])
        tails = np.array([total, *at_cuts, 0.0])
        by_region = np.maximum(tails[:-1] - tails[1:], 0.0)
        found: Floats = np.bincount(decider.regions, by_region, len(decider.actions)).astype(np.float64)
        return found, float((reached[:, 0] - reached[:, 1]).sum())
    cuts = find_cuts(decider)
    assert cuts is not None
    others = [_reach_all(each, left, right) for each in cuts]
    doubt = 0.0
    for one, other, odds, tie in {each for several in cuts for each in several}:
        near = tie + (odds - tie) * (rounding / TIE)  # rounding is relative to the same terms as tolerance
        reached = _reach_ends((one, other), np.array([sorted((odds, near))]), left, right)
        doubt += float(reached[0, 0] - reached[0, 1])
    return np.array([max(total - sum(others), 0.0), *others]), doubt


def count_by_outcome(
    decider: LogOddsIntervals, left: Floats, right: Floats, rounding: float
) -> tuple[Floats, Floats]:  # (actions and what ties decide, outcomes) each
    """For each outcome of either list, the mass of its pairs that each action is decided on, of two classes.

    The same two sorted lists serve both ways: every outcome finds the part of the other list that reaches a
    cut, whoever asks.
    """
    classes, spans = (decider.upper, 1 - decider.upper), decider.doubts(rounding)
    one, other = (_SortedHalf.of(half, _odds(half, *classes)) for half in (left, right))
    return _share_out(decider, spans, one, other), _share_out(decider, spans, other, one)


class _SortedHalf(NamedTuple):
    """Outcomes of a half, ascending by log-odds."""

    order: Ints
    odds: Floats
    mass: Floats  # (classes, outcomes)

    @staticmethod
    def of(mass: Floats, odds: Floats) -> _SortedHalf:
        order = np.argsort(odds)
        return _SortedHalf(order, odds[order], mass[:, order])


def _share_out(decider: LogOddsIntervals, spans: Floats, ours: _SortedHalf, theirs: _SortedHalf) -> Floats:
    """For each outcome of ours, its pairs' mass by action, and what ties decide of it."""
    tails = np.zeros((len(theirs.mass), len(theirs.order) + 1))
    tails[:, :-1] = np.cumsum(theirs.mass[:, ::-1], axis=1)[:, ::-1]
    reached = _reach_by_outcome(ours.mass, ours.odds, tails, theirs.odds, spans)
    at_cuts = np.where(spans[:, :1] == decider.cuts[:, np.newaxis], reached[:, 0], reached[:, 1])
    total = tails[:, 0] @ ours.mass
    by_region = np.maximum(-np.diff(np.vstack([total, at_cuts, np.zeros_like(total)]), axis=0), 0.0)
    masses = np.zeros((len(decider.actions) + 1, len(ours.order)))
    for region, action in enumerate(decider.regions):
        masses[action, ours.order] += by_region[region]
    masses[-1, ours.order] = (reached[:, 0] - reached[:, 1]).sum(axis=0)
    return masses


def _reach_by_outcome(
    ours: Floats, odds: Floats, tails: Floats, rivals: Floats, spans: Floats
) -> Floats:  # (spans, 2, outcomes)
    """For each outcome, ascending by log-odds, the mass of its pairs that reach either end of each span."""
    reached = np.empty((*spans.shape, len(odds)))
    for k, (low, high) in enumerate(np.clip(spans, EXCLUDED / 2, EXCLUDING / 2)):
        first = np.searchsorted(rivals, low - odds)
        reached[k] = np.einsum("ci,ci->i", ours, tails[:, first])
        if not are_first(rivals, first, high - odds):
            first = np.searchsorted(rivals, high - odds)
            reached[k, 1] = np.einsum("ci,ci->i", ours, tails[:, first])
    return reached


def _reach_ends(classes: tuple[int, int], spans: Floats, left: Floats, right: Floats) -> Floats:  # (spans, 2)
    """Mass of the pairs whose log-odds of one class against another reach either end of each span."""
    one, other = _odds(left, *classes), _odds(right, *classes)
    asking, order = np.argsort(one), np.argsort(other)
    tails = np.zeros((len(right), len(order) + 1))
    tails[:, :-1] = np.cumsum(right[:, order[::-1]], axis=1)[:, ::-1]
    ours, theirs, ascending = one[asking], left[:, asking], other[order]
    reached = np.empty(spans.shape)
    for k, (low, high) in enumerate(np.clip(spans, EXCLUDED / 2, EXCLUDING / 2)):
        # Ascending questions find their answers side by side.
        first = np.searchsorted(ascending, low - ours)
        reached[k] = float(np.einsum("ci,ci->", theirs, tails[:, first]))
        if not are_first(ascending, first, high - ours):
            first = np.searchsorted(ascending, high - ours)
            reached[k, 1] = float(np.einsum("ci,ci->", theirs, tails[:, first]))
    return reached


def _reach_all(cuts: Sequence[PairCut], left: Floats, right: Floats) -> float:
    """Mass of the pairs that reach one or two cuts."""
    # One cut twice is as good as two.
    first, second = (cuts[0], cuts[-1]) if cuts else (PairCut(0, 0, -np.inf, -np.inf),) * 2
    one, other = ([_odds(half, *cut[:2]) for cut in (first, second)] for half in (left, right))
    n_pairs = left.shape[1] * right.shape[1]
    if n_pairs <= FEW_PAIRS:
        reached = np.ones((left.shape[1], right.shape[1]), dtype=np.bool_)
        for ours, theirs, cut in zip(one, other, (first, second), strict=True):
            reached &= np.add.outer(ours, theirs) >= cut.odds
        return float(np.einsum("ci,ij,cj->", left, reached, right, optimize=True))
    asking, entering = np.argsort(one[0]), np.argsort(-other[0])
    n_entered = np.searchsorted(-other[0][entering], one[0][asking] - first.odds, side="right")
    ascending = np.sort(other[1])
    first_rank = np.searchsorted(ascending, second.odds - one[1][asking])
    ranks = np.empty(right.shape[1], dtype=np.int64)
    ranks[np.argsort(other[1])] = np.arange(right.shape[1])
    masses = (np.ascontiguousarray(half.T[order]) for half, order in ((left, asking), (right, entering)))
    ours, theirs = masses
    return float(compiled_sum_dominated(ours, n_entered, first_rank, theirs, ranks[entering]).sum())


def _odds(half: Floats, upper: int, rival: int) -> Floats:
    """Log-odds of a class against its rival, finite also where an outcome excludes one of them."""
    one, other = half[upper], half[rival]
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(one) - np.log(other)
    return np.where(one == 0.0, EXCLUDED, np.where(other == 0.0, EXCLUDING, odds))
