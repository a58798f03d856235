"""Diagrams as SDDs and PSDDs: the circuits' own queries and validators agree with ours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focs_strategies import bit, functional_networks, step_contexts
from oracles.enumerate_functions import enumerate_rows
from unswayed.circuits.passes import evaluate
from unswayed.circuits.psdd_product import product
from unswayed.circuits.psdd_queries import log_likelihood, most_probable_completion
from unswayed.circuits.psdd_queries import marginals as psdd_marginals
from unswayed.circuits.validators import check_circuit, is_canonical
from unswayed.core.errors import ModelError, QueryError
from unswayed.focs.coding import Channel, adjacent_parities, code_network
from unswayed.focs.cpt import FocsCpt
from unswayed.focs.diagrams.circuits import conditional_psdd, joint_psdd, node_psdd, obdd_circuit
from unswayed.focs.diagrams.obdd import context_diagram
from unswayed.focs.diagrams.product import step_diagram
from unswayed.focs.diagrams.queries import explain_rows, marginal_rows
from unswayed.focs.diagrams.trellis import compile_network
from unswayed.focs.network import all_states
from unswayed.model.cpt import Cpt


@settings(max_examples=30)
@given(st.integers(1, 5).flatmap(lambda n: st.tuples(step_contexts(n), st.permutations(range(n)))))
def test_the_circuit_of_a_context_is_canonical_and_holds_where_the_context_does(case):
    contexts, order = case
    diagram = step_diagram(contexts, order)
    names = [f"U{i}" for i in range(contexts.n_inputs)]
    rows = all_states([2] * contexts.n_inputs)
    for context in range(contexts.n_contexts):
        circuit = obdd_circuit(context_diagram(diagram, context), names)
        check_circuit(circuit)
        assert is_canonical(circuit)
        assert (evaluate(circuit, rows) == (contexts.index(rows) == context)).all()


@settings(max_examples=20)
@given(functional_networks(max_roots=4, only_step=True))
def test_a_compiled_network_is_a_psdd_of_the_same_distribution(network):
    rows, mass = enumerate_rows(network, {})
    with np.errstate(divide="ignore"):
        found = log_likelihood(joint_psdd(compile_network(network)), rows)
    assert np.exp(found) == pytest.approx(mass, abs=1e-12)


@settings(max_examples=10)
@given(functional_networks(max_roots=3, max_children=2, only_step=True))
def test_the_product_of_the_nodes_circuits_is_the_network(network):
    """Section 5.1 of [shen2020]: marginals by multiplying circuits."""
    order = compile_network(network).order
    joint = node_psdd(network, order[0], order)
    for position in order[1:]:
        joint = product(joint, node_psdd(network, position, order)).psdd
    rows, mass = enumerate_rows(network, {})
    assert np.exp(log_likelihood(joint, rows)) == pytest.approx(mass, abs=1e-9)


def test_queries_of_the_psdd_are_those_of_the_trellis():
    compiled = compile_network(code_network(adjacent_parities(8), Channel()))
    psdd = joint_psdd(compiled)
    rng = np.random.default_rng(0)
    rows = np.full((6, 16), -1)
    rows[:, 8:] = rng.integers(0, 2, (6, 8))
    unknown = np.where(rows < 0, np.nan, rows)
    shares, _ = marginal_rows(compiled, rows)
    assert psdd_marginals(psdd, unknown) == pytest.approx(shares, abs=1e-9)
    _, logs = explain_rows(compiled, rows)
    assert most_probable_completion(psdd, unknown).log_probability == pytest.approx(logs)


def test_a_cpt_is_a_conditional_psdd():
    network = code_network(adjacent_parities(4), Channel())
    node = network.nodes[network.index("X1")]
    assert isinstance(node, FocsCpt)
    conditional = conditional_psdd(node)
    rows = all_states([2] * 4)
    holds = np.column_stack([evaluate(context, rows) for context in conditional.contexts])
    assert (holds.sum(axis=1) == 1).all()
    ones = np.array([np.exp(log_likelihood(column, np.array([[1]])))[0] for column in conditional.columns])
    assert ones[np.argmax(holds, axis=1)] == pytest.approx(node.probabilities(rows)[:, 1])
    with pytest.raises(ModelError, match="must have parents"):
        conditional_psdd(Cpt(bit("U"), [], [0.5, 0.5]))


def test_what_is_no_boolean_function_or_no_order_is_refused():
    network = code_network(adjacent_parities(4), Channel())
    diagram = step_diagram(network.nodes[-1].contexts)
    with pytest.raises(ModelError, match="3 terminals"):
        obdd_circuit(type(diagram)([], 3, level=[0] * 3, low=[0, 1, 2], high=[0, 1, 2], root=1), [])
    with pytest.raises(QueryError, match="each of the 8 variables once"):
        compile_network(network, order=[0, 1])
    with pytest.raises(QueryError, match="before one of its parents"):
        compile_network(network, order=[*range(4, 8), *range(4)])
