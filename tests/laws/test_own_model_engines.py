"""People's own models below their inputs: every way to answer holds what enumeration finds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from oracles.own_models import (
    Additive,
    Function,
    TreeSum,
    agreement_by_enumeration,
    enumerate_model,
    problem_of,
    random_wrap,
)
from tolerances import ENGINE
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.engines.boxes import engine as engine_room, oracle as room
from unswayed.engines.boxes.engine import BoxesEngine
from unswayed.engines.protocol import Question, Refusal
from unswayed.engines.sampling import SamplingEngine
from unswayed.inference import expected
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

FEW = range(0, 60)
MANY = range(1000, 11000, 50)


def draw_kept(problem, seed):
    """Up to two inputs to keep."""
    rng = np.random.default_rng(seed)
    if not problem.free:
        return frozenset()
    size = min(len(problem.free), int(rng.integers(0, 3)))
    return frozenset(map(int, rng.choice(problem.free, size, replace=False)))


def ways_of(oracle, tolerance):
    """Every way that the model's kind allows, by name: rows of the kept inputs."""
    model, decider = oracle.case.predictor, oracle.problem.decider
    ways = {"list": oracle.list_rows, "box": lambda kept: oracle.box_rows(kept, tolerance, decider)}
    if isinstance(model, Additive) and len(model.bias) == 1:
        ways["sum"] = lambda kept: oracle.sum_rows(kept, tolerance, decider)
    if isinstance(model, TreeSum) and len(model.leaves.starts) <= 1:
        ways["leaf"] = oracle.leaf_rows
    return ways


def check_case(seed, **shape):
    classifier, evidence = random_wrap(seed, **shape)
    problem = problem_of(classifier, evidence)
    if problem is None:
        return
    kept = draw_kept(problem, seed)
    truth = agreement_by_enumeration(problem, kept, problem.decider)
    oracle = BoxesEngine().prepare(problem)
    order = oracle._order(kept)
    for name, way in ways_of(oracle, 1e-3).items():
        rows = way(order)
        low, high = room._agree(rows, problem.decider)
        assert low - rows.stray - ENGINE <= truth <= high + rows.stray + ENGINE, (seed, name)
        if rows.is_exact and name != "box":  # whose expected prediction may straddle the threshold
            assert high - low <= ENGINE, (seed, name)
    exact = expected.expect_exactly(oracle.case, order)
    listed = expected.expect_listed(oracle.case, order)
    if exact is not None:
        assert exact.mass == pytest.approx(listed.mass, abs=ENGINE), seed
    by_hand = enumerate_model(problem)[()][0]
    assert problem.prior == pytest.approx(by_hand / by_hand.sum(), abs=ENGINE), seed


@pytest.mark.parametrize("start", FEW[::10])
def test_every_way_holds_what_enumeration_finds(start):
    for seed in range(start, start + 10):
        check_case(seed, max_inputs=7, most_completions=300)


@pytest.mark.slow
@pytest.mark.parametrize("start", MANY)
def test_every_way_holds_what_enumeration_finds_in_ten_thousand_wraps(start):
    for seed in range(start, start + 50):
        check_case(seed, max_inputs=12, most_completions=1000)


def large_problem(seed, kind="additive", n_inputs=14):
    """A model whose completions are too many to list by default, and few enough to enumerate."""
    classifier, _ = random_wrap(seed, max_inputs=n_inputs, most_completions=10**9, kind=kind)
    return problem_of(classifier, {})


@pytest.mark.parametrize("kind", ["additive", "boosting", "forest", "tree", "linear"])
@pytest.mark.parametrize("seed", range(4))
def test_the_engine_answers_as_enumeration_does(monkeypatch, kind, seed):
    monkeypatch.setattr(room, "MOST_COMPLETIONS", 0)
    monkeypatch.setattr(expected, "MOST_COMPLETIONS", 0)
    classifier, evidence = random_wrap(seed, max_inputs=7, most_completions=2000, kind=kind)
    problem = problem_of(classifier, evidence)
    if problem is None:
        return
    truth = agreement_by_enumeration(problem, frozenset(), problem.decider)
    found = BoxesEngine().prepare(problem).agreement(frozenset(), problem.decider, 1e-3)
    assert found.low - ENGINE <= truth <= found.high + ENGINE
    assert found.certainty in (Certainty.EXACT, Certainty.BOUND)
    if found.certainty is Certainty.EXACT:
        assert found.high - found.low <= ENGINE


@pytest.mark.parametrize("seed", range(12))
def test_complete_rows_decide_as_the_model_does(seed):
    classifier, _ = random_wrap(seed, max_inputs=6)
    model = classifier.network.cpts[classifier.target_index]
    rng = np.random.default_rng(seed)
    row = {p.name: p.states[int(rng.integers(len(p)))] for p in model.parents}
    problem = problem_of(classifier, row)
    states = np.array([[p.index(row[p.name]) for p in model.parents]])
    assert np.array_equal(problem.prior, model.probabilities(states)[0])
    found = BoxesEngine().prepare(problem).agreement(frozenset(), problem.decider, 1e-3)
    assert (found.low, found.high) == (1.0, 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_a_function_is_asked_for_its_samples_once(monkeypatch, seed):
    monkeypatch.setattr(expected, "MOST_COMPLETIONS", 0)
    classifier, evidence = random_wrap(seed, max_inputs=7, most_completions=300)
    *background, model = classifier.network.cpts
    hidden = Function(model.child, model.parents, model)
    wrapped = Classifier(BayesianNetwork([*background, hidden]), "D", classifier.features, classifier.rule)
    problem = problem_of(wrapped, evidence)
    if problem is None or not problem.free:
        return
    truth = agreement_by_enumeration(problem, frozenset(), problem.decider)
    hidden.asked.clear()
    engine = SamplingEngine(n_samples=5000, confidence=0.9999)
    found = engine.prepare(problem).agreement(frozenset(), problem.decider, 0.0)
    assert sum(hidden.asked) <= 5000
    assert found.low <= truth <= found.high
    monkeypatch.setattr(engine_room, "MOST_COMPLETIONS", 0)
    assert isinstance(BoxesEngine().cost(problem, Question(frozenset(), tolerance=1e-3)), Refusal)


@pytest.mark.parametrize("kind", ["additive", "boosting", "forest", "tree", "linear"])
@pytest.mark.parametrize("seed", range(4))
def test_every_single_input_holds_what_enumeration_finds(monkeypatch, kind, seed):
    monkeypatch.setattr(room, "MOST_COMPLETIONS", 0)
    monkeypatch.setattr(expected, "MOST_COMPLETIONS", 0)
    classifier, evidence = random_wrap(seed, max_inputs=7, most_completions=2000, kind=kind)
    problem = problem_of(classifier, evidence)
    if problem is None:
        return
    found = BoxesEngine().prepare(problem).singles(problem.decider, 1e-3)
    assert set(found) == set(problem.free)
    for feature, single in found.items():
        truth = agreement_by_enumeration(problem, frozenset({feature}), problem.decider)
        assert single.agreement.low - ENGINE <= truth <= single.agreement.high + ENGINE, feature
        assert (single.least <= single.most + ENGINE).all()
        wrong = 1.0 - truth
        assert single.least.sum() - ENGINE <= wrong <= single.most.sum() + ENGINE


def test_forty_inputs_of_a_sum_are_ranked_in_one_pass():
    rng = np.random.default_rng(0)
    inputs = tuple(Variable(f"x{i}", ["a", "b", "c"]) for i in range(40))
    background = [Cpt(inputs[0], (), rng.dirichlet(np.ones(3)))]
    background += [Cpt(b, (a,), rng.dirichlet(np.ones(3), 3)) for a, b in itertools.pairwise(inputs)]
    terms = tuple(rng.normal(size=(3, 1)) for _ in inputs)
    model = Additive(Variable("D", ["no", "yes"]), inputs, terms, np.zeros(1), "logit")
    names = [each.name for each in inputs]
    classifier = Classifier(BayesianNetwork([*background, model]), "D", names, threshold=0.3, positive="yes")
    problem = problem_of(classifier, {})
    oracle = BoxesEngine().prepare(problem)
    found = oracle.singles(problem.decider, 1e-3)
    for feature in problem.free[::13]:
        alone = oracle.agreement(frozenset({feature}), problem.decider, 1e-3)
        both = found[feature].agreement
        assert both.high - both.low <= 1e-3
        assert both.low - ENGINE <= alone.high
        assert alone.low <= both.high + ENGINE
