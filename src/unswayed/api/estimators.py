"""Trimming as a scikit-learn estimator: a classifier on fewer features, and the selector of these features.

`TrimmedClassifier` fits a classifier, finds the features and the threshold within a budget that agree with
it best (`unswayed.trim`), and from then on decides by those features alone. In a pipeline it may be the last
step, which predicts, or one before it, which drops columns. What it found is `trimming_`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, check_array, get_tags
from sklearn.utils.validation import check_is_fitted

from unswayed.api.selection import Method, SearchOptions, Trimming, trim
from unswayed.core.arrays import Bools, Floats
from unswayed.core.errors import LimitError, ModelError, UnswayedWarning
from unswayed.core.limits import Limits
from unswayed.core.names import listing
from unswayed.decisions.classifier import Classifier, decide_classes
from unswayed.decisions.rules import MostProbable, Rule, ThresholdRule
from unswayed.inference.forests import class_log_posteriors
from unswayed.learning.estimator import BayesNetClassifier
from unswayed.learning.foreign import from_sklearn
from unswayed.model.data.dataset import Dataset, smallest_type
from unswayed.model.data.encoding import encode
from unswayed.model.data.estimator_rows import (
    Labels,
    LogPosteriorClassifier,
    checked_rows,
    feature_names,
    feature_table,
    target_name,
)
from unswayed.model.data.tables import LabelColumn, Table, make_table
from unswayed.model.network import BayesianNetwork

METHODS = (Method.BRANCH_AND_BOUND, Method.EXHAUSTIVE, Method.GREEDY)
"""Searches that can adapt a threshold."""


class TrimmedClassifier(SelectorMixin, MetaEstimatorMixin, LogPosteriorClassifier):  # type: ignore[misc]
    """A classifier that decides by a few of its features as it would by all, as often as possible.

    Parameters
    ----------
    estimator : BayesNetClassifier, CategoricalNB or BernoulliNB
        What is fitted and then trimmed; `BayesNetClassifier()` when None. One that is fitted already is
        trimmed as it is when wrapped in scikit-learn's `FrozenEstimator`.
    budget : int or float
        What the kept features may cost together. A float up to 1 is a share of what all features cost, so
        that 0.5 keeps half of them; integers and larger floats are amounts.
    costs : dict or array of numbers, optional
        What features cost, by name or in the order of the columns; 1 for those left out.
    threshold : float, optional
        For two classes: the full classifier decides `positive` from this posterior on; 0.5 when None. With
        more classes it decides for the most probable one, and takes no threshold.
    positive : label, optional
        The class whose posterior is compared with the threshold; the last of `classes_` when None.
    method : {"branch-and-bound", "exhaustive", "greedy"}
        How features are searched; only the last proves nothing.
    max_seconds : float, optional
        Ends the search with the best so far.
    allow_estimates : bool
        Whether samples may estimate the agreement where nothing certain is known about it.

    Attributes
    ----------
    trimming_ : Trimming
        The features, the threshold and what is proven about them.
    agreement_ : float
        Probability, in the network, that the kept features decide as all do.
    threshold_ : float or None
        The threshold on the kept features: the old one where that does as well; None with more than two
        classes.
    estimator_, classifier_
        The fitted estimator, and the full classifier made of it.
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Dropped columns are ignored: they may hold anything, or NaN. So may single cells of kept
    columns, which are then not observed.

    >>> X, y = [[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 1]] * 5, ["no", "no", "yes", "yes"] * 5
    >>> trimmed = TrimmedClassifier(budget=1).fit(X, y)
    >>> trimmed.get_support().tolist(), round(trimmed.agreement_, 2)
    ([True, False, False], 1.0)
    >>> trimmed.predict([[1, None, None]]).tolist()
    ['yes']
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        budget: float = 0.5,
        costs: Mapping[str, float] | Sequence[float] | None = None,
        threshold: float | None = None,
        positive: Any = None,
        method: str = "branch-and-bound",
        max_seconds: float | None = None,
        allow_estimates: bool = False,
    ) -> None:
        self.estimator = estimator
        self.budget = budget
        self.costs = costs
        self.threshold = threshold
        self.positive = positive
        self.method = method
        self.max_seconds = max_seconds
        self.allow_estimates = allow_estimates

    def fit(self, X: Any, y: Any, sample_weight: Any = None, held_out: Any = None) -> Self:
        """Fit the estimator to rows `X` and their labels `y`, then trim it.

        An estimator that learns from complete rows only is given those, with a warning. `held_out` are rows
        like `X` that take no part in learning: `trimming_.held_out` counts on how many of them the kept
        features decide as all do.
        """
        options = self._options()
        checked_rows(self, X, reset=True)
        X, y, sample_weight = self._learnable(X, y, sample_weight)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = clone(self._estimator()).fit(X, y, **weights)
        fitted = _unwrapped(self.estimator_)
        network, target = _network_of(fitted, y)
        self.classes_ = fitted.classes_
        self.classifier_ = Classifier(network, target, feature_names(fitted), self._rule())
        costs = self._costs()
        rows = None if held_out is None else feature_table(self, held_out, reset=False)
        self.trimming_ = _best_trimming(self.classifier_, costs, self._budget(costs), options, held_out=rows)
        rule = self._trimmed().rule
        self.agreement_ = self.trimming_.selection.value
        self.threshold_ = rule.threshold if isinstance(rule, ThresholdRule) else None
        return self

    def predict(self, X: Any) -> Labels:
        """The decision of the kept features for each row."""
        shares = self.predict_proba(X)  # first: it says where nothing was learned yet
        labels: Labels = self.classes_[decide_classes(self._trimmed(), shares)]
        return labels

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of `predict_proba`, exact where those underflow."""
        check_is_fitted(self)
        trimmed = self._trimmed()
        return class_log_posteriors(trimmed.network, trimmed.target, self._kept_rows(X))

    def inverse_transform(self, X: Any) -> np.ndarray[Any, Any]:
        """The kept columns in their old places, the others not observed (NaN, or None beside text)."""
        support = self.get_support()
        kept = check_array(X, dtype=None, ensure_all_finite="allow-nan", ensure_min_features=0)
        if kept.shape[1] != support.sum():
            raise ModelError(f"X has {kept.shape[1]} columns, but {support.sum()} features were kept")
        is_number = kept.dtype.kind in "fiub"
        kind, missing = (np.float64, math.nan) if is_number else (object, None)
        whole = np.full((len(kept), len(support)), missing, dtype=kind)
        whole[:, support] = kept
        return whole

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._estimator()).input_tags
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = False
        # A share of the features may leave out one that tells the classes apart.
        tags.classifier_tags.poor_score = isinstance(self.budget, float) and self.budget < 1
        return tags

    def _learnable(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """The rows that the estimator learns from: all, or the complete ones where it takes no others."""
        if get_tags(self._estimator()).input_tags.allow_nan:
            return X, y, sample_weight
        table = feature_table(self, X, reset=False)
        gaps = [c.codes < 0 if isinstance(c, LabelColumn) else np.isnan(c.values) for c in table.columns]
        complete = np.flatnonzero(~np.any(gaps, axis=0))
        if len(complete) == table.n_rows or not len(complete):
            return X, y, sample_weight
        warnings.warn(
            f"{table.n_rows - len(complete)} of {table.n_rows} rows have gaps, and "
            f"{type(self._estimator()).__name__} learns from complete rows only: they are left out",
            UnswayedWarning,
            stacklevel=3,
        )
        taken = (None if each is None else _safe_indexing(each, complete) for each in (y, sample_weight))
        return _safe_indexing(X, complete), *taken

    def _estimator(self) -> Any:
        return BayesNetClassifier() if self.estimator is None else self.estimator

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        mask: Bools = np.isin(feature_names(self), self.trimming_.selection.kept)
        return mask

    def _kept_rows(self, X: Any) -> Dataset:
        """The rows as states of the network, of which the kept features alone are observed."""
        table = feature_table(self, X, reset=False)
        variables = self.trimming_.classifier.network.variables
        kept = [c for c in table.columns if c.name in self.trimming_.selection.kept]
        if kept:
            return encode(make_table(kept), variables)
        return Dataset(variables, np.full((table.n_rows, len(variables)), -1, dtype=smallest_type(variables)))

    def _trimmed(self) -> Classifier:
        trimmed = self.trimming_.classifier
        assert isinstance(trimmed, Classifier)  # a table of decisions comes back only where it was asked for
        return trimmed

    def _rule(self) -> Rule:
        if len(self.classes_) == 2:
            labels = self.classes_.tolist()
            positive = labels[1] if self.positive is None else self.positive
            if positive not in labels:
                raise ModelError(f"positive must be one of the labels {listing(labels)}, not {positive!r}")
            return ThresholdRule(str(positive), 0.5 if self.threshold is None else self.threshold)
        if self.threshold is not None or self.positive is not None:
            raise ModelError(
                f"a threshold and a positive class are for two classes; y has {len(self.classes_)}, among "
                "which the most probable is decided for: leave them out"
            )
        return MostProbable()

    def _costs(self) -> dict[str, float] | None:
        """Costs by name; what `trim` finds wrong with them, it says itself."""
        names = feature_names(self)
        if self.costs is None:
            return None
        if isinstance(self.costs, Mapping):
            return {str(name): cost for name, cost in self.costs.items()}
        numbers = np.asarray(self.costs)
        if numbers.shape != (len(names),) or numbers.dtype.kind not in "fiu":
            raise ModelError(
                f"costs must be a number for each of the {len(names)} columns, or a dictionary from names "
                f"to numbers; got {self.costs!r}"
            )
        return dict(zip(names, map(float, numbers), strict=True))

    def _budget(self, costs: Mapping[str, float] | None) -> float:
        given: object = self.budget
        if isinstance(given, bool) or not isinstance(given, int | float | np.number) or not given >= 0:
            raise ModelError(f"the budget must be a number of at least 0, not {given!r}")
        if isinstance(given, int | np.integer) or given > 1:
            return float(given)
        return float(given) * math.fsum((costs or {}).get(name, 1.0) for name in feature_names(self))

    def _options(self) -> SearchOptions:
        known = [method.value for method in METHODS]
        if self.method not in known:
            raise ModelError(f"method must be one of {listing(known)}, not {self.method!r}")
        return SearchOptions(
            method=Method(self.method),
            limits=Limits(max_seconds=self.max_seconds),
            allow_estimates=self.allow_estimates,
        )


def _best_trimming(
    classifier: Classifier,
    costs: Mapping[str, float] | None,
    budget: float,
    options: SearchOptions,
    *,
    held_out: Table | None,
) -> Trimming:
    """The best trimming, with the old threshold where that agrees as often as any."""
    try:
        found = trim(classifier, budget=budget, costs=costs, held_out=held_out, **options)
    except LimitError as error:
        raise LimitError(
            f"{error}; in a pipeline, put a selector such as SelectKBest before it, or cut numbers into "
            "fewer intervals"
        ) from None
    interval, old = found.threshold_interval, classifier.rule
    if (
        not isinstance(old, ThresholdRule)
        or interval is None
        or not interval[0] < old.threshold <= interval[1]
    ):
        return found
    trimmed = found.classifier
    return replace(found, classifier=Classifier(trimmed.network, trimmed.target, trimmed.features, old))


def _unwrapped(estimator: Any) -> Any:
    return estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator


def _network_of(fitted: Any, y: Any) -> tuple[BayesianNetwork, str]:
    """The network of a fitted estimator, and the name of the class in it."""
    if isinstance(fitted, BayesNetClassifier):
        return fitted.network_, fitted.target_name_
    names = feature_names(fitted)
    target = target_name(y, names)
    return from_sklearn(fitted, names, target), target
