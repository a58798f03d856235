"""Compiling networks: sizes, vtrees, limits, and circuits that are not constrained as they should be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.enumerate_joint import joint_table
from shared_data import SHARED, needs_shared_data
from tolerances import ENGINE
from unswayed.circuits.formulas.encode import basic_encoding
from unswayed.circuits.networks.compiled import all_marginals, compile_network, compile_spine, probability
from unswayed.circuits.networks.levels import feature_levels
from unswayed.circuits.networks.rearrange import move_feature
from unswayed.circuits.sdd.validate import check_circuit
from unswayed.circuits.vtree import right_linear
from unswayed.circuits.vtree_moves import constrained_node
from unswayed.core.errors import ModelError, QueryError
from unswayed.inference.marginals import all_marginals as by_elimination
from unswayed.model.cpt import Cpt
from unswayed.model.formats import read_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import printer, review, sprinkler


@pytest.mark.parametrize("network", [review(), sprinkler(), printer()], ids=lambda n: n.name)
@pytest.mark.parametrize("strict", [True, False])
def test_circuits_are_valid(network, strict):
    check_circuit(compile_spine(network, [2, 0], strict=strict).sdd)


def test_a_constrained_circuit_has_a_constrained_vtree():
    """[choi2017, Def. 4]: exactly the Booleans of the named variables are outside some right-most node."""
    compiled = compile_network(printer(), constrained_to=["Light", "Ping"])
    names = compiled.encoding.cnf.names
    outside = [names[b] for v in compiled.spine for b in compiled.encoding.block(v)]
    assert constrained_node(compiled.sdd.vtree, outside) is not None


def test_any_vtree_and_any_encoding_will_do():
    network = sprinkler()
    basic = basic_encoding(network)
    evidence = {"WetGrass": "yes", "Rain": "no"}
    expected = probability(compile_network(network), evidence)
    for compiled in (
        compile_network(network, right_linear(basic.cnf.names[::-1]), encoding=basic),
        compile_network(network, encoding=basic),
        compile_network(network, constrained_to=["WetGrass"], encoding=basic),
    ):
        assert probability(compiled, evidence) == pytest.approx(expected, abs=ENGINE)
        masses = by_elimination(network, network.evidence(evidence))
        found = all_marginals(compiled, evidence)
        for variable, mass in zip(network.variables, masses, strict=True):
            assert list(found[variable.name].values()) == pytest.approx(mass.tolist(), abs=ENGINE)


def test_all_variables_may_be_in_the_spine_and_all_tables_certain():
    a, b, c = (Variable(name, states) for name, states in (("A", "xy"), ("B", "xy"), ("C", "xyz")))
    network = BayesianNetwork(
        [Cpt(a, [], [1, 0]), Cpt(b, [a], [[0, 1], [1, 0]]), Cpt(c, [b], [[1, 0, 0], [0, 1, 0]])]
    )
    for strict in (True, False):
        compiled = compile_spine(network, [2, 0, 1], strict=strict)
        assert probability(compiled) == 1.0
        assert probability(compiled, {"C": "y"}) == 1.0
        assert probability(compiled, {"A": "y"}) == 0.0


@pytest.mark.parametrize("network", [review(), sprinkler(), printer()], ids=lambda n: n.name)
def test_with_all_variables_in_the_spine_edges_carry_the_whole_joint_distribution(network):
    order = list(range(len(network)))
    levels = feature_levels(compile_spine(network, order, strict=False), order, {})
    joint = joint_table(network)
    for states in np.ndindex(*joint.shape):
        node, weight = 0, levels.start_weight
        for children, weights, state in zip(levels.children, levels.weights, states, strict=True):
            weight *= weights[node, state] if children[node, state] >= 0 else 0.0
            node = children[node, state]
        assert weight == pytest.approx(joint[states], abs=ENGINE)


def test_what_cannot_be_asked_for_is_refused():
    with pytest.raises(QueryError, match="more than once"):
        compile_network(review(), constrained_to=["AC", "AC"])
    with pytest.raises(QueryError, match="did you mean 'AC'"):
        compile_network(review(), constrained_to=["Ac"])
    basic = basic_encoding(review())
    with pytest.raises(QueryError, match="give one of them"):
        compile_network(review(), right_linear(basic.cnf.names), ["AC"], encoding=basic)


def test_a_variable_that_is_not_determined_cannot_follow():
    """The spine holds R1, which is neither free nor observed nor a function of AC."""
    compiled = compile_network(review(), constrained_to=["AC", "R1"])
    chair = review().index("AC")
    with pytest.raises(ModelError, match="'R1' is neither free, nor observed, nor determined"):
        feature_levels(compiled, [chair], {})
    with pytest.raises(ModelError, match="not constrained"):
        feature_levels(replace(compiled, spine=(*compiled.spine, *range(4))), [chair], {})


def test_only_strictly_constrained_diagrams_are_rearranged():
    """The root D and its child R1 are both in the spine, so their tables' numbers are on the edges."""
    network = review()
    free = [network.index("D"), network.index("R1")]
    levels = feature_levels(compile_spine(network, free, strict=False), free, {})
    with pytest.raises(QueryError, match="strictly constrained"):
        move_feature(levels, free[1], 0)


@needs_shared_data
@pytest.mark.parametrize(("name", "least", "most"), [("alarm", 5_000, 10_000), ("win95pts", 9_000, 18_000)])
def test_sizes_are_as_small_as_measured_elsewhere(name, least, most):
    """About 7.4 and 11 thousand elements were measured with the same encoding and min-fill orders."""
    compiled = compile_network(read_network(SHARED / "networks" / f"{name}.bif"))
    assert least < compiled.n_elements < most
    assert compiled.predicted.elements / 4 < compiled.n_elements < compiled.predicted.elements * 4
