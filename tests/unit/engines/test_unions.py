"""Bounds on conjunctions hold for events that are enumerated."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from unswayed.engines.sums.unions import Corner, bound_conjunction, span_tree


def around(rng, value, slack):
    """Bounds around a number."""
    return np.full((1, 1), value - slack * rng.random()), np.full((1, 1), value + slack * rng.random())


@pytest.mark.parametrize("seed", range(60))
def test_bounds_hold_the_probability_of_all_tests_together(seed):
    rng = np.random.default_rng(seed)
    n, slack = int(rng.integers(2, 6)), float(rng.choice([0.0, 0.02]))
    outcomes = np.array(list(itertools.product([False, True], repeat=n)))  # which tests hold
    mass = rng.dirichlet(np.full(len(outcomes), 0.2))
    exact = mass[outcomes.all(axis=1)].sum()
    holding = [around(rng, mass[outcomes[:, i]].sum(), slack) for i in range(n)]
    corners = {
        (i, j): Corner(
            around(rng, mass[~outcomes[:, i] & ~outcomes[:, j]].sum(), slack),
            around(rng, mass[outcomes[:, i] & outcomes[:, j]].sum(), slack),
        )
        for i, j in itertools.combinations(range(n), 2)
        if rng.random() < 0.7
    }
    low, high = bound_conjunction(holding, corners, np.ones((1, 1)))
    plain = bound_conjunction(holding, {}, np.ones((1, 1)))
    assert plain[0] - 1e-15 <= low <= exact + 1e-12
    assert exact - 1e-12 <= high <= plain[1] + 1e-15
    if n == 2 and corners and slack == 0.0:
        assert high - low == pytest.approx(0.0, abs=1e-12)


def test_the_tree_is_the_heaviest():
    """Against all trees over four places."""
    weights = {(0, 1): 3.0, (0, 2): 1.0, (0, 3): 2.0, (1, 2): 2.5, (1, 3): 4.0, (2, 3): 0.5}
    trees = (
        edges
        for edges in itertools.combinations(weights, 3)
        if len({place for edge in edges for place in edge}) == 4
    )
    heaviest = max(sum(weights[edge] for edge in edges) for edges in trees)
    assert sum(weights[edge] for edge in span_tree(4, weights)) == heaviest
