"""Laws of FoCS CPTs: contexts partition, and every way to reason agrees with listing everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import unswayed
from focs_strategies import findings, functional_networks, step_contexts
from oracles.enumerate_functions import enumerate_rows
from tolerances import ENGINE, EXACT
from unswayed.core.errors import ImpossibleEvidence
from unswayed.focs.diagrams.obdd import step_diagram
from unswayed.focs.diagrams.trellis import compile_network, marginals
from unswayed.focs.mpe.choice import Elimination
from unswayed.focs.mpe.problem import build_problem
from unswayed.focs.mpe.program import Highs
from unswayed.focs.mpe.search import BranchAndBound
from unswayed.inference.posteriors import log_probability
from unswayed.inference.sampling import row_log_likelihoods
from unswayed.model.distribution import all_states
from unswayed.model.network import to_tables
from unswayed.model.nodes.contexts import RuleContexts, TreeContexts, tree_boxes
from unswayed.model.nodes.steps import StepContexts, StepNetwork, as_step_contexts, simplified


@given(
    st.integers(0, 7).flatmap(lambda n: st.tuples(st.just(n), step_contexts(n), st.permutations(range(n))))
)
def test_a_compiled_context_is_the_network_s_on_every_input(case):
    n_inputs, contexts, order = case
    rows = all_states([2] * n_inputs)
    diagram = step_diagram(contexts, order)
    assert (diagram.index(rows) == contexts.index(rows)).all()


@pytest.mark.slow
@settings(max_examples=10)
@given(st.integers(12, 15).flatmap(lambda n: step_contexts(n, max_neurons=8)))
def test_a_compiled_context_is_the_network_s_on_every_input_of_fifteen(contexts):
    rows = all_states([2] * contexts.n_inputs)
    assert (step_diagram(contexts).index(rows) == contexts.index(rows)).all()


@given(st.lists(st.integers(-6, 6), max_size=9), st.integers(-9, 9))
def test_a_compiled_neuron_is_on_where_its_sum_reaches_the_step(weights, bias):
    rows = all_states([2] * len(weights))
    expected = rows @ np.array(weights, dtype=np.int64) + bias >= 0
    neuron = StepContexts(StepNetwork(np.array([weights], dtype=np.int64), [bias], [1]), [0])
    assert (step_diagram(neuron).index(rows) == expected).all()


@given(st.integers(1, 6).flatmap(step_contexts), st.data())
def test_putting_inputs_in_changes_no_context(contexts, data):
    places = st.integers(0, contexts.n_inputs - 1)
    known = data.draw(st.dictionaries(places, st.integers(0, 1)))
    rows = all_states([2] * contexts.n_inputs)
    for place, state in known.items():
        rows[:, place] = state
    assert (simplified(contexts, known).index(rows) == contexts.index(rows)).all()


@st.composite
def trees(draw):
    """A random decision tree over four bits, with splits that repeat and leaves no row reaches."""
    feature, left, right = [], [], []

    def grow(depth):
        node = len(feature)
        feature.append(draw(st.integers(0, 3)) if depth < 3 and draw(st.booleans()) else -1)
        left.append(-1)
        right.append(-1)
        if feature[node] >= 0:
            left[node], right[node] = grow(depth + 1), grow(depth + 1)
        return node

    grow(0)
    cuts = [draw(st.sampled_from([-0.5, 0.5, 1.5])) for _ in feature]
    return TreeContexts(4, feature=feature, cut=cuts, left=left, right=right)


@given(trees())
def test_a_tree_its_rules_and_its_step_network_are_the_same_contexts(tree):
    rows = all_states([2] * 4)
    boxes = tree_boxes(tree, [2, 2, 2, 2])
    assert len(boxes) == tree.n_contexts
    rules = [
        None if box is None else {place: min(states) for place, states in box.items() if len(states) == 1}
        for box in boxes
    ]
    reached = [rule for rule in rules if rule is not None]
    number = [k for k, rule in enumerate(rules) if rule is not None]
    by_rules = np.array(number)[RuleContexts((2, 2, 2, 2), tuple(reached)).index(rows)]
    assert (by_rules == tree.index(rows)).all()
    assert (as_step_contexts(tree).index(rows) == tree.index(rows)).all()


@given(functional_networks(only_step=False), st.data())
def test_likelihood_is_the_product_of_the_nodes_and_sums_to_one(network, data):
    rows, mass = enumerate_rows(network, {})
    assert abs(mass.sum() - 1.0) < EXACT
    with np.errstate(divide="ignore"):
        assert np.allclose(row_log_likelihoods(network, rows), np.log(mass), atol=ENGINE)


@given(functional_networks(only_step=False), st.data())
def test_the_tabulated_network_gives_the_same_evidence_the_same_probability(network, data):
    evidence = data.draw(findings(network))
    _, mass = enumerate_rows(network, evidence)
    assume(mass.sum() > 0)
    written = to_tables(network)
    assert abs(log_probability(written, written.evidence(evidence)) - np.log(mass.sum())) < ENGINE


@given(functional_networks(only_step=True), st.data())
def test_marginals_by_circuits_are_those_by_enumeration(network, data):
    evidence = data.draw(findings(network))
    rows, mass = enumerate_rows(network, evidence)
    compiled = compile_network(network)
    if mass.sum() == 0:
        with pytest.raises(ImpossibleEvidence):
            marginals(compiled, evidence)
        return
    found = marginals(compiled, evidence)
    for v, name in enumerate(network.names):
        expected = np.array([mass[rows[:, v] == 0].sum(), mass[rows[:, v] == 1].sum()]) / mass.sum()
        assert np.allclose(found[name], expected, atol=ENGINE)


@given(functional_networks(only_step=False), st.data())
def test_an_explanation_is_as_probable_as_the_best_by_enumeration(network, data):
    evidence = data.draw(findings(network))
    _, mass = enumerate_rows(network, evidence)
    if mass.max() == 0:
        with pytest.raises(ImpossibleEvidence):
            unswayed.mpe(network, evidence)
        return
    found = unswayed.mpe(network, evidence)
    assert found.optimal
    assert abs(found.log_probability - np.log(mass.max())) < ENGINE
    assert set(found.states) == set(network.names) - set(evidence)


@given(functional_networks(only_step=False), st.sampled_from([0, 4]), st.data())
def test_search_through_gates_finds_the_best(network, table_cells, data):
    """Tables are forbidden, so that every function is a gate, and no local search helps."""
    evidence = data.draw(findings(network))
    _, mass = enumerate_rows(network, evidence)
    problem = build_problem(network, network.evidence(evidence), table_cells=table_cells)
    answer = BranchAndBound(n_starts=0).solve(problem)
    assert answer.finished
    if mass.max() == 0:
        assert answer.states is None
    else:
        assert abs(answer.bound - np.log(mass.max())) < ENGINE
        value = row_log_likelihoods(network, problem.completed(answer.states))[0]
        assert abs(value - np.log(mass.max())) < ENGINE


@settings(max_examples=12)
@given(functional_networks(only_step=True), st.data())
def test_all_exact_methods_agree(network, data):
    evidence = data.draw(findings(network))
    _, mass = enumerate_rows(network, evidence)
    assume(mass.max() > 0)
    for method in (Elimination(), BranchAndBound(), Highs()):
        found = unswayed.mpe(network, evidence, method=method)
        # Solvers of mixed-integer programs stop within 1e-6 of the optimum.
        assert abs(found.log_probability - np.log(mass.max())) < 1e-6, method
