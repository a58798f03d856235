"""Structured features in naive Bayes classification [choi2016]: printed sizes and small examples."""

from __future__ import annotations

import numpy as np
import pytest
from examples.tic_tac_toe import Style, play_tic_tac_toe

from unswayed.circuits.psdd.structure import psdd_structure
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.spaces.edge_sets import breadth_first_order, edges_by_vertex
from unswayed.spaces.graphs import grid
from unswayed.spaces.paths import path_space
from unswayed.spaces.rankings import ranking_space


def n_nodes_with_constants(sdd: Sdd) -> int:
    """Nodes of a circuit where false, too, is normalised: a node for each vtree node it is used at.

    The authors' library makes a false node of {(true, false)} at every vtree node, down to the last leaf.
    """
    places = {(int(kind), int(at)) for kind, at in zip(sdd.kind, sdd.vtree_node, strict=True) if kind == TRUE}
    places.discard((TRUE, -1))
    # True at an inner vtree node is the decision node whose one element is (true, true).
    trues = {at for _, at in places}
    for node in np.flatnonzero(np.diff(sdd.starts) == 1).tolist():
        if sdd.kind[node] == DECISION:
            trues.add(int(sdd.vtree_node[node]))
    n_others = int(np.isin(sdd.kind, (LITERAL, DECISION)).sum()) - sum(at % 2 for at in trues)
    falses = false_places(sdd)
    for at in sorted(falses):
        while at % 2:
            true_places(sdd, int(sdd.vtree.left[at]), trues)
            at = int(sdd.vtree.right[at])
            falses = falses | {at}
    return n_others + len(trues) + len(falses)


def false_places(sdd: Sdd) -> set[int]:
    """Vtree nodes at which false is a sub."""
    owner = np.repeat(np.arange(sdd.n_nodes), np.diff(sdd.starts))
    return set(sdd.vtree.right[sdd.vtree_node[owner[sdd.subs == FALSE]]].tolist())


def true_places(sdd: Sdd, at: int, found: set[int]) -> None:
    """Add the vtree nodes at which true is needed for true at one of them."""
    found.add(at)
    if at % 2:
        true_places(sdd, int(sdd.vtree.left[at]), found)
        true_places(sdd, int(sdd.vtree.right[at]), found)


def test_the_circuit_of_nine_moves_has_the_printed_size():
    """ "The resulting PSDDs had 3,328 nodes and 1,793 parameters." """
    space = ranking_space(9)
    assert n_nodes_with_constants(space.sdd) == 3328
    assert psdd_structure(space.sdd).n_parameters == 1793


def test_there_are_as_many_games_as_printed():
    assert ranking_space(9).size == 362_880


def test_the_permutation_of_the_text_has_the_model_of_the_text():
    """Permutation (2, 1, 3): A_12, A_21 and A_33 hold and no other variable."""
    space = ranking_space(3)
    row = space.encode((2, 1, 3))
    assert {name for name, value in zip(space.names, row, strict=True) if value} == {"1@2", "2@1", "3@3"}


def test_the_two_by_two_grid_has_the_two_models_of_the_text():
    edges = [(1, 2), (1, 3), (2, 4), (3, 4)]
    space = path_space(edges, 1, 4)
    assert space.size == 2
    models = {
        frozenset(name for name, value in zip(space.names, space.encode(path), strict=True) if value)
        for path in ([1, 2, 4], [1, 3, 4])
    }
    assert models == {frozenset({"1-2", "2-4"}), frozenset({"1-3", "3-4"})}


def test_the_grid_of_eight_by_eight_nodes_has_the_printed_size():
    """ "26,884 unique parameters, in contrast to the 789,360,053,252 possible simple paths" """
    graph = grid(8, 8)
    space = path_space(graph, (0, 0), (7, 7), order=breadth_first_order(graph, 0))
    assert space.size == 789_360_053_252
    assert psdd_structure(space.sdd).n_parameters == 26_884


def test_row_by_row_the_grid_needs_fewer_parameters():
    graph = grid(8, 8)
    space = path_space(graph, (0, 0), (7, 7), order=edges_by_vertex(graph, list(range(64))))
    assert space.size == 789_360_053_252
    assert psdd_structure(space.sdd).n_parameters < 26_884


@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "count"), [(9, 3_266_598_486_981_642), (10, 41_044_208_702_632_496_804)], ids=["9", "10"]
)
def test_corner_to_corner_paths_of_larger_grids(side, count):
    """Sequence A007764 of the encyclopedia of integer sequences."""
    assert path_space(grid(side, side), (0, 0), (side - 1, side - 1)).size == count


def test_optimal_players_never_lose():
    rng = np.random.default_rng(5)
    for style in Style:
        assert 2 not in play_tic_tac_toe(Style.OPTIMAL, style, 500, rng).winner
        assert 1 not in play_tic_tac_toe(style, Style.OPTIMAL, 500, rng).winner
