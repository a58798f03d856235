"""What programs write off the grammar: read where the meaning is certain, with a warning where it is not."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from conditionals import conditionals
from unswayed.core.errors import FormatError, QueryError, UnswayedWarning
from unswayed.model.cpt import Cpt
from unswayed.model.formats import bif, dne, erg, json_network, net, read_network, write_network, xdsl, xmlbif
from unswayed.model.formats.files import MODULE_BY_SUFFIX, name_after_file
from unswayed.model.formats.reading.source import Source
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable


def read(module, text: str) -> BayesianNetwork:
    return module.read(Source(Path("some.file"), text)).finish()


def bnet(*nodes: str) -> str:
    return "bnet n {\n" + "\n".join(nodes) + "\n};"


A = "node A { kind = NATURE; discrete = TRUE; states = (x, y); parents = (); probs = (0.3, 0.7); };"


def test_netica_nodes_with_one_state_need_no_table():
    network = read(dne, bnet("node R { kind = NATURE; discrete = TRUE; states = (here); parents = (); };", A))
    assert network.variable("R").states == ("here",)
    assert network.cpts[0].table.tolist() == [[1.0]]


def test_impossible_rows_of_netica_are_uniform_with_a_warning():
    rows = "(0.2, 0.3, 0.5, // x\n @imposs, @imposs, @imposs)"
    child = f"node B {{ states = (p, q, r); parents = (A); probs = {rows}; }};"
    with pytest.warns(UnswayedWarning, match="rows of 'B' marked @imposs count as uniform: 1"):
        network = read(dne, bnet(A, child))
    assert network.cpts[1].table.tolist() == [[0.2, 0.3, 0.5], [1 / 3, 1 / 3, 1 / 3]]


def test_impossible_rows_of_certain_states_are_uniform_with_a_warning():
    child = "node B { chance = DETERMIN; states = (p, q); parents = (A); functable = (q, @imposs); };"
    with pytest.warns(UnswayedWarning, match="rows of 'B' marked @imposs count as uniform: 1"):
        network = read(dne, bnet(A, child))
    assert network.cpts[1].table.tolist() == [[0.0, 1.0], [0.5, 0.5]]
    with pytest.raises(FormatError, match="'B' has an entry @undef"):
        read(dne, bnet(A, child.replace("@imposs", "@undef")))


def test_a_row_that_is_impossible_in_part_is_refused():
    child = "node B { states = (p, q); parents = (A); probs = ((0.2, 0.8), (@imposs, 0.5)); };"
    with pytest.raises(FormatError, match="a row of 'B' is marked @imposs in part"):
        read(dne, bnet(A, child))


def test_links_cut_off_from_their_parent_are_named():
    with pytest.raises(FormatError, match=r"'B' has a link that is cut off.*fragment of a network"):
        read(dne, bnet(A, "node B { states = (p, q); parents = (#1); probs = (0.5, 0.5); };"))


def test_blanks_around_names_do_not_count():
    text = 'net {} node A { states = ("Sim     " "No "); } potential (A) { data = (0.3 0.7); }'
    assert read(net, text).variable("A").states == ("Sim", "No")
    text = (
        'network n {} variable A { type discrete [ 2 ] { "x ", y }; }'
        "variable B { type discrete [ 2 ] { p, q }; }"
        'probability ( A ) { table 0.3, 0.7; } probability ( B | A ) { ("x ") 0.1, 0.9; (y) 0.2, 0.8; }'
    )
    assert conditionals(read(bif, text))["B", "p", frozenset({("A", "x")})] == 0.1


def test_a_number_just_below_zero_counts_as_zero_with_a_warning():
    text = 'net {} node A { states = ("x" "y"); } potential (A) { data = (-1.1920929e-07 1.0000001); }'
    with pytest.warns(UnswayedWarning, match="-1.19e-07 counts as 0"):
        network = read(net, text)
    assert network.cpts[0].table.tolist() == [[0.0, 1.0]]
    with pytest.raises(FormatError, match="is not a probability"):
        read(net, text.replace("-1.1920929e-07", "-1e-3"))


def test_blanks_before_the_xml_declaration():
    text = xmlbif.write(BayesianNetwork([Cpt(Variable("A", ["x", "y"]), [], [0.3, 0.7])]))
    assert read(xmlbif, f"\n\n  {text}").names == ("A",)
    broken = f"\n\n  {text.replace('0.3', 'many')}"
    line = broken[: broken.index("<TABLE>")].count("\n") + 1
    with pytest.raises(FormatError, match=f"line {line}:"):
        read(xmlbif, broken)


# C given B and A, in both editions the first parent listed changes fastest after the child.
ROWS = {
    ("a0", "b0"): 0.1,
    ("a0", "b1"): 0.2,
    ("a1", "b0"): 0.3,
    ("a1", "b1"): 0.4,
    ("a2", "b0"): 0.5,
    ("a2", "b1"): 0.6,
}
FLAT = [p for a in ("a0", "a1", "a2") for b in ("b0", "b1") for p in (ROWS[a, b], 1 - ROWS[a, b])]


def unbbayes_4() -> str:
    dpi = "".join(f'<m:DPI INDEXES="{i // 2}">{p}</m:DPI>' for i, p in enumerate(FLAT))

    def var(name: str, *states: str) -> str:
        listed = "".join(f"<m:STATENAME>{state}</m:STATENAME>" for state in states)
        return f'<m:VAR NAME="{name}" TYPE="discrete"><m:LABEL>Label of {name}</m:LABEL>{listed}</m:VAR>'

    def pot(name: str, parents: str, cells: str) -> str:
        given = f'<m:PRIVATE NAME="{name}"/><m:CONDSET>{parents}</m:CONDSET>'
        return f"<m:POT>{given}<m:DPIS>{cells}</m:DPIS></m:POT>"

    return (
        '<?xml version="1.0"?><m:BIF VERSION="0" xmlns:m="http://localhost/xml/model.xsd">'
        "<m:HEADER><m:NAME>four</m:NAME></m:HEADER><m:NETWORK><m:VARIABLES>"
        + var("A", "a0", "a1", "a2") + var("B", "b0", "b1") + var("C", "c0", "c1")
        + '</m:VARIABLES><m:STRUCTURE><m:ARC PARENT="A" CHILD="C"/></m:STRUCTURE><m:POTENTIAL>'
        + pot("A", "", "<m:DPI>0.2</m:DPI><m:DPI>0.3</m:DPI><m:DPI>0.5</m:DPI>")
        + pot("B", "", "<m:DPI>0.6</m:DPI><m:DPI>0.4</m:DPI>")
        + pot("C", '<m:CONDLEM NAME="B"/><m:CONDLEM NAME="A"/>', dpi)
        + "</m:POTENTIAL></m:NETWORK></m:BIF>"
    )  # fmt: skip


def unbbayes_6() -> str:
    def variable(name: str, *states: str) -> str:
        listed = "".join(f'<x:state name="{state}"/>' for state in states)
        return (
            f'<x:variable type="DiscreteProbabilistic" name="{name}">'
            f"<x:description>Label of {name}</x:description>{listed}</x:variable>"
        )

    def table(name: str, parents: list[str], cells: list[float]) -> str:
        listed = "".join(f'<x:parent index="{i}" name="{parent}"/>' for i, parent in enumerate(parents))
        values = "".join(
            f'<x:dependentParentIndex index="{i}">{p}</x:dependentParentIndex>' for i, p in enumerate(cells)
        )
        return (
            f'<x:conditionalDistribution><x:owner name="{name}"/><x:parents>{listed}</x:parents>'
            f"<x:CPT>{values}</x:CPT></x:conditionalDistribution>"
        )

    return (
        '<?xml version="1.0"?><x:XMLBIF version="0.6" xmlns:x="http://unbbayes.sourceforge.net/xml/XMLBIF_0_6.xsd">'
        "<x:header><x:name>six</x:name></x:header><x:network><x:variables>"
        + variable("A", "a0", "a1", "a2") + variable("B", "b0", "b1") + variable("C", "c0", "c1")
        + "</x:variables><x:structure/><x:conditionalDistributionSet>"
        + table("A", [], [0.2, 0.3, 0.5]) + table("B", [], [0.6, 0.4]) + table("C", ["B", "A"], FLAT)
        + "</x:conditionalDistributionSet></x:network></x:XMLBIF>"
    )  # fmt: skip


def unbbayes_5() -> str:
    return unbbayes_6().replace("0.6", "0.5", 1).replace("XMLBIF_0_6", "XMLBIF_0_5")


@pytest.mark.parametrize("text", [unbbayes_4(), unbbayes_5(), unbbayes_6()], ids=["0.4", "0.5", "0.6"])
def test_editions_of_unbbayes(text):
    network = read(xmlbif, text)
    assert network.name in ("four", "six")
    assert network.index("Label of C") == network.index("C")
    table = conditionals(network)
    for (a, b), p in ROWS.items():
        assert table["C", "c0", frozenset({("A", a), ("B", b)})] == pytest.approx(p, abs=1e-12)


def test_unbbayes_names_what_it_cannot_read():
    text = unbbayes_6().replace('DiscreteProbabilistic" name="C"', 'ContinuousProbabilistic" name="C"')
    with pytest.raises(FormatError, match="'C' has the type 'ContinuousProbabilistic'"):
        read(xmlbif, text)


ERG = """3
2 3 2
{parents}
/* Probabilities */
2 0.3 0.7
6 0.1 0.2 0.7 0.3 0.3 0.4
12 {rows}
/* Names */
Cause
Other thing
Effect
/* Labels */
yes
no
low mid high
on
off
"""


@pytest.mark.parametrize("first", [0, 1])
def test_ergo_files_count_from_0_or_from_1(first):
    parents = f"0\n1 {first}\n2 {first} {first + 1}"
    text = ERG.format(parents=parents, rows=" ".join(map(str, FLAT))).replace(
        "low mid high", "low\nmid\nhigh"
    )
    network = read(erg, text)
    assert network.names == ("Cause", "Other thing", "Effect")
    table = conditionals(network)
    assert table["Other thing", "mid", frozenset({("Cause", "no")})] == 0.3
    assert table["Effect", "on", frozenset({("Cause", "yes"), ("Other thing", "mid")})] == 0.2
    assert network.variable("Effect").states == ("on", "off")


def test_ergo_names_on_one_line_and_places_after_the_labels():
    """As GeNIe's manual shows them: all names together, the states of a node on a line, and centers."""
    network = read(
        erg,
        "2\n2 3\n0\n1 1\n/* Probabilities */\n2\n.25 .75\n6\n.5 .25 .25 .125 .375 .5\n/* Names */\nRain Sky\n"
        "/* Labels */\nyes no\ngrey white blue\n/* Centers */\n98 159\n98 253\n",
    )
    assert [(v.name, v.states) for v in network.variables] == [
        ("Rain", ("yes", "no")),
        ("Sky", ("grey", "white", "blue")),
    ]
    table = conditionals(network)
    given = frozenset({("Rain", "no")})
    assert [table["Sky", state, given] for state in ("grey", "white", "blue")] == [0.125, 0.375, 0.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 2 2", "no comment /\\* Probabilities"),
        (
            "2 2 2 0 1 5 /* Probabilities */ 2 .5 .5 4 .5 .5 .5 .5",
            "neither parents counted from 0 nor from 1",
        ),
        ("3 2 2 2 0 0 1 1 /* Probabilities */ 2 .5 .5 2 .5 .5 4 .5 .5 .5 .5", "and both fit"),
        ("2 2 2 0 0 /* Probabilities */ 2 .5 .5 2 .5", "1 of 2 probabilities found"),
        ("2 2 2 0 0 /* Probabilities */ 2 .5 .5 2 .5 x", "'x' is not a number"),
        ("2 2 2 0 0 /* Probabilities */ 2 .5 .5 2 .5 .5 /* Names */ one", "1 names found, expected 2"),
        ("99999999", "no comment"),
        ("2 2", "no comment"),
        ("2 2 /* Probabilities */", "where a number of states was expected"),
    ],
)
def test_broken_ergo_files(text, message):
    with pytest.raises(FormatError, match=message):
        read(erg, text)


def _large_bif() -> str:
    states = ", ".join(f"s{k}" for k in range(10))
    row = ", ".join(["0.1"] * 10)
    pieces = ["network n {}"]
    pieces += [f"variable V{i} {{ type discrete [ 10 ] {{ {states} }}; }}" for i in range(40)]
    pieces += [f"probability ( V{i} ) {{ table {row}; }}" for i in range(6)]
    for i in range(6, 40):
        parents = ", ".join(f"V{j}" for j in range(i - 6, i))
        pieces.append(f"probability ( V{i} | {parents} ) {{ default {row}; }}")
    return "\n".join(pieces)


def _large_net() -> str:
    states = " ".join(f'"s{k}"' for k in range(10))
    pieces = [f"node V{i} {{ states = ({states}); }}" for i in range(40)]
    for i in range(40):
        parents = " ".join(f"V{j}" for j in range(max(0, i - 6), i))
        pieces.append(f"potential (V{i} | {parents}) {{ }}")
    return "\n".join(["net {}", *pieces])


@pytest.mark.parametrize(("module", "text"), [(bif, _large_bif()), (net, _large_net())])
def test_the_sum_of_all_tables_is_bounded_before_any_is_made(module, text):
    """A few kB of text whose `default` rows, or potentials without data, ask for gigabytes."""
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=r"have .* numbers together, over the limit of 30,000,000"):
            read(module, text)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


WRONG_NUMBERS = {
    "bif": ("variable A { type discrete [ 2 ] { x, y }; } probability ( A ) { table ", "; }", " "),
    "bif default": (
        "variable A { type discrete [ 2 ] { x, y }; } variable P { type discrete [ 2 ] { x, y }; }"
        "probability ( P ) { table 0.5, 0.5; } probability ( A | P ) { default ",
        "; }",
        ",",
    ),
    "net": ('net {} node A { states = ("x" "y"); } potential (A) { data = (', "); }", " "),
    "xdsl": (
        '<smile version="1.0" id="n"><nodes><cpt id="A"><state id="x"/><state id="y"/><probabilities>',
        "</probabilities></cpt></nodes></smile>",
        " ",
    ),
    "xml": (
        "<BIF><NETWORK><VARIABLE><NAME>A</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>"
        "<DEFINITION><FOR>A</FOR><TABLE>",
        "</TABLE></DEFINITION></NETWORK></BIF>",
        " ",
    ),
    "xml cells": (
        '<BIF><NETWORK><VARIABLES><VAR NAME="A"><STATENAME>x</STATENAME><STATENAME>y</STATENAME></VAR>'
        '</VARIABLES><POTENTIAL><POT><PRIVATE NAME="A"/><DPIS><DPI>',
        "</DPI></DPIS></POT></POTENTIAL></NETWORK></BIF>",
        "</DPI><DPI>",
    ),
    "dne": ("bnet n { node A { states = (x, y); parents = (); probs = (", "); }; };", ","),
    "dsl": (
        "net n { node A { TYPE = CPT; DEFINITION = { NAMESTATES = (x, y); PROBABILITIES = (",
        "); }; }; };",
        ",",
    ),
    "dsc": (
        'belief network "n" node A { type : discrete [ 2 ] = { x, y }; } probability ( A ) { ',
        "; }",
        ",",
    ),
    "erg": ("1 2 0 /* Probabilities */ 2 ", "", " "),
    "uai": ("BAYES 1 2 1 1 0 2 ", "", " "),
    "json": (
        '{"format": "unswayed network", "version": 1, "name": "n", "variables": [{"name": "A", "states": '
        '["x", "y"]}], "nodes": [{"variable": "A", "parents": [], "kind": "table", "rows": [[',
        "]]}]}",
        ",",
    ),
    "json rows": (
        '{"format": "unswayed network", "version": 1, "name": "n", "variables": [{"name": "A", "states": '
        '["x", "y"]}], "nodes": [{"variable": "A", "parents": [], "kind": "table", "rows": [[0.5,0.5],[',
        "]]}]}",
        "],[",
    ),
}
"""What stands before the numbers, what after them, and what between them; the first word is the suffix."""
PEAK = """
import resource, sys, warnings
from pathlib import Path
from unswayed.core.errors import FormatError
from unswayed.model.formats import read_network
warnings.simplefilter("ignore")
def peak():
    # The peak that `resource` tells is that of the program that started this one, where that was higher.
    status = Path("/proc/self/status")
    if not status.exists(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return 1024 * next(int(line.split()[1]) for line in status.open() if line.startswith("VmHWM"))
def refused(path):
    try: read_network(path)
    except FormatError: return peak()
refused(sys.argv[1])
before = peak()
print(refused(sys.argv[2]) - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", ["0", "0.333333"])
@pytest.mark.parametrize("name", sorted(WRONG_NUMBERS))
def test_a_large_file_of_wrong_numbers_is_refused_in_little_memory(name, number, tmp_path):
    """Refused within 3 times its size, counted from the memory of reading a small one."""
    before, after, between = WRONG_NUMBERS[name]
    small, wrong = (tmp_path / f"{size}.{name.split()[0]}" for size in ("small", "wrong"))
    small.write_text(before + between.join(["0.5", "0.5"]) + after)
    size, cell = 100 * 2**20, between + number
    with wrong.open("w") as stream:
        stream.write(before + number)
        for _ in range(100):
            stream.write(cell * (size // 100 // len(cell)))
        stream.write(after)
    outcome = subprocess.run(
        [sys.executable, "-c", PEAK, str(small), str(wrong)],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    assert int(outcome.stdout) < 3 * size + 2**24


@pytest.mark.parametrize("stretch", [1, 2**20])
def test_a_long_table_of_json_is_read_as_a_short_one(stretch, tmp_path, monkeypatch):
    network = BayesianNetwork(
        [
            Cpt(Variable("A", ["x", "y"]), [], [0.3, 0.7]),
            Cpt(Variable("B", ["p", "q"]), [Variable("A", ["x", "y"])], [0.125, 0.875, 1.0, 0.0]),
        ]
    )
    write_network(network, tmp_path / "n.json")
    monkeypatch.setattr(json_network, "LONG", 10)
    monkeypatch.setattr(json_network, "STRETCH", stretch)
    assert read_network(tmp_path / "n.json") == network
    text = (tmp_path / "n.json").read_text()
    for old, new, message in (
        ("[0.125, 0.875]", "[0.125 0.875]", "must be lists of probabilities"),
        ("[0.125, 0.875],", "[0.125, 0.875]", "must be lists of probabilities"),
        ("[1.0, 0.0]]", "[1.0, 0.0],]", "must be lists of probabilities"),
        ("[1.0, 0.0]]", "[1.0, 0.0], 3]", "must be lists of probabilities"),
        ("[1.0, 0.0]]", "[1.0, [0.0]]]", "must be lists of probabilities"),
        ("[[0.125, 0.875], [1.0, 0.0]]", "0.125000000000000", "must be lists of probabilities"),
        ("[0.125, 0.875]", "[0.125, .875]", "must be lists of probabilities"),
        ("[0.125, 0.875]", "[0.125, 0.875, 0.0]", "5 numbers found, expected 4"),
        ("[0.125, 0.875]", "[\n0.125,\n0.5]", "sums to 0.625"),
        ('"A"]', '"C"]', "'C'"),
    ):
        (tmp_path / "n.json").write_text(text.replace(old, new))
        with pytest.raises(FormatError, match=message):
            read_network(tmp_path / "n.json")


def test_long_cycles_have_short_messages():
    count = 3000
    variables = [Variable(f"V{i}", ["x", "y"]) for i in range(count)]
    cpts = [Cpt(variables[i], [variables[i - 1]], [0.5, 0.5, 0.5, 0.5]) for i in range(count)]
    with pytest.raises(
        ValueError, match=r"form a cycle: V\d+ -> .*\.\.\. \d+ more \.\.\. -> .*a Bayesian"
    ) as caught:
        BayesianNetwork(cpts)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("suffix", sorted(MODULE_BY_SUFFIX))
@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_an_empty_file_is_said_to_be_one(suffix, text, tmp_path):
    (tmp_path / f"nothing{suffix}").write_text(text)
    with pytest.raises(FormatError, match="the file is empty"):
        read_network(tmp_path / f"nothing{suffix}")


def test_a_table_before_any_variable_is_named():
    with pytest.raises(FormatError, match="unknown variable 'A'; none is known"):
        read(bif, "probability ( A ) { table 0.5, 0.5; }")


@pytest.mark.parametrize(("text", "name"), [("", "lawn"), ("unknown", "lawn"), ("Grass", "Grass")])
def test_a_network_without_a_name_is_called_as_its_file(tmp_path, text, name):
    network = BayesianNetwork([Cpt(Variable("A", ["x", "y"]), [], [0.3, 0.7])], text)
    for suffix in (".bif", ".xdsl", ".net.gz", ".xml"):
        write_network(network, tmp_path / f"lawn{suffix}")
        found = read_network(tmp_path / f"lawn{suffix}")
        assert found.name == text  # so that reading gives back what was written
        assert name_after_file(found, tmp_path / f"lawn{suffix}").name == name


def test_the_format_may_be_named(tmp_path):
    network = BayesianNetwork([Cpt(Variable("A", ["x", "y"]), [], [0.3, 0.7])], "Grass")
    path = tmp_path / "network.txt"
    path.write_text(xdsl.write(network))
    assert read_network(path, format="xdsl") == network
    assert read_network(path, format=".XDSL") == network
    with pytest.raises(FormatError, match="cannot tell the format"):
        read_network(path)
    with pytest.raises(QueryError, match="unknown format 'xdls'; did you mean 'xdsl'"):
        read_network(path, format="xdls")
