"""scikit-learn's models: linear ones and naive Bayes as sums of terms, trees and their ensembles as trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from unswayed.core.arrays import Bools, Floats
from unswayed.learning.predictors.fitted import Fitted, UnreadableError, join_trees, last_left, tree_part
from unswayed.learning.predictors.sklearn_steps import Derived, raw_columns, through
from unswayed.model.nodes.additive import Term, stepped_term
from unswayed.model.nodes.predictor import Link
from unswayed.model.nodes.trees import LEAF, Trees

Words = Sequence[tuple[str, ...]]
Body = tuple[Link, Floats, "tuple[Term | None, ...] | Trees"]
"""Link, bias, and the terms of all columns before the model, or the trees over them."""


def read_sklearn(model: Any, words: Words) -> Fitted:
    """A fitted classifier or pipeline over columns with these words; `UnreadableError` for other kinds."""
    columns = raw_columns(words)
    while type(model).__name__ == "Pipeline":
        for _, step in model.steps[:-1]:
            columns = through(step, columns)
        model = model.steps[-1][1]
    kind = type(model).__name__
    if kind not in _MODELS or not hasattr(model, "classes_"):
        raise UnreadableError(f"a model of type {kind}")
    link, bias, body = _MODELS[kind](model, columns)
    known = tuple(_known_words(source, own, columns) for source, own in enumerate(words))
    classes, gaps = tuple(model.classes_.tolist()), _takes_gaps(model, columns)
    if isinstance(body, Trees):
        return Fitted(classes, known, link, bias, trees=body, takes_gaps=gaps)
    terms = _by_source(body, columns, len(words))
    return Fitted(classes, known, link, bias, terms=terms, takes_gaps=gaps)


def _takes_gaps(model: Any, columns: list[Derived]) -> bool:
    """Whether gaps are filled before the model, or it has a path for them."""
    is_filled = all(not (isinstance(c.missing, float) and math.isnan(c.missing)) for c in columns)
    return is_filled or bool(get_tags(model).input_tags.allow_nan)


def _known_words(source: int, own: tuple[str, ...], columns: list[Derived]) -> tuple[str, ...]:
    """The words of a column: those of the table, or those that an encoder made of numbers."""
    return next((column.words for column in columns if column.source == source), own)


def _by_source(
    terms: Sequence[Term | None], columns: list[Derived], n_columns: int
) -> tuple[Term | None, ...]:
    """The terms of derived columns added up by the column that they are made of."""
    found: list[Term | None] = [None] * n_columns
    for column, term in zip(columns, terms, strict=True):
        before = found[column.source]
        if term is None or before is None:
            found[column.source] = term if before is None else before
        elif np.array_equal(before.cuts, term.cuts):
            degree = max(before.coefficients.shape[1], term.coefficients.shape[1])
            both = sum(_padded(each.coefficients, degree) for each in (before, term))
            found[column.source] = Term(both, before.missing + term.missing, term.cuts)
        else:
            raise UnreadableError("a column is used in two ways")
    return tuple(found)


def _padded(coefficients: Floats, degree: int) -> Floats:
    return np.pad(coefficients, ((0, 0), (0, degree - coefficients.shape[1]), (0, 0)))


def _linear(model: Any, columns: list[Derived]) -> Body:
    weights = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64)).T  # (columns, scores)
    bias = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    bias = np.broadcast_to(bias, (weights.shape[1],)).copy()
    terms = tuple(column.term(rise) for column, rise in zip(columns, weights, strict=True))
    return _linear_link(model, weights.shape[1]), bias, terms


def _linear_link(model: Any, n_scores: int) -> Link:
    kind = type(model).__name__
    if kind == "LogisticRegression" or (
        kind == "SGDClassifier" and model.loss == "log_loss" and n_scores == 1
    ):
        return Link.LOGIT if n_scores == 1 else Link.SOFTMAX
    if hasattr(model, "predict_proba") and kind != "SGDClassifier":
        raise UnreadableError("probabilities that are no softmax of the scores")
    return Link.STEP


def _gaussian(model: Any, columns: list[Derived]) -> Body:
    _only_numbers(columns)
    mean, variance = model.theta_, model.var_  # (classes, columns)
    prior = np.log(model.class_prior_) - 0.5 * np.log(2 * np.pi * variance).sum(axis=1)
    pieces = np.stack(
        [-(mean**2) / (2 * variance), mean / variance, -1 / (2 * variance)]
    )  # (3, classes, columns)
    terms = [_moved(pieces[:, :, j].reshape(1, 3, -1), column) for j, column in enumerate(columns)]
    return _of_log_joint(prior, terms)


def _moved(pieces: Floats, column: Derived) -> Term:
    if (column.shift, column.scale) != (0.0, 1.0):
        raise UnreadableError("a Gaussian of a scaled column")
    filled = 0.0 if np.isnan(float(column.missing)) else float(column.missing)
    return Term(pieces, pieces[0, 0] + filled * pieces[0, 1] + filled**2 * pieces[0, 2])


def _categorical(model: Any, columns: list[Derived]) -> Body:
    _only_numbers(columns)
    terms = [stepped_term(logs.T) for logs in model.feature_log_prob_]
    return _of_log_joint(np.asarray(model.class_log_prior_), terms)


def _bernoulli(model: Any, columns: list[Derived]) -> Body:
    _only_numbers(columns)
    cut = [0.5 if model.binarize is None else float(model.binarize)]
    off = np.log(-np.expm1(model.feature_log_prob_))
    tables = np.stack([off, model.feature_log_prob_])  # (2, classes, columns)
    terms = [stepped_term(tables[:, :, j], cut) for j in range(tables.shape[2])]
    return _of_log_joint(np.asarray(model.class_log_prior_), terms)


def _of_log_joint(prior: Floats, terms: list[Term]) -> Body:
    """Log joint probabilities by class; for two classes their difference."""
    if len(prior) > 2:
        return Link.SOFTMAX, prior, tuple(terms)
    apart = [
        Term(t.coefficients[:, :, 1:] - t.coefficients[:, :, :1], t.missing[1:] - t.missing[:1], t.cuts)
        for t in terms
    ]
    return Link.LOGIT, prior[1:] - prior[:1], tuple(apart)


def _only_numbers(columns: list[Derived]) -> None:
    if any(column.words for column in columns):
        raise UnreadableError("words reach the model as they are")


def _one_tree(model: Any, columns: list[Derived]) -> Body:
    return _average([model], columns)


def _forest(model: Any, columns: list[Derived]) -> Body:
    return _average(model.estimators_, columns)


def _average(models: Sequence[Any], columns: list[Derived]) -> Body:
    """The mean of the shares of classes in the leaves."""
    if models[0].n_outputs_ != 1:
        raise UnreadableError("a tree of several outputs")
    n_classes = int(models[0].n_classes_)
    parts = []
    for model in models:
        shares = model.tree_.value[:, 0] / model.tree_.value[:, 0].sum(axis=1, keepdims=True) / len(models)
        parts.append(_part(model.tree_, shares[:, 1:] if n_classes == 2 else shares, columns))
    n_scores = 1 if n_classes == 2 else n_classes
    return Link.IDENTITY, np.zeros(n_scores), join_trees(parts, n_scores)


def _part(tree: Any, value: Floats, columns: list[Derived]) -> dict[str, Any]:
    """A tree of scikit-learn, which compares a single-precision number with a double."""
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
    return split_part(
        columns,
        tree.feature,
        tree.threshold,
        (tree.children_left, tree.children_right),
        value,
        missing,
        np.float32,
    )


def split_part(
    columns: list[Derived],
    feature: Any,
    threshold: Any,
    children: tuple[Any, Any],
    value: Floats,
    missing_left: Any,
    precision: Any,
) -> dict[str, Any]:
    """A tree over derived columns, `<=` in some precision, as one over the columns of the table."""
    left, right = (np.asarray(each, dtype=np.int64) for each in children)
    feature = np.asarray(feature, dtype=np.int64)
    sends = np.asarray(missing_left, dtype=bool).copy()
    source, cut = np.full(len(left), LEAF), np.full(len(left), np.nan)
    n_codes = max((len(column.words) + 1 for column in columns if column.words), default=0)
    codes: Bools = np.zeros((len(left), n_codes), dtype=bool)
    for place in np.unique(feature[left >= 0]).tolist():
        column, nodes = columns[place], np.flatnonzero((feature == place) & (left >= 0))
        at = threshold[nodes]
        source[nodes] = column.source
        if not np.isnan(float(column.missing)):
            sends[nodes] = precision(float(column.missing)) <= at
        if column.table is not None:
            goes = column.table.astype(precision)[np.newaxis] <= at[:, np.newaxis]
            codes[nodes, : goes.shape[1]] = np.where(np.isnan(column.table), sends[nodes, np.newaxis], goes)
        elif column.words:
            raise UnreadableError("words reach the model as they are")
        else:
            with np.errstate(over="ignore"):
                cut[nodes] = last_left(lambda x, c=column, t=at: c.at(x).astype(precision) <= t, len(nodes))  # type: ignore[misc]
    return tree_part(source, cut, sends, left, right, value, codes)


def _boosting(model: Any, columns: list[Derived]) -> Body:
    if model.loss != "log_loss" or type(model.init_).__name__ != "DummyClassifier":
        raise UnreadableError("boosting with another loss or start")
    start = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))[0]
    parts = []
    for stage in model.estimators_:
        for score, each in enumerate(stage):
            value = np.zeros((each.tree_.node_count, len(start)))
            value[:, score] = model.learning_rate * each.tree_.value[:, 0, 0]
            parts.append(_part(each.tree_, value, columns))
    return _boosted_link(len(start)), start.astype(np.float64), join_trees(parts, len(start))


def _boosted_link(n_scores: int) -> Link:
    return Link.LOGIT if n_scores == 1 else Link.SOFTMAX


def _histogram(model: Any, columns: list[Derived]) -> Body:
    if model.is_categorical_ is not None:
        raise UnreadableError("histogram boosting with categories")
    start = np.asarray(model._baseline_prediction, dtype=np.float64).reshape(-1)
    parts = []
    for stage in model._predictors:
        for score, each in enumerate(stage):
            nodes = each.nodes
            value = np.zeros((len(nodes), len(start)))
            value[:, score] = nodes["value"]
            below = [
                np.where(nodes["is_leaf"], LEAF, nodes[side].astype(np.int64)) for side in ("left", "right")
            ]
            missing = nodes["missing_go_to_left"]
            part = split_part(
                columns,
                nodes["feature_idx"],
                nodes["num_threshold"],
                (below[0], below[1]),
                value,
                missing,
                np.float64,
            )
            parts.append(part)
    return _boosted_link(len(start)), start, join_trees(parts, len(start))


_MODELS: dict[str, Callable[[Any, list[Derived]], Body]] = {
    "LogisticRegression": _linear,
    "LogisticRegressionCV": _linear,
    "SGDClassifier": _linear,
    "LinearSVC": _linear,
    "RidgeClassifier": _linear,
    "RidgeClassifierCV": _linear,
    "Perceptron": _linear,
    "PassiveAggressiveClassifier": _linear,
    "GaussianNB": _gaussian,
    "CategoricalNB": _categorical,
    "BernoulliNB": _bernoulli,
    "DecisionTreeClassifier": _one_tree,
    "ExtraTreeClassifier": _one_tree,
    "RandomForestClassifier": _forest,
    "ExtraTreesClassifier": _forest,
    "GradientBoostingClassifier": _boosting,
    "HistGradientBoostingClassifier": _histogram,
}
