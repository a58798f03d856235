"""Bounds on Pr(class, row, L >= cut) from one sweep over the frequencies of a pair's log-odds.

**Tails.** From the transform of a sum to certain bounds on the probability that it reaches a cut: let x be a
sum on a circle of circumference 1, known by phi_n = E exp(2 pi i n x) for n up to N. The sawtooth psi(x) = x
- floor(x) - 1/2 has a trigonometric polynomial V of degree N with

    |psi(x) - V(x)|  <=  Fejer(x) / (2 N + 2)

[vaaler1985, Theorem 18], and the indicator of an arc [a, 1) is 1 - a + psi(x) - psi(x - a). So the
expectations of two polynomials enclose the probability of the arc, and both are dot products with phi. They
differ by the mean of Fejer's kernel around both ends of the arc, over N + 1: about the density there, over N.
Nothing is rounded to a grid, so the number of terms of the sum does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.core.anytime import UNITS_PER_SECOND, tick
from unswayed.core.arrays import Floats, Ints
from unswayed.engines.sums.pairs import STEEPEST, Pair, Window, count_turns, tilt_leaves
from unswayed.engines.sums.passes import PassLayout
from unswayed.inference.batches import Numbers

CACHED = 2**17
"""Complex numbers of the largest buffer that a block of frequencies fills: about what a cache holds."""
FEWEST, MOST = 16, 1024
"""Frequencies in a block, at least and at most."""

SECONDS_PER_OPERATION = 6e-9
"""Measured for one complex multiplication and addition within a block of frequencies."""
SECONDS_PER_STEP = 3e-5
"""Measured for one step of a plan on one block, whatever its size."""

TILTS = np.array([0.25, 0.5, 0.8])
"""Exponents tried before any frequency; one half is best between the two classes themselves."""
SURELY = 1.0 + 1e-9
"""More than floating point can change in a product of positive numbers, and ties in a cut, as a factor."""


class SweptCut(NamedTuple):
    """Where a test turns, and how far below and above it the tolerance of ties decides, not the sum."""

    odds: float
    low: float = 0.0
    high: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class TailBounds:
    """For each cut, class and row, bounds on the mass of finite sums that reach the cut."""

    low: Floats  # (cuts, classes, rows)
    high: Floats
    stray: float
    """Mass, in all rows together, that the bounds may leave out on either side."""

    def tighten(self, other: TailBounds, cells: tuple[Ints, ...]) -> TailBounds:
        """What both promise; the other speaks of some cells, given by positions (`np.ix_`), alone."""
        low, high = self.low.copy(), self.high.copy()
        low[cells] = np.maximum(low[cells], other.low)
        high[cells] = np.minimum(high[cells], other.high)
        return TailBounds(low, high, max(self.stray, other.stray))


def block_size(layout: PassLayout, n_classes: int) -> int:
    """How many frequencies to take at a time."""
    size = CACHED / (n_classes * layout.width)
    return int(min(max(2.0 ** np.floor(np.log2(max(size, 1.0))), FEWEST), MOST))


def sweep_bytes(layout: PassLayout, n_classes: int) -> float:
    """Memory that a sweep takes."""
    entries = sum(float(np.prod(layout.plan.shape(b), dtype=float)) for b in range(layout.plan.n_leaves))
    rows = float(layout.n_rows)
    return (
        16.0
        * block_size(layout, n_classes)
        * (entries * (1 + n_classes) + n_classes * (2 * layout.plan.peak_bytes / 8.0 + rows))
    )


def price_columns(layout: PassLayout, n_classes: int, n_columns: float) -> float:
    """Units that so many frequencies take."""
    blocks = max(n_columns / block_size(layout, n_classes), 1.0)
    seconds = n_columns * n_classes * layout.operations * SECONDS_PER_OPERATION
    return UNITS_PER_SECOND * (seconds + blocks * len(layout.plan.steps) * SECONDS_PER_STEP)


def start_tails(layout: PassLayout, pair: Pair, cuts: Sequence[SweptCut], mass: Floats) -> TailBounds:
    """Chernoff's inequality: Pr(L >= cut) <= E exp(s (L - cut)), and the same for the other side.

    One elimination with a few exponents. It tells which classes and rows need frequencies at all.
    """
    tilts = np.minimum(TILTS, STEEPEST / max(pair.reach, 1e-300))
    with np.errstate(all="ignore"):
        moments = layout.run(tilt_leaves(pair, np.concatenate([tilts, -tilts])))
        shifts = np.array([[tilt * (pair.offset - cut.odds) for tilt in (*tilts, *-tilts)] for cut in cuts])
        # A product that overflows, or one that is no number, says nothing.
        most = np.nan_to_num(moments * np.exp(shifts)[:, np.newaxis, np.newaxis], nan=np.inf) * SURELY
    most = np.broadcast_to(most, (len(cuts), *mass.shape, 2 * len(TILTS)))
    reached, missed = most[..., : len(TILTS)].min(axis=3), most[..., len(TILTS) :].min(axis=3)
    high = np.minimum(reached, mass)
    return TailBounds(np.clip(mass - missed, 0.0, high), high, 0.0)


def sweep(
    layout: PassLayout,
    pair: Pair,
    window: Window,
    cuts: Sequence[SweptCut],
    mass: Floats,
    rows: Ints,
    degree: int,
) -> TailBounds:
    """Bounds for every cut by `degree` frequencies, in some rows.

    `mass` is that of the finite sums, by the classes of the pair's masses and the rows; a bound never leaves
    it.
    """
    layout, rows = layout.select(rows)
    n_classes = len(mass)
    spans = [(cut.odds + cut.low, cut.odds + cut.high) for cut in cuts]
    within = [i for i, (start, end) in enumerate(spans) if window.low < end and start < window.high]
    values = np.zeros((2 * len(within), *mass.shape))
    if within and mass.any():
        coefficients = np.concatenate([cut_coefficients(pair, window, cuts[i], degree) for i in within])
        blocks = _Blocks.make(pair, window, min(block_size(layout, n_classes), degree + 1))
        for start in range(0, degree + 1, blocks.length):
            chosen = coefficients[:, start : start + blocks.length]
            tick(price_columns(layout, n_classes, chosen.shape[1]), "a sum over the features")
            found = layout.run(blocks.leaves(pair, start))[:, rows, : chosen.shape[1]]
            found = np.broadcast_to(found, (*mass.shape, chosen.shape[1]))
            # The real part alone: half the work of complex products, and no threads for a thin matrix.
            real = found.real @ chosen.real.T - found.imag @ chosen.imag.T
            values += np.moveaxis(real, 2, 0)
    rounding = rounding_bound(degree, count_operations(layout), count_turns(pair, window))
    low, high = np.zeros((len(cuts), *mass.shape)), np.zeros((len(cuts), *mass.shape))
    for i, (_, end) in enumerate(spans):
        if i in within:
            at = 2 * within.index(i)
            low[i] = np.clip(values[at] - rounding * mass, 0.0, mass)
            high[i] = np.clip(values[at + 1] + rounding * mass, low[i], mass)
        elif end <= window.low:
            low[i] = high[i] = mass
    return TailBounds(low, high, max(window.below, window.above))


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """Phases of a pair's weights: those of the first block, which every other block only turns."""

    turns: tuple[Floats, ...]
    ramps: tuple[Numbers, ...]
    length: int

    @staticmethod
    def make(pair: Pair, window: Window, length: int) -> _Blocks:
        turns = tuple(weight / (window.high - window.low) for weight in pair.weights)
        steps = np.arange(length)
        ramps = tuple(_ramp(turn, steps) if turn.any() else np.ones(1) for turn in turns)
        return _Blocks(turns, ramps, length)

    def leaves(self, pair: Pair, start: int) -> list[Numbers]:
        """The factors at frequencies `start` and on."""
        made = []
        for mass, turn, ramp in zip(pair.masses, self.turns, self.ramps, strict=True):
            if ramp.size == 1:
                made.append(mass[..., np.newaxis])
            else:
                first = np.exp(2j * np.pi * np.remainder(start * turn, 1.0))
                made.append((mass * first)[..., np.newaxis] * ramp)
        return made


def _ramp(turn: Floats, steps: Ints) -> Numbers:
    """exp(2 pi i turn n) for every step n; a table repeats few weights, and exponentials are dear."""
    distinct, which = np.unique(turn, return_inverse=True)
    phases: Numbers = np.exp(2j * np.pi * np.outer(distinct, steps))
    return phases[which.reshape(turn.shape)]


def blur_of(pair: Pair, window: Window) -> float:
    """More than floating point can misplace a sum by, and a cut within the window."""
    return pair.blur + 2.0**-49 * (abs(window.low) + abs(window.high))


def cut_coefficients(pair: Pair, window: Window, cut: SweptCut, degree: int) -> Complexes:  # (2, frequencies)
    """Polynomials below and above the test, as seen from the pair's offset.

    The cut moves to the safe side in both: to where the tolerance of ties ends, and by what floating point
    may have misplaced the sums.
    """
    period, blur = window.high - window.low, blur_of(pair, window)
    moves = cut.high + blur, cut.low - blur
    n = np.arange(degree + 1)
    shift = np.exp(2j * np.pi * np.remainder(n * ((pair.offset - window.low) / period), 1.0))
    ends = [min(max((cut.odds + moved - window.low) / period, 0.0), 1.0) for moved in moves]
    return np.stack(
        [
            enclosing_coefficients(ends[0], degree)[0] * shift,
            enclosing_coefficients(ends[1], degree)[1] * shift,
        ]
    )


def count_operations(layout: PassLayout) -> float:
    """Operations one after another behind each number of a pass, at most."""
    return 4.0 * sum(step.extents[2] + 3.0 for step in layout.plan.steps) + 8.0 * layout.plan.n_leaves


Complexes = npt.NDArray[np.complex128]


def enclosing_coefficients(start: float, degree: int) -> tuple[Complexes, Complexes]:
    """Coefficients, for n = 0 to `degree`, of polynomials below and above the indicator of [start, 1).

    The expectation of either is the real part of its dot product with phi.
    """
    n = np.arange(1, degree + 1, dtype=np.float64)
    # exp(-2 pi i n start), from the fraction of a turn so that large n lose no digits twice.
    turned = np.exp(-2j * np.pi * np.remainder(n * start, 1.0))
    middle = _sawtooth(n / (degree + 1)) / (np.pi * n) * 1j * (1.0 - turned)
    spread = (1.0 - n / (degree + 1)) * (1.0 + turned) / (degree + 1)
    constant = np.array([1.0 - start]), np.array([1.0 / (degree + 1)])
    low = np.concatenate([constant[0] - constant[1], middle - spread])
    high = np.concatenate([constant[0] + constant[1], middle + spread])
    return low, high


def _sawtooth(u: Floats) -> Floats:
    """Vaaler's multipliers: what the sawtooth's coefficients are damped by, 1 at u = 0 and 0 at u = 1."""
    multipliers: Floats = np.pi * u * (1.0 - u) / np.tan(np.pi * u) + u
    return multipliers


def rounding_bound(degree: int, n_operations: float, turns: float) -> float:
    """What floating point can change in a dot product with `enclosing_coefficients`, in shares of the mass.

    A phi_n is a sum of products of masses and numbers of size 1. Every operation errs by at most 4 units of
    what it adds up in absolute values, which never exceeds the mass: so `n_operations` operations one after
    another err by as many times 4 units of the mass. The phases n w / P of the weights w that make one sum
    are rounded three times each, by units of themselves, and add up to at most n times `turns`, the turns of
    the largest sum. The coefficients, at most 2 / (pi n) + 2 / (N + 1), weigh both; what they themselves err
    by, a few units, is part of the 8 operations more. Weights are logarithms that err too: for those the cut
    is moved (`Pair.blur`), by more than all of them together.
    """
    unit = 2.0**-52
    per_number = 4.0 * unit * (n_operations + 8.0) * coefficient_sum(degree)
    per_phase = 4.0 * math.pi * unit * turns * degree
    return per_number + per_phase


def coefficient_sum(degree: int) -> float:
    """More than the absolute values of a polynomial's coefficients sum to."""
    return 2.0 / math.pi * (1.0 + math.log(degree)) + 3.0
