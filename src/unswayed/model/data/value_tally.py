"""How often each number of a column occurs with each class, counted block by block.

Exact up to `most` pairs of value and class. Beyond it the tally keeps a sample of the values: those whose
hash ends in enough zeros, each with all its occurrences. Which values these are depends neither on the order
of the rows nor on the blocks. Another pass then counts every row at the next value in the sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.arrays import Bools, Codes, Floats, Ints

FEWEST = 2**15
"""Pairs that wait at least before they are joined with those that are counted."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassSplit:
    """The rows of a block by class."""

    order: Ints
    """Rows, those of one class together."""
    parts: tuple[tuple[int, slice], ...]
    """Each class, -1 where it is missing, and where its rows are in `order`."""
    weights: Floats | None
    """How much the rows count, in `order`; None where each counts 1."""


def split_classes(classes: Codes, weights: Floats | None) -> ClassSplit:
    """The rows of each class."""
    order = np.argsort(classes, kind="stable")
    found, starts = np.unique(classes[order], return_index=True)
    ends = [*starts[1:].tolist(), len(order)]
    parts = zip(found.tolist(), map(slice, starts.tolist(), ends), strict=True)
    return ClassSplit(order, tuple(parts), None if weights is None else weights[order])


@dataclass(frozen=True, slots=True, eq=False)
class CountedValues:
    """Distinct pairs of value and class with the weight of their rows."""

    values: Floats
    classes: Ints
    weights: Floats


@dataclass(slots=True)
class ValueTally:
    """Counts of values by class; a builder, which `counted` ends."""

    most: float = math.inf
    """Pairs of value and class that are kept."""
    n_seen: int = 0
    """Rows with a value."""
    low: float = math.inf
    high: float = -math.inf
    n_halvings: int = 0
    """How many zeros the hash of a value that is kept ends in; 0 keeps all."""
    _runs: dict[int, list[tuple[Floats, Floats]]] = field(default_factory=dict, repr=False)
    _n_waiting: int = 0
    _n_counted: int = 0

    def add(self, values: Floats, split: ClassSplit) -> None:
        """Count the values of a block, NaN where missing."""
        # Adding 0 makes one of the two zeros.
        ordered = values[split.order] + 0.0
        for number, part in split.parts:
            distinct, weights, n_seen = _condense(
                ordered[part], None if split.weights is None else split.weights[part]
            )
            if not n_seen:
                continue
            self.n_seen += n_seen
            self.low, self.high = min(self.low, distinct[0]), max(self.high, distinct[-1])
            if self.n_halvings:
                kept = _is_kept(distinct, self.n_halvings)
                distinct, weights = distinct[kept], weights[kept]
            self._runs.setdefault(number, []).append((distinct, weights))
            self._n_waiting += len(distinct)
        if self._n_waiting > max(self._n_counted, FEWEST):
            self.join()

    def join(self) -> None:
        """Join what waits with what is counted, and halve the sample until it is small enough."""
        for number, runs in self._runs.items():
            self._runs[number] = [_merge(runs)]
        self._n_counted, self._n_waiting = sum(len(values) for values, _ in self._each()), 0
        while self._n_counted > self.most:
            self.n_halvings += 1
            for number, [(values, weights)] in self._runs.items():
                kept = _is_kept(values, self.n_halvings)
                self._runs[number] = [(values[kept], weights[kept])]
            self._n_counted = sum(len(values) for values, _ in self._each())

    def _each(self) -> Iterator[tuple[Floats, Floats]]:
        return (run for runs in self._runs.values() for run in runs)

    def counted(self) -> CountedValues:
        """All pairs, by class and value."""
        self.join()
        runs = [(number, *self._runs[number][0]) for number in sorted(self._runs)]
        if not runs:
            return CountedValues(np.empty(0), np.empty(0, dtype=np.int64), np.empty(0))
        return CountedValues(
            np.concatenate([values for _, values, _ in runs]),
            np.concatenate([np.full(len(values), number) for number, values, _ in runs]),
            np.concatenate([weights for _, _, weights in runs]),
        )


def _condense(values: Floats, weights: Floats | None) -> tuple[Floats, Floats, int]:
    """Distinct values, ascending, without NaN; the weight of each; and how many rows had one."""
    if weights is not None:
        known = ~np.isnan(values)
        values, weights = values[known], weights[known]
        return (*_merge([(values, weights)]), len(values))
    ordered = np.sort(values)
    ordered = ordered[: np.searchsorted(ordered, np.nan)]  # NaN sorts last
    starts = np.flatnonzero(_is_first(ordered))
    counts = np.diff(starts, append=len(ordered)).astype(np.float64)
    return ordered[starts], counts, len(ordered)


def _merge(runs: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Distinct values, ascending, and the sum of their weights, added in the order of the runs."""
    values = np.concatenate([values for values, _ in runs])
    order = np.argsort(values, kind="stable")  # which finds the runs that are sorted already
    values = values[order]
    is_new = _is_first(values)
    group = np.cumsum(is_new) - 1
    weights = np.bincount(group, np.concatenate([weights for _, weights in runs])[order])
    return values[is_new], weights.astype(np.float64, copy=False)


def _is_first(ordered: Floats) -> Bools:
    """Whether a value differs from the one before it."""
    first: Bools = np.ones(len(ordered), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return first


def _is_kept(values: Floats, n_zeros: int) -> Bools:
    """Whether the hash of a value ends in so many zeros."""
    hashed = values.view(np.uint64).copy()
    # The finalizer of MurmurHash3: every bit of the value moves every bit of the hash.
    for factor in (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)):
        hashed ^= hashed >> np.uint64(33)
        hashed *= factor
    hashed ^= hashed >> np.uint64(33)
    kept: Bools = hashed & np.uint64((1 << n_zeros) - 1) == 0
    return kept


def choose_borders(tally: ValueTally, at_most: int) -> Floats:
    """Values of the sample, at most so many, with the least and the greatest of all values."""
    sample = np.unique(tally.counted().values)
    step = -(-len(sample) // max(at_most, 1))
    borders: Floats = np.union1d(sample[:: max(step, 1)], [tally.low, tally.high])
    return borders


def round_up(values: Floats, borders: Floats) -> Floats:
    """Each value as the least border that is not below it; NaN stays."""
    places = np.searchsorted(borders, values, side="left")
    rounded: Floats = np.append(borders, np.nan)[places]
    return rounded
