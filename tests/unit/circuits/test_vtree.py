"""Vtrees: shapes, moves and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.circuits.vtree import (
    NOTHING,
    Vtree,
    balanced,
    left_linear,
    right_linear,
    to_nested,
    vtree_from_nested,
)
from unswayed.circuits.vtree_moves import (
    Side,
    constrain,
    constrained,
    constrained_node,
    move_vtree_leaf,
    random_vtree,
    rotate_left,
    rotate_right,
    swap_children,
)
from unswayed.core.errors import ModelError, QueryError


def test_linear_and_balanced_shapes():
    assert to_nested(right_linear("ABCD")) == ("A", ("B", ("C", "D")))
    assert to_nested(left_linear("ABCD")) == ((("A", "B"), "C"), "D")
    assert to_nested(balanced("ABCDE")) == (("A", "B"), ("C", ("D", "E")))


@pytest.mark.parametrize("shape", [right_linear, left_linear, balanced])
def test_order_of_leaves_and_numbers_of_variables_are_apart(shape):
    vtree = shape(["C", "A", "B"], names=["A", "B", "C"])
    assert vtree.leaf_names() == ("C", "A", "B")
    assert vtree.names == ("A", "B", "C")
    assert vtree.leaf_of(2) == 0


@pytest.mark.parametrize("shape", [right_linear, left_linear, balanced])
def test_no_variables_no_vtree(shape):
    with pytest.raises(ModelError, match="one variable at least"):
        shape([])


def test_linear_vtrees_may_be_deep():
    names = [f"x{i}" for i in range(5000)]
    vtree = right_linear(names)
    assert vtree.leaf_names() == tuple(names)
    assert rotate_right(rotate_left(vtree, 1), 3) == vtree


def test_children_come_before_parents_in_postorder():
    vtree = random_vtree([f"x{i}" for i in range(50)], np.random.default_rng(3))
    seen: set[int] = set()
    for node in vtree.postorder():
        if not vtree.is_leaf(node):
            assert {int(vtree.left[node]), int(vtree.right[node])} <= seen
        seen.add(node)


def test_random_vtrees_have_all_variables_and_differ():
    names = [f"x{i}" for i in range(20)]
    rng = np.random.default_rng(0)
    made = [random_vtree(names, rng) for _ in range(20)]
    assert all(sorted(vtree.leaf_names()) == sorted(names) for vtree in made)
    assert len({str(to_nested(vtree)) for vtree in made}) == 20


def test_constrained_vtrees_have_the_spine_outside():
    vtree = constrained(["A", "B"], balanced(["C", "D", "E"]))
    assert to_nested(vtree) == ("A", ("B", ("C", ("D", "E"))))
    node = constrained_node(vtree, {"A", "B"})
    assert node is not None
    assert to_nested(vtree, node) == ("C", ("D", "E"))
    assert constrained_node(vtree, {"A"}) == 3
    assert constrained_node(vtree, {"B"}) is None
    assert constrained_node(vtree, {"A", "nobody"}) is None
    assert constrained_node(vtree, set()) == vtree.root


def test_constraining_keeps_the_shape_of_the_rest():
    vtree = constrain(vtree_from_nested((("A", "B"), ("C", ("D", "E")))), ["D", "A"])
    assert to_nested(vtree) == ("D", ("A", ("B", ("C", "E"))))


def test_moves_say_what_they_cannot_do():
    vtree = balanced("ABCD")
    with pytest.raises(QueryError, match="did you mean 'A'"):
        move_vtree_leaf(vtree, "a", 3)
    with pytest.raises(QueryError, match="beside itself"):
        move_vtree_leaf(vtree, "A", 0)
    with pytest.raises(QueryError, match="nodes are 0 to 6"):
        move_vtree_leaf(vtree, "A", 7)
    with pytest.raises(QueryError, match="left child is a leaf"):
        rotate_right(vtree, 1)
    with pytest.raises(QueryError, match="right child is a leaf"):
        rotate_left(vtree, 1)
    with pytest.raises(QueryError, match="is a leaf"):
        swap_children(vtree, 2)
    with pytest.raises(QueryError, match="twice"):
        constrain(vtree, ["A", "A"])


def test_moving_beside_the_parent_changes_sides():
    vtree = vtree_from_nested((("A", "B"), "C"))
    assert to_nested(move_vtree_leaf(vtree, "A", 1, Side.RIGHT)) == (("B", "A"), "C")
    assert move_vtree_leaf(vtree, "A", 1, Side.LEFT) == vtree


@pytest.mark.parametrize(
    ("left", "right", "variable", "message"),
    [
        ([NOTHING, 0], [NOTHING, 2], [0, NOTHING], "has 3 nodes"),
        ([NOTHING, 2, NOTHING], [NOTHING, 0, NOTHING], [0, NOTHING, 1], "not numbered in order"),
        ([NOTHING, 0, NOTHING], [NOTHING, 0, NOTHING], [0, NOTHING, 1], "one root"),
        ([NOTHING, 0, NOTHING], [NOTHING, 9, NOTHING], [0, NOTHING, 1], "two children"),
        ([NOTHING, 0, NOTHING], [NOTHING, 2, NOTHING], [0, NOTHING, 0], "exactly one leaf"),
    ],
)
def test_arrays_that_are_no_vtree_are_refused(left, right, variable, message):
    with pytest.raises(ModelError, match=message):
        Vtree(("A", "B"), np.array(left), np.array(right), np.array(variable))
