"""Where to cut a column of numbers, and which columns to cut at all.

A `Discretization` is what learning functions take. Its `method` answers one question, where to cut these
values; there are four, and cut points given by name come before any of them:

- `EqualFrequency(n)`: intervals with equally many rows, as far as equal values allow;
- `EqualWidth(n)`: intervals of one width between the least and the greatest value;
- `AtMean()`: two intervals, as in the experiments of [choi2017] and [choi2018];
- `EntropyMdl()`: as many as tell about the class, see `mdl.py` [fayyad1993].

`intervals.py` says which interval a value is in and what the intervals are called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from unswayed.core.arrays import Codes, Floats
from unswayed.core.errors import ModelError, expect
from unswayed.model.data.intervals import checked_cuts
from unswayed.model.data.mdl import mdl_cuts


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
