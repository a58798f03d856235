"""Naive Bayes classifiers of scikit-learn as networks, to ask and to trim the one you have.

`CategoricalNB` and `BernoulliNB` are naive Bayes networks already: a table for the class and one for each
feature given the class. Only names are missing. Categories are called by their codes (`0`, `1`, ...), the
two states of a feature that `BernoulliNB` cuts at `binarize` by their intervals (`<=0`, `>0`), so that rows
in the units they were measured in find their states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import ModelError
from unswayed.model.cpt import Cpt
from unswayed.model.data.intervals import interval_states
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

_ADVICE_BY_NAME = {
    "GaussianNB": "its features are continuous; cut them into intervals and learn again, with "
    "BayesNetClassifier(), or with KBinsDiscretizer(encode='ordinal') before CategoricalNB()",
    "MultinomialNB": "its features are counts without an end; learn again from whether a word occurs at all, "
    "with BernoulliNB()",
    "ComplementNB": "its weights are no probabilities of features given the class; learn again from whether "
    "a word occurs at all, with BernoulliNB()",
    "Pipeline": "pass its last step, pipeline[-1]; the rows to ask about are then those that reach this step",
}


def from_sklearn(
    estimator: Any, feature_names: Sequence[str] | None = None, class_name: str = "class"
) -> BayesianNetwork:
    """The network of a fitted `CategoricalNB` or `BernoulliNB`: the class first, then the features.

    `feature_names` are those of the dataframe it was fitted on, else `x0`, `x1`, ..., unless given. The
    states of the class are `str(label)`. Posteriors are those of the estimator's `predict_proba`.

    Raises `ModelError` for other estimators, with what to do instead, and for one that is not fitted.

    >>> from sklearn.naive_bayes import BernoulliNB
    >>> fitted = BernoulliNB().fit([[0, 1], [1, 1], [1, 0]], ["ham", "spam", "spam"])
    >>> network = from_sklearn(fitted, ["offer", "hello"], "mail")
    >>> network.names, network.variable("offer").states
    (('mail', 'offer', 'hello'), ('<=0', '>0'))
    >>> network.cpts[1].table.round(3).tolist()
    [[0.667, 0.333], [0.25, 0.75]]
    """
    from sklearn.naive_bayes import BernoulliNB, CategoricalNB

    if not isinstance(estimator, BernoulliNB | CategoricalNB):
        raise ModelError(_refusal(estimator))
    if not hasattr(estimator, "feature_log_prob_"):
        raise ModelError(f"this {type(estimator).__name__} is not fitted yet; call its fit first")
    names = _names(estimator, feature_names, class_name)
    target = Variable(class_name, map(str, estimator.classes_.tolist()))
    tables = _categories(estimator) if isinstance(estimator, CategoricalNB) else _truths(estimator)
    cpts = [Cpt(target, [], np.exp(estimator.class_log_prior_), normalize=True)]
    for name, (states, rows) in zip(names, tables, strict=True):
        cpts.append(Cpt(Variable(name, states), [target], rows, normalize=True))
    return BayesianNetwork(cpts)


def _categories(estimator: Any) -> Iterator[tuple[tuple[str, ...], Floats]]:
    """States and Pr(state | class) of each feature of a `CategoricalNB`."""
    for logs in estimator.feature_log_prob_:  # (classes, categories)
        yield tuple(map(str, range(logs.shape[1]))), np.exp(logs)


def _truths(estimator: Any) -> Iterator[tuple[tuple[str, ...], Floats]]:
    """States and Pr(state | class) of each feature of a `BernoulliNB`."""
    cut = estimator.binarize
    states = ("0", "1") if cut is None else interval_states([float(cut)])
    for logs in estimator.feature_log_prob_.T:  # (classes,)
        # 1 - exp(x) without the loss of digits where exp(x) is close to 1.
        yield states, np.stack([-np.expm1(logs), np.exp(logs)], axis=1)


def _names(estimator: Any, given: Sequence[str] | None, class_name: str) -> list[str]:
    count = int(estimator.n_features_in_)
    known = getattr(estimator, "feature_names_in_", None)
    if given is None:
        given = [f"x{j}" for j in range(count)] if known is None else known.tolist()
    names = [str(name) for name in given]
    if len(names) != count:
        raise ModelError(f"{len(names)} feature names are given for {count} features; give one for each")
    if class_name in names:
        raise ModelError(f"a feature is called {class_name!r} as the class is; give another class_name")
    return names


def _refusal(estimator: Any) -> str:
    kind = type(estimator).__name__
    if hasattr(estimator, "network_"):
        return f"a {kind} holds its network already: take its network_"
    if hasattr(estimator, "best_estimator_"):
        return f"a {kind} is no classifier of its own; pass its best_estimator_"
    advice = _ADVICE_BY_NAME.get(kind, "CategoricalNB and BernoulliNB can be taken over")
    return f"a {kind} cannot be written as a network of discrete features: {advice}"
