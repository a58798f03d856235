"""Posteriors of a class for many rows at once, where the features form a forest given the class.

That is naive Bayes (no arcs between features), TAN (one tree), and what lies between: the target has no
parents, and every other variable has at most one parent beside it. Then

    Pr(c, e) = Pr(c) * product over trees of (sum over the states of what the tree does not observe)

and each sum is a pass of messages from the leaves to the root, here for a block of rows at once. A feature
that is observed is one look-up in its table, and one below which nothing is observed says nothing.

Many rows are passed through a compiled loop instead (`kernels/forests.py`), which gives the same numbers to
the last bit: both do the same sums and products of single numbers in the same order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import ImpossibleEvidence, QueryError, expect
from unswayed.kernels.forests import SCALE, Forest, compiled_multiply_forest
from unswayed.model.data.dataset import Dataset
from unswayed.model.data.encoding import encode
from unswayed.model.network import BayesianNetwork

LOG_SCALE = math.log(SCALE)


def class_posteriors(network: BayesianNetwork, target: str, data: Any) -> Floats:  # (rows, classes)
    """Pr(target | what the row observes) for each row; what a row says about the target is ignored.

    `data` is a `Dataset` of the network's variables, or anything that `encode` takes. Missing values
    are summed out, exactly.

    Raises `QueryError` unless the features form a forest given the target, and `ImpossibleEvidence` for a
    row of probability zero.

    >>> from unswayed.learning import learn_naive_bayes
    >>> network = learn_naive_bayes({"x": ["a", "a", "b"], "y": ["yes", "yes", "no"]}, "y")
    >>> class_posteriors(network, "y", {"x": ["a", None]}).round(3).tolist()
    [[0.229, 0.771], [0.4, 0.6]]
    """
    posteriors: Floats = np.exp(class_log_posteriors(network, target, data))
    return posteriors


def class_log_posteriors(network: BayesianNetwork, target: str, data: Any) -> Floats:  # (rows, classes)
    """Logarithms of `class_posteriors`, exact where those underflow."""
    logs = class_log_joint(network, target, data)
    largest = logs.max(axis=1, keepdims=True)
    impossible = np.isneginf(largest[:, 0])
    if impossible.any():
        raise ImpossibleEvidence(
            f"row {int(np.argmax(impossible))} has probability 0 for every state of {target!r}; "
            "learn with smoothing, or leave out what contradicts the network"
        )
    logs -= largest
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return logs


def class_log_joint(network: BayesianNetwork, target: str, data: Any) -> Floats:  # (rows, classes)
    """log Pr(target, what the row observes), -inf where that is impossible."""
    expect(network, BayesianNetwork, "the network")
    position = network.index(target)
    trees = _trees(network, position)
    rows = data if isinstance(data, Dataset) else encode(data, network.variables)
    if rows.variables != network.variables:
        raise QueryError("the rows are of other variables than the network's; encode them with its variables")
    nodes = [node for tree in trees for node in tree]
    products = np.ones((rows.n_rows, len(network.variables[position])))
    scaled = np.zeros(products.shape, dtype=np.int64)
    if nodes:
        compiled_multiply_forest(_flat(nodes), rows.codes, products, scaled)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(network.cpts[position].table[0]) + (np.log(products) - scaled * LOG_SCALE)
    return logs


def _flat(nodes: list[_Node]) -> Forest:
    """The trees as the compiled loop takes them."""
    number = {node.position: i for i, node in enumerate(nodes)}
    shapes = np.array([node.table.shape for node in nodes])
    return Forest(
        column=np.array([node.position for node in nodes]),
        parent=np.array([-1 if node.parent is None else number[node.parent] for node in nodes]),
        size=shapes[:, 2].copy(),
        parent_size=shapes[:, 1].copy(),
        start=np.cumsum([0, *(node.table.size for node in nodes[:-1])]),
        table=np.concatenate([node.table.reshape(-1) for node in nodes]),
    )


def has_feature_forest(network: BayesianNetwork, target: str) -> bool:
    """Whether the features form a forest given the target, as in naive Bayes and TAN."""
    position = network.index(target)
    return not network.parents[position] and all(
        len(set(parents) - {position}) <= 1 for parents in network.parents
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """One feature of a tree."""

    position: int
    parent: int | None
    table: Floats  # (classes, parent states, states); one parent state at the root


def _trees(network: BayesianNetwork, target: int) -> list[list[_Node]]:
    """The trees of features, each from its root to its leaves."""
    name = network.variables[target].name
    if not has_feature_forest(network, name):
        raise QueryError(
            f"the features do not form a forest given {name!r}: it has a parent, or one of them has two "
            "parents besides it; ask for posteriors of single rows instead"
        )
    tree_by_position: dict[int, list[_Node]] = {}
    trees = []
    for position in range(len(network)):
        if position == target:
            continue
        node = _node(network, target, position)
        if node.parent is None:
            tree_by_position[position] = [node]
            trees.append(tree_by_position[position])
        else:
            tree_by_position[position] = tree_by_position[node.parent]
            tree_by_position[position].append(node)
    return trees


def _node(network: BayesianNetwork, target: int, position: int) -> _Node:
    parents = network.parents[position]
    parent = next((p for p in parents if p != target), None)
    sizes = [len(network.variables[p]) for p in parents]
    by_axes = network.cpts[position].table.reshape(*sizes, -1)
    order = [parents.index(p) for p in (target, parent) if p in parents]
    table = by_axes.transpose(*order, len(parents))
    if parent is None:
        table = table[..., np.newaxis, :]
    if target not in parents:
        table = np.broadcast_to(table, (len(network.variables[target]), *table.shape))
    return _Node(position, parent, np.ascontiguousarray(table))
