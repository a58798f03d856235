"""Naive Bayes and TAN: hand-made numbers, trees against all trees, and the network of the authors."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from learning_cases import datasets
from oracles.best_tree import best_tree_weight, information_by_definition
from shared_data import SHARED, needs_shared_data
from tolerances import ENGINE
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError, ModelError, QueryError
from unswayed.core.limits import Limits
from unswayed.learning import learn_naive_bayes, learn_tan
from unswayed.learning.trees import maximum_spanning_tree
from unswayed.model.data.dataset import Dataset, make_dataset
from unswayed.model.data.discretize import AtMean, Discretization
from unswayed.model.formats import read_network
from unswayed.model.variable import Variable

ROWS = {"fever": ["yes", "yes", "no", "no"], "cough": ["a", "b", "a", None], "flu": ["y", "y", "y", "n"]}


def test_naive_bayes_by_hand() -> None:
    network = learn_naive_bayes(ROWS, "flu")
    assert network.names == ("flu", "fever", "cough")
    assert [[p.name for p in cpt.parents] for cpt in network.cpts] == [[], ["flu"], ["flu"]]
    assert network.cpts[0].table == pytest.approx(np.array([[2 / 6, 4 / 6]]))
    assert network.cpts[1].table == pytest.approx(np.array([[2 / 3, 1 / 3], [2 / 5, 3 / 5]]))
    # The row with a missing cough still counts for flu and for fever.
    assert network.cpts[2].table == pytest.approx(np.array([[1 / 2, 1 / 2], [3 / 5, 2 / 5]]))


@needs_shared_data
@pytest.mark.parametrize("source", ["binary/bupa.csv", "bupa.csv"])
def test_the_authors_bupa_network_is_rebuilt(source: str) -> None:
    """Each feature cut at its mean, 0.5 added to every count [choi2018, Sec. 6]."""
    path = SHARED / "tables" / Path(source)
    target = "BP" if source.startswith("binary") else "selector"
    network = learn_naive_bayes(path, target, smoothing=0.5, discretization=Discretization(AtMean()))
    theirs = read_network(SHARED / "networks" / "trimbn" / "bupa.bif")
    # Their first class is selector 2; in the binary table it is written 0.
    order = [0, 1] if source.startswith("binary") else [1, 0]
    assert network.cpts[0].table[0][order] == pytest.approx(theirs.cpts[0].table[0], abs=1e-4)
    for ours, expected in zip(network.cpts[1:], theirs.cpts[1:], strict=True):
        assert ours.table[order] == pytest.approx(expected.table, abs=1e-4)


def tree_of(data: Dataset, target: str = "V0") -> set[tuple[int, int]]:
    network = learn_tan(data, target)
    return {
        (data.index(parent.name), data.index(cpt.child.name))
        for cpt in network.cpts
        for parent in cpt.parents
        if parent.name != target
    }


@settings(deadline=None)
@given(datasets(max_variables=6))
def test_tan_is_the_best_of_all_trees(data: Dataset) -> None:
    """By definition, on the rows that observe both features and the class."""
    n_features = len(data.variables) - 1
    weights = np.zeros((n_features, n_features))
    for i, j in combinations(range(n_features), 2):
        rows = [tuple(row) for row in data.codes[:, [0, i + 1, j + 1]].tolist() if min(row) >= 0]
        weights[i, j] = weights[j, i] = information_by_definition(rows) if rows else 0.0
    arcs = tree_of(data)
    assert len(arcs) == n_features - 1
    found = sum(weights[a - 1, b - 1] for a, b in arcs)
    assert found == pytest.approx(best_tree_weight(weights.tolist()), abs=ENGINE)


def test_a_tan_copies_what_was_copied() -> None:
    rng = np.random.default_rng(3)
    flu, first, other = (rng.integers(0, 2, 400) for _ in range(3))
    noisy = np.where(rng.random(400) < 0.1, 1 - first, first)
    data = make_dataset({"first": first, "other": other, "noisy": noisy, "flu": flu}, "flu")
    network = learn_tan(data, "flu")
    assert network.names[0] == "flu"
    assert [p.name for p in network.cpts[network.index("noisy")].parents] == ["flu", "first"]
    rooted = learn_tan(data, "flu", root="noisy")
    assert [p.name for p in rooted.cpts[rooted.index("first")].parents] == ["flu", "noisy"]
    assert [p.name for p in rooted.cpts[rooted.index("noisy")].parents] == ["flu"]


def test_tan_tables_by_hand() -> None:
    """Also where the parent stands after the child in the table."""
    rows = {"a": list("xxyyx"), "b": list("ppqqq"), "c": list("00000")}
    network = learn_tan(rows, "c", root="b", smoothing=1.0)
    cpt = network.cpts[network.index("a")]
    assert [p.name for p in cpt.parents] == ["c", "b"]
    assert cpt.table == pytest.approx(np.array([[3 / 4, 1 / 4], [2 / 5, 3 / 5]]))


def test_equal_arcs_are_decided_by_position() -> None:
    assert maximum_spanning_tree(np.ones((4, 4)), root=0) == [None, 0, 0, 0]
    assert maximum_spanning_tree(np.ones((4, 4)) + 1e-15 * np.arange(4), root=2) == [2, 0, None, 0]


@pytest.mark.parametrize("learn", [learn_naive_bayes, learn_tan])
def test_what_cannot_be_learned_is_refused(learn: object) -> None:
    assert callable(learn)
    with pytest.raises(QueryError, match="did you mean 'flu'"):
        learn(ROWS, "Flu")
    with pytest.raises(ModelError, match="every row misses the target"):
        learn(Dataset([Variable("x", "ab"), Variable("y", "ab")], [[0, -1]]), "y")
    with pytest.raises(ModelError, match="no rows"):
        learn(Dataset([Variable("x", "ab"), Variable("y", "ab")], np.empty((0, 2), dtype=int)), "y")
    with pytest.raises(ModelError, match="smoothing"):
        learn(ROWS, "flu", smoothing=-1)
    with pytest.raises(ModelError, match="give discretization and weights to make_dataset"):
        learn(make_dataset(ROWS), "flu", weights=[1, 1, 1, 1])


def test_only_a_target_is_still_a_network() -> None:
    for learn in (learn_naive_bayes, learn_tan):
        assert learn({"y": ["a", "b", "b"]}, "y").cpts[0].table == pytest.approx(np.array([[0.4, 0.6]]))


def test_the_root_of_a_tree_is_a_feature() -> None:
    with pytest.raises(QueryError, match="must be a feature"):
        learn_tan(ROWS, "flu", root="flu")
    with pytest.raises(QueryError, match="unknown column"):
        learn_tan(ROWS, "flu", root="temperature")


def test_too_many_pairs_are_refused() -> None:
    with pytest.raises(LimitError), within(Limits(max_bytes=8)):
        learn_tan(ROWS, "flu")
