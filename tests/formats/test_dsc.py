"""DSC: what MSBN, bnlearn and GeNIe write is read; what is broken is refused with its line."""

from __future__ import annotations

import pytest

from conditionals import conditionals
from format_checks import (
    counts_by_file,
    counts_of,
    parents_of,
    read_text,
    refusal,
    table_of,
)
from shared_data import SHARED, needs_shared_data
from tolerances import ENGINE
from unswayed.core.errors import FormatError
from unswayed.model.formats import dsc
from unswayed.model.formats.files import read_network, write_network

NODES = """\
belief network "my net"
// nodes
node A
{
    name: "Age; of {the} patient";
    type: discrete[2] = { "x", "y" };
    position: (207, 95);
}
node B {
  type : discrete [ 3 ] = { "low", "mid", "high" };
}
probability ( A ) {
   0.3, 0.7;
}
"""


@pytest.mark.parametrize(
    "body",
    [
        "(0) : 0.1, 0.2, 0.7;\n(1) : 0.5, 0.25, 0.25;",
        "(1): .5, .25, .25; /* second first */ (0): .1, .2, .7;",
        "default: 0.5, 0.25, 0.25;\n(0): 0.1, 0.2, 0.7",
        '("y"): 0.5, 0.25, 0.25; ("x"): 0.1, 0.2, 0.7;',
        "(0, 0) : 0.10000000, 0.20000000, 0.70000000\n ;\n(0, 0) : 0.50000000, 0.25000000\n, 0.25000000;",
    ],
)
def test_one_table_in_many_spellings(body: str) -> None:
    network = read_text(dsc, f"{NODES}probability(B | A)\n{{\n{body}\n}}\n")
    assert network.name == "my net"
    assert network.names == ("A", "B")
    assert parents_of(network, "B") == ("A",)
    assert table_of(network, "B") == [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]


def test_rows_of_zeros_from_genie_stand_in_order() -> None:
    """GeNIe 2 labels each row with zeros, one for each parent and one for the child."""
    text = NODES + 'node C { type: discrete[2] = {"t", "f"}; }\nprobability (B) { 0.2, 0.3, 0.5; }\n'
    shares = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    rows = "\n".join(f"    (0, 0, 0) : {share}, {1 - share};" for share in shares)
    network = read_text(dsc, f"{text}probability (C | A, B)\n{{\n{rows}\n}}\n")
    assert [row[0] for row in table_of(network, "C")] == shares


@pytest.mark.parametrize(
    ("title", "name"),
    [("", ""), ("belief network\n", ""), ('belief network ""\n', ""), ("belief network asia\n", "asia")],
)
def test_titles(title: str, name: str) -> None:
    text = (
        title
        + 'properties { type x = string; } node A { type: discrete[1] = { "x" }; } probability(A) { 1; }'
    )
    assert read_text(dsc, text).name == name


def table_b(body: str) -> str:
    """`NODES` and a table of B whose body begins on line 16."""
    return f"{NODES}probability ( B | A ) {{\n{body}\n}}\n"


@pytest.mark.parametrize(
    ("text", "line", "gist"),
    [
        ("", None, "no variables"),
        ('belief network "x', 1, "string without an end"),
        ("hello", 1, "expected a block 'node' or 'probability'"),
        ("node A {", 1, "never closed"),
        ("node A { }", 1, "expected one 'type : discrete [n] = { states };', found none"),
        ("node A { type: continuous; }", 1, "found 'type: continuous'"),
        ('node A { type: real[2] = { "a", "b" }; }', 1, "expected 'type : discrete [n] ='"),
        ('node A {\n type: discrete[3] = { "a", "b" }; }', 2, "declares 3 states but lists 2"),
        ("decision D { }", 1, "'D' is a decision node"),
        ("utility U { }", 1, "'U' is a utility node"),
        (NODES, 9, "'B' has no probability table"),
        (NODES + "probability ( B | C ) { 1, 0, 0; }", 15, "unknown variable 'C'"),
        (table_b(""), 15, "no row for (A=x) and 1 more"),
        (table_b("(0) : 1, 0, 0;"), 15, "no row for (A=y)"),
        (table_b("(0) : 1, 0, 0;\n(0) : 1, 0, 0;\n(1) : 1, 0, 0;"), 17, "row (A=x) of 'B' is given twice"),
        (table_b("(0) : 1, 0, 0;\n(2) : 1, 0, 0;"), 17, "'A' has no state 2"),
        (table_b("(0) : 1, 0, 0;\n(z) : 1, 0, 0;"), 17, "unknown state of 'A' 'z'"),
        (table_b("(0) : 1, 0, 0;\n(1, 1) : 1, 0, 0;"), 17, "has 2 indices, expected 1"),
        (table_b("(0) : 1, 0, 0;\n(1) : 1, 0;"), 17, "has 2 numbers, expected 3"),
        (table_b("(0) : 1, 0, 0;\n(1) : 1, inf, 0;"), 17, "expected a number, found 'inf'"),
        (table_b("(0) : 1, 0, 0;\n(1) : 0.5, 0, 0;"), 15, "row (A=y) sums to 0.5"),
        (table_b("function : max;\n(0) : 1, 0, 0;"), 16, "functions such as max are not read"),
        (table_b("0.1, 0.2, 0.7, 0.5, 0.25, 0.25;"), 16, "expected '(indices) : numbers;'"),
        (table_b("(0) : 1, 0, 0; }"), 17, "'}' without a '{'"),
    ],
)
def test_broken_files(text: str, line: int | None, gist: str) -> None:
    error = refusal(dsc, text)
    assert gist in error.reason
    assert error.line == line


def test_every_truncation_is_refused() -> None:
    text = table_b("(0) : 0.1, 0.2, 0.7;\n(1) : 0.5, 0.25, 0.25;").rstrip()
    for end in range(len(text)):
        assert refusal(dsc, text[:end])


def test_is_not_written(tmp_path) -> None:
    network = read_text(dsc, NODES + "probability ( B ) { 1, 0, 0; }")
    with pytest.raises(FormatError, match="does not write it"):
        write_network(network, tmp_path / "some.dsc")


@needs_shared_data
@pytest.mark.parametrize(("path", "counts"), counts_by_file(".dsc").items())
def test_shared_files(path: str, counts: tuple[int, int, int]) -> None:
    assert counts_of(read_network(SHARED / path)) == counts


@needs_shared_data
@pytest.mark.parametrize("name", ["alarm", "asia"])
def test_bnlearn_writes_one_network_in_two_formats(name: str) -> None:
    one = read_network(SHARED / "networks" / "formats" / "dsc" / f"{name}.dsc")
    other = read_network(SHARED / "networks" / f"{name}.bif")
    assert conditionals(one) == pytest.approx(conditionals(other), abs=ENGINE)
