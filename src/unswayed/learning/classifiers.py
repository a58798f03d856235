"""Naive Bayes and tree-augmented naive Bayes from data, in one call each.

In both networks the target is the first variable, and every feature has it as its first parent.
"""

from __future__ import annotations

from typing import Any

from unswayed.core.errors import ModelError, QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.inference.forests import class_posteriors as class_posteriors
from unswayed.learning.augmented import (
    naive_families,
    naive_network,
    tan_families,
    tan_network,
)
from unswayed.learning.counts import count_families
from unswayed.model.data.dataset import Dataset, make_dataset
from unswayed.model.data.discretize import Discretization
from unswayed.model.network import BayesianNetwork


def learn_naive_bayes(
    data: Any,
    target: str,
    *,
    smoothing: float = 1.0,
    discretization: Discretization | None = None,
    weights: Any = None,
) -> BayesianNetwork:
    """The naive Bayes classifier of `target` that the data give: features independent given the target.

    `data` is a `Dataset`, or a path, dataframe, mapping or array as `make_dataset` takes it, along
    with `discretization` and `weights`. `smoothing` is added to every count, those of the target included.

    Raises `FormatError`, `QueryError` or `ModelError` for data that cannot be read or used.

    >>> network = learn_naive_bayes(
    ...     {"fever": ["yes", "yes", "no", "no"], "flu": ["yes", "yes", "yes", "no"]}, "flu")
    >>> network.names, network.cpts[0].table.round(3).tolist()
    (('flu', 'fever'), [[0.333, 0.667]])
    """
    rows = as_dataset(data, target, discretization=discretization, weights=weights)
    counts = count_families(rows, naive_families(len(rows.variables), rows.index(target)))
    return naive_network(counts, rows.index(target), smoothing=smoothing)


def learn_tan(
    data: Any,
    target: str,
    *,
    smoothing: float = 1.0,
    root: str | None = None,
    discretization: Discretization | None = None,
    weights: Any = None,
    limits: Limits = DEFAULT_LIMITS,
) -> BayesianNetwork:
    """The tree-augmented naive Bayes classifier of `target` that the data give [friedman1997].

    Each feature but `root` has one feature as a parent beside the target; the tree is the one of
    maximum likelihood (`trees.py`). `root` is a feature's name; None takes the first. Data and other
    options are as in `learn_naive_bayes`.

    Cost: O(rows * features^2); raises `LimitError` when the counts of all pairs do not fit.
    """
    rows = as_dataset(data, target, discretization=discretization, weights=weights)
    if root is not None and rows.index(root) == rows.index(target):
        raise QueryError(f"the root of the tree must be a feature, not the target {target!r}")
    families = tan_families(len(rows.variables), rows.index(target))
    counts = count_families(rows, families, limits=limits)
    first = None if root is None else rows.index(root)
    return tan_network(counts, rows.index(target), smoothing=smoothing, root=first)


def as_dataset(
    data: Any, target: str | None, *, discretization: Discretization | None, weights: Any
) -> Dataset:
    """`data` itself when it is a `Dataset`, else the one `make_dataset` makes of it."""
    if not isinstance(data, Dataset):
        return make_dataset(data, target, discretization=discretization, weights=weights)
    if discretization is not None or weights is not None:
        raise ModelError(
            "a Dataset has its states and weights already; give discretization and weights to make_dataset"
        )
    if not data.n_rows:
        raise ModelError("the data have no rows; learning needs at least one")
    return data
