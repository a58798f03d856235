"""Circuits are the functions they were made from, whatever is done to them."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import assume, given, strategies as st

from oracles.truth_tables import all_rows, truth_of_clauses, truth_of_expression, weight_of
from strategies import clause_lists, formulas, sdds, vtrees
from tolerances import EXACT
from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.formulas.compile import compile_cnf, compile_formula
from unswayed.circuits.sdd.algebra import (
    canonical,
    condition,
    conjoin,
    disjoin,
    forget,
    implies,
    is_equivalent,
    move_leaf,
    negate,
    over_vtree,
)
from unswayed.circuits.sdd.evaluate import (
    evaluate,
    log_weighted_model_count,
    model_count,
    weighted_model_count,
)
from unswayed.circuits.sdd.models import models, sample_models
from unswayed.circuits.sdd.normalize import normalize
from unswayed.circuits.sdd.validate import (
    check_circuit,
    is_canonical,
    is_compressed,
    is_normalized,
    is_trimmed,
)
from unswayed.circuits.vtree import Vtree
from unswayed.circuits.vtree_moves import (
    Side,
    constrain,
    constrained_node,
    move_vtree_leaf,
    rotate_left,
    rotate_right,
    swap_children,
)


def truth(sdd):
    """The function in every row of the truth table."""
    return evaluate(sdd, all_rows(len(sdd.names)))


def pairs_of_circuits(max_variables=4):
    """Two circuits over one vtree."""
    return vtrees(max_variables).flatmap(lambda vtree: st.tuples(sdds(vtree), sdds(vtree)))


def weightings(n_variables, *, low=-2.0, high=2.0, many=2):
    """Several weightings of so many variables, zeros among them."""
    weight = st.one_of(st.just(0.0), st.floats(low, high, allow_subnormal=False))
    size = many * n_variables * 2
    lists = st.lists(weight, min_size=size, max_size=size)
    return lists.map(lambda flat: np.array(flat).reshape(many, n_variables, 2))


@given(st.data(), vtrees())
def test_compiled_clauses_are_the_clauses(data, vtree):
    n_variables = len(vtree.names)
    clauses = data.draw(clause_lists(n_variables))
    sdd = compile_cnf(Cnf(vtree.names, clauses), vtree)
    assert np.array_equal(truth(sdd), truth_of_clauses(clauses, n_variables))


@given(st.data(), vtrees())
def test_where_clauses_are_conjoined_changes_nothing(data, vtree):
    clauses = data.draw(clause_lists(len(vtree.names)))
    groups = [data.draw(st.integers(0, len(vtree) - 1)) for _ in clauses]
    cnf = Cnf(vtree.names, clauses)
    usual = compile_cnf(cnf, vtree)
    assert is_equivalent(compile_cnf(cnf, vtree, groups=groups), usual)


@given(st.data(), vtrees(5))
def test_compiled_expressions_are_the_expressions(data, vtree):
    expression = data.draw(formulas(vtree.names))
    sdd = compile_formula(expression, vtree)
    assert np.array_equal(truth(sdd), truth_of_expression(expression, vtree.names))


@given(st.data(), vtrees(5))
def test_compiled_circuits_keep_the_laws_of_their_kind(data, vtree):
    sdd = compile_formula(data.draw(formulas(vtree.names)), vtree)
    check_circuit(sdd)
    assert is_compressed(sdd)
    assert is_trimmed(sdd)
    assert is_canonical(sdd)


@given(sdds())
def test_counts_are_the_numbers_of_rows(sdd):
    expected = int(truth(sdd).sum())
    assert model_count(sdd) == expected
    assert model_count(normalize(sdd)) == expected


@given(st.data(), sdds())
def test_weighted_counts_are_sums_over_rows(data, sdd):
    weights = data.draw(weightings(len(sdd.names)))
    for circuit in (sdd, normalize(sdd)):
        found = weighted_model_count(circuit, weights)
        for row, value in zip(weights, found, strict=True):
            scale = weight_of(truth(sdd), np.abs(row))
            assert abs(value - weight_of(truth(sdd), row)) <= EXACT * max(1.0, scale)


@given(st.data(), sdds())
def test_logarithmic_counts_are_logarithms_of_counts(data, sdd):
    weights = data.draw(weightings(len(sdd.names), low=1e-3))
    with np.errstate(divide="ignore"):
        found = log_weighted_model_count(sdd, np.log(weights))
    for row, value in zip(weights, found, strict=True):
        expected = weight_of(truth(sdd), row)
        assert value == -math.inf if expected == 0 else abs(value - math.log(expected)) <= 1e-11


@given(sdds())
def test_normalised_circuits_are_normalised_and_the_same(sdd):
    whole = normalize(sdd)
    check_circuit(whole)
    assert is_normalized(whole)
    assert np.array_equal(truth(whole), truth(sdd))
    assert is_equivalent(whole, sdd)
    assert canonical(whole).n_elements == sdd.n_elements


@given(sdds())
def test_negating_twice_is_nothing(sdd):
    assert np.array_equal(truth(negate(sdd)), ~truth(sdd))
    assert is_equivalent(negate(negate(sdd)), sdd)


@given(pairs_of_circuits())
def test_joins_are_joins_of_rows(pair):
    a, b = pair
    assert np.array_equal(truth(conjoin(a, b)), truth(a) & truth(b))
    assert np.array_equal(truth(disjoin(a, b)), truth(a) | truth(b))


@given(pairs_of_circuits())
def test_de_morgan(pair):
    a, b = pair
    assert is_equivalent(negate(conjoin(a, b)), disjoin(negate(a), negate(b)))


@given(pairs_of_circuits())
def test_counts_of_joins_include_and_exclude(pair):
    a, b = pair
    assert model_count(conjoin(a, b)) + model_count(disjoin(a, b)) == model_count(a) + model_count(b)


@given(pairs_of_circuits(3))
def test_implication_and_equivalence_compare_rows(pair):
    a, b = pair
    assert implies(a, b) == bool((truth(a) <= truth(b)).all())
    assert is_equivalent(a, b) == np.array_equal(truth(a), truth(b))


@given(st.data(), sdds())
def test_conditioning_fixes_a_column(data, sdd):
    variable = data.draw(st.integers(0, len(sdd.names) - 1))
    value = data.draw(st.booleans())
    rows = all_rows(len(sdd.names))
    rows[:, variable] = value
    left = condition(sdd, {sdd.names[variable]: value})
    assert np.array_equal(truth(left), evaluate(sdd, rows))
    assert variable + 1 not in np.abs(left.literal)


@given(st.data(), sdds())
def test_forgetting_takes_either_value(data, sdd):
    variable = data.draw(st.integers(0, len(sdd.names) - 1))
    off, on = all_rows(len(sdd.names)), all_rows(len(sdd.names))
    off[:, variable], on[:, variable] = False, True
    left = forget(sdd, [sdd.names[variable]])
    assert np.array_equal(truth(left), evaluate(sdd, off) | evaluate(sdd, on))


@given(sdds(max_variables=5))
def test_listed_models_are_the_rows_that_hold(sdd):
    expected = {tuple(row) for row in all_rows(len(sdd.names))[truth(sdd)].tolist()}
    for circuit in (sdd, normalize(sdd)):
        listed = list(models(circuit))
        assert len(listed) == len(expected)
        assert set(listed) == expected


@given(sdds(), st.integers(0, 2**32 - 1))
def test_drawn_models_hold(sdd, seed):
    assume(model_count(sdd) > 0)
    assert evaluate(sdd, sample_models(sdd, 20, np.random.default_rng(seed))).all()


@given(st.data(), vtrees(5))
def test_other_vtrees_hold_the_same_function(data, vtree):
    sdd = data.draw(sdds(vtree))
    other = data.draw(vtrees(len(vtree.names), len(vtree.names)))
    moved = over_vtree(sdd, other)
    assert moved.vtree == other
    assert np.array_equal(truth(moved), truth(sdd))


@st.composite
def leaf_moves(draw, vtree: Vtree):
    """A variable, a node that is not its leaf, and a side."""
    name = draw(st.sampled_from(vtree.names))
    leaf = vtree.leaf_of(vtree.names.index(name))
    beside = draw(st.integers(0, len(vtree) - 1).filter(lambda node: node != leaf))
    return name, beside, draw(st.sampled_from(Side))


@given(st.data(), vtrees(min_variables=2))
def test_moving_a_leaf_keeps_the_function(data, vtree):
    sdd = data.draw(sdds(vtree))
    name, beside, side = data.draw(leaf_moves(vtree))
    moved = move_leaf(sdd, name, beside, side)
    assert moved.vtree == move_vtree_leaf(vtree, name, beside, side)
    assert np.array_equal(truth(moved), truth(sdd))
    assert is_compressed(moved)
    assert is_trimmed(moved)


def sibling_of(vtree, name):
    """Where a leaf hangs: the leaves below its sibling, and the side it is on."""
    leaf = vtree.leaf_of(vtree.names.index(name))
    parent = int(vtree.parent[leaf])
    is_left = int(vtree.left[parent]) == leaf
    sibling = int(vtree.right[parent] if is_left else vtree.left[parent])
    return frozenset(vtree.variables_below(sibling)), Side.LEFT if is_left else Side.RIGHT


@given(st.data(), vtrees(min_variables=2))
def test_moving_a_leaf_and_back_changes_nothing(data, vtree):
    sdd = data.draw(sdds(vtree))
    name, beside, side = data.draw(leaf_moves(vtree))
    variables, old_side = sibling_of(vtree, name)
    away = move_leaf(sdd, name, beside, side)
    variable = vtree.names.index(name)
    old_place = next(
        node
        for node in away.vtree.postorder()
        if frozenset(away.vtree.variables_below(node)) - {variable} == variables
        and node != away.vtree.leaf_of(variable)
    )
    back = move_leaf(away, name, old_place, old_side)
    assert back.vtree == vtree
    assert is_equivalent(back, sdd)
    assert back.n_elements == sdd.n_elements


@given(st.data(), vtrees(min_variables=2))
def test_swaps_and_rotations_undo_each_other(data, vtree):
    inner = data.draw(st.sampled_from(range(1, len(vtree), 2)))
    left, right = int(vtree.left[inner]), int(vtree.right[inner])
    if left % 2:
        assert rotate_left(rotate_right(vtree, inner), left) == vtree
    if right % 2:
        assert rotate_right(rotate_left(vtree, inner), right) == vtree
    both = swap_children(vtree, inner)
    n_right = len(vtree.variables_below(right))
    assert swap_children(both, int(vtree.first[inner]) + 2 * n_right - 1) == vtree


@given(st.data(), vtrees())
def test_constraining_puts_a_set_outside_a_node(data, vtree):
    spine = data.draw(st.lists(st.sampled_from(vtree.names), unique=True, max_size=len(vtree.names) - 1))
    moved = constrain(vtree, spine)
    node = constrained_node(moved, spine)
    assert node is not None
    below = {moved.names[v] for v in moved.variables_below(node)}
    assert below == set(vtree.names) - set(spine)
