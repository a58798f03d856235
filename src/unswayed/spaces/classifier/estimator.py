"""Structured naive Bayes as a scikit-learn estimator.

Rows may mix objects (rankings, paths, games), labels and numbers, with missing values. Without structured
attributes it is a plain naive Bayes classifier. What it learned is `model_`, for the functions of
`naive_bayes.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError, QueryError
from unswayed.model.data.estimator_rows import (
    GrowingClassifier,
    check_row_count,
    check_same_classes,
    checked_rows,
    class_codes,
    class_labels,
    expect_labels,
)
from unswayed.model.data.frames import is_frame
from unswayed.spaces.classifier.attributes import HELD_OUT, Values, checked_smoothing, choose_prior
from unswayed.spaces.classifier.columns import (
    Layout,
    RawRows,
    layout_of,
    objects_of,
    raw_rows,
    structured_attribute,
    values_in,
)
from unswayed.spaces.classifier.model import (
    bag_scores,
    class_scores,
    count_rows,
    fitted,
    log_posteriors,
    merge,
    part_posteriors,
)
from unswayed.spaces.space import Space


@dataclass(frozen=True, slots=True, eq=False)
class Posteriors:
    """Probabilities of labels for each source of observations."""

    sources: tuple[Any, ...]
    """The bags in order of appearance, or the numbers of rows."""
    labels: tuple[Any, ...]
    """The labels; tuples for a class of several parts."""
    probabilities: Floats = field(repr=False)  # (sources, labels)
    """Pr(label | all observations of the source)."""

    @property
    def best(self) -> list[Any]:
        """The most probable label of each source; of equally probable ones the first."""
        return [self.labels[int(k)] for k in np.argmax(self.probabilities, axis=1)]


class StructuredNaiveBayes(GrowingClassifier):
    """A naive Bayes classifier whose attributes may be structured objects [choi2016].

    Parameters
    ----------
    structured : None, Space, or list of (Space, columns)
        A space when every row is one object. Otherwise for each structured attribute its space, and its
        columns: one (a name or a position) that holds whole objects, or a list that make up an object.
        All other columns are simple attributes.
    smoothing : float, Laplace, UniformExamples or "held-out"
        Added to every count of an attribute; 1 is Laplace's, a Dirichlet prior with exponents 2. Or a prior
        (`Laplace`, `UniformExamples`), or "held-out": for each attribute, the prior that explains rows held
        out best.
    class_smoothing : float
        Added to the weight of every class.
    max_categories : int
        A column of at most this many distinct whole numbers is discrete; other numbers are Gaussian.

    Attributes
    ----------
    classes_ : array
        The labels, ascending; tuples when `y` has several columns.
    model_ : NaiveBayes
        What was learned.
    priors_ : list
        The prior of each attribute.
    counts_ : ClassCounts
        What it was learned from; `partial_fit` adds to it.
    layout_ : Layout
        Which columns are which attribute.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn, when rows have columns.

    `y` may have several columns (the styles of both players): `predict` then gives as many, and
    `posteriors(X, part=0)` sums the others out. `posteriors(X, bags=...)` classifies all rows of a bag
    together. A label that was not seen in learning is taken as not observed, with a `UnswayedWarning`.

    >>> from unswayed.spaces.rankings import ranking_space
    >>> drinks = ranking_space(["tea", "milk", "rum"])
    >>> classifier = StructuredNaiveBayes(drinks)
    >>> rankings = [("tea", "milk", "rum"), ("milk", "tea", "rum"), ("rum", "tea", "milk")]
    >>> classifier = classifier.fit(rankings, ["land", "land", "sea"])
    >>> classifier.predict([("rum", "tea", "milk")]).tolist()
    ['sea']
    """

    def __init__(
        self,
        structured: Space[Any] | Sequence[tuple[Space[Any], Any]] | None = None,
        *,
        smoothing: Any = 1.0,
        class_smoothing: float = 0.0,
        max_categories: int = 10,
    ) -> None:
        self.structured = structured
        self.smoothing = smoothing
        self.class_smoothing = class_smoothing
        self.max_categories = max_categories

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; the first call fixes the attributes and needs `classes`, all labels."""
        if self.smoothing == HELD_OUT:
            raise ModelError(f"partial_fit cannot hold rows out; give a prior instead of {HELD_OUT!r}")
        if hasattr(self, "model_") and not hasattr(self, "counts_"):
            raise ModelError("a loaded model has no counts to add to; learn again from all rows")
        return super().partial_fit(X, y, classes, sample_weight)

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The most probable label of each row; of equally probable ones the first."""
        labels = super().predict(X)
        return labels if self.n_parts_ == 1 else np.array(labels.tolist()).reshape(-1, self.n_parts_)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of `predict_proba`, exact where those underflow."""
        check_is_fitted(self)
        return log_posteriors(self.model_.log_prior, class_scores(self.model_, self._values(X, reset=False)))

    def posteriors(self, X: Any, *, bags: Any = None, part: int | None = None) -> Posteriors:
        """Probabilities of labels given all rows of each bag, or one part of the label.

            Pr(c | x_1, ..., x_m) is proportional to Pr(c) * prod_i Pr(x_i | c)

        `bags` says for each row which source it comes from; without it every row is its own.
        """
        check_is_fitted(self)
        scores = class_scores(self.model_, self._values(X, reset=False))
        sources: list[Any] = list(range(len(scores)))
        if bags is not None:
            sources, scores = bag_scores(scores, bags)
        labels, probabilities = list(self.classes_), np.exp(log_posteriors(self.model_.log_prior, scores))
        if part is not None:
            if self.n_parts_ == 1 or not 0 <= part < self.n_parts_:
                raise QueryError(f"the class has {self.n_parts_} parts; there is no part {part}")
            labels, probabilities = part_posteriors(probabilities, labels, part)
        return Posteriors(tuple(sources), tuple(labels), probabilities)

    def _learn_first(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        prior = checked_smoothing(self.smoothing)
        if not isinstance(self.class_smoothing, int | float | np.number) or not self.class_smoothing >= 0:
            raise ModelError(f"class_smoothing must be a number of at least 0, not {self.class_smoothing!r}")
        labels, self.n_parts_ = _labels(self, y)
        weights = _check_sample_weight(sample_weight, labels, dtype=np.float64)
        kept = np.flatnonzero(weights > 0)
        chosen = labels if classes is None else _labels(self, classes)[0]
        self.classes_ = _distinct(chosen)
        values = self._values(X, reset=True, kept=kept, n_rows=len(labels))
        codes = class_codes(labels[kept], self.classes_)
        attributes = self.layout_.attributes
        self.counts_ = count_rows(
            attributes, values, codes, weights=weights[kept], n_classes=len(self.classes_)
        )
        some = {"weights": weights[kept], "n_classes": len(self.classes_)}
        self.priors_ = [
            choose_prior(each, column, codes, **some) if isinstance(prior, str) else prior
            for each, column in zip(attributes, values, strict=True)
        ]
        return self._finish()

    def _learn_more(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        if classes is not None:
            check_same_classes(_distinct(_labels(self, classes)[0]), self.classes_)
        labels, _ = _labels(self, y)
        weights = _check_sample_weight(sample_weight, labels, dtype=np.float64)
        values = self._values(X, reset=False, n_rows=len(labels))
        codes = class_codes(labels, self.classes_)
        attributes = self.layout_.attributes
        more = count_rows(attributes, values, codes, weights=weights, n_classes=len(self.classes_))
        self.counts_ = merge(self.counts_, more)
        return self._finish()

    def _finish(self) -> Self:
        self.model_ = fitted(self.counts_, self.priors_, class_smoothing=float(self.class_smoothing))
        return self

    def _values(
        self, X: Any, *, reset: bool, kept: Ints | None = None, n_rows: int | None = None
    ) -> list[Values]:
        """The values of every attribute; `kept` are the rows that count, `n_rows` how many there must be."""
        if isinstance(self.structured, Space):
            if reset:
                attribute = structured_attribute(self.structured)
                self.layout_ = Layout(0, ((),), (True,), (attribute,))
            objects = objects_of(self.structured, X)
            check_row_count(len(objects.is_observed), n_rows)
            return [objects if kept is None else objects.taken(kept)]
        rows = self._rows(X, reset=reset)
        check_row_count(rows.n_rows, n_rows)
        if kept is not None and len(kept) < rows.n_rows:
            rows = rows.taken(kept)
        if reset:
            self.layout_ = layout_of(rows, self.structured or (), self.max_categories)
        return values_in(rows, self.layout_)

    def _rows(self, X: Any, *, reset: bool) -> RawRows:
        if is_frame(X) or not self.structured:
            return raw_rows(checked_rows(self, X, reset=reset))
        # Cells that are objects are beyond scikit-learn's checks.
        rows = raw_rows(X)
        if reset:
            self.n_features_in_ = len(rows.names)
        return rows


def _labels(estimator: Any, y: Any) -> tuple[np.ndarray[Any, Any], int]:
    """Labels of rows, tuples where `y` has several columns, and the number of columns."""
    expect_labels(estimator, y)
    table = np.asarray(y)
    if table.ndim == 2 and table.shape[1] > 1:
        labels = np.empty(len(table), dtype=object)
        labels[:] = [tuple(row) for row in table.tolist()]
        return labels, table.shape[1]
    return class_labels(estimator, y), 1


def _distinct(labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The labels there are, ascending."""
    if len(labels) == 0 or not isinstance(labels[0], tuple):
        return np.unique(labels)
    found = sorted(set(labels.tolist()))
    classes = np.empty(len(found), dtype=object)
    classes[:] = found
    return classes
