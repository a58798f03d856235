"""scikit-learn's own checks of the trimmed classifier, in several forms."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.naive_bayes import BernoulliNB, CategoricalNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from unswayed.api.estimators import TrimmedClassifier
from unswayed.learning.estimator import BayesNetClassifier

ESTIMATORS = [
    TrimmedClassifier(budget=5),
    TrimmedClassifier(),
    TrimmedClassifier(BayesNetClassifier("tan"), budget=5),
    TrimmedClassifier(budget=5, method="greedy"),
    TrimmedClassifier(CategoricalNB(), budget=0.9),
    TrimmedClassifier(BernoulliNB(), budget=5),
]


# The checks predict rows with values that the training rows did not have, and features that say nothing.
@pytest.mark.filterwarnings("ignore::unswayed.core.errors.UnswayedWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
