"""Depth-first search over sums of weights, in slices [chen2014, Algorithm 1].

A tree of depth k: at depth i one of the values of attribute i is chosen, which adds a weight and
multiplies two probabilities, one for each class. Wanted is the probability of the leaves whose weight
reaches a cut. A subtree is left as soon as the heaviest or the lightest leaf below decides for all of
them. Leaves between two cuts are counted apart.

`search` is plain Python, without recursion, and keeps its whole state in arrays, so it can stop after any
number of nodes and go on later, also compiled (`compiled_search`). A recursive function would be shorter,
but compiled and cached ones crash when another process loads them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Tree(NamedTuple):
    """Attributes in the order of search, their values side by side."""

    starts: Ints
    """Where the values of each attribute begin in the arrays; one more at the end."""
    weight: Floats
    """Weight of each value, infinite where it has no probability under one class."""
    upper: Floats
    """Probability of each value under the upper class."""
    lower: Floats
    """Probability under the other class."""
    most: Floats
    """The most that the attributes from each one on can weigh together; 0 at the end."""
    least: Floats
    """The least that they can weigh."""


class DepthFirstPath(NamedTuple):
    """The state of a search: where it is, and what it has found."""

    choice: Ints
    """At each depth of the path, the next value to try."""
    weight: Floats
    """Weight of the values chosen so far, at each depth."""
    upper: Floats
    """Their probability under the upper class."""
    lower: Floats
    """Their probability under the other class."""
    depth: Ints
    """(1,) Depth of the node whose values are being tried; -1 at the end."""
    nodes: Ints
    """(1,) Nodes visited."""
    mass: Floats
    """(2,) Probability found, and the rounding it has lost so far."""
    between: Floats
    """(1,) Probability of leaves that reach the low cut alone."""


def start(tree: Tree) -> DepthFirstPath:
    """The state before the first node."""
    n_attributes = len(tree.starts) - 1
    return DepthFirstPath(
        choice=tree.starts.copy(),
        weight=np.zeros(n_attributes + 1),
        upper=np.ones(n_attributes + 1),
        lower=np.ones(n_attributes + 1),
        depth=np.array([0 if n_attributes else -1]),
        nodes=np.zeros(1, dtype=np.int64),
        mass=np.zeros(2),
        between=np.zeros(1),
    )


def search(tree: Tree, path: DepthFirstPath, low: float, high: float, budget: int) -> bool:
    """Visit up to `budget` nodes more; whether the search is over.

    Infinite weights are certainties: one outweighs whatever is still to come, and two opposite ones have
    no mass together. Masses are added with Neumaier's compensation, since billions of small terms added
    to one double drift in the ninth digit.
    """
    depth = path.depth[0]
    visited = 0
    while depth >= 0 and visited < budget:
        value = path.choice[depth]
        if value == tree.starts[depth + 1]:
            depth -= 1
            continue
        path.choice[depth] = value + 1
        visited += 1
        weight = path.weight[depth] + tree.weight[value]
        if math.isnan(weight):
            continue
        highest = weight if math.isinf(weight) else weight + tree.most[depth + 1]
        if highest < low:
            continue
        upper = path.upper[depth] * tree.upper[value]
        lower = path.lower[depth] * tree.lower[value]
        lowest = weight if math.isinf(weight) else weight + tree.least[depth + 1]
        if lowest >= high:
            term = upper + lower
            total = path.mass[0] + term
            larger, smaller = max(path.mass[0], term), min(path.mass[0], term)
            path.mass[1] += (larger - total) + smaller
            path.mass[0] = total
            continue
        if lowest >= low and highest < high:
            path.between[0] += upper + lower
            continue
        depth += 1
        path.choice[depth] = tree.starts[depth]
        path.weight[depth] = weight
        path.upper[depth] = upper
        path.lower[depth] = lower
    path.depth[0] = depth
    path.nodes[0] += visited
    return bool(depth < 0)


compiled_search = Kernel(search)
