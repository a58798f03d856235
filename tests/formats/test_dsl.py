"""DSL: tables, certain states and noisy-MAX of GeNIe are read; the rest is refused by node."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from format_checks import counts_by_file, counts_of, parents_of, read_text, refusal, table_of
from shared_data import SHARED, needs_shared_data
from tolerances import EXACT
from unswayed.model.formats import dsl
from unswayed.model.formats.files import read_network


def node(name: str, body: str, *, kind: str = "CPT", parents: str = "()") -> str:
    return f"""
 node {name}
  {{
   TYPE = {kind};
   HEADER =
    {{
     ID = {name};
     NAME = "{name}; with {{braces}} and \\"quotes\\"";
     COMMENT = "";
    }};
   SCREEN =
    {{
     POSITION = {{ CENTER_X = 0; CENTER_Y = 0; }};
     COLOR = 16250597;
    }};
   DOCUMENTATION = {{ }};
   DOCUMENTATION = {{ }};
   PARENTS = {parents};
   DEFINITION =
    {{
     {body}
    }};
   EXTRA_DEFINITION = {{ FAULT_NAMES = ("", ""); QUESTION = ""; }};
  }};"""


def net(*nodes: str) -> str:
    return (
        'net Unnamed\n{\n HEADER = { ID = Unnamed; NAME = "My net"; };\n NUMSAMPLES = 1000; // many\n'
        + "".join(nodes)
        + "\n OBSERVATION_COST = { node A { PARENTS = (); COSTS = (0.0); }; };\n};\n"
    )


A = node("A", "NAMESTATES = (x, y);\n PROBABILITIES = (0.3, 0.7);")
B = node("B", "NAMESTATES = (0, 1, 2); /* three */\n PROBABILITIES = (0.2, 0.3, 0.5);")


def test_tables_have_the_child_fastest_and_the_last_parent_next() -> None:
    shares = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    numbers = ", ".join(f"{share}, {1 - share}" for share in shares)
    child = node("C", f"NAMESTATES = (t, f); PROBABILITIES = ({numbers});", parents="(A, B)")
    network = read_text(dsl, net(child, A, B))
    assert network.name == "Unnamed"
    assert network.variable("B").states == ("0", "1", "2")
    assert parents_of(network, "C") == ("A", "B")
    assert [row[0] for row in table_of(network, "C")] == shares


@pytest.mark.parametrize("results", ["(t, f, t)", "(0, 1, 0)", '("t" "f" "t")'])
def test_certain_states(results: str) -> None:
    child = node("C", f"NAMESTATES = (t, f); RESULTINGSTATES = {results};", kind="TRUTHTABLE", parents="(B)")
    assert table_of(read_text(dsl, net(B, child)), "C") == [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]


def test_nodes_of_submodels_and_nested_comments() -> None:
    network = read_text(dsl, net("/# not here } #/ submodel S { HEADER = { ID = S; };", A, "};", B))
    assert network.names == ("A", "B")


def test_noisy_max_is_the_strongest_of_independent_effects() -> None:
    """Summed over every combination of effects: the child shows the first, strongest, state."""
    causes = {"A": [[0.6, 0.3, 0.1], [0, 0, 1]], "B": [[0.2, 0.2, 0.6], [0.1, 0.4, 0.5], [0, 0, 1]]}
    leak = [0.05, 0.05, 0.9]
    numbers = ", ".join(str(share) for column in [*causes["A"], *causes["B"], leak] for share in column)
    body = f"NAMESTATES = (high, mid, none); STRENGTHS = (0, 1, 2, 1, 0); PROBABILITIES = ({numbers});"
    network = read_text(dsl, net(A, B, node("C", body, kind="NOISY_MAX", parents="(A, B)")))
    expected = np.zeros((2, 3, 3))
    for a, b, *effects in product(range(2), range(3), *[range(3)] * 3):
        share = causes["A"][a][effects[0]] * causes["B"][[2, 1, 0][b]][effects[1]] * leak[effects[2]]
        expected[a, b, min(effects)] += share
    np.testing.assert_allclose(table_of(network, "C"), expected.reshape(-1, 3), atol=EXACT)


def child(body: str, kind: str = "CPT") -> str:
    return net(A, node("C", body, kind=kind, parents="(A)"))


@pytest.mark.parametrize(
    ("text", "gist"),
    [
        ("", "expected a block 'net name { ... }'"),
        ("hello;", "expected one block 'net name { ... }', found 'hello'"),
        ("net A { };\nnet B { };", "expected one block"),
        ("net A { ", "never closed"),
        ('net A { x = "', "string without an end"),
        ("net A { };", "no variables"),
        (net(A, A), "declared twice"),
        (net("node A { };"), "'A' is of type 'no type'"),
        (child("NAMESTATES = (t, f);", "LIST"), "'C' is of type 'LIST'"),
        (child("UTILITIES = (1, 2);", "TABLE"), "'C' is of type 'TABLE'"),
        (child("PROBABILITIES = (1, 0, 1, 0);"), "'C' has no NAMESTATES"),
        (child("NAMESTATES = (t, f);"), "'C' has no PROBABILITIES"),
        (child("NAMESTATES = (t, f);", "TRUTHTABLE"), "'C' has no RESULTINGSTATES"),
        (child("NAMESTATES = (t, f); PROBABILITIES = (1, 0, 1);"), "3 numbers found, expected 4"),
        (child("NAMESTATES = (t, f); PROBABILITIES = (1, 0, 1, infinity);"), "found 'infinity'"),
        (child("NAMESTATES = (t, f); PROBABILITIES = 1;"), "expected a list in parentheses"),
        (child("NAMESTATES = (t, f); RESULTINGSTATES = (t);", "TRUTHTABLE"), "1 states found, expected 2"),
        (child("NAMESTATES = (t, f); RESULTINGSTATES = (t, g);", "TRUTHTABLE"), "unknown state of 'C' 'g'"),
        (child("NAMESTATES = (t, f); RESULTINGSTATES = (0, 2);", "TRUTHTABLE"), "unknown state of 'C' '2'"),
        (child("NAMESTATES = (t, f); PROBABILITIES = (1, 0, 1, 0);", "NOISY_MAX"), "expected 6"),
        (
            child(
                "NAMESTATES = (t, f); STRENGTHS = (0, 0); PROBABILITIES = (1, 0, 1, 0, 0, 1);", "NOISY_MAX"
            ),
            "its states 0 to n-1 in some order",
        ),
        (
            net(node("C", "NAMESTATES = (t, f); PROBABILITIES = (1, 0);", parents="(D)")),
            "unknown variable 'D'",
        ),
    ],
)
def test_broken_files(text: str, gist: str) -> None:
    assert gist in refusal(dsl, text).reason


def test_lines_are_counted() -> None:
    text = net(A)
    assert refusal(dsl, text.replace("0.7", "seven")).line == text[: text.index("0.7")].count("\n") + 1


def test_every_truncation_is_refused() -> None:
    text = net(A, B).rstrip().rstrip(";")
    for end in range(0, len(text), 3):
        assert refusal(dsl, text[:end])


@needs_shared_data
@pytest.mark.parametrize(("path", "counts"), counts_by_file(".dsl").items())
def test_shared_files(path: str, counts: tuple[int, int, int]) -> None:
    assert counts_of(read_network(SHARED / path)) == counts
