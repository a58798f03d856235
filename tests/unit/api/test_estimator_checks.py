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


def expected_failures(estimator: TrimmedClassifier) -> dict[str, str]:
    """What cannot hold, with the reason."""
    reason_by_check = {}
    if not isinstance(estimator.estimator, CategoricalNB):
        reason_by_check["check_sample_weight_equivalence_on_dense_data"] = (
            "30 features of three classes are beyond an exact search, which says so"
        )
    if estimator.budget in (0.5, 0.9):
        reason_by_check["check_classifiers_train"] = "one of two features does not tell three classes apart"
    if isinstance(estimator.estimator, CategoricalNB | BernoulliNB):
        reason_by_check["check_estimators_pickle"] = (
            "it learns from complete rows only, though rows to predict may have gaps, and one tag says both"
        )
    return reason_by_check


# The checks predict rows with values that the training rows did not have, and features that say nothing.
@pytest.mark.filterwarnings("ignore::unswayed.core.errors.UnswayedWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
