"""Class posteriors of many rows where the features form a forest given the class: one pass up each tree.

Nodes stand from the roots to the leaves. The message of a node is what it and everything below it say about
each state of its parent; an observed parent needs one number of it, an observed node has one term to sum. The
loop is plain Python, and `compiled_multiply_forest` is the same, compiled; `inference/forests.py` has a twin
that takes a block of rows at a time in numpy. Both do the same sums and products in the same order, and leave
logarithms to numpy: a row has the same answer to the last bit, whatever other rows it comes with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SMALL, SCALE = 1e-150, 2.0**500
"""Products below the one are multiplied by the other, which is exact: two factors do not underflow."""


class Forest(NamedTuple):
    """Features in trees as flat arrays; a parent stands before its children."""

    column: Ints  # (nodes,)
    """Column of each node's states in the rows."""
    parent: Ints  # (nodes,)
    """Number of the parent among the nodes, -1 at a root."""
    size: Ints  # (nodes,)
    """States of each node."""
    parent_size: Ints  # (nodes,)
    """States of the parent, 1 at a root."""
    start: Ints  # (nodes,)
    """Where the node's table begins: (classes, parent states, states)."""
    table: Floats
    """Pr(state | class, parent state) of all nodes, one table after the other."""


def multiply_forest(
    forest: Forest, codes: npt.NDArray[np.signedinteger], products: Floats, scaled: Ints
) -> None:
    """Pr(what each row observes | class) = product / SCALE^scaled, both (rows, classes) and written here.

    `codes` (rows, columns) are states, -1 where not observed.
    """
    n_nodes, n_classes = len(forest.column), products.shape[1]
    belief = np.empty((n_nodes, max(1, forest.size.max())))
    message = np.empty(forest.parent_size.max())
    said = np.empty(n_nodes, dtype=np.bool_)
    for row in range(len(codes)):
        for c in range(n_classes):
            said[:] = False
            product, n_scaled = 1.0, 0
            for node in range(n_nodes - 1, -1, -1):
                state = codes[row, forest.column[node]]
                if state < 0 and not said[node]:
                    continue  # nothing below it is observed: its message is 1 for every state
                above, width, size = forest.parent[node], forest.parent_size[node], forest.size[node]
                seen = np.int64(0 if above < 0 else codes[row, forest.column[above]])
                first, past = (0, width) if seen < 0 else (seen, seen + 1)
                largest = 0.0
                for p in range(first, past):
                    at = forest.start[node] + (c * width + p) * size
                    if state >= 0:
                        message[p] = forest.table[at + state]
                    else:
                        message[p] = 0.0
                        for s in range(size):
                            message[p] += forest.table[at + s] * belief[node, s]
                    largest = max(largest, message[p])
                if largest == 0.0:
                    product = 0.0
                    break
                if largest < SMALL:
                    product *= largest * SCALE
                    n_scaled += 1
                else:
                    product *= largest
                if product < SMALL:
                    product *= SCALE
                    n_scaled += 1
                if seen < 0:
                    if not said[above]:
                        said[above] = True
                        belief[above, :width] = 1.0
                    for p in range(width):
                        belief[above, p] *= message[p] / largest
            products[row, c], scaled[row, c] = product, n_scaled


compiled_multiply_forest = Kernel(multiply_forest)
