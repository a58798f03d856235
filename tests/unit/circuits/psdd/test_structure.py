"""Structures from compiled circuits, trimmed or normalised, have exactly the models of the circuit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oracles.enumerate_psdd import all_rows
from tolerances import ENGINE
from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.circuits.psdd.query import log_likelihood
from unswayed.circuits.psdd.structure import log_model_count, psdd_structure, uniform_psdd
from unswayed.circuits.sdd.evaluate import evaluate, model_count
from unswayed.circuits.sdd.normalize import normalize
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import right_linear
from unswayed.core.errors import ModelError
from unswayed.spaces.paths import path_space
from unswayed.spaces.rankings import ranking_space


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(-5, 5).filter(bool), min_size=1, max_size=3), max_size=6))
@settings(max_examples=25, deadline=None)
def test_compiled_formulas_keep_their_models(clauses):
    pytest.importorskip("pysdd")
    from unswayed.circuits.formulas.cnf import Cnf
    from unswayed.circuits.formulas.compile import compile_cnf

    sdd = compile_cnf(Cnf("ABCDE", [tuple(dict.fromkeys(clause)) for clause in clauses]))
    if model_count(sdd) == 0:
        with pytest.raises(ModelError, match="no models"):
            psdd_structure(sdd)
        return
    rows = all_rows(5)
    for circuit in (sdd, normalize(sdd)):
        structure = psdd_structure(circuit)
        inside = np.isfinite(log_likelihood(uniform_psdd(structure), rows))
        assert (inside == evaluate(sdd, rows)).all()


@pytest.mark.parametrize(
    "space", [ranking_space(5), path_space([(1, 2), (2, 3), (1, 3), (3, 4)], 1, 4)], ids=str
)
def test_spaces_keep_their_size(space):
    assert log_model_count(psdd_structure(space.sdd)) == pytest.approx(np.log(space.size), abs=ENGINE)


def test_a_circuit_without_models_is_refused():
    never = Sdd(right_linear("A"), [0, 1], [-1, -1], [0, 0], [0, 0, 0], [], [], 0)
    with pytest.raises(ModelError, match="no models"):
        psdd_structure(never)


@pytest.fixture
def coin():
    return psdd_structure(Sdd(right_linear("A"), [0, 1, 1], [-1, -1, 0], [0, 0, 0], [0] * 4, [], [], 2))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ([0.5], "as many parameters"),
        ([-0.1, -0.1], "sum to 1.8"),
        ([np.nan, 0.0], "at most 0"),
        ([1.0, 0.0], "at most 0"),
    ],
    ids=["number", "sum", "nan", "positive"],
)
def test_parameters_are_checked(coin, parameters, message):
    with pytest.raises(ModelError, match=message):
        Psdd(coin, np.array(parameters))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"starts": [0, 0, 0, 0, 1]}, "do not fit"),
        ({"lefts": [1, 3]}, "children before parents"),
        ({"rights": [1, 0]}, "children of its node's vtree node"),
        ({"literal": [0, -1, 0, 0]}, "literals have no choices"),
        ({"literal": [0, -2, 1, 0]}, "leaf of its variable"),
        ({"vtree_node": [-1, 0, 0, -1]}, "belongs to a vtree node"),
        ({"vtree_node": [0, 0, 0, 0]}, "always holds"),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else each[:9],
)
def test_broken_structures_are_refused(coin, change, message):
    names = ("vtree_node", "literal", "starts", "lefts", "rights")
    arrays = {name: getattr(coin, name) for name in names} | {k: np.array(v) for k, v in change.items()}
    with pytest.raises(ModelError, match=message):
        PsddStructure(coin.vtree, **arrays)
