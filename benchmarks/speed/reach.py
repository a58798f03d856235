"""How far certified sums reach: width of the interval over CPU seconds, beside samples and the full table.

    python -m benchmarks.speed.reach [--quick]

Naive Bayes and trees of 30 to 1,000 features, 2, 3 and 10 classes, two and four states, and classifiers
learned from the breast-cancer, wine and digits tables of scikit-learn. For each: the interval of the
same-decision probability to a thousandth and to a ten-thousandth, within a few seconds each; the CPU seconds
that samples would take for the same width at 99% confidence, from the measured rate; what an exact engine
takes where one can; and what ranking all features takes beside one answer. Writes docs/benchmarks/reach.md
row by row, so that an interrupted run leaves what it found. Takes under five minutes on two quiet cores.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.page import markdown, write_measured
from unswayed.core.anytime import within
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.oracle import find_agreement
from unswayed.decisions.problem import Problem, forget_answers, make_problem
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.engines.dense import DenseEngine
from unswayed.engines.protocol import Cost, Engine, Question
from unswayed.engines.sampling import SamplingEngine
from unswayed.engines.sums.engine import SumsEngine
from unswayed.engines.weights.separator import SeparatorWay
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "reach.md"
SECONDS_BY_TOLERANCE = {1e-3: 3.0, 1e-4: 4.0}
"""How long an answer may take; it comes back wider where that is not enough."""
RANKING_SECONDS = 4.0
LARGEST_RANKING = 1000
"""Features times classes up to which all features are ranked."""
N_SAMPLES = 1000
"""Samples that are drawn to measure their rate."""
LARGEST_TABLE = 2.0**28
"""Bytes of a full table that is made."""
NORMAL_99 = 2.576
"""Half-width of a 99% interval in standard deviations."""
LIMITS = Limits(max_seconds=10.0)
HEAD = """# How far certified sums reach

The same-decision probability with nothing observed, by the engine `sums`: the width of the certified interval
and the CPU seconds it took, at most 3 s for a thousandth and 4 s for a ten-thousandth. Beside it the CPU
seconds that samples would take for an interval as wide at 99% confidence (from the measured rate), and those
of `dense` and of `weights`, which are exact, where they can. The last column is what ranking all features
takes, in answers to a thousandth, and its widest interval. Ten classes do not close: more than two
rivals may be ahead of the class decided at once. Made by `python -m benchmarks.speed.reach`.

"""


@dataclass(frozen=True, slots=True)
class Case:
    """One classifier."""

    name: str
    make: Callable[[], Problem]


def random_network(
    n: int, classes: int, states: int, rng: np.random.Generator, *, is_tree: bool
) -> BayesianNetwork:
    """Weak features: distributions that differ a little between classes, and in a tree with the parent."""
    target = Variable("C", [f"c{i}" for i in range(classes)])
    features = [Variable(f"F{i}", [f"s{k}" for k in range(states)]) for i in range(n)]
    cpts = [Cpt(target, [], [rng.dirichlet(np.full(classes, 5.0))])]
    for i, feature in enumerate(features):
        parents = [target, features[int(rng.integers(0, i))]] if is_tree and i else [target]
        shared = rng.normal(0.0, 0.6, (1, states if len(parents) == 2 else 1, states))
        logits = shared + rng.normal(0.0, 0.2, (classes, shared.shape[1], states))
        rows = np.exp(logits).reshape(-1, states)
        cpts.append(Cpt(feature, parents, rows / rows.sum(axis=1, keepdims=True)))
    return BayesianNetwork(cpts)


def random_problem(n: int, classes: int, states: int, *, is_tree: bool) -> Problem:
    network = random_network(n, classes, states, np.random.default_rng(n), is_tree=is_tree)
    rule = ThresholdRule("c0", 0.5) if classes == 2 else MostProbable()
    return make_problem(Classifier(network, "C", network.names[1:], rule))


def learned_problem(table: str, structure: str) -> Problem:
    from sklearn import datasets

    from unswayed import BayesNetClassifier

    data = getattr(datasets, f"load_{table}")(as_frame=True)
    labels = data.target.map(lambda value: f"class {value}")
    network = BayesNetClassifier(structure=structure).fit(data.data, labels).network_
    features = [name for name in network.names if name in data.data.columns]
    target = next(name for name in network.names if name not in data.data.columns)
    return make_problem(Classifier(network, target, features, MostProbable()))


def cases(*, quick: bool) -> Iterator[Case]:
    for table in ("breast_cancer", "wine", "digits"):
        for structure in ("naive", "tan"):
            yield Case(f"{table}, {structure}", partial(learned_problem, table, structure))
    for n in (30,) if quick else (30, 100, 300, 1000):
        for is_tree in (False, True):
            for classes in (2, 3, 10):
                for states in (2,) if quick else (2, 4):
                    name = f"{'tree' if is_tree else 'naive'}, {n} x {states} states, {classes} classes"
                    yield Case(
                        name,
                        partial(random_problem, n, classes, states, is_tree=is_tree),
                    )


def run_case(case: Case) -> list[str]:
    """The row of a case: widths and seconds by tolerance, samples, exact engines, and the ranking."""
    problem = case.make()
    each, share = measure_samples(problem)
    row, first, low, high = [case.name], 0.0, 0.0, 1.0
    for tolerance, limit in SECONDS_BY_TOLERANCE.items():
        fresh, started = forget_answers(problem), time.process_time()
        with within(Limits(max_seconds=limit)):
            found = SumsEngine().prepare(fresh).agreement(frozenset(), fresh.decider, tolerance)
        seconds, (low, high) = time.process_time() - started, (found.low, found.high)
        first = first or seconds
        needed = share * (1.0 - share) * (2.0 * NORMAL_99 / max(high - low, 1e-12)) ** 2
        row += [f"{high - low:.1e}", f"{seconds:.2f}", f"{each * needed:.3g}"]
    row += [
        time_exactly(engine, forget_answers(problem), low, high) for engine in (DenseEngine(), SeparatorWay())
    ]
    return [*row, rank_features(forget_answers(problem), first)]


def measure_samples(problem: Problem) -> tuple[float, float]:
    """CPU seconds of one sample, and the share of samples that agree."""
    started = time.process_time()
    with within(LIMITS):
        oracle = SamplingEngine(n_samples=N_SAMPLES).prepare(problem)
        share = oracle.agreement(frozenset(), problem.decider, 0.0).middle or 0.0
    return (time.process_time() - started) / N_SAMPLES, share


def time_exactly(engine: Engine, problem: Problem, low: float, high: float) -> str:
    """CPU seconds of an exact engine where it can answer, checked against the interval."""
    price = engine.cost(problem, Question(frozenset()))
    if not isinstance(price, Cost) or price.n_bytes > LARGEST_TABLE:
        return "-"
    started = time.process_time()
    with within(LIMITS):
        value = find_agreement(engine.prepare(problem), frozenset(), problem.decider, 0.0).low
    assert low - 1e-12 <= value <= high + 1e-12, (low, value, high)
    return f"{time.process_time() - started:.2f}"


def rank_features(problem: Problem, first: float) -> str:
    """What all single features take, in answers, and the widest interval among them."""
    if len(problem.free) * len(problem.prior) > LARGEST_RANKING:
        return "-"
    started = time.process_time()
    with within(Limits(max_seconds=RANKING_SECONDS)):
        found = SumsEngine().prepare(problem).singles(problem.decider, max(SECONDS_BY_TOLERANCE))
    widest = max(each.agreement.high - each.agreement.low for each in found.values())
    return f"{(time.process_time() - started) / first:.1f} ({widest:.1e})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small cases only, and no page")
    quick = parser.parse_args().quick
    header = ["classifier"]
    for tolerance in SECONDS_BY_TOLERANCE:
        header += [f"width, {tolerance:g} asked", "CPU s", "samples, CPU s"]
    header += ["dense, CPU s", "lists, CPU s", "ranking / answer (width)"]
    rows: list[list[str]] = []
    for case in cases(quick=quick):
        rows.append(run_case(case))
        print(" | ".join(rows[-1]), flush=True)
        if not quick:
            write_measured(PAGE, HEAD + markdown(header, rows))


if __name__ == "__main__":
    main()
