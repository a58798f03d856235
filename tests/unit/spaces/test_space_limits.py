"""Every builder of a space stays within the memory it was allowed, or refuses."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest

from unswayed.core.anytime import limits
from unswayed.core.errors import LimitError, QueryError
from unswayed.kernels import frontier
from unswayed.spaces import edge_sets, zdd
from unswayed.spaces.edge_sets import EdgeSets, diagram_of, edges_by_vertex, narrow_order
from unswayed.spaces.graphs import Graph, grid
from unswayed.spaces.paths import path_space, path_space_between
from unswayed.spaces.rankings import ranking_space
from unswayed.spaces.recipes import matching_space, spanning_tree_space
from unswayed.spaces.space import Space
from unswayed.spaces.subsets import subset_space

Builder = Callable[[int], Space[Any]]
BUILDERS: dict[str, Builder] = {
    "paths": lambda n: path_space(grid(n, n), (0, 0), (n - 1, n - 1)),
    "paths between": lambda n: path_space_between(grid(n, n)),
    "matchings": lambda n: matching_space(grid(n, n)),
    "trees": lambda n: spanning_tree_space(grid(n - 1, n - 1)),
    "rankings": lambda n: ranking_space(2 * n),
    "subsets": lambda n: subset_space(n**3, n),
}


@pytest.mark.parametrize("max_bytes", [1_000_000, 10_000_000, 100_000_000])
@pytest.mark.parametrize("kind", BUILDERS)
def test_a_space_and_its_circuit_fit_into_the_memory_allowed_or_are_refused(kind, max_bytes):
    _ = BUILDERS[kind](7).structure  # what is compiled on first use is not counted
    tracemalloc.start()
    try:
        with limits(max_bytes=max_bytes):
            _ = BUILDERS[kind](7).structure
    except LimitError as error:
        assert "limit" in str(error)  # noqa: PT017 - the other outcome is as good
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Beside what grows with the space there are names, a vtree and code that is loaded.
    assert peak < 1.1 * max_bytes + 1_000_000


def test_a_search_that_cannot_end_within_the_memory_allowed_is_refused_long_before():
    most = 100_000_000
    _ = BUILDERS["paths"](3).structure
    tracemalloc.start()
    with pytest.raises(LimitError, match="seen from edge"), limits(max_bytes=most):
        path_space(grid(14, 14), (0, 0), (13, 13))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * most


def town(rng: np.random.Generator, *, is_directed: bool) -> Graph:
    """A grid without some of its streets, others of them one-way."""
    plain = grid(6, 7)
    edges = plain.edges[rng.random(len(plain.edges)) < 0.85]
    if is_directed:
        ways = rng.random((len(edges), 2)) < 0.75
        edges = np.concatenate([edges[ways[:, 0]], edges[ways[:, 1]][:, ::-1]])
    return Graph(plain.nodes, edges, is_directed)


@pytest.mark.parametrize("is_directed", [False, True])
def test_nothing_that_would_fit_is_foreseen_not_to(monkeypatch, is_directed):
    """Over all edges, no more memory is foreseen than the search turns out to need."""
    asked: list[tuple[float, str]] = []
    for module in (edge_sets, zdd):
        monkeypatch.setattr(module, "check_bytes", lambda n_bytes, what: asked.append((n_bytes, what)))
    rng = np.random.default_rng(0)
    for _ in range(40):
        graph = town(rng, is_directed=is_directed)
        source, target = (graph.nodes[end] for end in rng.choice(len(graph.nodes), 2, replace=False))
        for ask in (partial(path_space, graph, source, target), partial(path_space_between, graph)):
            asked.clear()
            with suppress(QueryError):
                ask()
            needed = max((n_bytes for n_bytes, what in asked if "the diagram at" in what), default=0.0)
            foreseen = max((n_bytes for n_bytes, what in asked if "seen from" in what), default=0.0)
            assert foreseen <= max(needed, 5_000)  # nobody allows less


@pytest.mark.parametrize("n", [9, 13])
def test_paths_of_a_grid_are_searched_row_by_row(n):
    """Row by row the grid of 8 x 8 nodes has half as many nodes as diagonal by diagonal [choi2016]."""
    graph = grid(n, n)
    rows = edges_by_vertex(graph, list(range(n * n)))
    assert (narrow_order(graph) == rows).all()


def test_trees_of_a_grid_are_searched_by_diagonals():
    graph = grid(7, 7)
    rows = edges_by_vertex(graph, list(range(49)))
    nothing, joins = np.full(49, -1), np.zeros((1, 1), dtype=np.int64)
    by_rows = EdgeSets(graph, rows, frontier.TREES, nothing, joins, np.zeros(49, dtype=np.int64))
    assert spanning_tree_space(graph).coding.diagram.n_nodes < 0.6 * diagram_of(by_rows).n_nodes


@pytest.mark.slow
def test_a_grid_whose_circuit_would_take_the_machine_is_refused():
    """The grid of 11 x 11 nodes has a diagram of some hundred megabytes and a circuit of half a gigabyte."""
    with pytest.raises(LimitError, match="the circuit of simple paths"), limits(max_bytes=200_000_000):
        path_space(grid(11, 11), (0, 0), (10, 10))
