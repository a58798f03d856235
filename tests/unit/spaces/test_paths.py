"""Paths as rows: what is refused and how; many ends; limits."""

from __future__ import annotations

import numpy as np
import pytest

from shared_data import SHARED, needs_shared_data
from unswayed.circuits.sdd.evaluate import evaluate
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError, ModelError, QueryError
from unswayed.core.limits import Limits
from unswayed.spaces.graphs import Graph, as_graph, graph_from_edges, grid
from unswayed.spaces.paths import path_space, path_space_between
from unswayed.spaces.route_files import read_graph, read_paths

HOUSE = [("n1", "n2"), ("n2", "n3"), ("n3", "n4"), ("n4", "n1"), ("n2", "n5"), ("n3", "n5")]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (["n1", "n2", "n5", "n2"], "the path visits n2 twice"),
        (["n1", "n3"], "edge n1-n3 is not in the graph"),
        (["n1", "n2"], "the path ends at n2, not n4"),
        (["n4", "n1"], "the path begins at n4, not n1"),
        (["n1", "n7"], "unknown node 'n7'; known: 'n1'"),
        (["n1"], "a path of 1 nodes"),
        ([], "a path of 0 nodes"),
        ("n1", "is no path"),
        (3, "is no path"),
        (["n1", ["n2"]], "unknown node"),
    ],
    ids=["twice", "edge", "end", "begin", "unknown", "one", "none", "text", "number", "unhashable"],
)
def test_what_is_no_path_is_refused_by_the_rule_it_breaks(path, reason):
    assert reason in path_space(HOUSE, "n1", "n4").explain(path)


def test_among_many_the_wrong_one_is_named():
    with pytest.raises(QueryError, match="object 1: edge n1-n3"):
        path_space(HOUSE, "n1", "n4").encode_many([["n1", "n4"], ["n1", "n3"]])


def test_ends_that_are_no_pair_are_refused():
    space = path_space_between(HOUSE, [("n1", "n5"), ("n2", "n4")])
    assert ["n5", "n2", "n1"] in space
    assert "not a pair of ends" in space.explain(["n1", "n2"])


def test_a_row_of_two_pieces_is_not_decoded():
    space = path_space(grid(3, 3), (0, 0), (0, 1))
    column = {name: k for k, name in enumerate(space.names)}
    row = np.zeros(len(column), dtype=bool)
    cycle = ["(1, 1)-(1, 2)", "(1, 1)-(2, 1)", "(1, 2)-(2, 2)", "(2, 1)-(2, 2)"]
    row[[column[name] for name in ["(0, 0)-(0, 1)", *cycle]]] = True
    assert not evaluate(space.sdd, row)
    with pytest.raises(QueryError, match="do not hang together"):
        space.decode(row)


def test_nodes_without_a_connection_have_no_space():
    apart = [("a", "b"), ("c", "d")]
    with pytest.raises(QueryError, match="not connected"):
        path_space(apart, "a", "d")
    with pytest.raises(QueryError, match="begins and ends"):
        path_space(apart, "a", "a")
    with pytest.raises(QueryError, match="unknown node 'z'"):
        path_space(apart, "a", "z")


@pytest.mark.parametrize(
    "edges", [[("a", "a")], [("a", "b"), ("b", "a")], []], ids=["loop", "parallel", "none"]
)
def test_graphs_that_contradict_themselves_are_refused(edges):
    with pytest.raises(ModelError):
        as_graph(edges)


@pytest.mark.parametrize("edges", ["ab", [("a",)], [3], [("a", "b", "c")]], ids=repr)
def test_what_is_no_edge_is_refused(edges):
    with pytest.raises(QueryError, match="is no edge"):
        as_graph(edges)


def test_edges_with_equal_text_get_different_names():
    graph = Graph(("a-b", "c", "a", "b-c"), np.array([[0, 1], [2, 3]]))
    assert len(set(graph.edge_names())) == 2


def test_an_order_must_have_each_edge_once():
    with pytest.raises(QueryError, match="each number from 0 to 5 once"):
        path_space(HOUSE, "n1", "n4", order=np.array([0, 0, 1, 2, 3, 4]))


def test_limits_are_kept():
    with pytest.raises(LimitError, match="the diagram, seen from edge"), within(Limits(max_bytes=1000)):
        path_space(grid(8, 8), (0, 0), (7, 7))
    with pytest.raises(LimitError, match="the time was over"), within(Limits(max_seconds=1e-6)):
        path_space(grid(8, 8), (0, 0), (7, 7))


def test_len_gives_way_to_size_where_it_is_too_large():
    space = path_space(grid(3, 14), (0, 0), (2, 13))
    assert len(space) == space.size
    # Along a ladder, each of the 66 rungs is crossed or not, an even number of times in all.
    ladder = path_space(grid(66, 2), (0, 0), (65, 0))
    assert ladder.size == 2**65
    with pytest.raises(QueryError, match=r"use \.size"):
        len(ladder)


@needs_shared_data
def test_observed_trips_are_paths_between_their_ends():
    graph = read_graph(SHARED / "routes" / "borlange_core.json")
    trips = read_paths(SHARED / "routes" / "borlange_core.json")
    space = path_space_between(graph, {(trip[0], trip[-1]) for trip in trips})
    rows = space.encode_many(trips)
    assert evaluate(space.sdd, rows).all()
    decoded = space.decode_many(rows)
    assert all(path in (trip, trip[::-1]) for path, trip in zip(decoded, trips, strict=True))


def test_edges_keep_the_order_of_nodes():
    graph = graph_from_edges([("b", "a")], nodes=["a", "b", "lonely"])
    assert graph.nodes == ("a", "b", "lonely")
    assert path_space(graph, "a", "b").size == 1
