"""scikit-learn's own checks of what an estimator must do, all of them."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from unswayed.spaces.classifier.estimator import StructuredNaiveBayes

ESTIMATORS = [StructuredNaiveBayes(), StructuredNaiveBayes(max_categories=0, class_smoothing=1.0)]


# The checks predict rows with values that the training rows did not have.
@pytest.mark.filterwarnings("ignore::unswayed.core.errors.UnswayedWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
