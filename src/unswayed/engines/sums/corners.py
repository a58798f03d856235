"""What was swept of single pairs of classes, and of two pairs together.

A *corner* is what reaches neither of two cuts of one class, where two rivals are ahead of it at once. Under
that class it holds little mass; under a rival's, what reaches both does. A sweep bounds the two at once.

**Planes.** Bounds on how often two tests fail together, or hold together, from a sweep over pairs of
frequencies.

With m <= 1_A <= M and m' <= 1_B <= M' the polynomials around two one-sided tests (`sweeps.py`),

    m M' + M m' - M M'  <=  1_A 1_B  <=  M M'

because the left side is 1 - v - v' - u v' - u' v - u u' where both hold (M = 1 + u, m = 1 - v), and a sum of
terms at most 0 elsewhere; likewise for both complements, with 1 - M <= 1 - 1_A <= 1 - m. The expectations
need phi(n, k) = E exp(2 pi i (n x + k y)) for |n| <= N and 0 <= k <= N: one elimination each. They differ by
the density along the two sides of the corner, over N; a corner that holds little mass needs few frequencies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.anytime import tick
from unswayed.core.arrays import Floats, Ints
from unswayed.decisions.rules import TestedDecider
from unswayed.engines.sums.decisions import Cut, odds_of, sole_cut
from unswayed.engines.sums.factors import Factor
from unswayed.engines.sums.pairs import Pair, Window, count_turns, find_window, make_pair, mass_allowing
from unswayed.engines.sums.passes import PassLayout
from unswayed.engines.sums.sweeps import (
    Complexes,
    SweptCut,
    TailBounds,
    block_size,
    blur_of,
    coefficient_sum,
    count_operations,
    cut_coefficients,
    price_columns,
    rounding_bound,
    start_tails,
)
from unswayed.engines.sums.unions import Bounds, Corner
from unswayed.inference.batches import Numbers

WIDEST_TIES = 1e-9
"""Log-odds between the versions of a test; where they are farther apart, no corner is made of it."""


@dataclass(frozen=True, slots=True, eq=False)
class SweepGround:
    """What all sweeps of a question share."""

    layout: PassLayout
    factors: tuple[Factor, ...]
    scores: tuple[Factor, ...]
    """Factors by which decisions are made, mostly the same."""

    known: dict[frozenset[int], Floats] = field(default_factory=dict)
    """What `allowing` found so far."""

    def allowing(self, *classes: int) -> Floats:
        """Pr(class, row) of the outcomes that exclude none of some classes."""
        excluding = frozenset(each for each in classes if _excludes(self.scores, each))
        if excluding not in self.known:
            found = mass_allowing(self.layout, self.factors, sorted(excluding), self.scores)
            self.known[excluding] = found
        return self.known[excluding]


def _excludes(scores: Sequence[Factor], one: int) -> bool:
    """Whether some outcome excludes a class."""
    return not all(bool(score.mass[one].all()) for score in scores if len(score.mass) > 1)


@dataclass(slots=True, eq=False)
class SweptPair:
    """What is known of one pair of classes so far; tightened round by round."""

    pair: Pair
    window: Window
    cuts: tuple[SweptCut, ...]
    actions: tuple[int, ...]
    """Actions whose bounds read the cuts."""
    finite: Floats  # (classes, rows)
    above: Floats  # (classes, rows) mass of sums that are plus infinity
    below: Floats  # (classes, rows) mass of sums that are minus infinity
    tails: TailBounds

    def reached(self, one: int, odds: float) -> Bounds:
        """Mass of outcomes that allow class `one` and, unless they exclude the other, have these odds."""
        if one == self.pair.high:
            at = self._place(odds)
            return self.above + self.tails.low[at], self.above + self.tails.high[at]
        at = self._place(-odds)
        everything = self.below + self.finite
        return everything - self.tails.high[at], everything - self.tails.low[at]

    def _place(self, odds: float) -> int:
        return [cut.odds for cut in self.cuts].index(odds)

    def missed_side(self, cut: Cut, ties: float) -> FailingSide:
        """The sums at which a class does not have the odds of a cut, ties either way."""
        is_high = cut[0] == self.pair.high
        turn = SweptCut(cut[2] if is_high else -cut[2], -ties, ties)
        return FailingSide(self.pair, self.window, turn, is_high)


@dataclass(slots=True, eq=False)
class SweptCorner:
    """What is known of the outcomes that reach neither of two cuts, or both; tightened round by round."""

    action: int
    """The action that both cuts are asked of."""
    sides: tuple[FailingSide, FailingSide]
    masses: tuple[Floats, ...]
    """The factors without the outcomes that exclude a class of the cuts."""
    finite: Floats  # (classes, rows)
    excluded: Floats  # (classes, rows) mass of outcomes that exclude the cuts' own class: they miss both
    unsure: Floats  # (classes, rows) mass of outcomes that exclude a rival alone: they may reach both
    missed: Bounds
    """Mass of finite outcomes that reach neither cut."""
    reached: Bounds
    """Mass of finite outcomes that reach both."""
    stray: float = 0.0
    """Mass that the bounds may leave out on either side."""

    @property
    def corner(self) -> Corner:
        """Bounds on all outcomes."""
        (none, most_none), (both, most_both) = self.missed, self.reached
        return Corner((self.excluded + none, self.excluded + most_none), (both, self.unsure + most_both))

    @property
    def gap(self) -> Floats:  # (classes, rows)
        """Mass that the better of the two leaves undecided."""
        return np.minimum(self.missed[1] - self.missed[0], self.reached[1] - self.reached[0])

    def sweep(self, layout: PassLayout, cells: tuple[Ints, Ints], degree: int) -> None:
        """Tighten the bounds in some classes and rows."""
        at = np.ix_(*cells)
        masses = [mass if len(mass) == 1 else mass[cells[0]] for mass in self.masses]
        found = sweep_plane(layout, self.sides, masses, self.finite[at], cells[1], degree)
        self.stray = sum(side.stray for side in self.sides)
        for (low, high), (least, most) in zip((self.missed, self.reached), found, strict=True):
            low[at], high[at] = np.maximum(low[at], least), np.minimum(high[at], most)


def start_pair(
    ground: SweepGround,
    whole: PassLayout,
    key: tuple[int, int],
    cuts: tuple[SweptCut, ...],
    actions: tuple[int, ...],
    stray: float,
) -> SweptPair:
    """What every round shares: the window, and the mass of infinite weights."""
    pair = make_pair(ground.factors, ground.scores, *key)
    finite = ground.allowing(*key)
    above, below = (np.maximum(ground.allowing(each) - finite, 0.0) for each in key)
    tails = start_tails(ground.layout, pair, cuts, finite)
    window = find_window(whole, pair, stray)
    # What floating point may have moved from a tie into the doubt around it, or to its end, is one.
    moved = 2.0 * blur_of(pair, window)
    cuts = tuple(SweptCut(odds, min(low + moved, 0.0), max(high - moved, 0.0)) for odds, low, high in cuts)
    return SweptPair(pair, window, cuts, actions, finite, above, below, tails)


def start_corner(
    ground: SweepGround, action: int, cuts: Sequence[tuple[Cut, float]], pairs: Sequence[SweptPair]
) -> SweptCorner:
    """A corner of two cuts, each with how far ties may lie below it; nothing is known of it yet."""
    own, rivals = cuts[0][0][0], [cut[1] for cut, _ in cuts]
    finite, allowed = ground.allowing(own, *rivals), ground.allowing(own)
    excluded, unsure = np.maximum(ground.allowing() - allowed, 0.0), np.maximum(allowed - finite, 0.0)
    one, other = (pair.missed_side(cut, ties) for pair, (cut, ties) in zip(pairs, cuts, strict=True))
    masses = tuple(map(np.minimum, pairs[0].pair.masses, pairs[1].pair.masses))
    missed, reached = ((np.zeros_like(finite), finite.copy()) for _ in range(2))
    return SweptCorner(action, (one, other), masses, finite, excluded, unsure, missed, reached)


def find_sole_cuts(decider: TestedDecider, action: int) -> list[tuple[Cut, float]]:
    """The cuts of the action's tests that compare two classes, each with how far ties may lie below it."""
    found = []
    for test in decider.tests(action):
        cut = sole_cut(test)
        ties = np.inf if cut is None else cut[2] - odds_of(test.possible, cut)
        if cut is not None and ties < WIDEST_TIES:
            found.append((cut, max(ties, 0.0)))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class FailingSide:
    """One of two tests, by where it fails."""

    pair: Pair
    window: Window
    cut: SweptCut
    """Where the test turns, as the pair is oriented."""
    is_below: bool
    """Whether it fails below the cut, or else from it on."""

    def polynomials(self, degree: int) -> Complexes:  # (3, frequencies)
        """Below and above the indicator of failure, and 1."""
        low, high = cut_coefficients(self.pair, self.window, self.cut, degree)
        one = np.zeros_like(low)
        one[0] = 1.0
        return np.stack([one - high, one - low, one] if self.is_below else [low, high, one])

    def turns(self) -> list[Floats]:
        """The weights in turns of the circle."""
        return [weight / (self.window.high - self.window.low) for weight in self.pair.weights]

    @property
    def stray(self) -> float:
        """Mass that may lie outside the window."""
        return self.window.below + self.window.above


def sweep_plane(
    layout: PassLayout,
    sides: tuple[FailingSide, FailingSide],
    masses: Sequence[Floats],
    mass: Floats,
    rows: Ints,
    degree: int,
) -> tuple[Bounds, Bounds]:
    """Bounds on the mass where both tests fail and where both hold, in some rows.

    `masses` are the factors without outcomes of infinite weight, `mass` is their product in those rows.
    """
    layout, rows = layout.select(rows)
    first, second = (side.polynomials(degree) for side in sides)
    # The first test at negative frequencies too, so its coefficients are halved.
    first = np.concatenate([first[:, :0:-1].conj() / 2, first[:, :1], first[:, 1:] / 2], axis=1)
    values = np.zeros((3, 3, *mass.shape))
    length = max(block_size(layout, len(mass)) // (2 * degree + 1), 1)
    for start, leaves in _leaves(sides, masses, degree, length):
        chosen = second[:, start : start + length]
        tick(price_columns(layout, len(mass), chosen.shape[1] * first.shape[1]), "two sums over the features")
        found = layout.run(leaves)[:, rows]
        found = np.broadcast_to(found, (*mass.shape, chosen.shape[1] * first.shape[1]))
        by_first = found.reshape(*mass.shape, chosen.shape[1], -1) @ first.T
        values += np.einsum("crkp,qk->pqcr", by_first, chosen).real
    rounding = _rounding(layout, sides, degree) * mass
    # With p for 1 - q, E p p' = 1 - E q - E q' + E q q', and what lies below p is 1 less what lies above q.
    turned = values[2, 2] - values[:2, 2:3] - values[2:3, :2] + values[:2, :2]
    return _enclose(values, mass, rounding), _enclose(turned[::-1, ::-1], mass, 4.0 * rounding)


def _enclose(values: Floats, mass: Floats, rounding: Floats) -> Bounds:
    """From the expectations of products of polynomials below and above two indicators to bounds."""
    low = np.clip(values[0, 1] + values[1, 0] - values[1, 1] - 3.0 * rounding, 0.0, mass)
    return low, np.clip(values[1, 1] + rounding, low, mass)


def _rounding(layout: PassLayout, sides: tuple[FailingSide, FailingSide], degree: int) -> float:
    """What floating point can change in a double sum, in shares of the mass."""
    operations = count_operations(layout)
    once = sum(rounding_bound(degree, operations, count_turns(side.pair, side.window)) for side in sides)
    return once * coefficient_sum(degree)


def _leaves(
    sides: tuple[FailingSide, FailingSide], masses: Sequence[Floats], degree: int, length: int
) -> Iterator[tuple[int, list[Numbers]]]:
    """The factors at `length` frequencies of the second sum, each with all those of the first."""
    around = np.arange(-degree, degree + 1)
    turns = [side.turns() for side in sides]
    ramps = [np.exp(2j * np.pi * np.remainder(turn[..., np.newaxis] * around, 1.0)) for turn in turns[0]]
    for start in range(0, degree + 1, length):
        ahead = np.arange(start, min(start + length, degree + 1))
        made: list[Numbers] = []
        for mass, ramp, one, other in zip(masses, ramps, *turns, strict=True):
            if not one.any() and not other.any():
                made.append(mass[..., np.newaxis])
                continue
            phases = np.exp(2j * np.pi * np.remainder(other[..., np.newaxis] * ahead, 1.0))
            both = phases[..., :, np.newaxis] * ramp[..., np.newaxis, :]
            made.append(mass[..., np.newaxis] * both.reshape(*one.shape, -1))
        yield start, made
