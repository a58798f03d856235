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
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError, QueryError
from unswayed.core.names import listing
from unswayed.model.data.frames import is_frame
from unswayed.spaces.classifier.attributes import Values
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
from unswayed.spaces.classifier.priors import HELD_OUT, checked_smoothing, choose_prior
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


class StructuredNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows `X` and their labels `y`; rows of weight zero are left out."""
        return self._learn_first(X, y, sample_weight, None)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; the first call fixes the attributes and needs `classes`, all labels."""
        if self.smoothing == HELD_OUT:
            raise ModelError(f"partial_fit cannot hold rows out; give a prior instead of {HELD_OUT!r}")
        if hasattr(self, "model_") and not hasattr(self, "counts_"):
            raise ModelError("a loaded model has no counts to add to; learn again from all rows")
        if hasattr(self, "counts_"):
            return self._learn_more(X, y, sample_weight, classes)
        if classes is None:
            raise ModelError("the first call of partial_fit needs `classes`, all labels there will be")
        return self._learn_first(X, y, sample_weight, classes)

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The most probable label of each row; of equally probable ones the first."""
        best = np.argmax(self.predict_log_proba(X), axis=1)
        if self.n_parts_ == 1:
            labels: np.ndarray[Any, Any] = self.classes_[best]
            return labels
        return np.array([self.classes_[k] for k in best]).reshape(-1, self.n_parts_)

    def predict_proba(self, X: Any) -> Floats:
        """Pr(label | what the row observes), (rows, classes)."""
        probabilities: Floats = np.exp(self.predict_log_proba(X))
        return probabilities

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    def _learn_first(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        prior = checked_smoothing(self.smoothing)
        if not isinstance(self.class_smoothing, int | float | np.number) or not self.class_smoothing >= 0:
            raise ModelError(f"class_smoothing must be a number of at least 0, not {self.class_smoothing!r}")
        labels, self.n_parts_ = _labels(y)
        weights = _check_sample_weight(sample_weight, labels, dtype=np.float64)
        kept = np.flatnonzero(weights > 0)
        chosen = labels if classes is None else _labels(classes)[0]
        self.classes_ = _distinct(chosen)
        values = self._values(X, reset=True, kept=kept, n_rows=len(labels))
        codes = _codes(labels[kept], self.classes_)
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
        if classes is not None and list(_distinct(_labels(classes)[0])) != list(self.classes_):
            raise ModelError(
                f"`classes` changed from {listing(list(map(str, self.classes_)))}; they must stay"
            )
        labels, _ = _labels(y)
        weights = _check_sample_weight(sample_weight, labels, dtype=np.float64)
        values = self._values(X, reset=False, n_rows=len(labels))
        codes = _codes(labels, self.classes_)
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
            _check_rows(len(objects.is_observed), n_rows)
            return [objects if kept is None else objects.taken(kept)]
        rows = self._rows(X, reset=reset)
        _check_rows(rows.n_rows, n_rows)
        if kept is not None and len(kept) < rows.n_rows:
            rows = rows.taken(kept)
        if reset:
            self.layout_ = layout_of(rows, self.structured or (), self.max_categories)
        return values_in(rows, self.layout_)

    def _rows(self, X: Any, *, reset: bool) -> RawRows:
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return raw_rows(X)
        if not self.structured:
            return raw_rows(validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan"))
        # Cells that are objects are beyond scikit-learn's checks.
        rows = raw_rows(X)
        if reset:
            self.n_features_in_ = len(rows.names)
        return rows


def _check_rows(found: int, wanted: int | None) -> None:
    if wanted is not None and found != wanted:
        raise ModelError(f"X has inconsistent numbers of rows with y: {found} and {wanted}")


def _labels(y: Any) -> tuple[np.ndarray[Any, Any], int]:
    """Labels of rows, tuples where `y` has several columns, and the number of columns."""
    if y is None:
        raise QueryError(
            "StructuredNaiveBayes requires y to be passed, but the target y is None; give each row a label"
        )
    table = np.asarray(y)
    if table.ndim == 2 and table.shape[1] > 1:
        labels = np.empty(len(table), dtype=object)
        labels[:] = [tuple(row) for row in table.tolist()]
        return labels, table.shape[1]
    plain: np.ndarray[Any, Any] = column_or_1d(y, warn=True)
    assert_all_finite(plain, input_name="y")
    check_classification_targets(plain)
    return plain, 1


def _distinct(labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The labels there are, ascending."""
    if len(labels) == 0 or not isinstance(labels[0], tuple):
        return np.unique(labels)
    found = sorted(set(labels.tolist()))
    classes = np.empty(len(found), dtype=object)
    classes[:] = found
    return classes


def _codes(labels: np.ndarray[Any, Any], classes: np.ndarray[Any, Any]) -> Ints:
    """Positions of labels among the classes; `ModelError` for one that is not there."""
    number = {label: code for code, label in enumerate(classes.tolist())}
    found, which = (labels, None) if labels.dtype == object else np.unique(labels, return_inverse=True)
    codes = np.array([number.get(label, -1) for label in found.tolist()], dtype=np.int64)
    codes = codes if which is None else codes[which.reshape(-1)]
    if (codes < 0).any():
        unknown = sorted({str(label) for label in labels[codes < 0].tolist()})
        raise ModelError(f"y has labels that are not in `classes`: {listing(unknown)}")
    return codes
