"""Soft findings against the definition: the joint distribution weighed state by state."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import unswayed
from oracles.enumerate_joint import joint_table
from oracles.enumerate_profile import decide as decide_by_words
from strategies import classifiers, networks
from tolerances import ENGINE, EXACT
from unswayed.api.decisions import decide
from unswayed.api.networks import joint, posterior, probability, sample
from unswayed.core.measurement import Certainty
from unswayed.decisions.problem import make_problem
from unswayed.engines.choice import ENGINES
from unswayed.engines.protocol import Question, Refusal
from unswayed.model.evidence import observe, read_evidence
from unswayed.model.network import BayesianNetwork


@st.composite
def findings(draw: st.DrawFn, network: BayesianNetwork, *, without: str = ""):
    """Evidence of every kind, and the likelihoods it stands for by definition."""
    evidence, weights = {}, {}
    for variable in network.variables:
        kind = draw(st.sampled_from(["nothing", "none", "state", "some", "not", "likelihoods"]))
        if kind == "nothing" or variable.name == without:
            continue
        states = draw(st.lists(st.sampled_from(variable.states), min_size=1, unique=True))
        likelihood = dict.fromkeys(variable.states, 0.0)
        if kind == "none":
            evidence[variable.name] = draw(st.sampled_from([None, float("nan")]))
            continue
        if kind == "state":
            evidence[variable.name] = states[0]
            likelihood[states[0]] = 1.0
        elif kind == "some":
            evidence[variable.name] = draw(st.sampled_from([list, tuple, set]))(states)
            likelihood |= dict.fromkeys(states, 1.0)
        elif kind == "not":
            others = [state for state in variable.states if state != states[0]]
            evidence[variable.name] = others
            assume(others)
            likelihood |= dict.fromkeys(others, 1.0)
        else:
            numbers = draw(st.lists(st.integers(0, 10), min_size=len(states), max_size=len(states)))
            assume(any(numbers))
            evidence[variable.name] = {s: n / 10 for s, n in zip(states, numbers, strict=True)}
            likelihood |= evidence[variable.name]
        weights[variable.name] = np.array([likelihood[s] for s in variable.states])
    return evidence, weights


def weighed_joint(network: BayesianNetwork, weights) -> np.ndarray:
    """Pr(x) times the likelihood of every finding in x, largest likelihood 1."""
    table = joint_table(network)
    for name, likelihood in weights.items():
        shape = [-1 if i == network.index(name) else 1 for i in range(len(network))]
        table = table * (likelihood / likelihood.max()).reshape(shape)
    return table


@given(networks(5), st.data())
def test_inference_with_soft_findings_is_the_weighed_joint(network, data):
    evidence, weights = data.draw(findings(network))
    table = weighed_joint(network, weights)
    assume(table.sum() > 0)
    total = table.sum()
    everything = unswayed.posterior(network, evidence)
    assert list(everything) == list(network.names)
    for i, variable in enumerate(network.variables):
        expected = table.sum(axis=tuple(j for j in range(len(network)) if j != i)) / total
        found = posterior(network, evidence, of=variable.name)
        assert list(found.values()) == pytest.approx(expected, abs=EXACT)
        assert list(everything[variable.name].values()) == pytest.approx(expected, abs=EXACT)
    # Equal likelihoods of all states count as no finding at all; else the largest likelihood is 1.
    assert probability(network, evidence) == pytest.approx(total, rel=1e-9)
    whole = joint(network, network.names, evidence)
    assert whole.as_array() == pytest.approx(table / total, abs=EXACT)


@given(networks(5), st.data())
def test_the_most_probable_explanation_respects_soft_findings(network, data):
    evidence, weights = data.draw(findings(network))
    table = weighed_joint(network, weights)
    assume(table.sum() > 0)
    found = unswayed.mpe(network, evidence)
    assert math.exp(found.log_probability) == pytest.approx(table.max(), rel=1e-9)
    assert set(found.states) <= set(network.names)
    drawn = sample(network, 5, evidence, rng=np.random.default_rng(0))
    assert drawn.variables == network.variables
    for row in drawn.codes.tolist():
        assert table[tuple(row)] > 0


def sdp_by_definition(classifier, table, free) -> float:
    """The share of the weighed joint in which all free features lead to the decision of now."""
    network = classifier.network
    target = network.variables[classifier.target_index]
    axes = [*free, classifier.target_index]
    mass = np.einsum(table, list(range(table.ndim)), axes) / table.sum()
    now = decide_by_words(
        classifier.rule, target, np.einsum(mass, list(range(mass.ndim)), [mass.ndim - 1]).tolist()
    )
    share = 0.0
    for states in product(*map(range, mass.shape[:-1])):
        total = float(mass[states].sum())
        if total > 0 and decide_by_words(classifier.rule, target, (mass[states] / total).tolist()) == now:
            share += total
    return share


@given(classifiers(4), st.data())
def test_decisions_with_soft_findings_follow_the_definition(classifier, data):
    """Features with soft findings may still be observed; every engine agrees with the definition."""
    network = classifier.network
    evidence, weights = data.draw(findings(network))
    table = weighed_joint(network, weights)
    assume(table.sum() > 0)
    assume(np.count_nonzero(weights.get(classifier.target, np.ones(2))) > 1)
    fixed = {name for name, likelihood in weights.items() if np.count_nonzero(likelihood) == 1}
    free = [network.index(name) for name in classifier.features if name not in fixed]
    expected = sdp_by_definition(classifier, table, free)
    assert unswayed.sdp(classifier, evidence).value == pytest.approx(expected, abs=ENGINE)
    problem = make_problem(classifier, evidence)
    assert problem.free == tuple(free)
    for engine in ENGINES:
        refused = isinstance(engine.cost(problem, Question(frozenset())), Refusal)
        if engine.certainty is Certainty.EXACT and not refused:
            found = unswayed.sdp(classifier, evidence, engine=engine).value
            assert found == pytest.approx(expected, abs=ENGINE), engine.name


@given(classifiers(3), st.data())
def test_evidence_written_as_text_asks_the_same_question(classifier, data):
    evidence, weights = data.draw(findings(classifier.network, without=classifier.target))
    assume(weighed_joint(classifier.network, weights).sum() > 0)
    texts = read_evidence(classifier.network, evidence)
    assert read_evidence(classifier.network, texts) == texts
    assert decide(classifier, texts) == decide(classifier, evidence)
    kept = [name for name in classifier.features if name not in texts]
    one = unswayed.esdp(classifier, evidence, kept=kept).value
    assert one == unswayed.esdp(classifier, texts, kept=kept).value


@given(networks(4), st.data())
def test_texts_survive_any_names(network, data):
    """Names of states may hold every mark of the grammar; likelihoods come back to the last digit."""
    evidence, _ = data.draw(findings(network))
    texts = read_evidence(network, evidence)
    one, two = observe(network, evidence), observe(network, texts)
    assert one.states == two.states
    assert one.network == two.network
