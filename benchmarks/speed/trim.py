"""How the cost of trimming grows with the number of features, search by search.

    python -m benchmarks.speed.trim [--seconds 30] [--quick]

Random classifiers of 8 to 24 two-state features, threshold one half, a third of the features kept, all
searches in one run: naive Bayes, where the search needs one column, and trees of features, where subsets
have to be valued too. Then the seven networks of the papers, and one classifier that is hard to prune, with
one thread and with two. Writes docs/benchmarks/trim.md and trim.png.
"""

from __future__ import annotations

import argparse
import pickle
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from unittest.mock import patch

import numpy as np

from benchmarks.page import write_measured
from benchmarks.speed.trim_cases import (
    SEARCHES,
    SEARCHES_OF_TREES,
    Search,
    naive_bayes,
    selected,
    tree_augmented,
)
from benchmarks.speed.trim_page import AGREEMENT, HEAD, PAGE, PAPERS, TREES, Result, plot, table
from unswayed.api import trim
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.kernels.jit import Kernel
from unswayed.model.formats.files import read_network

NETWORKS = PAGE.parents[3] / "shared" / "data" / "networks" / "trimbn"
TARGET_BY_NETWORK = {
    "bupa": "BP", "pima": "DB", "ident": "II", "anatomy": "TA", "heart": "CL", "voting": "V",
    "hepatitis": "HE",
}  # fmt: skip
SIZES = tuple(range(8, 25, 2))
REPEATS = 7


def grown(
    searches: Mapping[str, Search], make: Callable[[int], Classifier], sizes: Sequence[int], limits: Limits
) -> Iterator[Result]:
    """Every search on growing classifiers, until it runs out of time."""
    given_up: set[str] = set()
    for n_features in sizes:
        # The first search of a size pays for memory that the others find ready, so it is not timed.
        trim(make(n_features), budget=n_features // 3, limits=limits)
        for name, search in searches.items():
            if name in given_up:
                continue
            classifier, started, began = make(n_features), time.process_time(), time.perf_counter()
            found = search(classifier, n_features // 3, limits)
            seconds, waited = time.process_time() - started, time.perf_counter() - began
            finished = found.optimal or waited < (limits.max_seconds or np.inf)
            if not finished:
                given_up.add(name)
            print(f"{n_features} features, {name}: {seconds:.3g} s", flush=True)
            yield Result(name, n_features, seconds, found, finished)


def check(results: Sequence[Result]) -> None:
    """Stop when two searches that prove the same differ."""
    best = {r.n_features: r.found.value for r in results if r.search == "trim" and r.found.optimal}
    for result in results:
        expected = best.get(result.n_features, result.found.value)
        is_same_question = result.search != "select" and result.found.optimal
        if is_same_question and abs(result.found.value - expected) > AGREEMENT:
            raise SystemExit(
                f"{result.search}, {result.n_features} features: {result.found.value} v {expected}"
            )


def of_the_papers() -> Iterator[str]:
    """Markdown: the seven networks, milliseconds on average over nine thresholds."""
    yield "| network | features | kept | trim, first | trim, again | select, first | select, again |"
    yield "|---|---|---|---|---|---|---|"
    for name, target in TARGET_BY_NETWORK.items():
        network = read_network(NETWORKS / f"{name}.bif")
        rules = [ThresholdRule("s0", round(0.1 * i, 1)) for i in range(1, 10)]
        classifiers = [Classifier(network, target, None, rule) for rule in rules]
        budget = len(classifiers[0].features) // 3
        times = [_milliseconds(search, classifiers, budget) for search in (SEARCHES["trim"], selected)]
        shown = " | ".join(f"{milliseconds:.3g}" for pair in times for milliseconds in pair)
        yield f"| {name} | {len(classifiers[0].features)} | {budget} | {shown} |"


def _milliseconds(search: Search, classifiers: Sequence[Classifier], budget: int) -> tuple[float, float]:
    """The mean over the classifiers of the best of a few runs: each on a new network, and asked again."""
    first, again = [], []
    for classifier in classifiers:
        runs = [_asked_twice(search, classifier, budget) for _ in range(REPEATS)]
        first.append(min(run[0] for run in runs))
        again.append(min(run[1] for run in runs))
    return 1e3 * statistics.mean(first), 1e3 * statistics.mean(again)


def _asked_twice(search: Search, classifier: Classifier, budget: int) -> tuple[float, float]:
    """Seconds on a copy of the network that has planned its posteriors and remembers no table, and again."""
    network = pickle.loads(pickle.dumps(classifier.network))
    # Another rule plans the same eliminations and leaves another table behind.
    search(Classifier(network, classifier.target, None, ThresholdRule("s0", 0.37)), budget, Limits())
    asked = partial(search, Classifier(network, classifier.target, None, classifier.rule), budget, Limits())
    return _seconds(asked), _seconds(asked)


def _seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="limit on one search")
    parser.add_argument("--quick", action="store_true", help="up to 12 features; writes nothing")
    options = parser.parse_args([] if __name__ != "__main__" else None)
    limits = Limits(max_seconds=options.seconds)
    _load_compiled_code()
    sizes = SIZES[:3] if options.quick else SIZES
    results = list(grown(SEARCHES, naive_bayes, sizes, limits))
    of_trees = list(grown(SEARCHES_OF_TREES, tree_augmented, sizes, limits))
    check(results)
    check(of_trees)
    page = [HEAD.format(limit=limits.max_seconds), *_rows(table(results, SEARCHES))]
    page += [TREES, *_rows(table(of_trees, SEARCHES_OF_TREES))]
    if NETWORKS.exists():
        page += [PAPERS.format(repeats=REPEATS), *_rows(of_the_papers())]
    if not options.quick:
        write_measured(PAGE, "".join(page))
        plot(results, of_trees)
    print("".join(page))


def _load_compiled_code() -> None:
    """Compile or load all loops before the clock runs."""
    with patch.object(Kernel, "_pays", lambda *_: True):
        trim(tree_augmented(18), budget=6)
        trim(naive_bayes(24), budget=8)


def _rows(lines: Iterator[str]) -> Iterator[str]:
    return (line + "\n" for line in lines)


if __name__ == "__main__":
    main()
