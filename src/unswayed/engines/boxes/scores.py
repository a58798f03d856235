"""Bounds on scores over many boxes at once: what the search asks of a decision function."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.engines.boxes.deciding import Bounds
from unswayed.inference.expected import ModelCase, find_terms, open_leaves
from unswayed.inference.predictors import AdditivePredictor, TreesPredictor
from unswayed.kernels.box_bounds import LeafMasks, compiled_bound_boxes, compiled_bound_halves

ROUNDING = 2.0**-50
"""More than floating point changes in a sum, for each of its terms and unit of their sizes."""


class ScoreBounds(Protocol):
    """A decision function: scores that are bounded over boxes, and known at single instantiations."""

    @property
    def link(self) -> str:
        """How scores become class masses."""

    @property
    def units(self) -> float:
        """What bounding one box takes, about."""

    def bound(self, allowed: Bools) -> Bounds:  # (boxes, states) -> (boxes, scores)
        """Least and greatest scores over boxes of the law's variables."""

    def bound_halves(self, allowed: Bools, lower: Bools) -> Bounds:  # (2, variables, boxes, scores) each
        """The same for both halves of each box along each variable; `lower` are the states of the first half.

        Where a variable has no lower half, there are no bounds.
        """

    def predict(self, states: Ints) -> Floats:  # (rows, variables) -> (rows, classes)
        """Class masses of single instantiations."""


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveBounds:
    """Every term at its least and greatest: exact."""

    case: ModelCase
    base: Floats  # (scores,)
    terms: tuple[Floats, ...]  # each (states, scores)
    link: str
    units: float

    def bound(self, allowed: Bools) -> Bounds:
        """Sums of the least and of the greatest terms."""
        low, high = (np.tile(self.base, (len(allowed), 1)) for _ in range(2))
        size, start = np.abs(self.base), 0
        for term in self.terms:
            least, most = _ends(term, allowed[:, start : start + len(term)])
            low += least
            high += most
            size, start = size + np.abs(term).max(axis=0), start + len(term)
        slack = ROUNDING * size
        return low - slack, high + slack

    def bound_halves(self, allowed: Bools, lower: Bools) -> Bounds:
        """What the other variables add stays, and the one that is cut changes."""
        (low, high), start = self.bound(allowed), 0
        ends: list[list[Floats]] = [[], []]
        for term in self.terms:
            part = slice(start, start + len(term))
            whole = _ends(term, allowed[:, part])
            for states, found in zip((lower[:, part], allowed[:, part] & ~lower[:, part]), ends, strict=True):
                here = _ends(term, states)
                found.append(np.stack([low + here[0] - whole[0], high + here[1] - whole[1]]))
            start = part.stop
        both = np.array(ends)  # (sides, variables, low and high, boxes, scores)
        return both[:, :, 0], both[:, :, 1]

    def predict(self, states: Ints) -> Floats:
        """The model's own answer."""
        return self.case.predict(states)


def _ends(term: Floats, allowed: Bools) -> Bounds:  # (states, scores), (boxes, states)
    """The least and the greatest that a term adds in each box; 0 where no state is allowed."""
    may, some = allowed[:, :, np.newaxis], allowed.any(axis=1, keepdims=True)
    least, most = np.where(may, term, np.inf).min(axis=1), np.where(may, term, -np.inf).max(axis=1)
    return np.where(some, least, 0.0), np.where(some, most, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class TreeBounds:
    """The leaves that meet a box, the least and the greatest of each tree."""

    case: ModelCase
    base: Floats  # (scores,)
    leaves: LeafMasks
    users: tuple[Ints, Ints]
    """The trees that ask for each variable: where they begin, and the trees."""
    link: str
    slack: float
    units: float

    def bound(self, allowed: Bools) -> Bounds:
        """Sums of the trees' own bounds."""
        masks = pack_states(allowed, self.case.law.n_states)
        low, high = (np.tile(self.base, (len(allowed), 1)) for _ in range(2))
        compiled_bound_boxes.run(self.units * len(allowed), self.leaves, masks, low, high)
        return low - self.slack, high + self.slack

    def bound_halves(self, allowed: Bools, lower: Bools) -> Bounds:
        """Only the trees that ask for a variable change where it is cut."""
        sizes = self.case.law.n_states
        shape = (2, len(sizes), len(allowed), len(self.base))
        low, high = (np.broadcast_to(self.base, shape).copy() for _ in range(2))
        masks, halves = pack_states(allowed, sizes), pack_states(lower, sizes)
        units = 3.0 * self.units * len(allowed)
        compiled_bound_halves.run(units, self.leaves, self.users, masks, halves, low, high)
        return low - self.slack, high + self.slack

    def predict(self, states: Ints) -> Floats:
        """The model's own answer."""
        return self.case.predict(states)


def find_bounds(case: ModelCase) -> ScoreBounds | None:
    """Bounds for the model; None for a function whose inside is not known."""
    model = case.predictor
    if isinstance(model, AdditivePredictor):
        base, terms = find_terms(case, model)
        return AdditiveBounds(case, base, tuple(terms), model.link, 0.1 * len(terms))
    if isinstance(model, TreesPredictor) and max(case.law.n_states, default=1) <= MOST_STATES:
        return _bound_trees(case, model)
    return None


MOST_STATES = 63
"""States of a variable that a mask of bits holds."""


def _bound_trees(case: ModelCase, model: TreesPredictor) -> TreeBounds:
    """The trees over what is missing alone: those that the evidence leaves one leaf of join the base."""
    boxes, values, trees = open_leaves(case, model)
    sizes = case.law.n_states
    n_leaves = np.bincount(trees, minlength=len(model.leaves.starts))
    alone = n_leaves[trees] == 1
    base = model.bias + values[alone].sum(axis=0)
    size = np.abs(model.bias).max() + np.abs(values).max(initial=0.0) * len(model.leaves.starts)
    slack = 2.0 * ROUNDING * float(size) * (len(model.leaves.starts) + 8)
    leaves = merge_leaves(boxes[~alone], values[~alone], trees[~alone], sizes)
    users = find_users(leaves, len(sizes))
    return TreeBounds(case, base, leaves, users, model.link, slack, 2e-3 * (1 + len(leaves.place)))


def find_users(leaves: LeafMasks, n_variables: int) -> tuple[Ints, Ints]:
    """For each variable the trees that ask for it: where they begin, and the trees."""
    tree_of = np.searchsorted(leaves.starts, np.arange(len(leaves.value)), side="right") - 1
    pairs = np.stack([leaves.place, np.repeat(tree_of, np.diff(leaves.ends))], axis=1)
    places, trees = np.unique(pairs, axis=0).T if len(pairs) else np.zeros((2, 0), dtype=np.int64)
    return np.searchsorted(places, np.arange(n_variables + 1)), np.ascontiguousarray(trees)


MOST_CELLS = 64
"""Cells of a table that several trees over the same variables are joined to: a few times their leaves."""


def merge_leaves(boxes: Bools, values: Floats, trees: Ints, sizes: list[int]) -> LeafMasks:
    """The leaves as lists of conditions; trees over the same few variables are added up to one.

    The least of a sum is no less than the sum of the least: joined trees have tighter bounds.
    """
    masks = pack_states(boxes, sizes)
    whole = np.array([(1 << size) - 1 for size in sizes], dtype=np.int64)
    by_scope: dict[tuple[int, ...], list[Ints]] = {}
    for tree in np.unique(trees):
        here = np.flatnonzero(trees == tree)
        scope = tuple(np.flatnonzero((masks[here] != whole).any(axis=0)).tolist())
        by_scope.setdefault(scope, []).append(here)
    joined: list[list[tuple[Ints, Floats]]] = []
    for scope, members in by_scope.items():
        if len(members) > 1 and _n_cells(scope, members, masks, sizes) <= MOST_CELLS:
            joined.append(_add_up(scope, np.concatenate(members), masks, values, sizes))
        else:
            joined += [[(masks[leaf], values[leaf]) for leaf in here] for here in members]
    return _flatten(joined, whole, values.shape[1])


def _blocks(place: int, leaves: Ints, masks: Ints, sizes: list[int]) -> Ints:
    """The states of a variable in sets that no leaf tells apart, as bits."""
    bits = masks[leaves, place][:, np.newaxis] >> np.arange(sizes[place]) & 1
    _, block = np.unique(bits, axis=1, return_inverse=True)
    return np.bincount(block.reshape(-1), 2.0 ** np.arange(sizes[place])).astype(np.int64)


def _n_cells(scope: tuple[int, ...], members: list[Ints], masks: Ints, sizes: list[int]) -> int:
    leaves = np.concatenate(members)
    return math.prod(len(_blocks(place, leaves, masks, sizes)) for place in scope)


def _add_up(
    scope: tuple[int, ...], leaves: Ints, masks: Ints, values: Floats, sizes: list[int]
) -> list[tuple[Ints, Floats]]:
    """One leaf for each cell of the blocks, with what all trees add there."""
    found = []
    blocks = [_blocks(place, leaves, masks, sizes) for place in scope]
    for cell in itertools.product(*blocks):
        met = (masks[leaves][:, list(scope)] & np.array(cell) != 0).all(axis=1)
        mask = np.array([(1 << size) - 1 for size in sizes], dtype=np.int64)
        mask[list(scope)] = cell
        found.append((mask, values[leaves[met]].sum(axis=0)))
    return found


def _flatten(by_tree: list[list[tuple[Ints, Floats]]], whole: Ints, n_scores: int) -> LeafMasks:
    place, mask, ends, values, starts = [], [], [0], [], [0]
    for rows in by_tree:
        for row, value in rows:
            conditions = np.flatnonzero(row != whole)
            place += conditions.tolist()
            mask += row[conditions].tolist()
            ends.append(len(place))
            values.append(value)
        starts.append(len(values))
    return LeafMasks(
        place=np.array(place, dtype=np.int64),
        mask=np.array(mask, dtype=np.int64),
        ends=np.array(ends, dtype=np.int64),
        value=np.array(values, dtype=np.float64).reshape(-1, n_scores),
        starts=np.array(starts, dtype=np.int64),
    )


def pack_states(allowed: Bools, sizes: list[int]) -> Ints:  # (boxes, states) -> (boxes, variables)
    """The states of each variable as bits of a number."""
    bits = np.concatenate([1 << np.arange(size, dtype=np.int64) for size in sizes] or [np.zeros(0, np.int64)])
    starts = np.cumsum([0, *sizes[:-1]])
    packed: Ints = (
        np.add.reduceat(np.where(allowed, bits, 0), starts, axis=1)
        if sizes
        else np.zeros((len(allowed), 0), dtype=np.int64)
    )
    return packed
