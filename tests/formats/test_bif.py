"""BIF: what JavaBayes, bnlearn and others write is read; what is broken is refused with its line."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given

from format_checks import (
    counts_by_file,
    counts_of,
    parents_of,
    read_text,
    refusal,
    table_of,
)
from shared_data import SHARED, needs_shared_data
from strategies import networks
from unswayed.model.cpt import Cpt
from unswayed.model.formats import bif
from unswayed.model.formats.files import read_network, write_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

JAVABAYES = """\
// Bayesian Network in the Interchange Format
// Produced by BayesianNetworks package in JavaBayes
network "Dog-Problem" { //5 variables and 5 probability distributions
\tproperty "credal-set constant-density-bounded 1.1; }" ;
}
variable  "light-on" { //2 values
\ttype discrete[2] {  "true"  "false" };
\tproperty "position = (218, 195)" ;
}
variable  "bowel-problem" { //2 values
\tproperty position = (335, 99) ;
\ttype discrete[2] {  "true"  "false" };
}
variable  "dog-out" { /* 2 values,
   or so */
\ttype discrete[2] {  "true"  "false" };
}
variable  "family-out" {
\ttype discrete[2] {  "true"  "false" };
}
probability (  "light-on"  "family-out" ) { //2 variable(s) and 4 values
\ttable 0.6 0.05 0.4 0.95 ;
}
probability (  "bowel-problem" ) { //1 variable(s) and 2 values
\ttable 0.01 0.99 ;
}
probability (  "dog-out"  "bowel-problem"  "family-out" ) { //3 variable(s) and 8 values
\tproperty "it } is ( so";
\ttable 0.99 0.97 0.9 0.3 0.01 0.03 0.1 0.7 ;
}
probability (  "family-out" ) {
\ttable 0.15 0.85 ;
}
"""

HEAD = """\
network n {
}
variable A {
  type discrete [ 2 ] { x, y };
}
variable B {
  type discrete [ 3 ] { low, mid, high };
}
probability ( A ) {
  table 0.3, 0.7;
}
"""


def test_javabayes() -> None:
    """The dog problem with the numbers of Charniak's "Bayesian networks without tears", Figure 2."""
    network = read_text(bif, JAVABAYES)
    assert network.name == "Dog-Problem"
    assert network.variable("light-on").states == ("true", "false")
    assert parents_of(network, "dog-out") == ("bowel-problem", "family-out")
    assert [row[0] for row in table_of(network, "dog-out")] == [0.99, 0.97, 0.9, 0.3]
    assert [row[0] for row in table_of(network, "light-on")] == [0.6, 0.05]


def test_states_as_bnlearn_writes_them() -> None:
    network = read_text(
        bif,
        """network unknown {
}
variable Age {
  type discrete [ 3 ] { 0-3_days, 4-10_days, 11-30_days };
}
variable LowerBodyO2 {
  type discrete [ 3 ] { <5, 5-12, 12+ };
}
variable Report {
  type discrete[4]{ Asy/Patch, >=7.5, 0.5, 1 };
}
probability ( Age ) {
  table 0.1, 0.2, 0.7;
}
probability ( LowerBodyO2 | Age ) {
  (0-3_days) 0.1, 0.3, 0.6;
  (11-30_days) 0.5, 0.4, 0.1;
  (4-10_days) 0.2, 0.3, 0.5;
}
probability ( Report | LowerBodyO2, Age ) {
  default 0.25, 0.25, 0.25, 0.25;
  (12+, 4-10_days) 1.0, 0.0, 0.0, 0.0;
}
""",
    )
    assert network.variable("LowerBodyO2").states == ("<5", "5-12", "12+")
    assert network.variable("Report").states == ("Asy/Patch", ">=7.5", "0.5", "1")
    assert table_of(network, "LowerBodyO2") == [[0.1, 0.3, 0.6], [0.2, 0.3, 0.5], [0.5, 0.4, 0.1]]
    report = table_of(network, "Report")
    assert report[2 * 3 + 1] == [1.0, 0.0, 0.0, 0.0]
    assert report.count([0.25] * 4) == 8


@pytest.mark.parametrize(
    "body",
    [
        "(x) 0.1, 0.2, 0.7; (y) 0.5, 0.25, 0.25;",
        "( x ) 0.1 0.2 0.7 ;\n( y ) .5 .25 2.5e-1 ;",
        "(y) 0.5, 0.25, 0.25\n(x) 0.1, 0.2, 0.7",
        '("x") 0.1, 0.2, 0.7;\n("y"): 0.5, 0.25, 0.25;;',
        "default 0.5 0.25 0.25;\n(x) 0.1 0.2 0.7;",
        'property of the table; (x) 0.1 0.2 0.7; property = 5" wide;\n default 0.5 0.25 0.25;',
        "table 0.1, 0.5, 0.2, 0.25, 0.7, 0.25;",
        "table 0.1, 0.2, 0.7, 0.5, 0.25, 0.25;",
        "0.1 0.5 0.2 0.25 0.7 0.25",
    ],
)
@pytest.mark.parametrize("header", ["probability ( B | A )", "probability(B|A)", "probability ( B A )"])
def test_one_table_in_many_spellings(header: str, body: str) -> None:
    network = read_text(bif, f"{HEAD}{header} {{\n{body}\n}}")
    assert parents_of(network, "B") == ("A",)
    assert table_of(network, "B") == [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]


def test_flat_table_that_fits_both_orders_follows_the_specification() -> None:
    """The child is slowest: Pr(B=b0 | A=a0), Pr(b0 | a1), Pr(b1 | a0), Pr(b1 | a1)."""
    text = (
        "variable A { type discrete [2] { a0, a1 }; } variable B { type discrete [2] { b0, b1 }; }"
        "probability (A) { table 0.5 0.5; } probability (B | A) { table 0.4 0.6 0.6 0.4; }"
    )
    assert table_of(read_text(bif, text), "B") == [[0.4, 0.6], [0.6, 0.4]]
    certain = text.replace("0.4 0.6 0.6 0.4", "1 1 0 0")
    assert table_of(read_text(bif, certain), "B") == [[1.0, 0.0], [1.0, 0.0]]


def test_flat_table_with_two_parents_has_the_last_one_fastest() -> None:
    """Dyspnoea in the chest clinic network [Lauritzen & Spiegelhalter 1988], as aGrUM writes it."""
    names = ("either", "bronchitis", "dyspnoea")
    text = "".join(f"variable {name} {{ type discrete[2] {{ true, false }}; }}\n" for name in names) + (
        "probability ( either ) { default 0.5 0.5; } probability ( bronchitis ) { table 0.45 0.55 ; }\n"
        "probability ( dyspnoea | either , bronchitis ) { table 0.9 0.7 0.8 0.1 0.1 0.3 0.2 0.9 ; }\n"
    )
    assert [row[0] for row in table_of(read_text(bif, text), "dyspnoea")] == [0.9, 0.7, 0.8, 0.1]


def test_names_with_blanks_between_commas() -> None:
    text = (
        "network my net {} variable Heart Disease { type discrete [2] { not present, present }; }"
        'variable "B" { type discrete { b0 b1 }; }'
        "probability ( Heart Disease ) { table 0.5, 0.5; }"
        "probability ( B | Heart Disease ) { (not present) 1 0; (present) 0 1; }"
    )
    network = read_text(bif, text)
    assert network.name == "my net"
    assert network.variable("Heart Disease").states == ("not present", "present")
    assert table_of(network, "B") == [[1.0, 0.0], [0.0, 1.0]]


def test_windows_line_ends_and_missing_network_block() -> None:
    network = read_text(
        bif, HEAD[len("network n {\n}\n") :].replace("\n", "\r\n") + "probability (B) {1 0 0}"
    )
    assert network.name == ""
    assert table_of(network, "B") == [[1.0, 0.0, 0.0]]


def table_b(body: str) -> str:
    """`HEAD` and a table of B whose body begins on line 13."""
    return f"{HEAD}probability ( B | A ) {{\n{body}\n}}\n"


GOOD = "(x) 0.1, 0.2, 0.7;\n"


@pytest.mark.parametrize(
    ("text", "line", "gist"),
    [
        ("", None, "no variables"),
        ("  \n // nothing\n", None, "no variables"),
        ("hello", 1, "expected a block 'network'"),
        ("\nnetwork n {\n", 2, "never closed"),
        ("network n {\n}\n}", 3, "'}' without a '{'"),
        ("{" * 100_000, 1, "nested deeper"),
        (HEAD + "variable C { type continuous; }", 12, "type discrete"),
        (HEAD + "variable C {\n type discrete [ 2 ] { a, b, c };\n}", 13, "declares 2 states but lists 3"),
        (HEAD + "variable C {\n type discrete [ 1 ] { a b };\n}", 13, "declares 1 states but lists 2"),
        (HEAD + "variable C {\n type discrete [ two ] { a, b };\n}", 13, "type discrete [n]"),
        (HEAD + "variable C { }", 12, "expected one 'type discrete [n] { states };'"),
        (HEAD + "variable C { type discrete [2] { a, a }; }", 12, "'a' twice"),
        (HEAD + "variable C { type discrete [0] { }; }", 12, "no states"),
        (HEAD + "variable A { type discrete [1] { a }; }", 12, "declared twice (first on line 3)"),
        (HEAD + 'variable "" { type discrete [1] { a }; }', 12, "must not be empty"),
        (HEAD + "probabilty ( B ) {\n table 1 0 0;\n}", 12, "expected a block"),
        (HEAD + "probability B {\n table 1 0 0;\n}", 12, "expected '(child | parents)'"),
        (HEAD + "probability ( ) {\n table 1 0 0;\n}", 12, "expected the name of a variable"),
        (HEAD + "probability ( B, A | A ) {\n table 1 0 0;\n}", 12, "several variables at once"),
        (HEAD + "probability ( B | AA ) {\n table 1 0 0;\n}", 12, "did you mean 'A'"),
        (HEAD + "probability ( B | A, A ) {\n default 1 0 0;\n}", 12, "appears twice"),
        (HEAD, 6, "'B' has no probability table"),
        (HEAD + "probability ( A ) {\n table 1 0;\n}", 12, "two tables (the first on line 9)"),
        (table_b(""), 12, "is empty"),
        (table_b(GOOD), 12, "no row for (A=y)"),
        (table_b(GOOD + GOOD), 14, "row (A=x) of 'B' is given twice"),
        (table_b(GOOD + "(z) 1 0 0;"), 14, "unknown state of 'A' 'z'"),
        (table_b(GOOD + "(x, y) 1 0 0;"), 14, "names 2 states, expected 1"),
        (table_b(GOOD + "(y) 1 0;"), 14, "has 2 numbers, expected 3"),
        (table_b(GOOD + "(y) 1 0 0 0;"), 14, "has 4 numbers, expected 3"),
        (table_b(GOOD + "(y) 1, nan, 0;"), 14, "expected a number, found 'nan'"),
        (table_b(GOOD + "(y) 1, inf, 0;"), 14, "expected a number, found 'inf'"),
        (table_b(GOOD + "(y) 1, infinity, 0;"), 14, "expected a number, found 'infinity'"),
        (table_b(GOOD + "(y) 1_0, 0, 0;"), 14, "expected a number, found '1_0'"),
        (table_b(GOOD + "(y) 0x1, 0, 0;"), 14, "expected a number, found '0x1'"),
        (table_b(GOOD + "(y) 1e999, 0, 0;"), 14, "'1e999' is too large"),
        (table_b(GOOD + "(y) 1.2.3, 0, 0;"), 14, "expected a number, found '1.2.3'"),
        (table_b(GOOD + "(y) 1e, 0, 0;"), 14, "expected a number, found '1e'"),
        (table_b(GOOD + "(y) \N{ARABIC-INDIC DIGIT ONE}, 0, 0;"), 14, "expected a number"),
        (table_b(GOOD + "(y) -0.5, 1, 0.5;"), 12, "-0.5 is not a probability"),
        (table_b(GOOD + "(y) 0.5, 0.2, 0.2;"), 12, "row (A=y) sums to 0.9"),
        (table_b(GOOD + "(y 0.5, 0.2, 0.3;"), 14, "expected '(states) numbers;'"),
        (table_b(GOOD + "default 1 0;"), 14, "has 2 numbers, expected 3"),
        (table_b(GOOD + "table 1 0 0 0 0 1;"), 14, "found 'table'"),
        (table_b("table 1 0 0 0 0 1;\n(x) 1 0 0;"), 14, "nothing after 'table'"),
        (table_b("table 1 0 0 0 0;"), 13, "has 5 numbers, expected 6 (2 x 3)"),
        (table_b("function max;"), 13, "expected 'default' or '(states)', found 'function'"),
        (table_b("{ (x) 1 0 0; }"), 13, "expected '(states) numbers;'"),
        (table_b("(" * 100_000), 13, "expected '(states) numbers;'"),
    ],
)
def test_broken_files(text: str, line: int | None, gist: str) -> None:
    error = refusal(bif, text)
    assert gist in error.reason
    assert error.line == line


def test_cycle_is_refused() -> None:
    text = HEAD.replace(
        "probability ( A ) {\n  table 0.3, 0.7;", "probability ( A | B ) {\n  default 0.3, 0.7;"
    )
    assert "cycle" in str(refusal(bif, text + "probability ( B | A ) { default 1 0 0; }"))


def test_every_truncation_is_refused() -> None:
    text = table_b(GOOD + "(y) 0.5, 0.25, 0.25;").rstrip()
    for end in range(len(text)):
        assert refusal(bif, text[:end])


def test_garbage_is_refused_quickly() -> None:
    started = time.process_time()
    for garbage in ("a", '"', "(", ";", "0.5, ", "\n", "/*", "\\", '"\\"', "property "):
        refusal(bif, garbage * (2_000_000 // len(garbage)))
        refusal(bif, table_b(garbage * (2_000_000 // len(garbage))))
    assert time.process_time() - started < 20


@given(networks())
def test_round_trip(network: BayesianNetwork) -> None:
    assert read_text(bif, bif.write(network)) == network


def test_round_trip_through_files(tmp_path) -> None:
    a, b = Variable("a // b", ["<5", ">=7.5", 'say "hi"']), Variable("probability", ["table"])
    third = math.nextafter(1 / 3, 1)
    network = BayesianNetwork([Cpt(a, [], [1 / 3, third, 1 - 1 / 3 - third]), Cpt(b, [a], [1, 1, 1])])
    for name in ("some.bif", "some.bif.gz"):
        write_network(network, tmp_path / name)
        assert read_network(tmp_path / name) == network


def test_written_file_is_what_others_read() -> None:
    """Bare names, labelled rows, commas: as in the files of the bnlearn repository."""
    rain, grass = Variable("Rain", ["<5", "5+"]), Variable("Grass", ["wet", "dry"])
    network = BayesianNetwork(
        [Cpt(rain, [], [0.3, 0.7]), Cpt(grass, [rain], [[0.9, 0.1], [0.2, 0.8]])], "lawn"
    )
    assert bif.write(network) == (
        "network lawn {\n}\n"
        "variable Rain {\n  type discrete [ 2 ] { <5, 5+ };\n}\n"
        "variable Grass {\n  type discrete [ 2 ] { wet, dry };\n}\n"
        "probability ( Rain ) {\n  table 0.3, 0.7;\n}\n"
        "probability ( Grass | Rain ) {\n  (<5) 0.9, 0.1;\n  (5+) 0.2, 0.8;\n}\n"
    )


@needs_shared_data
@pytest.mark.parametrize(("path", "counts"), counts_by_file(".bif", ".bif.gz").items())
def test_shared_files(path: str, counts: tuple[int, int, int]) -> None:
    assert counts_of(read_network(SHARED / path)) == counts


@needs_shared_data
@pytest.mark.parametrize("name", ["munin.bif.gz", "diabetes.bif.gz"])
def test_largest_files_are_read_in_about_a_second(name: str) -> None:
    started = time.process_time()
    network = read_network(SHARED / "networks" / name)
    assert time.process_time() - started < 3  # half a second on an idle machine
    assert read_text(bif, bif.write(network)) == network
