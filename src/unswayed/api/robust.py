"""Any classifier of scikit-learn's kind, made to say how safe its decisions are when inputs are missing.

`RobustClassifier` fits the estimator that it is given and, from the same rows, the distribution of its
inputs. From then on NaN means "not known yet": predictions are expected predictions, and `sdp` and `voi` say
of each row how probable it is that its decision stays, and what to measure next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from unswayed.api.decisions import sdp
from unswayed.api.information import voi
from unswayed.api.wrap import wrap
from unswayed.core.arrays import Floats
from unswayed.core.errors import ModelError
from unswayed.core.names import free_name
from unswayed.decisions.classifier import decide_classes
from unswayed.decisions.value_rows import Findings, row_findings, value_posteriors
from unswayed.model.data.estimator_rows import (
    Labels,
    PosteriorClassifier,
    check_row_count,
    checked_rows,
    class_labels,
    feature_names,
    feature_table,
)
from unswayed.model.data.frames import is_frame


class RobustClassifier(MetaEstimatorMixin, PosteriorClassifier):  # type: ignore[misc]
    """A classifier with the distribution of its inputs.

    Parameters
    ----------
    estimator : a classifier, or None
        What decides; logistic regression on scaled inputs when None. Where the rows to learn from have gaps
        and it takes none, it learns from medians in their place.
    threshold : float, optional
        For two classes: `positive` is decided from this probability on. Without it, the most probable class.
    positive : label, optional
        The class that the threshold is about; the second of `classes_` when None.
    background : {"tree", "mixture"} or a network
        The distribution of the inputs; see `unswayed.wrap`.
    bins : int
        Intervals of a column of numbers.
    representatives : {"rows", "quantiles"}
        What an interval stands for.
    smoothing : float
        Added to every count of the background.
    random_state : int, RandomState or None
        For the mixture's start.

    Attributes
    ----------
    estimator_ : the fitted classifier
    classifier_ : Classifier
        The same below its background, for every verb of unswayed.
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    >>> X = [[0.1, 5.0], [0.4, 4.0], [0.9, 4.5], [2.1, 1.0], [2.5, 0.5], [3.2, 1.5]]
    >>> robust = RobustClassifier(bins=2).fit(X, ["no", "no", "no", "yes", "yes", "yes"])
    >>> robust.predict([[2.9, float("nan")]]).tolist()
    ['yes']
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        threshold: float | None = None,
        positive: Any = None,
        background: Any = "tree",
        bins: int = 8,
        representatives: str = "rows",
        smoothing: float = 0.5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.positive = positive
        self.background = background
        self.bins = bins
        self.representatives = representatives
        self.smoothing = smoothing
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the estimator to rows `X` and their labels `y`, and the background to `X`."""
        rows = checked_rows(self, X, reset=True)
        if is_frame(rows) and not hasattr(self, "feature_names_in_"):  # columns that numbers name
            rows = np.asarray(rows)
        labels = class_labels(self, y)
        check_row_count(len(rows), len(labels))
        if len(np.unique(labels)) < 2:
            raise ModelError("the labels are all of one class; a classifier needs at least two classes")
        self.estimator_ = clone(self._estimator(rows)).fit(rows, labels)
        self.classes_ = self.estimator_.classes_
        self.classifier_ = wrap(
            self.estimator_,
            rows,
            threshold=self.threshold,
            positive=self.positive,
            background=self.background,
            target=free_name("prediction", feature_names(self)),
            bins=self.bins,
            representatives=self.representatives,
            smoothing=self.smoothing,
            rng=np.random.default_rng(check_random_state(self.random_state).randint(2**31)),
        )
        return self

    def predict(self, X: Any) -> Labels:
        """The decision for each row: by the model, or by the expected prediction where inputs are missing."""
        shares = self.predict_proba(X)
        by_threshold = self.threshold is not None
        best = decide_classes(self.classifier_, shares) if by_threshold else shares.argmax(axis=1)
        labels: Labels = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Pr(label | what the row observes), (rows, classes)."""
        check_is_fitted(self)
        return value_posteriors(self.classifier_, self._findings(X))

    def sdp(self, X: Any) -> Floats:  # (rows,)
        """Probability of each row that its decision stays when all that is missing becomes known."""
        check_is_fitted(self)
        return np.array([sdp(self.classifier_, row).value for row in self._findings(X)])

    def voi(self, X: Any) -> list[str | None]:
        """For each row the input to measure next; None where none is missing or could change anything."""
        check_is_fitted(self)
        n_inputs = len(self.classifier_.features)
        return [
            None if len(row) == n_inputs else voi(self.classifier_, row).best for row in self._findings(X)
        ]

    def _findings(self, X: Any) -> Sequence[Findings]:
        return row_findings(self.classifier_.network, feature_table(self, X, reset=False))

    def _estimator(self, rows: Any) -> Any:
        chosen = self.estimator
        if chosen is None:
            chosen = make_pipeline(StandardScaler(), LogisticRegression())
        if (
            is_frame(rows)
            or np.asarray(rows).dtype.kind not in "fiub"
            or get_tags(chosen).input_tags.allow_nan
        ):
            return chosen
        has_gaps = bool(np.isnan(np.asarray(rows, dtype=np.float64)).any())
        return make_pipeline(SimpleImputer(strategy="median"), chosen) if has_gaps else chosen
