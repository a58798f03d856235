"""Complete examples along the spine of a circuit: one step for each block of variables.

When the variables come in short blocks, one after the other, a circuit is a decision diagram: at a node,
the values of the block (its *class*) say which node comes next. An example then takes as many steps as
there are blocks, however large the circuit. An *entry* is a node with a class. Most classes lead nowhere
from most nodes, so only the entries that lead on are kept, node by node: a mask says which classes these
are, and how many bits it has below a class is the class's place. Levels with too many classes for a mask
keep all entries.

`walk` is plain Python that also compiles (`compiled_walk`). Examples go in batches, each step for the whole
batch, so that one example's wait for memory is another one's work.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Halves = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]

BATCH: Final = 64
"""Examples that take each step together."""
UNITS_PER_STEP: Final = 1e-2
"""Estimated for a level of an example."""
MASKED: Final = 64
"""Most classes that lead on in a level with masks."""

_ZERO, _ONE = np.uint64(0), np.uint64(1)
# The bits of a word are counted by halves: pairs, nibbles, bytes, and so on.
_PAIRS, _NIBBLES = np.uint64(0x5555_5555_5555_5555), np.uint64(0x3333_3333_3333_3333)
_BYTES, _SEVEN_BITS = np.uint64(0x0F0F_0F0F_0F0F_0F0F), np.uint64(0x7F)
_BY_1, _BY_2, _BY_4 = np.uint64(1), np.uint64(2), np.uint64(4)
_BY_8, _BY_16, _BY_32 = np.uint64(8), np.uint64(16), np.uint64(32)


class WalkDiagram(NamedTuple):
    """A circuit to walk through; node 0 is the dead end."""

    blocks: Ints
    """(levels + 1,) The variables of a level are those from blocks[t] to before blocks[t + 1] in `order`."""
    order: Ints
    """(variables,) The variables, block by block."""
    offsets: Ints
    """(levels,) Where the classes of a level begin in `classes`."""
    classes: Halves
    """Class of each assignment of a block, read as a binary number with its first variable highest."""
    has_masks: Flags
    """(levels,) Whether the nodes of a level have masks; class `MASKED` then leads nowhere from any."""
    first: Halves
    """(nodes,) First entry of each node."""
    masks: Words
    """(nodes,) The classes that lead on from each node, a bit for each."""
    target: Halves
    """(entries,) The next node."""
    start: int
    """The first node."""
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
    """(rows, levels) The entries that each example took, -1 after the dead end; without levels none."""


def walk(diagram: WalkDiagram, rows: Bytes, walked: Walked) -> None:
    """Walk every row through the diagram."""
    blocks, order, offsets, classes, has_masks, firsts, masks, target, start, end = diagram
    outside, weights, visits, terms, scores, trace = walked
    at = np.zeros(BATCH, dtype=np.int64)
    for begin in range(0, len(rows), BATCH):
        size = min(BATCH, len(rows) - begin)
        at[:] = start
        for level in range(len(offsets)):
            for i in range(size):
                code = 0
                for place in range(blocks[level], blocks[level + 1]):
                    code = 2 * code + int(rows[begin + i, order[place]])  # a byte wraps
                each = classes[offsets[level] + code]
                entry = firsts[at[i]] + each
                if has_masks[level]:
                    mask = masks[at[i]]
                    bit = _ONE << np.uint64(each) if each < MASKED else _ZERO
                    if mask & bit == _ZERO:
                        at[i] = 0
                        continue
                    bits = mask & (bit - _ONE)
                    bits = bits - ((bits >> _BY_1) & _PAIRS)
                    bits = (bits & _NIBBLES) + ((bits >> _BY_2) & _NIBBLES)
                    bits = (bits + (bits >> _BY_4)) & _BYTES
                    bits = bits + (bits >> _BY_8)
                    bits = bits + (bits >> _BY_16)
                    entry = firsts[at[i]] + np.int64((bits + (bits >> _BY_32)) & _SEVEN_BITS)
                elif at[i] == 0:
                    continue
                at[i] = target[entry]
                if len(visits) > 0:
                    visits[entry] += weights[begin + i] if len(weights) > 0 else 1.0
                for k in range(scores.shape[1]):
                    scores[begin + i, k] += terms[entry, k]
                if trace.shape[1] > 0:
                    trace[begin + i, level] = entry
        for i in range(size):
            outside[begin + i] = at[i] != end


def _units(diagram: WalkDiagram, rows: Bytes, walked: Walked) -> float:
    return UNITS_PER_STEP * len(rows) * len(diagram.offsets) * float(1 + walked.scores.shape[1])


compiled_walk = Kernel(walk, price=_units)
