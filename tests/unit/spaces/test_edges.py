"""Matchings, trees and subsets: known numbers, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.core.errors import QueryError
from unswayed.spaces.graphs import grid
from unswayed.spaces.recipes import matching_space, spanning_tree_space
from unswayed.spaces.subsets import subset_space

SQUARE = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]


def test_domino_tilings_of_the_chessboard():
    """Fisher and Temperley 1961, Kasteleyn 1961."""
    assert matching_space(grid(8, 8), perfect=True).size == 12_988_816


def test_spanning_trees_follow_the_matrix_tree_theorem():
    graph = grid(4, 5)
    laplacian = np.zeros((20, 20))
    for a, b in graph.edges.tolist():
        laplacian[[a, b], [a, b]] += 1
        laplacian[[a, b], [b, a]] -= 1
    assert spanning_tree_space(graph).size == round(np.linalg.det(laplacian[1:, 1:]))


@pytest.mark.parametrize(
    ("edges", "reason"),
    [
        ([("a", "b"), ("b", "c")], "two edges meet at b"),
        ([("a", "c")], "unknown edge"),
        ([("a", "b"), ("b", "a")], "names an edge twice"),
        ("ab", "is no set"),
        (None, "is no set"),
        ([("a", "b", "c")], "unknown edge"),
        ([[["a"], "b"]], "unknown edge"),
    ],
    ids=["meet", "no edge", "twice", "text", "none", "three", "unhashable"],
)
def test_what_is_no_matching_is_refused(edges, reason):
    assert reason in matching_space(SQUARE).explain(edges)


def test_perfect_matchings_leave_nobody_out():
    space = matching_space(SQUARE, perfect=True)
    assert "c is not matched" in space.explain([("a", "b")])
    assert [("b", "a"), ("c", "d")] in space


def test_what_is_no_spanning_tree_is_refused():
    space = spanning_tree_space(SQUARE)
    assert "closes a cycle" in space.explain(SQUARE)
    assert "d is not joined to a" in space.explain(SQUARE[:2])


def test_sets_come_back_as_sets():
    space = matching_space(SQUARE)
    assert space.decode(space.encode([("b", "a")])) == frozenset({("a", "b")})


@pytest.mark.parametrize(("items", "sizes"), [(0, 0), (3, 4), (3, -1), (3, []), (["a", "a"], 1)], ids=repr)
def test_subsets_that_make_no_sense_are_refused(items, sizes):
    with pytest.raises(QueryError):
        subset_space(items, sizes)


def test_subsets_count_their_elements():
    space = subset_space("abc", 2)
    assert space.explain("ab") != ""
    assert space.explain(["a"]) == "1 elements are chosen, not 2"
    assert space.decode(space.encode(["c", "a"])) == frozenset("ac")
