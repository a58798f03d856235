"""The log-odds of two classes as a sum of weights over the factors, and the window that holds the sum.

    log Pr(high, f, e) / Pr(low, f, e)  =  offset + sum over k of weight_k(f)

Where a factor excludes one of the two classes its weight is infinite: such outcomes are counted apart. The
window is found by Chernoff's inequality, E exp(s L) coming from the same pass as everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.engines.sums.factors import Factor
from unswayed.engines.sums.passes import PassLayout
from unswayed.inference.batches import Numbers

EXPONENTS = np.geomspace(0.25, 64.0, 18)
"""Tilts tried in Chernoff's inequality, in inverse standard deviations."""
STEEPEST = 600.0
"""Largest exponent of any outcome. What underflows then has a mass below 1e-60, and nothing overflows."""
MARGIN = 1 / 32
"""Room left free at either end of a window, as a share of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two classes, and what each factor says for the one against the other."""

    high: int
    low: int
    weights: tuple[Floats, ...]
    """Finite weights around their middle, one table for each factor; 0 where a weight is infinite."""
    masses: tuple[Floats, ...]
    """The factors without the outcomes of infinite weight."""
    offset: float
    """Sum of the middles."""
    reach: float
    """How far from the offset the sum can be at most."""
    blur: float
    """More than floating point can misplace a sum by."""


@dataclass(frozen=True, slots=True)
class Window:
    """Where the sum lies, but for a little mass."""

    low: float
    high: float
    below: float
    """Mass that may lie below the window, at most."""
    above: float
    """Mass that may lie above it, at most."""


def make_pair(factors: Sequence[Factor], scores: Sequence[Factor], high: int, low: int) -> Pair:
    """The weights of class `high` against class `low` by the scores; mostly the factors themselves."""
    weights, masses, offset, reach, blur = [], [], 0.0, 0.0, 0.0
    for factor, score in zip(factors, scores, strict=True):
        if len(score.mass) == 1:
            weights.append(np.zeros(factor.mass.shape[1:]))
            masses.append(factor.mass)
            continue
        one, other = score.mass[high], score.mass[low]
        finite = (one > 0) & (other > 0)
        logs = (
            np.log(one, out=np.zeros_like(one), where=finite),
            np.log(other, out=np.zeros_like(one), where=finite),
        )
        weight = logs[0] - logs[1]
        ends = (weight[finite].min(), weight[finite].max()) if finite.any() else (0.0, 0.0)
        middle = 0.5 * (ends[0] + ends[1])
        weights.append(np.where(finite, weight - middle, 0.0))
        masses.append(factor.mass if finite.all() else np.where(finite, factor.mass, 0.0))
        offset += middle
        reach += 0.5 * (ends[1] - ends[0])
        blur += 2.0**-50 * float((np.abs(logs[0]) + np.abs(logs[1])).max(initial=1.0))
    return Pair(high, low, tuple(weights), tuple(masses), float(offset), float(reach), blur)


def count_turns(pair: Pair, window: Window) -> float:
    """Turns of the circle that a frequency rounds: of the largest sum, of its place, and of the cut."""
    period = max(window.high - window.low, 1e-300)
    return (pair.reach + abs(pair.offset - window.low)) / period + 1.0


def take_classes(pair: Pair, classes: Ints) -> Pair:
    """The same weights, with the masses of some classes alone."""
    masses = tuple(mass if len(mass) == 1 else mass[classes] for mass in pair.masses)
    return replace(pair, masses=masses)


def mass_allowing(
    layout: PassLayout,
    factors: Sequence[Factor],
    classes: Sequence[int],
    scores: Sequence[Factor] | None = None,
) -> Floats:
    """Pr(class, row) of the outcomes whose scores exclude none of the given classes (classes, rows)."""
    leaves = []
    for factor, score in zip(factors, factors if scores is None else scores, strict=True):
        mass = factor.mass
        for each in classes if len(score.mass) > 1 else ():
            mass = mass * (score.mass[each] > 0)
        leaves.append(mass[..., np.newaxis])
    found: Floats = layout.run(leaves)[:, :, 0]
    return found


def find_window(layout: PassLayout, pair: Pair, stray: float) -> Window:
    """An interval outside which no more than `stray` of the mass lies on either side."""
    least, most = pair.offset - pair.reach - pair.blur, pair.offset + pair.reach + pair.blur
    if pair.reach <= pair.blur:
        return Window(least, most, 0.0, 0.0)
    mean, deviation = _moments(layout, pair)
    tilts = np.minimum(EXPONENTS / deviation, STEEPEST / pair.reach)
    with np.errstate(all="ignore"):
        spread = _expected(layout, pair, np.concatenate([tilts, -tilts]))
        logs = np.log(spread) - np.concatenate([tilts, -tilts]) * mean - np.log(stray)
        distances = np.nan_to_num(
            logs / np.concatenate([tilts, tilts]), nan=np.inf, posinf=np.inf, neginf=0.0
        )
    up = pair.offset + mean + max(float(distances[: len(tilts)].min()), 0.0) + pair.blur
    down = pair.offset + mean - max(float(distances[len(tilts) :].min()), 0.0) - pair.blur
    low, below = (least, 0.0) if down <= least else (down, stray)
    high, above = (most, 0.0) if up >= most else (up, stray)
    # The ends meet on the circle, and a polynomial is least sharp there: keep likely extremes away from it.
    margin = MARGIN * abs(high - low)
    return Window(min(low, high) - margin, max(low, high) + margin, below, above)


def _moments(layout: PassLayout, pair: Pair) -> tuple[float, float]:
    """Mean and standard deviation about the offset, roughly: they only steer the search for a window."""
    frequency = 0.5 / pair.reach
    mean, total = _expected(layout, pair, np.array([1j * frequency, 0j])).tolist()
    value, mass = complex(mean), float(complex(total).real)
    if mass <= 0.0:
        return 0.0, pair.reach
    share = value / mass
    variance = -2.0 * np.log(min(abs(share), 1.0)) / frequency**2
    return float(np.angle(share) / frequency), float(max(np.sqrt(variance), 1e-5 * pair.reach))


def _expected(layout: PassLayout, pair: Pair, tilts: Numbers) -> Numbers:
    """The mass-weighted mean of exp(tilt (L - offset)), all classes and rows together."""
    leaves = tilt_leaves(pair, tilts)
    totals: Numbers = np.broadcast_to(layout.run(leaves).sum(axis=(0, 1)), tilts.shape)
    return totals


def tilt_leaves(pair: Pair, tilts: Numbers) -> list[Numbers]:
    """The factors times exp(tilt weight), a column for each tilt."""
    return [
        mass[..., np.newaxis] * np.exp(weight[..., np.newaxis] * tilts)
        if weight.any()
        else mass[..., np.newaxis]
        for mass, weight in zip(pair.masses, pair.weights, strict=True)
    ]
