"""From one problem to the next: what was prepared before an observation serves after it.

An observed feature does not change what the full classifier decides on any instantiation, so a dense
table is cut at the observed state and scaled. Groups stay independent given the class: the observed
feature's group is cut and scaled for each class, the others stay as they are.
"""

from __future__ import annotations

import numpy as np

from unswayed.core.arrays import read_only
from unswayed.decisions.problem import Problem
from unswayed.engines.dense import DenseOracle
from unswayed.engines.groups import Group


def carry_over(before: Problem, after: Problem, feature: int) -> None:
    """Give `after`, which knows one more feature, what was prepared for `before`."""
    if feature not in before.free or feature not in after.evidence:
        return
    state = after.evidence[feature]
    if "groups" in before._memo:
        groups: list[Group] = before._memo["groups"]
        after._memo["groups"] = [
            kept for group in groups if (kept := _cut(before, group, feature, state)) is not None
        ]
    for key, oracle in before._memo.items():
        if isinstance(oracle, DenseOracle):
            after._memo[key] = _cut_table(oracle, after, feature, state)


def _cut(problem: Problem, group: Group, feature: int, state: int) -> Group | None:
    """The group given the observation; None when nothing of it is left."""
    if feature not in group.features:
        return group
    if len(group.features) == 1:
        return None
    axis = group.features.index(feature)
    n_classes = group.likelihood.shape[1]
    table = group.likelihood.reshape([*problem.sizes(group.features), n_classes])
    rows = table.take(state, axis=axis).reshape(-1, n_classes)
    totals = rows.sum(axis=0)
    # A class that the observation excludes has no distribution left; it is weighted by zero from here on.
    scaled = np.divide(rows, totals, out=np.full_like(rows, 1.0 / len(rows)), where=totals > 0)
    return Group(tuple(f for f in group.features if f != feature), read_only(scaled))


def _cut_table(oracle: DenseOracle, after: Problem, feature: int, state: int) -> DenseOracle:
    free = oracle.problem.free
    axis = free.index(feature)
    sizes = oracle.problem.sizes(free)
    before, behind = int(np.prod(sizes[:axis], dtype=int)), int(np.prod(sizes[axis + 1 :], dtype=int))
    columns = len(oracle.masses)
    cut = oracle.masses.reshape(columns * before, sizes[axis], behind)[:, state]
    masses = cut.reshape(columns, -1)
    return DenseOracle(after, masses / masses[: len(after.prior)].sum())
