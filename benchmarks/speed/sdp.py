"""How the cost of the same-decision probability grows with the number of features, engine by engine.

    python -m benchmarks.speed.sdp [--seconds 20] [--quick]

Random naive Bayes classifiers of 20 to 1000 two-state features, threshold one half, nothing observed: every
engine there is, and the two of [chen2014], one after the other in one run. An engine that predicts more than
the limit is not started; depth-first search, whose prediction is an upper bound only, is started and stopped
at the limit. Bounds are asked for a width of 0.001. Writes docs/benchmarks/sdp.md and sdp.png.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.page import write_measured
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError
from unswayed.core.limits import DEFAULT_LIMITS, Limits, readable_bytes
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import expected_agreement
from unswayed.decisions.oracle import AgreementOracle, Interval
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.choice import ENGINES
from unswayed.engines.log_odds import LogOddsEngine
from unswayed.engines.protocol import Engine, Question, Refusal
from unswayed.model.zoo import random_naive_bayes
from unswayed.papers.chen2014.brute_force import BruteForceEngine
from unswayed.papers.chen2014.depth_first import DepthFirstEngine

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "sdp.md"
SIZES = (20, 24, 30, 36, 40, 44, 50, 100, 300, 1000)
TOLERANCE = 1e-3
REPEATS, LONG = 5, 1.0
"""Runs of which the best counts, and seconds from which on one is enough."""
NOTHING: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Result:
    """One engine on one classifier."""

    engine: str
    n_features: int
    predicted: float | None
    seconds: float | None
    found: Interval | None
    note: str = ""


def compared() -> list[Engine]:
    """All engines by name, each once: those chosen from, and those that are only compared with."""
    everything: list[Engine] = [*ENGINES, DepthFirstEngine(), BruteForceEngine()]
    return list({engine.name: engine for engine in everything}.values())


def problem_of(n_features: int) -> Problem:
    """The same classifier for the same number of features."""
    network = random_naive_bayes(n_features, np.random.default_rng(n_features))
    return make_problem(Classifier(network, "C", None, ThresholdRule("s0", 0.5)))


def measure(engine: Engine, n_features: int, limits: Limits) -> Result:
    """The engine's time from the classifier on, tables included."""
    tolerance = TOLERANCE if engine.certainty is Certainty.BOUND else 0.0
    question = Question(NOTHING, tolerance=tolerance)
    bid = engine.cost(problem_of(n_features), question)
    if isinstance(bid, Refusal):
        return Result(engine.name, n_features, None, None, None, bid.reason)
    fits = bid.seconds <= (limits.max_seconds or np.inf)
    if bid.n_bytes > limits.max_bytes:
        note = f"would need {readable_bytes(bid.n_bytes)}"
        return Result(engine.name, n_features, bid.seconds, None, None, note)
    if not fits and engine.name != DepthFirstEngine().name:
        return Result(engine.name, n_features, bid.seconds, None, None, "predicted over the limit")
    best = np.inf
    for _ in range(REPEATS):
        problem, started = problem_of(n_features), time.perf_counter()
        try:
            with within(limits):
                found = answer(engine, problem, tolerance)
        except LimitError as error:
            return Result(engine.name, n_features, bid.seconds, None, None, f"stopped: {error}")
        best = min(best, time.perf_counter() - started)
        if best > LONG:
            break
    return Result(engine.name, n_features, bid.seconds, best, found)


def answer(engine: Engine, problem: Problem, tolerance: float) -> Interval:
    """The same-decision probability."""
    oracle = engine.prepare(problem)
    if isinstance(oracle, AgreementOracle):
        return oracle.agreement(NOTHING, problem.decider, tolerance)
    return Interval.point(expected_agreement(oracle.profile(NOTHING), problem.decider))


def check(results: Sequence[Result]) -> None:
    """Stop when two engines contradict each other on one classifier."""
    for n_features in {result.n_features for result in results}:
        found = [r.found for r in results if r.n_features == n_features and r.found]
        certain = [f for f in found if f.certainty is not Certainty.ESTIMATE]
        if certain and max(f.low for f in certain) > min(f.high for f in certain) + 1e-9:
            raise SystemExit(f"engines contradict each other on {n_features} features: {found}")


HEAD = """# Same-decision probability: how the cost grows

Made by `python -m benchmarks.speed.sdp`: random naive Bayes classifiers of two-state features, threshold one
half, nothing observed; seconds from the classifier to the answer, best of five (one where it takes more than
a second), compiled code loaded, all engines in one run.
"-": predicted or found to take over {limit:g} s, or more memory than allowed. `brute_force` and `depth_first`
are the methods of [chen2014], here to compare with. `sums` is asked for an interval of width {tolerance:g};
`sampling` gives an estimate. All exact answers and certain intervals agree.

![Seconds by number of features](sdp.png)

"""


def table(results: Sequence[Result], names: Sequence[str], sizes: Sequence[int]) -> Iterator[str]:
    """Markdown, a row for each number of features."""
    cell = {(r.engine, r.n_features): r for r in results}
    yield "| features | " + " | ".join(names) + " | same-decision probability |"
    yield "|---" * (len(names) + 2) + "|"
    for n in sizes:
        row = [cell[name, n] for name in names]
        times = ["-" if r.seconds is None else f"{r.seconds:.3g}" for r in row]
        found = [r.found for r in row if r.found and r.found.certainty is not Certainty.ESTIMATE]
        best = min(found, key=lambda f: f.high - f.low)
        width = best.high - best.low
        shown = f"{best.low:.9f}" if width < 5e-10 else f"{best.low:.6f} to {best.high:.6f}"
        yield f"| {n} | " + " | ".join(times) + f" | {shown} |"


def plot(results: Sequence[Result], names: Sequence[str]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for name, marker in zip(names, "os^Dvx*P", strict=False):
        done = [(r.n_features, r.seconds) for r in results if r.engine == name and r.seconds is not None]
        axes.plot([n for n, _ in done], [s for _, s in done], marker=marker, label=name)
    axes.set(xscale="log", yscale="log", xlabel="features", ylabel="seconds")
    axes.set_xticks([20, 30, 50, 100, 300, 1000], ["20", "30", "50", "100", "300", "1000"])
    axes.minorticks_off()
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(PAGE.with_suffix(".png"), dpi=90)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="limit on one answer")
    parser.add_argument("--quick", action="store_true", help="two sizes, 2 s; writes nothing")
    options = parser.parse_args([] if __name__ != "__main__" else None)
    limits = Limits(DEFAULT_LIMITS.max_bytes, 2.0 if options.quick else options.seconds)
    sizes, engines = SIZES[:2] if options.quick else SIZES, compared()
    first: list[tuple[Engine, int]] = [(DepthFirstEngine(), 20), (LogOddsEngine(), 44)]
    for engine, n_features in first:
        answer(engine, problem_of(n_features), 0.0)  # compiles before the clock runs
    results = []
    for n_features in sizes:
        for engine in engines:
            results.append(measure(engine, n_features, limits))
            print(results[-1], flush=True)
    check(results)
    answered = {result.engine for result in results if result.seconds is not None}
    names = [engine.name for engine in engines if engine.name in answered]
    lines = list(table(results, names, sizes))
    print("\n".join(lines))
    if not options.quick:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        head = HEAD.format(limit=limits.max_seconds, tolerance=TOLERANCE)
        write_measured(PAGE, head + "\n".join(lines))
        plot(results, names)


if __name__ == "__main__":
    main()
