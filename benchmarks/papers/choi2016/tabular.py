"""Distributions as tables: one probability for each object, the plain way that structure is measured against.

    P(x) = (count of x + smoothing) / (total + smoothing * size of the space)

Only objects that were seen are stored, so the table is as large as the data, but what is learned about one
object says nothing about any other [choi2016, Alternative Approaches].
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import QueryError
from unswayed.spaces.space import Space, checked_rows


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Counts of the objects of a space that were seen."""

    size: int
    """Number of objects of the space."""
    n_variables: int
    """Columns of encoded rows."""
    counts: Mapping[bytes, float] = field(repr=False)
    """How often each object was seen, by its packed row."""
    smoothing: float
    """Added to the count of every object, seen or not."""

    @property
    def total(self) -> float:
        """All counts together."""
        return math.fsum(self.counts.values())

    def log_likelihood(self, rows: Any) -> Floats:  # (rows,)
        """Log-probability of each encoded object; minus infinity where it has none."""
        packed = _packed(checked_rows(rows, self.n_variables))
        found = [self.counts.get(key, 0.0) + self.smoothing for key in packed]
        # The size may exceed every float; its logarithm does not.
        spread = math.log(self.smoothing) + math.log(self.size) if self.smoothing else -math.inf
        log_total = np.logaddexp(math.log(self.total) if self.counts else -math.inf, spread)
        with np.errstate(divide="ignore"):
            answer: Floats = np.log(np.array(found, dtype=np.float64)) - log_total
        return answer


def learn_table(space: Space[Any], rows: Any, weights: Any = None, *, smoothing: float = 1.0) -> Table:
    """The table of encoded objects, each counted once or by its weight; smoothing 1 is Laplace's.

    >>> from unswayed.spaces.rankings import ranking_space
    >>> space = ranking_space(3)
    >>> table = learn_table(space, space.encode_many([(1, 2, 3), (1, 2, 3), (3, 2, 1)]))
    >>> np.exp(table.log_likelihood(space.encode_many([(1, 2, 3), (2, 1, 3)]))).round(4).tolist()
    [0.3333, 0.1111]
    """
    if not 0 <= smoothing < math.inf:
        raise QueryError(f"smoothing by {smoothing}; give a number of 0 or more")
    packed = _packed(checked_rows(rows, len(space.names)))
    weight = [1.0] * len(packed) if weights is None else _checked_weights(weights, len(packed))
    counts: dict[bytes, float] = {}
    for key, each in zip(packed, weight, strict=True):
        counts[key] = counts.get(key, 0.0) + each
    if not smoothing and not math.fsum(counts.values()) > 0:
        raise QueryError("nothing was seen; give examples, or smoothing above 0")
    return Table(space.size, len(space.names), counts, float(smoothing))


def _packed(rows: Bools) -> list[bytes]:
    bits = np.packbits(rows, axis=1)
    return [row.tobytes() for row in bits]


def _checked_weights(weights: Any, n_rows: int) -> list[float]:
    found = np.asarray(weights, dtype=np.float64)
    if found.shape != (n_rows,) or not (np.isfinite(found) & (found >= 0)).all():
        raise QueryError(f"give one weight of 0 or more for each of the {n_rows} rows")
    listed: list[float] = found.tolist()
    return listed


@dataclass(frozen=True, slots=True, eq=False)
class TabularNaiveBayes:
    """A naive Bayes classifier whose one attribute is structured and has a table for each class."""

    classes: tuple[Any, ...]
    """The class labels."""
    log_prior: Floats = field(repr=False)  # (classes,)
    """Log-probability of each class."""
    tables: tuple[Table, ...] = field(repr=False)
    """The distribution of objects in each class."""

    def log_joint(self, rows: Any) -> Floats:  # (rows, classes)
        """Log-probability of each class together with each object."""
        return self.log_prior + np.stack([table.log_likelihood(rows) for table in self.tables], axis=1)

    def predict(self, rows: Any) -> list[Any]:
        """The most probable class of each object; among equals, the first."""
        best: Ints = np.argmax(self.log_joint(rows), axis=1)
        return [self.classes[k] for k in best.tolist()]


def learn_tabular_naive_bayes(
    space: Space[Any], rows: Any, labels: Any, *, smoothing: float = 1.0
) -> TabularNaiveBayes:
    """The classifier of encoded objects and their class labels; the prior is the share of each class."""
    matrix = checked_rows(rows, len(space.names))
    given = list(labels)
    if len(given) != len(matrix) or not given:
        raise QueryError(f"{len(given)} labels for {len(matrix)} objects; give one for each")
    classes = tuple(dict.fromkeys(given))
    position = {label: k for k, label in enumerate(classes)}
    code = np.array([position[label] for label in given])
    tables = tuple(learn_table(space, matrix[code == k], smoothing=smoothing) for k in range(len(classes)))
    return TabularNaiveBayes(classes, np.log(np.bincount(code) / len(code)), tables)
