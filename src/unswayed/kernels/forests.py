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

Bools = npt.NDArray[np.bool_]

BLOCK_ROWS = 16_384
"""Rows treated together in numpy, so that their numbers stay in the processor's cache."""
UNITS_PER_FACTOR = 3e-3
"""Estimated for a node, a class and a row of the compiled loop."""
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


def multiply_columns(
    forest: Forest, codes: npt.NDArray[np.signedinteger], products: Floats, scaled: Ints
) -> None:
    """`multiply_forest` by columns of many rows, in numpy: the same operations in the same order."""
    for start in range(0, len(codes), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        found = _multiply_block(forest, codes[block], products.shape[1])
        products[block], scaled[block] = found[0].T, found[1].T


def _multiply_block(
    forest: Forest, codes: npt.NDArray[np.signedinteger], n_classes: int
) -> tuple[Floats, Ints]:  # (classes, rows)
    products, scaled = np.ones((n_classes, len(codes))), np.zeros((n_classes, len(codes)), dtype=np.int64)
    beliefs: dict[int, Floats] = {}  # (classes, states, rows), where something below is observed
    said: dict[int, Bools] = {}
    for node in range(len(forest.column) - 1, -1, -1):
        table, parent = _table_of(forest, node, n_classes), int(forest.parent[node])
        state, below = codes[:, forest.column[node]], said.pop(node, None)
        active = state >= 0 if below is None else (state >= 0) | below
        # Wrapping sends -1, not observed, to the last number, which is 1: it says nothing.
        padded = np.concatenate([table, np.ones((*table.shape[:2], 1))], axis=2)
        message = np.take(padded, state, axis=2, mode="wrap")  # (classes, parent states, rows)
        if below is not None:
            np.copyto(message, _sum_states(table, beliefs.pop(node)), where=below & (state < 0))
        if parent < 0:
            _put(products, scaled, message[:, 0], active)
            continue
        seen = codes[:, forest.column[parent]]
        at_seen = np.maximum(seen, 0).astype(np.intp)[np.newaxis, np.newaxis]
        largest = np.where(seen >= 0, np.take_along_axis(message, at_seen, axis=1)[:, 0], message.max(axis=1))
        _put(products, scaled, largest, active)
        hidden = active & (seen < 0)
        if hidden.any():
            message /= np.where(largest > 0.0, largest, 1.0)[:, np.newaxis]
            np.copyto(message, 1.0, where=~hidden)
            known = beliefs.get(parent)
            beliefs[parent] = message if known is None else np.multiply(known, message, out=known)
            said[parent] = hidden | said.get(parent, False)
    return products, scaled


def _table_of(forest: Forest, node: int, n_classes: int) -> Floats:  # (classes, parent states, states)
    shape = n_classes, int(forest.parent_size[node]), int(forest.size[node])
    start = forest.start[node]
    return forest.table[start : start + shape[0] * shape[1] * shape[2]].reshape(shape)


def _sum_states(table: Floats, belief: Floats) -> Floats:  # (classes, parent states, rows)
    """The sum over the states, one after the other as the compiled loop adds them."""
    found = table[:, :, 0, np.newaxis] * belief[:, np.newaxis, 0]
    for state in range(1, table.shape[2]):
        found += table[:, :, state, np.newaxis] * belief[:, np.newaxis, state]
    return found


def _put(products: Floats, scaled: Ints, factor: Floats, active: Bools) -> None:
    """Multiply a factor in, 1 where a row says nothing, and keep the products away from underflow."""
    products *= _scaled_up(factor, scaled, active)
    if products.min(initial=1.0) < SMALL:
        products[:] = _scaled_up(products, scaled, active)


def _scaled_up(values: Floats, scaled: Ints, active: Bools) -> Floats:
    if values.min(initial=1.0) >= SMALL:
        return values
    tiny = active & (values < SMALL)
    scaled += tiny
    return np.where(tiny, values * SCALE, values)


def _units(forest: Forest, codes: npt.NDArray[np.signedinteger], products: Floats, scaled: Ints) -> float:
    return UNITS_PER_FACTOR * len(forest.column) * products.size


compiled_multiply_forest = Kernel(multiply_columns, loop=multiply_forest, price=_units, slower=5.0)
