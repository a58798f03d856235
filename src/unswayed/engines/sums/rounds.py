"""Finer and finer bounds on the decisions of a problem, until a measure of them is good enough.

A round sweeps the log-odds of every pair of classes that the rule compares. The width of what comes out
shrinks with the number of frequencies, so one coarse round tells how many a fine one needs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import Decider
from unswayed.engines.sums.decisions import Bounds, Cut, bound_actions, needed_cuts
from unswayed.engines.sums.factors import Factor, plan_passes
from unswayed.engines.sums.pairs import Pair, Window, find_window, make_pair, mass_allowing
from unswayed.engines.sums.passes import KeptRows, PassLayout
from unswayed.engines.sums.profile_bounds import MASS_ROUNDING, DecidedMass
from unswayed.engines.sums.sweeps import TailBounds, sweep

FIRST_DEGREE = 256
"""Frequencies of the first round."""
LAST_DEGREE = 2**21
"""Frequencies at most."""
GROWTH = 4, 8
"""How many times more frequencies the next round takes, at least and at most."""
SPARE = 1.15
"""Frequencies more than a proportion would ask for."""
STALLED = 0.9
"""A round of four times the frequencies should narrow the interval by more than this factor."""
MOST_STALLS = 2
STRAY_SHARE = 1 / 64
"""Share of the tolerance that mass outside the windows may take."""
SETTLED_SHARE = 1 / 8
"""A pair that leaves less than this share of the tolerance undecided is not swept again."""
SAFETY, LEAST_GROWTH = 0.7, 1.5
"""Share of the time left that a round may be planned for, and the growth below which none is begun."""


@dataclass(slots=True, eq=False)
class _SweptPair:
    """What is known of one pair of classes so far; tightened round by round."""

    pair: Pair
    window: Window
    cuts: tuple[float, ...]
    finite: Floats  # (classes, rows)
    above: Floats  # (classes, rows) mass of sums that are plus infinity
    below: Floats  # (classes, rows) mass of sums that are minus infinity
    tails: TailBounds
    n_sets: int

    @property
    def gap(self) -> float:
        """Mass that is undecided at the worst cut, as a share of everything."""
        return float((self.tails.high - self.tails.low).sum(axis=(1, 2)).max(initial=0.0)) / self.n_sets


@dataclass(frozen=True, slots=True, eq=False)
class _Swept:
    """All pairs, ready to be asked for cuts either way round."""

    pairs: dict[tuple[int, int], _SweptPair]

    @property
    def undecided(self) -> float:
        """Mass that more frequencies could still decide."""
        return sum(each.gap for each in self.pairs.values())

    def reached(self, cut: Cut) -> Bounds:
        """Mass of outcomes that allow the class and, unless they exclude the other, reach the cut."""
        one, other, odds = cut
        if one < other:
            swept = self.pairs[one, other]
            at = swept.cuts.index(odds)
            return swept.above + swept.tails.low[at], swept.above + swept.tails.high[at]
        swept = self.pairs[other, one]
        at = swept.cuts.index(-odds)
        everything = swept.below + swept.finite
        return everything - swept.tails.high[at], everything - swept.tails.low[at]


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What is to be bounded, and how well."""

    problem: Problem
    factors: tuple[Factor, ...]
    layout: PassLayout
    decider: Decider
    """Whose decisions are bounded."""
    actions: tuple[int, ...]
    """Actions to be bounded; others are left between nothing and everything."""
    tolerance: float
    deadline: float
    scores: tuple[Factor, ...] | None = None
    """Factors by which decisions are made, where those are not the problem's own."""


def refine(request: Request, width: Callable[[DecidedMass], float]) -> DecidedMass:
    """Bounds on the decisions, until `width` is within the tolerance or the time is over."""
    class_mass = mass_allowing(request.layout, request.factors, ())
    swept = _start(request)
    decided, degree, found, stalls = _decided(request, swept, class_mass), FIRST_DEGREE, 1.0, 0
    while stalls < MOST_STALLS and degree:
        started = time.monotonic()
        if not _sweep_all(request, swept, degree):
            break
        decided, before = _decided(request, swept, class_mass), found
        found = width(decided)
        # Sums that tie with a cut stay undecided at any degree: then more frequencies stop helping.
        stalls = stalls + 1 if found > STALLED * before else 0
        if swept.undecided <= SETTLED_SHARE * found:
            break  # what is left is the price of pairs, which no frequency lowers
        growth = GROWTH[0] if stalls else GROWTH[1]
        degree = _next_degree(request, degree, growth, found, time.monotonic() - started)
    return decided


def _next_degree(request: Request, degree: int, growth: int, found: float, seconds: float) -> int:
    """How many frequencies the next round takes; 0 when there is no need or no time for one."""
    if found <= request.tolerance or degree >= LAST_DEGREE:
        return 0
    needed = SPARE * degree * found / request.tolerance
    wanted = min(max(needed, GROWTH[0] * degree), growth * degree, LAST_DEGREE)
    remaining = request.deadline - time.monotonic()
    affordable = degree * SAFETY * remaining / max(seconds, 1e-6)
    return int(min(wanted, affordable)) if affordable > LEAST_GROWTH * degree else 0


def _start(request: Request) -> _Swept:
    """What every round shares: windows, and the mass of infinite weights."""
    wanted: dict[tuple[int, int], dict[float, None]] = {}
    for one, other, odds in needed_cuts(request.decider, request.actions):
        key, value = ((one, other), odds) if one < other else ((other, one), -odds)
        wanted.setdefault(key, {})[value] = None
    stray = STRAY_SHARE * request.tolerance / max(len(wanted), 1)
    return _Swept({key: _start_pair(request, key, tuple(cuts), stray) for key, cuts in wanted.items()})


def _start_pair(request: Request, key: tuple[int, int], cuts: tuple[float, ...], stray: float) -> _SweptPair:
    layout, factors = request.layout, request.factors
    scores = factors if request.scores is None else request.scores
    pair = make_pair(factors, scores, *key)
    finite = mass_allowing(layout, factors, key, scores)
    above, below = (np.maximum(mass_allowing(layout, factors, (each,), scores) - finite, 0.0) for each in key)
    window = find_window(KeptRows(plan_passes(request.problem, frozenset()), ()), pair, stray)
    shape = (len(cuts), *finite.shape)
    tails = TailBounds(np.zeros(shape), np.broadcast_to(finite, shape), 0.0)
    return _SweptPair(pair, window, cuts, finite, above, below, tails, layout.n_sets)


def _sweep_all(request: Request, swept: _Swept, degree: int) -> bool:
    """Tighten every pair that is not settled yet; False when the time is over before the last."""
    for each in swept.pairs.values():
        if each.gap <= SETTLED_SHARE * request.tolerance / len(swept.pairs):
            continue
        tails = sweep(
            request.layout, each.pair, each.window, each.cuts, each.finite, degree, request.deadline
        )
        if tails is None:
            return False
        each.tails = each.tails.tighten(tails)
    return True


def _decided(request: Request, swept: _Swept, class_mass: Floats) -> DecidedMass:
    n_actions = len(request.decider.actions)
    low = np.zeros((*class_mass.shape, n_actions))
    high = np.repeat(class_mass[:, :, np.newaxis], n_actions, axis=2)
    for action, bounds in bound_actions(request.decider, request.actions, swept, class_mass).items():
        low[:, :, action], high[:, :, action] = bounds
    stray = sum(each.tails.stray for each in swept.pairs.values())
    return DecidedMass(class_mass, low, high, stray + MASS_ROUNDING)
