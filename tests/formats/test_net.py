"""HUGIN's NET: what HUGIN, SamIam, bnlearn and pyAgrum write is read; the rest is refused by name."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

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
from strategies import networks
from tolerances import ENGINE
from unswayed.core.errors import FormatError, UnswayedWarning
from unswayed.model.cpt import Cpt
from unswayed.model.formats import net
from unswayed.model.formats.files import read_network, write_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.noisy import NoisyOrCpt
from unswayed.model.variable import Variable

NODES = """\
net
{
  node_size = (80 40);
}
node A
{
  states = ("x" "y");
}
discrete chance node B
{
  label = "a } label; with \\"quotes\\" % and all";
  position = (10 -20);
  states = ("low"
            "mid" "high");
  subtype = number;
  state_values = (0 1.5 3);
}
potential (A) % a comment with ( and "
{
  data = ( 0.3 0.7 );
}
"""
WANTED = [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]


@pytest.mark.parametrize(
    "data",
    [
        "((0.1 0.2 0.7) (0.5 0.25 0.25))",
        "(( 0.1 0.2 0.7 )\t% x\n( 0.5 0.25 0.25 ))",
        "(0.1 0.2 0.7 0.5 0.25 0.25)",
        "(( 0.1, 0.2, 0.7 ), ( .5, 2.5e-1, 0.25 ))",
    ],
)
@pytest.mark.parametrize("header", ["potential (B | A)", "potential ( B | A   ) ", "potential(B|A)"])
def test_one_table_in_many_spellings(header: str, data: str) -> None:
    network = read_text(net, f"{NODES}{header}\n{{\n  data = {data};\n}}")
    assert network.variable("B").states == ("low", "mid", "high")
    assert parents_of(network, "B") == ("A",)
    assert table_of(network, "B") == WANTED


def test_samiam() -> None:
    network = read_text(
        net,
        """net
{
	node_size = (130.0 55.0);
	propagationenginegenerator1791944048146838126L = "edu.ucla.belief.approx@27f219b2";
}

node Z
{
	states = ("yes" "no" );
	position = (131 -125);
	isdecisionvariable = "false";
	DSLxSUBMODEL = "Root Submodel";
	label = "Z";
	excludepolicy = "include whole CPT";
}
node Y
{
	states = ("yes" "no" );
	label = "Y";
}
node X
{
	states = ("yes" "no" );
}
potential ( Z | )
{
	data = (	0.6	0.4	);
}
potential ( X | Z )
{
	data = ((	0.2	0.8	)
		(	0.3	0.7	));
}
potential ( Y | Z X )
{
	data = (((	0.1	0.9	)
		(	0.2	0.8	))
		((	0.4	0.6	)
		(	0.7	0.3	)));
}
""",
    )
    assert parents_of(network, "Y") == ("Z", "X")
    assert [row[0] for row in table_of(network, "Y")] == [0.1, 0.2, 0.4, 0.7]


def test_pyagrum_and_classes() -> None:
    text = """class Lawn
{
  inputs = ();
  outputs = ();
  node_size = (50 50);
  name = anything;
  node a {
     states = (0 1 2 );
     ID = "a";
  }
  node b { states = ("" "" ); }
  node c { subtype = interval; state_values = (0 2.5 10); }
  node d { subtype = number; state_values = (1 2); }
  potential (a) {
     data = (  0.25 0.25 0.5);
  }
  potential ( b | a   ) {
     data =
     ((    0.25    0.75)   % a=0
     (    0.5    0.5)   % a=1
     (    1.0    0.0));   % a=2
  }
  potential (c) { data = (1 0); }
  potential (d) { data = (1 0); }
}
"""
    network = read_text(net, text)
    assert network.name == "Lawn"
    assert network.variable("a").states == ("0", "1", "2")
    assert network.variable("b").states == ("s0", "s1")
    assert network.variable("c").states == ("0 to 2.5", "2.5 to 10")
    assert network.variable("d").states == ("1", "2")
    assert table_of(network, "b") == [[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]]


def test_net_block_may_stand_anywhere_and_names_the_network() -> None:
    assert (
        read_text(net, NODES + 'potential (B) { data = (1 0 0); } net { name = "My net"; }').name == "My net"
    )
    assert read_text(net, NODES + "potential (B) { data = (1 0 0) }").name == ""


def test_potential_without_data_is_uniform_and_says_so() -> None:
    with pytest.warns(UnswayedWarning, match="without data were taken as uniform: 'B'"):
        network = read_text(net, NODES + "potential (B | A) { }")
    assert table_of(network, "B") == [[1 / 3] * 3] * 2


def table_b(body: str) -> str:
    """`NODES` and a potential of B whose body begins on line 24."""
    return f"{NODES}potential (B | A)\n{{\n{body}\n}}\n"


@pytest.mark.parametrize(
    ("text", "line", "gist"),
    [
        ("", None, "no variables"),
        ("hello", 1, "expected a block 'net', 'node' or 'potential', found 'hello'"),
        ("node A { states = (", 1, "never closed"),
        ('node A {\n states = ("x);\n}', 2, "string without an end"),
        ("node A { }", 1, "'A' has no states"),
        ("node A { states = 5; }", 1, "expected a list in parentheses, found '5'"),
        ("node A { states = (a b; }", 1, "expected a list in parentheses"),
        ("node A { states = ((a b); }", 1, "opens 2 parentheses and closes 1"),
        ("node A { states = (a a); }", 1, "'a' twice"),
        ("node A { states = (a b); states = (a b); }", 1, "'states' is given twice"),
        ("node A { nonsense; }", 1, "expected 'name = value;'"),
        (NODES + "node A { states = (a b); }", 22, "'A' is declared twice"),
        (NODES + "continuous chance node C { }", 22, "expected a discrete chance 'node', found 'continuous"),
        (NODES + "decision D { states = (a b); }", 22, "'D' is a decision without utilities"),
        (NODES + "utility U { }", 22, "utility 'U' has no potential"),
        (NODES + "function F { }", 22, "found 'function F'"),
        ("class C {\n instance I : D (a = b; c = d) { };\n}", 2, "found 'instance I"),
        (NODES, 9, "'B' has no probability table"),
        (NODES + "potential (B | AA) { }", 22, "did you mean 'A'"),
        (NODES + "potential (B A) { }", 22, "expected one node before '|'"),
        (NODES + "potential (A) { data = (1 0); }", 22, "two tables"),
        (NODES + "potential B { data = (1 0 0); }", 22, "expected a list in parentheses"),
        (table_b("data = (0.1 0.2 0.7 0.5 0.25);"), 22, "5 numbers found, expected 6"),
        (table_b("data = (0.1 0.2 0.7 0.5 0.25 nan);"), 24, "expected a number, found 'nan'"),
        (table_b("data = (0.1 0.2 0.7\n 0.5 0.25 1e999);"), 25, "'1e999' is too large"),
        (table_b("data = (0.1 0.2 0.7 0.5 0.25 -0.25);"), 22, "-0.25 is not a probability"),
        (table_b("data = ((0.1 0.2 0.7 0.5 0.25 0.25);"), 24, "opens 2 parentheses and closes 1"),
        (table_b("data = 0.1 0.2 0.7 0.5 0.25 0.25;"), 24, "expected a list"),
        (table_b("data = ( normal ( 0, 1 ) );"), 24, "'B' has a normal distribution"),
        (
            table_b('model_nodes = ();\nmodel_data = ( "Distribution (0.1, 0.2, 0.7)" );'),
            22,
            "by an expression",
        ),
        (table_b("data = " + "(" * 100_000 + ")" * 100_000 + ";"), 22, "0 numbers found"),
        ("node A {" * 1000, 1, "nested deeper"),
    ],
)
def test_broken_files(text: str, line: int | None, gist: str) -> None:
    error = refusal(net, text)
    assert gist in error.reason
    assert error.line == line


def test_expressions_are_refused_by_the_name_of_the_node() -> None:
    assert "'B'" in refusal(net, table_b('model_data = ( "Poisson(2)" );')).reason


def test_every_truncation_is_refused() -> None:
    text = table_b("data = (0.1 0.2 0.7 0.5 0.25 0.25);").rstrip()
    for end in range(len(text)):
        assert refusal(net, text[:end])


@given(networks())
def test_round_trip(network: BayesianNetwork) -> None:
    assert read_text(net, net.write(network)) == network


@given(networks())
def test_node_names_are_identifiers_for_hugin(network: BayesianNetwork) -> None:
    written = re.findall(r"^node (.*)$", net.write(network), re.MULTILINE)
    assert len(set(written)) == len(network)
    for identifier in written:
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", identifier, re.ASCII)
        assert identifier not in ("node", "net", "potential", "class", "utility", "decision")


def test_written_file() -> None:
    rain, grass = Variable("Rain", ["yes", "no"]), Variable("the grass", ["wet", "dry"])
    network = BayesianNetwork(
        [Cpt(rain, [], [0.3, 0.7]), Cpt(grass, [rain], [[0.9, 0.1], [0.2, 0.8]])], "lawn"
    )
    assert net.write(network) == (
        'net\n{\n  name = "lawn";\n}\n'
        'node Rain\n{\n  states = ("yes" "no");\n}\n'
        'node the_grass\n{\n  states = ("wet" "dry");\n  unswayed_name = "the grass";\n}\n'
        "potential (Rain)\n{\n  data = (0.3 0.7);\n}\n"
        "potential (the_grass | Rain)\n{\n  data = ((0.9 0.1) (0.2 0.8));\n}\n"
    )


NOISY = """net {{}}
node A {{ states = ("no" "yes"); subtype = boolean; }}
node B {{ states = ("no" "yes"); subtype = boolean; }}
node Y {{ states = ("no" "yes"); subtype = {subtype}; }}
potential (A) {{ data = (0.5 0.5); }}
potential (B) {{ data = (0.5 0.5); }}
potential (Y | A B) {{ model_nodes = (); model_data = ( {expression} ); {data} }}
"""
EXPRESSION = "NoisyOR (A, 0.1, B, 0.5, true, 0.9)"
# Pr(no) = 0.9 times 0.1 where A is there, times 0.5 where B is.
TABLE = "data = (((0.9 0.1) (0.45 0.55)) ((0.09 0.91) (0.045 0.955)));"


def noisy_file(path, *, expression=EXPRESSION, data="", subtype="boolean"):
    path.write_text(NOISY.format(expression=expression, data=data, subtype=subtype))
    return read_network(path)


@pytest.mark.parametrize("data", ["", TABLE], ids=["alone", "beside its table"])
def test_a_noisy_or_of_hugin_stays_one(tmp_path, data) -> None:
    cpt = noisy_file(tmp_path / "noisy.net", data=data).cpts[2]
    assert isinstance(cpt, NoisyOrCpt)
    assert (cpt.strengths.tolist(), cpt.leak) == ([0.9, 0.5], 0.1)
    assert cpt.table == pytest.approx(np.array([[0.9, 0.1], [0.45, 0.55], [0.09, 0.91], [0.045, 0.955]]))


def test_a_table_that_contradicts_its_expression_is_read(tmp_path) -> None:
    with pytest.warns(UnswayedWarning, match="'Y' is not that of the expression"):
        cpt = noisy_file(tmp_path / "noisy.net", data=TABLE.replace("0.9 0.1", "0.8 0.2")).cpts[2]
    assert isinstance(cpt, Cpt)
    assert cpt.table[0].tolist() == [0.8, 0.2]


@pytest.mark.parametrize(
    "expression",
    [
        "NoisyOR (A, 0.1, C, 0.5)",
        "NoisyOR (A, 1.1)",
        "NoisyOR (A)",
        "NoisyOR (A, x)",
        "NoisyOR (A, 1e999999999)",
        "NoisyOR ()",
        'if (A == "yes", 0.1, 0.2)',
    ],
)
def test_other_expressions_are_refused_by_node(tmp_path, expression) -> None:
    with pytest.raises(FormatError, match="the table of 'Y' is given by an expression"):
        noisy_file(tmp_path / "noisy.net", expression=expression)


def test_labels_are_no_truth_values(tmp_path) -> None:
    with pytest.raises(FormatError, match="the table of 'Y' is given by an expression"):
        noisy_file(tmp_path / "noisy.net", subtype="label")


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 12, 13, 40]))
@settings(max_examples=15)
def test_noisy_or_comes_back_equal(tmp_path_factory, seed, n_causes) -> None:
    rng = np.random.default_rng(seed)
    causes = [Variable(f"cause {i}", ["absent", "there"]) for i in range(n_causes)]
    strengths = np.where(
        rng.random(n_causes) < 0.3, 10.0 ** -rng.integers(1, 300, n_causes), rng.random(n_causes)
    )
    effect = NoisyOrCpt(Variable("effect", ["no", "yes"]), causes, strengths, leak=rng.random())
    network = BayesianNetwork([*(Cpt(cause, (), [[0.9, 0.1]]) for cause in causes), effect])
    path = tmp_path_factory.mktemp("net") / "noisy.net"
    write_network(network, path)
    assert read_network(path).cpts[-1] == effect


@needs_shared_data
@pytest.mark.parametrize(("path", "counts"), counts_by_file(".net").items())
def test_shared_files(path: str, counts: tuple[int, int, int]) -> None:
    assert counts_of(read_network(SHARED / path)) == counts


@needs_shared_data
@pytest.mark.parametrize("name", ["alarm", "cancer", "win95pts"])
def test_bnlearn_writes_one_network_in_two_formats(name: str) -> None:
    networks = SHARED / "networks"
    one = read_network(networks / "formats" / "net" / f"{name}_bnlearn.net")
    other = read_network(networks / f"{name}.bif")
    assert conditionals(one) == pytest.approx(conditionals(other), abs=ENGINE)


@needs_shared_data
def test_hugins_chest_clinic_is_asia() -> None:
    names = {"A": "asia", "B": "bronc", "D": "dysp", "E": "either", "L": "lung", "S": "smoke", "T": "tub"}
    one = read_network(SHARED / "networks" / "formats" / "net" / "asia_hugin.net")
    other = read_network(SHARED / "networks" / "asia.bif")
    assert conditionals(one, names | {"X": "xray"}) == pytest.approx(conditionals(other), abs=ENGINE)
