"""Networks with nodes of every kind: each verb agrees with listing all instantiations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import unswayed
from mixed_strategies import mixed_findings, mixed_networks
from oracles.enumerate_functions import enumerate_rows
from oracles.enumerate_profile import enumerate_profile
from tolerances import ENGINE
from unswayed.api.networks import joint, posterior, probability, sample
from unswayed.core.errors import ImpossibleEvidence
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import expected_agreement
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import MostProbable
from unswayed.inference import factors
from unswayed.model.network import to_tables


@pytest.fixture(params=[0, factors.TABLE_CELLS], ids=["chains", "tables"], autouse=True, scope="module")
def table_cells(request):
    """Whether functions become chains always, or small tables where they can."""
    before, factors.TABLE_CELLS = factors.TABLE_CELLS, request.param
    yield
    factors.TABLE_CELLS = before


@given(mixed_networks(), st.data())
def test_a_chain_is_the_function_it_was_made_of(network, data):
    """Multiplied out, with some parents known, a chain gives Pr(child | parents) for every instantiation."""
    for cpt in network.cpts:
        sizes = [len(parent) for parent in cpt.parents]
        places = data.draw(st.sets(st.integers(0, len(sizes) - 1))) if sizes else set()
        known = {place: data.draw(st.integers(0, sizes[place] - 1)) for place in sorted(places)}
        chain = cpt.unroll(known)
        if chain is None:
            continue
        rows = np.indices(sizes).reshape(len(sizes), -1).T if sizes else np.zeros((1, 0), dtype=int)
        rows = rows[[all(row[p] == s for p, s in known.items()) for row in rows]]
        for row, expected in zip(rows, cpt.probabilities(rows), strict=True):
            state = np.ones(1)
            for place, step in zip(chain.places, chain.steps, strict=True):
                state = state @ step[:, row[place]]
            np.testing.assert_allclose(state @ chain.columns, expected, rtol=0, atol=ENGINE)


@given(mixed_networks(), st.data())
def test_posteriors_and_marginals_are_those_by_enumeration(network, data):
    evidence = data.draw(mixed_findings(network))
    rows, mass = enumerate_rows(network, evidence)
    assert probability(network, evidence) == pytest.approx(mass.sum(), abs=ENGINE)
    if mass.sum() == 0:
        with pytest.raises(ImpossibleEvidence):
            unswayed.posterior(network, evidence)
        with pytest.raises(ImpossibleEvidence):
            posterior(network, evidence, of=network.names[0])
        return
    found = unswayed.posterior(network, evidence)
    for place, variable in enumerate(network.variables):
        expected = np.bincount(rows[:, place], mass, minlength=len(variable)) / mass.sum()
        assert list(found[variable.name].values()) == pytest.approx(expected, abs=ENGINE)
        assert list(posterior(network, evidence, of=variable.name).values()) == pytest.approx(
            expected, abs=ENGINE
        )


@given(mixed_networks(max_variables=5), st.data())
def test_joint_tables_are_those_by_enumeration(network, data):
    evidence = data.draw(mixed_findings(network))
    rows, mass = enumerate_rows(network, evidence)
    if mass.sum() == 0:
        return
    pair = data.draw(st.lists(st.sampled_from(network.names), min_size=2, max_size=2, unique=True))
    places = [network.index(name) for name in pair]
    expected = np.zeros([len(network.variables[place]) for place in places])
    np.add.at(expected, tuple(rows[:, place] for place in places), mass / mass.sum())
    np.testing.assert_allclose(joint(network, pair, evidence).as_array(), expected, rtol=0, atol=ENGINE)


@given(mixed_networks(), st.data())
def test_an_explanation_is_as_probable_as_the_best_by_enumeration(network, data):
    evidence = data.draw(mixed_findings(network))
    _, mass = enumerate_rows(network, evidence)
    if mass.max() == 0:
        with pytest.raises(ImpossibleEvidence):
            unswayed.mpe(network, evidence)
        return
    found = unswayed.mpe(network, evidence)
    assert found.log_probability == pytest.approx(math.log(mass.max()), abs=ENGINE)
    assert probability(network, {**found.states, **evidence}) == pytest.approx(mass.max(), rel=1e-6)


@given(mixed_networks(), st.data())
def test_samples_agree_with_the_evidence_and_are_possible(network, data):
    evidence = data.draw(mixed_findings(network))
    _, mass = enumerate_rows(network, evidence)
    if mass.sum() == 0:
        return
    rows = sample(network, 20, evidence, rng=np.random.default_rng(0)).codes
    for name, state in evidence.items():
        place = network.index(name)
        assert (rows[:, place] == network.variables[place].index(state)).all()
    for place, cpt in enumerate(network.cpts):
        shares = cpt.probabilities(rows[:, list(network.parents[place])])
        assert (shares[np.arange(len(rows)), rows[:, place]] > 0).all()


@given(mixed_networks())
def test_the_network_written_out_as_tables_is_the_same_distribution(network):
    _, mass = enumerate_rows(network, {})
    _, written = enumerate_rows(to_tables(network), {})
    np.testing.assert_allclose(written, mass, rtol=0, atol=ENGINE)


@st.composite
def mixed_problems(draw):
    """A classifier on a mixed network with evidence that is possible, and features to keep."""
    network = draw(mixed_networks(max_variables=6))
    target, *others = draw(st.permutations(network.names))
    features = others[: draw(st.integers(1, len(others)))]
    observed = draw(st.sets(st.sampled_from(others), max_size=2))
    evidence = {name: draw(st.sampled_from(network.variable(name).states)) for name in sorted(observed)}
    assume(probability(network, evidence) > 0)
    classifier = Classifier(network, target, features, MostProbable())
    kept = draw(st.sets(st.sampled_from([name for name in features if name not in evidence] or [""])))
    return classifier, evidence, sorted(kept - {""})


@given(mixed_problems())
def test_decision_verbs_answer_as_the_definitions_say(case):
    classifier, evidence, kept = case
    written = Classifier(
        to_tables(classifier.network), classifier.target, classifier.features, classifier.rule
    )
    problem = make_problem(written, evidence)
    for names in ([], kept):
        profile = enumerate_profile(problem, frozenset(map(written.network.index, names)))
        found = unswayed.esdp(classifier, kept=names, evidence=evidence)
        assert found.value == pytest.approx(expected_agreement(profile, problem.decider), abs=ENGINE)
    assert unswayed.sdp(classifier, evidence).value <= 1.0 + ENGINE
