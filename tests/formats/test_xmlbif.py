"""XMLBIF in the shapes that programs write it, and files that only look like it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given

from conditionals import conditionals, n_parameters
from shared_data import SHARED, needs_shared_data
from strategies import networks
from unswayed.core.errors import FormatError
from unswayed.model.formats import read_network, write_network, xdsl, xmlbif
from unswayed.model.formats.reading.source import Source
from unswayed.model.network import BayesianNetwork

XMLBIF = SHARED / "networks" / "formats" / "xmlbif"

VARIABLES = """
<VARIABLE TYPE="nature"><NAME>A</NAME>
<OUTCOME>a0</OUTCOME><OUTCOME>a1</OUTCOME><OUTCOME>a2</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>B</NAME><OUTCOME>b0</OUTCOME><OUTCOME>b1</OUTCOME></VARIABLE>
"""
TABLES = """
<DEFINITION><FOR>A</FOR><TABLE>0.2 0.3 0.5</TABLE></DEFINITION>
<DEFINITION><FOR>B</FOR><GIVEN>A</GIVEN><TABLE>0.1 0.9 0.2 0.8 0.3 0.7</TABLE></DEFINITION>
"""
DOCTYPE = """<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT VARIABLE ( NAME, ( OUTCOME |  PROPERTY )* ) >
  <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
]>
"""


def parsed(text: str) -> BayesianNetwork:
    return xmlbif.read(Source(Path("net.xml"), text)).finish()


def network_of(body: str) -> BayesianNetwork:
    return parsed(f'<BIF VERSION="0.3"><NETWORK><NAME>N</NAME>{body}</NETWORK></BIF>')


@given(networks())
def test_reading_what_was_written_gives_the_same_network(network):
    assert parsed(xmlbif.write(network)) == network


def test_given_variables_come_first_in_counting_order():
    """The example of the specification: the FOR variable changes fastest, the last GIVEN next."""
    network = network_of(
        VARIABLES
        + "<VARIABLE><NAME>C</NAME><OUTCOME>c0</OUTCOME><OUTCOME>c1</OUTCOME></VARIABLE>"
        + TABLES
        + "<DEFINITION><FOR>C</FOR><GIVEN>A</GIVEN><GIVEN>B</GIVEN>"
        "<TABLE>.1 .9 .2 .8 .3 .7 .4 .6 .5 .5 .6 .4</TABLE></DEFINITION>"
    )
    table = conditionals(network)
    assert table["C", "c0", frozenset({("A", "a0"), ("B", "b1")})] == 0.2
    assert table["C", "c0", frozenset({("A", "a1"), ("B", "b0")})] == 0.3


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.lower().replace("<name>n<", "<name>N<"),
        lambda text: re.sub(r"(</?)OUTCOME>", r"\1VALUE>", text),
        lambda text: re.sub(r"(</?)OUTCOME>", r"\1VALUES>", text),
        lambda text: re.sub(r"(<OUTCOME>.*</OUTCOME>)", _listed, text),
        lambda text: text.replace("DEFINITION", "PROBABILITY"),
        lambda text: text.replace("<DEFINITION>", '<PROBABILITY TYPE="discrete">').replace(
            "</DEFINITION>", "</PROBABILITY>"
        ),
        lambda text: text.replace(' TYPE="nature"', ""),
        lambda text: text.replace(' TYPE="nature"><NAME>', "><TYPE>discrete</TYPE><NAME>"),
        lambda text: text.replace("<FOR>B</FOR><GIVEN>A</GIVEN>", "<GIVEN>A</GIVEN><FOR>B</FOR>"),
        lambda text: text.replace("<TABLE>", "<!-- a0 a1 --><TABLE><!-- A -->\n\t").replace(
            "0.9 0.2", "0.9<!-- next -->0.2"
        ),
        lambda text: text.replace("</NAME>", "</NAME><PROPERTY>position = (73, 165)</PROPERTY>"),
        lambda text: DOCTYPE + text,
        lambda text: '<?xml version="1.0" encoding="US-ASCII"?>' + DOCTYPE + text,
        lambda text: text.replace("<BIF ", '<BIF xmlns="http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3" '),
        lambda text: re.sub(r"(</?)(\w)", r"\1x:\2", text).replace("<x:BIF", '<x:BIF xmlns:x="u"'),
        lambda text: text.replace(">A<", ">\n  A\n<"),
    ],
)
def test_dialects_read_alike(change):
    text = f'<BIF VERSION="0.3"><NETWORK><NAME>N</NAME>{VARIABLES}{TABLES}</NETWORK></BIF>'
    expected = conditionals(parsed(text))
    found = conditionals(parsed(change(text)))
    if "<bif" in change(text):
        found = {(c.upper(), s, frozenset((p.upper(), q) for p, q in g)): v for (c, s, g), v in found.items()}
    assert found == expected


def _listed(match: re.Match[str]) -> str:
    states = re.findall(r">(\w+)<", match[0])
    return f"<VALUES>{' '.join(states)}</VALUES>"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (VARIABLES.replace("nature", "decision") + TABLES, "it has the decisions 'A', 'B'"),
        (VARIABLES.replace("nature", "utility") + TABLES, "utility 'A': 3 numbers found"),
        (VARIABLES.replace("nature", "fuzzy") + TABLES, "'A' has the type 'fuzzy'"),
        (VARIABLES + TABLES.replace("<FOR>B</FOR>", "<FOR>A</FOR><FOR>B</FOR>"), "'A' and 'B' together"),
        (VARIABLES + TABLES.replace("<FOR>B</FOR>", ""), "no <for>"),
        (VARIABLES + TABLES.replace("<TABLE>0.2 0.3 0.5</TABLE>", ""), "no <table>"),
        (VARIABLES + TABLES.replace("TABLE>", "DEFAULT>"), "<default> parts"),
        (VARIABLES + TABLES.replace("0.9", "0,9"), "<table>: '0,9' is not a number"),
        (VARIABLES + TABLES.replace("0.9", ""), "5 numbers found, expected 6"),
        (VARIABLES + TABLES.replace("0.9", "nan"), "'nan' is not a number"),
        (VARIABLES + TABLES.replace("0.9", "-0.9"), "not a probability"),
        (VARIABLES + TABLES.replace("0.9", "1e999"), "not a probability"),
        (VARIABLES + TABLES.replace("0.9", "0.8"), r"row \(A=a0\) sums to 0.9"),
        (VARIABLES + TABLES.replace("<GIVEN>A<", "<GIVEN>Aa<"), "unknown variable 'Aa'"),
        (VARIABLES + TABLES.replace("<FOR>A<", "<FOR>Aa<"), "unknown variable 'Aa'"),
        (VARIABLES + VARIABLES + TABLES, "'A' is declared twice"),
        (VARIABLES + TABLES + TABLES, "'A' has two tables"),
        (VARIABLES, "'A' has no probability table"),
        (TABLES, "unknown variable 'A'"),
        ("", "no variables found"),
    ],
)
def test_contradictions_are_refused(body, message):
    with pytest.raises(FormatError, match=message):
        network_of(body)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<ProbModelXML formatVersion='0.2'/>", "OpenMarkov"),
        ("<ANALYSISNOTEBOOK NAME='x'/>", "XBN"),
        ("<html><body/></html>", "a web page"),
        ("<svg/>", "root <svg>"),
        ("<BIF/>", "no <network>"),
        ("<BIF><NETWORK/><NETWORK/></BIF>", "2 times <network>"),
    ],
)
def test_other_xml_files_are_told_apart(text, message):
    with pytest.raises(FormatError, match=message):
        parsed(text)


@given(networks(max_variables=3))
def test_a_file_of_genie_called_xml_is_read(network):
    assert parsed(xdsl.write(network)) == network


@needs_shared_data
@pytest.mark.parametrize(
    ("file", "counts"), [("aima_alarm.xml", (5, 4, 10)), ("alarm.bifxml", (37, 46, 509))]
)
def test_real_files_have_their_published_sizes(file, counts):
    network = read_network(XMLBIF / file)
    assert (len(network), sum(map(len, network.parents)), n_parameters(network)) == counts


@needs_shared_data
def test_the_burglary_network_is_that_of_the_textbook():
    """Pr(Burglary | John and Mary call) = 0.284, printed in the file and in the book, Sec. 14.4."""
    network = read_network(XMLBIF / "aima_alarm.xml")
    table = conditionals(network)
    weight = {"true": 0.0, "false": 0.0}
    for burglary in weight:
        for quake in ("true", "false"):
            for alarm in ("true", "false"):
                weight[burglary] += (
                    table["B", burglary, frozenset()]
                    * table["E", quake, frozenset()]
                    * table["A", alarm, frozenset({("B", burglary), ("E", quake)})]
                    * table["J", "true", frozenset({("A", alarm)})]
                    * table["M", "true", frozenset({("A", alarm)})]
                )
    assert weight["true"] / sum(weight.values()) == pytest.approx(0.284, abs=0.0005)


@given(network=networks(max_variables=4))
def test_pyagrum_reads_what_was_written(tmp_path_factory, network):
    """Another program finds the same labels and, up to its single precision, the same numbers."""
    gum = pytest.importorskip("pyagrum")
    plain = BayesianNetwork(network.cpts, "N")
    path = tmp_path_factory.mktemp("peer") / "net.bifxml"
    write_network(plain, path)
    theirs = gum.loadBN(str(path))
    for cpt in plain.cpts:
        tensor = theirs.cpt(cpt.child.name)
        assert tuple(theirs.variable(cpt.child.name).labels()) == cpt.child.states
        order = [*(parent.name for parent in cpt.parents), cpt.child.name]
        array = tensor.reorganize(order[::-1]).toarray() if len(order) > 1 else tensor.toarray()
        assert array.reshape(cpt.table.shape) == pytest.approx(cpt.table, abs=1e-6)
