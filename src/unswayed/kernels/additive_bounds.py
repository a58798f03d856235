"""How far sums over the kept features can be from those of fractional weights, whatever features are kept.

A family of subsets is given by some statistics: each feature has a number, and their sum over the kept
features lies between two limits. For values y and weights w in [0, 1], linear duality says for every subset
of the family and every vector of multipliers mu

    sum over kept y - sum w y  <=  sum of (1 - w)(y - mu.A)+ + w (mu.A - y)+  +  max of mu.b over the limits,

where A are the features' statistics and b lies between the limits less those of the weights. Any multipliers
make the bound true, so finding them needs no care; good ones come from a few reweighted least squares.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]

ROUNDS = 4
"""Reweighted least squares for each sum."""
UNIT = 2.0**-52
"""Distance of 1 from the next number: twice what an operation can err by, relative to its result."""
UNITS_PER_VALUE, UNITS_PER_WAVE = 0.01, 0.5
"""Estimated for a value and a statistic of a sum, and for a feature at a far frequency."""
SHARPNESS = 0.02
"""Residuals below this share of their mean count as that share."""


class Family(NamedTuple):
    """Subsets of some features, seen from fractional weights."""

    weights: Floats  # (features,)
    statistics: Floats  # (features, statistics)
    low: Floats  # (statistics,)
    """Least sum of each statistic, less that of the weights."""
    high: Floats  # (statistics,)


class FarGuide(NamedTuple):
    """Multipliers to try at far frequencies: projections on cost and information, and slopes of weights."""

    statistics: Floats  # (features, 2)
    projections: Floats  # (levels, 2, features)
    slopes: Floats  # (levels, 2)
    spreads: Floats  # (levels, features)
    """How much each feature is in question at a level."""
    scales: Floats  # (scales,)


def solve_small(matrix: Floats, right: Floats) -> None:
    """Solve a few linear equations in place, by elimination; the matrix is positive definite."""
    n = len(right)
    for i in range(n):
        for j in range(i + 1, n):
            factor = matrix[j, i] / matrix[i, i]
            for k in range(i, n):
                matrix[j, k] -= factor * matrix[i, k]
            right[j] -= factor * right[i]
    for back in range(n):
        i = n - 1 - back
        for k in range(i + 1, n):
            right[i] -= matrix[i, k] * right[k]
        right[i] /= matrix[i, i]


def residual(values: Floats, family: Family, multipliers: Floats, i: int) -> float:
    """What multipliers leave of one feature's value."""
    rest: float = values[i]
    for a in range(len(multipliers)):
        rest -= multipliers[a] * family.statistics[i, a]
    return rest


def bound_at(values: Floats, family: Family, multipliers: Floats) -> float:
    """The bound with some multipliers, raised by what rounding can change of it."""
    n, total, size = len(values), 0.0, 0.0
    for i in range(n):
        rest = residual(values, family, multipliers, i)
        total += (1.0 - family.weights[i]) * rest if rest > 0.0 else -family.weights[i] * rest
        size += abs(values[i])
        for a in range(len(multipliers)):
            size += 2.0 * abs(multipliers[a] * family.statistics[i, a])
    for a in range(len(multipliers)):
        total += max(multipliers[a] * family.low[a], multipliers[a] * family.high[a])
        size += abs(multipliers[a]) * (abs(family.low[a]) + abs(family.high[a]))
    return total + (n + 8.0) * UNIT * size


def improve(values: Floats, family: Family, multipliers: Floats, matrix: Floats) -> None:
    """Replace the multipliers by those of least squares, reweighted by the residuals that they leave."""
    n, m = family.statistics.shape
    right = np.zeros(m)
    matrix[:, :] = 0.0
    size = 1e-300
    for i in range(n):
        size += abs(residual(values, family, multipliers, i)) / n
    for i in range(n):
        rest = residual(values, family, multipliers, i)
        weight = 0.5 / max(abs(rest), SHARPNESS * size)
        for a in range(m):
            number = family.statistics[i, a]
            right[a] += (0.5 - family.weights[i] + weight * values[i]) * number
            for b in range(a, m):
                matrix[a, b] += weight * number * family.statistics[i, b]
    for a in range(m):
        half = 0.5 * (family.high[a] - family.low[a])
        right[a] -= 0.5 * (family.high[a] + family.low[a])
        matrix[a, a] += half / (abs(multipliers[a]) + 1e-12) + 1e-13 * matrix[a, a] + 1e-300
        for b in range(a):
            matrix[a, b] = matrix[b, a]
    solve_small(matrix, right)
    multipliers[:] = right


def bound_sums(values: Floats, starts: Floats, family: Family) -> Floats:  # (rows,)
    """For each row of values: upper bound on its sum over the kept features less that of the weights.

    `starts` are multipliers to begin with (starts, rows, statistics); the best of them is improved. With one
    of two features kept, a sum is at most the larger value, which is 1 more than that of two halves:

    >>> family = Family(np.array([0.5, 0.5]), np.ones((2, 1)), np.zeros(1), np.zeros(1))
    >>> bound_sums(np.array([[1.0, 3.0]]), np.zeros((1, 1, 1)), family).round(6).tolist()
    [1.0]
    """
    m = family.statistics.shape[1]
    bounds = np.empty(len(values))
    matrix, multipliers = np.empty((m, m)), np.empty(m)
    for row in range(len(values)):
        # Multipliers that overflowed give no number, which is never less: the bound stays true.
        best, begin = np.inf, 0
        for start in range(len(starts)):
            bound = bound_at(values[row], family, starts[start, row])
            if bound < best:
                best, begin = bound, start
        multipliers[:] = starts[begin, row]
        for _ in range(ROUNDS):
            improve(values[row], family, multipliers, matrix)
            bound = bound_at(values[row], family, multipliers)
            if bound < best:
                best = bound
        bounds[row] = best
    return bounds


def scan_far(
    frequencies: Floats, laws: Floats, weight: Floats, errors: Floats, guide: FarGuide
) -> tuple[Floats, Floats, Floats]:
    """Characteristic functions of all features together, and bounds on those of some, at many frequencies.

    `laws` are the lower, the upper class and the root of their product, (3, features, states). Gives back the
    first two laws' functions (2, rows, real and imaginary); for each law, frequency and pair of multipliers
    the dual's constant part, of the dropped features under a class and of the kept ones under the root; and
    the multipliers themselves. `errors` bound the rounding of a feature's function at each frequency.
    """
    n, n_states = weight.shape
    n_levels, n_scales = len(guide.slopes), len(guide.scales)
    whole = np.ones((2, len(frequencies), 2))
    constants = np.empty((3, len(frequencies), n_levels * n_scales))
    multipliers = np.empty((3, len(frequencies), n_levels * n_scales, 2))
    logs, real, imag = np.empty((3, n)), np.empty(3), np.empty(3)
    for row in range(len(frequencies)):
        whole[:, row, 1] = 0.0
        for i in range(n):
            real[:] = 0.0
            imag[:] = 0.0
            for s in range(n_states):
                angle = frequencies[row] * weight[i, s]
                cosine, sine = math.cos(angle), math.sin(angle)
                for law in range(3):
                    real[law] += laws[law, i, s] * cosine
                    imag[law] += laws[law, i, s] * sine
            for law in range(3):
                logs[law, i] = math.log(math.sqrt(real[law] ** 2 + imag[law] ** 2) + 2.0 * errors[row])
            for law in range(2):
                a, b = whole[law, row, 0], whole[law, row, 1]
                whole[law, row, 0] = a * real[law] - b * imag[law]
                whole[law, row, 1] = a * imag[law] + b * real[law]
        for law in range(3):
            sign = 1.0 if law == 2 else -1.0
            base = 0.0 if law == 2 else logs[law].sum()
            bound_far(sign * logs[law], base, guide, constants[law, row], multipliers[law, row])
    return whole, constants, multipliers


def bound_far(values: Floats, base: float, guide: FarGuide, constants: Floats, multipliers: Floats) -> None:
    """Fill in the dual's constant parts of one sum, raised by their rounding, and their multipliers."""
    n = len(values)
    for level in range(len(guide.slopes)):
        cost, information = 0.0, 0.0
        for i in range(n):
            cost += guide.projections[level, 0, i] * values[i]
            information += guide.projections[level, 1, i] * values[i]
        size, count = 0.0, 1e-300
        for i in range(n):
            rest = values[i] - cost * guide.statistics[i, 0] - information * guide.statistics[i, 1]
            size += guide.spreads[level, i] * rest * rest
            count += guide.spreads[level, i]
        size = math.sqrt(size / count)
        for scale in range(len(guide.scales)):
            at = level * len(guide.scales) + scale
            one = cost - guide.scales[scale] * size * guide.slopes[level, 0]
            two = information - guide.scales[scale] * size * guide.slopes[level, 1]
            total, terms = base, 0.0
            for i in range(n):
                first, second = one * guide.statistics[i, 0], two * guide.statistics[i, 1]
                rest = values[i] - first - second
                terms += abs(values[i]) + abs(first) + abs(second)
                if rest > 0.0:
                    total += rest
            constants[at] = total + (n + 8.0) * UNIT * terms
            multipliers[at, 0], multipliers[at, 1] = one, two


def largest_far(
    constants: Floats, multipliers: Floats, low: Floats, high: Floats
) -> Floats:  # (laws, frequencies)
    """Largest magnitudes of subsets whose cost and information lie between limits, by `scan_far`'s table."""
    n_laws, n_rows, n_choices = constants.shape
    found = np.empty((n_laws, n_rows))
    for law in range(n_laws):
        for row in range(n_rows):
            best = 0.0
            for choice in range(n_choices):
                bound = constants[law, row, choice]
                size = 2.0 + abs(bound)
                for a in range(2):
                    factor = multipliers[law, row, choice, a]
                    bound += max(factor * low[a], factor * high[a])
                    size += abs(factor) * max(abs(low[a]), abs(high[a]))
                bound += 8.0 * UNIT * size
                if bound < best:
                    best = bound
            found[law, row] = math.exp(best)
    return found


def bound_sums_together(values: Floats, starts: Floats, family: Family) -> Floats:  # (rows,)
    """`bound_sums` for all rows at a time, in numpy."""
    bounds = np.array([_bounds_at(values, family, start) for start in starts])
    # Multipliers that overflowed give no number, which is never less: the bound stays true.
    bounds = np.where(np.isnan(bounds), np.inf, bounds)
    best, multipliers = bounds.min(axis=0), starts[bounds.argmin(axis=0), np.arange(len(values))]
    with np.errstate(all="ignore"):
        for _ in range(ROUNDS):
            multipliers = _improve_all(values, family, multipliers)
            best = np.fmin(best, _bounds_at(values, family, multipliers))
    return np.asarray(best)


def _bounds_at(values: Floats, family: Family, multipliers: Floats) -> Floats:  # (rows,)
    sizes = np.abs(multipliers)
    rest = values - multipliers @ family.statistics.T
    total = np.maximum(rest, 0.0) @ (1.0 - family.weights) + np.maximum(-rest, 0.0) @ family.weights
    total += np.maximum(multipliers * family.low, multipliers * family.high).sum(axis=1)
    size = np.abs(values).sum(axis=1) + 2.0 * (sizes @ np.abs(family.statistics).sum(axis=0))
    size += sizes @ (np.abs(family.low) + np.abs(family.high))
    bounds: Floats = total + (values.shape[1] + 8.0) * UNIT * size
    return bounds


def _improve_all(values: Floats, family: Family, multipliers: Floats) -> Floats:  # (rows, statistics)
    n, m = family.statistics.shape
    rest = np.abs(values - multipliers @ family.statistics.T)
    weight = 0.5 / np.maximum(rest, SHARPNESS * (1e-300 + rest.mean(axis=1, keepdims=True)))
    right = (0.5 - family.weights + weight * values) @ family.statistics - 0.5 * (family.high + family.low)
    squares = (family.statistics[:, :, None] * family.statistics[:, None, :]).reshape(n, -1)
    matrix = (weight @ squares).reshape(-1, m, m)
    places = np.arange(m)
    diagonal = matrix[:, places, places]
    half = 0.5 * (family.high - family.low) / (np.abs(multipliers) + 1e-12)
    matrix[:, places, places] = diagonal + half + 1e-13 * diagonal + 1e-300
    for i in range(m):  # elimination as in `solve_small`, for all rows at a time
        for j in range(i + 1, m):
            factor = matrix[:, j, i] / matrix[:, i, i]
            matrix[:, j] -= factor[:, None] * matrix[:, i]
            right[:, j] -= factor * right[:, i]
    for i in range(m - 1, -1, -1):
        right[:, i] -= (matrix[:, i, i + 1 :] * right[:, i + 1 :]).sum(axis=1)
        right[:, i] /= matrix[:, i, i]
    return np.asarray(right)


def scan_far_together(
    frequencies: Floats, laws: Floats, weight: Floats, errors: Floats, guide: FarGuide
) -> tuple[Floats, Floats, Floats]:
    """`scan_far` for all frequencies at a time, in numpy."""
    waves = np.exp(1j * frequencies[:, None, None] * weight)
    functions = np.einsum("ris,lis->lri", waves, laws)  # (laws, rows, features)
    logs = np.log(np.abs(functions) + 2.0 * errors[:, None])
    product = functions[:2].prod(axis=2)
    signed = np.array([-1.0, -1.0, 1.0])[:, None, None] * logs
    base = np.where(np.arange(3)[:, None] == 2, 0.0, logs.sum(axis=2))
    found = [_bound_far_all(signed, base, guide, level) for level in range(len(guide.slopes))]
    constants, multipliers = (np.concatenate(parts, axis=2) for parts in zip(*found, strict=True))
    return np.stack([product.real, product.imag], axis=2), constants, multipliers


def _bound_far_all(
    values: Floats, base: Floats, guide: FarGuide, level: int
) -> tuple[Floats, Floats]:  # (laws, rows, scales), (laws, rows, scales, 2)
    fits = values @ guide.projections[level].T  # (laws, rows, 2)
    rest = values - fits @ guide.statistics.T
    spreads = guide.spreads[level]
    size = np.sqrt(rest**2 @ spreads / (1e-300 + spreads.sum()))
    taken = guide.scales[:, None] * guide.slopes[level]  # (scales, 2)
    multipliers = fits[:, :, None] - size[:, :, None, None] * taken
    terms = np.abs(values).sum(axis=2)[:, :, None] + np.abs(multipliers) @ np.abs(guide.statistics).sum(
        axis=0
    )
    totals = [
        np.maximum(values - multipliers[:, :, scale] @ guide.statistics.T, 0.0).sum(axis=2)
        for scale in range(len(guide.scales))
    ]
    constants = base[:, :, None] + np.stack(totals, axis=2) + (values.shape[2] + 8.0) * UNIT * terms
    return constants, multipliers


def largest_far_together(
    constants: Floats, multipliers: Floats, low: Floats, high: Floats
) -> Floats:  # (laws, frequencies)
    """`largest_far` for all choices at a time, in numpy."""
    low, high = low[:2], high[:2]  # cost and information; limits may say more
    bounds = constants + np.maximum(multipliers * low, multipliers * high).sum(axis=3)
    size = 2.0 + np.abs(constants) + np.abs(multipliers) @ np.maximum(np.abs(low), np.abs(high))
    # What overflowed is no number, and no bound: the others count, or 1.
    best = np.fmin.reduce(bounds + 8.0 * UNIT * size, axis=2, initial=0.0)
    return np.asarray(np.exp(best))


def _units_of_sums(values: Floats, starts: Floats, family: Family) -> float:
    return UNITS_PER_VALUE * values.size * float(family.statistics.shape[1])


def _units_of_scan(
    frequencies: Floats, laws: Floats, weight: Floats, errors: Floats, guide: FarGuide
) -> float:
    return UNITS_PER_WAVE * len(frequencies) * len(weight)


def _units_of_far(constants: Floats, multipliers: Floats, low: Floats, high: Floats) -> float:
    return UNITS_PER_VALUE * constants.size


compiled_bound_sums = Kernel(
    bound_sums_together,
    [solve_small, residual, bound_at, improve],
    loop=bound_sums,
    price=_units_of_sums,
    slower=3.0,
)
compiled_scan_far = Kernel(scan_far_together, [bound_far], loop=scan_far, price=_units_of_scan, slower=3.0)
compiled_largest_far = Kernel(largest_far_together, loop=largest_far, price=_units_of_far, slower=3.0)
