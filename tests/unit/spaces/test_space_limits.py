"""Every builder of a space stays within the memory it was allowed, or refuses."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.spaces.edges import matching_space, spanning_tree_space
from unswayed.spaces.graphs import grid
from unswayed.spaces.paths import path_space, path_space_between
from unswayed.spaces.rankings import ranking_space
from unswayed.spaces.space import Space
from unswayed.spaces.subsets import subset_space

Builder = Callable[[int, Limits], Space[Any]]
BUILDERS: dict[str, Builder] = {
    "paths": lambda n, limits: path_space(grid(n, n), (0, 0), (n - 1, n - 1), limits=limits),
    "paths between": lambda n, limits: path_space_between(grid(n, n), limits=limits),
    "matchings": lambda n, limits: matching_space(grid(n, n), limits=limits),
    "trees": lambda n, limits: spanning_tree_space(grid(n - 1, n - 1), limits=limits),
    "rankings": lambda n, limits: ranking_space(2 * n, limits=limits),
    "subsets": lambda n, limits: subset_space(n**3, n, limits=limits),
}


@pytest.mark.parametrize("max_bytes", [1_000_000, 10_000_000, 100_000_000])
@pytest.mark.parametrize("kind", BUILDERS)
def test_a_space_and_its_circuit_fit_into_the_memory_allowed_or_are_refused(kind, max_bytes):
    _ = BUILDERS[kind](3, Limits()).structure  # what is compiled on first use is not counted
    tracemalloc.start()
    try:
        _ = BUILDERS[kind](7, Limits(max_bytes=max_bytes)).structure
    except LimitError as error:
        assert "limit" in str(error)  # noqa: PT017 - the other outcome is as good
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Beside what grows with the space there are names, a vtree and code that is loaded.
    assert peak < 1.1 * max_bytes + 1_000_000


def test_a_search_that_cannot_end_within_the_memory_allowed_is_refused_long_before():
    limits = Limits(max_bytes=100_000_000)
    _ = BUILDERS["paths"](3, Limits()).structure
    tracemalloc.start()
    with pytest.raises(LimitError, match="seen from edge"):
        path_space(grid(14, 14), (0, 0), (13, 13), limits=limits)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * limits.max_bytes


@pytest.mark.slow
def test_a_grid_whose_circuit_would_take_the_machine_is_refused():
    """The grid of 11 x 11 nodes has a diagram of some hundred megabytes and a circuit of half a gigabyte."""
    limits = Limits(max_bytes=200_000_000)
    with pytest.raises(LimitError, match="the circuit of simple paths"):
        path_space(grid(11, 11), (0, 0), (10, 10), limits=limits)
