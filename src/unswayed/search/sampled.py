"""Features chosen on samples, where no table holds them all: two ways, neither with a proof.

Each sample is an instantiation of all features with its exact posterior and the full decision.

`forward_selection` looks at agreement itself. Rows that
agree on the kept features form a group, and the mean of their posteriors estimates the posterior of the
group. Taken from the same rows it would flatter: a row alone in its group decides as itself. So each half of
the rows is decided by the groups of the other half, and groups that half has not seen lean on the group
they were split from.

`additive_selection` looks at how well a sum of one term for each kept feature explains what all features
say. It sees features that matter only together with others, where no single one changes a decision, and it
does not run out of rows.

What comes out is an order in which to take features, not a measurement. `sampled_choice.py` makes choices of
such orders, and measures them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from unswayed.core.anytime import tick
from unswayed.core.arrays import Floats, Ints
from unswayed.core.numerics import spendable

FEWEST_ROWS = 8
"""Rows in a group, on average, below which groups are not split further."""
LEAN = 0.5
"""Rows that the group split from counts for in a group."""
BETTER = 1e-9
"""Shares of agreement closer than this are equal."""
UNITS_PER_ROW = 0.12
"""Measured for a sample where a subset is tried without posteriors of its own."""

Score = Callable[[Floats, Ints], float]
"""How often estimated posteriors (rows, classes) lead to the decisions (rows,)."""


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Instantiations of all features, each with what all of them say."""

    codes: Ints = field(repr=False)  # (rows, features)
    sizes: tuple[int, ...]
    """Numbers of states of the features."""
    posteriors: Floats = field(repr=False)  # (rows, classes)
    """Pr(class | all features)."""
    decisions: Ints = field(repr=False)  # (rows,)
    """What the full classifier decides."""


@dataclass(frozen=True, slots=True)
class SampledTask:
    """A choice to be made on samples; features are columns of the samples."""

    samples: Samples
    score: Score
    costs: Mapping[int, float]
    budget: float
    names: Mapping[int, str]

    def tick(self) -> None:
        """Say that one more subset is tried."""
        tick(UNITS_PER_ROW * len(self.samples.codes), "an order of the features")


class SampledOrder(NamedTuple):
    """Columns in the order in which they were taken, and how many subsets were tried for it."""

    taken: tuple[int, ...] = ()
    tried: int = 0


@dataclass(slots=True)
class _Groups:
    """The rows grouped by the features taken so far."""

    number: Ints  # (rows,)
    """The group of each row, from 0 on without gaps."""
    leaning: Floats  # (rows, classes)
    """The estimate for each row's group from the other half of the rows."""


def forward_selection(task: SampledTask) -> Iterator[SampledOrder]:
    """Columns taken one by one, each the best gain for its cost."""
    samples = task.samples
    groups = _Groups(np.zeros(len(samples.codes), dtype=np.int64), _halves_apart(samples, None, None))
    value = task.score(groups.leaning, samples.decisions)
    order = SampledOrder((), 1)
    yield order
    while fitting := _fitting(task, order.taken):
        splits, values = {}, {}
        for f in fitting:
            task.tick()
            splits[f] = _split(samples, groups, f)
            values[f] = task.score(splits[f].leaning, samples.decisions)
        chosen = min(fitting, key=lambda f: (-(values[f] - value) / task.costs[f], task.names[f]))
        groups, value = splits[chosen], values[chosen]
        order = SampledOrder((*order.taken, chosen), order.tried + len(fitting))
        yield order
        if int(groups.number.max()) * FEWEST_ROWS > len(groups.number):
            return  # groups of a few rows say more about the rows than about the features


def additive_selection(task: SampledTask) -> Iterator[SampledOrder]:
    """Columns taken one by one, each what explains most for its cost, while the budget allows and it helps.

    Explained is the variance of posteriors and decisions, by least squares on indicators of the states.
    """
    samples = task.samples
    left = _centred(
        np.hstack([samples.posteriors, np.eye(int(samples.decisions.max()) + 1)[samples.decisions]])
    )
    terms = {f: _indicators(samples, f) for f in task.costs}
    order = SampledOrder()
    yield order
    while True:
        worth = {}
        for f in _fitting(task, order.taken):
            task.tick()
            worth[f] = _explained(terms[f], left) / task.costs[f]
        order = SampledOrder(order.taken, order.tried + len(worth))
        chosen = min(worth, key=lambda f: (-worth[f], task.names[f]), default=None)
        if chosen is None or worth[chosen] <= BETTER * len(left):
            yield order
            return
        basis = _orthonormal(terms.pop(chosen))
        left = left - basis @ (basis.T @ left)
        terms = {f: columns - basis @ (basis.T @ columns) for f, columns in terms.items()}
        order = SampledOrder((*order.taken, chosen), order.tried)
        yield order


def _fitting(task: SampledTask, taken: tuple[int, ...]) -> list[int]:
    """Columns not taken yet that the rest of the budget affords."""
    left = spendable(task.budget) - math.fsum(task.costs[f] for f in taken)
    return [f for f, cost in task.costs.items() if f not in taken and cost <= left]


def _indicators(samples: Samples, feature: int) -> Floats:  # (rows, states)
    return _centred(np.eye(samples.sizes[feature])[samples.codes[:, feature]])


def _centred(columns: Floats) -> Floats:
    centred: Floats = columns - columns.mean(axis=0)
    return centred


def _orthonormal(columns: Floats) -> Floats:
    """A basis of what the columns span; nothing where they are rounding."""
    vectors, lengths, _ = np.linalg.svd(columns, full_matrices=False)
    basis: Floats = vectors[:, lengths > 1e-9 * max(1.0, float(len(columns)) ** 0.5)]
    return basis


def _explained(columns: Floats, left: Floats) -> float:
    return float(((_orthonormal(columns).T @ left) ** 2).sum())


def _split(samples: Samples, groups: _Groups, feature: int) -> _Groups:
    """The groups split by one more feature."""
    pairs = groups.number * samples.sizes[feature] + samples.codes[:, feature]
    _, number = np.unique(pairs, return_inverse=True)
    number = number.reshape(-1).astype(np.int64)
    return _Groups(number, _halves_apart(samples, number, groups.leaning))


def _halves_apart(samples: Samples, number: Ints | None, leaning: Floats | None) -> Floats:
    """For each row, the estimate of its group by the rows of the other half."""
    n_rows, n_classes = samples.posteriors.shape
    groups = np.zeros(n_rows, dtype=np.int64) if number is None else number
    half = np.arange(n_rows) % 2
    cells = 2 * groups + half
    size = 2 * (int(groups.max(initial=0)) + 1)
    sums = np.empty((n_rows, n_classes))
    for state in range(n_classes):
        by_cell = np.bincount(cells, weights=samples.posteriors[:, state], minlength=size)
        sums[:, state] = by_cell[cells ^ 1]
    prior = samples.posteriors.mean(axis=0) if leaning is None else leaning
    sums += LEAN * prior
    apart: Floats = sums / sums.sum(axis=1, keepdims=True)
    return apart
