"""Least and greatest sums of trees over many boxes of states, and over both halves of each box.

A leaf is reached from the states that meet its conditions, each of them a set of states of one variable, as
bits of a number. Over a box, a tree's least and greatest values are those of the leaves whose conditions the
box can meet; sums over the trees bound the score. Where a box is cut in two along a variable, only the trees
that ask for it change, and of those only leaves count that meet the whole box. The plain twins treat all
boxes and leaves at once, and add tree after tree, so that they round as the loops do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class LeafMasks(NamedTuple):
    """The leaves of all trees as flat arrays."""

    place: Ints
    """The variable of each condition,"""
    mask: Ints
    """and the states that meet it."""
    ends: Ints  # (leaves + 1,)
    """Where the conditions of each leaf begin, and the end."""
    value: Floats  # (leaves, scores)
    """What each leaf adds."""
    starts: Ints  # (trees + 1,)
    """Where the leaves of each tree begin, and the end."""


def bound_boxes(leaves: LeafMasks, boxes: Ints, low: Floats, high: Floats) -> None:
    """Add each tree's least and greatest values over each box (boxes, variables) to `low` and `high`."""
    n_scores = low.shape[1]
    ends = np.empty((2, n_scores))
    for box in range(len(boxes)):
        for tree in range(len(leaves.starts) - 1):
            ends[0], ends[1] = np.inf, -np.inf
            for leaf in range(leaves.starts[tree], leaves.starts[tree + 1]):
                if is_met(leaves, leaf, boxes[box]):
                    widen(ends, leaves.value[leaf])
            for score in range(n_scores):
                low[box, score] += ends[0, score]
                high[box, score] += ends[1, score]


def is_met(leaves: LeafMasks, leaf: int, box: Ints) -> bool:
    """Whether the box holds states from which the leaf is reached."""
    for condition in range(leaves.ends[leaf], leaves.ends[leaf + 1]):
        if box[leaves.place[condition]] & leaves.mask[condition] == 0:
            return False
    return True


def widen(ends: Floats, value: Floats) -> None:
    """Let the ends hold a value."""
    for score in range(len(value)):
        ends[0, score] = min(ends[0, score], value[score])
        ends[1, score] = max(ends[1, score], value[score])


def bound_halves(
    leaves: LeafMasks, users: tuple[Ints, Ints], boxes: Ints, lower: Ints, low: Floats, high: Floats
) -> None:
    """Add the same for both halves of each box along each variable, (2, variables, boxes, scores).

    `lower` (boxes, variables) are the states of the lower halves, none where a variable is not cut; `users`
    the trees that ask for each variable: where they begin, and the trees.
    """
    n_scores, n_trees = low.shape[3], len(leaves.starts) - 1
    ends, whole, total = np.empty((2, n_scores)), np.empty((n_trees, 2, n_scores)), np.empty((2, n_scores))
    met, n_met = np.empty(len(leaves.value), dtype=np.int64), np.empty(n_trees, dtype=np.int64)
    for box in range(len(boxes)):
        row = boxes[box]
        total[:] = 0.0
        for tree in range(n_trees):
            first, n_met[tree] = leaves.starts[tree], 0
            whole[tree, 0], whole[tree, 1] = np.inf, -np.inf
            for leaf in range(first, leaves.starts[tree + 1]):
                if is_met(leaves, leaf, row):
                    met[first + n_met[tree]] = leaf
                    n_met[tree] += 1
                    widen(whole[tree], leaves.value[leaf])
            total += whole[tree]
        for variable in range(boxes.shape[1]):
            if lower[box, variable] == 0:
                continue
            for side in range(2):
                half = lower[box, variable] if side == 0 else boxes[box, variable] & ~lower[box, variable]
                low[side, variable, box] += total[0]
                high[side, variable, box] += total[1]
                for user in range(users[0][variable], users[0][variable + 1]):
                    tree = users[1][user]
                    if n_met[tree] == 1:
                        continue
                    ends[0], ends[1] = np.inf, -np.inf
                    for place in range(leaves.starts[tree], leaves.starts[tree] + n_met[tree]):
                        if meets(leaves, met[place], variable, half):
                            widen(ends, leaves.value[met[place]])
                    for score in range(n_scores):
                        low[side, variable, box, score] += ends[0, score] - whole[tree, 0, score]
                        high[side, variable, box, score] += ends[1, score] - whole[tree, 1, score]


def meets(leaves: LeafMasks, leaf: int, variable: int, states: int) -> bool:
    """Whether a leaf can be reached from some states of a variable, as far as those matter."""
    for condition in range(leaves.ends[leaf], leaves.ends[leaf + 1]):
        if leaves.place[condition] == variable:
            return bool(states & leaves.mask[condition] != 0)
    return True


def bound_together(leaves: LeafMasks, boxes: Ints, low: Floats, high: Floats) -> None:
    """`bound_boxes`, all boxes at once."""
    if len(leaves.value):
        ends = _tree_ends(leaves.value, leaves.starts[:-1], _find_met(leaves, boxes))
        low[:], high[:] = _add_up(low, ends[0]), _add_up(high, ends[1])


def bound_halves_together(
    leaves: LeafMasks, users: tuple[Ints, Ints], boxes: Ints, lower: Ints, low: Floats, high: Floats
) -> None:
    """`bound_halves`, all boxes at once, variable after variable."""
    if not len(leaves.value):
        return
    met = _find_met(leaves, boxes)
    whole = _tree_ends(leaves.value, leaves.starts[:-1], met)
    total = [_add_up(np.zeros(low.shape[2:]), each) for each in whole]
    tree_of = np.repeat(np.arange(len(leaves.starts) - 1), np.diff(leaves.starts))
    for variable in range(boxes.shape[1]):
        trees = users[1][users[0][variable] : users[0][variable + 1]]
        here = np.flatnonzero(np.isin(tree_of, trees))
        starts = np.searchsorted(tree_of[here], trees)
        allowed, cut = _masks_of(leaves, variable)[here], lower[:, variable] != 0
        for side in range(2):
            half = lower[:, variable] if side == 0 else boxes[:, variable] & ~lower[:, variable]
            for bound, sums in zip((low, high), total, strict=True):
                bound[side, variable][cut] += sums[cut]
            if len(here):
                meets_half = met[cut][:, here] & ((half[cut, np.newaxis] & allowed) != 0)
                ends = _tree_ends(leaves.value[here], starts, meets_half)
                for bound, end, old in zip((low, high), ends, whole, strict=True):
                    bound[side, variable][cut] = _add_up(bound[side, variable][cut], end - old[cut][:, trees])


def _find_met(leaves: LeafMasks, boxes: Ints) -> Bools:  # (boxes, leaves)
    """The leaves that each box can reach: those none of whose conditions it fails."""
    fails = (boxes[:, leaves.place] & leaves.mask) == 0
    so_far = np.concatenate([np.zeros((len(boxes), 1), dtype=np.int64), fails.cumsum(axis=1)], axis=1)
    found: Bools = so_far[:, leaves.ends[1:]] == so_far[:, leaves.ends[:-1]]
    return found


def _tree_ends(value: Floats, starts: Ints, met: Bools) -> tuple[Floats, Floats]:  # (boxes, trees, scores)
    """The least and the greatest value of each tree among the leaves that are met."""
    may = met[:, :, np.newaxis]
    least = np.minimum.reduceat(np.where(may, value, np.inf), starts, axis=1)
    return least, np.maximum.reduceat(np.where(may, value, -np.inf), starts, axis=1)


def _add_up(start: Floats, parts: Floats) -> Floats:  # (boxes, scores), (boxes, parts, scores)
    """The start with all parts, one added after another as a loop does; a plain sum adds in pairs."""
    found: Floats = np.cumsum(np.concatenate([start[:, np.newaxis], parts], axis=1), axis=1)[:, -1]
    return found


def _masks_of(leaves: LeafMasks, variable: int) -> Ints:  # (leaves,)
    """The states of a variable from which each leaf can be reached; all where it does not ask."""
    found = np.full(len(leaves.value), -1, dtype=np.int64)
    leaf_of = np.repeat(np.arange(len(leaves.value)), np.diff(leaves.ends))
    asks = leaves.place == variable
    found[leaf_of[asks]] = leaves.mask[asks]
    return found


compiled_bound_boxes = Kernel(bound_together, [is_met, widen], loop=bound_boxes, slower=8.0)
compiled_bound_halves = Kernel(bound_halves_together, [is_met, widen, meets], loop=bound_halves, slower=8.0)
