"""How often several tests hold together, from how often each fails and how often two fail at once.

Let E_1 ... E_k be the failures, P_i and P_ij their probabilities and those of two together. Then

    P(no failure)  >=  1 - sum P_i + sum over the edges of a tree P_ij               [hunter1976]
    P(no failure)  <=  1 - (P_i + P_j - P_ij)                             for every i and j
    P(no failure)  <=  1 - 2 S_1 / (m + 1) + 2 S_2 / (m (m + 1))          for every m >= 1   [dawson1967]

with S_1 the sum of all P_i and S_2 that of all P_ij. For two tests the first two are equal: nothing is lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from unswayed.core.arrays import Floats

Bounds = tuple[Floats, Floats]  # (classes, rows) each
"""Least and greatest mass."""
Places = tuple[int, int]
"""Positions of two tests, the lower first."""


class Corner(NamedTuple):
    """Bounds on two tests together."""

    missed: Bounds
    """Mass where both fail."""
    reached: Bounds
    """Mass where both hold."""


def bound_conjunction(holding: Sequence[Bounds], corners: Mapping[Places, Corner], mass: Floats) -> Bounds:
    """Bounds on the mass where all tests hold, from where each does and what is known of some two."""
    failing = [(mass - most, mass - least) for least, most in holding]
    low = mass - sum((most for _, most in failing), np.zeros_like(mass))
    weights = {places: float(corner.missed[0].sum()) for places, corner in corners.items()}
    for edge in span_tree(len(failing), weights):
        low = low + corners[edge].missed[0]
    high = mass - _least_union(failing, corners)
    for corner in corners.values():
        high = np.minimum(high, corner.reached[1])
        if len(holding) == 2:
            low = np.maximum(low, corner.reached[0])
    return np.clip(low, 0.0, mass), np.maximum(high, 0.0)


def _least_union(failing: Sequence[Bounds], corners: Mapping[Places, Corner]) -> Floats:
    """The mass where some test fails, at least."""
    least = [low for low, _ in failing]
    union: Floats = np.maximum.reduce(least, initial=0.0)
    for (i, j), corner in corners.items():
        union = np.maximum(union, least[i] + least[j] - corner.missed[1])
    if len(least) > 2 and corners:
        first, second = np.add.reduce(least), np.zeros_like(union)
        for places in itertools.combinations(range(len(least)), 2):
            most = np.minimum(failing[places[0]][1], failing[places[1]][1])
            second += np.minimum(most, corners[places].missed[1]) if places in corners else most
        # Any m is right; this one is best where the sums are exact.
        m = 1.0 + np.floor(2.0 * second / np.maximum(first, 1e-300))
        union = np.maximum(union, 2.0 / (m + 1.0) * (first - second / m))
    return union


def span_tree(n: int, weights: Mapping[Places, float]) -> list[Places]:
    """Edges of a heaviest forest over `n` places, the heaviest first."""
    piece = list(range(n))
    chosen = []
    for i, j in sorted(weights, key=lambda places: -weights[places]):
        if piece[i] != piece[j]:
            chosen.append((i, j))
            piece = [piece[i] if each == piece[j] else each for each in piece]
    return chosen
