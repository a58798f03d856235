"""Networks passed to pyAgrum and pgmpy in memory: nothing is lost, and both give the same answers."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings

from oracles.enumerate_joint import joint_table
from strategies import networks
from tolerances import ENGINE
from unswayed.core.errors import MissingLibrary, ModelError, UnswayedWarning
from unswayed.model.adapters import from_pgmpy, from_pyagrum, to_pgmpy, to_pyagrum
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable


def lawn() -> BayesianNetwork:
    """Two variables with names that other libraries' files would lose."""
    rain, grass = Variable("Rain", ["<5", "12+"]), Variable("wet gräss", ["yes", "no"])
    return BayesianNetwork(
        [Cpt(rain, [], [0.2, 0.8]), Cpt(grass, [rain], [[0.9, 0.1], [1 / 3, 2 / 3]])], "Lawn"
    )


@given(networks())
def test_pyagrum_gives_back_the_same_network(network):
    pytest.importorskip("pyagrum")
    assert from_pyagrum(to_pyagrum(network)) == network


@given(networks(max_variables=4))
def test_pyagrum_has_the_same_joint_distribution(network):
    gum = pytest.importorskip("pyagrum")
    bn = to_pyagrum(network)
    joint = joint_table(network)
    instantiation = gum.Instantiation()
    for node in range(len(network)):
        instantiation.add(bn.variable(node))
    for states in np.ndindex(joint.shape):
        for node, state in enumerate(states):
            instantiation.chgVal(node, state)
        assert bn.jointProbability(instantiation) == pytest.approx(joint[states], abs=ENGINE)


def test_other_kinds_of_pyagrum_variables_keep_their_labels():
    gum = pytest.importorskip("pyagrum")
    bn = gum.fastBN("A[1,3]->B{low|high}->C[0,0.5,1]")
    network = from_pyagrum(bn)
    assert network.variable("A").states == ("1", "2", "3")
    assert network.variable("B").states == ("low", "high")
    assert len(network.variable("C")) == 2
    assert network.cpts[network.index("B")].table == pytest.approx(bn.cpt("B").toarray(), abs=0)


def test_rows_of_pyagrum_are_checked_as_those_of_files():
    gum = pytest.importorskip("pyagrum")
    bn = to_pyagrum(lawn())
    bn.cpt("Rain").fillWith([float(np.float32(0.2)), float(np.float32(0.8))])
    assert from_pyagrum(bn).cpts[0].table.sum() == pytest.approx(1, abs=1e-15)
    bn.cpt("Rain").fillWith([0.2, 0.799])
    with pytest.warns(UnswayedWarning, match=r"the pyAgrum network: 1 row does not sum to 1.*0\.999"):
        from_pyagrum(bn)
    bn.cpt("Rain").fillWith([0.5, 1.5])
    with pytest.raises(ModelError, match=r"the pyAgrum network: table of 'Rain'.*sums to 2"):
        from_pyagrum(bn)
    assert from_pyagrum(bn, normalize=True).cpts[0].table.tolist() == [[0.25, 0.75]]
    broken = gum.BayesNet()
    broken.add(gum.LabelizedVariable(" spaced", "", ["a"]))
    with pytest.raises(ModelError, match=r"the pyAgrum network: table of 'spaced'.* sums to 0"):
        from_pyagrum(broken)


@settings(max_examples=30)
@given(networks())
def test_pgmpy_gives_back_the_same_network(network):
    pytest.importorskip("pgmpy")
    assert from_pgmpy(to_pgmpy(network)) == network


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_pgmpy_finds_the_model_sound_and_gives_the_same_posterior():
    pytest.importorskip("pgmpy")
    from pgmpy.inference import VariableElimination

    model = to_pgmpy(lawn())
    assert model.check_model()
    found = VariableElimination(model).query(["Rain"], evidence={"wet gräss": "no"}, show_progress=False)
    joint = joint_table(lawn())[:, 1]
    assert found.values == pytest.approx(joint / joint.sum(), abs=ENGINE)
    assert found.state_names["Rain"] == ["<5", "12+"]


def test_names_and_states_of_pgmpy_become_strings():
    pytest.importorskip("pgmpy")
    from pgmpy.factors.discrete import TabularCPD

    model = to_pgmpy(BayesianNetwork([Cpt(Variable("A", ["x"]), [], [1.0])]))
    model.add_node("N")
    with pytest.raises(ModelError, match="node 'N' has no table; add one with add_cpds"):
        from_pgmpy(model)
    model.add_edge("A", "N")
    model.add_cpds(
        TabularCPD("N", 2, [[0.25], [0.75]], ["A"], [1], state_names={"N": [0, True], "A": ["x"]}),
    )
    assert from_pgmpy(model).variable("N").states == ("0", "True")


def test_tables_of_pgmpy_that_disagree_on_states_are_refused():
    pytest.importorskip("pgmpy")
    from pgmpy.factors.discrete import TabularCPD

    model = to_pgmpy(lawn())
    values = [[0.9, 0.5], [0.1, 0.5]]
    names = {"wet gräss": ["yes", "no"], "Rain": ["12+", "<5"]}
    model.add_cpds(TabularCPD("wet gräss", 2, values, ["Rain"], [2], state_names=names))
    with pytest.raises(ModelError, match="gives its parent 'Rain' the states"):
        from_pgmpy(model)


@pytest.mark.parametrize(("convert", "library"), [(to_pyagrum, "pyagrum"), (to_pgmpy, "pgmpy")])
def test_a_missing_library_is_named_with_the_extra_that_brings_it(monkeypatch, convert, library):
    for module in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingLibrary, match=rf"{library} cannot be imported.*the extra 'interop'"):
        convert(lawn())
