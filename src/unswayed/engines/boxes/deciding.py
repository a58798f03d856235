"""From bounds on scores to decisions that hold on a whole box."""

from __future__ import annotations

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.decisions.constant import is_constant
from unswayed.decisions.rules import Decider, LogOddsIntervals, TestedDecider, log_odds
from unswayed.model.nodes.predictor import apply_link

OPEN = -1
"""In place of an action: instantiations of the box may be decided differently."""

Bounds = tuple[Floats, Floats]
"""Two arrays of one shape, the lower first."""


def bound_masses(link: str, low: Floats, high: Floats) -> Bounds:  # (boxes, scores) -> (boxes, classes)
    """Least and greatest class masses over boxes, given bounds on their scores; rows need not sum to 1."""
    if low.shape[1] == 1:
        least, most = apply_link(link, low), apply_link(link, high)
        return np.minimum(least, most), np.maximum(least, most)
    if link == "softmax":
        shift = high.max(axis=1, keepdims=True)
        return np.exp(low - shift), np.exp(high - shift)
    if link == "identity":
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    surely, possibly = np.zeros_like(low), np.zeros_like(high)
    for one in range(low.shape[1]):
        others = np.delete(np.arange(low.shape[1]), one)
        surely[:, one] = low[:, one] > high[:, others].max(axis=1)
        possibly[:, one] = high[:, one] >= low[:, others].max(axis=1)
    return surely, possibly


def bound_shares(least: Floats, most: Floats) -> Bounds:  # (boxes, classes)
    """Least and greatest probabilities, given bounds on masses."""
    low_rest = least.sum(axis=1, keepdims=True) - least
    high_rest = most.sum(axis=1, keepdims=True) - most
    with np.errstate(invalid="ignore", divide="ignore"):
        low = np.where(least > 0, least / (least + high_rest), 0.0)
        high = np.where(low_rest > 0, most / (most + low_rest), np.where(most > 0, 1.0, 0.0))
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def decide_boxes(decider: Decider, least: Floats, most: Floats) -> Ints:  # (boxes, classes) -> (boxes,)
    """The action that all class masses between the bounds lead to, `OPEN` where there is none."""
    if is_constant(decider):
        return decider.decide(least)
    found = np.full(len(least), OPEN, dtype=np.int64)
    if isinstance(decider, LogOddsIntervals):
        upper = decider.upper
        # The log-odds grow with one class and fall with the other: their ends are two corners of the box.
        corners = [least.copy(), most.copy()]
        corners[0][:, 1 - upper], corners[1][:, 1 - upper] = most[:, 1 - upper], least[:, 1 - upper]
        with np.errstate(invalid="ignore"):
            ends = [np.searchsorted(decider.cuts, log_odds(c, upper), side="right") for c in corners]
        return np.where(ends[0] == ends[1], np.asarray(decider.regions)[ends[0]], OPEN)
    if isinstance(decider, TestedDecider):
        for action in range(len(decider.actions)):
            passes = np.ones(len(least), dtype=np.bool_)
            for test in decider.tests(action):
                gains, losses = np.maximum(test.sure, 0.0), np.minimum(test.sure, 0.0)
                passes &= least @ gains + most @ losses >= 0.0
            found[passes & (found == OPEN)] = action
    return found
