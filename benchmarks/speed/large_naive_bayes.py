"""Trimming naive Bayes classifiers of 24 to 300 features: seconds, agreement, and what is proven.

    python -m benchmarks.speed.large_naive_bayes [--seconds 60] [--quick]

Two families of random classifiers of two-state features, a third of them kept: *strong* ones, whose
probabilities are drawn uniformly, and *weak* ones, whose probabilities differ by 0.15 between the classes at
most, so that many features say something and none says much. Beside `trim`: a table over all features while
it fits, in the same run, and the third of the features with the highest mutual information, which is what one
would keep without a search. Writes docs/benchmarks/large_naive_bayes.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np

import unswayed
from benchmarks.page import write_measured
from unswayed.api import trim
from unswayed.api.selection import Selection
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rewards import NegativeEntropy
from unswayed.decisions.rules import ThresholdRule
from unswayed.model.network import BayesianNetwork
from unswayed.model.zoo import binary_network, random_naive_bayes
from unswayed.search import plan as searching

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "large_naive_bayes.md"
SIZES = (24, 30, 36, 42, 48, 54, 60, 100, 200, 300)
LARGEST_TABLE = 24
TOLERANCE = 1e-5
"""Width of the interval for the agreement of features that were not searched for."""


def strong(n_features: int) -> BayesianNetwork:
    """Probabilities drawn uniformly."""
    return random_naive_bayes(n_features, np.random.default_rng(n_features))


def weak(n_features: int) -> BayesianNetwork:
    """Probabilities that differ little between the classes."""
    rng = np.random.default_rng(n_features)
    middle, half = rng.uniform(0.2, 0.8, n_features), rng.uniform(0.0, 0.075, n_features)
    tables = {f"F{i}": (("C",), [middle[i] + half[i], middle[i] - half[i]]) for i in range(n_features)}
    return binary_network({"C": ((), [0.5]), **tables})


FAMILIES: dict[str, Callable[[int], BayesianNetwork]] = {"strong": strong, "weak": weak}


def classifier_of(family: str, n_features: int) -> Classifier:
    """The same classifier for the same family and number of features."""
    network = FAMILIES[family](n_features)
    return Classifier(network, "C", None, ThresholdRule(network.variables[0].states[0], 0.5))


@dataclass(frozen=True, slots=True)
class Result:
    """One classifier trimmed."""

    family: str
    n_features: int
    wall: float
    processor: float
    """Seconds of this process alone: the machine is shared."""
    found: Selection
    table: float | None
    """Processor seconds of the same search in a table."""
    informative: float
    """Agreement of the features with the highest mutual information."""


def measure(family: str, n_features: int, limits: Limits) -> Result:
    """Trim, and what there is to compare with."""
    classifier, budget = classifier_of(family, n_features), n_features // 3
    wall, processor = time.perf_counter(), time.process_time()
    found = trim(classifier, budget=budget, limits=limits).selection
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    table = in_table(classifier, budget, found) if n_features <= LARGEST_TABLE else None
    kept = most_informative(classifier, budget)
    other = unswayed.mpa(classifier, kept=kept, tolerance=TOLERANCE)
    return Result(family, n_features, wall, processor, found, table, other.value)


def in_table(classifier: Classifier, budget: int, found: Selection) -> float:
    """Seconds of the search in a table; stops when it finds something else."""
    with patch.object(searching, "QUICK_TABLE", 2.0**30):
        started = time.process_time()
        other = trim(classifier, budget=budget).selection
        seconds = time.process_time() - started
    if abs(other.value - found.value) > 1e-9:
        raise SystemExit(f"{len(classifier.features)} features: grid {found.value}, table {other.value}")
    return seconds


def most_informative(classifier: Classifier, budget: int) -> list[str]:
    """The features with the highest mutual information with the target."""
    entropy = NegativeEntropy()
    worth = {
        name: unswayed.voi(classifier, kept=[name], reward=entropy).value for name in classifier.features
    }
    return sorted(worth, key=lambda name: -worth[name])[:budget]


HEAD = """# Trimming naive Bayes with many features

Made by `python -m benchmarks.speed.large_naive_bayes`: random naive Bayes classifiers of two-state features,
threshold one half, a third of the features kept, {limit:g} s allowed. *Strong* features have probabilities
drawn uniformly, *weak* ones differ by 0.15 between the classes at most. `seconds` are from the classifier to
the answer, of the processor and on the clock, on a shared machine with other work. `agreement` is exact up to
44 features and beyond that what is certain, some millionths below the truth or more for hundreds of weak
features. `gap` is how much better another choice could be at most; 0 is a proof.
`most informative` is the agreement of as many features with the highest mutual information, and `error` how
much of its disagreement the features found have. `table` is the same search in a table over all features,
for which 24 are the limit.

"""


def table(results: Sequence[Result]) -> Iterator[str]:
    """Markdown, a row for each classifier."""
    columns = "features | family | kept | seconds | on the clock | agreement | gap | evaluations"
    yield f"| {columns} | most informative | error | table, seconds | ratio |"
    yield "|---" * 12 + "|"
    for r in results:
        error = (1.0 - r.found.value) / max(1.0 - r.informative, 1e-300)
        times = f"{r.table:.2f} | {r.table / r.processor:.0f}" if r.table is not None else "- | -"
        yield (
            f"| {r.n_features} | {r.family} | {len(r.found.kept)} | {r.processor:.2f} | {r.wall:.2f} | "
            f"{r.found.value:.9g} | {r.found.gap:.1e} | {r.found.evaluations:,} | {r.informative:.9g} | "
            f"{error:.2f} | {times} |"
        ).replace("0.0e+00", "0")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="limit on one search")
    parser.add_argument("--quick", action="store_true", help="up to 36 features; writes nothing")
    options = parser.parse_args([] if __name__ != "__main__" else None)
    limits = Limits(max_seconds=options.seconds)
    trim(
        classifier_of("strong", 20), budget=6
    )  # loads what is loaded at the first use, before the clock runs
    results: list[Result] = []
    for n_features in SIZES[:3] if options.quick else SIZES:
        for family in FAMILIES:
            results.append(measure(family, n_features, limits))
            last = results[-1]
            print(f"{n_features} {family}: {last.processor:.2f} s, gap {last.found.gap:.1e}", flush=True)
    lines = list(table(results))
    print("\n".join(lines))
    if not options.quick:
        write_measured(PAGE, HEAD.format(limit=options.seconds) + "\n".join(lines))


if __name__ == "__main__":
    main()
