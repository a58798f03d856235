"""Sums of decision trees as nodes: one tree, forests, boosting.

    scores(x) = bias + sum over trees of the value of the leaf that x reaches,    Pr(D | x) = link(scores(x))

All trees are one set of flat arrays (`Trees`), as their readers make them: a split sends a number left when
it is at most the cut, a category when its code is listed, and what was never measured where the split says. A
reader moves a cut of a library that compares in single precision to the place that decides alike here.

The states that a leaf can be reached from form a box, so over a box of states a tree's least and greatest
values are those of the leaves whose boxes meet it, exactly; the sum of these holds the sum of trees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints, frozen_floats, read_only
from unswayed.core.errors import ModelError
from unswayed.kernels.tree_walks import UNITS_PER_STEP, FlatTrees, compiled_walk_trees
from unswayed.model.cpt import Cpt
from unswayed.model.nodes.predictor import (
    Input,
    Link,
    PredictorCpt,
    Raw,
    apply_link,
    check_predictor,
    digest_model,
    segments,
    take,
)
from unswayed.model.variable import Variable

LEAF = -1
"""In place of a split's feature."""


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """The nodes of all trees, side by side."""

    feature: Ints  # (nodes,)
    """Position of the input that a node splits on; `LEAF` for none."""
    cut: Floats  # (nodes,)
    """Numbers up to it go left; NaN where the split is of categories, and at leaves."""
    codes_left: Bools  # (nodes, codes)
    """Which codes of categories go left; codes beyond go right."""
    missing_left: Bools  # (nodes,)
    """Whether what was never measured goes left."""
    left: Ints  # (nodes,)
    right: Ints  # (nodes,)
    """Positions of the nodes below; those of a leaf are its own."""
    value: Floats  # (nodes, scores)
    """What a leaf adds to each score."""
    roots: Ints  # (trees,)
    """Where each tree begins."""

    def __post_init__(self) -> None:
        for name, kind in _TYPES.items():
            array = np.array(getattr(self, name), dtype=kind)
            object.__setattr__(self, name, read_only(array))
        n_nodes = len(self.feature)
        for name in ("left", "right"):  # a walk that has arrived stays where it is
            below_itself = np.where(self.feature < 0, np.arange(n_nodes), getattr(self, name)[:n_nodes])
            object.__setattr__(self, name, read_only(below_itself))
        below = np.concatenate([self.left, self.right, self.roots])
        lengths = {len(getattr(self, name)) for name in _TYPES if name != "roots"}
        if lengths != {n_nodes} or self.value.ndim != 2 or self.codes_left.ndim != 2:
            raise ModelError("trees need one entry for each node in every array")
        if (below < 0).any() or (below >= max(n_nodes, 1)).any() or not np.isfinite(self.value).all():
            raise ModelError("trees name nodes that they do not have, or values that are no numbers")
        self._check_descent()
        last = np.flatnonzero(self.codes_left.any(axis=0))[-1:] + 1  # codes beyond go right as it is
        object.__setattr__(self, "codes_left", read_only(self.codes_left[:, : int(last.sum())].copy()))

    def _check_descent(self) -> None:
        """Refuse nodes that are reached twice: a walk must end, and each leaf has one path."""
        inner = self.feature >= 0
        above = np.bincount(
            np.concatenate([self.left[inner], self.right[inner], self.roots]), minlength=len(self.feature)
        )
        if (above > 1).any():
            raise ModelError("some node of the trees has two parents, or is below itself")

    @property
    def n_scores(self) -> int:
        """Number of scores."""
        return int(self.value.shape[1])

    def on_columns(self, used: Sequence[int]) -> Trees:
        """The same trees, whose features are positions among the columns used."""
        number = np.full(max(used, default=0) + 2, LEAF)
        number[list(used)] = np.arange(len(used))
        return replace(self, feature=number[self.feature])

    def goes_left(self, nodes: Ints, codes: Floats) -> Bools:  # (nodes,), (codes,) -> (nodes, codes)
        """Where each of some nodes sends each of some values."""
        cut = self.cut[nodes][:, np.newaxis]
        is_missing = np.isnan(codes)
        found: Bools = codes <= cut
        n_codes = self.codes_left.shape[1]
        if n_codes:
            place = np.where(is_missing | (codes < 0) | (codes >= n_codes), 0, codes).astype(np.int64)
            listed = self.codes_left[nodes][:, place] & (codes >= 0) & (codes < n_codes)
            found = np.where(np.isnan(cut), listed, found)
        sent: Bools = np.where(is_missing, self.missing_left[nodes][:, np.newaxis], found)
        return sent

    def __eq__(self, other: object) -> bool:
        # By bytes: the NaN of a leaf's cut is no difference.
        return isinstance(other, Trees) and all(
            getattr(self, name).tobytes() == getattr(other, name).tobytes() for name in _TYPES
        )

    def __hash__(self) -> int:
        return hash((self.feature.tobytes(), self.value.tobytes()))


_TYPES: dict[str, Any] = {
    "feature": np.int64,
    "cut": np.float64,
    "codes_left": np.bool_,
    "missing_left": np.bool_,
    "left": np.int64,
    "right": np.int64,
    "value": np.float64,
    "roots": np.int64,
}


class Leaves(NamedTuple):
    """The leaves of all trees, tree after tree."""

    nodes: Ints
    """Their positions among the nodes."""
    starts: Ints  # (trees,)
    """Where the leaves of each tree begin."""
    boxes: Bools  # (leaves, all states)
    """The states of each parent from which a leaf can be reached, the parents side by side."""


@dataclass(frozen=True, slots=True, eq=False)
class TreesCpt(PredictorCpt):
    """A link of a sum of trees.

    >>> x, d = Variable("x", ["<=1", ">1"]), Variable("d", ["no", "yes"])
    >>> stump = Trees([0, LEAF, LEAF], [1.0, np.nan, np.nan], np.zeros((3, 0)), [1, 0, 0], [1, 1, 2],
    ...               [2, 1, 2], [[0.0], [-2.0], [2.0]], [0])
    >>> cpt = TreesCpt(d, (x,), (Input((0.5, 3.0)),), stump, bias=[0.0], link=Link.LOGIT)
    >>> cpt.probabilities(np.array([[0], [1]]))[:, 1].round(3).tolist()
    [0.119, 0.881]
    """

    child: Variable
    """D; its states are the model's classes."""
    parents: tuple[Variable, ...]
    """The inputs that the model uses."""
    inputs: tuple[Input, ...]
    """What the states of each parent stand for."""
    trees: Trees
    """The trees; features are positions of parents."""
    bias: Floats  # (scores,)
    """The scores without any tree."""
    link: Link
    """How scores become probabilities."""
    takes_gaps: bool = False
    """Whether the model has a path of its own for what was not measured."""
    mask: Bools = field(init=False, repr=False, compare=False)  # (nodes, most states)
    """Which states of its parent each split sends left; leaves send none."""
    _leaves: list[Leaves] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", tuple(self.parents))
        object.__setattr__(self, "bias", frozen_floats(np.atleast_1d(self.bias)))
        object.__setattr__(self, "_leaves", [])
        check_predictor(self, len(self.bias))
        if self.trees.n_scores != len(self.bias) or (self.trees.feature >= len(self.parents)).any():
            raise ModelError(
                f"model of {self.child.name!r}: its trees have other scores or parents than it has"
            )
        mask = np.zeros((len(self.trees.feature), max(map(len, self.parents), default=1)), dtype=bool)
        for place, each in enumerate(self.inputs):
            nodes = np.flatnonzero(self.trees.feature == place)
            mask[nodes, : len(each.values)] = self.trees.goes_left(nodes, each.codes)
        object.__setattr__(self, "mask", read_only(mask))

    @property
    def feature(self) -> Ints:
        """Position of the parent that each node splits on, -1 at leaves."""
        return self.trees.feature

    @property
    def left(self) -> Ints:
        """The node below, for the states in `mask`."""
        return self.trees.left

    @property
    def right(self) -> Ints:
        """The node below, for all other states."""
        return self.trees.right

    @property
    def value(self) -> Floats:
        """What each leaf adds to each score."""
        return self.trees.value

    @property
    def fingerprint(self) -> str:
        """That of the bias and all trees."""
        return digest_model(self, [self.bias, *(getattr(self.trees, name) for name in _TYPES)])

    def scores(self, states: Ints) -> Floats:
        """The bias with the values of the leaves that each row reaches."""
        trees, total = self.trees, np.zeros((len(states), self.trees.n_scores))
        flat = FlatTrees(trees.feature, self.mask, trees.left, trees.right, trees.value, trees.roots)
        # A tree of n nodes is some log2(n) deep, about.
        depth = np.log2(2.0 + len(trees.feature) / max(len(trees.roots), 1))
        units = UNITS_PER_STEP * len(states) * len(trees.roots) * float(depth)
        compiled_walk_trees.run(units, flat, np.ascontiguousarray(states), total)
        found: Floats = self.bias + total
        return found

    @property
    def leaves(self) -> Leaves:
        """The leaves with their boxes, found once."""
        if not self._leaves:
            self._leaves.append(_find_leaves(self))
        return self._leaves[0]

    def score_bounds(self, allowed: Bools) -> tuple[Floats, Floats]:
        """The sum of each tree's own bounds, which are exact; their sum holds the true range."""
        low, high = (np.tile(self.bias, (len(allowed), 1)) for _ in range(2))
        if not len(self.trees.roots):
            return low, high
        nodes, starts, boxes = self.leaves
        met = np.ones((len(allowed), len(nodes)), dtype=bool)
        for part in segments(self.parents):
            met &= allowed[:, part].astype(np.float32) @ boxes[:, part].T.astype(np.float32) > 0
        for score in range(self.trees.n_scores):
            value = self.trees.value[nodes, score]
            low[:, score] += np.minimum.reduceat(np.where(met, value, np.inf), starts, axis=1).sum(axis=1)
            high[:, score] += np.maximum.reduceat(np.where(met, value, -np.inf), starts, axis=1).sum(axis=1)
        return low, high

    def restrict(self, values: Mapping[int, Raw]) -> PredictorCpt | Cpt:
        """Splits on those parents are taken; trees that are one leaf join the bias."""
        pruned = self.prune(values)
        if pruned.parents:
            return pruned
        return Cpt(self.child, (), apply_link(self.link, pruned.bias[np.newaxis]), normalize=True)

    def prune(self, values: Mapping[int, Raw]) -> TreesCpt:
        """The same, of parents that some split is left of; there may be none."""
        trees, bias = _pruned(self, {place: self.inputs[place].code(raw) for place, raw in values.items()})
        used = np.unique(trees.feature[trees.feature >= 0]).tolist()
        parents, inputs = take(self.parents, used), take(self.inputs, used)
        kept = trees.on_columns(used)
        return TreesCpt(self.child, parents, inputs, kept, bias, self.link, self.takes_gaps)

    def on(self, parents: tuple[Variable, ...], inputs: tuple[Input, ...]) -> TreesCpt:
        """The same trees at other values."""
        return replace(self, parents=parents, inputs=inputs)


def _find_leaves(cpt: TreesCpt) -> Leaves:
    """Boxes from the roots down: a node below a split has its parent's box, less what goes elsewhere."""
    trees, parts = cpt.trees, segments(cpt.parents)
    total = sum(map(len, cpt.parents))
    boxes = np.ones((len(trees.feature), total), dtype=bool)
    tree_of = np.zeros(len(trees.feature), dtype=np.int64)
    tree_of[trees.roots] = np.arange(len(trees.roots))
    level, found = trees.roots, [trees.roots[:0]]
    while len(level):
        found.append(level[trees.feature[level] < 0])
        level = level[trees.feature[level] >= 0]
        for child, is_left in ((trees.left[level], True), (trees.right[level], False)):
            boxes[child], tree_of[child] = boxes[level], tree_of[level]
            for place, part in enumerate(parts):
                here = trees.feature[level] == place
                sent = cpt.mask[level[here], : len(cpt.parents[place])]
                boxes[child[here], part] &= sent if is_left else ~sent
        level = np.concatenate([trees.left[level], trees.right[level]])
    nodes = np.concatenate(found)
    nodes = nodes[np.argsort(tree_of[nodes], kind="stable")]
    starts = np.searchsorted(tree_of[nodes], np.arange(len(trees.roots)))
    return Leaves(nodes, starts, boxes[nodes])


def _pruned(cpt: TreesCpt, codes: Mapping[int, float]) -> tuple[Trees, Floats]:
    """The trees without the splits that known values decide, and the bias with those that are leaves now."""
    trees = cpt.trees
    goes_on = np.arange(len(trees.feature))
    for place, code in codes.items():
        nodes = np.flatnonzero(trees.feature == place)
        sent = trees.goes_left(nodes, np.array([code]))[:, 0]
        goes_on[nodes] = np.where(sent, trees.left[nodes], trees.right[nodes])
    while not np.array_equal(goes_on, goes_on[goes_on]):  # a split below a taken split may be taken too
        goes_on = goes_on[goes_on]
    roots = goes_on[trees.roots]
    is_leaf = trees.feature[roots] < 0
    bias: Floats = cpt.bias + trees.value[roots[is_leaf]].sum(axis=0)
    roots, left, right = roots[~is_leaf], goes_on[trees.left], goes_on[trees.right]
    kept, level = [roots], roots
    while len(level := level[trees.feature[level] >= 0]):
        level = np.concatenate([left[level], right[level]])
        kept.append(level)
    nodes = np.concatenate(kept)
    number = np.zeros(len(trees.feature), dtype=np.int64)
    number[nodes] = np.arange(len(nodes))
    taken = {each.name: getattr(trees, each.name)[nodes] for each in fields(trees) if each.name != "roots"}
    taken |= {"left": number[left[nodes]], "right": number[right[nodes]]}
    return Trees(**taken, roots=number[roots]), bias
