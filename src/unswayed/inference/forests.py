"""Posteriors of a class for many rows at once, where the features form a forest given the class.

That is naive Bayes (no arcs between features), TAN (one tree), and what lies between: the target has no
parents, and every other variable has at most one parent beside it. Then

    Pr(c, e) = Pr(c) * product over trees of (sum over the states of what the tree does not observe)

and each sum is a pass of messages from the leaves to the root, here for a block of rows at once. Where a
tree is observed completely there is nothing to sum, and each feature is one look-up in its table; the same
holds for a tree of one feature, observed or not. So naive Bayes never needs a message.

Many rows are passed through a compiled loop instead (`kernels/forests.py`), which gives the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools, Codes, Floats
from unswayed.core.errors import ImpossibleEvidence, QueryError, expect
from unswayed.kernels.forests import Forest, compiled_add_forest
from unswayed.model.data.dataset import Dataset
from unswayed.model.data.encoding import encode
from unswayed.model.network import BayesianNetwork

BLOCK_ROWS = 16_384
"""Rows treated together, so that their numbers stay in the processor's cache."""
MANY_ROWS = 50_000
"""Rows from which the compiled loop pays for being loaded."""


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


def class_log_joint(
    network: BayesianNetwork, target: str, data: Any, *, many: bool | None = None
) -> Floats:  # (rows, classes)
    """log Pr(target, what the row observes), -inf where that is impossible.

    `many` says whether compiled code pays; None decides by the number of rows.
    """
    expect(network, BayesianNetwork, "the network")
    position = network.index(target)
    trees = _trees(network, position)
    rows = data if isinstance(data, Dataset) else encode(data, network.variables)
    if rows.variables != network.variables:
        raise QueryError("the rows are of other variables than the network's; encode them with its variables")
    with np.errstate(divide="ignore"):
        prior = np.log(network.cpts[position].table[0])
    logs = np.tile(prior, (rows.n_rows, 1))
    if trees and (rows.n_rows >= MANY_ROWS if many is None else many):
        compiled_add_forest(_flat(trees), rows.codes, logs)
        return logs
    for start in range(0, rows.n_rows, BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        for tree in trees:
            _add_tree(tree, rows.codes[block], logs[block])
    return logs


def _flat(trees: list[list[_Node]]) -> Forest:
    """The trees as the compiled loop takes them."""
    nodes = [node for tree in trees for node in tree]
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
    look_up: Floats  # (parent states * states + 1, classes); logarithms, the last row 0 for "missing"


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
    with np.errstate(divide="ignore"):
        logs = np.log(table.reshape(len(table), -1).T)
    look_up = np.vstack([logs, np.zeros(len(table))])
    return _Node(position, parent, np.ascontiguousarray(table), look_up)


def _add_tree(tree: list[_Node], codes: Codes, logs: Floats) -> None:
    """Add the tree's share to the logarithms of a block of rows, in place."""
    if len(tree) == 1:
        _add_look_ups(tree, codes, logs)
        return
    incomplete = (codes[:, [node.position for node in tree]] < 0).any(axis=1)
    if not incomplete.any():
        _add_look_ups(tree, codes, logs)
        return
    complete = ~incomplete
    observed = logs[complete]
    _add_look_ups(tree, codes[complete], observed)
    logs[complete] = observed
    logs[incomplete] += _messages(tree, codes[incomplete])


def _add_look_ups(tree: list[_Node], codes: Codes, logs: Floats) -> None:
    found = np.empty_like(logs)
    for node in tree:
        index = codes[:, node.position]
        if node.parent is not None:
            index = codes[:, node.parent].astype(np.intp) * node.table.shape[2] + index
        # Wrapping sends -1, not observed, to the last row, which is 0.
        np.take(node.look_up, index, axis=0, out=found, mode="wrap")
        logs += found


def _messages(tree: list[_Node], codes: Codes) -> Floats:  # (rows, classes)
    """log Pr(what the tree observes | class) by passing messages from the leaves to the root."""
    n_classes = len(tree[0].table)
    logs = np.zeros((n_classes, len(codes)))
    belief_by_position = {
        node.position: np.tile(_indicators(codes[:, node.position], node.table.shape[2]), (n_classes, 1, 1))
        for node in tree
    }
    for node in reversed(tree):
        belief = belief_by_position.pop(node.position)  # (classes, states, rows)
        # Each class keeps a scale of its own, so that none underflows beside another.
        scale = belief.max(axis=1)
        belief /= np.where(scale > 0, scale, 1.0)[:, np.newaxis]
        with np.errstate(divide="ignore"):
            logs += np.log(scale)
        message = node.table @ belief  # (classes, parent states, rows)
        if node.parent is None:
            with np.errstate(divide="ignore"):
                logs += np.log(message[:, 0])
        else:
            belief_by_position[node.parent] *= message
    return logs.T


def _indicators(codes: Codes, n_states: int) -> Floats:  # (rows,) -> (states, rows)
    """1 for each state that an observation allows: its own, or all when there is none."""
    allowed: Bools = (codes == np.arange(n_states)[:, np.newaxis]) | (codes < 0)
    return allowed.astype(np.float64)
