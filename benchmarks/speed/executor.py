"""Searches on several workers: two processes beside one, and many workers in a simulation.

    python -m benchmarks.speed.executor [--features 23] [--budget 10] [--repeats 2] [--quick]

The search is one in which little can be pruned: a tree of features that hardly differ. Two processes and one
take turns; what can be shared of a search is timed apart. The simulation runs the driver itself and every
slice for real, one after another, in this process: a slice knows what was known when it was sent out, as it
would elsewhere. Only the clock is imagined: each of so many workers takes its slices in turn, each for the
processor time that the slice took here, and a message takes some milliseconds. Takes about three minutes on
a quiet machine. Writes docs/benchmarks/executor.md.
"""

from __future__ import annotations

import argparse
import heapq
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar
from unittest.mock import patch

import numpy as np

from benchmarks.page import write_measured
from benchmarks.speed.trim_cases import nearly_equal
from unswayed.api import trim
from unswayed.api.selection import Selection
from unswayed.core.anytime import UNITS_PER_SECOND
from unswayed.core.parallel import IN_FLIGHT, Team
from unswayed.decisions.classifier import Classifier
from unswayed.search.driver import SLICE_UNITS
from unswayed.search.signed import slices

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "executor.md"
MESSAGE_SECONDS = 0.005
"""From the driver to a worker or back, as on a cluster."""
WORKERS = (1, 2, 8, 32)
WARM_UP = 20
"""Features of the search that starts the processes and compiles, before the clock runs."""
T = TypeVar("T")


@dataclass(slots=True)
class SimulatedWorkers(Generic[T]):
    """What `unswayed.core.parallel.Workers` is to the driver, with an imagined clock."""

    team: Team
    function: Callable[..., Any]
    key: str
    shared: Any
    now: float = 0.0
    slices: list[float] = field(default_factory=list)
    """Seconds that each slice took."""
    has_answered: bool = True
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

    @property
    def n_free(self) -> int:
        return IN_FLIGHT * self.size - len(self.under_way)

    def submit(self, tag: T, arguments: Sequence[Any], *, here: bool = False) -> None:
        """Run a slice, and let the worker that is free first have done it."""
        started = time.process_time()
        result = self.function(self.shared, *arguments)
        seconds = time.process_time() - started
        first = min(range(self.size), key=self.queues.__getitem__)
        self.queues[first] = max(self.queues[first], self.now + MESSAGE_SECONDS) + seconds
        self.slices.append(seconds)
        heapq.heappush(self.under_way, (self.queues[first] + MESSAGE_SECONDS, len(self.slices), tag, result))

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
    shared: dict[int, list[float]] = {1: [], 2: []}
    answers = set()
    trim(nearly_equal(WARM_UP), budget=WARM_UP // 2, jobs=2)  # starts the processes and compiles
    for _ in range(repeats):
        for jobs in seconds:
            began = time.perf_counter()
            with timing_of_search(time.perf_counter) as search:
                answers.add(told(trim(classifier, budget=budget, jobs=jobs).selection))
            seconds[jobs].append(time.perf_counter() - began)
            shared[jobs].append(search[0])
    if len(answers) > 1:
        raise SystemExit("one process and two give different answers")
    yield "| processes | seconds, each run | best | of it the search that can be shared | times as fast |"
    yield "|---|---|---|---|---|"
    for jobs, each in seconds.items():
        runs_text = " / ".join(f"{t:.3g}" for t in each)
        search_seconds, whole = min(shared[jobs]), min(seconds[1]) / min(each)
        gains = f"{whole:.2f}, the search {min(shared[1]) / search_seconds:.2f}"
        yield f"| {jobs} | {runs_text} | {min(each):.3g} | {search_seconds:.3g} | {gains} |"


@contextmanager
def timing_of_search(clock: Callable[[], float]) -> Iterator[list[float]]:
    """The seconds of the part of a search that others can share, by this clock."""
    found: list[float] = [0.0]
    explore = slices._explore

    def timed(walk: Any, search: Any = None) -> Iterator[None]:
        began = clock()
        yield from explore(walk, search)
        if search is not None:
            found[0] = clock() - began

    with patch.object(slices, "_explore", timed):
        yield found


def simulated(classifier: Classifier, budget: int, workers: Sequence[int]) -> Iterator[str]:
    """Markdown: what so many workers would take, and how long slices take."""
    with timing_of_search(time.process_time) as explored:
        alone = trim(classifier, budget=budget).selection
    yield "| workers | search, s | times as fast | efficiency | slices | all slices, s | busy |"
    yield "|---|---|---|---|---|---|---|"
    yield f"| one process, no slices | {explored[0]:.3g} | 1 | - | - | - | - |"
    times: list[float] = []
    with patch.object(slices, "Workers", SimulatedWorkers), patch.object(slices, "ALONE_UNITS", 0.0):
        for n_workers in workers:
            found = trim(classifier, budget=budget, jobs=n_workers, executor=_Nobody()).selection
            if told(found) != told(alone):
                raise SystemExit(f"{n_workers} workers give another answer")
            run, busy = runs[0], math.fsum(runs[0].slices)
            gain = explored[0] / run.now
            times = run.slices
            yield (
                f"| {n_workers} | {run.now:.3g} | {gain:.1f} | {gain / n_workers:.0%} | {len(run.slices)} | "
                f"{busy:.3g} | {busy / (n_workers * run.now):.0%} |"
            )
    shares = [f"{q:.0%}: {np.quantile(times, q):.3f}" for q in (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)]
    yield f"\nSeconds of a slice with {workers[-1]} workers, by the share that takes no longer: " + ", ".join(
        shares
    )


class _Nobody(Executor):
    """Stands for an executor; the simulation never calls it."""

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        raise AssertionError


HEAD = """# Searches on several workers

Made by `python -m benchmarks.speed.executor`.
The search is for {budget} of {features} features that hardly differ and depend on each other in a tree, so
that little can be pruned. Every run gives the same features and the same value.

## Two processes beside one

In turns, seconds by the clock. Making the table and a first good subset is one process's work; the first
second of the search is, too.

"""
SIMULATION = """
## Many workers, in a simulation

**This is a simulation**: there is no machine with 32 cores behind it. The driver and every slice ran for
real, in one process, and each slice knew what was known when it was sent out; the clock of each worker is
imagined, with the processor time that the slice took and {message:g} ms for a message each way. The search
alone is meant, without the table. `all slices` is what workers search together: more than one process does,
since they do not know yet what others have found, and make tables again for each slice of {slice:g} s.
`busy` is the share of the workers' time in which they search.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=int, default=23)
    parser.add_argument("--budget", type=int, default=10, help="features kept")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="20 features, once; writes nothing")
    options = parser.parse_args([] if __name__ != "__main__" else None)
    features = 20 if options.quick else options.features
    classifier, budget = nearly_equal(features), options.budget
    head = HEAD.format(
        budget=budget,
        features=features,
    )
    page = head + "\n".join(in_turns(classifier, budget, 1 if options.quick else options.repeats)) + "\n"
    page += SIMULATION.format(message=1e3 * MESSAGE_SECONDS, slice=SLICE_UNITS / UNITS_PER_SECOND)
    workers = WORKERS[:2] if options.quick else WORKERS
    page += "\n".join(simulated(classifier, budget, workers)) + "\n"
    print(page)
    if not options.quick:
        write_measured(PAGE, page)


if __name__ == "__main__":
    main()
