"""Where to cut a column of numbers, and which columns to cut at all.

A `Discretization` is what learning functions take. Its `method` answers one question, where to cut these
values; there are four, and cut points given by name come before any of them:

- `EqualFrequency(n)`: intervals with equally many rows, as far as equal values allow;
- `EqualWidth(n)`: intervals of one width between the least and the greatest value;
- `AtMean()`: two intervals, as in the experiments of [choi2017] and [choi2018];
- `EntropyMdl()`: as many as tell about the class, see below [fayyad1993].

`intervals.py` says which interval a value is in and what the intervals are called.

**Entropy.** Cutting a number where it tells about a class, and stopping when a cut no longer pays
[fayyad1993].

A cut of N rows into N1 and N2 gains

    Gain = H - (N1 H1 + N2 H2) / N

where H, H1, H2 are the entropies of the class (in bits). The best cut is accepted, and both sides are cut
again, if the bits it saves exceed the bits it takes to describe it (minimum description length):

    Gain > (log2(N - 1) + log2(3^k - 2) - (k H - k1 H1 - k2 H2)) / N

with k, k1, k2 the numbers of classes that occur. The best cut always lies at a *boundary*, between
neighbouring values that do not both belong to one and the same class [fayyad1993, Theorem 1], so only those
are tried. Rows may have weights; N is then a sum of weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from unswayed.core.arrays import Bools, Codes, Floats
from unswayed.core.errors import ModelError, expect
from unswayed.model.data.intervals import checked_cuts


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """The rows of one numeric column that are not missing, sorted out for a method to cut."""

    values: Floats  # (rows,)
    """The numbers; at least one."""
    weights: Floats  # (rows,)
    """How much each row counts; positive."""
    classes: Codes | None = None  # (rows,)
    """State of the target in each row, -1 where missing; None without a target."""


class CutMethod(Protocol):
    """A way to choose cut points."""

    def cuts(self, observed: Observed) -> Floats:
        """Cut points, in any order and perhaps repeated; useless ones are removed by the caller."""
        ...


@dataclass(frozen=True, slots=True)
class EqualFrequency:
    """Cuts at the k/n quantiles, each of them a value of the column (the inverse of the distribution)."""

    n_bins: int = 5
    """How many intervals, at most."""

    def __post_init__(self) -> None:
        _check_bins(self.n_bins)

    def cuts(self, observed: Observed) -> Floats:
        """The smallest values that reach a share k/n of the total weight, for k = 1 .. n - 1."""
        order = np.argsort(observed.values, kind="stable")
        reached = np.cumsum(observed.weights[order])
        shares = np.arange(1, self.n_bins) / self.n_bins * reached[-1]
        # A share that rounding lifts above the sum it equals must not skip a value.
        positions = np.searchsorted(reached, shares * (1 - 1e-12), side="left")
        quantiles: Floats = observed.values[order][positions]
        return quantiles


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """Cuts at equal distances between the least and the greatest value."""

    n_bins: int = 5
    """How many intervals."""

    def __post_init__(self) -> None:
        _check_bins(self.n_bins)

    def cuts(self, observed: Observed) -> Floats:
        """The n - 1 inner points."""
        low, high = observed.values.min(), observed.values.max()
        return np.linspace(low, high, self.n_bins + 1)[1:-1]


@dataclass(frozen=True, slots=True)
class AtMean:
    """One cut, at the mean: a value above it is in the upper state."""

    def cuts(self, observed: Observed) -> Floats:
        """The weighted mean."""
        # Of distinct values, so that the order of the rows does not change its last digits.
        values, which = np.unique(observed.values, return_inverse=True)
        return np.array([np.average(values, weights=np.bincount(which, observed.weights))])


@dataclass(frozen=True, slots=True)
class EntropyMdl:
    """Cuts that tell about the target, as many as pay for their own description [fayyad1993]."""

    def cuts(self, observed: Observed) -> Floats:
        """The accepted cuts; none when the column says nothing about the target."""
        if observed.classes is None:
            raise ModelError(
                "cutting by entropy needs a target to tell about; name one, or use EqualFrequency()"
            )
        known = observed.classes >= 0
        return mdl_cuts(observed.values[known], observed.classes[known], observed.weights[known])


def _check_bins(n_bins: int) -> None:
    if n_bins < 2:
        raise ModelError(f"n_bins must be at least 2, not {n_bins}; one interval says nothing")


def expect_discretization(given: Discretization | None) -> Discretization:
    """What was given, or the default; `QueryError` where it is something else."""
    expect(given, (Discretization, type(None)), "discretization")
    return Discretization() if given is None else given


@dataclass(frozen=True, slots=True)
class Discretization:
    """How numeric columns become discrete variables.

    A column of at most `max_categories` distinct integers keeps them as its states, unless it is
    named in `cuts_by_column`.
    """

    method: CutMethod | None = None
    """Where to cut; None chooses `EntropyMdl()` when there is a target, else `EqualFrequency()`."""
    cuts_by_column: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Cut points of columns that you know better."""
    max_categories: int | None = 10
    """Most distinct integers that stay as they are; 0 cuts every numeric column, None cuts none."""

    def __post_init__(self) -> None:
        for name, cuts in self.cuts_by_column.items():
            checked_cuts(cuts, name)
        if self.max_categories is not None and self.max_categories < 0:
            raise ModelError(f"max_categories must be at least 0 or None, not {self.max_categories}")


def chosen_cuts(method: CutMethod | None, observed: Observed) -> Floats:
    """Cut points of a column, ascending, each with values on both sides.

    >>> chosen_cuts(AtMean(), Observed(np.array([1.0, 2.0, 6.0]), np.ones(3))).tolist()
    [3.0]
    """
    if method is None:
        method = EqualFrequency() if observed.classes is None else EntropyMdl()
    if not observed.values.size:
        return np.empty(0)
    cuts: Floats = np.unique(method.cuts(observed))
    inside = (cuts >= observed.values.min()) & (cuts < observed.values.max())
    kept: Floats = cuts[inside]
    return kept


SAME_ENTROPY = 1e-12
"""Cuts whose entropies differ by less are equally good, and the leftmost is taken."""


def mdl_cuts(values: Floats, classes: Codes, weights: Floats) -> Floats:
    """The accepted cut points, ascending; each halfway between two neighbouring values.

    Cost: O(rows log rows), and O(distinct values * classes) for each level of cuts.

    >>> mdl_cuts(np.arange(16.0), np.arange(16) // 8, np.ones(16)).tolist()
    [7.5]
    """
    if not values.size:
        return np.empty(0)
    points, counts = _counts_by_value(values, classes, weights)
    cumulated = np.vstack([np.zeros(counts.shape[1]), np.cumsum(counts, axis=0)])
    is_boundary = _boundaries(counts)
    found = []
    waiting = [(0, len(points))]
    while waiting:
        start, stop = waiting.pop()
        cut = _accepted_cut(cumulated[start : stop + 1], is_boundary[start + 1 : stop])
        if cut is not None:
            found.append(start + cut)
            waiting += [(start, start + cut), (start + cut, stop)]
    return np.array([_halfway(points[cut - 1], points[cut]) for cut in sorted(found)])


def _counts_by_value(values: Floats, classes: Codes, weights: Floats) -> tuple[Floats, Floats]:
    """Distinct values, ascending, and the weight of each class at each: (values,), (values, classes)."""
    points, position = np.unique(values, return_inverse=True)
    n_classes = int(classes.max()) + 1
    cells = np.bincount(position * n_classes + classes, weights, minlength=len(points) * n_classes)
    return points, cells.astype(np.float64).reshape(len(points), n_classes)


def _boundaries(counts: Floats) -> Bools:  # (values, classes) -> (values + 1,)
    """Whether a cut before value i may be best: not where both neighbours are of one same class."""
    occurring = counts > 0
    is_pure = occurring.sum(axis=1) == 1
    same = is_pure[1:] & is_pure[:-1] & (occurring[1:] == occurring[:-1]).all(axis=1)
    return np.concatenate([[False], ~same, [False]])


def _accepted_cut(cumulated: Floats, is_boundary: Bools) -> int | None:
    """Position of the best cut inside a segment if it pays for itself, else None.

    `cumulated[i]` are the class weights before value i, up to a constant; `is_boundary[i]` is about
    the cut before value i + 1.
    """
    candidates = np.flatnonzero(is_boundary) + 1
    if not candidates.size:
        return None
    left = cumulated[candidates] - cumulated[0]
    right = cumulated[-1] - cumulated[candidates]
    whole = cumulated[-1] - cumulated[0]
    # Differences of large sums: what is only rounding must not look like a class that occurs.
    for part in (left, right, whole):
        part[part < 1e-9 * whole.sum()] = 0.0
    total = float(whole.sum())
    split_bits = left.sum(axis=1) * _entropy(left) + right.sum(axis=1) * _entropy(right)
    best = int(np.argmax(split_bits <= split_bits.min() + SAME_ENTROPY * total))
    if total <= 1.0 or not _pays(whole, left[best], right[best], float(split_bits[best])):
        return None
    return int(candidates[best])


def _pays(whole: Floats, left: Floats, right: Floats, split_bits: float) -> bool:
    total = float(whole.sum())
    entropies = [float(_entropy(part)) for part in (whole, left, right)]
    present = [int((part > 0).sum()) for part in (whole, left, right)]
    k = present[0]
    # log2(3^k - 2), written so that many classes do not overflow.
    choices = k * math.log2(3.0) + math.log1p(-2.0 * 3.0**-k) / math.log(2.0)
    delta = choices - (k * entropies[0] - present[1] * entropies[1] - present[2] * entropies[2])
    return total * entropies[0] - split_bits > math.log2(total - 1.0) + delta


def _entropy(counts: Floats) -> Floats:  # (..., classes) -> (...)
    """Entropy in bits of weights that need not sum to 1."""
    totals = counts.sum(axis=-1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    bits: Floats = -(shares * logs).sum(axis=-1)
    return bits


def _halfway(low: float, high: float) -> float:
    """The middle of two neighbouring values, without digits that are only rounding: it names states.

    Never the upper value, which must stay above the cut.
    """
    middle = low / 2 + high / 2
    for digits in range(1, 17):
        short = float(f"{middle:.{digits}g}")
        if low < short < high and abs(short - middle) <= 1e-9 * (high - low):
            return short
    return float(middle) if low <= middle < high else float(low)
