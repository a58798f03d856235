"""Blocks made by joblib: a stream in order, which a stop ends at once and a budget in time."""

from __future__ import annotations

import os
import threading
import time

import joblib
import pytest

from unswayed.core.anytime import BudgetSpent, limits, settle, tick
from unswayed.core.joblib_batches import run_batches


def count_up(n_steps):
    """As far as the budget suffices."""

    def steps():
        for step in range(n_steps):
            yield step
            tick(1000, "steps")
            time.sleep(0.005)

    return settle(steps()).last


def sleep_on(path, seconds):
    path.write_text(str(os.getpid()))
    time.sleep(seconds)


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_answers_come_in_the_order_of_the_calls(backend):
    with joblib.parallel_config(backend=backend):
        assert list(run_batches([(pow, 2, number) for number in range(20)], 2)) == [2**n for n in range(20)]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_hand_back_what_they_have_before_the_time_is_over(backend):
    with joblib.parallel_config(backend=backend):
        list(run_batches([(count_up, 1)] * 4, 2))  # they have started, and imported what they need
    with joblib.parallel_config(backend=backend), limits(max_seconds=3.0):
        found = list(run_batches([(count_up, 100_000)] * 2, 2))
    assert all(0 < steps < 99_999 for steps in found)


@pytest.mark.parametrize(("backend", "seconds"), [("threading", 6.0), ("loky", 600.0)])
def test_a_stop_is_heard_while_all_work(backend, seconds, tmp_path):
    path = tmp_path / "process"
    with joblib.parallel_config(backend=backend):
        list(run_batches([(sleep_on, path, 0.0)] * 4, 2))
    with joblib.parallel_config(backend=backend), limits(max_seconds=60.0) as budget:
        threading.Timer(0.8, setattr, (budget, "stopped", True)).start()
        began = time.monotonic()
        with pytest.raises(BudgetSpent):
            list(run_batches([(sleep_on, path, seconds)] * 2, 2))
        assert time.monotonic() - began < seconds  # nobody waits until they have slept
    if backend == "loky":
        wait_until_gone(int(path.read_text()))


def wait_until_gone(process):
    """A worker of joblib that goes on is killed."""
    deadline = time.monotonic() + 10.0
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the worker goes on though nobody waits")
