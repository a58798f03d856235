"""Classifiers from counts: naive Bayes, and naive Bayes augmented by a tree over the features.

Learning takes three steps that can be taken apart, for instance to learn from chunks: which families to
count (`naive_families`, `tan_families`), counting them (`counts.py`), and the network that the counts
give (`naive_network`, `tan_network`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import ModelError
from unswayed.learning.counts import Family, FamilyCounts, smoothed_cpt
from unswayed.learning.trees import conditional_information, maximum_spanning_tree
from unswayed.model.network import BayesianNetwork


def features_of(n_variables: int, target: int) -> list[int]:
    """Positions of all variables but the target."""
    return [i for i in range(n_variables) if i != target]


def naive_families(n_variables: int, target: int) -> list[Family]:
    """What naive Bayes counts: the target, and each feature with it."""
    return [(target,), *((target, feature) for feature in features_of(n_variables, target))]


def tan_families(n_variables: int, target: int) -> list[Family]:
    """What TAN counts: the same, and every pair of features with the target, the lower position first."""
    pairs = combinations(features_of(n_variables, target), 2)
    return [*naive_families(n_variables, target), *((target, i, j) for i, j in pairs)]


def naive_network(counts: FamilyCounts, target: int, *, smoothing: float) -> BayesianNetwork:
    """The naive Bayes classifier of these counts."""
    table_by_family = _tables(counts, target)
    families = naive_families(len(counts.variables), target)
    return _network(counts, {family: table_by_family[family] for family in families}, smoothing)


def tan_network(
    counts: FamilyCounts, target: int, *, smoothing: float, root: int | None = None
) -> BayesianNetwork:
    """The TAN classifier of these counts, its tree directed away from `root` (or the first feature)."""
    table_by_family = _tables(counts, target)
    features = features_of(len(counts.variables), target)
    sizes = [len(variable) for variable in counts.variables]
    chosen: dict[Family, Floats] = {(target,): table_by_family[target,]}
    for feature, parent in _tree(table_by_family, sizes, (target, *features), root).items():
        if parent is None:
            chosen[target, feature] = table_by_family[target, feature]
        elif parent < feature:
            chosen[target, parent, feature] = table_by_family[target, parent, feature]
        else:
            counted = table_by_family[target, feature, parent]
            by_axes = counted.reshape(sizes[target], sizes[feature], sizes[parent])
            chosen[target, parent, feature] = by_axes.transpose(0, 2, 1).reshape(-1, sizes[feature])
    return _network(counts, chosen, smoothing)


def _tables(counts: FamilyCounts, target: int) -> dict[Family, Floats]:
    table_by_family = dict(zip(counts.families, counts.tables, strict=True))
    if not table_by_family[target,].any():
        name = counts.variables[target].name
        raise ModelError(f"every row misses the target {name!r}; nothing can be learned about it")
    return table_by_family


def _tree(
    table_by_family: Mapping[Family, Floats], sizes: list[int], order: Family, root: int | None
) -> dict[int, int | None]:
    """The feature that is the parent of each feature; `order` is the target and then the features."""
    target, *features = order
    if not features:
        return {}
    information = np.zeros((len(features), len(features)))
    for (a, i), (b, j) in combinations(enumerate(features), 2):
        counts = table_by_family[target, i, j].reshape(sizes[target], sizes[i], sizes[j])
        information[a, b] = information[b, a] = conditional_information(counts)
    first = 0 if root is None else features.index(root)
    parents = maximum_spanning_tree(information, first)
    return {
        feature: None if parent is None else features[parent]
        for feature, parent in zip(features, parents, strict=True)
    }


def _network(
    counts: FamilyCounts, table_by_family: Mapping[Family, Floats], smoothing: float
) -> BayesianNetwork:
    return BayesianNetwork(
        smoothed_cpt(counts.variables, family, table, smoothing) for family, table in table_by_family.items()
    )
