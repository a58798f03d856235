"""Calls on executors of every kind: shared values travel once, lost calls are made again."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path

import joblib
import numpy as np
import pytest

from unswayed.core import parallel
from unswayed.core.anytime import BudgetSpent, limits, portion, tick
from unswayed.core.errors import QueryError, UnswayedWarning
from unswayed.core.parallel import Team, Workers
from unswayed.core.processes import start_pool


def add(shared, number):
    return shared + number


def add_slowly(shared, number):
    time.sleep(0.2)
    return shared + number


def tell_process(shared, _):
    return os.getpid()


def fail_elsewhere(shared, number):
    if os.getpid() != shared:
        raise ValueError("not at home")
    return number


def refuse(shared, number):
    raise ZeroDivisionError("a bug of our own")


def tell_arrays(shared, _):
    """What a call sees of an array: its last number, whether it may be written, where it begins."""
    shared["more"][0] = -1.0
    address = shared["table"].__array_interface__["data"][0]
    return float(shared["table"][-1, -1]), shared["table"].flags.writeable, address % 64


def collect_all(workers, n_calls):
    collected = []
    while len(collected) < n_calls:
        collected += workers.collect(0.1)
    assert workers.tags == []
    return collected


def call(team, function, shared, n_calls=12, key="k"):
    with Workers(team, function, key, shared) as workers:
        for number in range(n_calls):
            workers.submit(f"call {number}", (number,))
        return dict(collect_all(workers, n_calls))


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize("kind", ["here", "threads", "processes", "own"])
def test_every_call_is_made_once_with_the_shared_value(kind, processes):
    with ThreadPoolExecutor(2) as threads:
        team = {
            "here": Team(),
            "threads": Team(threads),
            "processes": Team(processes),
            "own": Team(jobs=2),
        }[kind]
        assert call(team, add, 100, key=kind) == {f"call {i}": 100 + i for i in range(12)}


def test_processes_make_the_calls(processes):
    assert os.getpid() not in call(Team(processes), tell_process, 0, key="pids").values()


class Counting(Executor):
    """Threads that hold nothing: what is sent to them is counted."""

    def __init__(self):
        self.sent = []

    def submit(self, function, key, carried, *rest):
        self.sent.append(carried.packed)
        return self.pool.submit(function, key + " elsewhere", carried, *rest)


def test_the_shared_value_is_sent_when_it_is_missing_and_then_no_more():
    executor = Counting()
    with ThreadPoolExecutor(1) as executor.pool:
        team = Team(executor, jobs=1)
        with Workers(team, add, "counted", 100) as workers:
            for number in range(6):
                workers.submit(number, (number,))
                assert workers.collect(5.0) == [] if number == 0 else True
                if number == 0:
                    assert workers.collect(5.0) == [(0, 100)]
    assert [packed is not None for packed in executor.sent] == [False, True, *[False] * 5]


def test_calls_of_a_killed_worker_are_made_again_in_a_new_pool():
    """SIGKILL of one of our own processes: every call is answered, by processes still."""
    victim = start_pool(2).submit(os.getpid).result(timeout=60)
    with Workers(Team(jobs=2), add_slowly, "killed", 100) as workers:
        for number in range(6):
            workers.submit(number, (number,))
        os.kill(victim, signal.SIGKILL)  # no call has been collected yet, so some are lost
        assert dict(collect_all(workers, 6)) == {i: 100 + i for i in range(6)}
        assert workers.size == 2


def test_a_broken_executor_of_a_person_is_said_and_done_without():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        victim = pool.submit(os.getpid).result(timeout=60)
        with Workers(Team(pool), add_slowly, "broken", 100) as workers:
            for number in range(6):
                workers.submit(number, (number,))
            os.kill(victim, signal.SIGKILL)
            with pytest.warns(UnswayedWarning, match="goes on in this process"):
                assert dict(collect_all(workers, 6)) == {i: 100 + i for i in range(6)}
            assert workers.size == 1


def test_an_executor_that_was_shut_down_is_done_without():
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.warns(UnswayedWarning, match="cannot schedule new futures"):
        assert call(Team(pool), add, 1, 2) == {"call 0": 1, "call 1": 2}


def test_what_cannot_be_sent_stays_here(processes):
    with pytest.warns(UnswayedWarning, match="cannot be used"):
        found = call(Team(processes), tell_process, lambda: None, 2, key="lambda")
    assert set(found.values()) == {os.getpid()}


def test_a_call_that_fails_elsewhere_is_made_here(processes):
    assert call(Team(processes), fail_elsewhere, os.getpid(), 3) == {f"call {i}": i for i in range(3)}


def test_an_error_of_our_own_is_raised(processes):
    with pytest.raises(ZeroDivisionError, match="a bug of our own"):
        call(Team(processes), refuse, 0, 2)


def test_cancelled_calls_are_made_again():
    class Cancelling(ThreadPoolExecutor):
        def submit(self, *call):
            if not hasattr(self, "cancelled"):
                self.cancelled = Future()
                self.cancelled.cancel()
                self.cancelled.set_running_or_notify_cancel()
                return self.cancelled
            return super().submit(*call)

    with Cancelling(1) as pool:
        assert call(Team(pool), add, 1, 2) == {"call 0": 1, "call 1": 2}


@pytest.mark.parametrize("jobs", [0, -1, 1.5, True, "2"])
def test_jobs_are_a_positive_number(jobs):
    with pytest.raises(QueryError, match="jobs must be a whole number"):
        Team(jobs=jobs)


def test_an_executor_can_submit():
    with pytest.raises(QueryError, match=r"must be a concurrent.futures.Executor"):
        Team(executor=4)


def test_the_size_is_what_the_executor_has():
    with ThreadPoolExecutor(3) as pool:
        assert (Team(pool).size, Team(pool, jobs=7).size, Team(jobs=2).size, Team().size) == (3, 7, 2, 1)


def test_our_pool_and_that_of_joblib_live_side_by_side():
    expected = {f"call {number}": 100 + number for number in range(4)}
    assert call(Team(jobs=2), add, 100, 4, "before") == expected
    assert joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(-i) for i in range(4)) == [0, 1, 2, 3]
    assert call(Team(jobs=2), add, 100, 4, "after") == expected


def test_processes_of_this_machine_find_large_arrays_in_memory(processes, monkeypatch):
    """Nothing is sent, no file is left, what a worker writes is its own, and what is read-only stays so."""
    if not hasattr(os, "memfd_create"):
        pytest.skip("this system has no memory with a name")
    monkeypatch.setattr(Workers, "_pack", lambda self: pytest.fail("sent"))
    table = np.arange(200_000.0).reshape(2, -1)
    table.flags.writeable = False
    shared = {"table": table, "more": np.zeros(3), "empty": np.zeros(0), "text": "T"}
    before = set(Path("/dev/shm").iterdir())
    for team in (Team(processes), Team(jobs=2)):
        found = call(team, tell_arrays, shared, key="arrays")
        assert set(found.values()) == {(199_999.0, False, 0)}
    assert shared["more"][0] == 0.0
    assert not [path for path in set(Path("/dev/shm").iterdir()) - before if "arrays" in path.name]


def test_what_is_not_in_its_place_is_sent(processes, monkeypatch):
    """As on another machine, where the place holds something else or nothing."""
    with tempfile.TemporaryFile() as other:
        for place in ("/proc/1/fd/9999", f"/proc/{os.getpid()}/fd/{other.fileno()}", "nowhere"):
            monkeypatch.setattr(parallel, "share_value", lambda *_, place=place: nullcontext(place))
            assert call(Team(processes), add, 5, 3, key=place) == {f"call {i}": 5 + i for i in range(3)}


def test_a_call_can_be_made_here(processes):
    with Workers(Team(processes), tell_process, "both", 0) as workers:
        workers.submit("here", (0,), here=True)
        workers.submit("there", (0,))
        found = dict(collect_all(workers, 2))
    assert found["here"] == os.getpid() != found["there"]
    assert workers.has_answered


def work_in_steps(shared, n_steps):
    """Work of a thousand units a step, for longer than anybody waits."""
    for _ in range(n_steps):
        tick(1000, "steps")
        time.sleep(0.01)
    return n_steps


def sleep_on(shared, seconds):
    """A slice that hears of no budget."""
    time.sleep(seconds)


@pytest.mark.parametrize("kind", ["threads", "own"])
def test_what_is_left_of_the_budget_goes_with_a_call(kind):
    """A call elsewhere ends when our time does, and ours ends too, though no worker has answered."""
    with ThreadPoolExecutor(2) as threads:
        team = {"threads": Team(threads), "own": Team(jobs=2)}[kind]
        began = time.monotonic()
        with Workers(team, work_in_steps, f"steps {kind}", 0) as workers, limits(max_seconds=0.5):
            workers.submit("long", (10_000,))
            with pytest.raises(BudgetSpent):
                list(workers.results())
            assert workers.tags == ["long"]
        assert time.monotonic() - began < 2.0
    # The threads have ended by now: the call heard of the end of the time.


def test_work_done_elsewhere_is_taken_off_the_budget():
    with (
        ThreadPoolExecutor(1) as threads,
        Workers(Team(threads), work_in_steps, "paid", 0) as workers,
        portion(units=25_000) as budget,
    ):
        for tag in ("first", "second"):
            workers.submit(tag, (10,))
            assert list(workers.results()) == [(tag, 10)]
        assert budget.units == 15_000
        workers.submit("too much", (30,))
        with pytest.raises(BudgetSpent):
            list(workers.results())


def test_a_stop_from_another_thread_is_heard_while_workers_work():
    with (
        ThreadPoolExecutor(1) as threads,
        Workers(Team(threads), sleep_on, "stopped", 0) as workers,
        limits(max_seconds=60.0) as budget,
    ):
        workers.submit("long", (0.8,))
        threading.Timer(0.1, setattr, (budget, "stopped", True)).start()
        began = time.monotonic()
        with pytest.raises(BudgetSpent):
            list(workers.results())
        assert time.monotonic() - began < 0.5


def test_a_slice_of_our_own_that_nobody_waits_for_is_killed():
    with Workers(Team(jobs=2), tell_process, "known", 0) as workers:
        for number in range(2):
            workers.submit(number, (number,))
        list(workers.results())
        workers.function = sleep_on
        workers.submit("deaf", (600.0,))
        time.sleep(0.3)
        ((future, (_, pool)),) = workers._running.items()
    deadline = time.monotonic() + 10.0
    while not future.done() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert future.done()
    assert start_pool(2) is not pool
    assert call(Team(jobs=2), add, 100, 2, "anew") == {"call 0": 100, "call 1": 101}
