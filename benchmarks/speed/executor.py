"""Searches on several workers: two processes beside one, and many workers in a simulation.

    python -m benchmarks.speed.executor [--features 24] [--budget 8] [--repeats 3] [--quick]

The search is one in which little can be pruned: a tree of features that hardly differ. Two processes and one
take turns. The simulation runs the driver itself and every slice for real, one after another, in this
process: a slice knows what was known when it was sent out, as it would elsewhere. Only the clock is imagined:
each of so many workers takes its slices in turn, each for the processor time that the slice took here, and a
message takes some milliseconds. Writes docs/benchmarks/executor.md.
"""

from __future__ import annotations

import argparse
import heapq
import os
import platform
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Generic, TypeVar
from unittest.mock import patch

from benchmarks.speed.trim_cases import nearly_equal
from unswayed.api import trim
from unswayed.api.selection import Selection
from unswayed.core.workers import Team
from unswayed.decisions.classifier import Classifier
from unswayed.search.driver import SLICE_SECONDS
from unswayed.search.signed import slices

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "executor.md"
MESSAGE_SECONDS = 0.005
"""From the driver to a worker or back, as on a cluster."""
WORKERS = (1, 2, 4, 8, 16, 32)
T = TypeVar("T")


@dataclass(slots=True)
class SimulatedWorkers(Generic[T]):
    """What `unswayed.core.workers.Threads` is to the driver, with an imagined clock."""

    team: Team
    function: Callable[..., Any]
    key: str
    shared: Any
    now: float = 0.0
    busy: float = 0.0
    """Seconds that all workers have worked."""
    n_slices: int = 0
    queues: list[float] = field(default_factory=list)
    """When each worker will have done all it was sent."""
    under_way: list[tuple[float, int, T, Any]] = field(default_factory=list)

    def __enter__(self) -> SimulatedWorkers[T]:
        self.queues = [0.0] * self.team.size
        runs.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    @property
    def size(self) -> int:
        return self.team.size

    @property
    def tags(self) -> list[T]:
        return [tag for _, _, tag, _ in self.under_way]

    def submit(self, tag: T, arguments: Sequence[Any]) -> None:
        """Run a slice, and let the worker that is free first have done it."""
        started = time.process_time()
        result = self.function(self.shared, *arguments)
        seconds = time.process_time() - started
        first = min(range(self.size), key=self.queues.__getitem__)
        self.queues[first] = max(self.queues[first], self.now + MESSAGE_SECONDS) + seconds
        self.busy += seconds
        self.n_slices += 1
        heapq.heappush(self.under_way, (self.queues[first] + MESSAGE_SECONDS, self.n_slices, tag, result))

    def collect(self, seconds: float) -> list[tuple[T, Any]]:
        """The slice that comes back next."""
        if not self.under_way:
            return []
        when, _, tag, result = heapq.heappop(self.under_way)
        self.now = max(self.now, when)
        return [(tag, result)]


runs: deque[SimulatedWorkers[Any]] = deque(maxlen=1)
"""The last simulation."""


def told(found: Selection) -> tuple[tuple[str, ...], float]:
    return found.kept, found.value


def in_turns(classifier: Classifier, budget: int, repeats: int) -> Iterator[str]:
    """Markdown: one process and two, in turns, by the clock."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    answers = set()
    trim(classifier, budget, jobs=2)  # starts the processes and compiles, before the clock runs
    for _ in range(repeats):
        for jobs in seconds:
            began = time.perf_counter()
            answers.add(told(trim(classifier, budget, jobs=jobs).selection))
            seconds[jobs].append(time.perf_counter() - began)
    if len(answers) > 1:
        raise SystemExit("one process and two give different answers")
    yield "| processes | seconds, each run | best | load average |\n|---|---|---|---|"
    for jobs, each in seconds.items():
        runs_text = " / ".join(f"{t:.3g}" for t in each)
        yield f"| {jobs} | {runs_text} | {min(each):.3g} | {os.getloadavg()[0]:.1f} |"


def simulated(classifier: Classifier, budget: int, workers: Sequence[int]) -> Iterator[str]:
    """Markdown: what so many workers would take."""
    began = time.process_time()
    alone = trim(classifier, budget).selection
    single, search = time.process_time() - began, 0.0
    yield "| workers | table and driver, s | search, s | search, times as fast | slices | busy | all work |"
    yield "|---|---|---|---|---|---|---|"
    with patch.object(slices, "Threads", SimulatedWorkers), patch.object(slices, "ALONE_SECONDS", 0.0):
        for n_workers in workers:
            started = time.process_time()
            found = trim(classifier, budget, jobs=n_workers, executor=_Nobody()).selection
            spent = time.process_time() - started
            if told(found) != told(alone):
                raise SystemExit(f"{n_workers} workers give another answer")
            run = runs[0]
            own = spent - run.busy
            if not search:
                search = single - own
                yield f"| one process, no slices | {own:.3g} | {search:.3g} | 1 | - | - | 1 |"
            share = run.busy / (n_workers * run.now)
            yield (
                f"| {n_workers} | {own:.3g} | {run.now:.3g} | {search / run.now:.1f} | {run.n_slices} | "
                f"{share:.0%} | {spent / single:.2f} |"
            )


class _Nobody:
    """Stands for an executor; the simulation never calls it."""

    def submit(self, *_: object) -> None:
        raise AssertionError


HEAD = """# Searches on several workers

Made by `python -m benchmarks.speed.executor` on {day}, on {machine} with {cores} cores.
The search is for {budget} of {features} features that hardly differ and depend on each other in a tree, so
that little can be pruned. Every run gives the same features and the same value.

## Two processes beside one

In turns, seconds by the clock. The first second of a search is always searched alone.

"""
SIMULATION = """
## Many workers, in a simulation

**This is a simulation**: there is no machine with 32 cores behind it. The driver and every slice ran for
real, in one process, and each slice knew what was known when it was sent out; the clock of each worker is
imagined, with the processor time that the slice took and {message:g} ms for a message each way. Making the
table and driving are nobody else's work and stand apart. `busy` is the share of the workers' time in which
they search; `all work` is the processor time of everything beside one process without slices: what workers
search because they do not know yet what others have found, and tables that are made again for each slice of
{slice:g} s.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=int, default=24)
    parser.add_argument("--budget", type=int, help="features kept; a third by default")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="22 features, once; writes nothing")
    options = parser.parse_args([] if __name__ != "__main__" else None)
    features = 22 if options.quick else options.features
    classifier, budget = nearly_equal(features), options.budget or features // 3
    head = HEAD.format(
        day=date.today().isoformat(),
        machine=platform.processor() or platform.machine(),
        cores=os.cpu_count(),
        budget=budget,
        features=features,
    )
    page = head + "\n".join(in_turns(classifier, budget, 1 if options.quick else options.repeats)) + "\n"
    page += SIMULATION.format(message=1e3 * MESSAGE_SECONDS, slice=SLICE_SECONDS)
    workers = WORKERS[:3] if options.quick else WORKERS
    page += "\n".join(simulated(classifier, budget, workers)) + "\n"
    print(page)
    if not options.quick:
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
