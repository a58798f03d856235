"""DNE: nature nodes of Netica, tabled or deterministic, are read; decisions and the rest are refused."""

from __future__ import annotations

import pytest

from format_checks import counts_by_file, counts_of, parents_of, read_text, refusal, table_of
from shared_data import SHARED, needs_shared_data
from unswayed.model.formats import dne
from unswayed.model.formats.files import read_network

COMA = """\
// ~->[DNET-1]->~

// File created by an unlicensed user using Netica 4.16 on Nov 08, 2011 at 13:52:37.

bnet coma {
AutoCompile = TRUE;
comment = "Originally from Cooper84 (PhD thesis), it has appeared in Pearl88 (book, p. \\
\t196), \\n\\
\tand elsewhere; {so}.";
whenchanged = 1320444622;

visual V1 {
\tnodefont = font {shape= "Arial"; size= 12;};
\tNodeSet Node {BuiltIn = 1; Color = 0xc0c0c0;};
\t};

node A {
\tkind = NATURE;
\tdiscrete = TRUE;
\tchance = CHANCE;
\tstates = (absent, present);
\tstatetitles = ("not there", "there; (really)");
\tlevels = (0, 1);
\tparents = ();
\tprobs =
\t\t// absent       present
\t\t  (0.8,         0.2);
\ttitle = "Metastatic Cancer";
\tbelief = (0.8, 0.2);
\tvisual V1 {
\t\tcenter = (324, 78);
\t\t};
\t};

node B {
\tkind = NATURE;
\tdiscrete = TRUE;
\tchance = CHANCE;
\tstates = (increased, not_increased);
\tinputs = (A);
\tparents = (A);
\tprobs =
\t\t// increased    not increased  // A
\t\t  (0.8,         0.2,          // absent
\t\t   0.2,         0.8);         // present ;
\t};

node D {
\tstates = (present, absent);
\tparents = (A, B);
\tprobs =
\t\t// present      absent        // A       B
\t\t  (((0.95,        0.05),         // absent increased
\t\t   (0.3,         0.7)),          // absent not increased
\t\t   ((0.2,         0.8),          // present  increased
\t\t   (0.1,         0.9)));         // present  not increased ;
\t};

node TITLE1 {
\tkind = CONSTANT;
\tdiscrete = FALSE;
\tparents = ();
\ttitle = "Cancer Neapolitan";
\t};
NodeSet Nodes {Nodes = (A, B, D);};
ElimOrder = (D, A, B);
};
"""


def test_netica() -> None:
    network = read_text(dne, COMA)
    assert network.name == "coma"
    assert network.names == ("A", "B", "D")
    assert network.variable("A").states == ("absent", "present")
    assert parents_of(network, "D") == ("A", "B")
    assert [row[0] for row in table_of(network, "D")] == [0.95, 0.3, 0.2, 0.1]


SEASON = "node Season { kind = NATURE; states = (dry, mid, wet); parents = (); probs = (0.2, 0.3, 0.5); };"


def bnet(*nodes: str) -> str:
    return "bnet n {\n" + "\n".join(nodes) + "\n};\n"


@pytest.mark.parametrize(
    ("levels", "states"),
    [
        ("(0, 10, 20.5, INFINITY)", ("0 to 10", "10 to 20.5", ">= 20.5")),
        ("(-INFINITY, -1, 1, INFINITY)", ("< -1", "-1 to 1", ">= 1")),
    ],
)
def test_continuous_nodes_have_intervals_as_states(levels: str, states: tuple[str, ...]) -> None:
    node = f"node Flow {{ kind = NATURE; discrete = FALSE; levels = {levels}; probs = (0.25, 0.25, 0.5); }};"
    assert read_text(dne, bnet(node)).variable("Flow").states == states


@pytest.mark.parametrize(
    ("fields", "states"),
    [
        ("discrete = TRUE; levels = (0, 1.5, 7);", ("0", "1.5", "7")),
        ("discrete = TRUE; numstates = 3;", ("s0", "s1", "s2")),
        ("discrete = FALSE; states = (lo, mid, hi); levels = (0, 1, 2, 3);", ("lo", "mid", "hi")),
    ],
)
def test_states_of_nodes(fields: str, states: tuple[str, ...]) -> None:
    network = read_text(dne, bnet(f"node X {{ {fields} probs = (0.25, 0.25, 0.5); }};"))
    assert network.variable("X").states == states


@pytest.mark.parametrize(
    ("fields", "functable"),
    [
        ("states = (lo, mid, hi);", "(hi, lo, mid)"),
        ("states = (lo, mid, hi);", "(#2, #0, #1)"),
        ("states = (lo, mid, hi); levels = (5, 6, 7);", "(7, 5, 6)"),
        ("discrete = FALSE; levels = (0, 10, 20, INFINITY);", "(25, 0, 10)"),
        ("discrete = FALSE; levels = (0, 10, 20, 30);", "((30), (5), (15))"),
    ],
)
def test_deterministic_nodes(fields: str, functable: str) -> None:
    node = f"node X {{ chance = DETERMIN; {fields} parents = (Season); functable = {functable}; }};"
    assert table_of(read_text(dne, bnet(SEASON, node)), "X") == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]


def x(body: str) -> str:
    """A net whose second node, X, stands on line 3."""
    return bnet(SEASON, f"node X {{ {body} }};")


@pytest.mark.parametrize(
    ("text", "line", "gist"),
    [
        ("", 1, "expected a block 'bnet name { ... }'"),
        ("hello", 1, "expected one block 'bnet name { ... }', found 'hello'"),
        ("bnet n {\n node X {", 1, "never closed"),
        ("bnet n { };", None, "no variables"),
        (x("kind = DECISION; states = (a, b);"), 3, "'X' is a decision without utilities"),
        (x("kind = UTILITY;"), 3, "utility 'X' has no table"),
        (x("kind = UTILITY; functable = (1);"), 3, "'X' is a utility without a decision"),
        (x("kind = ASSUME; states = (a, b);"), 3, "'X' is a node of kind ASSUME"),
        (x("kind = NATURE;"), 3, "'X' has no states, levels or numstates"),
        (x("discrete = FALSE;"), 3, "'X' is continuous and has no levels"),
        (x("states = (a, b);"), 3, "'X' has no table; expected 'probs' or 'functable'"),
        (x('states = (a, b); equation = "X = 1";'), 3, "'X' has only an equation"),
        (x("states = (a, b); levels = (1, 2, 3); probs = (1, 0);"), 3, "has 2 states but levels for 3"),
        (x("numstates = 999999999999; probs = (1);"), 3, "expected a number of states"),
        (x("numstates = two; probs = (1);"), 3, "expected a number of states"),
        (x("levels = (1, two); probs = (1, 0);"), 3, "expected a number, found 'two'"),
        (x("levels = 5; probs = (1, 0);"), 3, "expected a list in parentheses"),
        (x("states = (a, b); probs = (1, @undef);"), 3, "the table of 'X' has an entry @undef"),
        (x("states = (a, b); functable = (@undef);"), 3, "the table of 'X' has an entry @undef"),
        (x("states = (a, b); probs = (1, 0x0);"), 3, "expected a number, found '0x0'"),
        (x("states = (a, b); probs = (1, 0, 0);"), 3, "3 numbers found, expected 2"),
        (x("states = (a, b); parents = (Sean); probs = (1, 0);"), 3, "did you mean 'Season'"),
        (x("states = (a, b); functable = (c);"), 3, "'c' is no state of 'X'"),
        (x("states = (a, b); functable = (#2);"), 3, "'#2' is no state of 'X'"),
        (x("states = (a, b); functable = (a, b);"), 3, "2 states found, expected 1"),
        (x("discrete = FALSE; levels = (0, 1, 2); functable = (3);"), 3, "'3' is no state of 'X'"),
        (x("discrete = FALSE; levels = (0, 1, 2); functable = (-1);"), 3, "'-1' is no state of 'X'"),
        (x("states = (a, b); probs = (1, 0); probs = (1, 0);"), 3, "'probs' is given twice"),
        (bnet(SEASON, SEASON), 3, "declared twice"),
    ],
)
def test_broken_files(text: str, line: int | None, gist: str) -> None:
    error = refusal(dne, text)
    assert gist in error.reason
    assert error.line == line


def test_every_truncation_is_refused() -> None:
    text = COMA.rstrip().rstrip(";")
    for end in range(0, len(text), 3):
        assert refusal(dne, text[:end])


@needs_shared_data
@pytest.mark.parametrize(("path", "counts"), counts_by_file(".dne").items())
def test_shared_files(path: str, counts: tuple[int, int, int]) -> None:
    assert counts_of(read_network(SHARED / path)) == counts
