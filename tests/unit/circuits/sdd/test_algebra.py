"""Operations, formulas and validators: what they refuse, and in which words."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.formulas.compile import compile_cnf, compile_formula
from unswayed.circuits.formulas.expressions import (
    Expression,
    all_of,
    any_of,
    at_least,
    constant as constant_expression,
    exactly,
    iff,
    implies,
    variable,
    variable_names,
    variables,
)
from unswayed.circuits.libsdd.builder import SddBuilder
from unswayed.circuits.sdd.algebra import (
    condition,
    conjoin,
    constant,
    disjoin,
    forget,
    is_equivalent,
    literal,
    negate,
    over_vtree,
)
from unswayed.circuits.sdd.evaluate import model_count
from unswayed.circuits.sdd.normalize import normalize
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd, compact
from unswayed.circuits.sdd.validate import (
    check_circuit,
    is_canonical,
    is_compressed,
    is_normalized,
    is_trimmed,
)
from unswayed.circuits.vtree import NOTHING, balanced, right_linear
from unswayed.core.errors import ModelError, QueryError


def circuit(*nodes, names="AB", root=None):
    """A circuit over a right-linear vtree from (kind, place, literal, elements); constants come first."""
    rows = [(FALSE, NOTHING, 0, []), (TRUE, NOTHING, 0, []), *nodes]
    pairs = np.array([pair for *_, elements in rows for pair in elements], dtype=np.int64).reshape(-1, 2)
    return Sdd(
        right_linear(names),
        kind=np.array([row[0] for row in rows]),
        vtree_node=np.array([row[1] for row in rows]),
        literal=np.array([row[2] for row in rows]),
        starts=np.cumsum([0, *(len(row[3]) for row in rows)]),
        primes=pairs[:, 0],
        subs=pairs[:, 1],
        root=len(rows) - 1 if root is None else root,
    )


A, NOT_A, B, NOT_B = (LITERAL, 0, 1, []), (LITERAL, 0, -1, []), (LITERAL, 2, 2, []), (LITERAL, 2, -2, [])


def test_operations_name_what_they_do_not_know():
    sdd = literal(balanced(["Rain", "Wet"]), "Rain")
    for call in (lambda: condition(sdd, {"rain": True}), lambda: forget(sdd, ["rain"])):
        with pytest.raises(QueryError, match="did you mean 'Rain'"):
            call()
    with pytest.raises(QueryError, match="nothing to join"):
        conjoin()
    with pytest.raises(QueryError, match="different vtrees"):
        disjoin(sdd, literal(right_linear(["Wet", "Rain"]), "Rain"))
    with pytest.raises(QueryError, match="different variables"):
        over_vtree(sdd, balanced("AB"))


def test_equal_vtrees_may_number_their_variables_differently():
    one = literal(right_linear(["A", "B"]), "B")
    other = literal(right_linear(["A", "B"], names=["B", "A"]), "B")
    assert is_equivalent(one, other)
    assert not is_equivalent(one, literal(other.vtree, "A"))


def test_joining_many_at_once():
    vtree = balanced("ABC")
    parts = [literal(vtree, name) for name in "ABC"]
    assert model_count(conjoin(*parts)) == 1
    assert model_count(disjoin(*parts)) == 7
    assert is_equivalent(conjoin(parts[0]), parts[0])
    assert is_equivalent(negate(constant(vtree, True)), constant(vtree, False))


def test_forgetting_and_conditioning_several_variables():
    sdd = compile_formula(all_of(*variables("A", "B", "C")))
    assert model_count(forget(sdd, ["A", "B"])) == 4
    assert model_count(condition(sdd, {"A": True, "C": True})) == 4
    assert model_count(condition(sdd, {"A": False})) == 0


def test_expressions_are_checked_as_they_are_made():
    a, b = variables("A", "B")
    with pytest.raises(ModelError, match="neither true nor false"):
        bool(a)
    with pytest.raises(ModelError, match="is no expression"):
        all_of(a, "B")
    with pytest.raises(ModelError, match="is no expression"):
        _ = a & 1
    with pytest.raises(ModelError, match="is no expression"):
        iff(a, None)
    with pytest.raises(ModelError, match="named by text"):
        variable(3)
    assert repr(a >> b) == "<expression over 2 variables>"
    assert variable_names(implies(b, a) & b) == ("B", "A")


def test_long_chains_of_operators_compile():
    names = [f"x{i}" for i in range(500)]
    chain: Expression = constant_expression(True)
    for part in variables(*names):
        chain = chain & ~~part
    assert model_count(compile_formula(chain)) == 1
    nested = variable("x0")
    for part in variables(*names[1:]):
        nested = ~(nested | ~part)
    assert model_count(compile_formula(nested, right_linear(names))) > 0


def test_counts_out_of_range_are_constants():
    parts = variables("A", "B")
    assert model_count(compile_formula(at_least(3, *parts))) == 0
    assert model_count(compile_formula(exactly(-1, *parts))) == 0
    assert model_count(compile_formula(at_least(-1, *parts))) == 4


def test_empty_formulas():
    vtree = balanced("AB")
    assert model_count(compile_formula(all_of(), vtree)) == 4
    assert model_count(compile_formula(any_of(), vtree)) == 0
    with pytest.raises(QueryError, match="give a vtree"):
        compile_formula(all_of())


def test_formulas_and_vtrees_must_fit():
    with pytest.raises(QueryError, match="does not have all variables"):
        compile_formula(variable("C"), balanced("AB"))
    with pytest.raises(QueryError, match="does not have all variables"):
        compile_cnf(Cnf("AC", [(1,)]), balanced("AB"))
    with pytest.raises(QueryError, match="1 groups for 2 clauses"):
        compile_cnf(Cnf("AB", [(1,), (2,)]), groups=[0])
    with pytest.raises(QueryError, match="group 9 is no node"):
        compile_cnf(Cnf("AB", [(1,)]), groups=[9])


def test_variables_are_matched_by_name_and_more_are_free():
    sdd = compile_cnf(Cnf("BA", [(1,), (-2,)]), balanced("CAB"))
    assert model_count(sdd) == 2
    assert model_count(condition(sdd, {"A": False, "B": True})) == 8


@pytest.mark.parametrize("clauses", [[(0,)], [(3,)], [(-3, 1)]])
def test_clauses_hold_literals(clauses):
    with pytest.raises(ModelError, match="literals are 1 to 2"):
        Cnf("AB", clauses)


def test_formulas_need_different_names():
    for names in ("", "AA"):
        with pytest.raises(ModelError, match="different names"):
            Cnf(names, [])


def test_validators_name_the_node():
    both = circuit(A, B, (DECISION, 1, 0, [(2, 3), (1, 0)]))
    with pytest.raises(ModelError, match="node 4 is not deterministic"):
        check_circuit(both)
    neither = circuit(A, B, (DECISION, 1, 0, [(2, 3)]))
    with pytest.raises(ModelError, match="node 4 is not exhaustive"):
        check_circuit(neither)
    astray = circuit(B, NOT_B, (DECISION, 1, 0, [(2, 1), (3, 0)]))
    with pytest.raises(
        ModelError, match="node 4 at vtree node 1 has the prime 2, which belongs to vtree node 2"
    ):
        check_circuit(astray)


def test_shapes_of_circuits_are_told_apart():
    good = circuit(A, NOT_A, B, NOT_B, (DECISION, 1, 0, [(2, 4), (3, 5)]))
    assert is_compressed(good)
    assert is_trimmed(good)
    assert is_canonical(good)
    assert is_normalized(good)
    loose = circuit(A, NOT_A, B, (DECISION, 1, 0, [(2, 4), (3, 4)]))
    check_circuit(loose)
    assert not is_compressed(loose)
    whole = circuit(A, NOT_A, (DECISION, 1, 0, [(2, 1), (3, 0)]))
    assert not is_trimmed(whole)
    assert not is_normalized(whole)
    assert not is_canonical(normalize(whole))
    twice = circuit(A, A, NOT_A, B, NOT_B, (DECISION, 1, 0, [(3, 5), (4, 6)]))
    assert is_compressed(twice)
    assert not is_canonical(twice)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([(DECISION, 1, 0, [(2, 1)])], "children before parents"),
        ([(DECISION, 0, 0, [(1, 1)])], "inner vtree node"),
        ([(DECISION, 1, 0, [])], "have elements"),
        ([(LITERAL, 2, 1, [])], "leaf of its variable"),
        ([(LITERAL, 0, 5, [])], "a variable of the vtree"),
        ([(LITERAL, NOTHING, 1, [])], "belongs to a vtree node"),
    ],
)
def test_arrays_that_are_no_circuit_are_refused(nodes, message):
    with pytest.raises(ModelError, match=message):
        circuit(*nodes)


def test_compacting_drops_what_the_root_does_not_need():
    sdd = circuit(A, NOT_A, B, NOT_B, (DECISION, 1, 0, [(2, 4), (3, 5)]), root=4)
    small = compact(sdd)
    assert small.n_nodes == 3
    assert is_equivalent(small, sdd)


@pytest.mark.parametrize("value", ["no", "False", "", None, float("nan"), 2, 0.5])
def test_values_are_truth_values(value):
    """Python takes "no" and NaN for true; a circuit refuses them."""
    sdd = literal(balanced("AB"), "A")
    with pytest.raises(QueryError, match=r"'A' is said to be .*; a variable of a circuit is True or False"):
        condition(sdd, {"A": value})
    with pytest.raises(QueryError, match="True or False"):
        literal(balanced("AB"), "A", value)


@pytest.mark.parametrize("value", [True, 1, np.True_, np.int64(1)])
def test_numbers_and_truth_values_of_numpy_are_truth_values(value):
    assert model_count(condition(literal(balanced("AB"), "A"), {"A": value})) == 4


@pytest.mark.parametrize("literal", [1.5, 1.0, True, "1", None, 0, 3])
def test_literals_are_whole_numbers(literal):
    with pytest.raises(
        ModelError, match=r"clause 0 holds the literal .*; literals are 1 to 2, whole numbers"
    ):
        Cnf("AB", [(literal,)])
    with pytest.raises(QueryError, match="literal"):
        SddBuilder(balanced("AB")).literal(literal)
