"""Paths, matchings and trees as networkx and Graphillion count them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from unswayed.circuits.sdd.evaluate import evaluate, model_count
from unswayed.core.errors import ModelError, QueryError
from unswayed.spaces.graphs import as_graph
from unswayed.spaces.paths import path_space, path_space_between
from unswayed.spaces.recipes import graphset_space, matching_space, spanning_tree_space

networkx = pytest.importorskip("networkx")


@pytest.mark.parametrize("seed", range(8))
def test_paths_are_those_of_networkx(seed):
    graph = networkx.gnp_random_graph(8, 0.45, seed=seed)
    found = {(a, b): list(networkx.all_simple_paths(graph, a, b)) for a, b in combinations(graph, 2)}
    everything = [path for paths in found.values() for path in paths]
    space = path_space_between(graph)
    rows = space.encode_many(everything)
    assert space.size == len(everything) == len(np.unique(rows, axis=0))
    assert evaluate(space.sdd, rows).all()
    for (a, b), paths in found.items():
        if paths:
            assert path_space(graph, a, b).size == len(paths)


@pytest.mark.parametrize("seed", range(4))
def test_trees_are_those_of_networkx(seed):
    graph = networkx.connected_watts_strogatz_graph(9, 4, 0.4, seed=seed)
    assert spanning_tree_space(graph).size == round(networkx.number_of_spanning_trees(graph))


def test_graphs_of_networkx_that_do_not_fit_are_refused():
    with pytest.raises(ModelError, match="parallel"):
        as_graph(networkx.MultiGraph([(1, 2), (1, 2)]))
    with pytest.raises(ModelError, match="to itself"):
        as_graph(networkx.Graph([(1, 1), (1, 2)]))


def test_directed_graphs_of_networkx_keep_their_direction():
    assert as_graph(networkx.DiGraph([(1, 2)])).is_directed
    assert not as_graph(networkx.Graph([(1, 2)])).is_directed


def test_grids_of_networkx_are_our_grids():
    space = path_space(networkx.grid_2d_graph(5, 5), (0, 0), (4, 4))
    assert space.size == 8512  # A007764


@pytest.fixture
def graph_set():
    """Graphillion's class of graph sets, its universe a small random graph."""
    graphillion = pytest.importorskip("graphillion")
    graph = networkx.connected_watts_strogatz_graph(8, 4, 0.5, seed=1)
    graphillion.GraphSet.set_universe(list(graph.edges))
    return graph, graphillion.GraphSet


def test_graphillion_counts_the_same(graph_set):
    graph, sets = graph_set
    assert path_space(graph, 0, 5).size == len(sets.paths(0, 5))
    assert spanning_tree_space(graph).size == len(sets.trees(is_spanning=True))
    assert matching_space(graph).size == len(sets.matchings())


@pytest.mark.parametrize("name", ["paths", "cycles", "cliques", "everything", "nothing taken"])
def test_sets_of_graphillion_are_spaces(graph_set, name):
    _, sets = graph_set
    made = {
        "paths": lambda: sets.paths(0, 5),
        "cycles": sets.cycles,
        "cliques": lambda: sets.cliques(3),
        "everything": lambda: sets({}),
        "nothing taken": lambda: sets([[]]),
    }[name]()
    space = graphset_space(made)
    assert space.size == len(made) == model_count(space.sdd)
    chosen = [graph for _, graph in zip(range(50), made, strict=False)]
    rows = space.encode_many(chosen)
    assert evaluate(space.sdd, rows).all()
    assert space.decode_many(rows) == [frozenset(graph) for graph in chosen]


def test_what_is_no_set_of_graphillion_is_refused(graph_set):
    _, sets = graph_set
    with pytest.raises(QueryError, match="is empty"):
        graphset_space(sets())
    with pytest.raises(QueryError, match="GraphSet is needed"):
        graphset_space([1, 2])
    space = graphset_space(sets.paths(0, 5))
    assert "no graph of the set has exactly these 0 edges" in space.explain([])
