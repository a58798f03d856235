"""Computations of the companion: few at once, in order, and none for a client that has gone."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the companion needs the extra 'web'")

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request

import unswayed
from unswayed.core.anytime import settle, tick
from unswayed.core.errors import LimitError, QueryError
from unswayed.model.zoo import random_naive_bayes
from unswayed.web.answers import RecentAnswers
from unswayed.web.work import Stopped, Threads, run_limited


def make_request(workers: Threads, *, gone: asyncio.Event | None = None) -> Request:
    """A request whose client stays, or goes when the event is set."""
    app = Starlette()
    app.state.workers = workers

    async def receive() -> dict[str, Any]:
        await (gone or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    return Request({"type": "http", "app": app, "headers": []}, receive)


def spin(ended: threading.Event, *, seconds: float = 20.0) -> Callable[[], None]:
    """A computation that takes long, and says when it has ended, however it did."""

    def compute() -> None:
        try:
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                tick()
                sum(range(100))
        finally:
            ended.set()

    return compute


def test_an_answer_and_an_error_come_back():
    workers = Threads()
    assert asyncio.run(run_limited(make_request(workers), lambda: 6 * 7)) == 42

    def fail() -> None:
        raise QueryError("no such variable")

    with pytest.raises(QueryError, match="no such variable"):
        asyncio.run(run_limited(make_request(workers), fail))


def test_a_client_that_goes_stops_its_computation():
    workers, ended = Threads(n_threads=1), threading.Event()

    async def leave() -> None:
        gone = asyncio.Event()
        waiting = asyncio.ensure_future(run_limited(make_request(workers, gone=gone), spin(ended)))
        await asyncio.sleep(0.1)
        gone.set()
        await waiting

    with pytest.raises(HTTPException) as caught:
        asyncio.run(leave())
    assert caught.value.status_code == 499
    assert ended.wait(1.0), "the computation goes on although nobody waits"
    assert asyncio.run(run_limited(make_request(workers), lambda: "free again")) == "free again"


def test_time_that_is_over_stops_the_computation():
    ended = threading.Event()
    with pytest.raises(LimitError, match="takes longer than"):
        asyncio.run(run_limited(make_request(Threads()), spin(ended), max_seconds=0.1))
    assert ended.wait(1.0)


def test_a_full_queue_sends_the_next_away():
    workers, ended = Threads(n_threads=1, most_waiting=1), threading.Event()

    async def crowd() -> list[Any]:
        request = make_request(workers)
        first = asyncio.ensure_future(run_limited(request, spin(ended), max_seconds=0.5))
        await asyncio.sleep(0.1)
        others = [asyncio.ensure_future(run_limited(request, lambda: "served")) for _ in range(3)]
        return await asyncio.gather(first, *others, return_exceptions=True)

    late, served, *refused = asyncio.run(crowd())
    assert isinstance(late, LimitError)
    assert served == "served"
    assert [error.status_code for error in refused] == [503, 503]
    assert all(int(error.headers["Retry-After"]) > 0 for error in refused)


def test_jobs_start_in_the_order_in_which_they_came():
    workers, order = Threads(n_threads=1), []

    async def ask() -> None:
        request = make_request(workers)
        await asyncio.gather(*(run_limited(request, lambda i=i: order.append(i)) for i in range(20)))

    asyncio.run(ask())
    assert order == list(range(20))


def test_a_waiting_job_of_a_client_that_goes_never_starts():
    workers, ended, started = Threads(n_threads=1), threading.Event(), threading.Event()

    async def leave() -> None:
        gone = asyncio.Event()
        first = asyncio.ensure_future(run_limited(make_request(workers), spin(ended), max_seconds=0.3))
        await asyncio.sleep(0.1)
        second = asyncio.ensure_future(run_limited(make_request(workers, gone=gone), started.set))
        await asyncio.sleep(0.05)
        gone.set()
        await asyncio.gather(first, second, return_exceptions=True)

    asyncio.run(leave())
    assert asyncio.run(run_limited(make_request(workers), lambda: "next")) == "next"
    assert not started.is_set()


def test_a_thousand_stopped_jobs_leave_the_threads_alive():
    workers = Threads(n_threads=2, most_waiting=2000)
    jobs = [workers.submit(lambda: sum(range(2000))) for _ in range(1000)]
    for job in jobs:
        job.stop()
    assert workers.submit(lambda: "alive").future.result(timeout=10) == "alive"


def test_a_search_that_nobody_waits_for_is_gone_soon():
    """Most of it runs in compiled loops, which hear of no stop; they are short."""
    network = random_naive_bayes(18, np.random.default_rng(4))
    classifier = unswayed.Classifier(network, network.names[0], threshold=0.5, positive="s0")
    workers = Threads(n_threads=1)
    job = workers.submit(lambda: unswayed.frontier(classifier, limits=unswayed.Limits(max_seconds=60.0)))
    deadline = time.monotonic() + 0.3
    while time.monotonic() < deadline and not job.future.done():
        time.sleep(0.02)
    job.stop()
    assert workers.wait_until_idle(seconds=4.0)


def test_what_was_stopped_is_not_kept_for_those_who_ask_later():
    """A search ends with its best when it is stopped; that is no answer for the next page."""
    answers, workers, began = RecentAnswers(5), Threads(n_threads=1), threading.Event()

    def count() -> Iterator[int]:
        for number in range(1000):
            yield number
            began.set()
            time.sleep(0.01)

    job = workers.submit(lambda: answers.find("count", lambda: settle(count()).last))
    assert began.wait(5.0)
    job.stop()
    assert workers.wait_until_idle(seconds=0.3)
    assert isinstance(job.future.exception(), Stopped)
    assert answers.peek("count") is None


def test_who_waits_for_the_answer_of_another_page_can_go():
    answers, workers, ended = RecentAnswers(5), Threads(n_threads=2), threading.Event()
    first = workers.submit(lambda: answers.find("long", spin(ended)))
    time.sleep(0.05)
    second = workers.submit(lambda: answers.find("long", spin(ended)))
    time.sleep(0.05)
    second.stop()
    assert isinstance(second.future.exception(timeout=0.3), Stopped)
    assert not first.future.done()
    first.stop()
    assert ended.wait(0.3)
