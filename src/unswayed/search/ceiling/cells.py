"""Cells of subsets: those whose cost, information and some other sums lie between bounds.

Within a cell, sums over the kept features vary little. They are compared with those of a *reference*: the
fractional weights of greatest entropy at the middle of the cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from unswayed.core.arrays import Bools, Floats
from unswayed.kernels.additive_bounds import Family, FarGuide, compiled_bound_sums
from unswayed.search.ceiling.spectra import Complexes

DIRECTIONS = 12
"""Directions of the complex plane in which sums are bounded."""
KEEPING = (0.5, 2.0, 8.0)
"""How strongly first multipliers keep to the features that a reference keeps."""
LEVELS = (0.98, 0.85, 0.5)
"""Shares of the most information at which multipliers for far frequencies are made."""
SCALES = np.array([0.0, 1.0, 4.0])
"""How strongly those multipliers keep to the level."""
STEPS = 60
"""Of Newton's method for a reference."""
STEEPEST = 60.0
"""Log-odds of a reference's weights at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """Some subsets: bounds on their statistics, and features that all of them keep or drop."""

    low: Floats  # (statistics,)
    high: Floats  # (statistics,)
    kept: Bools  # (features,)
    dropped: Bools  # (features,)

    @property
    def free(self) -> Bools:
        """Features that some subsets keep and others drop."""
        return ~(self.kept | self.dropped)

    def limited(self, statistic: int, low: float, high: float) -> Cell:
        """The part of the cell within bounds on one statistic."""
        lows, highs = self.low.copy(), self.high.copy()
        lows[statistic] = max(low, lows[statistic])
        highs[statistic] = min(high, highs[statistic])
        return replace(self, low=lows, high=highs)

    def decided(self, feature: int, *, keep: bool) -> Cell:
        """The part of the cell that keeps a feature, or drops it."""
        name = "kept" if keep else "dropped"
        chosen = getattr(self, name).copy()
        chosen[feature] = True
        return replace(self, **{name: chosen})


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """Fractional weights of the features, and the subsets of a cell seen from them."""

    weights: Floats  # (features,)
    slopes: Floats  # (statistics,)
    """The weights' log-odds are linear in the statistics."""
    free: Bools
    family: Family = field(repr=False)
    projections: Floats = field(repr=False)  # (2, statistics, free features)
    """Least squares: multipliers from values, for all statistics and for the first two alone."""

    def bound(self, values: Floats) -> Floats:  # (rows,)
        """Upper bounds on sums over kept features less those of the weights; values are (rows, features)."""
        if not self.free.any():
            return np.zeros(len(values))
        some = np.ascontiguousarray(values[:, self.free])
        fits = some @ self.projections.transpose(0, 2, 1)
        spread = self.family.weights * (1.0 - self.family.weights) + 1e-12
        rest = some - fits[0] @ self.family.statistics.T
        size = np.sqrt((rest**2 @ spread) / spread.sum())[:, None]
        kept_to = [fits[0] - scale * size * self.slopes for scale in KEEPING]
        return compiled_bound_sums(some, np.stack([*fits, *kept_to]), self.family)

    def spread(self, logs: Complexes) -> Floats:  # (rows,)
        """How far complex sums can be from the weights' ones, in any direction."""
        angles = 2.0 * math.pi * np.arange(DIRECTIONS) / DIRECTIONS
        turned = (np.exp(-1j * angles)[:, None, None] * logs).real
        bounds = self.bound(turned.reshape(-1, logs.shape[1])).reshape(DIRECTIONS, len(logs))
        return np.asarray(np.maximum(bounds.max(axis=0), 0.0) / math.cos(math.pi / DIRECTIONS))


def refer(statistics: Floats, cell: Cell) -> Reference:
    """The reference of a cell."""
    free = cell.free
    fixed = statistics[cell.kept].sum(axis=0)
    slopes = _entropy_slopes(statistics[free], 0.5 * (cell.low + cell.high) - fixed)
    weights = cell.kept.astype(np.float64)
    weights[free] = _expit(statistics[free] @ slopes)
    middle = weights @ statistics
    some = np.ascontiguousarray(statistics[free])
    family = Family(weights[free], some, cell.low - middle, cell.high - middle)
    spread = weights[free] * (1.0 - weights[free])
    projections = np.zeros((2, some.shape[1], len(some)))
    projections[0], projections[1, :2] = _project(some, spread), _project(some[:, :2], spread)
    return Reference(weights, slopes, free, family, projections)


def find_extremes(statistics: Floats, cell: Cell, statistic: int) -> tuple[float, float]:
    """Least and greatest sum of a statistic that a cell's other bounds allow."""
    others = np.delete(np.arange(statistics.shape[1]), statistic)
    reference = refer(statistics[:, others], replace(cell, low=cell.low[others], high=cell.high[others]))
    values = statistics[:, statistic]
    up, down = reference.bound(np.stack([values, -values]))
    middle = float(reference.weights @ values)
    return middle - float(down), middle + float(up)


def _expit(log_odds: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds, -STEEPEST, STEEPEST))))


def _project(statistics: Floats, weights: Floats) -> Floats:
    """Weighted least squares of values on the statistics."""
    weighted = statistics * (weights + 1e-9 * (weights.max(initial=0.0) + 1e-9))[:, None]
    square = weighted.T @ statistics
    return np.asarray(
        np.linalg.solve(square + 1e-12 * np.trace(square) * np.eye(len(square)) + 1e-300, weighted.T)
    )


def _entropy_slopes(statistics: Floats, wanted: Floats) -> Floats:
    """Slopes of the weights of greatest entropy whose sums are those wanted, or near."""
    size = np.maximum(np.abs(statistics).max(axis=0, initial=0.0), 1e-12)
    scaled, goal = statistics / size, wanted / size
    slopes = np.zeros(len(goal))
    for _ in range(STEPS):
        weights = _expit(scaled @ slopes)
        gradient = weights @ scaled - goal + 1e-7 * slopes
        if np.abs(gradient).max() < 1e-6:
            break
        square = (scaled * (weights * (1.0 - weights))[:, None]).T @ scaled
        step = np.linalg.solve(square + 1e-7 * np.eye(len(goal)), gradient)
        if not np.isfinite(step).all():
            break
        length = min(1.0, 8.0 / max(float(np.abs(scaled @ step).max(initial=0.0)), 1e-12))
        before = _dual(scaled, goal, slopes)
        while length > 1e-8 and _dual(scaled, goal, slopes - length * step) > before - 1e-4 * length * float(
            gradient @ step
        ):
            length *= 0.5
        slopes = slopes - length * step
        if np.abs(scaled @ slopes).max(initial=0.0) > 4.0 * STEEPEST:
            break
    return np.asarray(slopes / size)


def _dual(statistics: Floats, wanted: Floats, slopes: Floats) -> float:
    """What the slopes of greatest entropy minimise, a little bent so that there is a minimum."""
    log_odds = statistics @ slopes
    return float(np.logaddexp(0.0, log_odds).sum() - wanted @ slopes + 0.5e-7 * (slopes @ slopes))


def make_guide(costs: Floats, information: Floats, cost: tuple[float, float]) -> FarGuide:
    """Multipliers to try at far frequencies, for subsets whose cost is in a range."""
    statistics = np.stack([costs, information], axis=1)
    least, most = information_range(costs, information, cost)
    projections, slopes, spreads = [], [], []
    for level in LEVELS:
        wanted = np.array([cost[1], least + level * (most - least)])
        slope = _entropy_slopes(statistics, wanted)
        weights = _expit(statistics @ slope)
        projections.append(_project(statistics, weights * (1.0 - weights)))
        slopes.append(slope)
        spreads.append(weights * (1.0 - weights) + 1e-9)
    return FarGuide(statistics, np.stack(projections), np.stack(slopes), np.stack(spreads), SCALES)


def information_range(costs: Floats, information: Floats, cost: tuple[float, float]) -> tuple[float, float]:
    """Least and most information of subsets whose cost is in a range, fractions of features allowed."""
    ascending = np.argsort(information / costs, kind="stable")
    least = _fill(costs[ascending], information[ascending], cost[0])
    most = _fill(costs[ascending[::-1]], information[ascending[::-1]], cost[1])
    return least * (1.0 - 1e-12), most * (1.0 + 1e-12)


def _fill(costs: Floats, values: Floats, budget: float) -> float:
    """Value of the first features that fit a budget, and of the part of the next one that does."""
    before = np.concatenate([[0.0], np.cumsum(costs)[:-1]])
    return float(np.clip((budget - before) / costs, 0.0, 1.0) @ values)


def choose_statistics(
    spectra_logs: Sequence[Complexes], frequencies: Floats, statistics: Floats, weights: Floats
) -> Floats:
    """One more statistic: the direction in which features of like cost and information differ most.

    `weights` are those of a reference near the best subsets; frequencies count by how much they can matter.
    """
    rows = []
    for logs, side in zip(spectra_logs, (1.0 - weights, 1.0 - weights, weights), strict=True):
        size = np.exp(logs.real @ side) / np.maximum(frequencies, 1.0)
        rows += [size[:, None] * logs.real, size[:, None] * logs.imag]
    values = np.concatenate(rows)
    spread = weights * (1.0 - weights) + 0.02
    rest = values - (values @ _project(statistics, spread).T) @ statistics.T
    direction = np.linalg.svd(rest * np.sqrt(spread), full_matrices=False)[2][0] / np.sqrt(spread)
    return np.asarray(direction / (np.abs(direction).max() + 1e-300))


def whole_cell(statistics: Floats, cost: tuple[float, float], dropped: Bools) -> Cell:
    """All subsets of the features not dropped whose cost is in a range."""
    least, most = information_range(statistics[:, 0], statistics[:, 1], cost)
    others = np.abs(statistics[:, 2:]).sum(axis=0)
    low = np.concatenate([[cost[0], least], -others])
    high = np.concatenate([[cost[1], most], others])
    return Cell(low, high, np.zeros(len(statistics), dtype=np.bool_), dropped)
