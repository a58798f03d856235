"""Searches on any executor: the answer of one process, to the last tie, whoever helps and whatever breaks."""

from __future__ import annotations

import itertools
import json
import os
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import unswayed
from laws.test_search import answers, compiled_at_once, purchases, reporting_always
from unswayed import Limits, ThresholdRule
from unswayed.core.processes import start_pool
from unswayed.decisions.purchase import SetUp
from unswayed.decisions.rewards import CustomReward
from unswayed.model.zoo import random_naive_bayes
from unswayed.search import nodes, plan
from unswayed.search.naive_bayes import grid_search, incumbent as grid_branches
from unswayed.search.signed import slices as signed_search


@contextmanager
def dask_cluster():
    distributed = pytest.importorskip("distributed")
    # Nanny processes are what survives SIGKILL; no dashboard, so no port is taken.
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def helpers():
    """Options for each kind of help; started when first asked for."""
    with ThreadPoolExecutor(2) as threads:
        pool = ProcessPoolExecutor(2, mp_context=get_context("spawn"))
        with pool as processes:
            yield {"threads": {"executor": threads}, "processes": {"executor": processes}, "own": {"jobs": 2}}


@contextmanager
def many_slices(work=2000):
    """Searches in as many slices as can be, from the first moment on."""
    with compiled_at_once(work=work, alone=-1.0), pytest.MonkeyPatch.context() as patch:
        patch.setattr(signed_search, "STEPS_PER_SLICE", 1)
        patch.setattr(nodes, "ALONE_UNITS", -1.0)
        patch.setattr(nodes, "SLICE_UNITS", 0.0)
        patch.setattr(nodes, "STEP_UNITS", 0.0)
        yield


def naive(n_features, seed):
    network = random_naive_bayes(n_features, np.random.default_rng(seed))
    return unswayed.Classifier(network, "C", None, ThresholdRule("s0", 0.5))


def told(selection):
    return selection.kept, selection.value, selection.cost, selection.optimal


@pytest.mark.parametrize("kind", ["threads", "processes", "own"])
def test_any_executor_gives_the_answer_of_one_process(kind, helpers):
    @settings(max_examples=15 if kind == "own" else 40, deadline=None)
    @given(purchases(), st.sampled_from([1, 2000]))
    def check(purchase, work):
        with compiled_at_once():
            alone = answers(*purchase)
        with many_slices(work):
            together = answers(*purchase, **helpers[kind])
        assert [told(each) for each in alone[:2]] == [told(each) for each in together[:2]]
        assert alone[2] == together[2]

    check()


PURCHASE = unswayed.Purchase(
    {"F1": 2.0, "F4": 0.5, "pair": 1.0},
    groups={"pair": ("F2", "F3")},
    set_ups={"visit": SetUp(0.5, ("F5", "F6"))},
    needs={"F7": ("F4",)},
)


@pytest.mark.parametrize("kind", ["threads", "processes", "own"])
def test_searches_node_by_node_give_the_answer_of_one_process(kind, helpers):
    """Rewards and purchases have no compiled search."""
    classifier = naive(8, 2)
    asked = [
        {"objective": unswayed.NegativeEntropy()},
        {"costs": PURCHASE},
        {"costs": PURCHASE, "objective": unswayed.NegativeEntropy()},
    ]
    for question in asked:
        alone = unswayed.select(classifier, budget=3, **question)
        with many_slices():
            together = unswayed.select(classifier, budget=3, **question, **helpers[kind])
        assert told(alone) == told(together)


@pytest.mark.parametrize("question", [{"objective": unswayed.NegativeEntropy()}, {"costs": PURCHASE}])
def test_a_search_node_by_node_goes_on_from_its_checkpoint(question, tmp_path):
    classifier, file = naive(8, 3), tmp_path / "search.json"
    whole = unswayed.select(classifier, budget=3, **question)
    with many_slices(), reporting_always():
        n_runs, found = 0, None
        while n_runs < 150 and (found is None or found.interrupted):
            n_runs += 1
            found = unswayed.select(
                classifier, budget=3, checkpoint=file, report=interrupted_after(10), **question
            )
    assert 2 < n_runs < 150
    assert told(found) == told(whole)


@pytest.mark.parametrize("kind", ["threads", "processes", "own"])
def test_frontiers_are_the_same_on_any_executor(kind, helpers):
    classifier = naive(9, 4)
    costs = {"F1": 2.0, "F3": 0.5, "F5": 0.5}
    with compiled_at_once():
        alone = unswayed.frontier(classifier, costs=costs)
    with many_slices():
        together = unswayed.frontier(classifier, costs=costs, **helpers[kind])
    assert [told(point.selection) for point in alone.points] == [told(p.selection) for p in together.points]


@pytest.mark.slow
def test_a_cluster_gives_the_answer_of_one_process_though_a_worker_is_killed():
    with dask_cluster() as client, client.get_executor(retries=2) as executor:
        for classifier, budget in ((naive(8, 1), 3), (naive(12, 2), 5)):
            with compiled_at_once():
                alone = unswayed.trim(classifier, budget=budget).selection
            with many_slices():
                assert told(unswayed.trim(classifier, budget=budget, executor=executor).selection) == told(
                    alone
                )
        victim = client.submit(os.getpid).result(timeout=60)
        with many_slices(50), reporting_always():
            report, n_reports = killing_at_second_report(victim)
            found = unswayed.trim(classifier, budget=budget, executor=executor, report=report).selection
        assert next(n_reports) > 2
        assert told(found) == told(alone)


def test_a_killed_process_changes_no_answer():
    """SIGKILL in the middle of a search, of one of our own processes."""
    classifier = naive(12, 3)
    with compiled_at_once():
        alone = unswayed.trim(classifier, budget=5).selection
    with many_slices(200), reporting_always():
        report, n_reports = killing_at_second_report(start_pool(2).submit(os.getpid).result(timeout=60))
        found = unswayed.trim(classifier, budget=5, jobs=2, report=report).selection
    assert next(n_reports) > 2
    assert told(found) == told(alone)


def killing_at_second_report(victim):
    """A report that ends a process, by SIGKILL in the middle of a search, and how often it was called."""
    count = itertools.count()

    def report(*_):
        if next(count) == 1:
            os.kill(victim, signal.SIGKILL)

    return report, count


def interrupted_after(n_reports):
    """A report that presses Ctrl-C."""
    count = itertools.count()

    def report(*_):
        if next(count) == n_reports:
            raise KeyboardInterrupt

    return report


@pytest.mark.parametrize("kind", ["alone", "threads"])
@pytest.mark.parametrize("n_reports", [0, 1, 5, 20])
def test_an_interrupted_search_goes_on_from_its_checkpoint(kind, n_reports, helpers, tmp_path):
    classifier, file = naive(11, 5), tmp_path / "search.json"
    options = {"checkpoint": file, **helpers.get(kind, {})}
    with compiled_at_once():
        whole = unswayed.trim(classifier, budget=4).selection
    with many_slices(500), reporting_always():
        cut = unswayed.trim(classifier, budget=4, report=interrupted_after(n_reports), **options).selection
        assert cut.value <= whole.value <= cut.upper_bound + 1e-12
        if cut.interrupted and n_reports > 0:  # before the first report nothing was searched
            assert json.loads(file.read_text())["searches"]
        resumed = unswayed.trim(classifier, budget=4, **options).selection
        assert told(resumed) == told(whole)
        again = unswayed.trim(classifier, budget=4, **options).selection
    assert told(again) == told(whole)
    assert list(tmp_path.iterdir()) == [file]


def test_work_that_was_done_is_not_done_again(tmp_path):
    """Cut again and again, a search comes to its end: every run adds to what is saved."""
    classifier, file = naive(11, 6), tmp_path / "search.json"
    with many_slices(500), reporting_always():
        whole = unswayed.trim(classifier, budget=4).selection
        n_runs, cut = 0, None
        while n_runs < 150 and (cut is None or cut.interrupted):
            n_runs += 1
            cut = unswayed.trim(classifier, budget=4, checkpoint=file, report=interrupted_after(6)).selection
    assert 3 < n_runs < 150
    assert told(cut) == told(whole)


def test_a_frontier_goes_on_from_its_checkpoint(tmp_path):
    classifier, file = naive(9, 7), tmp_path / "frontier.json"
    with compiled_at_once():
        whole = unswayed.frontier(classifier)
    with many_slices(300), reporting_always():
        cut = unswayed.frontier(classifier, checkpoint=file, report=interrupted_after(60))
        assert cut.points[0].selection.interrupted
        resumed = unswayed.frontier(classifier, checkpoint=file)
    assert [told(point.selection) for point in resumed.points] == [told(p.selection) for p in whole.points]


def test_time_running_out_keeps_a_checkpoint_and_a_valid_gap(tmp_path, helpers):
    classifier, file = naive(12, 8), tmp_path / "search.json"
    whole = unswayed.trim(classifier, budget=5).selection
    with many_slices(1):
        for seconds in (1e-9, 1e-2, 5e-2):
            cut = unswayed.trim(
                classifier,
                budget=5,
                checkpoint=file,
                limits=Limits(max_seconds=seconds),
                **helpers["threads"],
            ).selection
            assert cut.value <= whole.value <= cut.upper_bound + 1e-12
    with many_slices():
        assert told(unswayed.trim(classifier, budget=5, checkpoint=file).selection) == told(whole)


def test_the_checkpoint_of_another_question_is_refused(tmp_path):
    file = tmp_path / "search.json"
    with many_slices():
        unswayed.trim(naive(7, 1), budget=2, checkpoint=file)
        kept = file.read_text()
        others = [
            lambda: unswayed.trim(naive(7, 2), budget=2, checkpoint=file),
            lambda: unswayed.trim(naive(7, 1), budget=2, costs={"F1": 2.0}, checkpoint=file),
            lambda: unswayed.trim(naive(7, 1), budget=2, evidence={"F1": "s0"}, checkpoint=file),
            lambda: unswayed.select(naive(7, 1), budget=2, checkpoint=file),
        ]
        for other in others:
            with pytest.raises(unswayed.QueryError, match="another classifier, evidence, costs or objective"):
                other()
        assert file.read_text() == kept


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no checkpoint of a search"),
        ('{"format": "unswayed checkpoint", "vers', "is no checkpoint of a search"),
        ("\udcff", "is no checkpoint of a search"),
        ("[1, 2]", "is no checkpoint of a search"),
        ('{"format": "unswayed network", "version": 1}', "is no checkpoint of a search"),
        ('{"format": "unswayed checkpoint", "version": 2}', "version 2, not 1"),
    ],
)
def test_a_file_that_is_no_checkpoint_is_refused_and_kept(text, message, tmp_path):
    file = tmp_path / "search.json"
    contents = text.encode(errors="surrogateescape")
    file.write_bytes(contents)
    with pytest.raises(unswayed.FormatError, match=message):
        unswayed.trim(naive(5, 1), budget=2, checkpoint=file)
    assert file.read_bytes() == contents


def test_a_checkpoint_with_damaged_branches_is_refused(tmp_path):
    classifier, file = naive(8, 1), tmp_path / "search.json"
    with many_slices(1), reporting_always():
        unswayed.trim(classifier, budget=3, checkpoint=file, report=interrupted_after(30))
        content = json.loads(file.read_text())
        for entry in content["searches"].values():
            entry["left"] = [[1, 2, 3]]
        file.write_text(json.dumps(content))
        with pytest.raises(unswayed.FormatError, match="is a damaged checkpoint"):
            unswayed.trim(classifier, budget=3, checkpoint=file)


def test_a_checkpoint_in_no_folder_is_refused(tmp_path):
    with pytest.raises(unswayed.FormatError, match="there is no folder"):
        unswayed.trim(naive(5, 1), budget=2, checkpoint=tmp_path / "nosuch" / "search.json")


def test_only_branch_and_bound_keeps_a_checkpoint(tmp_path):
    with pytest.raises(unswayed.QueryError, match="branch and bound alone"):
        unswayed.trim(naive(5, 1), budget=2, checkpoint=tmp_path / "c.json", method=unswayed.Method.GREEDY)
    reward = CustomReward(lambda posteriors: posteriors[:, 0] ** 2, "square")
    with pytest.raises(unswayed.QueryError, match="is code"):
        unswayed.select(naive(5, 1), budget=2, checkpoint=tmp_path / "c.json", objective=reward)


@contextmanager
def on_grids(work=40, quick=60):
    """Naive Bayes is searched on a grid whatever its size, in slices of so many errors."""
    with many_slices(), reporting_always(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "QUICK_TABLE", 0.0)
        patch.setattr(grid_search, "ALONE_ERRORS", -1.0)
        patch.setattr(grid_branches, "STEPS_PER_SLICE", 1)
        patch.setattr(grid_search, "SLICE", work)
        patch.setattr(grid_search, "QUICK", quick)
        yield


def asked_on_grids(classifier, budget, **options):
    chosen = unswayed.select(classifier, budget=budget, **options)
    return told(chosen), told(unswayed.trim(classifier, budget=budget, **options).selection)


@pytest.mark.parametrize("kind", ["threads", "processes", "own"])
@pytest.mark.parametrize("n_features", [5, 9, 13, 16])
def test_searches_on_a_grid_give_the_answer_of_one_process(kind, n_features, helpers):
    """The answer is that of the search in a table, too, which shares nothing with the one on a grid."""
    for seed in range(3):
        classifier, budget = naive(n_features, 10 * seed), n_features // 3
        with on_grids():
            alone = asked_on_grids(classifier, budget)
            together = asked_on_grids(classifier, budget, **helpers[kind])
        assert together == alone
        in_table = asked_on_grids(classifier, budget)
        for one, other in zip(together, in_table, strict=True):
            assert (one[0], one[2], one[3]) == (other[0], other[2], other[3])
            assert one[1] == pytest.approx(other[1], abs=1e-9)


def test_frontiers_on_a_grid_are_the_same_on_any_executor(helpers):
    classifier, costs = naive(10, 4), {"F1": 2.0, "F3": 0.5, "F5": 0.5}
    with on_grids():
        alone = unswayed.frontier(classifier, costs=costs)
        together = unswayed.frontier(classifier, costs=costs, **helpers["threads"])
    assert [told(point.selection) for point in alone.points] == [told(p.selection) for p in together.points]


@pytest.mark.parametrize("kind", ["alone", "threads"])
def test_a_search_on_a_grid_goes_on_from_its_checkpoint(kind, helpers, tmp_path):
    classifier, file = naive(14, 5), tmp_path / "search.json"
    options = {"checkpoint": file, **helpers.get(kind, {})}
    with on_grids(work=1, quick=3):
        whole = unswayed.trim(classifier, budget=5).selection
        n_runs, cut = 0, None
        while n_runs < 150 and (cut is None or cut.interrupted):
            n_runs += 1
            cut = unswayed.trim(classifier, budget=5, report=interrupted_after(3), **options).selection
            assert cut.value <= whole.value + 1e-12
            assert whole.value <= cut.upper_bound + 1e-12
        again = unswayed.trim(classifier, budget=5, **options).selection
    assert 1 < n_runs < 150
    assert told(cut) == told(whole) == told(again)


def test_a_search_on_a_grid_that_runs_out_of_time_goes_on(tmp_path, helpers):
    classifier, file = naive(14, 6), tmp_path / "search.json"
    with on_grids(work=1):
        whole = unswayed.trim(classifier, budget=5).selection
        for seconds in (1e-9, 3e-2, 6e-2):
            limits = Limits(max_seconds=seconds)
            cut = unswayed.trim(
                classifier, budget=5, checkpoint=file, limits=limits, **helpers["threads"]
            ).selection
            assert cut.value <= whole.value + 1e-12 <= cut.upper_bound + 2e-12
    with on_grids():
        assert told(unswayed.trim(classifier, budget=5, checkpoint=file).selection) == told(whole)
