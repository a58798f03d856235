"""PSDD files: what other tools write is read, what is written is read back, broken files say where."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from oracles.enumerate_psdd import psdds, table
from tolerances import EXACT
from unswayed.circuits.io.psdd import parse_psdd, psdd_text, read_psdd, write_psdd
from unswayed.circuits.vtree import vtree_from_nested
from unswayed.core.errors import FormatError
from unswayed.model.formats.reading.source import Source

HALF = math.log(0.5)
VTREE = "vtree 5\nL 0 1\nL 1 2\nL 2 3\nI 3 1 2\nI 4 0 3\n"
# (A <=> B) or ((A <=> not B) and C), the formula of [choi2016, Figure 2], as the authors' programs write it.
FIGURE_2 = f"""c ids of psdd nodes start at 0
c psdd nodes appear bottom-up, children before parents
psdd 9
L 0 0 1
L 1 0 -1
L 2 1 2
L 3 1 -2
T 4 2 3 {math.log(0.2)}
L 5 2 3
D 6 3 2 2 4 {math.log(0.9)} 3 5 {math.log(0.1)}
D 7 3 2 3 4 {math.log(0.7)} 2 5 {math.log(0.3)}
D 8 4 2 0 6 {math.log(0.6)} 1 7 {math.log(0.4)}
"""


def test_a_file_as_other_tools_write_it(tmp_path):
    (tmp_path / "a.psdd").write_text(FIGURE_2)
    (tmp_path / "a.vtree").write_text(VTREE)
    psdd = read_psdd(tmp_path / "a.psdd")
    assert psdd.structure.n_parameters == 4
    masses = table(psdd).reshape(2, 2, 2)  # A, B, C
    assert masses[1, 1, 1] == pytest.approx(0.6 * 0.9 * 0.2, abs=EXACT)
    assert masses[0, 1, 1] == pytest.approx(0.4 * 0.3, abs=EXACT)
    assert masses[0, 1, 0] == masses[1, 0, 0] == 0


def test_both_logarithms_of_a_free_variable(tmp_path):
    vtree = vtree_from_nested(("A", ("B", "C")))
    both = FIGURE_2.replace(f"T 4 2 3 {math.log(0.2)}", f"T 4 2 3 {math.log(0.8)} {math.log(0.2)}")
    found = [parse_psdd(Source(tmp_path, text), vtree) for text in (FIGURE_2, both)]
    assert table(found[0]) == pytest.approx(table(found[1]), abs=EXACT)


@given(psdds())
def test_round_trip_is_the_same_distribution(psdd):
    again = parse_psdd(Source(None, psdd_text(psdd)), psdd.structure.vtree)  # type: ignore[arg-type]
    assert table(again) == pytest.approx(table(psdd), abs=EXACT)


def test_files_keep_names(tmp_path):
    psdd = parse_psdd(Source(tmp_path, FIGURE_2), vtree_from_nested(("rain", ("sun", "snow"))))
    write_psdd(psdd, tmp_path / "weather.psdd")
    again = read_psdd(tmp_path / "weather.psdd")
    assert again.structure.names == ("rain", "sun", "snow")
    assert np.array_equal(again.log_parameters, psdd.log_parameters)


BROKEN = {
    "no header": ("L 0 0 1", "line 1: expected the line 'psdd COUNT'"),
    "empty": ("c nothing", "expected the line 'psdd COUNT'"),
    "unknown node": ("psdd 1\nX 0 0 1", "line 2: expected a node"),
    "no such variable": ("psdd 1\nL 0 0 9", "variable 9 is not in the vtree"),
    "used before": ("psdd 1\nD 0 4 1 1 2 0.0", "node 1 is used before it is defined"),
    "twice": ("psdd 2\nL 0 0 1\nL 0 0 1", "line 3: there are two nodes 0"),
    "positive": ("psdd 1\nT 0 2 3 0.5", "the logarithm of a probability"),
    "not a number": ("psdd 1\nT 0 2 3 nan", "the logarithm of a probability"),
    "sum": (FIGURE_2.replace(str(math.log(0.9)), str(math.log(0.5))), "sum to 0.6"),
    "cut": (FIGURE_2[: FIGURE_2.index("D 8")], "9 nodes announced, 8 found"),
    "short": (FIGURE_2.replace("D 6 3 2", "D 6 3 3"), "COUNT and PRIME SUB LOG"),
    "not the root": ("psdd 1\nL 0 0 1", "does not speak about all variables"),
    "wrong vtree": (FIGURE_2.replace("D 6 3 2 2 4", "D 6 3 2 0 4"), "the right .vtree file"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_say_where(name, tmp_path):
    text, message = BROKEN[name]
    with pytest.raises(FormatError, match=message.replace("(", r"\(")):
        parse_psdd(Source(tmp_path / "x.psdd", text), vtree_from_nested(("A", ("B", "C"))))
