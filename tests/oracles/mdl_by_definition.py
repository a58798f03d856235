"""Minimum-description-length cuts [fayyad1993] word for word: every midpoint tried, recursively."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise


def entropy(labels: Sequence[Hashable]) -> float:
    return -sum(n / len(labels) * math.log2(n / len(labels)) for n in Counter(labels).values())


def mdl_cuts_by_definition(values: Sequence[float], labels: Sequence[Hashable]) -> list[float]:
    """Accepted cut points, ascending; of equally good cuts the leftmost."""
    points = sorted(set(values))
    best: tuple[float, float] | None = None
    for low, high in pairwise(points):
        cut = (low + high) / 2
        left = [label for value, label in zip(values, labels, strict=True) if value <= cut]
        right = [label for value, label in zip(values, labels, strict=True) if value > cut]
        after = (len(left) * entropy(left) + len(right) * entropy(right)) / len(labels)
        if best is None or after < best[0] - 1e-12:
            best = (after, cut)
    if best is None:
        return []
    cut = best[1]
    below = [(v, label) for v, label in zip(values, labels, strict=True) if v <= cut]
    above = [(v, label) for v, label in zip(values, labels, strict=True) if v > cut]
    parts = [list(labels), [label for _, label in below], [label for _, label in above]]
    k, k1, k2 = (len(set(part)) for part in parts)
    h, h1, h2 = (entropy(part) for part in parts)
    delta = math.log2(3**k - 2) - (k * h - k1 * h1 - k2 * h2)
    if h - best[0] <= (math.log2(len(values) - 1) + delta) / len(values):
        return []
    left_cuts = mdl_cuts_by_definition(*map(list, zip(*below, strict=True)))
    right_cuts = mdl_cuts_by_definition(*map(list, zip(*above, strict=True)))
    return [*left_cuts, cut, *right_cuts]
