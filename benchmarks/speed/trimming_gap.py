"""How much better than the features found others can be: the certified gap of trimming many features.

    python -m benchmarks.speed.trimming_gap [--seconds 25] [--sizes 60 100 300]

Three families of two-state naive Bayes features, a third of them kept: *weak* (probabilities differ by .15 at
most between the classes), *near-identical* (around .4 and .5, each .01 off at most), and *with strong ones*
(weak, one in twenty strong). Beside the gap: the gap if nothing were known of other features, an upper bound
of 1. Writes docs/benchmarks/trimming_gap.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.page import write_measured
from unswayed.api import trim
from unswayed.core.arrays import Floats
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.model.zoo import binary_network

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "trimming_gap.md"
SIZES = (60, 100, 300)
STRONG_SHARE = 20
Pair = tuple[Floats, Floats]


def weak(n: int, rng: np.random.Generator) -> Pair:
    """Probabilities that differ little between the classes."""
    one = rng.uniform(0.2, 0.8, n)
    return one, np.clip(one + rng.uniform(-0.15, 0.15, n), 0.03, 0.97)


def near_identical(n: int, rng: np.random.Generator) -> Pair:
    """Features that are nearly the same."""
    one = 0.4 + rng.uniform(-0.01, 0.01, n)
    return one, one + 0.1 + rng.uniform(-0.01, 0.01, n)


def with_strong_ones(n: int, rng: np.random.Generator) -> Pair:
    """Weak features, and some that tell much."""
    one, other = weak(n, rng)
    n_strong = max(3, n // STRONG_SHARE)
    one[:n_strong], other[:n_strong] = rng.uniform(0.1, 0.4, n_strong), rng.uniform(0.6, 0.9, n_strong)
    return one, other


FAMILIES: dict[str, Callable[[int, np.random.Generator], Pair]] = {
    "weak": weak,
    "near-identical": near_identical,
    "with strong ones": with_strong_ones,
}


@dataclass(frozen=True, slots=True)
class Row:
    """One trimming."""

    family: str
    n_features: int
    agreement: float
    upper_bound: float
    seconds: float


def classifier_of(family: str, n_features: int) -> Classifier:
    """The same classifier for the same family and number of features."""
    one, other = FAMILIES[family](n_features, np.random.default_rng(n_features))
    tables = {f"F{i}": (("C",), [float(other[i]), float(one[i])]) for i in range(n_features)}
    network = binary_network({"C": ((), [0.5]), **tables})
    return Classifier(network, "C", None, ThresholdRule(network.variables[0].states[0], 0.5))


def measure(sizes: tuple[int, ...], seconds: float) -> Iterator[Row]:
    """Trim each classifier to a third."""
    for family in FAMILIES:
        for n in sizes:
            before = time.process_time()
            found = trim(
                classifier_of(family, n), budget=n // 3, limits=Limits(max_seconds=seconds)
            ).selection
            used = time.process_time() - before
            yield Row(family, n, found.value, found.upper_bound, used)
            print(f"{family} {n}: {found.value:.5f} to {found.upper_bound:.5f}, {used:.1f} s", flush=True)


def write_page(rows: list[Row], seconds: float) -> None:
    """The table."""
    lines = [
        "# Trimming many features: the certified gap",
        "",
        f"`python -m benchmarks.speed.trimming_gap --seconds {seconds:g}`: naive Bayes, two states each, a "
        "third of the features kept. *Gap*: how much more often any other third could agree with the full "
        "decision, certified ([how](../adr/0022-upper-bound-of-trimming.md)). *Trivial*: with a bound of 1.",
        "",
        "| features | n | agreement | gap | trivial | CPU s |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        gap, trivial = row.upper_bound - row.agreement, 1.0 - row.agreement
        figures = f"{row.agreement:.4f} | {gap:.5f} | {trivial:.4f} | {row.seconds:.0f}"
        lines.append(f"| {row.family} | {row.n_features} | {figures} |")
    write_measured(PAGE, "\n".join(lines) + "\n")


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description="the certified gap of trimming many features")
    parser.add_argument("--seconds", type=float, default=25.0)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    asked = parser.parse_args()
    trim(classifier_of("weak", 60), budget=20, limits=Limits(max_seconds=10.0))  # compiles the loops
    rows: list[Row] = []
    for row in measure(tuple(asked.sizes), asked.seconds):
        rows.append(row)
        write_page(rows, asked.seconds)


if __name__ == "__main__":
    main()
