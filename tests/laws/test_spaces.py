"""Laws of structured spaces: a circuit holds in a row exactly when the row is an object."""

from __future__ import annotations

from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oracles import edge_sets
from unswayed.circuits.sdd.evaluate import evaluate, model_count
from unswayed.circuits.sdd.validate import check_circuit, is_compressed, is_normalized
from unswayed.core.errors import QueryError
from unswayed.spaces.graphs import Graph, is_connected
from unswayed.spaces.paths import path_space, path_space_between
from unswayed.spaces.rankings import ranking_space, tiered_ranking_space
from unswayed.spaces.recipes import matching_space, spanning_tree_space
from unswayed.spaces.space import Space
from unswayed.spaces.subsets import subset_space


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 6, max_edges: int = 9) -> Graph:
    """A graph of a few nodes, connected or not."""
    n_nodes = draw(st.integers(2, max_nodes))
    pairs = list(combinations(range(n_nodes), 2))
    edges = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=max_edges, unique=True))
    return Graph(tuple(range(n_nodes)), np.array(edges))


def all_rows(n_variables: int) -> np.ndarray:
    return np.array(list(product((False, True), repeat=n_variables)))


def edges_of(graph: Graph) -> list[tuple[int, int]]:
    return [(a, b) for a, b in graph.edges.tolist()]


def rows_of(space: Space[Any], graph: Graph, chosen: list[list[tuple[int, int]]]) -> set[bytes]:
    """Sets of edges as rows of the space, whose variables are edges in an order of its own."""
    column = {name: k for k, name in enumerate(space.names)}
    name_of = dict(zip(edges_of(graph), graph.edge_names(), strict=True))
    rows = np.zeros((len(chosen), len(column)), dtype=bool)
    for row, edges in enumerate(chosen):
        rows[row, [column[name_of[edge]] for edge in edges]] = True
    return {row.tobytes() for row in rows}


def assert_is_space_of(space: Space[Any], expected: set[bytes]) -> None:
    """The size, the circuit and the codes all describe the expected rows, and nothing else."""
    rows = all_rows(len(space.names))
    holds = evaluate(space.sdd, rows)
    assert {row.tobytes() for row in rows[holds]} == expected
    assert space.size == len(expected) == model_count(space.sdd)
    check_circuit(space.sdd)
    assert is_normalized(space.sdd)
    assert is_compressed(space.sdd)
    objects = space.decode_many(rows[holds])
    assert (space.encode_many(objects) == rows[holds]).all()
    for row in rows[~holds][:40]:
        with pytest.raises(QueryError):
            space.decode(row)


@settings(deadline=None)
@given(graphs(), st.data())
def test_path_space_is_the_set_of_simple_paths(graph, data):
    source, target = data.draw(st.permutations(range(len(graph.nodes))))[:2]
    expected = edge_sets.members(edges_of(graph), lambda edges: edge_sets.is_path(edges, source, target))
    if not expected:
        with pytest.raises(QueryError, match="there are no simple paths"):
            path_space(graph, source, target)
        return
    space = path_space(graph, source, target)
    assert_is_space_of(space, rows_of(space, graph, expected))


@settings(deadline=None)
@given(graphs(), st.data())
def test_paths_between_pairs_are_the_union_of_paths(graph, data):
    known = st.sampled_from(list(combinations(range(len(graph.nodes)), 2)))
    pairs = data.draw(st.none() | st.lists(known, min_size=1, max_size=5))
    wanted = combinations(range(len(graph.nodes)), 2) if pairs is None else pairs
    expected = [
        chosen
        for a, b in set(wanted)
        for chosen in edge_sets.members(
            edges_of(graph), lambda edges, a=a, b=b: edge_sets.is_path(edges, a, b)
        )
    ]
    if not expected:
        with pytest.raises(QueryError, match="there are no simple paths"):
            path_space_between(graph, pairs)
        return
    space = path_space_between(graph, pairs)
    assert_is_space_of(space, rows_of(space, graph, expected))


@settings(deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_of_edges_changes_no_path(graph, random):
    order = list(range(len(graph.edges)))
    random.shuffle(order)
    plain = path_space_between(graph)
    shuffled = path_space_between(graph, order=np.array(order))
    assert plain.size == shuffled.size
    assert set(plain.decode_many(plain.sample(20, np.random.default_rng(0)))) <= set(
        shuffled.decode_many([row for row in all_rows(len(order)) if evaluate(shuffled.sdd, row)])
    )


@settings(deadline=None)
@given(graphs(), st.booleans())
def test_matching_space_is_the_set_of_matchings(graph, perfect):
    n_nodes = len(graph.nodes)
    expected = [
        edges
        for edges in edge_sets.members(edges_of(graph), edge_sets.is_matching)
        if not perfect or 2 * len(edges) == n_nodes
    ]
    if not expected:
        with pytest.raises(QueryError, match="no perfect matching"):
            matching_space(graph, perfect=perfect)
        return
    space = matching_space(graph, perfect=perfect)
    assert_is_space_of(space, rows_of(space, graph, expected))


@settings(deadline=None)
@given(graphs())
def test_spanning_tree_space_is_the_set_of_spanning_trees(graph):
    if not is_connected(graph):
        with pytest.raises(QueryError, match="not connected"):
            spanning_tree_space(graph)
        return
    n_nodes = len(graph.nodes)
    expected = edge_sets.members(edges_of(graph), lambda edges: edge_sets.is_spanning_tree(edges, n_nodes))
    space = spanning_tree_space(graph)
    assert_is_space_of(space, rows_of(space, graph, expected))


@settings(deadline=None)
@given(st.integers(1, 8), st.sets(st.integers(0, 8), min_size=1))
def test_subset_space_is_the_set_of_subsets_of_these_sizes(n_items, sizes):
    sizes = {size for size in sizes if size <= n_items} or {n_items}
    rows = all_rows(n_items)
    expected = {row.tobytes() for row in rows if row.sum() in sizes}
    assert_is_space_of(subset_space(n_items, sizes), expected)


@pytest.mark.parametrize(
    ("n_items", "tiers"),
    [
        (1, (1,)),
        (2, (1,)),
        (2, (2,)),
        (3, (1, 1, 1)),
        (3, (1, 1)),
        (3, (2,)),
        (4, (1, 1)),
        (4, (2, 1)),
        (4, (1, 2)),
        (4, (1, 3)),
        (4, (2, 2)),
        (4, (1, 1, 1)),
        (4, (1, 1, 1, 1)),
    ],
)
def test_ranking_space_is_the_set_of_rankings(n_items, tiers):
    space = tiered_ranking_space(n_items, tiers)
    expected = set()
    for order in permutations(range(n_items), sum(tiers)):
        row = np.zeros((len(tiers), n_items), dtype=bool)
        row[np.repeat(np.arange(len(tiers)), tiers), order] = True
        expected.add(row.tobytes())
    assert_is_space_of(space, expected)


@given(st.integers(1, 7), st.data())
def test_decoding_gives_back_what_was_encoded(n_items, data):
    top = data.draw(st.integers(1, n_items))
    space = ranking_space([f"item {k}" for k in range(n_items)], top=top)
    order = tuple(data.draw(st.permutations([f"item {k}" for k in range(n_items)]))[:top])
    assert space.decode(space.encode(order)) == order
    assert order in space
