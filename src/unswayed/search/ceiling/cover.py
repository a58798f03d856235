"""An upper bound on the agreement of every subset within a budget: all subsets divided into cells.

Agreement with the full decision grows with the kept set, so only subsets matter to which nothing more can be
added: their cost is above the budget less the dearest feature's. These are divided by how much they tell the
classes apart; the cell with the worst bound is divided again, by one of its statistics or by a feature that
stands out, until the bound is good enough or time is over.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from unswayed.core.arrays import Bools, Floats
from unswayed.search.ceiling.cell_error import CellError, bound_error
from unswayed.search.ceiling.cells import (
    Cell,
    Reference,
    choose_statistics,
    find_extremes,
    information_range,
    make_guide,
    refer,
    whole_cell,
)
from unswayed.search.ceiling.spectra import FeatureLaws, Spectra, find_spectra

FIRST_WIDTH, GROWTH = 0.006, 0.2
"""Widths of the first cells: of the most information, then of the distance from it."""
COARSER = 4.0
"""How much wider the first cells are where a strong feature is missing: these are seldom close."""
STRONG, MOST_STRONG = 3.0, 12
"""Information over that of usual kept features from which on a feature is strong; how many there may be."""
OUTSTANDING = 0.3
"""Share of a cell's variance above which one feature is decided before a statistic is divided."""
UNDECIDED = 0.01
"""Variance of a feature's weight above which it is worth deciding."""
INFORMATION_FIRST = 1.5
"""How much sooner information is divided than other statistics of the same relative width."""
WIDE, NARROWEST = 1.0, 1e-3
"""Relative widths above which a statistic is divided before a feature is decided, and below which none is."""
ENTIRE = 1e-9
"""Relative room for rounding in limits."""


@dataclass(frozen=True, slots=True, eq=False)
class Spendable:
    """What features cost and how much may be spent."""

    costs: Floats
    """All positive."""
    spendable: float

    @property
    def too_dear(self) -> Bools:  # (features,)
        """Features that no subset can pay for."""
        return np.asarray(self.costs > self.spendable)

    @property
    def slack(self) -> float:
        """What is left when nothing can be added, at most: not enough for the dearest feature.

        With whole costs, that is at least 1 less.
        """
        return float(self.costs[~self.too_dear].max()) - (1.0 if self._is_whole else 0.0)

    @property
    def limits(self) -> tuple[float, float]:
        """Costs of subsets to which nothing can be added."""
        most = math.floor(self.spendable) if self._is_whole else self.spendable
        most = min(most, float(self.costs[~self.too_dear].sum()))
        return max(most - self.slack, 0.0), most

    @property
    def _is_whole(self) -> bool:
        return bool(np.all(self.costs == np.rint(self.costs)))


@dataclass(order=True, slots=True)
class _Open:
    """A cell that may be divided, by what is known of its errors."""

    low: float
    number: int
    cell: Cell = field(compare=False)
    error: CellError | None = field(default=None, compare=False)
    """None before the cell is bounded by more than its information, or those it was divided from."""


@dataclass(slots=True)
class Ceiling:
    """Cells that cover all subsets, worst first; each step bounds one, or divides it."""

    spectra: Spectra
    statistics: Floats
    has_strong: bool
    """Whether subsets without a strong feature count with others added."""
    cells: list[_Open] = field(default_factory=list)
    count: int = 0

    @property
    def agreement(self) -> float:
        """Upper bound on the agreement of every subset within the budget."""
        return min(1.0 - self.cells[0].low, 1.0) if self.cells else 0.0


def open_ceiling(laws: FeatureLaws, budget: Spendable) -> Ceiling:
    """The first cell: all subsets to which nothing can be added, of which nothing is known."""
    limits = budget.limits
    information = laws.information
    statistics = np.stack([budget.costs, information], axis=1)
    most = information_range(budget.costs, information, limits)[1]
    top = np.array([limits[1], 0.97 * most])
    guide = make_guide(budget.costs, information, limits)
    spectra = find_spectra(laws, guide, np.array([limits[0], 0.9 * most]), np.array([limits[1], most]))
    nothing = np.zeros(len(information), dtype=np.bool_)
    weights = refer(statistics, Cell(top, top, nothing, budget.too_dear)).weights
    extra = choose_statistics(spectra.logs, spectra.frequencies, statistics, weights)
    statistics = np.ascontiguousarray(np.column_stack([statistics, extra]))
    whole = whole_cell(statistics, limits, budget.too_dear)
    families = list(_families(whole, statistics, budget.slack))
    ceiling = Ceiling(spectra, statistics, len(families) > 1)
    for position, family in enumerate(families):
        narrowed = _narrow(ceiling.statistics, family)
        for cell in () if narrowed is None else _slices(narrowed, COARSER if position else 1.0):
            _add(ceiling, cell, 0.0)
    return ceiling


def _families(whole: Cell, statistics: Floats, slack: float) -> Iterator[Cell]:
    """Cells that cover all subsets: those that keep every strong feature, and those that lack a given one.

    Adding the other strong features to the latter, and the budget to pay for them, only lowers their error.
    """
    costs, information = statistics[:, 0], np.where(whole.dropped, 0.0, statistics[:, 1])
    order = np.argsort(-information, kind="stable")
    n_kept = max(int(np.searchsorted(np.cumsum(costs[order]), whole.high[0])), 1)
    usual = float(np.median(information[order[:n_kept]]))
    strong = order[:MOST_STRONG][information[order[:MOST_STRONG]] > STRONG * usual]
    everything = whole
    for feature in strong:
        everything = everything.decided(int(feature), keep=True)
    yield everything
    for lacking in strong:
        others = [int(f) for f in strong if f != lacking]
        cell = whole.decided(int(lacking), keep=False)
        for feature in others:
            cell = cell.decided(feature, keep=True)
        high = float(min(whole.high[0] + costs[others].sum(), costs[~cell.dropped].sum()))
        low = np.concatenate([[max(high - slack, 0.0), 0.0], whole.low[2:]])
        top = np.concatenate([[high, statistics[:, 1].sum()], whole.high[2:]])
        yield replace(cell, low=low, high=top)


def lower(ceiling: Ceiling) -> Iterator[float]:
    """Bound the worst cell, or divide it where it is bounded, again and again; the bound after each step."""
    while ceiling.cells:
        yield ceiling.agreement
        worst = heapq.heappop(ceiling.cells)
        if worst.error is None:
            error = bound_error(ceiling.spectra, ceiling.statistics, worst.cell)
            ceiling.count += 1
            heapq.heappush(ceiling.cells, replace(worst, low=max(worst.low, error.low), error=error))
        elif worst.cell.free.any():
            for part in _parts(ceiling, worst.cell, worst.error.reference):
                _add(ceiling, part, worst.low)
        else:
            heapq.heappush(ceiling.cells, worst)
            return


def _slices(cell: Cell, coarser: float) -> Iterator[Cell]:
    """Slices by information, finer the nearer to the most."""
    least, most = float(cell.low[1]), float(cell.high[1])
    upper, distance = most, 0.0
    while upper > least:
        distance += coarser * max(FIRST_WIDTH * most, GROWTH * distance)
        lower = max(most - distance, least)
        yield cell.limited(1, lower, upper)
        upper = lower


def _add(ceiling: Ceiling, cell: Cell, low: float) -> None:
    """Open a cell with what its information says of its errors, unless no subset is in it."""
    narrowed = _narrow(ceiling.statistics, cell)
    if narrowed is not None:
        known = ceiling.spectra.least_error(float(narrowed.high[1]))
        number = len(ceiling.cells) + ceiling.count
        heapq.heappush(ceiling.cells, _Open(max(low, known), number, narrowed))


def _narrow(statistics: Floats, cell: Cell) -> Cell | None:
    """The cell with the limits that its other limits imply; None if they leave nothing."""
    least, most = (float(statistics[which, 0].sum()) for which in (cell.kept, ~cell.dropped))
    if least > cell.high[0] * (1.0 + ENTIRE) or most < cell.low[0] * (1.0 - ENTIRE):
        return None
    for c in reversed(range(1, statistics.shape[1])):
        least, most = find_extremes(statistics, cell, c)
        room = ENTIRE * (abs(least) + abs(most) + 1.0)
        cell = cell.limited(c, least - room, most + room)
        if cell.low[c] > cell.high[c]:
            return None
    return cell


def _parts(ceiling: Ceiling, cell: Cell, reference: Reference) -> tuple[Cell, Cell]:
    """Two halves of a cell: with and without a feature that stands out, or by the widest statistic."""
    weights = reference.weights
    variance = weights * (1.0 - weights)
    centred = ceiling.statistics - weights @ ceiling.statistics / max(float(weights.sum()), 1e-9)
    width = (cell.high - cell.low) / (np.sqrt(variance @ centred**2) + 1e-9)
    width[0], width[1] = 0.0, INFORMATION_FIRST * width[1]
    size = np.abs(ceiling.spectra.logs[2][: 1 + ceiling.spectra.n_near // 4]).max(axis=0)
    influence = np.where(cell.free, (variance + 1e-9) * size**2, 0.0)
    feature = int(np.argmax(influence))
    stands_out = influence[feature] > OUTSTANDING * float(influence.sum()) and variance[feature] > UNDECIDED
    if (stands_out and width.max() < WIDE) or width.max() < NARROWEST:
        return cell.decided(feature, keep=True), cell.decided(feature, keep=False)
    widest = int(np.argmax(width))
    middle = 0.5 * float(cell.low[widest] + cell.high[widest])
    return cell.limited(widest, -math.inf, middle), cell.limited(widest, middle, math.inf)
