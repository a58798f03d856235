"""Naive Bayes and tree-augmented naive Bayes from data, in one call each.

In both networks the target is the first variable, and every feature has it as its first parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unswayed.core.errors import ModelError, QueryError
from unswayed.core.names import unknown_name
from unswayed.inference.forests import class_posteriors as class_posteriors
from unswayed.learning.augmented import (
    naive_families,
    naive_network,
    tan_families,
    tan_network,
)
from unswayed.learning.counts import Family, FamilyCounts, count_families, merge, zero_counts
from unswayed.model.data.census import Census, infer_variables, read_coded
from unswayed.model.data.dataset import Dataset, make_dataset
from unswayed.model.data.discretize import Discretization
from unswayed.model.data.row_source import is_source
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable


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
    with `discretization` and `weights`; a file or an Arrow dataset is passed over twice, in bounded memory.
    `smoothing` is added to every count, those of the target included.

    Raises `FormatError`, `QueryError` or `ModelError` for data that cannot be read or used.

    >>> network = learn_naive_bayes(
    ...     {"fever": ["yes", "yes", "no", "no"], "flu": ["yes", "yes", "yes", "no"]}, "flu")
    >>> network.names, network.cpts[0].table.round(3).tolist()
    (('flu', 'fever'), [[0.333, 0.667]])
    """
    rows = as_rows(data, target, discretization=discretization, weights=weights)
    position = position_of(rows.variables, target)
    counts = count_rows(rows, naive_families(len(rows.variables), position))
    return naive_network(counts, position, smoothing=smoothing)


def learn_tan(
    data: Any,
    target: str,
    *,
    smoothing: float = 1.0,
    root: str | None = None,
    discretization: Discretization | None = None,
    weights: Any = None,
) -> BayesianNetwork:
    """The tree-augmented naive Bayes classifier of `target` that the data give [friedman1997].

    Each feature but `root` has one feature as a parent beside the target; the tree is the one of
    maximum likelihood (`trees.py`). `root` is a feature's name; None takes the first. Data and other
    options are as in `learn_naive_bayes`.

    Cost: O(rows * features^2); raises `LimitError` when the counts of all pairs do not fit.
    """
    rows = as_rows(data, target, discretization=discretization, weights=weights)
    position = position_of(rows.variables, target)
    first = None if root is None else position_of(rows.variables, root)
    if first == position:
        raise QueryError(f"the root of the tree must be a feature, not the target {target!r}")
    counts = count_rows(rows, tan_families(len(rows.variables), position))
    return tan_network(counts, position, smoothing=smoothing, root=first)


def as_rows(
    data: Any, target: str | None, *, discretization: Discretization | None, weights: Any
) -> Dataset | Census:
    """What to count: the rows, or the census of a file or an Arrow dataset whose rows stay there."""
    if isinstance(data, Census) and discretization is None and weights is None:
        return data
    if is_source(data) and (weights is None or isinstance(weights, str)):
        return infer_variables(data, target, discretization=discretization, weights=weights)
    return as_dataset(data, target, discretization=discretization, weights=weights)


def count_rows(rows: Dataset | Census, families: Sequence[Family]) -> FamilyCounts:
    """Weight of the rows in each cell of each family; those of a census are read block by block."""
    if isinstance(rows, Dataset):
        return count_families(rows, families)
    counts = zero_counts(rows.variables, families)
    for block in read_coded(rows):
        counts = merge(counts, count_families(block, families))
    return counts


def position_of(variables: Sequence[Variable], name: str) -> int:
    """Position of the variable called `name`; `QueryError` suggests the nearest name."""
    names = [variable.name for variable in variables]
    if not isinstance(name, str) or name not in names:
        raise QueryError(unknown_name("column", str(name), names))
    return names.index(name)


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
