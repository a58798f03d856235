"""Encodings: the one of the paper, the one by distinct rows, and those that ACE wrote."""

from __future__ import annotations

import numpy as np
import pytest

from shared_data import SHARED, needs_shared_data
from unswayed.circuits.formulas.compile import compile_cnf
from unswayed.circuits.formulas.encode import (
    basic_encoding,
    constant_cubes,
    exactly_one,
    row_encoding,
    weights_under,
)
from unswayed.circuits.io.ace import read_ace
from unswayed.circuits.networks.elimination_vtree import formula_vtree
from unswayed.circuits.sdd.evaluate import weighted_model_count
from unswayed.core.errors import FormatError
from unswayed.inference.posteriors import log_probability
from unswayed.model.cpt import Cpt
from unswayed.model.formats import read_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import review

ORIGINAL = SHARED / "networks" / "trimbn" / "original"


def test_the_basic_encoding_is_that_of_the_paper():
    """[choi2017, section 3.1]: w(P1) = .7, w(P2) = .3, w(P3) = .2, w(P4) = .8 for Pr(R1 | D)."""
    encoding = basic_encoding(review())
    r1 = review().index("R1")
    parameters = encoding.parameters()[r1]
    assert [encoding.weights[p, 1] for p in parameters] == pytest.approx([0.7, 0.3, 0.2, 0.8])
    assert [encoding.weights[p, 0] for p in parameters] == [1.0] * 4
    d, child = encoding.indicators[review().index("D")], encoding.indicators[r1]
    last = 1 + parameters[3]
    about = {frozenset(c) for c in encoding.cnf.clauses if last in map(abs, c)}
    # P4 <=> not D and not R1, where both are the second states.
    assert about == {
        frozenset({-d[1], -child[1], last}),
        frozenset({-last, d[1]}),
        frozenset({-last, child[1]}),
    }


def test_certain_rows_and_equal_rows_need_no_parameters_of_their_own():
    cause = Variable("A", ["a", "b", "c"])
    effect = Variable("B", ["x", "y", "z"])
    rows = [[0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [0.2, 0.3, 0.5]]
    network = BayesianNetwork([Cpt(cause, [], [0.5, 0.5, 0.0]), Cpt(effect, [cause], rows)])
    encoding = row_encoding(network).encoding
    assert [len(each) for each in encoding.parameters()] == [1, 2]
    chain = encoding.weights[encoding.parameters()[1]]
    assert chain[:, 1].tolist() == pytest.approx([0.2, 0.3 / 0.8])
    assert chain.sum(axis=1).tolist() == pytest.approx([1.0, 1.0])


def test_constant_blocks_cover_every_cell_once():
    labels = np.random.default_rng(3).integers(0, 2, (2, 3, 2))
    covered = np.zeros(labels.shape, dtype=int)
    for cube, label in constant_cubes(labels):
        cell = tuple(cube.get(axis, slice(None)) for axis in range(3))
        assert (labels[cell] == label).all()
        covered[cell] += 1
    assert (covered == 1).all()


def test_two_states_are_one_boolean_and_one_state_is_certain():
    assert list(exactly_one([4, -4])) == []
    assert list(exactly_one([4])) == [(4,)]


@needs_shared_data
@pytest.mark.parametrize("name", ["bupa", "pima", "ident", "anatomy", "heart", "voting", "hepatitis"])
def test_encodings_of_the_authors_have_the_weight_of_their_networks(name):
    """Their numbers have five digits and some rows do not sum to 1; ours are rescaled."""
    encoding = read_ace(ORIGINAL / f"{name}.net.cnf")
    network = read_network(SHARED / "networks" / "trimbn" / f"{name}.bif")
    assert {v.name for v in encoding.variables} == set(network.names)
    sdd = compile_cnf(encoding.cnf, formula_vtree(encoding.cnf))
    rng = np.random.default_rng(0)
    for _ in range(5):
        evidence = {v: int(rng.integers(2)) for v in rng.choice(len(network), 4, replace=False).tolist()}
        found = float(weighted_model_count(sdd, weights_under(encoding, evidence)))
        named = {encoding.variables[v].name: f"s{state}" for v, state in evidence.items()}
        expected = np.exp(log_probability(network, network.evidence(named)))
        assert found == pytest.approx(expected, rel=0.02)


CNF = "p cnf 4 5\n1 2 0\n-1 -2 0\n-1 3 0\n-2 4 0\n3 4 0\n"
LMAP = "cc$v$1\ncc$V$A$2\ncc$I$1$1.0$+$A$0\ncc$I$2$1.0$+$A$1\ncc$C$3$0.25$+$\ncc$C$4$0.75$+$\n"


def written(tmp_path, cnf=CNF, lmap=LMAP):
    (tmp_path / "a.cnf").write_text(cnf)
    (tmp_path / "a.lmap").write_text(lmap)
    return tmp_path / "a.cnf"


def test_a_parameter_holds_nowhere_but_where_it_is_implied(tmp_path):
    encoding = read_ace(written(tmp_path))
    sdd = compile_cnf(encoding.cnf)
    weights = np.stack([weights_under(encoding, {0: state}) for state in (0, 1)])
    assert weighted_model_count(sdd, weights).tolist() == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize(
    ("cnf", "lmap", "message"),
    [
        (CNF.replace("p cnf 4 5", "p cnf 4 6"), LMAP, "5 clauses, where 'p cnf' announces 6"),
        (CNF.replace("-1 3 0", "-1 x 0"), LMAP, "line 4: literals or 'p cnf"),
        (CNF.replace("-1 3 0", "-1 9 0"), LMAP, "literals are 1 to 4"),
        (CNF, LMAP.replace("cc$I$2$1.0$+$A$1\n", ""), "state 1 of variable 'A' has no indicator"),
        (CNF, LMAP.replace("0.25", "one quarter"), "line 5: not a line of a literal map"),
        (CNF, LMAP.replace("cc$I$2$", "cc$I$7$"), "the indicator 7 is not among the 4 variables"),
    ],
    ids=["count", "word", "range", "missing", "weight", "indicator"],
)
def test_broken_files_are_refused_with_reason(tmp_path, cnf, lmap, message):
    with pytest.raises(FormatError, match=message.replace("(", "\\(")):
        read_ace(written(tmp_path, cnf, lmap))
