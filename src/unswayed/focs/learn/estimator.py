"""FoCS CPTs as a scikit-learn classifier: a scorer, thresholds on its scores, a column for each context."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from unswayed.core.arrays import Floats
from unswayed.core.errors import ModelError, UnswayedWarning, expect_number
from unswayed.core.names import listing
from unswayed.core.numerics import is_whole
from unswayed.focs.learn.contexts import (
    MOST_FITTED,
    are_bits,
    find_step_contexts,
    learn_scores,
    learn_scores_of_many,
    score_contexts,
)
from unswayed.focs.learn.rows import WeightedRows, join_equal
from unswayed.focs.learn.scorers import Fit, Training, fit_by_training, fit_estimator, fit_line
from unswayed.focs.learn.thresholds import grow, learn_best_partition
from unswayed.model.data.estimator_rows import PosteriorClassifier
from unswayed.model.nodes.contexts import Contexts, LookupContexts
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.perceptron import Activation
from unswayed.model.states import find_state
from unswayed.model.variable import Variable

ALPHAS = (3.0, 0.3)
"""Penalties that are tried: a heavy one for few rows, a light one for functions with sharp edges."""
RECTIFIED = ("relu", 1.0)
"""Tried beside them: rectifiers follow conjunctions, such as three in a row, better than sigmoids do."""
MOST_CONTEXTS = 16
"""Where nothing else is asked for; 8 lose .01 nats a row on graded scores, and 32 gain nothing more."""
LEAST_ROWS = 100
"""Distinct rows from which step networks are tried."""
ACTIVATIONS = tuple(activation.value for activation in Activation)


class FocsClassifier(PosteriorClassifier):
    """Contexts by thresholds on learned scores, each with its own class probabilities [shen2020, section 4].

    Parameters
    ----------
    scorer : classifier or None
        Whose scores are cut: anything with `decision_function` or `predict_proba`, cloned and fitted (wrap a
        fitted one in scikit-learn's `FrozenEstimator`). None tries perceptrons of one hidden layer and, for
        two classes, a line and, where all features are bits, step networks of few of them; rows held out
        decide.
    max_contexts : int or None
        At most so many contexts, with None 16 or twice as many as classes; how many are kept is decided on
        rows that were held out.
    choose_contexts : bool
        False keeps as many contexts as `max_contexts` allows and raise the likelihood.
    smoothing : float
        Added to every count of a column; 1 is Laplace's. Columns that lean on the scorer's probabilities
        need none.
    cross_fit : int
        Folds for scores of rows by scorers that have not seen them; 0 uses the scorer's own training scores.
    ordinal : bool
        With more than two classes: cut one score, the expected position of the class, instead of one each.
    hidden_units, activation, alpha, max_iterations, n_restarts
        Of the perceptron: size, {"logistic", "tanh", "relu"}, penalty on weights, steps, random starts. With
        None rows held out choose; an activation or a penalty that is given is the only one that is tried.
    random_state : int, RandomState or None
        For folds and starts.

    Attributes
    ----------
    classes_ : array
        The labels, ascending.
    contexts_ : ScoreContexts, StepContexts or LookupContexts
        Which context each row belongs to (`contexts_.index(rows)`); those of lines over whole numbers and of
        step networks can be compiled.
    columns_ : array of shape (contexts, classes)
        Pr(class | context).
    fill_ : array of shape (features,)
        Mean of each column, which stands for missing values.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    >>> rows = np.random.default_rng(0).integers(0, 2, (400, 6))
    >>> classifier = FocsClassifier(random_state=0).fit(rows, rows.sum(axis=1) > 3)
    >>> classifier.columns_.shape
    (2, 2)
    """

    def __init__(
        self,
        scorer: Any = None,
        *,
        max_contexts: int | None = None,
        choose_contexts: bool = True,
        smoothing: float = 1.0,
        cross_fit: int = 5,
        ordinal: bool = False,
        hidden_units: int = 16,
        activation: str | None = None,
        alpha: float | None = None,
        max_iterations: int = 200,
        n_restarts: int = 1,
        random_state: Any = None,
    ) -> None:
        self.scorer = scorer
        self.max_contexts = max_contexts
        self.choose_contexts = choose_contexts
        self.smoothing = smoothing
        self.cross_fit = cross_fit
        self.ordinal = ordinal
        self.hidden_units = hidden_units
        self.activation = activation
        self.alpha = alpha
        self.max_iterations = max_iterations
        self.n_restarts = n_restarts
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn scorer, contexts and columns from rows `X`, sparse or dense, and their labels `y`.

        A missing value (NaN) counts as the mean of its column, unless the scorer knows what to do with it.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse="csr", ensure_all_finite="allow-nan")
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            only = listing(self.classes_.tolist())
            raise ModelError(f"FocsClassifier can't train when only one class is present: {only}")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        if 1 < self._most_contexts() < len(self.classes_):
            warnings.warn(
                f"{len(self.classes_)} classes, but max_contexts={self.max_contexts}: some can never be told "
                "apart; raise max_contexts",
                UnswayedWarning,
                stacklevel=2,
            )
        counted = weights > 0
        rows = _dense(X)[counted]
        self.fill_ = _column_means(rows, weights[counted])
        self._learn(WeightedRows(self._filled(rows), labels.reshape(-1)[counted], weights[counted]), rng)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Pr(label | context of the row), (rows, classes)."""
        check_is_fitted(self)
        rows = validate_data(
            self, X, dtype=np.float64, reset=False, accept_sparse="csr", ensure_all_finite="allow-nan"
        )
        filled = self._filled(_dense(rows))
        if isinstance(self.contexts_, LookupContexts):
            filled = np.clip(np.rint(filled), 0, 1)  # a table has no place between bits, nor beyond
        found: Floats = self.columns_[self.contexts_.index(filled)]
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _filled(self, rows: Floats) -> Floats:
        """The rows with missing values filled in, unless the scorer takes them."""
        missing = np.isnan(rows)
        if not missing.any() or (self.scorer is not None and get_tags(self.scorer).input_tags.allow_nan):
            return rows
        return np.where(missing, self.fill_, rows)

    def as_cpt(self, child: Variable, parents: Sequence[Variable]) -> FocsCpt:
        """The FoCS CPT that was learned, for a network: features are parents, in order.

        Classes find their states by name, number or truth value, wherever they stand among the child's.
        """
        check_is_fitted(self)
        found = [find_state(child, label) for label in self.classes_.tolist()]
        places = [place for place in found if place is not None]
        if len(set(places)) < len(found) or len(found) != len(child):
            raise ModelError(
                f"the classes {listing(self.classes_.tolist())} are not the states of {child.name!r}, "
                f"{listing(child.states)}; name its states after the classes"
            )
        columns = np.empty_like(self.columns_)
        columns[:, places] = self.columns_
        return FocsCpt(child, parents, self.contexts_, columns)

    def _learn(self, given: WeightedRows, rng: np.random.Generator) -> None:
        # A scorer that takes no weights needs every row as it came.
        is_joined = self.scorer is None or has_fit_parameter(self.scorer, "sample_weight")
        rows, n_states = join_equal(given) if is_joined else given, len(self.classes_)
        fits = self._fits(n_states)
        if self.scorer is None and self.cross_fit and len(rows.labels) > MOST_FITTED:
            learned = learn_scores_of_many(fits, rows, n_states, rng)
        else:
            learned = learn_scores(fits, rows, n_states, self.cross_fit, rng)
        if not self.choose_contexts:
            partition = grow(learned.rows, max_contexts=self._most_contexts(), smoothing=self.smoothing)[-1]
            self.contexts_: Contexts = score_contexts(learned, partition)
            self.columns_ = partition.columns
            return
        options: Any = {"smoothing": self.smoothing, "rng": rng}
        partition = learn_best_partition(learned.rows, max_contexts=self._most_contexts(), **options)
        found = score_contexts(learned, partition), partition.columns
        if len(fits) > 1 and self._may_be_steps(rows):
            found = find_step_contexts(learned, partition, **options) or found
        self.contexts_, self.columns_ = found

    def _most_contexts(self) -> int:
        return max(MOST_CONTEXTS, 2 * len(self.classes_)) if self.max_contexts is None else self.max_contexts

    def _fits(self, n_states: int) -> list[Fit]:
        """The ways to learn a scorer among which held-out rows choose, the simplest first."""
        if self.scorer is not None:
            return [fit_estimator(self.scorer, is_ordinal=self.ordinal)]
        alphas = ALPHAS if self.alpha is None else (self.alpha,)
        tried = [(self.activation or "logistic", alpha) for alpha in alphas]
        if self.alpha is None and self.activation is None and self.cross_fit > 0:
            tried.append(RECTIFIED)
        fits = [fit_by_training(self._training(*each), n_states, is_ordinal=self.ordinal) for each in tried]
        has_line = self.alpha is None and n_states == 2 and self.cross_fit > 0
        return [fit_line, *fits] if has_line else fits

    def _may_be_steps(self, rows: WeightedRows) -> bool:
        """Whether rows of bits, counted whole, tell two classes apart."""
        are_counts = (rows.weights == np.rint(rows.weights)).all()
        two = len(self.classes_) == 2 and self._most_contexts() > 1 and self.smoothing > 0
        return bool(two and are_counts and are_bits(rows.inputs) and len(rows.labels) >= LEAST_ROWS)

    def _training(self, activation: str, alpha: float) -> Training:
        return Training(
            n_hidden=self.hidden_units,
            activation=Activation(activation),
            alpha=alpha,
            max_iterations=self.max_iterations,
            n_starts=self.n_restarts,
        )

    def _check_parameters(self) -> None:
        if self.activation is not None and self.activation not in ACTIVATIONS:
            raise ModelError(f"activation must be one of {listing(ACTIVATIONS)}, not {self.activation!r}")
        least = {"max_contexts": 1, "hidden_units": 1, "max_iterations": 1, "n_restarts": 1, "cross_fit": 0}
        for name, low in least.items():
            value = getattr(self, name)
            if name == "max_contexts" and value is None:
                continue
            if not is_whole(value) or value < low:
                raise ModelError(f"{name} must be a whole number from {low} on, not {value!r}")
        for name in ("smoothing", "alpha"):
            if name == "alpha" and self.alpha is None:
                continue
            expect_number(getattr(self, name), name)
            if not 0 <= getattr(self, name) < np.inf:
                raise ModelError(f"{name} must be a number from 0 on, not {getattr(self, name)!r}")


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


def _column_means(rows: Floats, weights: Floats) -> Floats:
    """Weighted mean of what each column shows; 0 for a column that shows nothing."""
    seen = ~np.isnan(rows)
    total = weights @ seen
    means: Floats = (weights @ np.where(seen, rows, 0.0)) / np.where(total > 0, total, 1.0)
    return means
