"""Structured attributes: an object of a space, with one PSDD for each class, all of the same structure.

Objects seen whole are counted. Objects seen in part (`Partial`) cannot be: the different ones are kept with
their weights, and learning goes over them again and again (expectation maximisation). Both form a monoid, so
rows may come in chunks and in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.circuits.psdd.examples import UNKNOWN, Marks
from unswayed.circuits.psdd.learn import (
    Prior,
    PsddCounts,
    count_examples,
    estimate,
    learn_incomplete,
    merge,
    zero_counts,
)
from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.circuits.psdd.query import log_likelihoods
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.spaces.space import Space


@dataclass(frozen=True, slots=True, eq=False)
class Objects:
    """Objects of a space as truth values, some of them perhaps not observed, or in part."""

    rows: Bools | Marks  # (observed rows, variables)
    """The objects that were observed; -1 where a value is not known."""
    is_observed: Bools  # (rows,)
    """Which rows have an object."""

    def taken(self, chosen: Ints) -> Objects:
        """Some of the rows."""
        place = np.cumsum(self.is_observed) - 1
        observed = self.is_observed[chosen]
        return Objects(self.rows[place[chosen[observed]]], observed)


@dataclass(frozen=True, slots=True, eq=False)
class ObjectCounts:
    """What the objects of one class use: counts of those seen whole, and the others as they are."""

    whole: PsddCounts
    """Counts of the objects seen whole."""
    partial: Marks = field(repr=False)  # (distinct partial objects, variables)
    """The different objects seen in part, -1 where a value is not known."""
    weights: Floats = field(repr=False)  # (distinct partial objects,)
    """Their weights."""


@dataclass(frozen=True, slots=True)
class CountsBefore:
    """Counts of whole objects as a prior for learning from partial ones, on top of another prior."""

    counts: PsddCounts
    """What was counted."""
    prior: Prior
    """What was known before that."""

    def pseudo_counts(self, structure: PsddStructure) -> Floats:
        """The sum of both."""
        pseudo: Floats = self.counts.uses + self.prior.pseudo_counts(structure)
        return pseudo


@dataclass(frozen=True, slots=True, eq=False)
class Structured:
    """An object of a space."""

    name: str
    """Name of the attribute."""
    space: Space[Any]
    """What it can be."""
    structure: PsddStructure = field(repr=False)
    """The structure of all its distributions."""

    def zero(self, n_classes: int) -> tuple[ObjectCounts, ...]:
        """Counts of no rows, for each class."""
        nothing = np.zeros((0, self.structure.n_variables), dtype=np.int8)
        return (ObjectCounts(zero_counts(self.structure), nothing, np.zeros(0)),) * n_classes

    def count(
        self, values: Objects, labels: Ints, weights: Floats, n_classes: int
    ) -> tuple[ObjectCounts, ...]:
        """Counts of rows with class codes and weights."""
        labels, weights = labels[values.is_observed], weights[values.is_observed]
        is_plain = bool((weights == 1.0).all())
        is_partial = np.zeros(len(labels), dtype=np.bool_)
        if values.rows.dtype != np.bool_:
            is_partial = (values.rows == UNKNOWN).any(axis=1)
        counts = []
        for each in range(n_classes):
            whole, parts = (labels == each) & ~is_partial, (labels == each) & is_partial
            some = None if is_plain else weights[whole]
            counted = count_examples(self.structure, values.rows[whole], some)
            counts.append(
                ObjectCounts(counted, *_distinct(values.rows[parts].astype(np.int8), weights[parts]))
            )
        return tuple(counts)

    def merge(self, one: Sequence[ObjectCounts], other: Sequence[ObjectCounts]) -> tuple[ObjectCounts, ...]:
        """Counts of the rows of both."""
        return tuple(_merged(a, b) for a, b in zip(one, other, strict=True))

    def fitted(self, counts: Sequence[ObjectCounts], prior: Prior) -> PsddTable:
        """One PSDD for each class."""
        return PsddTable(tuple(_estimated(each, prior) for each in counts))


def _estimated(counts: ObjectCounts, prior: Prior) -> Psdd:
    """By counting; where some objects were seen in part, by expectation maximisation."""
    if not len(counts.partial):
        return estimate(counts.whole, prior)
    before = CountsBefore(counts.whole, prior)
    return learn_incomplete(counts.whole.structure, counts.partial, counts.weights, prior=before).psdd


def _merged(one: ObjectCounts, other: ObjectCounts) -> ObjectCounts:
    rows = np.concatenate([one.partial, other.partial])
    return ObjectCounts(
        merge(one.whole, other.whole), *_distinct(rows, np.concatenate([one.weights, other.weights]))
    )


def _distinct(rows: Marks, weights: Floats) -> tuple[Marks, Floats]:
    """Equal rows once, with their weights added up."""
    if not len(rows):
        return rows, weights
    found, which = np.unique(rows, axis=0, return_inverse=True)
    return found, np.bincount(which.reshape(-1), weights, len(found)).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class PsddTable:
    """A PSDD for each class, all of the same structure."""

    psdds: tuple[Psdd, ...]
    """The distributions."""

    def log_likelihoods(self, values: Objects) -> Floats:
        """Log-probabilities of objects; 0 where none was observed."""
        answer = np.zeros((len(values.is_observed), len(self.psdds)))
        answer[values.is_observed] = log_likelihoods(self.psdds, values.rows)
        return answer
