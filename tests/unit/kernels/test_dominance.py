"""The Fenwick tree sums what comparing every pair sums, plain and compiled."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.kernels.dominance import compare_pairs, compiled_sum_dominated, sum_dominated


@pytest.mark.parametrize("seed", range(5))
def test_sums_as_by_every_pair(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 40, 2)
    asking, entering = rng.random((n, 3)), rng.random((m, 3))
    n_entered, first_rank = np.sort(rng.integers(0, m + 1, n)), rng.integers(0, m + 1, n)
    ranks = rng.permutation(m)
    meets = (np.arange(m) < n_entered[:, np.newaxis]) & (ranks >= first_rank[:, np.newaxis])
    exact = np.einsum("ic,ij,jc->c", asking, meets, entering)
    for kernel in (sum_dominated, compare_pairs, compiled_sum_dominated.compiled):
        assert kernel(asking, n_entered, first_rank, entering, ranks) == pytest.approx(exact, abs=1e-12)
