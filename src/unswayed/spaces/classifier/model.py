"""Structured naive Bayes: attributes may be rankings, paths and games [choi2016].

    Pr(c, x_1, ..., s_1, ...) = Pr(c) * prod_i Pr(x_i | c) * prod_j PSDD_{j,c}(s_j)

Attributes are independent given the class. Simple ones (x) have a table or a normal distribution for each
class; structured ones (s) have a PSDD for each class, and all classes share one structure. Learning and
classifying take one pass over the data [choi2016, Prop. 1 and 2].

Several observations may come from one source: the games of one player, the trips of one driver. Given the
class they are independent, so their likelihoods multiply (`bag_scores`). And a class may have several
parts, such as the styles of two players: posteriors are over all of them together, and `part_posteriors`
sums the others out.

`attributes.py` has the distributions, `estimator.py` the scikit-learn estimator, `files.py` saved models.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ImpossibleEvidence, ModelError, QueryError
from unswayed.spaces.classifier.attributes import Attribute, Conditional, Prior, Values


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts:
    """All that is known of labelled rows: a monoid, so rows may come in chunks."""

    attributes: tuple[Attribute, ...]
    """What was counted."""
    classes: Floats  # (classes,)
    """Weight of the rows of each class."""
    counts: tuple[Any, ...] = field(repr=False)
    """What each attribute counted."""


@dataclass(frozen=True, slots=True, eq=False)
class NaiveBayes:
    """A classifier: a prior over classes, and each attribute's distribution in each class."""

    attributes: tuple[Attribute, ...]
    """The attributes."""
    log_prior: Floats  # (classes,)
    """Logarithms of the probabilities of the classes."""
    conditionals: tuple[Conditional, ...] = field(repr=False)
    """The distributions of each attribute."""

    def __post_init__(self) -> None:
        if len(self.attributes) != len(self.conditionals):
            raise ModelError("every attribute of a classifier needs its distributions")


def zero_counts(attributes: Sequence[Attribute], n_classes: int) -> ClassCounts:
    """Counts of no rows at all."""
    return ClassCounts(tuple(attributes), np.zeros(n_classes), tuple(a.zero(n_classes) for a in attributes))


def count_rows(
    attributes: Sequence[Attribute],
    values: Sequence[Values],
    labels: Ints,
    *,
    weights: Floats,
    n_classes: int,
) -> ClassCounts:
    """Counts of rows: the values of each attribute, the code of each row's class, and its weight."""
    counts: list[Any] = []
    for attribute, column in zip(attributes, values, strict=True):
        known: Any = attribute
        counts.append(known.count(column, labels, weights, n_classes))
    classes = np.bincount(labels, weights, n_classes).astype(np.float64)
    return ClassCounts(tuple(attributes), classes, tuple(counts))


def merge(one: ClassCounts, other: ClassCounts) -> ClassCounts:
    """Counts of the rows of both."""
    if one.attributes != other.attributes or len(one.classes) != len(other.classes):
        raise ModelError("counts can be merged only when they are of the same attributes and classes")
    counts: list[Any] = []
    for attribute, a, b in zip(one.attributes, one.counts, other.counts, strict=True):
        known: Any = attribute
        counts.append(known.merge(a, b))
    return ClassCounts(one.attributes, one.classes + other.classes, tuple(counts))


def fitted(counts: ClassCounts, priors: Sequence[Prior], *, class_smoothing: float = 0.0) -> NaiveBayes:
    """The classifier of counts; each attribute has its prior, and each class gets weight added."""
    amounts = counts.classes + class_smoothing
    if not amounts.sum() > 0:
        raise ModelError("there are no rows to learn from: all weights are zero")
    conditionals: list[Any] = []
    for attribute, each, prior in zip(counts.attributes, counts.counts, priors, strict=True):
        known: Any = attribute
        conditionals.append(known.fitted(each, prior))
    with np.errstate(divide="ignore"):
        log_prior = np.log(amounts / amounts.sum())
    return NaiveBayes(counts.attributes, log_prior, tuple(conditionals))


def class_scores(model: NaiveBayes, values: Sequence[Values]) -> Floats:  # (rows, classes)
    """Log-likelihood of each row in each class, without the prior.

    Cost: for complete objects, O(choices used) for each row and class, in one pass for all classes.
    """
    n_rows = _n_rows(values[0]) if values else 0
    scores = np.zeros((n_rows, len(model.log_prior)))
    for conditional, column in zip(model.conditionals, values, strict=True):
        scores += conditional.log_likelihoods(column)
    return scores


def _n_rows(values: Any) -> int:
    return len(values.is_observed) if hasattr(values, "is_observed") else len(values)


def bag_scores(scores: Floats, bags: Sequence[Hashable] | Any) -> tuple[list[Any], Floats]:
    """The scores of rows of the same bag added up: the bags in order of appearance, (bags, classes)."""
    keys = list(bags.tolist() if isinstance(bags, np.ndarray) else bags)
    if len(keys) != len(scores):
        raise QueryError(f"{len(scores)} rows need as many bags; {len(keys)} given")
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    codes = np.array([number[key] for key in keys], dtype=np.int64)
    totals = np.zeros((len(number), scores.shape[1]))
    for k in range(scores.shape[1]):
        totals[:, k] = np.bincount(codes, scores[:, k], len(number))
    return list(number), totals


def log_posteriors(log_prior: Floats, scores: Floats) -> Floats:  # (rows, classes)
    """Logarithms of the probabilities of classes, given the scores of rows or of bags.

    Raises `ImpossibleEvidence` for a row that has probability zero in every class.
    """
    joint = scores + log_prior
    highest = joint.max(axis=1, keepdims=True)
    if np.isneginf(highest).any():
        raise ImpossibleEvidence(
            f"row {int(np.argmax(np.isneginf(highest)))} has probability zero in every class; learn with "
            "smoothing above 0, so that nothing is impossible only because it was not seen"
        )
    answer: Floats = joint - highest - np.log(np.exp(joint - highest).sum(axis=1, keepdims=True))
    return answer


def part_posteriors(
    posteriors: Floats, classes: Sequence[Sequence[Any]], part: int
) -> tuple[list[Any], Floats]:
    """Probabilities of one part of the class, the others summed out: its labels, (rows, labels).

    >>> pairs = [("random", "random"), ("random", "best"), ("best", "best")]
    >>> part_posteriors(np.array([[0.2, 0.3, 0.5]]), pairs, 0)
    (['random', 'best'], array([[0.5, 0.5]]))
    """
    labels = list(dict.fromkeys(each[part] for each in classes))
    answer = np.zeros((len(posteriors), len(labels)))
    for k, each in enumerate(classes):
        answer[:, labels.index(each[part])] += posteriors[:, k]
    return labels, answer
