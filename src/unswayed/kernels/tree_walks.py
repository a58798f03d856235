"""Rows of states sent down many decision trees: the sum of the leaves that each row reaches.

A split sends the states in its mask left and all others right; a leaf is below itself. Values are added tree
after tree, as the libraries add them, so that both twins round alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

BLOCK = 2**15
"""Rows times trees that walk together in the plain twin: about what a cache holds."""
UNITS_PER_STEP = 4e-3
"""Estimated for a row at a split, compiled."""


class FlatTrees(NamedTuple):
    """The nodes of all trees, side by side."""

    feature: Ints  # (nodes,)
    """The column that a node splits on; below 0 for a leaf."""
    mask: Bools  # (nodes, most states)
    """The states that go left."""
    left: Ints  # (nodes,)
    right: Ints  # (nodes,)
    value: Floats  # (nodes, scores)
    roots: Ints  # (trees,)


def walk_together(trees: FlatTrees, states: Ints, total: Floats) -> None:
    """Add the values of the leaves that each row (rows, columns) reaches to `total` (rows, scores)."""
    length = max(BLOCK // max(len(trees.roots), 1), 1)
    for start in range(0, len(states) if len(trees.roots) else 0, length):
        block = states[start : start + length]
        at = np.tile(trees.roots, (len(block), 1))
        rows = np.arange(len(block))[:, np.newaxis]
        feature = trees.feature[at]
        while (feature >= 0).any():
            goes_left = trees.mask[at, block[rows, np.maximum(feature, 0)]] | (feature < 0)
            at = np.where(goes_left, trees.left[at], trees.right[at])
            feature = trees.feature[at]
        # A running sum adds one after another; a plain one would add in pairs, and round otherwise.
        total[start : start + length] += np.cumsum(trees.value[at], axis=1)[:, -1] if at.size else 0.0


def walk_trees(trees: FlatTrees, states: Ints, total: Floats) -> None:
    """`walk_together`, row by row and tree by tree; written to be compiled."""
    n_scores = total.shape[1]
    found = np.empty(n_scores)
    for row in range(len(states)):
        found[:] = 0.0
        for tree in range(len(trees.roots)):
            node = trees.roots[tree]
            while trees.feature[node] >= 0:
                if trees.mask[node, states[row, trees.feature[node]]]:
                    node = trees.left[node]
                else:
                    node = trees.right[node]
            for score in range(n_scores):
                found[score] += trees.value[node, score]
        for score in range(n_scores):
            total[row, score] += found[score]


compiled_walk_trees = Kernel(walk_together, loop=walk_trees, slower=15.0)
