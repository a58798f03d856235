"""Files of vtrees, circuits and formulas: round trips, what libsdd reads of ours, broken files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from strategies import clause_lists, names, sdds, vtrees
from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.formulas.compile import compile_cnf
from unswayed.circuits.io.dimacs import cnf_text, parse_cnf, read_cnf, write_cnf
from unswayed.circuits.io.sdd import parse_sdd, read_sdd, sdd_text, write_sdd
from unswayed.circuits.io.vtree import parse_vtree, read_vtree, vtree_text, write_vtree
from unswayed.circuits.sdd.algebra import is_equivalent
from unswayed.circuits.sdd.evaluate import model_count
from unswayed.circuits.sdd.normalize import normalize
from unswayed.circuits.vtree import balanced, right_linear, to_nested
from unswayed.core.errors import FormatError, UnswayedWarning
from unswayed.model.formats.reading.source import Source

FIELDS = ("kind", "vtree_node", "literal", "starts", "primes", "subs")


def source(text, tmp="x"):
    from pathlib import Path

    return Source(Path(tmp), text)


@given(vtrees())
def test_vtrees_come_back(vtree):
    file = parse_vtree(source(vtree_text(vtree)))
    assert file.vtree == vtree
    assert file.vtree.names == vtree.names
    assert file.node_by_id == {node: node for node in range(len(vtree))}


@given(st.lists(names(), min_size=1, max_size=4, unique=True))
def test_any_names_come_back(declared):
    assert parse_vtree(source(vtree_text(right_linear(declared)))).vtree.names == tuple(declared)
    cnf = Cnf(declared, [(1,)])
    assert parse_cnf(source(cnf_text(cnf))) == cnf


@given(sdds())
def test_circuits_come_back(sdd):
    node_by_id = {node: node for node in range(len(sdd.vtree))}
    for circuit in (sdd, normalize(sdd)):
        back = parse_sdd(source(sdd_text(circuit)), sdd.vtree, node_by_id)
        assert back.root == circuit.root
        assert all(np.array_equal(getattr(back, name), getattr(circuit, name)) for name in FIELDS)


@given(st.integers(1, 5).flatmap(lambda n: st.tuples(st.just(n), clause_lists(n))))
def test_formulas_come_back(case):
    n_variables, clauses = case
    cnf = Cnf([f"x{i}" for i in range(1, n_variables + 1)], clauses)
    assert parse_cnf(source(cnf_text(cnf))) == cnf


def test_files_on_disk_come_back(tmp_path):
    cnf = Cnf(["Rain", "Wet"], [(-1, 2)])
    vtree = balanced(cnf.names)
    sdd = compile_cnf(cnf, vtree)
    write_cnf(cnf, tmp_path / "f.cnf")
    write_vtree(vtree, tmp_path / "f.vtree")
    write_sdd(sdd, tmp_path / "f.sdd")
    assert read_cnf(tmp_path / "f.cnf") == cnf
    assert read_vtree(tmp_path / "f.vtree") == vtree
    assert read_vtree(tmp_path / "f.vtree", names=["a", "b"]).names == ("a", "b")
    assert is_equivalent(read_sdd(tmp_path / "f.sdd", tmp_path / "f.vtree"), sdd)
    assert is_equivalent(read_sdd(tmp_path / "f.sdd", vtree, validate=False), sdd)


def test_a_folder_cannot_be_written(tmp_path):
    with pytest.raises(FormatError, match="cannot be written"):
        write_vtree(balanced("AB"), tmp_path)


@given(sdds(max_variables=5))
def test_libsdd_reads_what_we_write(tmp_path_factory, sdd):
    library = pytest.importorskip("pysdd.sdd")
    folder = tmp_path_factory.mktemp("files")
    write_vtree(sdd.vtree, folder / "f.vtree")
    write_sdd(sdd, folder / "f.sdd")
    manager = library.SddManager.from_vtree(library.Vtree.from_file(str(folder / "f.vtree")))
    manager.auto_gc_and_minimize_off()
    node = manager.read_sdd_file(str(folder / "f.sdd").encode())
    assert manager.global_model_count(node) == model_count(sdd)


def test_we_read_what_libsdd_writes(tmp_path):
    library = pytest.importorskip("pysdd.sdd")
    manager = library.SddManager.from_vtree(library.Vtree(var_count=6, vtree_type="balanced"))
    manager.auto_gc_and_minimize_off()
    a, b, c, d, e, f = (manager.literal(i) for i in range(1, 7))
    node = (a & ~d) | (b & e) | (~c & f & d)
    manager.vtree().save(str(tmp_path / "f.vtree").encode())
    node.save(str(tmp_path / "f.sdd").encode())
    sdd = read_sdd(tmp_path / "f.sdd", tmp_path / "f.vtree")
    assert sdd.names == ("x1", "x2", "x3", "x4", "x5", "x6")
    assert model_count(sdd) == manager.global_model_count(node)
    assert sdd.n_elements == node.size()


def test_vtree_numbers_need_not_be_in_order(tmp_path):
    (tmp_path / "f.vtree").write_text("vtree 3\nL 7 2\nL 3 1\nI 5 3 7\n")
    (tmp_path / "f.sdd").write_text(
        "sdd 6\nL 10 3 1\nL 11 3 -1\nL 12 7 2\nF 13\nT 14\nD 15 5 2 10 12 11 14\n"
    )
    sdd = read_sdd(tmp_path / "f.sdd", tmp_path / "f.vtree")
    assert to_nested(sdd.vtree) == ("x1", "x2")
    assert model_count(sdd) == 3


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("c t wmc\np cnf 2 1\nc p weight 1 0.4 0\n1 2 0\n", 3),
        ("p cnf 2 1\n1 2 0\nc  p  weight -2 1e-3 0\n", 3),
        ("p cnf 2 1\nw 1 0.4\n1 2 0\n", 2),
        ("c weights 0.4 0.6 1.0 1.0\np cnf 2 1\n1 2 0\n", 1),
        ("p wcnf 2 1 10\n10 1 2 0\n", 1),
    ],
)
def test_weights_of_a_formula_are_not_dropped(text, line):
    with pytest.raises(FormatError, match=r"weights, .*weighted_model_count") as caught:
        parse_cnf(source(text))
    assert caught.value.line == line


@pytest.mark.parametrize("line", ["c p show 1 0", "c ind 1 0"])
def test_a_projection_of_a_formula_is_not_dropped_in_silence(line):
    with pytest.warns(UnswayedWarning, match="line 2: .* every variable counts"):
        assert parse_cnf(source(f"p cnf 2 1\n{line}\n1 2 0\n")).clauses == ((1, 2),)


def test_comments_that_speak_of_weights_are_comments():
    text = "c weights are random\nc ind\nc p\np cnf 2 1\n1 2 0\n"
    assert parse_cnf(source(text)).clauses == ((1, 2),)


BROKEN_VTREES = [
    ("", "no vtree found", None),
    ("vtree 1\n", "no vtree found", 2),
    ("L 0 1\n", "expected the line 'vtree COUNT' first", 1),
    ("vtree 3\nL 0 1\nL 2 2\n", "2 nodes read where 3 were announced", 4),
    ("vtree 1\nL 0 1\nvtree 1\n", "a second line 'vtree'", 3),
    ("vtree 1\nL 0 2\n", "variables 1 to 1", 3),
    ("vtree 2\nL 0 1\nL 0 2\n", "node 0 appears a second time", 3),
    ("vtree 3\nL 0 1\nL 2 2\nI 1 0 0\n", "has a parent already", 4),
    ("vtree 3\nL 0 1\nI 1 0 2\nL 2 2\n", "not in a line above", 3),
    ("vtree 1\nL 0 one\n", "'one' found where 'L ID VARIABLE' has a whole number", 2),
    ("vtree 1\nL 0\n", "expected 'L ID VARIABLE'", 2),
    ("vtree 1\nQ 0 1\n", "expected a leaf", 2),
    ("vtree 2\nL 0 1\nL 2 2\n", "2 nodes have no parent", 4),
    ("vtree " + "9" * 5000 + "\n", "whole number", 1),
]


@pytest.mark.parametrize(("text", "message", "line"), BROKEN_VTREES, ids=range(len(BROKEN_VTREES)))
def test_broken_vtrees_name_the_line(text, message, line):
    with pytest.raises(FormatError, match=message) as caught:
        parse_vtree(source(text))
    if line is not None:
        assert caught.value.line == line


def test_wrong_number_of_names():
    with pytest.raises(FormatError, match="2 variables, but 1 names"):
        parse_vtree(source(vtree_text(balanced("AB"))), ["A"])


BROKEN_CIRCUITS = [
    ("", "a circuit was announced"),
    ("T 0\n", "expected the line 'sdd COUNT' first"),
    ("sdd 2\nT 0\n", "1 nodes read where 2"),
    ("sdd 1\nL 0 0 2\n", "leaf of variable 1"),
    ("sdd 1\nL 0 1 1\n", "is no leaf"),
    ("sdd 1\nL 0 9 1\n", "no node of the vtree"),
    ("sdd 2\nT 0\nT 0\n", "a second time"),
    ("sdd 1\nD 0 1 1 3 4\n", "used before it is defined"),
    ("sdd 2\nT 0\nD 1 1 2 0 0\n", "2 elements announced"),
    ("sdd 2\nT 0\nD 1 0 1 0 0\n", "which is a leaf"),
    ("sdd 1\nX 0\n", "expected a node"),
    ("sdd 1\nT zero\n", "whole number"),
    ("sdd 3\nL 0 0 1\nL 1 2 2\nD 2 1 1 0 1\n", "not exhaustive"),
    ("sdd 4\nT 3\nL 0 0 1\nL 1 2 2\nD 2 1 2 0 1 3 1\n", "not deterministic"),
    ("sdd 4\nL 0 2 2\nL 1 2 -2\nT 3\nD 2 1 2 0 3 1 3\n", "belongs to vtree node 2"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN_CIRCUITS, ids=range(len(BROKEN_CIRCUITS)))
def test_broken_circuits_say_why(tmp_path, text, message):
    (tmp_path / "f.sdd").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_sdd(tmp_path / "f.sdd", balanced("AB"))


BROKEN_FORMULAS = [
    ("", "no formula found"),
    ("1 0\n", "expected 'p cnf VARIABLES CLAUSES' first"),
    ("p dnf 1 1\n1 0\n", "expected 'p cnf"),
    ("p cnf 0 0\n", "0 variables"),
    ("p cnf 2 1\n3 0\n", "the literal 3 where 2"),
    ("p cnf 2 1\n1 2\n", "no 0 at its end"),
    ("p cnf 2 2\n1 0\n", "1 clauses read where 2"),
    ("p cnf 2 1\np cnf 2 1\n1 0\n", "a second line 'p'"),
    ("p cnf 2 1\n1.5 0\n", "whole number"),
    ("p cnf 2\n", "expected 'p cnf VARIABLES CLAUSES'"),
    ('c name 1 "a"\nc name 2 "a"\np cnf 2 0\n', "different names"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN_FORMULAS, ids=range(len(BROKEN_FORMULAS)))
def test_broken_formulas_say_why(text, message):
    with pytest.raises(FormatError, match=message):
        parse_cnf(source(text))


def test_clauses_may_span_lines_and_files_end_with_a_percent_sign():
    cnf = parse_cnf(source("c a comment\np cnf 3 2\n1\n-2 0 3\n0\n%\n0\n"))
    assert cnf.clauses == ((1, -2), (3,))
    assert cnf.names == ("x1", "x2", "x3")
