"""Which reader takes a model: by the library that it is from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unswayed.learning.predictors.fitted import Fitted, UnreadableError


def read_model(model: Any, words: Sequence[tuple[str, ...]]) -> Fitted:
    """The model as terms or trees over columns with these categories; `UnreadableError` without a reader.

    >>> from sklearn.linear_model import LogisticRegression
    >>> fitted = LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])
    >>> read_model(fitted, [()]).classes
    ('no', 'yes')
    """
    library = type(model).__module__.partition(".")[0]
    if library == "sklearn":
        from unswayed.learning.predictors.sklearn_models import read_sklearn

        return read_sklearn(model, words)
    if library == "xgboost":
        from unswayed.learning.predictors.xgboost import read_xgboost

        return read_xgboost(model, words)
    if library == "lightgbm":
        from unswayed.learning.predictors.lightgbm import read_lightgbm

        return read_lightgbm(model, words)
    raise UnreadableError(f"a model of type {type(model).__name__}")
