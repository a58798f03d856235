"""Exact inference agrees with writing out the whole joint distribution, on random networks."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oracles.enumerate_joint import joint_table
from strategies import networks
from tolerances import EXACT
from unswayed.core.errors import ImpossibleEvidence
from unswayed.inference.marginals import all_marginals, family_marginals
from unswayed.inference.posteriors import joint_table as exact_joint, log_probability
from unswayed.inference.sampling import sample_states
from unswayed.inference.tracing import most_probable_states
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable


@st.composite
def questions(draw):
    """A network, evidence on some of its variables, and a few variables to ask about."""
    network = draw(networks(max_variables=6))
    positions = st.integers(0, len(network) - 1)
    observed = draw(st.sets(positions, max_size=3))
    evidence = {v: draw(st.integers(0, len(network.variables[v]) - 1)) for v in observed}
    asked = draw(st.lists(positions, min_size=1, max_size=4, unique=True))
    return network, evidence, asked


def conditioned(network, evidence):
    """The joint with everything that contradicts the evidence set to zero; not scaled."""
    joint = joint_table(network)
    keep = np.zeros_like(joint)
    cut = tuple(evidence.get(v, slice(None)) for v in range(joint.ndim))
    keep[cut] = joint[cut]
    return keep


def summed_to(joint, positions):
    """The table over `positions`, in that order."""
    return np.einsum(joint, list(range(joint.ndim)), list(positions))


@given(questions())
def test_joint_table_is_the_conditioned_joint_summed(question):
    network, evidence, asked = question
    expected = conditioned(network, evidence)
    if expected.sum() == 0:
        with pytest.raises(ImpossibleEvidence):
            exact_joint(network, asked, evidence)
        return
    found = exact_joint(network, asked, evidence)
    np.testing.assert_allclose(
        found, summed_to(expected / expected.sum(), asked).reshape(-1), rtol=0, atol=EXACT
    )


@given(questions())
def test_probability_of_evidence_is_the_mass_left(question):
    network, evidence, _ = question
    mass = conditioned(network, evidence).sum()
    if mass == 0:
        with pytest.raises(ImpossibleEvidence):
            log_probability(network, evidence)
        return
    assert log_probability(network, evidence) == pytest.approx(np.log(mass), abs=EXACT)


@given(questions())
def test_all_marginals_and_families_match_enumeration(question):
    network, evidence, _ = question
    expected = conditioned(network, evidence)
    if expected.sum() == 0:
        with pytest.raises(ImpossibleEvidence):
            all_marginals(network, evidence)
        return
    expected /= expected.sum()
    singles = all_marginals(network, evidence)
    families = family_marginals(network, evidence)
    for variable in range(len(network)):
        np.testing.assert_allclose(singles[variable], summed_to(expected, [variable]), rtol=0, atol=EXACT)
        family = summed_to(expected, [*network.parents[variable], variable])
        np.testing.assert_allclose(families[variable].reshape(-1), family.reshape(-1), rtol=0, atol=EXACT)


@given(questions())
def test_explanation_is_a_largest_entry_of_the_joint(question):
    network, evidence, _ = question
    expected = conditioned(network, evidence)
    if expected.sum() == 0:
        with pytest.raises(ImpossibleEvidence):
            most_probable_states(network, evidence)
        return
    states, log_value = most_probable_states(network, evidence)
    assert expected[states] == pytest.approx(expected.max(), rel=1e-12)
    assert log_value == pytest.approx(np.log(expected.max()), abs=EXACT)


@given(questions(), st.integers(0, 2**32))
def test_samples_are_possible_and_keep_the_evidence(question, seed):
    network, evidence, _ = question
    expected = conditioned(network, evidence)
    if expected.sum() == 0:
        with pytest.raises(ImpossibleEvidence):
            sample_states(network, 5, evidence, np.random.default_rng(seed))
        return
    states = sample_states(network, 20, evidence, np.random.default_rng(seed))
    assert (expected[tuple(states.T)] > 0).all()


@given(questions(), st.randoms())
def test_order_of_tables_and_names_changes_nothing(question, random):
    from unswayed.model import BayesianNetwork

    network, evidence, asked = question
    if conditioned(network, evidence).sum() == 0:
        return
    shuffled = list(network.cpts)
    random.shuffle(shuffled)
    other = BayesianNetwork(shuffled)
    moved = {v: other.index(network.variables[v].name) for v in range(len(network))}
    np.testing.assert_allclose(
        exact_joint(network, asked, evidence),
        exact_joint(other, [moved[v] for v in asked], {moved[v]: s for v, s in evidence.items()}),
        rtol=0,
        atol=EXACT,
    )


@pytest.mark.parametrize("seed", range(60))
def test_what_is_cut_off_may_still_contradict_the_evidence(seed):
    """In networks that are half deterministic, a posterior is refused just where Pr(evidence) is zero."""
    rng = np.random.default_rng(seed)
    network = half_deterministic(rng)
    asked, *observed = rng.permutation(len(network))[:5].tolist()
    for states in product(range(2), repeat=len(observed)):
        evidence = dict(zip(observed, states, strict=True))
        expected = conditioned(network, evidence)
        if expected.sum() == 0:
            with pytest.raises(ImpossibleEvidence):
                exact_joint(network, [asked], evidence)
        else:
            found = exact_joint(network, [asked], evidence)
            np.testing.assert_allclose(
                found, summed_to(expected / expected.sum(), [asked]), rtol=0, atol=EXACT
            )


def half_deterministic(rng):
    """Six two-state variables of at most two parents; half of the rows are certain."""
    variables = [Variable(f"V{i}", ["a", "b"]) for i in range(6)]
    cpts = []
    for i, child in enumerate(variables):
        parents = [variables[j] for j in sorted(rng.permutation(i)[: rng.integers(0, 3)])]
        n_rows = 2 ** len(parents)
        chances = np.where(rng.random(n_rows) < 0.5, rng.integers(0, 2, n_rows), rng.random(n_rows))
        cpts.append(Cpt(child, parents, np.stack([chances, 1 - chances], axis=1)))
    return BayesianNetwork(cpts)
