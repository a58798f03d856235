"""Complete examples along the spine of a circuit: one step for each block of variables.

When the variables come in short blocks, one after the other, a circuit is a decision diagram: at a node,
the values of the block (its *class*) say which node comes next. An example then takes as many steps as
there are blocks, however large the circuit. An *entry* is a node with a class; the entries of a node stand
together, and `target` has the first entry of the next node. The first entries of all belong to the dead
end.

`walk` is plain Python that also compiles (`compiled_walk`). Examples go in batches, each step for the whole
batch, so that one example's wait for memory is another one's work.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Halves = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]

BATCH: Final = 64
"""Examples that take each step together."""


class Diagram(NamedTuple):
    """A circuit to walk through."""

    blocks: Ints
    """(levels + 1,) The variables of a level are those from blocks[t] to before blocks[t + 1] in `order`."""
    order: Ints
    """(variables,) The variables, block by block."""
    offsets: Ints
    """(levels,) Where the classes of a level begin in `classes`."""
    classes: Halves
    """Class of each assignment of a block, read as a binary number with its first variable highest."""
    target: Halves
    """(entries,) First entry of the next node; of the dead end, 0, where there is none."""
    start: int
    """First entry of the first node."""
    end: int
    """What the last step leads to when the example is inside."""


class Walked(NamedTuple):
    """What the examples leave behind; an array of no length is not filled."""

    outside: Flags
    """(rows,) Whether the example is outside of the circuit."""
    weights: Floats
    """(rows,) Weight of each example; of no length when all weigh 1."""
    visits: Floats
    """(entries,) Weight of the examples that took each entry, those that end outside included."""
    terms: Floats
    """(entries, classes) What each entry adds to the scores of an example."""
    scores: Floats
    """(rows, classes) Scores of the examples, added to what is there; without classes none."""
    trace: Halves
    """(rows, levels) The entries that each example took; without levels none."""


def walk(diagram: Diagram, rows: Bytes, walked: Walked) -> None:
    """Walk every row through the diagram."""
    blocks, order, offsets, classes, target, start, end = diagram
    outside, weights, visits, terms, scores, trace = walked
    at = np.zeros(BATCH, dtype=np.int64)
    for first in range(0, len(rows), BATCH):
        size = min(BATCH, len(rows) - first)
        at[:] = start
        for level in range(len(offsets)):
            for i in range(size):
                code = 0
                for place in range(blocks[level], blocks[level + 1]):
                    code = 2 * code + rows[first + i, order[place]]
                entry = at[i] + classes[offsets[level] + code]
                at[i] = target[entry]
                if len(visits) > 0:
                    visits[entry] += weights[first + i] if len(weights) > 0 else 1.0
                for k in range(scores.shape[1]):
                    scores[first + i, k] += terms[entry, k]
                if trace.shape[1] > 0:
                    trace[first + i, level] = entry
        for i in range(size):
            outside[first + i] = at[i] != end


@cache
def compiled_walk() -> Callable[[Diagram, Bytes, Walked], None]:
    """`walk`, compiled when first called and kept on disk: importing numba takes half a second."""
    from numba import njit

    compiled: Callable[[Diagram, Bytes, Walked], None] = njit(cache=True)(walk)
    return compiled
