"""Certain bounds on decisions that rest on objects too many to list.

With two classes, a decision is an interval of the log-odds, and `TermSum` bounds their tails. With several
and the most probable class, class d is decided when it beats every other one, so the bounds of all pairs
together enclose the probability: at least one less all the defeats, at most the least of the victories.

Agreement after observing some attributes: let x be the log-odds they add, and f(x) the probability that all
attributes together reach the cut. f grows with x, so on each side of the cut the agreement is a sum over
steps of f, each weighed with a tail of x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from unswayed.core.anytime import reserve, settle
from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.decisions.oracle import Interval
from unswayed.decisions.rules import TIE, LogOddsIntervals, MostProbable
from unswayed.spaces.decisions.classifier import StructuredCase
from unswayed.spaces.decisions.listed import checked_names, list_together
from unswayed.spaces.decisions.sums import Tails, TermSum

FIRST_DEGREE, LAST_DEGREE = 256, 2**16
"""Frequencies of the first round and at most."""
_STRAY_SHARE = 1 / 64
"""Share of the tolerance that may lie outside the windows."""
_STEPS = 1024
"""Steps of f on each side of the cut, and outcomes that are summed over one by one."""
_GROWTH = 8.0
"""How many times more frequencies the next round takes at most; a round that is cut says nothing."""
_STALLED = 0.8
"""A round that leaves more than this share of the interval is the last."""

Bounds = tuple[Floats, Floats]
"""Lower and upper bounds, one for each class."""


def certified_agreement(case: StructuredCase, kept: Iterable[str], *, tolerance: float) -> Interval:
    """Bounds on the probability that the decision after observing `kept` is that of all attributes."""
    chosen = checked_names(case, kept)
    if len(chosen) == len(case.open_terms) or np.isfinite(case.log_posterior).sum() == 1:
        return Interval.point(1.0)
    with reserve():
        bound = _agreement_after(case, chosen, tolerance) if chosen else _same_decision(case, tolerance)
    return refine(bound, np.exp(case.log_posterior), tolerance=tolerance)


def refine(bound: Callable[[int], Bounds], posterior: Floats, *, tolerance: float) -> Interval:
    """Bounds with more and more frequencies, until they are close enough or no more may be spent."""
    found = settle(
        _narrow(bound, posterior, tolerance), enough=lambda each: each.high - each.low <= tolerance
    )
    return found.last


def _narrow(bound: Callable[[int], Bounds], posterior: Floats, tolerance: float) -> Iterator[Interval]:
    low, high, degree = 0.0, 1.0, FIRST_DEGREE
    with reserve():  # the first round is the least that makes an answer
        below, above = bound(degree)
    while True:
        before = high - low
        low, high = max(low, float(posterior @ below)), min(high, float(posterior @ above))
        yield Interval(min(low, high), high, Certainty.BOUND)
        # What pairs of classes or steps leave open does not shrink with more frequencies.
        if degree >= LAST_DEGREE or high - low > _STALLED * before:
            return
        degree = int(min(degree * min(max(2.0, 1.2 * (high - low) / tolerance), _GROWTH), LAST_DEGREE))
        below, above = bound(degree)


def _same_decision(case: StructuredCase, tolerance: float) -> Callable[[int], Bounds]:
    decider = case.classifier.decider
    stray = _STRAY_SHARE * tolerance
    if isinstance(decider, LogOddsIntervals):
        total = TermSum(tuple(case.open_terms.values()), (decider.upper, 1 - decider.upper), stray)
        cuts = decider.cuts - _offset(case, total.pair)
        return lambda degree: _interval_mass(
            total.tails(cuts, total.transform(degree)), decider.regions, case.action
        )
    if isinstance(case.classifier.rule, MostProbable):
        return _victories(case, stray)
    raise LimitError(
        "there are too many outcomes to list, and this rule on three or more classes is no comparison of two "
        "classes at a time; use MostProbable(), observe more, or take a smaller space"
    )


def _offset(case: StructuredCase, pair: tuple[int, int]) -> float:
    """The log-odds now; a class that is excluded leaves nothing open, so that listing has answered."""
    return float(case.log_posterior[pair[0]] - case.log_posterior[pair[1]])


def _interval_mass(tails: Tails, regions: tuple[int, ...], action: int) -> Bounds:
    """Bounds on the mass of the intervals with an action: from each cut up, less from the next up."""
    ones, zeros = np.ones((1, tails.low.shape[1])), np.zeros((1, tails.low.shape[1]))
    low_from, high_from = np.concatenate([ones, tails.low]), np.concatenate([ones, tails.high])
    low_next, high_next = np.concatenate([tails.low, zeros]), np.concatenate([tails.high, zeros])
    here = np.array(regions) == action
    low = np.maximum(low_from - high_next, 0.0)[here].sum(axis=0)
    high = np.minimum(np.maximum(high_from - low_next, 0.0)[here].sum(axis=0), 1.0)
    return low, high


def _victories(case: StructuredCase, stray: float) -> Callable[[int], Bounds]:
    """Bounds on the probability that the class decided now beats every other one."""
    terms = tuple(case.open_terms.values())
    winner = case.action
    rivals = [k for k in range(len(case.log_posterior)) if k != winner and case.log_posterior[k] > -np.inf]
    sums = [TermSum(terms, (winner, rival), stray) for rival in rivals]

    def bound(degree: int) -> Bounds:
        low, high = np.ones(len(case.log_posterior)), np.ones(len(case.log_posterior))
        for total in sums:
            offset = _offset(case, total.pair)
            # Certainly won beyond a tie, and perhaps from a tie on.
            tails = total.tails([TIE - offset, -TIE - offset], total.transform(degree))
            low -= 1.0 - tails.low[0]
            high = np.minimum(high, tails.high[1])
        return np.maximum(low, 0.0), high

    return bound


def _agreement_after(case: StructuredCase, kept: list[str], tolerance: float) -> Callable[[int], Bounds]:
    """Bounds on the agreement of the decision after observing `kept` with the full one, for one cut."""
    decider = case.classifier.decider
    if not isinstance(decider, LogOddsIntervals) or len(decider.cuts) != 1:
        raise LimitError(
            "there are too many outcomes to list; what observing some attributes leads to is bounded for two "
            "classes and one threshold only"
        )
    pair = (decider.upper, 1 - decider.upper)
    stray = _STRAY_SHARE * tolerance
    others = [name for name in case.open_terms if name not in kept]
    seen, rest = (
        TermSum(tuple(case.open_terms[name] for name in names), pair, stray) for names in (kept, others)
    )
    cut = float(decider.cuts[0]) - _offset(case, pair)
    observed, left = list_together(case, kept), list_together(case, others)
    if observed is not None and len(observed) <= _STEPS:
        return partial(_after_values, observed, cut, rest)
    if left is not None and len(left) <= _STEPS:
        return partial(_before_values, left, cut, seen)
    return _by_steps(seen, rest, cut)


def _odds(values: Floats, pair: tuple[int, int]) -> Floats:
    """The log-odds that each outcome adds; beyond every cut where it excludes a class."""
    one, other = np.maximum(values[:, list(pair)].T, -1e300)
    odds: Floats = one - other
    return odds


def _after_values(values: Floats, cut: float, rest: TermSum, degree: int) -> Bounds:
    """Few outcomes are observed: of each, the probability that the rest confirms it."""
    odds = _odds(values, rest.pair)
    tails = rest.tails(cut - odds, rest.transform(degree))
    mass, decided = np.exp(values), (odds >= cut)[:, None]
    low = np.where(decided, tails.low, 1.0 - tails.high)
    high = np.where(decided, tails.high, 1.0 - tails.low)
    return (mass * low).sum(axis=0), (mass * high).sum(axis=0)


def _before_values(values: Floats, cut: float, seen: TermSum, degree: int) -> Bounds:
    """Few outcomes are left: each overturns what was observed in one interval of its log-odds."""
    edges = np.concatenate([[cut], cut - _odds(values, seen.pair)])
    tails = seen.tails(edges, seen.transform(degree))
    mass = np.exp(values)
    at_low, at_high, cut_low, cut_high = tails.low[1:], tails.high[1:], tails.low[0], tails.high[0]
    is_up = (edges[1:] <= cut)[:, None]  # the outcome raises the odds: overturned from the edge to the cut
    most = np.where(is_up, at_high - cut_low, cut_high - at_low)
    least = np.where(is_up, at_low - cut_high, cut_low - at_high)
    total = mass.sum(axis=0)
    return total - (mass * np.clip(most, 0, 1)).sum(axis=0), total - (mass * np.clip(least, 0, 1)).sum(axis=0)


def _by_steps(seen: TermSum, rest: TermSum, cut: float) -> Callable[[int], Bounds]:
    """Many outcomes on both sides: steps of the probability that the rest reaches the cut."""
    up = np.linspace(cut, max(seen.start + seen.length, cut + 1e-9), _STEPS)
    down = np.linspace(cut, min(seen.start, cut - 1e-9), _STEPS)

    def bound(degree: int) -> Bounds:
        degree = min(degree, 2 * _STEPS)  # finer bounds at the edges do not narrow the steps between them
        of_seen, of_rest = seen.transform(degree), rest.transform(degree)
        x_up, x_down = seen.tails(up, of_seen), seen.tails(down, of_seen)
        f_up, f_down = rest.tails(cut - up, of_rest), rest.tails(cut - down, of_rest)
        positive = _stepwise(f_up.low, f_up.high, x_up)
        negative = _stepwise(1 - f_down.high, 1 - f_down.low, Tails(1 - x_down.high, 1 - x_down.low))
        return positive[0] + negative[0], np.minimum(positive[1] + negative[1], 1.0)

    return bound


def _stepwise(low: Floats, high: Floats, beyond: Tails) -> Bounds:
    """Bounds on E[f(x); x beyond the first edge] for f that grows from edge to edge, outward.

    `low` and `high` enclose f at the edges, `beyond` the probability of x beyond each edge. Between two
    edges f is at least its value at the nearer one and at most its value at the farther one.
    """
    low = np.maximum.accumulate(np.maximum(low, 0.0), axis=0)
    high = np.minimum(np.minimum.accumulate(high[::-1], axis=0)[::-1], 1.0)
    farther = np.concatenate([high[1:], np.ones_like(high[:1])])
    rises = np.diff(low, axis=0, prepend=0.0), np.diff(farther, axis=0, prepend=0.0)
    return (rises[0] * beyond.low).sum(axis=0), (rises[1] * beyond.high).sum(axis=0)
