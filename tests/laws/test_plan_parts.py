"""Plans filled by several workers are the plans of one process, bit for bit."""

from __future__ import annotations

import itertools
import os
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dependent_cases import random_tree
from plan_cases import plan_problems
from unswayed.api import plans
from unswayed.api.plans import plan_tests
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.workers import Team, start_pool
from unswayed.decisions.binding import bind_purchase
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.purchase import Purchase
from unswayed.model.zoo import random_naive_bayes
from unswayed.plans import ahead, programme, solution
from unswayed.plans.goals import Goal, PlanObjective, SameDecisionLevel
from unswayed.plans.ground import lay_ground
from unswayed.plans.programme import run_programme

OBJECTIVES = [PlanObjective.EXPECTED_COST, PlanObjective.WORST_COST, PlanObjective.SAME_DECISION]


@contextmanager
def small_parts(n_states):
    """Parts of so many states, and help from the first moment on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programme, "LARGEST_PART", n_states)
        patch.setattr(programme, "ALONE_SECONDS", -1.0)
        yield


@pytest.fixture(scope="module")
def pools():
    pool = ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    with ThreadPoolExecutor(3) as threads, pool as processes:
        yield {"threads": threads, "processes": processes}


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_values_are_those_of_one_process(kind, pools):
    @settings(max_examples=25, deadline=None)
    @given(plan_problems(max_features=4), st.sampled_from(OBJECTIVES), st.sampled_from([1, 3, 10]))
    def check(case, objective, n_states):
        problem, purchase, level = case
        goal = Goal(objective, SameDecisionLevel(level))
        ground = lay_ground(problem, bind_purchase(purchase, problem), DEFAULT_LIMITS)
        whole = run_programme(ground, goal, DEFAULT_LIMITS)
        with small_parts(n_states):
            alone = run_programme(ground, goal, DEFAULT_LIMITS)
            together = run_programme(ground, goal, DEFAULT_LIMITS, team=Team(pools[kind]))
        assert np.array_equal(alone.values.first, together.values.first)
        assert np.array_equal(alone.values.second, together.values.second)
        assert np.array_equal(alone.fixed.loss, together.fixed.loss)
        assert np.array_equal(alone.fixed.agreement, together.fixed.agreement)
        # Other parts add the same masses in another order.
        assert whole.values.first == pytest.approx(together.values.first, abs=1e-12)
        assert whole.fixed.loss == pytest.approx(together.fixed.loss, abs=1e-12)

    check()


def naive(n_features):
    return Classifier(
        random_naive_bayes(n_features, np.random.default_rng(1)), "C", threshold=0.5, positive="s0"
    )


@pytest.mark.parametrize("options", [{"jobs": 2}, {"executor": "threads"}])
def test_plans_are_those_of_one_process(options, pools):
    if "executor" in options:
        options = {"executor": pools[options["executor"]]}
    classifier, costs = naive(7), Purchase({"F1": 2.0, "F4": 0.5})
    alone = plan_tests(classifier, costs=costs)
    with small_parts(81):
        together = plan_tests(classifier, costs=costs, **options)
    assert (together.tree, together.optimal, together.method) == (alone.tree, True, "dynamic programming")
    assert together.comparisons == alone.comparisons


def dependent(seed):
    """Features in groups, trees and chains, some of more than two states; with ties every other time."""
    rng = np.random.default_rng(seed)
    network = random_tree(rng, 7, sizes=(2, 3))
    state = network.variables[0].states[0]
    return Classifier(network, network.names[0], network.names[1:], threshold=0.5, positive=state)


@contextmanager
def asking_ahead(wide):
    """Without tables of values, or of features either; others ask from the first moment on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solution, "MOST_TESTS", 0)
        patch.setattr(ahead, "ALONE_SECONDS", -1.0)
        if wide:
            patch.setattr(plans, "LARGEST_TABLE", 0.0)
        yield


@pytest.mark.parametrize("kind", ["threads", "processes"])
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_plans_asked_ahead_are_those_of_one_process(kind, wide, seed, pools):
    """To the last bit, for whoever finds an answer gives the same one."""
    classifier = naive(6) if seed == 0 else dependent(seed)
    names = classifier.features
    costs = Purchase({names[1]: 2.0, "pair": 1.5}, groups={"pair": names[2:4]})
    calls = []
    with asking_ahead(wide), pytest.MonkeyPatch.context() as patch:
        alone = plan_tests(classifier, costs=costs, at_least=0.99)
        submit = pools[kind].submit
        patch.setattr(pools[kind], "submit", lambda *call: calls.append(call) or submit(*call))
        together = plan_tests(classifier, costs=costs, at_least=0.99, executor=pools[kind])
    assert calls
    assert alone.method.startswith("bounded search") or alone.method.startswith("greedy")
    assert (together.tree, together.gap, together.method) == (alone.tree, alone.gap, alone.method)
    assert together.comparisons == alone.comparisons


def test_a_plan_is_the_same_though_a_worker_is_killed():
    """SIGKILL of one of our own processes while it asks ahead."""
    classifier = dependent(1)
    with asking_ahead(wide=True):
        alone = plan_tests(classifier, at_least=0.95)
        victim, count = start_pool(2).submit(os.getpid).result(), itertools.count()

        def report(_):
            if next(count) == 1:
                os.kill(victim, signal.SIGKILL)

        together = plan_tests(classifier, at_least=0.95, jobs=2, report=report)
    assert next(count) > 1
    assert (together.tree, together.gap) == (alone.tree, alone.gap)


def test_time_running_out_leaves_a_plan_with_its_gap(pools):
    """The table is given up, and the bounded search takes what time is left."""
    classifier = naive(7)
    best = plan_tests(classifier).expected_cost
    with small_parts(3):
        cut = plan_tests(classifier, executor=pools["threads"], limits=Limits(max_seconds=0.05))
    assert cut.expected_cost >= best - 1e-12
    assert cut.gap >= cut.expected_cost - best - 1e-9


def test_jobs_and_executors_are_checked():
    with pytest.raises(QueryError, match="jobs must be a whole number"):
        plan_tests(naive(3), jobs=0)
    with pytest.raises(QueryError, match=r"must be a concurrent.futures.Executor"):
        plan_tests(naive(3), executor="dask")
