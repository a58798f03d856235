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

import unswayed
from dependent_cases import random_tree
from plan_cases import plan_problems
from unswayed.api import plans
from unswayed.core.errors import FormatError, QueryError
from unswayed.core.limits import Limits
from unswayed.core.parallel import Team
from unswayed.core.processes import start_pool
from unswayed.decisions.binding import bind_purchase
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.purchase import Purchase
from unswayed.model.zoo import random_naive_bayes
from unswayed.plans import bounded, parts, prefetch, programme, saved, solution
from unswayed.plans.engine_states import EngineTerrain
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
        ground = lay_ground(problem, bind_purchase(purchase, problem))
        whole = run_programme(ground, goal)
        with small_parts(n_states):
            alone = run_programme(ground, goal)
            together = run_programme(ground, goal, team=Team(pools[kind]))
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
    alone = unswayed.plan(classifier, costs=costs)
    with small_parts(81):
        together = unswayed.plan(classifier, costs=costs, **options)
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
        patch.setattr(prefetch, "ALONE_VISITS", -1)
        if wide:
            patch.setattr(plans, "LARGEST_TABLE", 0.0)
        yield


@pytest.mark.parametrize("kind", ["threads", "processes"])
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_plans_asked_ahead_are_those_of_one_process(kind, wide, seed, pools):
    """To the last bit, for whoever finds an answer gives the same one."""
    classifier = naive(6) if seed == 0 else dependent(seed)
    names = classifier.features
    costs = Purchase({names[1]: 2.0, "pair": 1.5}, groups={"pair": names[2:4]})
    calls = []
    with asking_ahead(wide), pytest.MonkeyPatch.context() as patch:
        alone = unswayed.plan(classifier, costs=costs, at_least=0.99)
        submit = pools[kind].submit
        patch.setattr(pools[kind], "submit", lambda *call: calls.append(call) or submit(*call))
        together = unswayed.plan(classifier, costs=costs, at_least=0.99, executor=pools[kind])
    assert calls
    assert alone.method.startswith("bounded search") or alone.method.startswith("greedy")
    assert (together.tree, together.gap, together.method) == (alone.tree, alone.gap, alone.method)
    assert together.comparisons == alone.comparisons


def test_a_plan_is_the_same_though_a_worker_is_killed():
    """SIGKILL of one of our own processes while it asks ahead."""
    classifier = dependent(1)
    with asking_ahead(wide=True):
        alone = unswayed.plan(classifier, at_least=0.95)
        victim, count = start_pool(2).submit(os.getpid).result(timeout=60), itertools.count()

        def report(_):
            if next(count) == 1:
                os.kill(victim, signal.SIGKILL)

        together = unswayed.plan(classifier, at_least=0.95, jobs=2, report=report)
    assert next(count) > 1
    assert (together.tree, together.gap) == (alone.tree, alone.gap)


def test_time_running_out_leaves_a_plan_with_its_gap(pools):
    """The table is given up, and the bounded search takes what time is left."""
    classifier = naive(7)
    best = unswayed.plan(classifier).expected_cost
    with small_parts(3):
        cut = unswayed.plan(classifier, executor=pools["threads"], limits=Limits(max_seconds=0.05))
    assert cut.expected_cost >= best - 1e-12
    assert cut.gap >= cut.expected_cost - best - 1e-9


def test_jobs_and_executors_are_checked():
    with pytest.raises(QueryError, match="jobs must be a whole number"):
        unswayed.plan(naive(3), jobs=0)
    with pytest.raises(QueryError, match=r"must be a concurrent.futures.Executor"):
        unswayed.plan(naive(3), executor="dask")


@contextmanager
def interrupted_after(n_parts):
    """Ctrl-C is pressed when so many parts are kept."""
    count, add = itertools.count(1), saved.PartFile.add

    def add_and_interrupt(*part):
        add(*part)
        if next(count) == n_parts:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(saved.PartFile, "add", add_and_interrupt)
        yield


@pytest.mark.parametrize("kind", ["alone", "threads"])
def test_a_table_of_values_goes_on_from_its_checkpoint(kind, pools, tmp_path, monkeypatch):
    """Every run adds two parts to those that were filled; the last one comes to the plan of one run."""
    classifier, file = naive(6), tmp_path / "plan.json"
    options = {"checkpoint": file} | ({"executor": pools["threads"]} if kind == "threads" else {})
    n_filled = []
    with small_parts(81):
        whole, fill = unswayed.plan(classifier), parts.fill_part
        monkeypatch.setattr(parts, "fill_part", lambda *part: n_filled.append(1) or fill(*part))
        for _ in range(20):
            with interrupted_after(2):
                found = unswayed.plan(classifier, **options)
            if found.method == "dynamic programming":
                break
        n_parts = len(n_filled)
        again = unswayed.plan(classifier, **options)
    assert len(n_filled) == n_parts
    assert n_parts >= 9 if kind == "threads" else n_parts == 9  # 3^6 states; others fill some more at the end
    assert found.tree == again.tree == whole.tree
    assert found.comparisons == again.comparisons == whole.comparisons
    assert {path.name for path in tmp_path.iterdir()} == {"plan.json", "plan.json.values"}


@pytest.mark.parametrize("wide", [True, False])
def test_a_search_for_a_plan_goes_on_from_its_checkpoint(wide, tmp_path, monkeypatch):
    """What was opened is not opened again, and what engines said is not asked again."""
    classifier, file = dependent(1), tmp_path / "plan.json"
    opened, asked = [], []
    open_place, ask = bounded._open, EngineTerrain._narrow
    monkeypatch.setattr(bounded, "_open", lambda *place: opened.append(place[1]) or open_place(*place))
    monkeypatch.setattr(EngineTerrain, "_narrow", lambda *case: asked.append(case[1]) or ask(*case))
    with asking_ahead(wide):
        whole = unswayed.plan(classifier, at_least=0.99)
        opened.clear()
        asked.clear()
        with pytest.MonkeyPatch.context() as patch:
            walk = bounded._walk
            patch.setattr(bounded, "_walk", lambda *search: len(opened) < 5 and walk(*search))
            cut = unswayed.plan(classifier, at_least=0.99, checkpoint=file)
        assert (len(opened), cut.gap > whole.gap) == (5, True)
        found = unswayed.plan(classifier, at_least=0.99, checkpoint=file)
    assert (found.tree, found.gap) == (whole.tree, whole.gap)
    assert len(set(opened)) == len(opened)
    assert len(asked) - len(set(asked)) <= 0.1 * len(asked)  # of other roundings


def test_the_checkpoint_of_another_plan_is_refused(tmp_path):
    file = tmp_path / "plan.json"
    unswayed.plan(naive(4), checkpoint=file)
    others = [{"at_least": 0.9}, {"costs": {"F1": 2.0}}, {"evidence": {"F1": "s0"}}, {"max_depth": 2}]
    for other in others:
        with pytest.raises(QueryError, match="another classifier, evidence, costs or objective"):
            unswayed.plan(naive(4), checkpoint=file, **other)
    with pytest.raises(QueryError, match="without a checkpoint"):
        unswayed.plan(naive(4), checkpoint=tmp_path / "other.json", max_leaves=3)


def test_damaged_values_are_refused(tmp_path):
    file = tmp_path / "plan.json"
    unswayed.plan(naive(4), checkpoint=file)
    values = tmp_path / "plan.json.values"
    content = bytearray(values.read_bytes())
    content[100] ^= 1
    values.write_bytes(content)
    with pytest.raises(FormatError, match="is a damaged checkpoint"):
        unswayed.plan(naive(4), checkpoint=file)
    values.unlink()
    with pytest.raises(FormatError, match="is a damaged checkpoint"):
        unswayed.plan(naive(4), checkpoint=file)
