"""Which item to ask next where items depend on each other: every form with gaps is a situation of its own.

A form with gaps is a cell of a table with one axis an item: an index for each answer and a last one for "not
asked". Mass, lowest and highest band of the last index follow from the others (a sum, a least, a greatest).
Expected costs are weighted with the mass, so that nothing is divided:

    W(x) = 0 where the band is certain, else  min_j  cost_j mass(x) + sum_a W(x with j = a)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Floats, Ints
from unswayed.plans.score_sums import NEARLY

Number = TypeVar("Number", np.float64, np.int64)

BYTES_PER_CELL = 64.0
UNITS_PER_CELL = 0.03
"""Work of one item in one situation: about 30 ns."""


@dataclass(frozen=True, slots=True, eq=False)
class FormTable:
    """All forms with gaps over the unknown items."""

    costs: Floats
    """What each item costs."""
    sizes: tuple[int, ...]
    """Answers of each item, with "not asked" as the last."""
    mass: Floats  # (cells,)
    """How probable the answers of each cell are."""
    entropy: Floats  # (cells,)
    """The entropy of the band in bits, times the mass."""
    is_open: Ints
    """Numbers of the cells where the band is not certain, the fewest gaps first."""
    gaps: Ints
    """How many gaps each of these has."""

    @property
    def strides(self) -> Ints:
        """What the next answer of each item adds to the number of a cell."""
        return np.array([math.prod(self.sizes[k + 1 :]) for k in range(len(self.sizes))], dtype=np.int64)


def make_table(joint: Floats, bands: Ints, costs: Floats) -> FormTable:
    """The table from Pr(all answers) and the band of each form, -1 for forms that cannot be."""
    sizes = tuple(size + 1 for size in joint.shape)
    check_bytes(BYTES_PER_CELL * math.prod(map(float, sizes)), "the forms with gaps of a score")
    tick(UNITS_PER_CELL * math.prod(sizes) * len(sizes), "the plan")
    low = _with_gaps(np.where(bands < 0, bands.max() + 1, bands), np.min)
    high = _with_gaps(bands, np.max)
    mass = _with_gaps(joint, np.sum)
    entropy = np.zeros(mass.shape)
    for band in np.unique(bands[bands >= 0]):
        part = _with_gaps(np.where(bands == band, joint, 0.0), np.sum)
        share = np.divide(part, mass, out=np.ones_like(part), where=(mass > 0) & (part > 0))
        entropy -= part * np.log2(share)
    gaps = np.zeros(mass.shape, dtype=np.int64)
    for axis, size in enumerate(sizes):
        gaps += np.eye(size, dtype=np.int64)[-1].reshape([-1 if k == axis else 1 for k in range(len(sizes))])
    is_open = np.flatnonzero((low < high).reshape(-1))
    is_open = is_open[np.argsort(gaps.reshape(-1)[is_open], kind="stable")]
    return FormTable(costs, sizes, mass.reshape(-1), entropy.reshape(-1), is_open, gaps.reshape(-1)[is_open])


def _with_gaps(table: npt.NDArray[Number], gather: Callable[..., Any]) -> npt.NDArray[Number]:
    """A table over answers with an index "not asked" on every axis, which gathers the others."""
    for axis in range(table.ndim):
        table = np.concatenate([table, gather(table, axis=axis, keepdims=True)], axis=axis)
    return table


@dataclass(frozen=True, slots=True, eq=False)
class TablePlan:
    """What to ask in every form with gaps, and what comes of it from the empty one."""

    choice: Ints  # (cells,)
    """The item to ask; -1 where the band is certain."""
    cost: float
    """Expected cost."""
    count: float
    """Expected number of items."""


def plan_best(table: FormTable) -> TablePlan:
    """The way to ask that costs least, on average."""
    return _plan(table, lambda cells, item, cost: cost)


def plan_greedy(table: FormTable) -> TablePlan:
    """The item with the most information about the band per cost, each time."""

    def loss(cells: Ints, item: int, cost: Floats) -> Floats:
        told = _after(table, cells, item, table.entropy) - table.entropy[cells]
        mass = np.maximum(table.mass[cells], 1e-300)
        found: Floats = np.round(told / mass / max(table.costs[item], NEARLY), 12)
        return found

    return _plan(table, loss)


def plan_order(table: FormTable, order: Sequence[int]) -> TablePlan:
    """The items in a fixed order."""
    rank = np.argsort(order)
    return _plan(table, lambda cells, item, cost: np.full(len(cells), float(rank[item])))


def _plan(table: FormTable, judge: Callable[[Ints, int, Floats], Floats]) -> TablePlan:
    """Ask the item that is judged least; `judge` sees cells, an item and the expected cost of asking it."""
    n_cells, n_items = len(table.mass), len(table.sizes)
    cost, count, choice = np.zeros(n_cells), np.zeros(n_cells), np.full(n_cells, -1)
    strides = table.strides
    for gaps in range(1, n_items + 1):
        cells = table.is_open[slice(*np.searchsorted(table.gaps, [gaps, gaps + 1]))]
        tick(UNITS_PER_CELL * len(cells) * n_items, "the plan")
        best = np.full(len(cells), np.inf)
        for item in range(n_items):
            rows = np.flatnonzero(cells // strides[item] % table.sizes[item] == table.sizes[item] - 1)
            here = cells[rows]
            priced = table.costs[item] * table.mass[here] + _after(table, here, item, cost)
            worth = judge(here, item, priced)
            is_better = worth < best[rows] - NEARLY * np.maximum(1e-3, table.mass[here])
            rows, here = rows[is_better], here[is_better]
            best[rows], choice[here], cost[here] = worth[is_better], item, priced[is_better]
            count[here] = table.mass[here] + _after(table, here, item, count)
    return TablePlan(choice, float(cost[-1]), float(count[-1]))


def _after(table: FormTable, cells: Ints, item: int, values: Floats) -> Floats:
    """The sum over the answers to an item that is not asked in any of these cells."""
    stride, n_answers = int(table.strides[item]), table.sizes[item] - 1
    found = np.zeros(len(cells))
    for answer in range(n_answers):
        found += values[cells - (n_answers - answer) * stride]
    return found
