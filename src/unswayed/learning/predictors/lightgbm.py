"""LightGBM's boosters, through the text that they write themselves.

A number goes left when it is at most the threshold; a category when its bit is set. A split says what happens
to NaN: a side of its own, or to be read as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools
from unswayed.learning.predictors.fitted import Fitted, UnreadableError, join_trees, tree_part
from unswayed.model.nodes.predictor import Link

IS_WORD, DEFAULT_LEFT = 1, 2
"""Bits of a split's type; the two above them say what is missing: nothing, zero or NaN."""
ZERO, NAN = 1, 2


def read_lightgbm(model: Any, words: Sequence[tuple[str, ...]]) -> Fitted:
    """A booster, or scikit-learn's wrapper of one; `UnreadableError` for other objectives than classes."""
    booster = getattr(model, "booster_", model)
    head, *sections = booster.model_to_string(num_iteration=booster.best_iteration).split("\nTree=")
    fields = dict(line.split("=", 1) for line in head.splitlines() if "=" in line)
    objective = fields.get("objective", "").split()
    n_scores = int(fields["num_tree_per_iteration"])
    if objective[:1] not in (["binary"], ["multiclass"]) or "average_output" in head.splitlines():
        raise UnreadableError(f"a LightGBM model for {' '.join(objective)}")
    slope = next((float(each[8:]) for each in objective if each.startswith("sigmoid:")), 1.0)
    parts = [_part(text, number % n_scores, n_scores, slope) for number, text in enumerate(sections)]
    classes = tuple(model.classes_.tolist()) if hasattr(model, "classes_") else tuple(range(max(2, n_scores)))
    link = Link.LOGIT if n_scores == 1 else Link.SOFTMAX
    trees = join_trees(parts, n_scores)
    return Fitted(classes, tuple(words), link, np.zeros(n_scores), trees=trees, takes_gaps=True)


def _part(text: str, score: int, n_scores: int, slope: float) -> dict[str, Any]:
    """A tree; LightGBM numbers splits and leaves apart, here leaves come after the splits."""
    fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    leaves = np.array(fields["leaf_value"].split(), dtype=np.float64)
    n_splits = len(leaves) - 1
    value = np.zeros((n_splits + len(leaves), n_scores))
    value[n_splits:, score] = slope * leaves
    if not n_splits:
        none = np.full(1, -1)
        return tree_part(none, np.full(1, np.nan), np.zeros(1), none, none, value)
    if fields.get("is_linear", "0").split()[:1] == ["1"]:
        raise UnreadableError("trees with linear leaves")
    kinds = np.array(fields["decision_type"].split(), dtype=np.int64)
    below = [_children(fields[f"{side}_child"], n_splits) for side in ("left", "right")]
    threshold = np.array(fields["threshold"].split(), dtype=np.float64)
    is_word, absent = (kinds & IS_WORD) > 0, (kinds >> 2) & 3
    if (absent == ZERO).any():
        raise UnreadableError("trees that take zero as missing")
    codes = _codes_left(fields, threshold, is_word, len(value))
    # NaN without a side of its own is read as 0; among categories NaN goes right.
    zero_left = np.where(is_word, codes[:n_splits, :1].any(axis=1), threshold >= 0.0)
    sends = np.where(absent == NAN, ~is_word & ((kinds & DEFAULT_LEFT) > 0), zero_left)
    filled = [np.concatenate([each, np.full(len(leaves), -1)]) for each in below]
    cut = np.concatenate([np.where(is_word, np.nan, threshold), np.full(len(leaves), np.nan)])
    feature = np.concatenate(
        [np.array(fields["split_feature"].split(), dtype=np.int64), np.full(len(leaves), -1)]
    )
    missing = np.concatenate([sends, np.zeros(len(leaves), dtype=bool)])
    return tree_part(feature, cut, missing, filled[0], filled[1], value, codes)


def _children(text: str, n_splits: int) -> Any:
    """Positions of the nodes below: a leaf is written as the bits of its number turned round."""
    numbers = np.array(text.split(), dtype=np.int64)
    return np.where(numbers < 0, n_splits + ~numbers, numbers)


def _codes_left(fields: dict[str, str], threshold: Any, is_word: Any, n_nodes: int) -> Bools:
    if not is_word.any():
        return np.zeros((n_nodes, 0), dtype=bool)
    bounds = np.array(fields["cat_boundaries"].split(), dtype=np.int64)
    blocks = np.array(fields["cat_threshold"].split(), dtype=np.uint32)
    codes: Bools = np.zeros((n_nodes, 32 * int(np.diff(bounds).max())), dtype=bool)
    for node in np.flatnonzero(is_word).tolist():
        which = int(threshold[node])
        own = blocks[bounds[which] : bounds[which + 1]]
        bits = (own[:, np.newaxis] >> np.arange(32, dtype=np.uint32)) & 1
        codes[node, : bits.size] = bits.reshape(-1)
    return codes
