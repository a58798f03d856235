"""The zoo: written networks hold the paper's numbers, random ones have the shape they promise."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.inference.ordering import elimination_order
from unswayed.model import zoo


def test_review_holds_the_numbers_of_the_paper():
    network = zoo.review()
    assert network.cpts[network.index("D")].table[0, 0] == 0.2
    assert network.cpts[network.index("R1")].table[:, 0].tolist() == [0.7, 0.2]
    assert network.cpts[network.index("R2")].table[:, 0].tolist() == [0.6, 0.1]
    assert network.cpts[network.index("AC")].table[:, 0].tolist() == [0.9, 0.2, 0.3, 0.0]


def test_the_same_seed_gives_the_same_network():
    for make in (
        lambda rng: zoo.random_naive_bayes(8, rng, n_classes=3, max_states=4),
        lambda rng: zoo.random_polytree(20, rng, max_states=3),
        lambda rng: zoo.random_bounded_treewidth(20, 3, rng),
    ):
        assert make(np.random.default_rng(4)) == make(np.random.default_rng(4))
        assert make(np.random.default_rng(4)) != make(np.random.default_rng(5))


def test_naive_bayes_has_one_parent_everywhere():
    network = zoo.random_naive_bayes(12, np.random.default_rng(0), n_classes=3, max_states=4)
    assert network.parents == ((), *[(0,)] * 12)
    assert len(network.variables[0]) == 3


@pytest.mark.parametrize("seed", range(5))
def test_polytree_has_no_undirected_loop(seed):
    network = zoo.random_polytree(40, np.random.default_rng(seed), max_parents=3)
    root = list(range(40))

    def find(v):
        while root[v] != v:
            v = root[v]
        return v

    arcs = [(p, c) for c, parents in enumerate(network.parents) for p in parents]
    for one, other in arcs:
        assert find(one) != find(other), "an arc within one tree closes a loop"
        root[find(one)] = find(other)
    assert len(arcs) == 39
    assert max(map(len, network.parents)) <= 3


@pytest.mark.parametrize("width", [1, 2, 4])
def test_bounded_treewidth_is_bounded(width):
    """An order exists, and is found, that makes no table over more than `width` + 1 variables."""
    for seed in range(5):
        network = zoo.random_bounded_treewidth(40, width, np.random.default_rng(seed))
        scopes = [(*parents, child) for child, parents in enumerate(network.parents)]
        order = elimination_order(scopes, [2] * 40)
        assert order.largest <= 2 ** (width + 1)
