"""Random wrapped models of every kind against enumeration: values as they are, ties, mixtures, functions.

The slow test runs ten thousand of them; `MANY` says which.
"""

import math

import numpy as np
import pytest

from oracles.own_models import agreement_by_enumeration, random_rule
from predictor_cases import WORDS, below_background, random_predictor
from tolerances import ENGINE
from unswayed.api.decisions import agreement_of, decide, esdp, sdp
from unswayed.core.measurement import Certainty
from unswayed.decisions.problem import make_problem
from unswayed.engines.boxes import engine as engine_room, oracle as oracle_room
from unswayed.inference import expected, predictors
from unswayed.model.evidence import observe
from unswayed.model.nodes.black_box import BlackBoxCpt
from unswayed.reasons.case import decider_of, explained_decision
from unswayed.reasons.oracle import make_subset_oracle

MOST_COMPLETIONS = 1500
MANY = range(1000, 11000, 50)


def as_function(cpt):
    """The same model as a function whose inside is not known."""

    def ask(batch):
        return cpt.predict([batch[parent.name] for parent in cpt.parents])

    return BlackBoxCpt(cpt.child, cpt.parents, cpt.inputs, ask)


def random_case(seed, most_inputs):
    """A wrapped model, and evidence in raw values."""
    rng = np.random.default_rng(seed)
    cpt = random_predictor(rng, int(rng.integers(1, most_inputs + 1)))
    if rng.random() < 0.2:
        cpt = as_function(cpt)
    kind = ["tree", "mixture"][int(rng.random() < 0.4)]
    classifier = below_background(cpt, rng, kind, random_rule(rng, cpt.child))
    sizes, evidence = [len(p) for p in cpt.parents], {}
    wanted = int(rng.integers(0, len(sizes) + 1))
    for place in rng.permutation(len(sizes)).tolist():
        left = math.prod(s for i, s in enumerate(sizes) if cpt.parents[i].name not in evidence)
        if len(evidence) >= wanted and left <= MOST_COMPLETIONS:
            break
        evidence[cpt.parents[place].name] = (
            str(rng.choice(WORDS))
            if cpt.inputs[place].words
            else float(rng.integers(-14, 15) / 4 if rng.random() < 0.7 else rng.normal(0, 3))
        )
    return classifier, evidence


def enumerate_values(classifier, evidence, kept=()):
    """Rows of the kept inputs: masses of classes and of decisions, every completion by itself."""
    network = classifier.network
    cpt, seen = network.cpts[classifier.target_index], observe(network, evidence).states
    others = [v for v in range(len(network)) if v != classifier.target_index]
    grids = [[seen[v]] if v in seen else range(len(network.variables[v])) for v in others]
    states = np.zeros((math.prod(map(len, grids)), len(network)), dtype=np.int64)
    states[:, others] = np.stack([each.reshape(-1) for each in np.meshgrid(*grids, indexing="ij")], axis=1)
    mass = np.ones(len(states))
    for v in others:
        table = network.cpts[v].probabilities(states[:, list(network.parents[v])])
        mass *= table[np.arange(len(states)), states[:, v]]
    columns = [
        [evidence.get(parent.name, each.values[s]) for s in states[:, network.index(parent.name)].tolist()]
        for parent, each in zip(cpt.parents, cpt.inputs, strict=True)
    ]
    model = cpt.function.__closure__[0].cell_contents if isinstance(cpt, BlackBoxCpt) else cpt
    shares = model.predict(columns)
    chosen = np.eye(len(classifier.actions))[classifier.decider.decide(shares)]
    _, row = np.unique(states[:, [network.index(name) for name in kept]], axis=0, return_inverse=True)
    weights = mass / mass.sum()
    row = row.reshape(-1)
    classes = np.stack([np.bincount(row, weights * share) for share in shares.T], axis=1)
    return classes, np.stack([np.bincount(row, weights * each) for each in chosen.T], axis=1)


def agreement(classifier, evidence, kept=()):
    classes, decided = enumerate_values(classifier, evidence, kept)
    return float(decided[np.arange(len(classes)), classifier.decider.decide(classes)].sum())


def holds(measured, truth):
    return measured.low - ENGINE <= truth <= measured.high + ENGINE


def check_case(seed, most_inputs):
    classifier, evidence = random_case(seed, most_inputs)
    rng = np.random.default_rng(seed)
    problem = make_problem(classifier, evidence)
    prior = enumerate_values(classifier, evidence)[0][0]
    within = 2.0 * problem.prior_doubt if problem.prior_doubt else ENGINE
    assert problem.prior == pytest.approx(prior, abs=within), seed
    options = (
        {"allow_estimates": True} if isinstance(problem.network.cpts[problem.target], BlackBoxCpt) else {}
    )
    found = sdp(classifier, evidence, **options)
    if found.certainty is not Certainty.ESTIMATE:
        assert holds(found, agreement(classifier, evidence)), seed
        if found.certainty is Certainty.EXACT:
            assert found.high - found.low <= ENGINE, seed
    free = [name for name in classifier.features if name not in evidence]
    kept = rng.choice(free, min(len(free), int(rng.integers(0, 3))), replace=False).tolist() if free else []
    if kept:
        found = esdp(classifier, evidence, kept=kept, **options)
        assert found.certainty is Certainty.ESTIMATE or holds(found, agreement(classifier, evidence, kept)), (
            seed
        )
    if not free:
        cpt = classifier.network.cpts[classifier.target_index]
        own = cpt.predict([[evidence[p.name]] for p in cpt.parents])
        assert decide(classifier, evidence).action == classifier.actions[classifier.decider.decide(own)[0]], (
            seed
        )
    check_reasons(problem, rng, seed)


def check_reasons(problem, rng, seed):
    """The SDP of subsets of the findings, conditioned rather than asked anew."""
    explained = explained_decision(problem)

    def ask(asked, decider, tolerance):
        return agreement_of(asked, frozenset(), decider, {"tolerance": max(tolerance, 1e-3)})

    oracle = make_subset_oracle(explained, ask)
    if oracle.model is None:
        return
    subset = frozenset(v for v in explained.findings if rng.random() < 0.5)
    truth = agreement_by_enumeration(explained.at(subset), frozenset(), decider_of(explained))
    assert holds(oracle.measure(subset), truth), seed


@pytest.fixture
def is_large(monkeypatch):
    """Every model counts as one of so many inputs that nothing can be listed."""
    monkeypatch.setattr(predictors, "TABLE_CELLS", 0)
    for room in (predictors, expected, oracle_room, engine_room):
        monkeypatch.setattr(room, "MOST_COMPLETIONS", 0)
    monkeypatch.setattr(oracle_room, "MOST_UNITS", 1e5)


@pytest.mark.parametrize("start", range(0, 100, 20))
def test_answers_hold_what_enumeration_finds(start):
    for seed in range(start, start + 20):
        check_case(seed, most_inputs=8)


@pytest.mark.parametrize("start", range(100, 150, 10))
def test_answers_about_many_inputs_hold_what_enumeration_finds(start, is_large):
    for seed in range(start, start + 10):
        check_case(seed, most_inputs=8)


@pytest.mark.slow
@pytest.mark.parametrize("start", MANY)
def test_ten_thousand_wraps_hold_what_enumeration_finds(start, request):
    if start % 100:
        request.getfixturevalue("is_large")
    for seed in range(start, start + 50):
        check_case(seed, most_inputs=12)
