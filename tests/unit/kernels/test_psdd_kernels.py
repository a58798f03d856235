"""The compiled loops of PSDDs give what the same loops give in plain Python and numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oracles.enumerate_psdd import all_rows, psdds, structure_of, structures
from unswayed.circuits.psdd.examples import count_uses, score_rows
from unswayed.circuits.psdd.walk import walk_tables
from unswayed.circuits.vtree import balanced, right_linear, to_nested, vtree_from_nested
from unswayed.kernels.circuits import psdd_bits, psdd_walk
from unswayed.kernels.circuits.psdd_passes import COMPILED, PLAIN, BestRows, Draws, Flow, SumLoops


@st.composite
def questions(draw):
    """A distribution and rows of zeros, ones and unknown values."""
    psdd = draw(psdds())
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    marks = rng.integers(-1, 2, (draw(st.integers(1, 4)), psdd.structure.n_variables)).astype(np.int8)
    return psdd, marks, rng


@given(questions())
@settings(max_examples=40)
def test_passes_are_the_same_compiled(question):
    psdd, marks, rng = question
    circuit, log_parameters = psdd.structure.circuit, psdd.log_parameters
    found = []
    uniforms = rng.random((5, len(psdd.structure.vtree)))
    last = np.array([max(0, end - 1) for end in psdd.structure.starts[1:]])
    for loops in (PLAIN, SumLoops(*(kernel.compiled for kernel in COMPILED))):
        values = np.empty((psdd.structure.n_nodes, len(marks)))
        loops.upward(circuit, log_parameters, marks, values)
        flow = Flow(np.empty_like(values), np.arange(1.0, len(marks) + 1), np.zeros(psdd.structure.n_choices))
        loops.downward(circuit, log_parameters, values, flow)
        completed, scores = marks.copy(), np.empty(len(marks))
        loops.best(circuit, log_parameters, marks, BestRows(completed, scores))
        expected = np.empty(psdd.structure.n_nodes)
        loops.expect(circuit, np.exp(log_parameters), np.ones(psdd.structure.n_choices), expected)
        rows = np.zeros((5, psdd.structure.n_variables), dtype=np.uint8)
        loops.sample(circuit, Draws(psdd.structure.vtree_node, np.exp(log_parameters), last, uniforms), rows)
        found.append((values, flow.shares, flow.counts, completed, scores, expected, rows))
    for plain, fast in zip(*found, strict=True):
        assert fast == pytest.approx(plain, abs=1e-12)


@given(structures(), st.integers(1, 600), st.integers(0, 2**32))
@settings(max_examples=30)
def test_words_hold_what_rows_hold(structure, n_rows, seed):
    rows = np.random.default_rng(seed).integers(0, 2, (n_rows, structure.n_variables)).astype(np.uint8)
    words = psdd_bits.pack(rows)
    holds = np.empty((len(words), structure.n_nodes, psdd_bits.LANES), dtype=np.uint64)
    hold = psdd_bits.COMPILED.hold
    hold.compiled(structure.circuit, words, holds)
    bits = np.unpackbits(holds.transpose(1, 0, 2).copy().view(np.uint8), axis=None, bitorder="little")
    table = bits.reshape(structure.n_nodes, -1)[:, :n_rows].T.astype(bool)
    assert (table == psdd_bits.plain_holds(structure.circuit, rows)).all()


def walked_both_ways(structure, rows):
    """The tables of a structure, and what plain Python and the compiled loop make of some rows."""
    tables = walk_tables(structure)
    n_rows = len(rows)
    terms = np.random.default_rng(n_rows).random((len(tables.diagram.target), 2))
    found = []
    for walk in (psdd_walk.walk, psdd_walk.compiled_walk.compiled):
        trace = np.zeros((n_rows, len(tables.diagram.offsets)), dtype=np.int32)
        outside, no_weights = np.zeros(n_rows, dtype=bool), np.zeros(0)
        walked = psdd_walk.Walked(
            outside, no_weights, np.zeros(len(terms)), terms, np.zeros((n_rows, 2)), trace
        )
        walk(tables.diagram, rows, walked)
        found.append(walked)
    return found


@given(structures(), st.integers(0, 2**32))
@settings(max_examples=30)
def test_walking_is_the_same_compiled(structure, seed):
    rows = np.random.default_rng(seed).integers(0, 2, (100, structure.n_variables)).astype(np.uint8)
    for plain, fast in zip(*walked_both_ways(structure, rows), strict=True):
        assert fast == pytest.approx(plain, abs=1e-12)


def test_many_rows_through_long_and_wide_vtrees():
    """Twelve variables in one block are too many to list: the words take over, with the same result."""
    rng = np.random.default_rng(0)
    names = [f"x{i}" for i in range(24)]
    models = np.unique(rng.integers(0, 2, (400, 24)), axis=0)
    # A block of nine variables that more than 256 classes tell apart: too many for a mask.
    block = vtree_from_nested((to_nested(balanced(names[:9])), to_nested(right_linear(names[9:]))))
    by_vtree = {"long": right_linear(names), "wide": balanced(names), "block": block}
    structures_by_name = {name: structure_of(vtree, models) for name, vtree in by_vtree.items()}
    assert walk_tables(structures_by_name["long"]) is not None
    assert walk_tables(structures_by_name["wide"]) is None
    tables = walk_tables(structures_by_name["block"])
    assert tables is not None
    assert not tables.diagram.has_masks[0]
    assert tables.diagram.blocks[1] == 9  # nine variables in one step: their code is more than a byte holds
    rows = models[rng.integers(0, len(models), 5000)].astype(np.uint8)
    rows[::7, 3] ^= 1
    known = {tuple(model) for model in models.tolist()}
    expected = np.array([tuple(row) not in known for row in rows.tolist()])
    for walked in walked_both_ways(structures_by_name["block"], rows[:200]):
        assert (walked.outside == expected[:200]).all()
    for structure in structures_by_name.values():
        assert (count_uses(structure, rows).outside == expected).all()
        for some in (rows, rows[:3]):
            scores = score_rows(structure, some, [np.full(structure.n_choices, -1.0)])
            assert (np.isneginf(scores[:, 0]) == expected[: len(some)]).all()


def test_every_assignment_of_few_variables_has_its_bit():
    rows = all_rows(8)
    words = psdd_bits.pack(rows)
    bits = np.unpackbits(words.view(np.uint8), bitorder="little").reshape(8, 256)
    assert (rows == bits.T).all()
