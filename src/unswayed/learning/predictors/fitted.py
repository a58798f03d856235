"""What a reader finds in a fitted model, over the columns of the table that it was fitted on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools, Floats
from unswayed.core.errors import UnswayedError
from unswayed.model.nodes.additive import Term
from unswayed.model.nodes.predictor import Link
from unswayed.model.nodes.trees import LEAF, Trees


class UnreadableError(UnswayedError):
    """A model that is none of the known kinds; it is taken as a function of a table."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A model as a sum of terms or of trees."""

    classes: tuple[Any, ...]
    """The labels, in the order of the probabilities."""
    words: tuple[tuple[str, ...], ...]
    """The categories that the model knows of each column, in the order of its codes; none for numbers."""
    link: Link
    bias: Floats
    terms: tuple[Term | None, ...] | None = None
    """What each column adds; None for one that does not count."""
    trees: Trees | None = None
    """Trees whose features are columns."""
    takes_gaps: bool = False
    """Whether the model has a path of its own for what was not measured."""


def last_left(goes_left: Callable[[Floats], Bools], n_splits: int) -> Floats:
    """For each of some splits the largest number that goes left.

    Libraries compare in single precision, or after scaling; this finds the cut that decides alike for numbers
    as they are, by bisection over all of them: where `goes_left` is true, it is for every smaller number.

    >>> cut = np.array([0.1])
    >>> bool(last_left(lambda x: x.astype(np.float32) < np.float32(0.1), 1) < 0.1)
    True
    """
    # Finite doubles in ascending order are as many consecutive integers.
    top = int(np.array(np.finfo(np.float64).max).view(np.int64))
    low, high = np.full(n_splits, -top), np.full(n_splits, top)
    while (low < high).any():
        middle = high // 2 + low // 2 + (high % 2 + low % 2 + 1) // 2
        is_left = goes_left(_number(middle))
        low, high = np.where(is_left, middle, low), np.where(is_left, high, np.maximum(middle - 1, low))
    return _number(low)


def _number(order: Any) -> Floats:
    """The double at a place among all of them, 0 in the middle."""
    magnitude: Floats = np.abs(order).view(np.float64)
    return np.where(order < 0, -magnitude, magnitude)


def join_trees(parts: Sequence[dict[str, Any]], n_scores: int) -> Trees:
    """One set of arrays from a dictionary of arrays for each tree, whose root is its first node."""
    if not parts:
        none: Any = np.zeros(0)
        flat: Any = np.zeros((0, n_scores))
        return Trees(none, none, flat, none, none, none, flat, none)
    sizes = [len(part["feature"]) for part in parts]
    offsets = np.cumsum([0, *sizes[:-1]])
    n_codes = max(part["codes_left"].shape[1] for part in parts)
    for part, offset in zip(parts, offsets, strict=True):
        codes = part["codes_left"]
        part["codes_left"] = np.pad(codes, ((0, 0), (0, n_codes - codes.shape[1])))
        part["left"], part["right"] = part["left"] + offset, part["right"] + offset
    arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Trees(**arrays, roots=offsets)


def tree_part(
    feature: Any, cut: Any, missing_left: Any, left: Any, right: Any, value: Any, codes_left: Any = None
) -> dict[str, Any]:
    """The arrays of one tree; children below 0 mark a leaf."""
    is_leaf = np.asarray(left) < 0
    own = np.arange(len(is_leaf))
    n_nodes = len(is_leaf)
    return {
        "feature": np.where(is_leaf, LEAF, feature),
        "cut": np.where(is_leaf, np.nan, cut),
        "codes_left": np.zeros((n_nodes, 0), dtype=bool) if codes_left is None else codes_left,
        "missing_left": np.asarray(missing_left, dtype=bool),
        "left": np.where(is_leaf, own, left),
        "right": np.where(is_leaf, own, right),
        "value": np.asarray(value, dtype=np.float64),
    }
