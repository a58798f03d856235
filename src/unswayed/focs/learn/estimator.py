"""FoCS CPTs as a scikit-learn classifier: a scorer, thresholds on its scores, a column for each context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.core.names import listing
from unswayed.focs.learn.perceptrons import Training
from unswayed.focs.learn.scorers import ScorerSource
from unswayed.focs.learn.thresholds import grow, learn_partition, make_rows
from unswayed.model.nodes.contexts import ScoreContexts
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.perceptron import Activation
from unswayed.model.states import find_state
from unswayed.model.variable import Variable

ACTIVATIONS = tuple(activation.value for activation in Activation)


class FocsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Contexts by thresholds on learned scores, each with its own class probabilities [shen2020, section 4].

    Parameters
    ----------
    scorer : classifier or None
        Whose scores are cut: anything with `decision_function` or `predict_proba`, cloned and fitted (wrap a
        fitted one in scikit-learn's `FrozenEstimator`). None trains a perceptron of one hidden layer by
        L-BFGS.
    max_contexts : int
        At most so many contexts; how many are kept is decided on rows that were held out.
    choose_contexts : bool
        False keeps as many contexts as `max_contexts` allows and raise the likelihood.
    smoothing : float
        Added to every count of a column; 1 is Laplace's.
    cross_fit : int
        Folds for scores of rows by scorers that have not seen them; 0 uses the scorer's own training scores.
    ordinal : bool
        With more than two classes: cut one score, the expected position of the class, instead of one each.
    hidden_units, activation, alpha, max_iterations, n_restarts
        Of the perceptron: size, {"logistic", "tanh", "relu"}, penalty on weights, steps, random starts.
    random_state : int, RandomState or None
        For folds and starts.

    Attributes
    ----------
    classes_ : array
        The labels, ascending.
    contexts_ : ScoreContexts
        Which context each row belongs to (`contexts_.index(rows)`).
    columns_ : array of shape (contexts, classes)
        Pr(class | context).
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
        max_contexts: int = 8,
        choose_contexts: bool = True,
        smoothing: float = 1.0,
        cross_fit: int = 5,
        ordinal: bool = False,
        hidden_units: int = 16,
        activation: str = "logistic",
        alpha: float = 3.0,
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

    def fit(self, X: Any, y: Any) -> Self:
        """Learn scorer, contexts and columns from rows `X` and their labels `y`."""
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            only = listing(self.classes_.tolist())
            raise ModelError(f"FocsClassifier can't train when only one class is present: {only}")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        self._learn(X, labels.reshape(-1), rng)
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The most probable label of each row's context; of equally probable ones the first."""
        shares = self.predict_proba(X)
        labels: np.ndarray[Any, Any] = self.classes_[np.argmax(shares, axis=1)]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Pr(label | context of the row), (rows, classes)."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        found: Floats = self.columns_[self.contexts_.index(rows)]
        return found

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

    def _learn(self, rows: Floats, labels: Ints, rng: np.random.Generator) -> None:
        n_states = len(self.classes_)
        source = ScorerSource(self.scorer, self._training(), self.ordinal, n_states)
        scorer = source.fitted(rows, labels, rng)
        scores = source.cross_fitted(rows, labels, self.cross_fit, rng) if self.cross_fit else None
        scored = make_rows(scorer.scores(rows) if scores is None else scores, labels, n_states)
        options = {"max_contexts": self.max_contexts, "smoothing": self.smoothing}
        if self.choose_contexts:
            partition = learn_partition(scored, **options, rng=rng)  # type: ignore[arg-type]
        else:
            partition = grow(scored, **options)[-1]  # type: ignore[arg-type]
        self.contexts_ = ScoreContexts(rows.shape[1], scorer, partition.contexts)
        self.columns_ = partition.columns

    def _training(self) -> Training:
        return Training(
            n_hidden=self.hidden_units,
            activation=Activation(self.activation),
            alpha=self.alpha,
            max_iterations=self.max_iterations,
            n_starts=self.n_restarts,
        )

    def _check_parameters(self) -> None:
        if self.activation not in ACTIVATIONS:
            raise ModelError(f"activation must be one of {listing(ACTIVATIONS)}, not {self.activation!r}")
        least = {"max_contexts": 1, "hidden_units": 1, "max_iterations": 1, "n_restarts": 1, "cross_fit": 0}
        for name, low in least.items():
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < low:
                raise ModelError(f"{name} must be a whole number from {low} on, not {value!r}")
        for name in ("smoothing", "alpha"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ModelError(f"{name} must be a number from 0 on, not {getattr(self, name)!r}")
