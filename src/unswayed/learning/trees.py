"""The tree of a tree-augmented naive Bayes (TAN): which feature is the parent of which.

Among all trees over the features, the likelihood of the data is greatest for the one that maximises the sum
over its arcs of the mutual information of the two features given the class [friedman1997, Theorem 4.2],

    I(X; Y | C) = sum over c, x, y of Pr(c, x, y) log( Pr(x, y | c) / (Pr(x | c) Pr(y | c)) ),

which is a spanning tree of maximum weight [chow1968].
"""

from __future__ import annotations

import numpy as np

from unswayed.core.arrays import Floats

SAME_INFORMATION = 12
"""Decimals of information that decide between arcs; beyond lies rounding, and positions decide."""


def conditional_information(counts: Floats) -> float:  # (classes, states, states)
    """Mutual information, in nats, of the last two axes given the first.

    >>> round(conditional_information(np.array([[[5.0, 0.0], [0.0, 5.0]]])), 6)  # log 2
    0.693147
    """
    total = counts.sum()
    if total == 0:
        return 0.0
    # sum n log n over cells and classes, less the same over both margins: no division, no zero to avoid.
    terms = (counts, counts.sum(axis=(1, 2)), counts.sum(axis=2), counts.sum(axis=1))
    cells, classes, first, second = (_n_log_n(term) for term in terms)
    return max(0.0, float((cells + classes - first - second) / total))


def _n_log_n(counts: Floats) -> float:
    positive = counts[counts > 0]
    return float((positive * np.log(positive)).sum())


def maximum_spanning_tree(weights: Floats, root: int) -> list[int | None]:
    """The parent of each node in a spanning tree of maximum weight, None for the root.

    `weights` is symmetric, (nodes, nodes). Of equally good arcs the one to the node, and then from
    the node, of the lowest position is taken, so that the tree depends on nothing but weights and order.

    Cost: O(nodes^2) (Prim's algorithm).

    >>> maximum_spanning_tree(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]], dtype=float), root=0)
    [None, 0, 1]
    """
    n_nodes = len(weights)
    weights = np.round(weights, SAME_INFORMATION)
    parents: list[int | None] = [None] * n_nodes
    nearest = np.full(n_nodes, root)
    best = weights[root].copy()
    best[root] = -np.inf
    for _ in range(n_nodes - 1):
        node = int(np.argmax(best))
        parents[node] = int(nearest[node])
        waiting = best > -np.inf
        waiting[node] = False
        better = waiting & ((weights[node] > best) | ((weights[node] == best) & (node < nearest)))
        nearest[better] = node
        best[better] = weights[node, better]
        best[node] = -np.inf
    return parents
