"""Spaces of assignments: which constraint an assignment breaks is said."""

from __future__ import annotations

from itertools import permutations

import pytest

from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.formulas.expressions import all_of, exactly_one, variable
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import right_linear
from unswayed.core.errors import QueryError
from unswayed.spaces.formulas import circuit_space, formula_space
from unswayed.spaces.rankings import ranking_space

pytest.importorskip("pysdd")
WEATHER = Cnf(["rain", "snow", "sun"], [(1, 2, 3), (-1, -2)])


@pytest.mark.parametrize(
    ("assignment", "reason"),
    [
        ({"rain", "snow"}, "not rain or not snow: this clause does not hold"),
        ([], "rain or snow or sun: this clause does not hold"),
        ({"rain": 1, "snow": 0}, "says nothing about 'sun'"),
        ({"rain": 1, "snow": 0, "sun": 7}, "'sun' is 7"),
        (["hail"], "unknown variable 'hail'; known: 'rain'"),
        ("rain", "is no assignment"),
        (5, "is no assignment"),
        ([3], "unknown variable '3'"),
    ],
    ids=["clause", "nothing", "missing", "value", "unknown", "text", "number", "type"],
)
def test_what_is_no_model_is_refused_by_the_rule_it_breaks(assignment, reason):
    assert reason in formula_space(WEATHER).explain(assignment)


def test_models_come_back_as_assignments():
    space = formula_space(WEATHER)
    assert space.size == 5
    assert space.decode(space.encode(["sun"])) == {"rain": False, "snow": False, "sun": True}


def test_permutations_by_formula_are_the_permutations_built_directly():
    """The six constraints of Equations 2 and 3 [choi2016] for three items."""
    cells = [[variable(f"{item}@{position}") for position in (1, 2, 3)] for item in (1, 2, 3)]
    rows = [exactly_one(*row) for row in cells]
    columns = [exactly_one(*column) for column in zip(*cells, strict=True)]
    space = formula_space(all_of(*rows, *columns))
    direct = ranking_space(3)
    for order in permutations((1, 2, 3)):
        names = [f"{item}@{position}" for position, item in enumerate(order, start=1)]
        assert names in space
        assert order in direct
    assert space.size == direct.size == 6
    assert "constraint 1 of 6" in space.explain([])


def test_a_formula_that_never_holds_has_no_space():
    with pytest.raises(QueryError, match="never holds"):
        formula_space(Cnf(["a"], [(1,), (-1,)]))


def test_any_circuit_is_a_space():
    # The literal not-a over the vtree of one variable.
    circuit = Sdd(right_linear(["a"]), [0, 1, 2], [-1, -1, 0], [0, 0, -1], [0, 0, 0, 0], [], [], 2)
    space = circuit_space(circuit)
    assert space.size == 1
    assert space.explain(["a"]) == "the circuit does not hold"
