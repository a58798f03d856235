"""UAI files: factors in any order and with the child anywhere, and the names kept beside them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from conditionals import conditionals, n_parameters
from shared_data import SHARED, needs_shared_data
from strategies import networks
from unswayed.core.errors import FormatError, UnswayedWarning
from unswayed.model.cpt import Cpt
from unswayed.model.formats import read_network, uai, write_network
from unswayed.model.formats.reading.source import Source
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

UAI = SHARED / "networks" / "formats" / "uai"
CHAIN = "BAYES\n2\n2 3\n2\n1 0\n2 0 1\n2\n 0.4 0.6\n6\n 0.2 0.3 0.5\n 0.1 0.1 0.8\n"


def parsed(text: str) -> BayesianNetwork:
    return uai.read(Source(Path("folder-that-is-not/net.uai"), text)).finish()


def text_of(network: BayesianNetwork, scopes: list[list[int]], order: list[int]) -> str:
    """The network with each factor's variables as in `scopes` and the factors in `order`."""
    sizes = [len(variable) for variable in network.variables]
    blocks = []
    for position in order:
        cpt, family = network.cpts[position], [*network.parents[position], position]
        array = cpt.table.reshape([sizes[variable] for variable in family])
        moved = array.transpose([family.index(variable) for variable in scopes[position]])
        blocks.append(f"{moved.size}\n{' '.join(map(repr, moved.ravel().tolist()))}")
    heads = [" ".join(map(str, [len(scopes[position]), *scopes[position]])) for position in order]
    return "\n".join(["BAYES", str(len(sizes)), " ".join(map(str, sizes)), str(len(sizes)), *heads, *blocks])


def nameless(network: BayesianNetwork) -> BayesianNetwork:
    renamed = [Variable(f"V{i}", [f"s{j}" for j in range(len(v))]) for i, v in enumerate(network.variables)]
    return BayesianNetwork(
        Cpt(renamed[i], [renamed[p] for p in network.parents[i]], cpt.table)
        for i, cpt in enumerate(network.cpts)
    )


@given(network=networks(), suffix=st.sampled_from([".uai", ".uai.gz"]))
def test_reading_what_was_written_gives_the_same_network(tmp_path_factory, network, suffix):
    path = tmp_path_factory.mktemp("uai") / f"net{suffix}"
    write_network(network, path)
    assert read_network(path) == network


@given(networks())
def test_without_the_names_beside_it_only_names_are_lost(network):
    assert parsed(uai.write(network)) == nameless(network)


@given(networks(), st.randoms())
def test_factors_come_in_any_order(network, random):
    scopes = [[*parents, child] for child, parents in enumerate(network.parents)]
    order = list(range(len(network)))
    random.shuffle(order)
    assert conditionals(parsed(text_of(network, scopes, order))) == conditionals(nameless(network))


@given(st.integers(2, 7), st.randoms(), st.integers(0, 2**32 - 1))
def test_a_child_anywhere_in_its_factor_is_found(n_variables, random, seed):
    """Generic numbers sum to 1 over the child only, so the tables say whose they are."""
    network = generic_network(n_variables, np.random.default_rng(seed))
    scopes = [[*parents, child] for child, parents in enumerate(network.parents)]
    for scope in scopes:
        random.shuffle(scope)
    found = parsed(text_of(network, scopes, list(range(len(network)))))
    assert conditionals(found) == conditionals(network)


def generic_network(n_variables: int, rng: np.random.Generator) -> BayesianNetwork:
    variables = [Variable(f"V{i}", [f"s{j}" for j in range(rng.integers(2, 4))]) for i in range(n_variables)]
    cpts = []
    for i, child in enumerate(variables):
        chosen = rng.permutation(i)[: rng.integers(0, 4)]
        parents = [variables[p] for p in chosen]
        n_rows = int(np.prod([len(p) for p in parents]))
        cpts.append(Cpt(child, parents, rng.dirichlet(np.full(len(child), 0.5), size=n_rows), normalize=True))
    return BayesianNetwork(cpts)


def test_children_first_are_found_even_where_the_numbers_leave_a_choice():
    """Tables of zeros and ones sum to 1 both ways; last for all would give variable 0 two tables."""
    found = parsed("BAYES 3 2 2 2 3  2 1 0  2 2 0  1 0   4 1 0 0 1  4 0 1 1 0  2 .3 .7")
    assert [cpt.child.name for cpt in found.cpts] == ["V0", "V1", "V2"]
    assert [[p.name for p in cpt.parents] for cpt in found.cpts] == [[], ["V0"], ["V0"]]


def test_the_last_variable_is_the_child_where_both_would_do():
    found = parsed("BAYES 2 2 2 2  1 0  2 0 1  2 .5 .5  4 .5 .5 .5 .5")
    assert [p.name for p in found.cpts[1].parents] == ["V0"]


@pytest.mark.parametrize(
    "text",
    [
        CHAIN.replace("\n", "\r\n"),
        CHAIN.replace(" ", "\t"),
        CHAIN.replace("\n", "\n\n"),
        "# made by hand\n" + CHAIN.replace("0.6", "0.6 // prior"),
        CHAIN.replace("BAYES", "bayes"),
        " ".join(CHAIN.split()),
    ],
)
def test_white_space_and_comments_mean_nothing(text):
    assert parsed(text) == parsed(CHAIN)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "ends where BAYES was expected"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n.5 .5", "Markov network.*BAYES edition"),
        ("CREDAL\n1", "'CREDAL' found, expected BAYES"),
        (CHAIN.replace("BAYES\n2", "BAYES\n0"), "'0' found, expected the number of variables"),
        (CHAIN.replace("BAYES\n2", "BAYES\n99999"), "the file is too short"),
        (CHAIN.replace("BAYES\n2", f"BAYES\n{'9' * 10_000}"), "expected the number of variables"),
        (CHAIN.replace("2 3\n2", "2 3\n3"), "3 factors for 2 variables"),
        (CHAIN.replace("2 0 1", "2 0 2"), "'2' found, expected a variable from 0 to 1"),
        (CHAIN.replace("2 0 1", "2 1 1"), "names a variable twice"),
        (CHAIN.replace("2 0 1", "3 0 1"), "expected the number of variables of a factor"),
        (CHAIN.replace("\n6\n", "\n5\n"), "a table of 5 numbers"),
        (CHAIN.replace("0.8", ""), "it may be cut off"),
        (CHAIN.replace("0.8", "x"), "'x' is not a number, expected a probability"),
        (CHAIN + "1 0 1", "'1' after the last table; evidence"),
        (CHAIN.replace("0.8", "nan"), "'nan' is not a number"),
        (CHAIN.replace("0.8", "-0.8"), "not a probability"),
        (CHAIN.replace("0.8", "0.7"), r"row \(V0=s1\) sums to 0.9"),
        ("BAYES 2 2 2 2  1 0  1 0  2 .5 .5  2 .5 .5", "variable 0 is the last of two"),
        ("BAYES 2 2 2 2  2 1 0  2 0 1  4 .1 .9 .9 .1  4 .2 .8 .9 .1", "cycle"),
        ("BAYES 1 1000001 1 1 0 1 1", "expected a number of states"),
    ],
)
def test_contradictions_are_refused(text, message):
    with pytest.raises(FormatError, match=message):
        parsed(text)


def test_a_complaint_names_the_line():
    with pytest.raises(FormatError, match="line 10"):
        parsed(CHAIN.replace("0.3", "x"))


@pytest.fixture
def written(tmp_path):
    """A named network in `net.uai`, with the file of its names."""
    rain, grass = Variable("Rain", ["<5", "no"]), Variable("wet grass", ["yes", "no"])
    network = BayesianNetwork(
        [Cpt(rain, [], [0.2, 0.8]), Cpt(grass, [rain], [[0.9, 0.1], [0.3, 0.7]])], "Lawn"
    )
    write_network(network, tmp_path / "net.uai")
    return network, tmp_path / "net.uai", tmp_path / "net.uai.names.json"


def test_names_are_ignored_with_a_warning_when_the_file_changed(written):
    _, path, _ = written
    path.write_text(path.read_text().replace("0.9 0.1", "0.8 0.2"))
    with pytest.warns(
        UnswayedWarning, match=r"net\.uai\.names\.json is ignored \(it was written for another file"
    ):
        assert read_network(path).names == ("V0", "V1")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-10],
        lambda text: "[" * 100_000,
        lambda text: "7" * 5000,
        lambda text: "{}",
        lambda text: text.replace('"Rain"', '"wet grass"'),
        lambda text: text.replace('"Rain"', "null"),
        lambda text: text.replace('"Rain"', '" Rain "'),
        lambda text: text.replace('"Lawn"', '"La\\u0000wn"'),
        lambda text: text.replace('"no"', '"yes"'),
        lambda text: "\0" + text,
    ],
)
def test_broken_names_are_ignored_with_a_warning(written, damage):
    _, path, names = written
    names.write_text(damage(names.read_text()))
    with pytest.warns(UnswayedWarning, match="is ignored"):
        assert read_network(path).names == ("V0", "V1")


def test_names_beside_the_plain_file_serve_the_packed_one(written, tmp_path):
    network, path, names = written
    (tmp_path / "net.uai.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert read_network(tmp_path / "net.uai.gz") == network
    assert json.loads(names.read_text())["network"] == "Lawn"


@needs_shared_data
@pytest.mark.parametrize(("file", "counts"), [("asia_agrum", (8, 8, 18)), ("fire_alarm", (6, 5, 12))])
def test_real_files_have_their_published_sizes(file, counts):
    network = read_network(UAI / f"{file}.uai")
    assert (len(network), sum(map(len, network.parents)), n_parameters(network)) == counts


@needs_shared_data
@pytest.mark.parametrize("file", ["asia_markov_tensorinference", "grid4x4_markov"])
def test_real_markov_networks_are_refused(file):
    with pytest.raises(FormatError, match="Markov network"):
        read_network(UAI / f"{file}.uai")


@needs_shared_data
def test_asia_equals_the_network_in_bif():
    names = ["asia", "smoke", "bronc", "lung", "tub", "either", "dysp", "xray"]
    new_name = {**{f"V{i}": name for i, name in enumerate(names)}, "s0": "yes", "s1": "no"}
    ours = conditionals(read_network(UAI / "asia_agrum.uai"), new_name)
    assert ours == pytest.approx(conditionals(read_network(SHARED / "networks/asia.bif")), abs=1e-12)


@needs_shared_data
def test_fire_alarm_equals_the_network_in_bif_with_two_variables_swapped():
    new_name = {f"V{i}": f"var_{j}" for i, j in enumerate([0, 1, 3, 2, 4, 5])}
    ours = conditionals(read_network(UAI / "fire_alarm.uai"), new_name)
    bif = conditionals(read_network(SHARED / "networks/hrl_uai08/fire_alarm.bif"))
    assert ours == pytest.approx(bif, abs=1e-12)
