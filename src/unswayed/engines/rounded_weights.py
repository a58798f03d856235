"""Weights of evidence rounded to whole steps, and how often that changes the full decision.

The searches of naive Bayes classifiers too large for a table work on a grid of log-odds. Rounding every
weight to a multiple of a step gives another classifier, whose decisions differ from the true ones with some
small probability, the *disagreement*. Any guess of the true decision is wrong at least as often as it is
wrong about the rounded one, less the disagreement; so errors on the grid bound true errors, whatever features
are kept, and all rounding is accounted for by one number.

The disagreement is bounded for certain. For every sum of whole steps, exponential moments of what rounding
took away are carried along with its mass, and Chernoff's inequality tells how probable it is that what was
taken away carries the sum over the cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.engines.weights.outcomes import WeightList
from unswayed.kernels.guess_errors import TOLERANCE
from unswayed.kernels.sum_distributions import NOTHING, Grid

CANDIDATES = 96
"""Steps tried for one that rounds little."""
LONGEST = 1.3
"""How much longer than wanted a step may be."""
TILTS = (0.7, 1.3, 2.0, 3.0, 4.5)
"""Of the exponential moments, over the standard deviation of what rounding takes away."""
FLOATING = 2.0**-51
"""How far floating point misplaces a sum of weights, for each weight and unit of their sizes."""
ARITHMETIC = 1e-11
"""More than floating point can add up to in an error on the grid."""


@dataclass(frozen=True, slots=True)
class CutQuestion:
    """What is asked of the sum of all weights."""

    share: float
    """Probability of the upper class before any feature is known."""
    base: float
    """Its log-odds."""
    cut: float
    """Log-odds from which on the decision is for the upper class."""
    doubt: float = 0.0
    """How far from there the tolerance of ties decides, above the cut or, where negative, below."""


@dataclass(frozen=True, slots=True, eq=False)
class WholeSteps:
    """A classifier in whole steps, and how often it decides differently."""

    grid: Grid = field(repr=False)
    """The features' numbers of steps."""
    disagreement: float
    """Probability, at most, that the decision is not that of the true weights; rounding errors included."""
    width: int
    """Sums of all features below the cut that have any probability to speak of, in steps."""


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """The finite weights of one feature."""

    weight: Floats
    upper: Floats
    lower: Floats
    endless: float
    """Probability of infinite weights under the upper class."""

    @property
    def range(self) -> float:
        """From the least to the most."""
        return float(self.weight[-1] - self.weight[0])


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """For each sum of whole steps: exponential moments of what rounding took away from it."""

    tilts: Floats
    """0, then pairs of opposite tilts."""
    cells: Floats  # (2 classes, tilts, sums)


@dataclass(frozen=True, slots=True, eq=False)
class RoundedFeatures:
    """Features in whole steps, whatever is asked of their sum."""

    values: tuple[_Values, ...]
    step: float
    numbers: tuple[Ints, ...]
    """How many steps each value of a feature is above its least one."""
    centre: Floats
    """For each feature the middle of what rounding took away."""
    radius: Floats
    """How far from it that can be."""
    moments: _Moments


def round_features(features: Sequence[WeightList], n_cells: int) -> RoundedFeatures:
    """The features on a grid where all of them together span about `n_cells` steps."""
    values = tuple(_finite(weights) for weights in features)
    step = _good_step(values, max(sum(one.range for one in values) / n_cells, 1e-12))
    numbers = tuple(np.rint((one.weight - one.weight[0]) / step).astype(np.int64) for one in values)
    taken = [one.weight - step * number for one, number in zip(values, numbers, strict=True)]
    centre = np.array([0.5 * float(t.min() + t.max()) for t in taken])
    radius = np.array([0.5 * float(t.max() - t.min()) for t in taken])
    moments = _moments(values, numbers, [t - c for t, c in zip(taken, centre, strict=True)])
    return RoundedFeatures(values, step, numbers, centre, radius, moments)


def whole_steps(rounded: RoundedFeatures, question: CutQuestion) -> WholeSteps:
    """The classifier that asks the same of the rounded features."""
    values, step, centre = rounded.values, rounded.step, rounded.centre
    longest = int(sum(int(number[-1]) for number in rounded.numbers))
    needed = _needed(values, question)
    middle = math.ceil((needed - float(centre.sum())) / step)
    cuts = sorted({min(max(cut, 0), longest + 1) for cut in (middle - 1, middle, middle + 1)})
    floating = FLOATING * len(values) * sum(float(np.abs(one.weight).max()) for one in values)
    place = (needed - centre.sum(), step, rounded.radius.sum() + floating)
    # What floating point may have moved from a tie into the doubt around it is one.
    doubted = replace(question, doubt=_nearer(question.doubt, 2.0 * floating))
    lost = {cut: _disagreement(rounded.moments, doubted, cut, place) for cut in cuts}
    own = 0.5 * _nearer(question.doubt, 2.0 * (floating + TOLERANCE * step))
    best = min(cuts, key=lambda cut: lost[cut])
    grid = _grid(values, rounded.numbers, (centre, rounded.radius), question)._replace(
        step=step, cut=best, own=_own_cut(values, question) + own, unsure=abs(own)
    )
    width = _width(rounded.moments, best if grid.windowed else longest + 1)
    return WholeSteps(grid, lost[best] + ARITHMETIC, width)


def _nearer(doubt: float, by: float) -> float:
    """A distance on either side made shorter."""
    return math.copysign(max(abs(doubt) - by, 0.0), doubt)


def _width(moments: _Moments, end: int) -> int:
    found = np.flatnonzero(moments.cells[:, 0, :end].max(axis=0) >= NOTHING)
    return int(found[-1] - found[0]) + 1 if len(found) else 1


def _finite(weights: WeightList) -> _Values:
    """The finite part; a feature that has none gets one value without probability."""
    finite = np.isfinite(weights.full)
    endless = float(weights.upper[weights.full == np.inf].sum())
    if not finite.any():
        return _Values(np.zeros(1), np.zeros(1), np.zeros(1), endless)
    return _Values(weights.full[finite], weights.upper[finite], weights.lower[finite], endless)


def _needed(values: Sequence[_Values], question: CutQuestion) -> float:
    """The weight that leads to the upper class, moved to just outside of all sums when it lies farther."""
    low = sum(float(one.weight[0]) for one in values)
    high = sum(float(one.weight[-1]) for one in values)
    return min(max(question.cut - question.base, low - 1.0), high + 1.0)


def _own_cut(values: Sequence[_Values], question: CutQuestion) -> float:
    """The weight that some of the features must reach on their own, not farther off than any sum of some."""
    low = sum(min(float(one.weight[0]), 0.0) for one in values)
    high = sum(max(float(one.weight[-1]), 0.0) for one in values)
    return min(max(question.cut - question.base, low - 1.0), high + 1.0)


def _good_step(values: Sequence[_Values], wanted: float) -> float:
    """A step a little longer than wanted that rounds the weights least; whole fractions of them are tried."""
    gaps = np.concatenate([one.weight - one.weight[0] for one in values])
    mass = np.concatenate([0.5 * (one.upper + one.lower) for one in values])
    long = gaps[gaps > wanted]
    # Grouped up to rounding, but taken as they are: a rounded step would miss ties.
    _, places, counts = np.unique(np.round(long, 12), return_index=True, return_counts=True)
    frequent = long[places[np.argsort(-counts, kind="stable")[:8]]]
    candidates = np.concatenate(
        [
            wanted * np.linspace(1.0, LONGEST, CANDIDATES),
            frequent / np.maximum(np.floor(frequent / wanted), 1.0),
        ]
    )
    candidates = candidates[candidates <= LONGEST * wanted]
    taken = gaps - candidates[:, np.newaxis] * np.rint(gaps / candidates[:, np.newaxis])
    variance = (taken**2) @ mass
    return float(candidates[int(np.argmin(variance))])


def _grid(
    values: Sequence[_Values], numbers: Sequence[Ints], taken: tuple[Floats, Floats], question: CutQuestion
) -> Grid:
    endless = np.array([one.endless for one in values])
    unsettled = all(abs(one.upper.sum() - 1) < 1e-12 and abs(one.lower.sum() - 1) < 1e-12 for one in values)
    return Grid(
        starts=np.concatenate([[0], np.cumsum([len(one.weight) for one in values])]).astype(np.int64),
        number=np.concatenate(numbers),
        upper=np.concatenate([one.upper for one in values]),
        lower=np.concatenate([one.lower for one in values]),
        endless=endless,
        centre=taken[0],
        radius=taken[1],
        step=1.0,
        cut=0,
        base=question.base,
        share=question.share,
        own=0.0,
        windowed=unsettled,
    )


def _moments(values: Sequence[_Values], numbers: Sequence[Ints], taken: Sequence[Floats]) -> _Moments:
    variance = sum(
        float((t**2) @ (0.5 * (one.upper + one.lower))) for one, t in zip(values, taken, strict=True)
    )
    scale = 1.0 / max(math.sqrt(variance), 1e-12)
    tilts = np.array([0.0, *(sign * tilt * scale for tilt in TILTS for sign in (1, -1))])
    cells = np.ones((2, len(tilts), 1))
    # Those of few steps first: the lists stay short for longer.
    features = sorted(zip(values, numbers, taken, strict=True), key=lambda feature: int(feature[1][-1]))
    for one, number, away in features:
        with np.errstate(over="ignore"):
            tilted = np.exp(np.minimum(tilts[:, np.newaxis] * away, 700.0))
        shares = np.stack([one.upper, one.lower])[:, np.newaxis] * tilted  # (2, tilts, values)
        n_sums = cells.shape[2]
        added = np.empty((2, len(tilts), n_sums + int(number[-1])))
        np.multiply(cells, shares[..., :1], out=added[..., :n_sums])  # the least weight takes no step
        added[..., n_sums:] = 0.0
        for i, steps in enumerate(number[1:].tolist(), start=1):
            added[..., steps : steps + n_sums] += cells * shares[..., i : i + 1]
        cells = added
    return _Moments(tilts, cells)


def _disagreement(
    moments: _Moments, question: CutQuestion, cut: int, place: tuple[float, float, float]
) -> float:
    """How probable it is, at most, that the sum of steps and the sum of weights are on two sides of the cut.

    `place` has what the weights need beyond the centres, the step, and how much rounding can take at most,
    floating point included.
    """
    needed, step, radius = place
    steps = np.arange(moments.cells.shape[2])
    below, total = steps < cut, 0.0
    for side, doubt in ((1.0, min(question.doubt, 0.0)), (-1.0, max(question.doubt, 0.0))):
        missing = needed + doubt - step * steps
        sums = (below if side > 0 else ~below) & (side * missing <= radius)
        tilts = moments.tilts * side >= 0
        powers = np.exp(np.minimum(-moments.tilts[tilts, np.newaxis] * missing[sums], 700.0))
        for row, share in enumerate((question.share, 1.0 - question.share)):
            total += share * float((moments.cells[row][np.ix_(tilts, sums)] * powers).min(axis=0).sum())
    return total
