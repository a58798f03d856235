"""Pr(child | parents) read one parent after another, with a hidden state in between.

    Pr(x | u) = sum over s_1 .. s_k of  Pr(s_1 | u_1) Pr(s_2 | s_1, u_2) ... Pr(x | s_k)

A table over thirty two-state parents has 2^30 rows. As a chain it is thirty small tables, as long as few
hidden states suffice: the number of ones so far for a majority, "present or not" for a noisy-or, the node
reached for a decision diagram. Every method that takes tables can take these, so inference needs to know no
more about functional nodes than this.

A chain is *deterministic* when each state follows from the one before and the parent. Only then may a hidden
state be maximised over in place of being summed out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Floats, Ints, frozen_floats


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """A conditional distribution as a chain over those parents that matter."""

    places: tuple[int, ...]
    """Positions, among the parents, of those that are read, in this order."""
    steps: tuple[Floats, ...]  # each (states before, states of the parent, states after)
    """Pr(state after | state before, parent); there is one state before the first."""
    columns: Floats  # (last states, states of the child)
    """Pr(child | last state)."""
    is_deterministic: bool
    """Whether each state follows from the one before and the parent."""


def deterministic_chain(places: Sequence[int], moves: Sequence[Ints], columns: Floats) -> Chain:
    """The smallest chain that moves as given; `moves[i][s, v]` is the state after s when parent i is v.

    States with the same future become one, from the last parent up, and parents that change nothing are left
    out. Raises `LimitError` when its tables would be larger than the limits allow.

    The parity of three bits needs two states, whatever it was written with:

    >>> moves = [np.array([[0, 1]]), np.array([[0, 1], [2, 3]]), np.array([[0, 1], [1, 0], [1, 0], [0, 1]])]
    >>> chain = deterministic_chain([0, 1, 2], moves, np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> [step.shape for step in chain.steps]
    [(1, 2, 2), (2, 2, 2), (2, 2, 2)]

    A first parent that changes nothing, though it was written with states that are never left:

    >>> moves = [np.array([[0, 0]]), np.array([[0, 1], [0, 0], [1, 1]])]
    >>> deterministic_chain([0, 1], moves, np.array([[0.9, 0.1], [0.1, 0.9]])).steps[0].tolist()
    [[[0.0, 1.0], [1.0, 0.0]]]
    """
    distinct, state = np.unique(columns, axis=0, return_inverse=True)
    state = state.reshape(-1)
    kept: list[tuple[int, Ints]] = []
    for place, move in zip(reversed(places), reversed(moves), strict=True):
        after = state[move]
        if (after == after[:, :1]).all():
            state = after[:, 0]
            continue
        rows, state = np.unique(after, axis=0, return_inverse=True)
        state = state.reshape(-1)
        kept.append((place, rows))
    kept.reverse()
    if not kept:
        return _dense([], [], distinct[state[:1]])
    (first, rows), *others = kept
    # Parents before the first that matters may have left several states; they lead to one of them.
    kept = [(first, rows[state[:1]]), *others]
    return _dense([place for place, _ in kept], [move for _, move in kept], distinct)


def _dense(places: list[int], moves: list[Ints], columns: Floats) -> Chain:
    """The chain with each move written as a table of zeros and ones."""
    widths = [*(len(move) for move in moves), len(columns)]
    cells = sum(float(move.size) * after for move, after in zip(moves, widths[1:], strict=True))
    check_bytes(8.0 * cells, f"the chain of a function of {len(moves)} parents that matter")
    steps = tuple(frozen_floats(np.eye(after)[move]) for move, after in zip(moves, widths[1:], strict=True))
    return Chain(tuple(places), steps, frozen_floats(columns), is_deterministic=True)
