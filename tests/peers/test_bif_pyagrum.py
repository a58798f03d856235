"""pyAgrum reads the BIF files that unswayed writes, and unswayed those of pyAgrum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from shared_data import SHARED, needs_shared_data
from strategies import networks
from unswayed.model.cpt import Cpt
from unswayed.model.formats.files import read_network, write_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

gum = pytest.importorskip("pyagrum")

SINGLE_PRECISION = 1e-6
"""pyAgrum keeps the numbers of a BIF file in single precision."""


def plain(network: BayesianNetwork) -> BayesianNetwork:
    """The network with names that pyAgrum takes, which are identifiers."""
    renamed = {
        variable.name: Variable(f"v{i}", [f"s{j}" for j in range(len(variable))])
        for i, variable in enumerate(network.variables)
    }
    cpts = [
        Cpt(renamed[cpt.child.name], [renamed[parent.name] for parent in cpt.parents], cpt.table)
        for cpt in network.cpts
    ]
    return BayesianNetwork(cpts, "plain")


def assert_same_tables(ours: BayesianNetwork, theirs) -> None:
    assert set(theirs.names()) == set(ours.names)
    for cpt in ours.cpts:
        assert theirs.variable(cpt.child.name).labels() == cpt.child.states
        table = theirs.cpt(cpt.child.name)
        axes = list(reversed(table.names))
        order = [axes.index(variable.name) for variable in (*cpt.parents, cpt.child)]
        values = table.toarray().transpose(order).reshape(cpt.table.shape)
        np.testing.assert_allclose(values, cpt.table, rtol=0, atol=SINGLE_PRECISION)


@given(networks(min_states=2))  # pyAgrum refuses variables of one state
def test_pyagrum_reads_what_we_write(tmp_path_factory, network):
    path = tmp_path_factory.mktemp("bif") / "some.bif"
    write_network(plain(network), path)
    assert_same_tables(plain(network), gum.loadBN(str(path)))


@needs_shared_data
@pytest.mark.parametrize("name", ["asia", "alarm", "insurance"])
def test_pyagrum_reads_our_copies_of_real_networks(tmp_path, name):
    network = read_network(SHARED / "networks" / f"{name}.bif")
    write_network(network, tmp_path / "copy.bif")
    assert_same_tables(network, gum.loadBN(str(tmp_path / "copy.bif")))


@pytest.mark.parametrize("suffix", ["bif", "net", "dsl"])
def test_we_read_what_pyagrum_writes(tmp_path, suffix):
    gum.initRandom(7)
    theirs = gum.fastBN("a[3]->b->c{x|y|z}<-a; d->c", 2)
    path = tmp_path / f"some.{suffix}"
    gum.saveBN(theirs, str(path))
    assert_same_tables(read_network(path), theirs)
