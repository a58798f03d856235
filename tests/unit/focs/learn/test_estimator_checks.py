"""scikit-learn's own checks of what an estimator must do, all of them."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from unswayed.focs.learn.estimator import FocsClassifier

ESTIMATORS = [
    FocsClassifier(hidden_units=4, max_iterations=30, cross_fit=3),
    FocsClassifier(LogisticRegression(), max_contexts=4, cross_fit=2),
    FocsClassifier(GaussianNB(), ordinal=True, cross_fit=0, choose_contexts=False),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
