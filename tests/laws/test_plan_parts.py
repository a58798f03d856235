"""Plans filled by several workers are the plans of one process, bit for bit."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from plan_cases import plan_problems
from unswayed.api.plans import plan_tests
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.workers import Team
from unswayed.decisions.binding import bind_purchase
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.purchase import Purchase
from unswayed.model.zoo import random_naive_bayes
from unswayed.plans import programme
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
