"""GeNIe files: what real ones hold, what unswayed writes, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given

from conditionals import conditionals, n_parameters
from shared_data import SHARED, needs_shared_data
from strategies import networks
from unswayed.api.networks import posterior
from unswayed.core.errors import FormatError, UnswayedWarning
from unswayed.model import roles
from unswayed.model.annotation import Role
from unswayed.model.cpt import Cpt
from unswayed.model.formats import read_network, write_network, xdsl
from unswayed.model.formats.reading.identifiers import identifiers
from unswayed.model.formats.reading.source import Source
from unswayed.model.network import BayesianNetwork, to_tables
from unswayed.model.nodes.noisy import NoisyMaxCpt, NoisyOrCpt
from unswayed.model.variable import Variable

XDSL = SHARED / "networks" / "formats" / "xdsl"


def network_of(nodes: str, *, extra: str = "") -> BayesianNetwork:
    text = f'<smile version="1.0" id="Net" numsamples="oracle">{extra}<nodes>{nodes}</nodes></smile>'
    return xdsl.read(Source(Path("net.xdsl"), text)).finish()


def root(name: str, *states: str) -> str:
    """A chance node without parents, uniform."""
    listed = "".join(f'<state id="{state}" />' for state in states)
    shares = " ".join(str(1 / len(states)) for _ in states)
    return f'<cpt id="{name}">{listed}<probabilities>{shares}</probabilities></cpt>'


@given(networks())
def test_reading_what_was_written_gives_the_same_network(network):
    text = xdsl.write(network)
    assert xdsl.read(Source(Path("net.xdsl"), text)).finish() == network


@given(networks())
def test_ids_are_identifiers_that_genie_takes(network):
    text = xdsl.write(network)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", each) for each in re.findall(r'\bid="([^"]*)"', text))


def test_names_that_are_identifiers_are_written_without_properties():
    rain = Variable("Rain", ["yes", "no"])
    assert "unswayed" not in xdsl.write(BayesianNetwork([Cpt(rain, [], [0.3, 0.7])], "Weather")).replace(
        'app="unswayed"', ""
    )


def test_the_first_parent_varies_slowest():
    """Three states, two states, in the order that GeNIe documents: the last parent changes first."""
    network = network_of(
        root("A", "a0", "a1", "a2")
        + root("B", "b0", "b1")
        + '<cpt id="C"><state id="c0"/><state id="c1"/><parents>A B</parents>'
        "<probabilities>0.1 0.9 0.2 0.8 0.3 0.7 0.4 0.6 0.5 0.5 0.6 0.4</probabilities></cpt>"
    )
    table = conditionals(network)
    assert table["C", "c0", frozenset({("A", "a0"), ("B", "b1")})] == 0.2
    assert table["C", "c0", frozenset({("A", "a1"), ("B", "b0")})] == 0.3


def test_parts_of_a_node_come_in_any_order_with_properties_and_attributes():
    network = network_of(
        '<cpt id="C" target="true" diagtype="observation"><parents>A</parents>'
        "<probabilities>0.1 0.9 <!-- the second row --> 0.2 0.8</probabilities>"
        '<state id="c0" label="F1" fault="true" /><state id="c1" default="true" />'
        '<property id="literature">Some reference</property></cpt>' + root("A", "a0", "a1"),
        extra='<properties><property id="DIAG">0.5</property></properties>',
    )
    assert network.names == ("A", "C")
    assert network.variable("C").states == ("c0", "c1")
    assert network.name == "Net"


def test_labels_and_roles_are_read_and_written_back():
    nodes = (
        '<cpt id="flu" diagtype="target" ranked="true"><state id="yes" label="F1" fault="true"/>'
        '<state id="no"/><probabilities>0.1 0.9</probabilities></cpt>'
        '<cpt id="fever" diagtype="observation" mandatory="true"><state id="hi"/><state id="lo"/>'
        "<parents>flu</parents><probabilities>0.9 0.1 0.2 0.8</probabilities><cost>2.5</cost></cpt>"
    )
    shown = (
        '<extensions><genie><submodel id="s"><node id="flu"><name>Influenza &amp; co</name>'
        "<comment>spreads\n in winter</comment></node></submodel></genie></extensions>"
    )
    network = network_of(nodes, extra=shown)
    flu, fever = (variable.about for variable in network.variables)
    assert (flu.label, flu.description) == ("Influenza & co", "spreads in winter")
    assert (flu.role, flu.ranked, flu.fault_states) == (Role.TARGET, True, ("yes",))
    assert flu.state_labels == ("F1", "")
    assert (fever.role, fever.mandatory, fever.cost) == (Role.OBSERVATION, True, 2.5)
    again = xdsl.read(Source(Path("net.xdsl"), xdsl.write(network))).finish()
    assert [variable.about for variable in again.variables] == [flu, fever]


@needs_shared_data
def test_the_diagnosis_of_a_real_file_survives_writing():
    """Counted in the file's text: 9 targets, 61 observations, all ranked, 11 faults."""
    text = (XDSL / "hepar2_genie.xdsl").read_text("latin-1")
    network = read_network(XDSL / "hepar2_genie.xdsl")
    again = xdsl.read(Source(Path("net.xdsl"), xdsl.write(network))).finish()
    for each in (network, again):
        assert len(roles.targets(each)) == text.count('diagtype="target"') == 9
        assert len(roles.observations(each)) == text.count('diagtype="observation"') == 61
        assert sum(len(v.about.fault_states) for v in each.variables) == text.count('fault="true"')
        assert each.index("Toxic hepatitis") == each.index("THepatitis")


def test_deterministic_nodes_become_tables_of_zeros_and_ones():
    network = network_of(
        root("A", "lo", "hi")
        + root("B", "lo", "hi")
        + '<deterministic id="Both"><state id="no"/><state id="yes"/><parents>A B</parents>'
        "<resultingstates>no no no yes</resultingstates></deterministic>"
    )
    assert network.cpts[2].table.tolist() == [[1, 0], [1, 0], [1, 0], [0, 1]]


NOISY_OR = (
    '<noisymax id="LungCancer"><state id="True"/><state id="False"/>'
    "<parents>Smoker Genetic CoalWorker BadDiet</parents><strengths>0 1 0 1 0 1 0 1</strengths>"
    "<parameters>0.61 0.39 0 1 0.25 0.75 0 1 0.15 0.85 0 1 0.04 0.96 0 1 0.01 0.99</parameters></noisymax>"
)


def test_noisy_or_expands_as_genie_expands_it():
    """The same node saved by GeNIe 2.0 as noisy-MAX and as a full table."""
    parents = "".join(root(name, "True", "False") for name in ("Smoker", "Genetic", "CoalWorker", "BadDiet"))
    saved_by_genie = [
        0.7637068, 0.75386125, 0.722008, 0.710425, 0.6849424, 0.671815, 0.629344, 0.6139,
        0.39412, 0.368875, 0.2872, 0.2575, 0.19216, 0.1585, 0.0496, 0.01,
    ]  # fmt: skip
    table = network_of(parents + NOISY_OR).cpts[4].table
    assert table[:, 0].tolist() == pytest.approx(saved_by_genie, abs=1e-12)


def test_noisy_max_columns_stand_in_order_of_strength():
    """Enumerating the effects of each cause and taking the strongest gives the same table."""
    network = network_of(
        root("Diet", "good", "medium", "bad")
        + root("Smoker", "yes", "no")
        + '<noisymax id="Cancer"><state id="malignant"/><state id="benign"/><state id="no"/>'
        "<parents>Diet Smoker</parents><strengths>0 2 1 1 0</strengths><parameters>"
        "0.04 0.63 0.33 0.13 0.22 0.65 0 0 1  0.23 0.25 0.52 0 0 1  0.005 0.015 0.98</parameters></noisymax>"
    )
    effects = {
        ("Diet", "good"): (0.04, 0.63, 0.33),
        ("Diet", "bad"): (0.13, 0.22, 0.65),
        ("Diet", "medium"): (0.0, 0.0, 1.0),
        ("Smoker", "no"): (0.23, 0.25, 0.52),
        ("Smoker", "yes"): (0.0, 0.0, 1.0),
    }
    leak = (0.005, 0.015, 0.98)
    table = conditionals(network)
    for diet in ("good", "medium", "bad"):
        for smoker in ("yes", "no"):
            expected = [0.0, 0.0, 0.0]
            for i, p in enumerate(effects["Diet", diet]):
                for j, q in enumerate(effects["Smoker", smoker]):
                    for k, r in enumerate(leak):
                        expected[min(i, j, k)] += p * q * r
            given_states = frozenset({("Diet", diet), ("Smoker", smoker)})
            found = [table["Cancer", state, given_states] for state in ("malignant", "benign", "no")]
            assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("<strengths>0 1 0 1 0 1 0 0</strengths>", "its states 0 to n-1"),
        ("<strengths>0 1 0 1 0 1</strengths>", "its states 0 to n-1"),
        ("<strengths>0 1 0 1 0 1 0 1 0</strengths>", "its states 0 to n-1"),
    ],
)
def test_strengths_that_are_no_orders_are_refused(broken, message):
    parents = "".join(root(name, "True", "False") for name in ("Smoker", "Genetic", "CoalWorker", "BadDiet"))
    with pytest.raises(FormatError, match=message):
        network_of(parents + re.sub("<strengths>.*</strengths>", broken, NOISY_OR))


@pytest.mark.parametrize("kind", ["equation", "noisyadder"])
def test_other_kinds_of_nodes_are_refused_by_name(kind):
    with pytest.raises(FormatError, match=f"node 'Therapy' is a <{kind}>.*chance nodes only"):
        network_of(f'<{kind} id="Therapy"><state id="a"/></{kind}>')


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ('<cpt id="A"><state id="a"/></cpt>', "no <probabilities>"),
        ('<cpt><state id="a"/><probabilities>1</probabilities></cpt>', "without an id"),
        (
            '<cpt id="A"><state id="a"/><probabilities>1 x</probabilities></cpt>',
            "<probabilities>: 'x' is not a number",
        ),
        ('<cpt id="A"><probabilities>1</probabilities></cpt>', "'A' has no states"),
        (root("A", "a", "b") + root("A", "a", "b"), "two nodes have the id 'A'"),
        (
            '<cpt id="A"><state id="a"/><parents>Smok</parents><probabilities>1</probabilities></cpt>'
            + root("Smoke", "y", "n"),
            "a parent of 'A': unknown node 'Smok'; did you mean 'Smoke'",
        ),
        ('<deterministic id="A"><state id="a"/></deterministic>', "no <resultingstates>"),
        (
            '<deterministic id="A"><state id="a"/><resultingstates>b</resultingstates></deterministic>',
            "unknown state of 'A' 'b'",
        ),
        (
            '<deterministic id="A"><state id="a"/><resultingstates>a a</resultingstates></deterministic>',
            "2 found, expected 1",
        ),
        (
            '<noisymax id="A"><state id="a"/><parameters>1 1</parameters></noisymax>',
            "2 numbers found, expected 1",
        ),
        ('<noisymax id="A"><state id="a"/><parameters>-1</parameters></noisymax>', "must be a probability"),
    ],
)
def test_contradictions_are_refused(nodes, message):
    with pytest.raises(FormatError, match=message):
        network_of(nodes)


def test_networks_over_time_are_refused():
    with pytest.raises(FormatError, match="unroll it in GeNIe"):
        network_of(root("A", "a", "b"), extra='<dynamic numslices="3" />')


def test_a_complaint_names_the_line():
    text = '<smile id="N">\n<nodes>\n<cpt id="é">\n<state id="a"/>\n</cpt>\n</nodes></smile>'
    with pytest.raises(FormatError, match="line 3"):
        xdsl.read(Source(Path("net.xdsl"), text))


@given(networks(max_variables=3))
def test_ids_changed_in_genie_win_over_the_names_written_before(network):
    text = re.sub(r'(<(?:cpt|node|state) id=")', r"\1renamed_", xdsl.write(network))
    text = re.sub(
        r"<parents>(.*)</parents>",
        lambda match: f"<parents>{' '.join('renamed_' + each for each in match[1].split())}</parents>",
        text,
    )
    names = xdsl.read(Source(Path("net.xdsl"), text)).finish().names
    assert all(name.startswith("renamed_") for name in names)


@needs_shared_data
@pytest.mark.parametrize(
    ("file", "counts"),
    [("asia_genie", (8, 8, 18)), ("win95pts_genie", (76, 112, 574)), ("alarm_genie", (37, 46, 509))],
)
@pytest.mark.filterwarnings("ignore::unswayed.core.errors.UnswayedWarning")
def test_files_of_genie_have_their_published_sizes(file, counts):
    network = read_network(XDSL / f"{file}.xdsl")
    assert (len(network), sum(map(len, network.parents)), n_parameters(network)) == counts


@needs_shared_data
@pytest.mark.parametrize("file", ["asia", "win95pts"])
def test_files_of_genie_equal_the_networks_in_bif(file):
    ours = conditionals(read_network(XDSL / f"{file}_genie.xdsl"))
    # GeNIe's ids have an underscore for every character that BIF files of bnlearn keep.
    bif = {
        (child, re.sub(r"\W", "_", state), frozenset((p, re.sub(r"\W", "_", s)) for p, s in rest)): value
        for (child, state, rest), value in conditionals(read_network(SHARED / f"networks/{file}.bif")).items()
    }
    assert ours == pytest.approx(bif, abs=1e-9)


@needs_shared_data
def test_rows_of_genies_alarm_that_miss_one_are_named(tmp_path):
    with pytest.warns(UnswayedWarning, match=r"6 rows do not sum to 1.*node_9 \(.*\) = 0\.999"):
        network = read_network(XDSL / "alarm_genie.xdsl")
    write_network(network, tmp_path / "alarm.xdsl")
    assert read_network(tmp_path / "alarm.xdsl") == network


@pytest.mark.filterwarnings("ignore::FutureWarning")
@given(network=networks(max_variables=4))
def test_pgmpy_reads_what_was_written(tmp_path_factory, network):
    """pgmpy follows GeNIe's order of parents; it knows the ids, not the names beside them."""
    pytest.importorskip("pgmpy")
    from pgmpy.readwrite import XDSLReader

    path = tmp_path_factory.mktemp("peer") / "net.xdsl"
    write_network(network, path)
    model = XDSLReader(str(path)).get_model()
    ids = dict(zip(network.names, identifiers(network.names), strict=True))
    for cpt in network.cpts:
        theirs = model.get_cpds(ids[cpt.child.name])
        assert list(theirs.variables) == [ids[each.name] for each in (cpt.child, *cpt.parents)]
        rows = theirs.get_values().T
        assert rows == pytest.approx(cpt.table, abs=1e-12)


@pytest.mark.parametrize(
    "states", ["", "[", "7" * 5000, "[" * 100_000, '["a"]', '["a", 1]', '["yes!", "other"]', "{}"]
)
def test_lists_of_states_that_do_not_fit_the_ids_are_passed_over(states):
    node = root("A", "yes", "no").replace(
        "</cpt>", f'<property id="unswayed_states">{states}</property></cpt>'
    )
    assert network_of(node).variable("A").states == ("yes", "no")


def test_noisy_max_is_written_as_such():
    cough, cause = Variable("Cough", ["strong", "weak", "none"]), Variable("Cause", ["yes", "no"])
    node = NoisyMaxCpt(cough, [cause], [[[0.25, 0.5, 0.25], [0, 0, 1]]], leak=[0.0, 0.125, 0.875])
    network = BayesianNetwork([Cpt(cause, [], [0.5, 0.5]), node])
    text = xdsl.write(network)
    assert "<noisymax" in text
    assert xdsl.read(Source(Path("net.xdsl"), text)).finish() == network


def test_a_noisy_max_of_forty_parents_is_read_without_its_table():
    causes = "".join(root(f"C{i}", "y", "n") for i in range(40))
    parents = " ".join(f"C{i}" for i in range(40))
    numbers = " ".join(["0.5 0.5 0 1"] * 40)
    states = '<state id="y"/><state id="n"/>'
    network = network_of(
        f'{causes}<noisymax id="E">{states}<parents>{parents}</parents>'
        f"<parameters>{numbers} 0.01 0.99</parameters></noisymax>"
    )
    assert isinstance(network.cpts[network.index("E")], NoisyMaxCpt)
    assert posterior(network, of="E")["n"] == pytest.approx(0.99 * 0.75**40)


def test_formats_without_functions_write_tables_and_say_so(tmp_path):
    cause, effect = Variable("Cause", ["no", "yes"]), Variable("Effect", ["no", "yes"])
    network = BayesianNetwork([Cpt(cause, [], [0.5, 0.5]), NoisyOrCpt(effect, [cause], [0.75], leak=0.5)])
    with pytest.warns(UnswayedWarning, match="the functions of 'Effect' are written out"):
        write_network(network, tmp_path / "net.bif")
    assert read_network(tmp_path / "net.bif") == to_tables(network)
