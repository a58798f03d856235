"""The gates that are drawn are the function and the distribution they were made of."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import balanced, right_linear
from unswayed.core.errors import LimitError, QueryError
from unswayed.view.charts import circuits as circuit
from unswayed.view.charts.circuits import list_psdd_gates, list_sdd_gates
from unswayed.view.drawing import Cluster, Rectangle, Words
from unswayed.view.plotting import draw_circuit, draw_vtree

NAMES = ("A", "B", "C", "D")
# (A and B) or (C and D), over the vtree ((A B) (C D)): nodes as in the first paper on SDDs.
FALSE, TRUE, A, NOT_A, B, NOT_B, C, NOT_C, D = range(9)


def both_or_both() -> Sdd:
    """(A and B) or (C and D)."""
    # 9: A and B, 10: not both, 11: C and D, 12: the whole.
    elements = {
        9: [(A, B), (NOT_A, FALSE)],
        10: [(A, NOT_B), (NOT_A, TRUE)],
        11: [(C, D), (NOT_C, FALSE)],
        12: [(9, TRUE), (10, 11)],
    }
    counts = [0] * 9 + [len(pairs) for pairs in elements.values()]
    pairs = [pair for group in elements.values() for pair in group]
    return Sdd(
        balanced(NAMES),
        kind=np.array([0, 1] + [2] * 7 + [3] * 4),
        vtree_node=np.array([-1, -1, 0, 0, 2, 2, 4, 4, 6, 1, 1, 5, 3]),
        literal=np.array([0, 0, 1, -1, 2, -2, 3, -3, 4, 0, 0, 0, 0]),
        starts=np.concatenate([[0], np.cumsum(counts)]),
        primes=np.array([prime for prime, _ in pairs]),
        subs=np.array([sub for _, sub in pairs]),
        root=12,
    )


def flat(marks):
    return [inner for mark in marks for inner in (flat(mark.marks) if isinstance(mark, Cluster) else [mark])]


def holds(gates, cell, row):
    """Whether a cell holds for a row, read off what is drawn."""
    if cell.leads_to is not None:
        return any(
            holds(gates, each.prime, row) and holds(gates, each.sub, row)
            for each in gates[cell.leads_to].pairs
        )
    if cell.text in (circuit.ALWAYS, circuit.NEVER):
        return cell.text == circuit.ALWAYS
    return row[cell.text.lstrip("¬")] != cell.text.startswith("¬")


def test_gates_of_an_sdd_are_its_function():
    gates = list_sdd_gates(both_or_both())
    assert [gate.vtree_node for gate in gates] == [3, 5, 1, 1]
    root = circuit.CircuitCell("", 0)
    for values in itertools.product([False, True], repeat=4):
        row = dict(zip(NAMES, values, strict=True))
        assert holds(gates, root, row) == ((row["A"] and row["B"]) or (row["C"] and row["D"]))


def test_gates_of_a_psdd_have_its_probabilities():
    # Over (A B): A with 0.3, then B surely; not A, then B with 0.6.
    structure = PsddStructure(
        right_linear("AB"),
        vtree_node=[-1, 0, 0, 2, 2, 2, 1],
        literal=[0, 1, -1, 2, -2, 0, 0],
        starts=[0, 0, 0, 0, 0, 0, 2, 4],
        lefts=[3, 4, 1, 2],
        rights=[0, 0, 3, 5],
    )
    psdd = Psdd(structure, np.log([0.6, 0.4, 0.3, 0.7]))
    (gate,) = list_psdd_gates(psdd)
    assert [(each.prime.text, each.sub.text) for each in gate.pairs] == [("A", "B"), ("¬A", "B: 0.60")]
    assert [each.probability for each in gate.pairs] == pytest.approx([0.3, 0.7])
    marks = flat(draw_circuit(psdd, title="two coins").drawing.marks)
    drawn = {mark.text for mark in marks if isinstance(mark, Words)}
    assert {"two coins", "A", "¬A", "B: 0.60", "0.30", "0.70", "1"} <= drawn


def test_an_sdd_is_drawn_with_all_its_cells():
    marks = flat(draw_circuit(both_or_both()).drawing.marks)
    drawn = [mark.text for mark in marks if isinstance(mark, Words)]
    assert drawn.count(circuit.NEVER) == 2
    assert drawn.count("A") == drawn.count("¬A") == 2
    rectangles = [mark for mark in marks if isinstance(mark, Rectangle)]
    assert len(rectangles) == 2 * both_or_both().n_elements


def test_a_vtree_shows_its_variables_in_order():
    marks = draw_vtree(balanced(NAMES), title="-").drawing.marks
    places = {mark.text: mark.x for mark in marks if isinstance(mark, Words) and mark.text != "-"}
    order = sorted(places, key=places.__getitem__)
    assert order == ["A", "1", "B", "3", "C", "5", "D"]


def test_circuits_without_decisions_and_large_ones_are_refused(monkeypatch):
    sdd = both_or_both()
    literal = Sdd(sdd.vtree, sdd.kind, sdd.vtree_node, sdd.literal, sdd.starts, sdd.primes, sdd.subs, root=A)
    with pytest.raises(QueryError, match="no decision node"):
        draw_circuit(literal)
    monkeypatch.setattr(circuit, "MOST_ELEMENTS", 7)
    with pytest.raises(LimitError, match="8 elements cannot be read"):
        draw_circuit(sdd)
