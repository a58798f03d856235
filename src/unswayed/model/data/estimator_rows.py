"""What estimators share with scikit-learn: rows, labels, names of columns, and tags for what is taken.

Rows may come as arrays or dataframes, with text and numbers side by side and missing values (NaN, None).
Everything that is learned from rows and labels checks them here, and says the same where they do not fit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError, QueryError
from unswayed.core.names import free_name, listing
from unswayed.model.data.frames import is_frame
from unswayed.model.data.tables import Table, make_table, read_table

Labels = np.ndarray[Any, Any]


class PosteriorClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that computes posteriors of rows, in which values may be missing."""

    classes_: Labels

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Pr(label | what the row observes), (rows, classes)."""

    def predict(self, X: Any) -> Labels:
        """The most probable label of each row; of equally probable ones the first."""
        best = np.argmax(self._scores(X), axis=1)  # first: it says where nothing was learned yet
        labels: Labels = self.classes_[best]
        return labels

    def _scores(self, X: Any) -> Floats:
        """What is highest for the most probable label."""
        return self.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class LogPosteriorClassifier(PosteriorClassifier):
    """A classifier that computes the logarithms of its posteriors; the other predictions follow from them."""

    @abstractmethod
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of `predict_proba`, exact where those underflow."""

    def predict_proba(self, X: Any) -> Floats:
        """Pr(label | what the row observes), (rows, classes); missing values are summed out exactly."""
        probabilities: Floats = np.exp(self.predict_log_proba(X))
        return probabilities

    def _scores(self, X: Any) -> Floats:
        return self.predict_log_proba(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags


class GrowingClassifier(LogPosteriorClassifier):
    """A classifier made of counts, to which more rows can be added; `counts_` says that it has learned."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows `X` and their labels `y`."""
        return self._learn_first(X, y, sample_weight, None)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; the first call fixes what columns mean, and needs `classes`, all labels."""
        if hasattr(self, "counts_"):
            return self._learn_more(X, y, sample_weight, classes)
        if classes is None:
            raise ModelError("the first call of partial_fit needs `classes`, all labels there will be")
        return self._learn_first(X, y, sample_weight, classes)

    @abstractmethod
    def _learn_first(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        """Learn from rows; `classes` are all labels where more rows may come, else None."""

    @abstractmethod
    def _learn_more(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        """Learn from more rows; `classes` may repeat the labels."""


def class_labels(estimator: Any, y: Any) -> Labels:
    """The labels of rows, checked as scikit-learn checks them."""
    expect_labels(estimator, y)
    labels: Labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    return labels


def expect_labels(estimator: Any, y: Any) -> None:
    """`QueryError` where there are no labels."""
    if y is None:
        raise QueryError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None; give each row a "
            "label"
        )


def check_row_count(n_rows: int, n_labels: int | None) -> None:
    """`ModelError` unless each row has its label; None where there are no labels."""
    if n_labels not in (None, n_rows):
        raise ModelError(f"X has inconsistent numbers of rows with y: {n_rows} and {n_labels}")


def class_codes(labels: Labels, classes: Labels) -> Ints:
    """The position of each label among the classes; `ModelError` for one that is not there."""
    number = {label: code for code, label in enumerate(classes.tolist())}
    found, which = (labels, None) if labels.dtype == object else np.unique(labels, return_inverse=True)
    codes = np.array([number.get(label, -1) for label in found.tolist()], dtype=np.int64)
    codes = codes if which is None else codes[which.reshape(-1)]
    if (codes < 0).any():
        unknown = sorted(set(labels[codes < 0].tolist()), key=str)
        raise ModelError(f"y has labels that are not in `classes`: {listing(unknown)}")
    return codes


def check_same_classes(classes: Labels, known: Labels) -> None:
    """`ModelError` where later rows come with other classes than the first did."""
    if list(classes) != list(known):
        raise ModelError(f"`classes` changed from {listing(known.tolist())}; they must stay")


def checked_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """A dataframe, or an array in which numbers, text and missing values may stand side by side."""
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    return validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")


def feature_table(estimator: Any, X: Any, *, reset: bool) -> Table:
    """The features as a table under the names they had in learning; `reset` when that is now."""
    table = read_table(checked_rows(estimator, X, reset=reset))
    names = feature_names(estimator)
    return make_table([replace(column, name=name) for column, name in zip(table.columns, names, strict=True)])


def feature_names(estimator: Any) -> list[str]:
    """Names of the features of a fitted estimator: those of its dataframe, else `x0`, `x1`, ..."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return [f"x{j}" for j in range(estimator.n_features_in_)]
    return [str(name) for name in names]


def target_name(y: Any, taken: Sequence[str]) -> str:
    """The name of `y` if it has one, else `class`; with underscores while a feature has the same."""
    name = getattr(y, "name", None)
    return free_name(name if isinstance(name, str) and name.strip() == name and name else "class", taken)
