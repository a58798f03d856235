"""Laws of compiled networks: a circuit knows what its network knows, however it was made and arranged."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import unswayed
from oracles.enumerate_joint import joint_table
from strategies import classifiers, distributions, networks
from tolerances import ENGINE, EXACT
from unswayed.api.selection import Method
from unswayed.circuits.formulas.compile import compile_cnf
from unswayed.circuits.formulas.encode import basic_encoding, row_encoding, weights_under
from unswayed.circuits.networks.compiled import (
    all_marginals,
    compile_network,
    compile_spine,
    log_probability,
    probability,
)
from unswayed.circuits.networks.expected_sdp import expected_agreement, registers_of
from unswayed.circuits.networks.levels import bottom_masses, feature_levels
from unswayed.circuits.networks.order import spine_of
from unswayed.circuits.networks.rearrange import levels_by_conditioning, move_feature
from unswayed.circuits.sdd.algebra import move_leaf
from unswayed.circuits.sdd.evaluate import weighted_model_count
from unswayed.core.errors import ImpossibleEvidence
from unswayed.decisions import measures
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rewards import Margin, NegativeEntropy, expected_reward
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.circuit import CIRCUITS, CircuitEngine
from unswayed.engines.dense import DenseEngine
from unswayed.inference import marginals as elimination_marginals, posteriors as elimination
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.search.options import CircuitVariant


@st.composite
def patterned_networks(draw, max_variables=6):
    """Networks whose rows repeat: two different ones in a table, certain ones often."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=max_variables))
    variables = [Variable(f"V{i}", [f"s{k}" for k in range(size)]) for i, size in enumerate(sizes)]
    cpts = []
    for position, child in enumerate(variables):
        earlier = st.sampled_from(variables[:position]) if position else st.nothing()
        parents = draw(st.lists(earlier, max_size=3, unique_by=lambda v: v.name)) if position else []
        rows = [draw(distributions(len(child))) for _ in range(2)]
        n_rows = math.prod(len(parent) for parent in parents)
        chosen = draw(st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows))
        cpts.append(Cpt(child, parents, [rows[i] for i in chosen]))
    return BayesianNetwork(cpts)


ANY_NETWORK = st.one_of(networks(max_variables=5), patterned_networks())


@st.composite
def with_evidence(draw, of=ANY_NETWORK):
    """A network and states of some of its variables."""
    network = draw(of)
    observed = draw(st.sets(st.sampled_from(network.names), max_size=3))
    return network, {name: draw(st.sampled_from(network.variable(name).states)) for name in sorted(observed)}


@st.composite
def problems(draw):
    """A problem with some evidence on any variable but the target."""
    classifier = draw(classifiers())
    names = [name for name in classifier.network.names if name != classifier.target]
    observed = draw(st.sets(st.sampled_from(names), max_size=2))
    states = {n: draw(st.sampled_from(classifier.network.variable(n).states)) for n in sorted(observed)}
    try:
        return make_problem(classifier, states)
    except ImpossibleEvidence:
        assume(False)


def enumerated(network, evidence):
    """Pr(evidence) from the joint table."""
    observed = network.evidence(evidence)
    return float(joint_table(network)[tuple(observed.get(v, slice(None)) for v in range(len(network)))].sum())


@given(with_evidence())
def test_weight_of_models_is_the_probability_of_evidence(asked):
    network, evidence = asked
    compiled = compile_network(network)
    assert probability(compiled, evidence) == pytest.approx(enumerated(network, evidence), abs=ENGINE)
    try:
        expected = elimination.log_probability(network, network.evidence(evidence))
    except ImpossibleEvidence:
        assert probability(compiled, evidence) == 0.0
        with pytest.raises(ImpossibleEvidence):
            log_probability(compiled, evidence)
    else:
        assert log_probability(compiled, evidence) == pytest.approx(expected, abs=ENGINE)


@given(with_evidence())
def test_one_pass_down_gives_all_marginals(asked):
    network, evidence = asked
    assume(enumerated(network, evidence) > 0)
    found = all_marginals(compile_network(network), evidence)
    expected = elimination_marginals.all_marginals(network, network.evidence(evidence))
    for variable, masses in zip(network.variables, expected, strict=True):
        assert [found[variable.name][s] for s in variable.states] == pytest.approx(
            masses.tolist(), abs=ENGINE
        )


@settings(max_examples=25)
@given(with_evidence(patterned_networks(max_variables=4)), st.sampled_from([basic_encoding, row_encoding]))
def test_every_encoding_has_the_weight_of_the_network(asked, encode):
    network, evidence = asked
    made = encode(network)
    encoding = made if encode is basic_encoding else made.encoding
    sdd = compile_cnf(encoding.cnf)
    weights = weights_under(encoding, network.evidence(evidence))
    assert float(weighted_model_count(sdd, weights)) == pytest.approx(
        enumerated(network, evidence), abs=ENGINE
    )


@settings(max_examples=25)
@given(patterned_networks(), st.data())
def test_compiling_by_elimination_gives_the_circuit_of_the_clauses(network, data):
    """SDDs are canonical: the same encoding over the same vtree has one circuit."""
    spine = data.draw(st.lists(st.sampled_from(range(len(network))), unique=True, max_size=3))
    compiled = compile_spine(network, spine, strict=data.draw(st.booleans()))
    clauses = compile_cnf(compiled.encoding.cnf, compiled.sdd.vtree)
    assert (compiled.sdd.n_nodes, compiled.n_elements) == (clauses.n_nodes, clauses.n_elements)


@given(problems(), st.data())
def test_circuit_and_dense_engine_agree_on_every_measure(problem, data):
    kept = frozenset(data.draw(st.sets(st.sampled_from(problem.free)))) if problem.free else frozenset()
    found = CircuitEngine().prepare(problem).profile(kept)
    expected = DenseEngine().prepare(problem).profile(kept)
    target, rule = problem.network.variables[problem.target], problem.classifier.rule
    for measure in (
        lambda p: measures.expected_agreement(p, problem.decider),
        measures.maximum_potential_agreement,
        lambda p: expected_reward(p.class_mass, NegativeEntropy(), target),
        lambda p: expected_reward(p.class_mass, Margin(), target),
    ):
        assert measure(found) == pytest.approx(measure(expected), abs=ENGINE)
    if isinstance(rule, ThresholdRule):
        positive = target.index(rule.positive)
        one, other = (measures.maximum_achievable_agreement(p, positive) for p in (found, expected))
        assert one.value == pytest.approx(other.value, abs=ENGINE)


@given(problems(), st.data())
def test_evidence_and_threshold_change_without_compiling_again(problem, data):
    """The circuit that answered one problem answers the next on the same network, as a new one would."""
    assume(problem.free)
    CircuitEngine().prepare(problem)
    name = problem.network.variables[data.draw(st.sampled_from(problem.free))].name
    state = data.draw(st.sampled_from(problem.network.variable(name).states))
    known = {problem.network.variables[v].name: s for v, s in problem.evidence.items()}
    evidence = {n: problem.network.variable(n).states[s] for n, s in known.items()} | {name: state}
    circuits = dict(problem.network.memo.all(CIRCUITS))
    try:
        after = make_problem(problem.classifier, evidence)
    except ImpossibleEvidence:
        assume(False)
    found = CircuitEngine().prepare(after).profile(frozenset(after.free))
    expected = DenseEngine().prepare(after).profile(frozenset(after.free))
    assert dict(problem.network.memo.all(CIRCUITS)) == circuits
    agreement = measures.expected_agreement(found, after.decider)
    assert agreement == pytest.approx(measures.expected_agreement(expected, after.decider), abs=ENGINE)


def arranged(problem):
    """The strictly constrained diagram of a problem's free features, with its class weights."""
    compiled = compile_spine(problem.network, problem.free)
    levels = feature_levels(compiled, problem.free, problem.evidence)
    return levels, bottom_masses(compiled, levels, problem.target, problem.evidence)


@given(problems(), st.data())
def test_algorithm_one_is_the_expected_sdp(problem, data):
    """[choi2017, Prop. 1]; with the registers kept for a search, and with a known best, too."""
    levels, class_mass = arranged(problem)
    n_kept = data.draw(st.integers(0, len(problem.free)))
    oracle = DenseEngine().prepare(problem)
    expected = measures.expected_agreement(oracle.profile(frozenset(problem.free[:n_kept])), problem.decider)
    decide, n_actions = problem.decider.decide, len(problem.decider.actions)
    found = expected_agreement(levels, n_kept, class_mass, decide, n_actions=n_actions)
    assert found == pytest.approx(expected, abs=ENGINE)
    registers = registers_of(levels, class_mass, decide, n_actions)
    assert registers.expected_agreement(n_kept, decide) == pytest.approx(expected, abs=ENGINE)
    best = data.draw(st.floats(0, 1))
    stopped = expected_agreement(levels, n_kept, class_mass, decide, n_actions=n_actions, best=best)
    assert stopped == pytest.approx(expected, abs=ENGINE) or expected - ENGINE <= stopped < best


@given(problems(), st.data())
def test_moving_a_feature_back_and_forth_changes_nothing(problem, data):
    assume(problem.free)
    levels, class_mass = arranged(problem)
    feature = data.draw(st.sampled_from(problem.free))
    place = data.draw(st.integers(0, len(problem.free) - 1))
    moved = move_feature(levels, feature, place)
    assert moved.features.index(feature) == place
    back = move_feature(moved, feature, levels.features.index(feature))
    assert back.features == levels.features
    assert [len(each) for each in back.children] == [len(each) for each in levels.children]
    decide, n_actions = problem.decider.decide, len(problem.decider.actions)
    before, after = (registers_of(each, class_mass, decide, n_actions) for each in (levels, back))
    for depth in range(len(levels.features) + 1):
        one, other = before.expected_agreement(depth, decide), after.expected_agreement(depth, decide)
        assert one == pytest.approx(other, abs=EXACT)


@given(problems(), st.data())
def test_a_moved_diagram_is_the_one_compiled_in_that_order(problem, data):
    """So registers kept across moves are right, and the diagram stays canonical."""
    assume(problem.free)
    levels, class_mass = arranged(problem)
    decide, n_actions = problem.decider.decide, len(problem.decider.actions)
    registers = registers_of(levels, class_mass, decide, n_actions)
    order = data.draw(st.permutations(problem.free))
    for place, feature in enumerate(order):
        registers = registers.move(feature, place)
    direct = arranged(replace(problem, free=tuple(order)))[0]
    assert [len(each) for each in registers.levels.children] == [len(each) for each in direct.children]
    oracle = DenseEngine().prepare(problem)
    for n_kept in range(len(order) + 1):
        expected = measures.expected_agreement(oracle.profile(frozenset(order[:n_kept])), problem.decider)
        assert registers.expected_agreement(n_kept, decide) == pytest.approx(expected, abs=ENGINE)


@given(problems())
def test_conditioning_moves_features_out_of_any_circuit(problem):
    """[choi2017, section 5]: the diagram is that of a circuit compiled with the features first."""
    below, levels = levels_by_conditioning(compile_network(problem.network), problem.free)
    direct, class_mass = arranged(problem)
    assert [each.shape for each in levels.children] == [each.shape for each in direct.children]
    decide, n_actions = problem.decider.decide, len(problem.decider.actions)
    masses = bottom_masses(below, levels, problem.target, problem.evidence)
    for n_kept in range(len(problem.free) + 1):
        one, other = (
            expected_agreement(each, n_kept, mass, decide, n_actions=n_actions)
            for each, mass in ((levels, masses), (direct, class_mass))
        )
        assert one == pytest.approx(other, abs=ENGINE)


@settings(max_examples=25)
@given(with_evidence(patterned_networks(max_variables=4)), st.data())
def test_moving_a_leaf_keeps_all_probabilities(asked, data):
    network, evidence = asked
    compiled = compile_network(network)
    assume(len(compiled.sdd.names) > 1)
    name = data.draw(st.sampled_from(compiled.sdd.names))
    moved = replace(compiled, sdd=move_leaf(compiled.sdd, name, compiled.sdd.vtree.root))
    assert probability(moved, evidence) == pytest.approx(probability(compiled, evidence), abs=EXACT)


@settings(max_examples=25)
@given(classifiers(max_features=4), st.sampled_from(CircuitVariant), st.data())
def test_every_variant_of_fs_sdd_finds_what_exhaustive_search_finds(classifier, variant, data):
    budget = data.draw(st.integers(0, 3))
    found = unswayed.select(classifier, budget=budget, method=Method.FS_SDD, variant=variant)
    expected = unswayed.select(classifier, budget=budget, method=Method.EXHAUSTIVE)
    assert found.value == pytest.approx(expected.value, abs=ENGINE)
    assert found.optimal
    assert found.cost <= budget


@given(classifiers())
def test_followers_are_determined_by_what_comes_before(classifier):
    """Given all variables of the spine before it, a hidden variable of the spine has one possible state."""
    network = classifier.network
    features = {network.index(name) for name in classifier.features}
    spine = spine_of(network, features, classifier.target_index).variables
    assert features <= set(spine)
    possible = joint_table(network) > 0
    for place, variable in enumerate(spine):
        if variable not in features:
            kept = (*spine[:place], variable)
            others = tuple(v for v in range(len(network)) if v not in kept)
            table = np.moveaxis(possible.any(axis=others, keepdims=True), variable, -1)
            assert (table.sum(axis=-1) <= 1).all()
