"""XGBoost's boosters, through the JSON that they write themselves.

A number goes left when, in single precision, it is below the condition; a category goes right when it is in
the node's set. The base score is a probability for `binary:logistic` and a score elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools, Floats
from unswayed.learning.predictors.fitted import Fitted, UnreadableError, join_trees, last_left, tree_part
from unswayed.model.nodes.predictor import Link

_LINKS = {"binary:logistic": Link.LOGIT, "multi:softprob": Link.SOFTMAX, "multi:softmax": Link.SOFTMAX}


def read_xgboost(model: Any, words: Sequence[tuple[str, ...]]) -> Fitted:
    """A booster, or scikit-learn's wrapper of one; `UnreadableError` for linear ones and other objectives."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    objective, boosting = learner["objective"]["name"], learner["gradient_booster"]
    if objective not in _LINKS or boosting["name"] != "gbtree":
        raise UnreadableError(f"an XGBoost model of kind {boosting['name']} for {objective}")
    link = _LINKS[objective]
    n_scores = max(1, int(learner["learner_model_param"]["num_class"]))
    inner, trees = boosting["model"], boosting["model"]["trees"]
    parts = [_part(tree, score, n_scores) for tree, score in zip(trees, inner["tree_info"], strict=True)]
    parts = parts[: _n_used(model, learner, len(parts), n_scores * _n_parallel(inner))]
    bias = _base_score(learner["learner_model_param"]["base_score"], link, n_scores)
    n_classes = max(2, n_scores)
    classes = tuple(model.classes_.tolist()) if hasattr(model, "classes_") else tuple(range(n_classes))
    return Fitted(classes, tuple(words), link, bias, trees=join_trees(parts, n_scores), takes_gaps=True)


def _n_parallel(inner: Any) -> int:
    return int(inner["gbtree_model_param"].get("num_parallel_tree", 1))


def _n_used(model: Any, learner: Any, n_trees: int, a_round: int) -> int:
    """Trees that predictions use: the wrapper stops at the best round of an early stopping."""
    best = learner.get("attributes", {}).get("best_iteration")
    return n_trees if best is None or not hasattr(model, "get_booster") else (int(best) + 1) * a_round


def _base_score(text: str, link: Link, n_scores: int) -> Floats:
    numbers = np.array([float(each) for each in text.strip("[]").split(",")])
    shares = np.broadcast_to(numbers, (n_scores,)).astype(np.float64)
    return np.log(shares / (1 - shares)) if link is Link.LOGIT else shares.copy()


def _part(tree: Any, score: int, n_scores: int) -> dict[str, Any]:
    left = np.array(tree["left_children"], dtype=np.int64)
    condition = np.array(tree["split_conditions"], dtype=np.float32)
    value = np.zeros((len(left), n_scores))
    value[left < 0, score] = condition[left < 0]
    is_word = np.array(tree["split_type"]) == 1
    cut = np.full(len(left), np.nan)
    numeric = np.flatnonzero((left >= 0) & ~is_word)
    with np.errstate(over="ignore"):
        cut[numeric] = last_left(lambda x: x.astype(np.float32) < condition[numeric], len(numeric))
    codes = _codes_left(tree, len(left))
    right, missing = np.array(tree["right_children"]), np.array(tree["default_left"], dtype=bool)
    return tree_part(np.array(tree["split_indices"]), cut, missing, left, right, value, codes)


def _codes_left(tree: Any, n_nodes: int) -> Bools:
    listed = np.array(tree["categories"], dtype=np.int64)
    codes: Bools = np.zeros((n_nodes, int(listed.max(initial=-1)) + 1), dtype=bool)
    for node, start, size in zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    ):
        codes[node] = True
        codes[node, listed[start : start + size]] = False
    return codes
