"""Sums of weights on a grid, with certified errors: what the bounds engine counts with.

Outcomes of a few groups are listed exactly (a block), and each outcome's weight is rounded to a multiple of a
step. Sums of rounded weights are whole numbers of steps, and their distribution is a product of Fourier
transforms, one for each block. Three errors remain, each bounded for certain:

- rounding moves a sum by a sum of independent small errors, whose means, variances and ranges are known:
how far
  it strays from its mean is bounded by their total range, or by Bernstein's inequality but for a tiny
  probability, whichever is less;
- a transform of finite length wraps around: what lies outside the window is bounded by Chernoff's inequality;
- floating point: `TRANSFORM_ERROR`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.engines.weights.outcomes import NOTHING, WeightList, joined

TRANSFORM_ERROR = 1e-11
"""More than rounding in the transforms can add up to in any tail of a distribution."""
STRAY = 1e-7
"""Probability that Bernstein's and Chernoff's inequalities may each leave out."""
CANDIDATES = 4
"""Frequent weights that a step is fitted to."""
BLOCK_OUTCOMES = 2**14
"""Outcomes listed exactly in one block."""


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """The distribution of a sum under one class.

    But for a probability of `stray`, the true sum is within `reach` of `shift + step * (first + i)` where i
    has the distribution `masses`, or infinite with probability `certain`.
    """

    masses: Floats
    """Probability of each grid point; sums to 1 less `certain`."""
    first: int
    """Number of the first grid point."""
    shift: float
    """Mean of what rounding took away."""
    reach: float
    """How far from that mean it may have moved a sum, floating point included."""
    floating: float
    """What floating point alone may have moved it by."""
    stray: float
    """Probability that it moved further, or that the sum lies off the grid."""
    certain: float
    """Probability of an infinite weight."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Some groups, as few long lists for the transforms and many short ones for the inequalities."""

    blocks: tuple[WeightList, ...]
    """Exact outcomes of several groups each."""
    groups: tuple[WeightList, ...]
    """The groups themselves."""


def make_blocks(groups: Sequence[WeightList]) -> Blocks:
    """Groups joined, in order of size, while the list stays below `BLOCK_OUTCOMES`."""
    blocks, current = [], NOTHING
    for weights in sorted(groups, key=len):
        if len(current) * len(weights) > BLOCK_OUTCOMES and len(current) > 1:
            blocks.append(current)
            current = NOTHING
        current = joined(current, weights)
    if len(current) > 1 or not blocks:
        blocks.append(current)
    return Blocks(tuple(blocks), tuple(groups))


def window(parts: Blocks, *, upper: bool) -> tuple[float, float, float]:
    """An interval of weights and the probability, under one class, that the finite sum lies outside it."""
    mean, deviation = _moments(parts.groups, upper)
    least, most = _range(parts.groups, upper)
    width = deviation * math.sqrt(2.0 * math.log(2.0 / STRAY))
    for _ in range(20):
        low, high = mean - width, mean + width
        outside = _tail(parts.groups, upper, width, 1.0) + _tail(parts.groups, upper, width, -1.0)
        if outside <= STRAY or (low <= least and high >= most):
            break
        width *= 1.3
    if low <= least and high >= most:
        return least, most, 0.0
    return max(low, least), min(high, most), outside


def rounded(parts: Blocks, step: float, span: tuple[float, float], outside: float, *, upper: bool) -> Rounded:
    """The sum's distribution on multiples of `step` over the window `span`."""
    shift, variance, total_range = 0.0, 0.0, 0.0
    numbers, masses, finite = [], [], 1.0
    for block in parts.blocks:
        mass = block.upper if upper else block.lower
        possible = np.isfinite(block.full) & (mass > 0)
        weights, mass = block.full[possible], mass[possible]
        total = float(mass.sum())
        finite *= total
        number = np.rint(weights / step)
        error = weights - step * number
        mean = float(error @ mass) / total if total else 0.0
        shift += mean
        variance += float(((error - mean) ** 2) @ mass) / total if total else 0.0
        total_range += float(np.abs(error - mean).max(initial=0.0))
        numbers.append(number.astype(np.int64))
        masses.append(mass)
    reach, stray = _reach(variance, step, total_range)
    first = math.floor((span[0] - shift - reach) / step) - 1
    last = math.ceil((span[1] - shift + reach) / step) + 1
    # Floating point misplaces a sum by a few units in the last place for each block; no block, no error.
    floating = 2e-15 * len(parts.blocks) * (1 + abs(span[0]) + abs(span[1]))
    return Rounded(
        masses=_convolved(numbers, masses, first, last - first + 1),
        first=first,
        shift=shift,
        reach=reach + floating,
        floating=floating,
        stray=2.0 * stray + outside + TRANSFORM_ERROR,
        certain=max(0.0, 1.0 - finite),
    )


def fitting_step(groups: Sequence[WeightList], wanted: float) -> float:
    """A step near `wanted`, and not above it by much, that the most frequent weights are multiples of.

    Features that are alike then add no rounding at all.
    """
    weights = np.abs(
        np.concatenate([group.full[np.isfinite(group.full)] for group in groups] or [np.zeros(1)])
    )
    values, counts = np.unique(np.round(weights[weights > wanted], 12), return_counts=True)
    frequent = values[np.argsort(-counts, kind="stable")[:CANDIDATES]]
    candidates = [wanted, *(value / math.ceil(value / wanted) for value in frequent)]

    def rounding(step: float) -> float:
        return float(np.abs(weights - step * np.rint(weights / step)).sum() / step)

    return float(min(candidates, key=rounding))


def _reach(variance: float, step: float, total_range: float) -> tuple[float, float]:
    """How far the rounding errors' sum strays from its mean, and the probability that it strays further."""
    share = step * math.log(2.0 / STRAY) / 3.0
    bernstein = share + math.sqrt(share**2 + 2.0 * variance * math.log(2.0 / STRAY))
    return (total_range, 0.0) if total_range <= bernstein else (bernstein, STRAY)


def _convolved(numbers: list[Ints], masses: list[Floats], first: int, length: int) -> Floats:
    """Distribution of the sum of whole numbers on `first`, `first` + 1, ...; wraps beyond `length`."""
    from scipy import fft

    size = fft.next_fast_len(length, real=True)
    product = None
    for number, mass in zip(numbers, masses, strict=True):
        histogram = np.bincount(np.mod(number, size), mass, size)
        transform = fft.rfft(histogram)
        product = transform if product is None else product * transform
    assert product is not None
    whole = fft.irfft(product, size)
    result: Floats = np.maximum(np.roll(whole, -(first % size)), 0.0)
    return result


def _moments(groups: Sequence[WeightList], upper: bool) -> tuple[float, float]:
    mean = variance = 0.0
    for weights, mass in _finite(groups, upper):
        middle = float(weights @ mass)
        mean += middle
        variance += float(((weights - middle) ** 2) @ mass)
    return mean, math.sqrt(variance)


def _range(groups: Sequence[WeightList], upper: bool) -> tuple[float, float]:
    pairs = [(weights.min(initial=0.0), weights.max(initial=0.0)) for weights, _ in _finite(groups, upper)]
    return float(sum(low for low, _ in pairs)), float(sum(high for _, high in pairs))


def _tail(groups: Sequence[WeightList], upper: bool, distance: float, sign: float) -> float:
    """Chernoff's bound on the probability that the sum is `distance` beyond its mean in one direction."""
    _, deviation = _moments(groups, upper)
    if deviation == 0.0:
        return 0.0
    tilt = distance / deviation**2
    exponent = -tilt * distance
    for weights, mass in _finite(groups, upper):
        deviations = sign * (weights - float(weights @ mass))
        exponent += _log_mean_exp(tilt * deviations, mass)
    return math.exp(min(exponent, 0.0))


def _log_mean_exp(values: Floats, mass: Floats) -> float:
    if not len(values):
        return 0.0
    highest = float(values.max())
    return highest + math.log(float(np.exp(values - highest) @ mass))


def _finite(groups: Sequence[WeightList], upper: bool) -> list[tuple[Floats, Floats]]:
    """Finite weights of each group with their probabilities given that they are finite."""
    found = []
    for group in groups:
        mass = group.upper if upper else group.lower
        possible = np.isfinite(group.full) & (mass > 0)
        total = float(mass[possible].sum())
        if total > 0:
            found.append((group.full[possible], mass[possible] / total))
    return found
