"""Loops over decision trees and their plain twins give the same numbers, to the last bit."""

import itertools

import numpy as np
import pytest

from predictor_cases import random_trees
from unswayed.engines.boxes.scores import find_users, merge_leaves, pack_states
from unswayed.kernels.box_bounds import (
    bound_boxes,
    bound_halves,
    bound_halves_together,
    bound_together,
)
from unswayed.kernels.tree_walks import FlatTrees, walk_together, walk_trees
from unswayed.model.nodes.predictor import Link, segments


def random_boxes(rng, sizes, n_boxes):
    allowed = rng.random((n_boxes, sum(sizes))) < 0.6
    starts = np.cumsum([0, *sizes])
    for start, end in itertools.pairwise(starts):
        empty = ~allowed[:, start:end].any(axis=1)
        allowed[empty, start + rng.integers(end - start)] = True
    return allowed


@pytest.mark.parametrize("seed", range(12))
def test_bounds_over_boxes_and_their_halves(seed):
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 2
    cpt = random_trees(rng, 5, Link.LOGIT if n_classes == 2 else Link.SOFTMAX, n_classes, n_trees=6)
    sizes = [len(parent) for parent in cpt.parents]
    nodes, starts, boxes = cpt.leaves
    trees = np.searchsorted(starts, np.arange(len(nodes)), side="right") - 1
    several = np.bincount(trees)[trees] > 1
    leaves = merge_leaves(boxes[several], cpt.value[nodes[several]] / 3.0, trees[several], sizes)
    allowed = random_boxes(rng, sizes, 20)
    masks = pack_states(allowed, sizes)
    looped, together = ([np.ones((20, len(cpt.bias))) for _ in range(2)] for _ in range(2))
    bound_boxes(leaves, masks, *looped)
    bound_together(leaves, masks, *together)
    assert np.array_equal(looped, together)
    lower = np.zeros_like(allowed)
    for part in segments(cpt.parents):
        some = allowed[:, part].sum(axis=1) > 1
        lower[np.flatnonzero(some), part.start + allowed[some][:, part].argmax(axis=1)] = True
    halves, users = pack_states(lower, sizes), find_users(leaves, len(sizes))
    shape = (2, len(sizes), 20, len(cpt.bias))
    looped, together = ([np.ones(shape) for _ in range(2)] for _ in range(2))
    bound_halves(leaves, users, masks, halves, *looped)
    bound_halves_together(leaves, users, masks, halves, *together)
    assert np.array_equal(looped, together)


@pytest.mark.parametrize("seed", range(12))
def test_rows_reach_the_same_leaves(seed):
    rng = np.random.default_rng(seed)
    cpt = random_trees(rng, 4, Link.SOFTMAX, 3, n_trees=int(rng.integers(0, 9)) + 1)
    trees = cpt.trees
    flat = FlatTrees(trees.feature, cpt.mask, trees.left, trees.right, trees.value / 3.0, trees.roots)
    states = np.stack([rng.integers(0, len(p), 50) for p in cpt.parents], axis=1)
    looped, together = np.zeros((50, 3)), np.zeros((50, 3))
    walk_trees(flat, states, looped)
    walk_together(flat, states, together)
    assert np.array_equal(looped, together)
