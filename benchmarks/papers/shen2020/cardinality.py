"""Figure 2: a child that depends on the number of ones among its parents only."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.papers.shen2020.curves import Curves, Data, curves

PARENTS = 16
ROWS = 2**14
NOISE = 0.05
BAYES = -(NOISE * math.log(NOISE) + (1 - NOISE) * math.log(1 - NOISE))
"""The negated log-likelihood of the true distribution: nothing is below it but by chance."""


def panels(seed: int) -> list[Curves]:
    """k = 2, 4, 8."""
    return [curves(data(k, np.random.default_rng([seed, k])), seed) for k in (2, 4, 8)]


def data(k: int, rng: np.random.Generator) -> Data:
    """Parents with at most 1/k ones in half of the rows, more in the other half, each uniform."""
    train, labels = _rows(k, ROWS, rng)
    test, test_labels = _rows(k, ROWS, rng)
    return Data(f"k = {k}", train, labels, test, test_labels, stops_early=False)


def _rows(k: int, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    sizes = np.arange(PARENTS + 1)
    few = sizes <= PARENTS / k
    ways = np.array([float(math.comb(PARENTS, size)) for size in sizes])
    is_few = rng.random(count) < 0.5
    n_ones = np.where(
        is_few,
        rng.choice(sizes, count, p=ways * few / (ways * few).sum()),
        rng.choice(sizes, count, p=ways * ~few / (ways * ~few).sum()),
    )
    rows = rng.random((count, PARENTS)).argsort(axis=1) < n_ones[:, np.newaxis]
    labels = np.where(is_few, rng.random(count) < NOISE, rng.random(count) >= NOISE)
    return rows, labels.astype(np.int64)
