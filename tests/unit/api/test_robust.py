"""RobustClassifier: scikit-learn's own checks, gaps in rows, and what it says of them."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from tolerances import EXACT
from unswayed.api.decisions import sdp
from unswayed.api.robust import RobustClassifier

ESTIMATORS = [
    RobustClassifier(bins=3),
    RobustClassifier(DecisionTreeClassifier(max_depth=3, random_state=0), bins=3),
]


@pytest.mark.filterwarnings("ignore::unswayed.core.errors.UnswayedWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def rows_of():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    X[:, 1] += X[:, 0]
    return X, np.where(X[:, 0] + X[:, 2] > 0, "ill", "well")


def test_full_rows_are_the_estimator_s_own():
    X, y = rows_of()
    robust = RobustClassifier(bins=3).fit(X, y)
    np.testing.assert_allclose(robust.predict_proba(X), robust.estimator_.predict_proba(X), atol=EXACT)
    assert robust.predict(X).tolist() == robust.estimator_.predict(X).tolist()


def test_a_row_with_gaps_is_the_expected_prediction():
    X, y = rows_of()
    robust = RobustClassifier(threshold=0.3, positive="ill", bins=3).fit(X, y)
    X[:5, 1:3] = np.nan
    asked = [{"x0": row[0], "x3": row[3]} for row in X[:5]]
    wanted = [sdp(robust.classifier_, row).value for row in asked]
    np.testing.assert_allclose(robust.sdp(X[:5]), wanted, atol=EXACT)
    shares = robust.predict_proba(X[:5])
    assert robust.predict(X[:5]).tolist() == ["ill" if p >= 0.3 else "well" for p in shares[:, 0]]
    assert set(robust.voi(X[:5])) <= {"x1", "x2", None}
    assert robust.voi(X[6:7]) == [None]


def test_gaps_in_training_and_a_grid_search():
    X, y = rows_of()
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = GridSearchCV(RobustClassifier(), {"bins": [2, 3]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.7
