"""The auction: the cheapest engine wins, pricing never raises, and who cannot prepare makes room."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest

import unswayed
from clocks import time_running_out
from dependent_cases import random_tree
from unswayed import Limits, ThresholdRule
from unswayed.api import questions
from unswayed.core.anytime import portion, within
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.engines import choice
from unswayed.engines.choice import ENGINES, choose
from unswayed.engines.dense import DenseEngine
from unswayed.engines.groups import GROUPS
from unswayed.engines.protocol import Cost, Needs, Question
from unswayed.model.zoo import random_naive_bayes


def tree_problem(n, **options):
    network = random_tree(np.random.default_rng(n), n, sizes=(2, 3))
    return make_problem(Classifier(network, "C", network.names[1:], ThresholdRule("c0", 0.5)), **options)


@dataclass(frozen=True, slots=True)
class StubbornEngine:
    """Bids least and then finds that it cannot."""

    name: str = "stubborn"
    certainty: Certainty = Certainty.EXACT
    least_seconds: float = 0.0
    fails_to_price: bool = False
    seconds: float = 1e-9

    def cost(self, problem, question):
        if self.fails_to_price:
            raise LimitError("too dense to plan")
        return Cost(self.seconds, 1.0)

    def prepare(self, problem):
        raise LimitError("no room after all")


@pytest.mark.parametrize(("n", "name"), [(12, "dense"), (14, "dense"), (20, "weights"), (34, "weights")])
def test_dependent_features_go_to_the_table_or_to_two_lists(n, name):
    assert choose(tree_problem(n), Question(frozenset())).engine.name == name


def test_what_cannot_be_priced_is_refused():
    chosen = choose(
        tree_problem(6), Question(frozenset()), engines=(StubbornEngine(fails_to_price=True), DenseEngine())
    )
    assert chosen.engine.name == "dense"
    assert chosen.bids[0].note == "too dense to plan"


def test_what_cannot_be_prepared_leaves_the_answer_to_the_next(monkeypatch):
    engines = (StubbornEngine(), DenseEngine())
    monkeypatch.setattr(questions, "choose", lambda *a, **k: choose(*a, **{**k, "engines": engines}))
    problem = tree_problem(6)
    found = unswayed.sdp(problem.classifier)
    assert found.engine == "dense"
    assert found.bids[0].note == "no room after all"
    assert found.value == unswayed.sdp(problem.classifier, engine=DenseEngine()).value


def test_engines_that_cannot_be_cheaper_are_not_priced():
    network = random_naive_bayes(20, np.random.default_rng(0))
    problem = make_problem(Classifier(network, "C", None, ThresholdRule("s0", 0.5)))
    lazy, full = (choose(problem, Question(frozenset()), all_bids=wanted) for wanted in (False, True))
    assert lazy.engine == full.engine
    notes = {bid.engine: bid.note for bid in lazy.bids}
    assert notes["circuit"] == "not asked: it cannot be cheaper"
    assert [bid.engine for bid in full.bids] == [engine.name for engine in ENGINES]
    assert not any("not asked" in bid.note for bid in full.bids)


def test_pricing_makes_no_large_table():
    """A group of 21 dependent features is priced by its size alone."""
    problem = tree_problem(21)
    for engine in ENGINES:
        engine.cost(problem, Question(frozenset(), tolerance=1e-3))
    assert not problem.memo.all(GROUPS)


def test_one_engine_values_all_features(monkeypatch):
    priced = []
    original = choice.choose

    def counted(problem, question, **options):
        priced.append(question.needs)
        return original(problem, question, **options)

    monkeypatch.setattr(questions, "choose", counted)
    unswayed.voi(tree_problem(10).classifier)
    assert priced.count(Needs.AGREEMENT) == priced.count(Needs.SINGLES) == 1


def test_least_prices_are_least():
    for n in (1, 3, 8):
        problem = tree_problem(n)
        for engine in ENGINES:
            price = engine.cost(problem, Question(frozenset(), tolerance=0.1))
            assert not isinstance(price, Cost) or price.seconds >= engine.least_seconds


def test_limits_reach_the_preparation():
    problem = tree_problem(21)
    with pytest.raises(LimitError, match="no engine can answer"):
        unswayed.sdp(problem.classifier, limits=Limits(max_bytes=20_000))


def test_pricing_keeps_to_the_memory_allowed():
    """Features that depend on each other through a tree: their joint table would take far more."""
    classifier = Classifier(random_tree(np.random.default_rng(3), 21, sizes=(2, 3)), "C")
    limits = Limits(max_bytes=20_000_000)
    tracemalloc.start()
    try:
        with within(limits):
            problem = make_problem(classifier)
        with within(limits):
            choose(problem, Question(frozenset(), tolerance=0.05), all_bids=True)
        assert tracemalloc.get_traced_memory()[1] <= 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("given", "left", "advised"), [(None, 1e9, 288), (145.0, 72.0, 290), (300.0, 72.5, 0)]
)
def test_a_limit_that_is_in_the_way_is_named_with_what_suffices(given, left, advised):
    """A part of an answer has a share of the time: what it leaves decides, not the limit on the whole."""
    engines = (StubbornEngine(seconds=72.0 if advised else 1e-9, fails_to_price=not advised),)
    given_then_left = within(Limits(max_seconds=given)), portion(seconds=left)
    with time_running_out(), given_then_left[0], given_then_left[1], pytest.raises(LimitError) as caught:
        choose(tree_problem(3), Question(frozenset()), engines=engines)
    advice = f"raise the limits: that on time (max_seconds) to {advised} s"
    assert (advice in str(caught.value)) == bool(advised)
    assert ("raise the limits" in str(caught.value)) == bool(advised)


@pytest.mark.parametrize(
    ("old", "new"),
    [("log_odds", "weights"), ("lists", "weights"), ("bounds", "sums"), ("contexts", "circuit")],
)
def test_an_engine_of_an_old_name_is_told_by_its_new_one(old, new):
    with pytest.raises(QueryError, match=f"unknown engine '{old}'; did you mean '{new}'"):
        choice.engine_called(old)
