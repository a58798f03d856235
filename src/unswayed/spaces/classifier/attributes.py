"""What an attribute is given the class: a distribution for each class, and the counts it is learned from.

Three kinds of attributes, each with the same four steps: `zero` counts of nothing, `count` rows, `merge` two
counts, and `fitted` distributions. Counts form a monoid, so rows may come in chunks and in any order.

- `Gaussian`: a number, normally distributed in each class.
- `Discrete`: one of a few labels, with a table of probabilities.
- `Structured` (`objects.py`): an object of a space, with one PSDD for each class, all of the
  same structure [choi2016, Def. 1].

A prior, what to add to counts, is given, or the one is taken that explains examples held out best. Rows are
counted fold by fold. Counts add up, so the counts of all folds but one are at hand, and a candidate is
learned from them and scored on the fold left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from unswayed.circuits.psdd.learn import Laplace, UniformExamples
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.spaces.classifier.objects import Objects, Structured

HELD_OUT: Final = "held-out"
"""The word that asks for the prior to be chosen."""
CANDIDATES: Final[tuple[Prior, ...]] = (
    *(Laplace(added) for added in (0.01, 0.1, 0.3, 1.0, 3.0)),
    *(UniformExamples(weight) for weight in (0.1, 1.0, 10.0, 100.0)),
)
"""From next to nothing to a strong pull, towards equal choices and towards equal objects."""
_FOLDS: Final = 5


def checked_smoothing(smoothing: Any) -> Prior | str:
    """A prior, or `HELD_OUT`; a number is added to every count. `ModelError` for anything else."""
    if isinstance(smoothing, Laplace | UniformExamples) or smoothing == HELD_OUT:
        return smoothing  # type: ignore[no-any-return]
    if not isinstance(smoothing, int | float | np.number) or not 0 <= smoothing < math.inf:
        raise ModelError(
            "what is added to counts must be a number of at least 0, a prior (Laplace, UniformExamples) or "
            f"{HELD_OUT!r}, not {smoothing!r}"
        )
    return Laplace(float(smoothing))


def choose_prior(
    attribute: Attribute,
    values: Values,
    labels: Ints,
    *,
    weights: Floats,
    n_classes: int,
    candidates: Sequence[Prior] = CANDIDATES,
) -> Prior:
    """The candidate under which rows held out, five times a fifth, are most probable given their class.

    Rows are dealt out in turn, so the same rows give the same choice; of equal candidates the first.
    """
    known: Any = attribute
    folds = [np.arange(start, len(labels), _FOLDS) for start in range(min(_FOLDS, len(labels)))]
    if len(folds) < 2:
        return Laplace(1.0)
    parts = [values_taken(values, fold) for fold in folds]
    counts = [
        known.count(part, labels[fold], weights[fold], n_classes)
        for part, fold in zip(parts, folds, strict=True)
    ]
    totals = np.zeros(len(candidates))
    for held, (part, fold) in enumerate(zip(parts, folds, strict=True)):
        others = known.zero(n_classes)
        for k, each in enumerate(counts):
            others = others if k == held else known.merge(others, each)
        for c, prior in enumerate(candidates):
            scores = known.fitted(others, prior).log_likelihoods(part)
            totals[c] += weights[fold] @ scores[np.arange(len(fold)), labels[fold]]
    return candidates[int(np.argmax(totals))]


Prior: TypeAlias = "Laplace | UniformExamples"
"""What is known before the first row."""
VARIANCE_FLOOR = 1e-9
"""Share of a column's variance that is added in every class: a constant one must not divide by zero."""


Values: TypeAlias = "Floats | Ints | Objects"
"""One attribute of many rows: numbers (NaN where missing), codes (-1 where missing), or objects."""


class Conditional(Protocol):
    """The distributions of one attribute, one for each class."""

    def log_likelihoods(self, values: Any) -> Floats:  # (rows, classes)
        """Log-likelihood of each row's value in each class; 0 where it was not observed."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Weight, mean and sum of squared deviations of the numbers of each class."""

    weight: Floats  # (classes,)
    """Weight of the rows that were observed."""
    mean: Floats  # (classes,)
    """Their weighted mean; 0 without any."""
    squares: Floats  # (classes,)
    """Weighted sum of their squared deviations from the mean."""


@dataclass(frozen=True, slots=True)
class Gaussian:
    """A number with a normal distribution in each class."""

    name: str
    """Name of the column."""

    def zero(self, n_classes: int) -> Moments:
        """Counts of no rows."""
        return Moments(*(np.zeros(n_classes) for _ in range(3)))

    def count(self, values: Floats, labels: Ints, weights: Floats, n_classes: int) -> Moments:
        """Counts of rows with class codes and weights."""
        seen = ~np.isnan(values)
        values, labels, weights = values[seen], labels[seen], weights[seen]
        weight = np.bincount(labels, weights, n_classes).astype(np.float64)
        sums = np.bincount(labels, weights * values, n_classes)
        mean = np.divide(sums, weight, out=np.zeros(n_classes), where=weight > 0)
        squares = np.bincount(labels, weights * (values - mean[labels]) ** 2, n_classes)
        return Moments(weight, mean, squares.astype(np.float64))

    def merge(self, one: Moments, other: Moments) -> Moments:
        """Counts of the rows of both."""
        weight = one.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        step = other.mean - one.mean
        squares = one.squares + other.squares + step**2 * one.weight * share
        return Moments(weight, one.mean + step * share, squares)

    def fitted(self, counts: Moments, prior: Prior) -> GaussianTable:
        """The normal distributions, to which no prior adds; a class without numbers gets that of all."""
        weight = np.where(counts.weight > 0, counts.weight, 1.0)
        total = counts.weight.sum()
        mean = float(counts.weight @ counts.mean / total) if total > 0 else 0.0
        spread = counts.squares.sum() + counts.weight @ (counts.mean - mean) ** 2
        overall = float(spread / total) if total > 0 else 0.0
        floor = VARIANCE_FLOOR * overall if overall > 0 else 1.0
        variance = np.where(counts.weight > 0, counts.squares / weight, overall) + floor
        return GaussianTable(np.where(counts.weight > 0, counts.mean, mean), variance)


@dataclass(frozen=True, slots=True, eq=False)
class GaussianTable:
    """A normal distribution for each class."""

    mean: Floats  # (classes,)
    """Means."""
    variance: Floats  # (classes,)
    """Variances."""

    def log_likelihoods(self, values: Floats) -> Floats:
        """Log-densities; 0 where the number is missing."""
        deviations = (values[:, None] - self.mean) ** 2 / self.variance
        densities: Floats = -0.5 * (deviations + np.log(2 * math.pi * self.variance))
        return np.where(np.isnan(values)[:, None], 0.0, densities)


@dataclass(frozen=True, slots=True)
class Discrete:
    """One of a few labels."""

    name: str
    """Name of the column."""
    labels: tuple[str, ...]
    """What it can be; codes are positions here."""

    def zero(self, n_classes: int) -> Floats:
        """Counts of no rows, (classes, labels)."""
        return np.zeros((n_classes, len(self.labels)))

    def count(self, values: Ints, labels: Ints, weights: Floats, n_classes: int) -> Floats:
        """Counts of rows with class codes and weights."""
        seen = values >= 0
        cells = labels[seen] * len(self.labels) + values[seen]
        counted = np.bincount(cells, weights[seen], n_classes * len(self.labels))
        return counted.reshape(n_classes, len(self.labels)).astype(np.float64)

    def merge(self, one: Floats, other: Floats) -> Floats:
        """Counts of the rows of both."""
        return one + other

    def fitted(self, counts: Floats, prior: Prior) -> DiscreteTable:
        """Tables of counts and what the prior adds to each; uniform where nothing is known."""
        added = prior.weight / len(self.labels) if isinstance(prior, UniformExamples) else prior.added
        amounts = counts + added
        totals = amounts.sum(axis=1, keepdims=True)
        uniform = np.full_like(amounts, 1.0 / max(len(self.labels), 1))
        shares = np.divide(amounts, totals, out=uniform, where=totals > 0)
        with np.errstate(divide="ignore"):
            return DiscreteTable(np.log(shares))


@dataclass(frozen=True, slots=True, eq=False)
class DiscreteTable:
    """A table of probabilities for each class."""

    log_shares: Floats  # (classes, labels)
    """Logarithms of the probabilities of labels."""

    def log_likelihoods(self, values: Ints) -> Floats:
        """Log-probabilities; 0 where the label is missing."""
        answer = np.zeros((len(values), len(self.log_shares)))
        seen = values >= 0
        answer[seen] = self.log_shares.T[values[seen]]
        return answer


def values_taken(values: Values, rows: Ints) -> Values:
    """The values of some of the rows."""
    return values.taken(rows) if isinstance(values, Objects) else values[rows]


Attribute: TypeAlias = Gaussian | Discrete | Structured
"""An attribute of a classifier."""
