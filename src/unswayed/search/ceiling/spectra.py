"""Characteristic functions of the features' weights, and what replacing the decision by a smooth one costs.

The full decision asks whether the sum z of all weights reaches a number. It is replaced by a random one that
asks the same of z plus a little normal noise, modulo a period: its probability given the kept features is a
Fourier series whose coefficients are products over the dropped features. The two decisions differ with a
probability that does not depend on which features are kept; `cost` is an upper bound on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unswayed.core.anytime import tick
from unswayed.core.arrays import Floats
from unswayed.engines.rounded_weights import CutQuestion
from unswayed.engines.weights import WeightList
from unswayed.kernels.additive_bounds import FarGuide, compiled_largest_far, compiled_scan_far

Complexes = npt.NDArray[np.complex128]

NOISE, MANY = 8e-4, 150
"""Standard deviation of the noise. The decision changes about .2 times as often, relative to one unit. Beyond
so many features, whose sums spread more, there is more noise, and fewer frequencies to go through."""
REACH = 7.0
"""Frequencies end where the noise leaves exp(-REACH^2 / 2) of them."""
BEYOND = 1e-10
"""More than all frequencies beyond add up to."""
FARTHEST_WRAPPED = 1e-6
"""Probability that the sum may leave the period."""
NEAR_LIMIT = 60.0
"""Frequencies up to here may be compared with those of fractional weights; beyond, magnitudes are bounded."""
NEGLIGIBLE = 2e-5
"""What frequencies add up to that are not worth comparing."""
NEAREST = 6.0
"""Frequencies up to here are always compared."""
EXPONENTS = np.linspace(0.05, 8.0, 80)
"""Exponents tried in Chernoff's inequality."""
TIE_ROOM = 1e-7
"""Sums closer to the cut than this may be decided either way: ties, and rounding of sums."""
FARTHEST_CUT = 40.0
"""Cuts farther from the prior log-odds leave next to nothing undecided."""
SCAN_UNITS = 0.4
"""To find and bound the functions of one feature at one frequency."""
SCANNED = 2**10
"""Frequencies gone through in a step."""
UNIT = 2.0**-52
"""Distance of 1 from the next number: twice what an operation can err by, relative to its result."""
SMALLEST_LOG = -40.0
"""Logarithms of magnitudes are cut here: exp(-40) is below rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureLaws:
    """Weights of evidence of independent features, and what the full decision asks of their sum."""

    weight: Floats  # (features, states)
    upper: Floats  # (features, states)
    """Probability under the upper class; missing states have none."""
    lower: Floats  # (features, states)
    share: float
    """Probability of the upper class."""
    needed: float
    """The sum of weights from which on the decision is for the upper class."""

    @property
    def root(self) -> Floats:  # (features, states)
        """Square root of the product of both probabilities."""
        return np.sqrt(self.upper * self.lower)

    @property
    def noise(self) -> float:
        """Standard deviation of the noise."""
        return NOISE * max(1.0, len(self.weight) / MANY)

    @property
    def information(self) -> Floats:  # (features,)
        """How much each feature tells the classes apart: -8 log of its Bhattacharyya coefficient."""
        found = np.maximum(-8.0 * np.log(np.minimum(self.root.sum(axis=1), 1.0)), 1e-12)
        return np.asarray(found)


def feature_laws(features: Sequence[WeightList], question: CutQuestion) -> FeatureLaws | None:
    """The laws of independent features; None where certainties leave no spectra to compare."""
    needed = question.cut - question.base
    if (
        not all(np.isfinite(one.full).all() and len(one) > 1 for one in features)
        or abs(needed) > FARTHEST_CUT
    ):
        return None
    size = max(map(len, features))
    weight, upper, lower = (np.zeros((len(features), size)) for _ in range(3))
    for row, one in enumerate(features):
        for table, values in ((weight, one.full), (upper, one.upper), (lower, one.lower)):
            table[row, : len(one)] = values
    return FeatureLaws(weight, upper, lower, question.share, needed)


@dataclass(frozen=True, slots=True, eq=False)
class FarTable:
    """Bounds on magnitudes of characteristic functions, linear in a cell's limits on cost and information."""

    constants: Floats = field(repr=False)  # (3 laws, frequencies, choices)
    multipliers: Floats = field(repr=False)  # (3 laws, frequencies, choices, 2)

    def at(self, low: Floats, high: Floats) -> Floats:  # (3 laws, frequencies)
        """Largest magnitudes of any subset whose cost and information lie between limits."""
        return compiled_largest_far(self.constants, self.multipliers, low, high)


@dataclass(frozen=True, slots=True, eq=False)
class Spectra:
    """Everything about the features that no subset changes."""

    laws: FeatureLaws
    period: float
    cost: float
    """Probability, at most, that the smooth decision is not the true one."""
    mistakes: float
    """Probability, at most, that the full decision is not the class."""
    far: FarTable
    n_near: int
    """Frequencies after 0 that are compared."""
    logs: tuple[Complexes, Complexes, Complexes] = field(repr=False)
    """Logarithms of the features' characteristic functions (frequencies from 0 on, features): under the lower
    and the upper class, and of the root."""
    doubt: Floats = field(repr=False)  # (3 laws, frequencies from 0 on)
    """How far exponentials of sums of those logarithms can be from the functions, by rounding."""
    sizes: Floats = field(repr=False)  # (3 laws, frequencies from 0 on)
    """Magnitudes of the logarithms, added up over the features."""
    tilts: Floats = field(repr=False)
    """For Chernoff's inequality: at most the logarithm of the root's moments at `EXPONENTS`, and opposite."""

    @property
    def step(self) -> float:
        """Distance of frequencies."""
        return 2.0 * math.pi / self.period

    @property
    def frequencies(self) -> Floats:
        """Those that are compared, from 0 on."""
        return _multiples(self.step, 0, self.n_near)

    def least_error(self, information: float) -> float:
        """Lower bound on the error of subsets with this information or less.

        Guessing the class is wrong at least as often as the Bhattacharyya coefficient says; a guess of the
        decision is one of the class that errs more by the decision's mistakes at most.
        """
        share = self.laws.share
        alike = 4.0 * share * (1.0 - share) * math.exp(-0.25 * information) * (1.0 - 1e-9)
        return max(0.5 - 0.5 * math.sqrt(1.0 - alike) - self.mistakes - 1e-12, 0.0)

    def mass_beyond(self, distance: float) -> float:
        """Upper bound on the root's mass of sums farther from 0 than this, whatever features are summed."""
        return 1.001 * float(np.exp(np.minimum(self.tilts - EXPONENTS * distance, 50.0)).min(axis=1).sum())


def opening_units(laws: FeatureLaws) -> float:
    """What `find_spectra` takes, about."""
    n_frequencies = REACH / laws.noise * _find_period(laws)[0] / (2.0 * math.pi)
    return SCAN_UNITS * n_frequencies * len(laws.weight)


def find_spectra(laws: FeatureLaws, guide: FarGuide, low: Floats, high: Floats) -> Spectra:
    """The spectra; `low` and `high` limit the cost and information of the subsets of most interest."""
    period, wrapped = _find_period(laws)
    step = 2.0 * math.pi / period
    frequencies = _multiples(step, 1, math.ceil(REACH / (laws.noise * step)))
    stacked = np.stack([laws.lower, laws.upper, laws.root])
    errors, parts = wave_error(laws.weight, frequencies), []
    for start in range(0, len(frequencies), SCANNED):
        part = slice(start, start + SCANNED)
        tick(SCAN_UNITS * SCANNED * len(laws.weight), "the ceiling")
        parts.append(compiled_scan_far(frequencies[part], stacked, laws.weight, errors[part], guide))
    whole, constants, multipliers = (np.concatenate(each, axis=1) for each in zip(*parts, strict=True))
    far = FarTable(constants, multipliers)
    n_near = _count_near(laws, frequencies, period, far.at(low, high))
    near = _multiples(step, 0, n_near)
    logs = _find_logs(laws, near)
    sizes = np.stack([np.abs(one).sum(axis=1) for one in logs])
    cost = _smoothing_cost(laws, whole, frequencies, period) + wrapped
    return Spectra(
        laws,
        period,
        cost,
        _mistakes(laws, whole, frequencies) + cost,
        far,
        n_near,
        logs,
        _doubt(laws, near, sizes),
        sizes,
        np.stack([_log_moments(laws.weight, laws.root, sign) for sign in (1.0, -1.0)]),
    )


def _multiples(step: float, first: int, last: int) -> Floats:
    return np.asarray(step * np.arange(first, last + 1, dtype=np.float64))


def _log_moments(weight: Floats, mass: Floats, sign: float) -> Floats:
    """Sum over features of log E exp(sign s weight), 0 at least for each of them, for all exponents s."""
    moments = (mass * np.exp(np.minimum(sign * EXPONENTS[:, None, None] * weight, 300.0))).sum(axis=2)
    return np.asarray(np.log(np.maximum(moments, 1.0)).sum(axis=1))


def _find_period(laws: FeatureLaws) -> tuple[float, float]:
    """A period that the sum, less what is needed, seldom leaves, and how often at most."""
    period, reach = 12.0, abs(laws.needed) + 8.0 * laws.noise
    tilts = {
        sign: (_log_moments(laws.weight, laws.lower, sign), _log_moments(laws.weight, laws.upper, sign))
        for sign in (1.0, -1.0)
    }
    while True:
        period *= 1.1
        distance = 0.5 * period - reach
        wrapped = sum(
            share * float(np.exp(np.minimum(tilt - EXPONENTS * distance, 50.0)).min())
            for lower, upper in tilts.values()
            for share, tilt in ((1.0 - laws.share, lower), (laws.share, upper))
        )
        if wrapped < FARTHEST_WRAPPED:
            # The noise itself goes farther than 8 standard deviations with probability 1e-15.
            return period, 1.001 * wrapped + 1e-14


def wave_error(weight: Floats, frequencies: Floats) -> Floats:
    """Rounding of a feature's function at most, in absolute numbers.

    Angles v l are off by 4 roundings, sines by 4 units, and the sum over states by one unit for each.
    """
    return np.asarray(UNIT * (2.0 * frequencies * float(np.abs(weight).max()) + 8.0 + weight.shape[1]))


def _doubt(laws: FeatureLaws, near: Floats, sizes: Floats) -> Floats:  # (3 laws, frequencies)
    """How far exp of a sum of logarithms can be from the product of functions, all of magnitude 1 at most.

    Products differ by no more than their factors do in all. A factor is off by the rounding of the wave, of
    its angle, which was as large as 4 v l before it was aligned, and of its logarithm; sums by one rounding
    for each feature.
    """
    n = len(laws.weight)
    factors = n * (4.0 * wave_error(laws.weight, near) + 32.0 * UNIT)
    return np.asarray(factors + (n + 16) * UNIT * sizes)


def _smoothing_cost(laws: FeatureLaws, whole: Floats, frequencies: Floats, period: float) -> float:
    """How often noise changes the decision: at most half of E exp(-(z - needed)^2 / 2 noise^2).

    The sum over frequencies is that expectation with the function repeated in every period, which is larger.
    """
    noise = np.exp(-0.5 * (laws.noise * frequencies) ** 2)
    turned = np.exp(-1j * frequencies * laws.needed) * noise
    errors = _whole_errors(laws, frequencies)
    total = 0.0
    for law, share in ((0, 1.0 - laws.share), (1, laws.share)):
        series = 1.0 + 2.0 * float(((whole[law, :, 0] + 1j * whole[law, :, 1]) * turned).real.sum())
        series += 2.0 * float(noise @ errors)
        total += share * 0.5 * laws.noise * math.sqrt(2.0 * math.pi) / period * series
    return (total + BEYOND) * (1.0 + 4.0 * TIE_ROOM / laws.noise)


def _whole_errors(laws: FeatureLaws, frequencies: Floats) -> Floats:
    """Rounding of the functions of all features together, turned by what is needed, and of their sum."""
    errors = len(laws.weight) * (wave_error(laws.weight, frequencies) + 4.0 * UNIT)
    return errors + wave_error(np.array([[laws.needed]]), frequencies) + len(frequencies) * UNIT


def _mistakes(laws: FeatureLaws, whole: Floats, frequencies: Floats) -> float:
    """How often the smooth decision is not the class, at most."""
    number = np.arange(1, len(frequencies) + 1)
    size = np.where(number % 2 == 1, 2.0 / (np.pi * number), 0.0)
    size *= np.exp(-0.5 * (laws.noise * frequencies) ** 2)
    turned = size * np.exp(-1j * frequencies * laws.needed) / 1j
    found = float(size @ _whole_errors(laws, frequencies)) + BEYOND
    for law, share, sign in ((0, 1.0 - laws.share, 1.0), (1, laws.share, -1.0)):
        series = float(((whole[law, :, 0] + 1j * whole[law, :, 1]) * turned).real.sum())
        found += share * (0.5 + sign * series)
    return found


def _count_near(laws: FeatureLaws, frequencies: Floats, period: float, far: Floats) -> int:
    """How many frequencies are worth comparing."""
    number = np.arange(1, len(frequencies) + 1)
    noise = np.exp(-0.5 * (laws.noise * frequencies) ** 2)
    dropped = np.where(number % 2 == 1, 2.0 / (np.pi * number) * noise * (far[0] + far[1]), 0.0)
    rest = np.cumsum((dropped + far[2] * 2.0 / (period * frequencies**2))[::-1])[::-1]
    wanted = int(np.searchsorted(-rest, -NEGLIGIBLE))
    least, most = (int(np.searchsorted(frequencies, limit)) for limit in (NEAREST, NEAR_LIMIT))
    return min(max(wanted, least), most, len(frequencies) - 1)


def _find_logs(laws: FeatureLaws, near: Floats) -> tuple[Complexes, Complexes, Complexes]:
    """Logarithms of the features' functions, with imaginary parts that differ little between features.

    Any multiple of 2 pi i may be added for each feature and frequency: only sums over whole features are
    ever exponentiated. The closer the features' logarithms, the tighter the bounds.
    """
    waves = np.exp(1j * near[:, None, None] * laws.weight)
    drift = 0.5 * near[:, None] * laws.information
    found = []
    for mass, sign in ((laws.lower, -1.0), (laws.upper, 1.0), (laws.root, 0.0)):
        values = (mass * waves).sum(axis=2)
        mean = (mass * laws.weight).sum(axis=1) / mass.sum(axis=1)
        turned = values * np.exp(-1j * near[:, None] * mean)
        angles = np.unwrap(np.angle(turned), axis=0) + near[:, None] * mean
        angles = sign * drift + _align(angles - sign * drift)
        found.append(np.maximum(np.log(np.abs(values) + 1e-300), SMALLEST_LOG) + 1j * angles)
    return found[0], found[1], found[2]


def _align(angles: Floats) -> Floats:
    """The angles of each row, or within half a turn of their common direction where these differ less."""
    middle = np.angle(np.exp(1j * angles).sum(axis=1))[:, None]
    turned = middle + (angles - middle + np.pi) % (2.0 * np.pi) - np.pi
    return np.where(turned.var(axis=1)[:, None] < angles.var(axis=1)[:, None], turned, angles)
