"""How the cost of trimming grows with the number of features, search by search.

    python -m benchmarks.speed.trim [--seconds 30] [--quick]

Random naive Bayes classifiers of 8 to 22 two-state features, threshold one half, a third of the features
kept: branch and bound for the maximum achievable agreement (trimming) and for the expected same-decision
probability (selection), greedy search, and all subsets while they fit within the limit, in one run. Writes
docs/benchmarks/trim.md and trim.png.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from holdfast.api import Method, Selection, select_features, trim
from holdfast.core.limits import Limits
from holdfast.decisions.classifier import Classifier
from holdfast.decisions.rules import ThresholdRule
from holdfast.model.zoo import random_naive_bayes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "trim.md"
SIZES = tuple(range(8, 23, 2))
AGREEMENT = 1e-9


def trimmed(method: Method) -> Callable[[Classifier, float, Limits], Selection]:
    """Trimming by this method."""
    return lambda c, budget, limits: trim(c, None, budget, method=method, limits=limits).selection


def selected(classifier: Classifier, budget: float, limits: Limits) -> Selection:
    """Selection by expected same-decision probability, branch and bound."""
    return select_features(classifier, None, budget, limits=limits)


SEARCHES: Mapping[str, Callable[[Classifier, float, Limits], Selection]] = {
    "trim": trimmed(Method.BRANCH_AND_BOUND),
    "select": selected,
    "trim, greedy": trimmed(Method.GREEDY),
    "trim, exhaustive": trimmed(Method.EXHAUSTIVE),
}


@dataclass(frozen=True, slots=True)
class Result:
    """One search on one classifier."""

    search: str
    n_features: int
    seconds: float
    found: Selection
    finished: bool
    """Whether it came to its end rather than to the limit."""


def classifier_of(n_features: int) -> Classifier:
    """The same classifier for the same number of features."""
    network = random_naive_bayes(n_features, np.random.default_rng(n_features))
    return Classifier(network, "C", None, ThresholdRule("s0", 0.5))


def measure(n_features: int, limits: Limits, given_up: set[str]) -> Iterator[Result]:
    """Every search that has not run out of time on fewer features; those that do now are added."""
    for name, search in SEARCHES.items():
        if name in given_up:
            continue
        started = time.perf_counter()
        found = search(classifier_of(n_features), n_features // 3, limits)
        seconds = time.perf_counter() - started
        finished = found.optimal or seconds < (limits.max_seconds or np.inf)
        if not finished:
            given_up.add(name)
        yield Result(name, n_features, seconds, found, finished)


def check(results: Sequence[Result]) -> None:
    """Stop when a proven search and the list of all subsets differ."""
    proven = {(r.search, r.n_features): r.found for r in results if r.found.optimal}
    for (name, n), found in proven.items():
        best = proven.get(("trim", n))
        if name == "trim, exhaustive" and best and abs(found.value - best.value) > AGREEMENT:
            raise SystemExit(f"{n} features: trimmed to {best.value}, all subsets give {found.value}")


HEAD = """# Trimming: how the cost grows

Made by `python -m benchmarks.speed.trim`: random naive Bayes classifiers of two-state features, threshold one
half, a third of the features kept; seconds from the classifier to the answer, all searches in one run on a
shared machine. `trim` and `select` are branch and bound for the maximum achievable agreement and for the
expected same-decision probability, proven optimal. "-": given up after {limit:g} s at this or a smaller size.
Where all subsets were listed, their best equals that of branch and bound. `loss` is how much less
agreement greedy search found than the best; `evaluations` are subsets valued or bounded by `trim`.

![Seconds by number of features](trim.png)

"""


def table(results: Sequence[Result]) -> Iterator[str]:
    """Markdown, a row for each number of features."""
    of = {(r.search, r.n_features): r for r in results}
    yield f"| features | kept | {' | '.join(SEARCHES)} | evaluations | agreement | loss |"
    yield "|---" * (len(SEARCHES) + 5) + "|"
    for n in sorted({r.n_features for r in results}):
        row = [of.get((name, n)) for name in SEARCHES]
        times = [f"{r.seconds:.3g}" if r and r.finished else "-" for r in row]
        best, greedy = of["trim", n].found, of["trim, greedy", n].found
        loss = max(0.0, best.value - greedy.value)
        last = f"{best.evaluations:,} | {best.value:.6f} | {loss if loss > AGREEMENT else 0:.2g} |"
        yield f"| {n} | {n // 3} | {' | '.join(times)} | {last}"


def plot(results: Sequence[Result]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for name, marker in zip(SEARCHES, "os^D", strict=True):
        done = [(r.n_features, r.seconds) for r in results if r.search == name and r.finished]
        axes.plot([n for n, _ in done], [s for _, s in done], marker=marker, label=name)
    axes.set(yscale="log", xlabel="features, a third of them kept", ylabel="seconds")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(PAGE.with_suffix(".png"), dpi=90)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="limit on one search")
    parser.add_argument("--quick", action="store_true", help="up to 12 features; writes nothing")
    options = parser.parse_args([] if __name__ != "__main__" else None)
    limits = Limits(max_seconds=options.seconds)
    trim(classifier_of(6), None, 2)  # loads what is loaded at the first use, before the clock runs
    results: list[Result] = []
    given_up: set[str] = set()
    for n_features in SIZES[:3] if options.quick else SIZES:
        for result in measure(n_features, limits, given_up):
            results.append(result)
            print(f"{n_features} features, {result.search}: {result.seconds:.3g} s", flush=True)
    check(results)
    lines = list(table(results))
    print("\n".join(lines))
    if not options.quick:
        PAGE.write_text(HEAD.format(limit=limits.max_seconds) + "\n".join(lines) + "\n")
        plot(results)


if __name__ == "__main__":
    main()
