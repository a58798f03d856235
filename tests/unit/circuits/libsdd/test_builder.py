"""Programs give the same circuits here and over libsdd, and misuse never ends the process."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oracles.truth_tables import all_rows
from strategies import sdds, vtrees
from unswayed.circuits.libsdd.builder import SddBuilder
from unswayed.circuits.libsdd.client import run_in_worker
from unswayed.circuits.libsdd.program import MOST_SECONDS, CircuitProgram, run_here
from unswayed.circuits.libsdd.worker import Operation
from unswayed.circuits.sdd.algebra import is_equivalent, literal, minimize
from unswayed.circuits.sdd.evaluate import evaluate, model_count
from unswayed.circuits.sdd.normalize import normalize
from unswayed.circuits.vtree import balanced, right_linear
from unswayed.core.errors import QueryError, UnswayedError

pytest.importorskip("pysdd")


@st.composite
def built(draw):
    """A builder with a few operations written down, and some of its registers."""
    vtree = draw(vtrees(5))
    n_variables = len(vtree.names)
    builder = SddBuilder(vtree)
    registers = [builder.constant(draw(st.booleans())), builder.load(draw(sdds(vtree)))]
    literals = st.integers(1, n_variables).flatmap(lambda v: st.sampled_from([v, -v]))
    for _ in range(draw(st.integers(1, 12))):
        a, b = draw(st.sampled_from(registers)), draw(st.sampled_from(registers))
        match draw(st.sampled_from(list(Operation)[2:9])):
            case Operation.NEGATE:
                registers.append(builder.negate(a))
            case Operation.CONJOIN:
                registers.append(builder.conjoin([a, b]))
            case Operation.DISJOIN:
                registers.append(builder.disjoin([a, b]))
            case Operation.CONDITION:
                registers.append(builder.condition(a, [draw(literals)]))
            case Operation.FORGET:
                registers.append(builder.forget(a, [draw(st.integers(0, n_variables - 1))]))
            case Operation.LOAD:
                registers.append(builder.load(normalize(draw(sdds(vtree)))))
            case _:
                registers.append(builder.clause(draw(st.lists(literals, max_size=3))))
    return builder, draw(st.lists(st.sampled_from(registers), min_size=1, max_size=3))


@settings(max_examples=25, deadline=None)
@given(built())
def test_libsdd_and_we_make_the_same_circuits(case):
    builder, results = case
    program = builder.program(results)
    here = run_here(program, builder.vtree, builder.loaded)
    there = run_in_worker(program, builder.vtree, builder.loaded)
    for ours, theirs in zip(here, there, strict=True):
        assert is_equivalent(ours, theirs)
        assert (ours.n_nodes, ours.n_elements) == (theirs.n_nodes, theirs.n_elements)


operands = st.one_of(st.integers(-9, 9), st.sampled_from([-(2**63), 2**63 - 1, 10**7]))


@given(
    st.lists(st.tuples(st.integers(-1, 10), operands, operands), max_size=8), st.lists(operands, max_size=2)
)
def test_programs_of_any_numbers_run_or_are_refused(rows, results):
    """Whatever numbers a program holds, it is refused in words or it runs; the process lives on."""
    vtree = balanced("ABC")
    loaded = [literal(vtree, "B")]
    try:
        program = CircuitProgram(3, 1, np.array(rows, dtype=np.int64).reshape(-1, 3), tuple(results))
    except QueryError:
        return
    if (program.instructions[:, 0] == Operation.MINIMIZE).any():
        return
    here = run_here(program, vtree, loaded)
    there = run_in_worker(program, vtree, loaded)
    assert all(is_equivalent(a, b) for a, b in zip(here, there, strict=True))


names = st.sampled_from(
    ["literal", "negate", "conjoin", "condition", "forget", "minimize", "clause", "build"]
)
anything = st.integers(-5, 12)


@given(st.lists(st.tuples(names, anything, anything), max_size=15))
def test_random_calls_of_a_builder_raise_nothing_but_our_errors(calls):
    builder = SddBuilder(right_linear("ABCD"))
    for name, a, b in calls:
        arguments = {
            "literal": (a,),
            "negate": (a,),
            "conjoin": ([a, b],),
            "condition": (a, [b]),
            "forget": (a, [b]),
            "minimize": (min(a, 1),),
            "clause": ([a, b],),
            "build": ([a, b],),
        }[name]
        try:
            getattr(builder, name)(*arguments)
        except UnswayedError:
            continue
    (sdd,) = builder.build([builder.literal(1)])
    assert model_count(sdd) == 8


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((Operation.NEGATE, 5, 0), "a register not made yet"),
        ((Operation.CONJOIN, 0, 1), "a register not made yet"),
        ((Operation.LITERAL, 0, 0), "a literal outside 1 to 2"),
        ((Operation.CONDITION, 0, -3), "a literal outside 1 to 2"),
        ((Operation.FORGET, 0, 2), "a variable outside 0 to 1"),
        ((Operation.LOAD, 0, 0), "beyond the 0 given"),
        ((Operation.MINIMIZE, 0, 0), "less than a second"),
        ((Operation.MINIMIZE, MOST_SECONDS + 1, 0), "weeks"),
        ((10, 0, 0), "does not exist"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_programs_say_what_is_wrong(row, message):
    with pytest.raises(QueryError, match=message):
        CircuitProgram(2, 0, np.array([(Operation.TRUE, 0, 0), row]), (0,))


def test_what_is_no_register_cannot_be_used_or_returned():
    rows = np.array([(Operation.MINIMIZE, 1, 0), (Operation.NEGATE, 0, 0)])
    with pytest.raises(QueryError, match="no register"):
        CircuitProgram(2, 0, rows)
    with pytest.raises(QueryError, match="no register 0 to return"):
        CircuitProgram(2, 0, rows[:1], (0,))


def test_circuits_over_other_vtrees_are_not_loaded():
    with pytest.raises(QueryError, match="another vtree"):
        SddBuilder(balanced("ABC")).load(literal(right_linear("CAB"), "A"))


def test_a_better_vtree_keeps_the_function():
    names = [f"{side}{i}" for side in "ab" for i in range(7)]
    builder = SddBuilder(right_linear(names))
    same = [
        builder.disjoin([builder.conjoin([builder.literal(i), builder.literal(i + 7)]),
                         builder.conjoin([builder.literal(-i), builder.literal(-i - 7)])])
        for i in range(1, 8)
    ]  # fmt: skip
    (sdd,) = builder.build([builder.conjoin(same)])
    smaller = minimize(sdd, seconds=2)
    assert smaller.n_elements < sdd.n_elements / 4
    assert smaller.names == sdd.names
    rows = all_rows(14)
    assert np.array_equal(evaluate(smaller, rows), evaluate(sdd, rows))
    assert np.array_equal(evaluate(sdd, rows), (rows[:, :7] == rows[:, 7:]).all(axis=1))
