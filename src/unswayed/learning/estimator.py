"""Bayesian-network classifiers as a scikit-learn estimator.

Rows may have missing values (NaN, None) in learning and in predicting, text and numbers side by side, and
come as arrays or as dataframes. The network that was learned is `network_`, ready for everything else that
unswayed does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from unswayed.core.arrays import Floats
from unswayed.core.errors import ModelError
from unswayed.core.names import listing
from unswayed.inference.forests import class_log_posteriors
from unswayed.learning.augmented import naive_families, naive_network, tan_families, tan_network
from unswayed.learning.counts import FamilyCounts, count_families, merge
from unswayed.model.cpt import checked_smoothing
from unswayed.model.data.dataset import Dataset, make_dataset
from unswayed.model.data.discretize import (
    AtMean,
    CutMethod,
    Discretization,
    EntropyMdl,
    EqualFrequency,
    EqualWidth,
)
from unswayed.model.data.encoding import encode
from unswayed.model.data.estimator_rows import (
    GrowingClassifier,
    check_row_count,
    check_same_classes,
    class_codes,
    class_labels,
    feature_table,
    target_name,
)
from unswayed.model.data.intervals import interval_cuts
from unswayed.model.data.tables import LabelColumn, Table, make_table

STRUCTURES = ("naive", "tan")
METHODS = ("mdl", "frequency", "width", "mean")


class BayesNetClassifier(GrowingClassifier):
    """A naive Bayes or tree-augmented naive Bayes classifier over discrete features.

    Parameters
    ----------
    structure : {"naive", "tan"}
        Features independent given the class, or with one feature each as a further parent.
    smoothing : float
        Added to every count, those of the class included; at least 0.
    discretize : {"mdl", "frequency", "width", "mean", None}
        Where numeric columns are cut (`unswayed.model.data.discretize`); None keeps numbers as categories.
    n_bins : int
        Number of intervals for "frequency" and "width".
    cut_points : dict or None
        Cut points by column name (`x0`, `x1`, ... for arrays), used before any method.
    max_categories : int
        A column of at most this many distinct integers keeps them as categories.

    Attributes
    ----------
    classes_ : array
        The labels, ascending.
    network_ : BayesianNetwork
        The class first; its states are `str(label)`, in the order of `classes_`.
    target_name_ : str
        Name of the class in the network: that of `y` if it has one, else `class`.
    discretization_ : dict
        Cut points of each column that was cut.
    counts_ : FamilyCounts
        What the network was made of; `partial_fit` adds to it.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    A value that was not seen in learning is taken as not observed, with a `UnswayedWarning`. The first call
    of `partial_fit` fixes categories and cut points by its rows: for categories they do not show, declare
    them (an ordered categorical column), and give `cut_points` you trust.

    >>> classifier = BayesNetClassifier().fit([["a", 1], ["a", 2], ["b", 1]], ["yes", "yes", "no"])
    >>> classifier.predict([["a", None]]).tolist()
    ['yes']
    """

    def __init__(
        self,
        structure: str = "naive",
        *,
        smoothing: float = 1.0,
        discretize: str | None = "mdl",
        n_bins: int = 5,
        cut_points: Mapping[str, Sequence[float]] | None = None,
        max_categories: int = 10,
    ) -> None:
        self.structure = structure
        self.smoothing = smoothing
        self.discretize = discretize
        self.n_bins = n_bins
        self.cut_points = cut_points
        self.max_categories = max_categories

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of `predict_proba`, exact where those underflow."""
        check_is_fitted(self)
        return class_log_posteriors(self.network_, self.target_name_, feature_table(self, X, reset=False))

    def _learn_first(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        checked_smoothing(self.smoothing)
        discretization = self._discretization()
        table = feature_table(self, X, reset=True)
        labels = class_labels(self, y)
        check_row_count(table.n_rows, len(labels))
        self.classes_ = np.unique(labels if classes is None else np.asarray(classes))
        self.target_name_ = target_name(y, table.names)
        rows = make_dataset(
            self._with_target(table, labels),
            self.target_name_,
            discretization=discretization,
            weights=_check_sample_weight(sample_weight, labels, dtype=np.float64),
        )
        self.discretization_ = {
            variable.name: cuts
            for variable in rows.variables[:-1]
            if (cuts := interval_cuts(variable)) is not None
        }
        return self._finish(self._count(rows))

    def _learn_more(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        if classes is not None:
            check_same_classes(np.unique(classes), self.classes_)
        table = feature_table(self, X, reset=False)
        labels = class_labels(self, y)
        check_row_count(table.n_rows, len(labels))
        weights = _check_sample_weight(sample_weight, labels, dtype=np.float64)
        rows = encode(self._with_target(table, labels), self.counts_.variables, weights=weights)
        return self._finish(merge(self.counts_, self._count(rows)))

    def _count(self, rows: Dataset) -> FamilyCounts:
        families = naive_families if self.structure == "naive" else tan_families
        # The target is the last column.
        return count_families(rows, families(len(rows.variables), len(rows.variables) - 1))

    def _finish(self, counts: FamilyCounts) -> Self:
        network = naive_network if self.structure == "naive" else tan_network
        self.counts_ = counts
        self.network_ = network(counts, len(counts.variables) - 1, smoothing=self.smoothing)
        return self

    def _discretization(self) -> Discretization:
        """The parameters as objects, checked."""
        if self.structure not in STRUCTURES:
            raise ModelError(f"structure must be one of {listing(STRUCTURES)}, not {self.structure!r}")
        method_by_name: dict[str | None, CutMethod | None] = {
            "mdl": EntropyMdl(),
            "frequency": EqualFrequency(self.n_bins),
            "width": EqualWidth(self.n_bins),
            "mean": AtMean(),
            None: None,
        }
        if self.discretize not in method_by_name:
            raise ModelError(f"discretize must be one of {listing(METHODS)} or None, not {self.discretize!r}")
        return Discretization(
            method_by_name[self.discretize],
            cuts_by_column=self.cut_points or {},
            max_categories=None if self.discretize is None else self.max_categories,
        )

    def _with_target(self, table: Table, labels: np.ndarray[Any, Any]) -> Table:
        """The table with the labels as its last column."""
        codes, states = class_codes(labels, self.classes_), tuple(map(str, self.classes_))
        target = LabelColumn(self.target_name_, states, codes, declared=True)
        return make_table([*table.columns, target])
