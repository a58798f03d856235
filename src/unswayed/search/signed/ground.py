"""From a task whose decisions are two to the ground that the compiled search walks on.

With two actions one column is enough to bound every subset: the mass decided for one less the mass decided
for the other. Here it is laid out in the order of the search, features whose loss does most harm first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.kernels.subset_search import FEATURE, SLACK, Records, SignedArrays, compiled_absolute_sums
from unswayed.search.objectives import AchievableObjective, PotentialObjective, SameDecisionObjective
from unswayed.search.task import Task, most_harmful, order_by_harm

TRANSPOSED = 2**18
"""Cells up to which numpy transposes faster: a tenth of the time at 2^13, half at 2^18."""
SMALL_TABLE = 2**12
"""Cells up to which searching all features takes no longer than searching some of them first."""
GLANCE = 8
"""Cells along an axis that are compared before all of them are."""


@dataclass(frozen=True, slots=True, eq=False)
class SignedGround:
    """The features of a task in the order of its search, with their table in that order."""

    order: tuple[int, ...]
    """Positions of the features; those of one state are left out, nothing is ever lost with them."""
    table: Floats = field(repr=False)
    """Signed masses, the first feature slowest."""
    features: Records = field(repr=False)
    """What the search needs to know of each."""
    _parts: dict[int, tuple[Floats, Records]] = field(default_factory=dict, repr=False)
    """The same of the first features alone, by their number."""

    def to_search(self, task: Task) -> SignedArrays:
        """All features, with the budget of the task."""
        return SignedArrays(self.table, self.features, task.spendable, task.objective.monotone)

    def few_to_search(self, task: Task) -> SignedArrays | None:
        """The most harmful features alone, for a good subset early; None where that saves nothing."""
        few = len(most_harmful(task, list(self.order))) if len(self.table) > SMALL_TABLE else len(self.order)
        if few == len(self.order):
            return None
        if few not in self._parts:
            self._parts[few] = self._part(few)
        return SignedArrays(*self._parts[few], task.spendable, task.objective.monotone)

    def _part(self, few: int) -> tuple[Floats, Records]:
        """Table and records of the first features alone."""
        after = self.features[few]
        features = self.features[: few + 1].copy()
        for name in ("rest", "names"):
            features[name] -= after[name]
        features["cells"] //= after["cells"]
        features[few] = 0
        features["cells"][few] = 1
        return self.table.reshape(-1, after["cells"]).sum(axis=1), features

    def kept(self, bits: int) -> frozenset[int]:
        """The features of a subset that the search gives as bits."""
        names = self.features["name"].tolist()
        return frozenset(f for f, name in zip(self.order, names, strict=False) if bits & name)

    def bits(self, kept: Iterable[int]) -> int:
        """A subset as the search wants it."""
        return sum(int(self.features["name"][self.order.index(f)]) for f in kept if f in self.order)


def signed_column(task: Task) -> Floats | None:
    """The mass of one decision less that of the other, where the ceiling is made of nothing else."""
    objective, table = task.objective, task.root.table
    if isinstance(objective, PotentialObjective):
        return table[0] if len(table) == 1 else None
    if (
        isinstance(objective, SameDecisionObjective | AchievableObjective)
        and len(table) == objective.n_classes + 2
    ):
        column: Floats = table[-2] - table[-1]
        return column
    return None


def signed_ground(task: Task, column: Floats) -> SignedGround:
    """The ground of a task; made once for all budgets."""
    if task.workspace.signed is None:
        task.workspace.signed = _make_ground(task, column)
    return task.workspace.signed


def _make_ground(task: Task, column: Floats) -> SignedGround:
    features = task.root.features
    states = np.array([task.sizes[f] for f in features], dtype=np.int64)
    # Features of one state have no place in the table's layout.
    several = [f for f in features if task.sizes[f] > 1]
    left = 0.5 + 0.5 * compiled_absolute_sums(np.ascontiguousarray(column), states[states > 1])
    left_by_feature = dict(zip(several, left.tolist(), strict=True))
    order = order_by_harm(task, left_by_feature)
    groups = _equal_features(task, order, left_by_feature)
    order = _by_name_within(groups, order, task)
    table = _laid_out(column, [several.index(f) for f in order], states[states > 1])
    return SignedGround(tuple(order), table, _records(task, order, left_by_feature, groups))


def _records(
    task: Task, order: Sequence[int], left: dict[int, float], groups: Sequence[Sequence[int]]
) -> Records:
    n_features = len(order)
    records = np.zeros(n_features + 1, dtype=FEATURE)
    of = records[:-1]
    of["states"] = [task.sizes[f] for f in order]
    of["cost"] = [task.costs[f] for f in order]
    of["alone"] = np.maximum.accumulate([left[f] for f in order])
    by_name = sorted(order, key=lambda f: task.names[f])
    bit = {f: 1 << (n_features - 1 - rank) for rank, f in enumerate(by_name)}
    of["name"] = [bit[f] for f in order]
    for one, other in itertools.chain.from_iterable(map(itertools.pairwise, groups)):
        of["twin"][order.index(other)] = bit[one]
    records["cells"] = _products_from(of["states"])
    records["rest"] = _sums_from(of["cost"])
    records["names"] = _sums_from(of["name"])
    return records


def _products_from(values: Ints) -> Ints:
    """Products of the values from each one on, and 1 at the end."""
    return np.append(np.cumprod(values[::-1])[::-1], 1)


def _sums_from(values: Floats) -> Floats:
    """Sums of the values from each one on, and 0 at the end."""
    return np.append(np.cumsum(values[::-1])[::-1], 0)


def _laid_out(column: Floats, axes: Sequence[int], states: Ints) -> Floats:
    """The column with its axes in another order.

    Where a cell comes from is the sum of what the leading and the trailing axes say, so two short lists of
    positions are enough, whatever the number of axes; numpy's own transposition of large tables is slower.
    """
    if len(column) <= TRANSPOSED:
        return column.reshape(states).transpose(axes).reshape(-1)
    strides = _products_from(states)[1:]
    half = len(axes) // 2
    leading, trailing = (
        _positions([(int(states[a]), int(strides[a])) for a in part]) for part in (axes[:half], axes[half:])
    )
    out = np.empty((len(leading), len(trailing)))
    for row, first in enumerate(leading.tolist()):
        np.take(column[first:], trailing, out=out[row], mode="clip")
    return out.reshape(-1)


def _positions(axes: Sequence[tuple[int, int]]) -> Ints:
    """Positions of all cells along some axes, given as (states, stride), the last fastest."""
    found = np.zeros(1, dtype=np.int64)
    for states, stride in axes:
        found = (found[:, np.newaxis] + stride * np.arange(states)).reshape(-1)
    return found


def _equal_features(task: Task, order: Sequence[int], left: dict[int, float]) -> list[list[int]]:
    """Groups of features that can be exchanged for each other, each group in the order of names."""
    groups: list[list[int]] = []
    for feature in sorted(order, key=lambda f: task.names[f]):
        for group in groups:
            other = group[0]
            alike = task.costs[feature] == task.costs[other] and abs(left[feature] - left[other]) < SLACK
            if alike and _exchangeable(task, other, feature):
                group.append(feature)
                break
        else:
            groups.append([feature])
    return groups


def _exchangeable(task: Task, one: int, other: int) -> bool:
    """Whether exchanging two features leaves every mass as it is; of two states, also when one is turned."""
    sizes = [task.sizes[f] for f in task.root.features]
    if task.sizes[one] != task.sizes[other]:
        return False
    a, b = sorted(task.root.features.index(f) for f in (one, other))
    shape = (-1, sizes[a], math.prod(sizes[a + 1 : b]), sizes[b], math.prod(sizes[b + 1 :]))
    table = task.root.table.reshape(shape)
    turned = table[:, ::-1, :, ::-1] if sizes[a] == 2 else table
    return any(_is_same(table, other.swapaxes(1, 3)) for other in (table, turned))


def _is_same(one: Floats, other: Floats) -> bool:
    """Whether two tables are equal up to rounding; a corner of them mostly tells that they are not."""
    corner = np.s_[:GLANCE, :, :GLANCE, :, :GLANCE]
    return _differ_by(one[corner], other[corner]) < SLACK and _differ_by(one, other) < SLACK


def _differ_by(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).sum())


def _by_name_within(groups: Sequence[Sequence[int]], order: Sequence[int], task: Task) -> list[int]:
    """The order with equal features, wherever they stand, sorted by name among themselves."""
    placed = list(order)
    for group in groups:
        for place, feature in zip(sorted(order.index(f) for f in group), group, strict=True):
            placed[place] = feature
    return placed
