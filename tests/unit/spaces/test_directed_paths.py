"""Paths along one-way streets, compared with walking every one of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from unswayed.circuits.sdd.evaluate import model_count
from unswayed.core.errors import QueryError
from unswayed.kernels import frontier
from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
from unswayed.spaces.classifier.files import load_structured, save_structured
from unswayed.spaces.edge_sets import EdgeSets, diagram_of, narrow_order
from unswayed.spaces.graphs import Graph, graph_from_edges, grid
from unswayed.spaces.paths import path_space, path_space_between
from unswayed.spaces.recipes import matching_space
from unswayed.spaces.route_files import read_graph, simple_trips
from unswayed.spaces.space import Partial
from unswayed.spaces.zdd import count_sets

NODES = "abcdef"


@st.composite
def directed_graphs(draw: st.DrawFn) -> Graph:
    nodes = NODES[: draw(st.integers(2, 6))]
    arcs = [(a, b) for a in nodes for b in nodes if a != b]
    chosen = draw(st.lists(st.sampled_from(arcs), min_size=1, max_size=16, unique=True))
    return graph_from_edges(chosen, nodes=nodes, is_directed=True)


def walks(graph: Graph, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """All simple paths that go on from a beginning, itself left out where it is one node."""
    if len(path) > 1:
        yield path
    for a, b in graph.edges.tolist():
        if graph.nodes[a] == path[-1] and graph.nodes[b] not in path:
            yield from walks(graph, (*path, graph.nodes[b]))


@settings(max_examples=150)
@given(directed_graphs(), st.data())
def test_paths_between_two_nodes_are_all_there(graph, data):
    first, last = data.draw(st.permutations(graph.nodes))[:2]
    expected = {path for path in walks(graph, (first,)) if path[-1] == last}
    if not expected:
        with pytest.raises(QueryError, match="not connected"):
            path_space(graph, first, last)
        return
    space = path_space(graph, first, last)
    assert space.size == len(expected) == model_count(space.sdd)
    assert set(space.decode_many(space.encode_many(list(expected)))) == expected


@settings(max_examples=100)
@given(directed_graphs())
def test_paths_between_any_nodes_are_not_their_reverse(graph):
    expected = {path for node in graph.nodes for path in walks(graph, (node,))}
    space = path_space_between(graph)
    assert space.size == len(expected)
    assert set(space.decode_many(space.encode_many(list(expected)))) == expected


def test_compiled_and_plain_search_agree_and_two_ways_are_no_ways_less(monkeypatch):
    """A grid of two-way streets has as many directed paths as it has paths."""
    edges = grid(5, 5).edges
    both = Graph(grid(5, 5).nodes, np.concatenate([edges, edges[:, ::-1]]), is_directed=True)
    space = path_space(both, (0, 0), (4, 4))
    assert space.size == path_space(grid(5, 5), (0, 0), (4, 4)).size == 8512
    may = np.zeros(25, dtype=np.int64)
    may[0], may[24] = 1, 2
    wanted = EdgeSets(
        both, narrow_order(both), frontier.DIRECTED_PATHS, may, np.zeros((1, 1), int), (may > 0).astype(int)
    )
    for search in (frontier.search, frontier.compiled_search.compiled):
        monkeypatch.setattr(frontier, "compiled_search", search)
        assert count_sets(diagram_of(wanted)) == space.size


def test_one_way_streets_are_respected_and_explained():
    town = graph_from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("b", "a")], is_directed=True)
    space = path_space(town, "a", "c")
    assert space.explain(("a", "c")) == "edge from a to c is not in the graph"
    assert ("a", "b", "c") in space
    assert space.names == ("a>b", "b>a", "b>c", "c>a") or set(space.names) == {"a>b", "b>a", "b>c", "c>a"}
    some = path_space_between(town, [("a", "c"), ("b", "c")])
    assert some.size == 2
    assert some.observe(Partial(["a", "b"])).sum() == 1 - 3
    with pytest.raises(QueryError, match="every first node must go with every last"):
        path_space_between(town, [("a", "c"), ("b", "a")])
    with pytest.raises(QueryError, match="directed"):
        matching_space(town)


def test_a_model_on_one_way_streets_is_saved_and_loaded(tmp_path):
    town = graph_from_edges([("a", "b"), ("b", "c"), ("a", "c"), ("c", "b")], is_directed=True)
    space = path_space_between(town)
    trips = space.decode_many(space.sample(10, np.random.default_rng(0)))
    model = StructuredNaiveBayes(space).fit(trips, ["x", "y"] * 5)
    save_structured(model, tmp_path / "m.json")
    loaded = load_structured(tmp_path / "m.json")
    assert loaded.predict_proba(trips) == pytest.approx(model.predict_proba(trips))


def test_a_file_of_one_way_streets(tmp_path):
    (tmp_path / "roads.csv").write_text("from,to\na,b\nb,a\nb,c\n")
    assert len(read_graph(tmp_path / "roads.csv").edges) == 2
    town = read_graph(tmp_path / "roads.csv", directed=True)
    assert (len(town.edges), town.is_directed) == (3, True)
    with pytest.raises(QueryError, match="not connected"):
        path_space(town, "c", "a")


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=9), max_size=5))
def test_trips_without_loops_visit_no_node_twice_and_keep_their_ends(trips):
    kept = simple_trips(trips)
    assert [list(path) for path in kept.paths] == [t for t in trips if len(set(t)) == len(t) > 1]
    erased = simple_trips(trips, erase_loops=True)
    for path, row in zip(erased.paths, erased.rows, strict=True):
        trip = trips[row]
        assert len(set(path)) == len(path) > 1
        assert (path[0], path[-1]) == (trip[0], trip[-1])
        steps = set(pairwise(trip))
        assert set(pairwise(path)) <= steps
    assert len(erased.paths) + erased.n_left_out == len(trips)
