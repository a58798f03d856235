"""Anomalies among structured objects: what the normal ones explain worse than chance does.

Two classes, of which one is learned [choi2016, Case Study: Detecting Anomalous Paths]: "normal" is a PSDD
learned from examples, "anomalous" is the uniform distribution over the whole space, whose log-density is
minus the logarithm of the number of objects. The score of an object is the logarithm of the ratio of the
two; an object is normal when its score reaches the logarithm of the prior odds of an anomaly.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from unswayed.circuits.psdd.psdd import Psdd
from unswayed.circuits.psdd.query import log_likelihoods
from unswayed.circuits.psdd.structure import uniform_psdd
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError, QueryError
from unswayed.spaces.classifier.attributes import checked_smoothing, choose_prior
from unswayed.spaces.classifier.columns import objects_of, structured_attribute
from unswayed.spaces.classifier.objects import Objects, Structured
from unswayed.spaces.space import Space


def anomaly_scores(psdd: Psdd, rows: Any) -> Floats:  # (rows,)
    """How much better a distribution explains encoded objects, whole or partial, than chance does, in nats.

    log(Pr(row) / U(row)), U the uniform distribution over the space.
    """
    both = log_likelihoods([psdd, uniform_psdd(psdd.structure)], rows)
    scores: Floats = both[:, 0] - both[:, 1]
    return scores


class StructuredAnomalyDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """A detector of unusual objects of a space, learned from usual ones [choi2016].

    Objects may be seen in part (`Partial`), in learning as in scoring.

    Parameters
    ----------
    space : Space
        All objects there can be.
    smoothing : float, Laplace, UniformExamples or "held-out"
        Added to every count; 1 is Laplace's. Or a prior, or "held-out": the prior that explains examples
        held out best.
    prior : float
        Probability that an object is anomalous, before it is seen; between 0 and 1.
    contamination : float or None
        Instead of the prior: the share of the examples learned from that is to be called anomalous.

    Attributes
    ----------
    psdd_ : Psdd
        The distribution of normal objects.
    offset_ : float
        The score from which on an object is normal.

    >>> from unswayed.spaces.rankings import ranking_space
    >>> space = ranking_space(4)
    >>> detector = StructuredAnomalyDetector(space).fit([(1, 2, 3, 4)] * 20 + [(2, 1, 3, 4)] * 5)
    >>> detector.predict([(1, 2, 3, 4), (4, 3, 2, 1)]).tolist()
    [1, -1]
    """

    def __init__(
        self,
        space: Space[Any],
        *,
        smoothing: Any = 1.0,
        prior: float = 0.5,
        contamination: float | None = None,
    ) -> None:
        self.space = space
        self.smoothing = smoothing
        self.prior = prior
        self.contamination = contamination

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn what is normal from objects; `y` is ignored."""
        prior = checked_smoothing(self.smoothing)
        _check_share("prior", self.prior)
        attribute: Structured = structured_attribute(self.space)
        objects = objects_of(self.space, X)
        weights = _check_sample_weight(sample_weight, objects.is_observed, dtype=np.float64)
        labels: Ints = np.zeros(len(weights), dtype=np.int64)
        counts = attribute.count(objects, labels, weights, 1)
        if isinstance(prior, str):
            prior = choose_prior(attribute, objects, labels, weights=weights, n_classes=1)
        self.psdd_ = attribute.fitted(counts, prior).psdds[0]
        self.offset_ = math.log(self.prior / (1.0 - self.prior))
        if self.contamination is not None:
            _check_share("contamination", self.contamination)
            self.offset_ = float(np.quantile(self._scores(objects), self.contamination))
        return self

    def score_samples(self, X: Any) -> Floats:
        """How much better each object fits the normal ones than chance, in nats; negative for odd ones."""
        check_is_fitted(self)
        objects = objects_of(self.space, X)
        if not objects.is_observed.all():
            raise QueryError(f"object {int(np.argmin(objects.is_observed))} is missing; leave such rows out")
        return self._scores(objects)

    def decision_function(self, X: Any) -> Floats:
        """The score minus the least a normal object has: below 0 for anomalies."""
        margins: Floats = self.score_samples(X) - self.offset_
        return margins

    def predict(self, X: Any) -> Ints:
        """1 for normal objects, -1 for anomalies."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _scores(self, objects: Objects) -> Floats:
        return anomaly_scores(self.psdd_, objects.rows)


def _check_share(name: str, value: Any) -> None:
    if not isinstance(value, int | float | np.number) or not 0 < value < 1:
        raise ModelError(f"{name} must be between 0 and 1, not {value!r}")
