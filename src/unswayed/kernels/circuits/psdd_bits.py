"""Complete examples through a circuit of sums, many at a time: one bit of a machine word for each example.

A circuit is a list of nodes, children before parents. Node 0 always holds; a literal holds by the example;
any other node holds when one of its choices does, and a choice when both its nodes do. Upward (`hold`), one
`and` and one `or` for each choice find the nodes that hold in 64 examples. Of the choices of a node that
holds exactly one does, so downward (`follow`) an example uses one choice of each node on its way. How many
examples use a choice is all that learning needs, and what the choices it uses add up to is its
log-likelihood.

Words go in groups of `LANES`: four words of one node stand side by side, and one step works on all of them.
The loops are compiled (`COMPILED`); `plain_holds` and `plain_uses` say the same in numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]

LANES: Final = 4
"""Words worked on together: as many as one vector register holds."""
GROUP: Final = 64 * LANES
"""Examples worked on together."""

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

UNITS_PER_BIT, UNITS_PER_WORD, UNITS_PER_STEP = 1e-3, 1e-3, 1e-2
"""Estimated for a bit that is set, for a choice and 64 examples, and for a variable of an example."""


class Circuit(NamedTuple):
    """A circuit of sums as flat arrays."""

    literal: Ints
    """(nodes,) 1 + variable where it must hold, -(1 + variable) where it must not, 0 at other nodes."""
    starts: Ints
    """(nodes + 1,) The choices of node i are those from starts[i] to before starts[i + 1]."""
    lefts: Ints
    """(choices,) First node of each choice."""
    rights: Ints
    """(choices,) Second node of each choice."""
    root: int
    """The node of the whole circuit, the last of all."""


class Gathered(NamedTuple):
    """What the examples leave behind; an array of no length is not filled."""

    outside: Flags
    """(rows,) Whether the example is outside of the circuit; it is then neither counted nor scored."""
    weights: Floats
    """(rows,) Weight of each example; of no length when all weigh 1."""
    counts: Floats
    """(choices,) Weight of the examples that use each choice, added to what is there."""
    terms: Floats
    """(choices, classes) What each choice adds to the scores of an example that uses it."""
    scores: Floats
    """(rows, classes) Scores of the examples, added to what is there; without classes none."""


def pack(rows: Bytes) -> Words:  # (rows, variables) -> (groups, variables, lanes)
    """Rows of zeros and ones as words; the rows of the last group that do not exist are zeros."""
    words = np.zeros((-(-len(rows) // GROUP), rows.shape[1], LANES), dtype=np.uint64)
    COMPILED.set_bits(rows, words)
    return words


def set_bits(rows: Bytes, words: Words) -> None:
    """Set the bits of `words`, all zero before."""
    for row in range(rows.shape[0]):
        bit = np.uint64(row & 63)
        lane = (row >> 6) % LANES
        group = row // GROUP
        for variable in range(rows.shape[1]):
            words[group, variable, lane] |= np.uint64(rows[row, variable]) << bit


def hold(circuit: Circuit, words: Words, holds: Words) -> None:
    """Fill `holds` (groups, nodes, lanes): in which examples each node holds."""
    literal, starts, lefts, rights, _ = circuit
    for group in range(words.shape[0]):
        for lane in range(LANES):
            holds[group, 0, lane] = _ALL
        for node in range(1, len(literal)):
            sign = literal[node]
            if sign > 0:
                for lane in range(LANES):
                    holds[group, node, lane] = words[group, sign - 1, lane]
            elif sign < 0:
                for lane in range(LANES):
                    holds[group, node, lane] = ~words[group, -sign - 1, lane]
            else:
                for lane in range(LANES):
                    holds[group, node, lane] = _ZERO
                for choice in range(starts[node], starts[node + 1]):
                    left, right = lefts[choice], rights[choice]
                    for lane in range(LANES):
                        both = holds[group, left, lane] & holds[group, right, lane]
                        holds[group, node, lane] |= both


def follow(circuit: Circuit, is_open: Flags, holds: Words, gathered: Gathered) -> None:
    """Walk down the choices that each example uses, one example after the other.

    A node with one choice says nothing: its choice is neither counted nor scored, and nodes with nothing but
    such nodes below (those that are not `is_open`) are not entered at all.
    """
    _, starts, lefts, rights, root = circuit
    outside, weights, counts, terms, scores = gathered
    waiting = np.zeros(len(starts), dtype=np.int64)
    for row in range(len(outside)):
        group, lane, bit = row // GROUP, (row >> 6) % LANES, np.uint64(row & 63)
        outside[row] = (holds[group, root, lane] >> bit) & _ONE == _ZERO
        if outside[row] or not is_open[root]:
            continue
        waiting[0] = root
        depth = 1
        while depth > 0:
            depth -= 1
            node = waiting[depth]
            choice = starts[node]
            last = starts[node + 1] - 1
            if choice < last:
                # The node holds, so the choice whose first node holds is the one; the last needs no proof.
                while choice < last and (holds[group, lefts[choice], lane] >> bit) & _ONE == _ZERO:
                    choice += 1
                if len(counts) > 0:
                    counts[choice] += weights[row] if len(weights) > 0 else 1.0
                for k in range(scores.shape[1]):
                    scores[row, k] += terms[choice, k]
            left, right = lefts[choice], rights[choice]
            if is_open[left]:
                waiting[depth] = left
                depth += 1
            if is_open[right]:
                waiting[depth] = right
                depth += 1


class BitLoops(NamedTuple):
    """The loops, compiled."""

    set_bits: Callable[[Bytes, Words], None]
    """`set_bits`."""
    hold: Callable[[Circuit, Words, Words], None]
    """`hold`."""
    follow: Callable[[Circuit, Flags, Words, Gathered], None]
    """`follow`."""


def _units_to_set(rows: Bytes, words: Words) -> float:
    return UNITS_PER_BIT * rows.size


def _units_to_hold(circuit: Circuit, words: Words, holds: Words) -> float:
    return UNITS_PER_WORD * (len(circuit.literal) + len(circuit.lefts)) * len(words) * LANES


def _units_to_follow(circuit: Circuit, is_open: Flags, holds: Words, gathered: Gathered) -> float:
    """A way down is a few choices for each variable, of which there are some two literals."""
    return UNITS_PER_STEP * len(gathered.outside) * float(np.count_nonzero(circuit.literal > 0))


COMPILED = BitLoops(
    Kernel(set_bits, price=_units_to_set),
    Kernel(hold, price=_units_to_hold),
    Kernel(follow, price=_units_to_follow),
)


def plain_holds(circuit: Circuit, rows: Bytes) -> Flags:  # (rows, nodes)
    """Which nodes hold in which examples, in numpy and without words."""
    holds = np.ones((len(rows), len(circuit.literal)), dtype=np.bool_)
    for node, sign in enumerate(circuit.literal.tolist()):
        if sign:
            holds[:, node] = rows[:, abs(sign) - 1] == (sign > 0)
        elif node:
            choices = slice(circuit.starts[node], circuit.starts[node + 1])
            both = holds[:, circuit.lefts[choices]] & holds[:, circuit.rights[choices]]
            holds[:, node] = both.any(axis=1)
    return holds


def plain_uses(circuit: Circuit, rows: Bytes) -> Flags:  # (rows, choices)
    """Which choices each example uses, in numpy; none when it is outside of the circuit."""
    holds = plain_holds(circuit, rows)
    used = np.zeros_like(holds)
    uses = np.zeros((len(rows), len(circuit.lefts)), dtype=np.bool_)
    used[:, circuit.root] = holds[:, circuit.root]
    for node in range(circuit.root, 0, -1):
        for choice in range(circuit.starts[node], circuit.starts[node + 1]):
            left, right = circuit.lefts[choice], circuit.rights[choice]
            uses[:, choice] = used[:, node] & holds[:, left] & holds[:, right]
            used[:, left] |= uses[:, choice]
            used[:, right] |= uses[:, choice]
    return uses
